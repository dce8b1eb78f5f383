//! `toolcrib mcp login`: brings a person to a server's login page.
//!
//! The page sends the browser back to a port of the loopback interface that is open
//! for as long as the login takes.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use toolcrib_core::BoxFuture;
use toolcrib_mcp::{FleetOptions, Login};

use crate::exit::{CliError, Status};
use crate::mcp_cmd::fleet;
use crate::mcp_servers::Servers;
use crate::terminal::{print, say, visible};

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);
/// Longest first line of the browser's request in bytes.
const LONGEST: u64 = 16 * 1024;

struct Browser {
    listener: TcpListener,
    port: u16,
}

impl Login for Browser {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}/callback", self.port)
    }

    fn visit<'a>(&'a self, server: &'a str, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            say(&format!(
                "Open this page to log in to `{}`; it leads back here:",
                visible(server)
            ));
            print(&format!("{}\n", visible(url)));
            match tokio::time::timeout(PATIENCE, self.called_back()).await {
                Ok(target) => Ok(format!("http://127.0.0.1:{}{target}", self.port)),
                Err(_) => Err(format!("nobody logged in within {} s", PATIENCE.as_secs())),
            }
        })
    }
}

impl Browser {
    /// The target of the first request to the callback; browsers ask for more.
    async fn called_back(&self) -> String {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let mut line = String::new();
            let (reader, mut writer) = stream.split();
            let mut reader = BufReader::new(tokio::io::AsyncReadExt::take(reader, LONGEST));
            let read = tokio::time::timeout(Duration::from_secs(5), reader.read_line(&mut line));
            if !matches!(read.await, Ok(Ok(_))) {
                continue;
            }
            let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let ours = target.starts_with("/callback?");
            let (status, said) = match ours {
                true => ("200 OK", "Done. You can close this page."),
                false => ("404 Not Found", "Nothing here."),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{said}",
                said.len()
            );
            let _ = writer.write_all(answer.as_bytes()).await;
            if ours {
                return target;
            }
        }
    }
}

/// Logs in to one server and keeps what it gives.
pub(super) async fn run(servers: Servers, name: &str) -> Result<Status, CliError> {
    let mut config = servers
        .usable
        .iter()
        .find(|server| &*server.name == name)
        .cloned();
    let Some(mut config) = config.take() else {
        return Err(CliError::usage(format!("no MCP server is called {name:?}")));
    };
    config.start_timeout = PATIENCE;
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(CliError::failed)?;
    let port = listener.local_addr().map_err(CliError::failed)?.port();
    let mut options = FleetOptions::default();
    options.login = Some(Arc::new(Browser { listener, port }));
    let fleet = fleet(&servers, vec![config], options);
    let result = fleet.refresh(name).await;
    fleet.shutdown().await;
    match result {
        Ok(manifest) => {
            say(&format!("logged in; {} tools", manifest.tools.len()));
            Ok(Status::Success)
        }
        Err(error) => Err(CliError::failed(visible(&error.to_string()))),
    }
}
