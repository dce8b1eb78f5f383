//! `toolcrib mcp login`: brings a person to a server's login page.
//!
//! The page sends the browser back to a port of the loopback interface that is open
//! for as long as the login takes. Any page that a person has open can send a browser
//! there, so what comes with another state than this login's is turned away and the
//! wait goes on. No browser is started: the address is printed.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use toolcrib_core::BoxFuture;
use toolcrib_mcp::{FleetOptions, Login};

use crate::exit::{CliError, Status};
use crate::mcp_cmd::fleet;
use crate::mcp_servers::Servers;
use crate::terminal::{count, print, say, visible};

/// What comes after a person logged in: the exchange, the handshake and the lists.
const AFTERWARDS: Duration = Duration::from_secs(60);
/// Longest head of the browser's request in bytes.
const LONGEST: u64 = 16 * 1024;

struct Browser {
    listener: TcpListener,
    port: u16,
    patience: Duration,
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
            let state = parameter(url, "state");
            match tokio::time::timeout(self.patience, self.called_back(state)).await {
                Ok(target) => match parameter(&target, "error") {
                    Some(error) => {
                        let why = parameter(&target, "error_description").unwrap_or("");
                        Err(
                            format!("the login was refused: {} {}", plain(error), plain(why))
                                .trim_end()
                                .to_owned(),
                        )
                    }
                    None => Ok(format!("http://127.0.0.1:{}{target}", self.port)),
                },
                Err(_) => {
                    let waited = self.patience.as_secs_f64();
                    Err(format!("nobody logged in within {waited} s"))
                }
            }
        })
    }
}

impl Browser {
    /// The target of the first request to the callback that belongs to this login;
    /// browsers ask for more.
    async fn called_back(&self, state: Option<&str>) -> String {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let mut line = String::new();
            let (reader, mut writer) = stream.split();
            let mut reader = BufReader::new(tokio::io::AsyncReadExt::take(reader, LONGEST));
            // The head is read to its end: a connection that is closed with something
            // unread in it is torn down, and the browser shows an error of its own.
            let read = async {
                reader.read_line(&mut line).await?;
                let mut rest = String::new();
                while reader.read_line(&mut rest).await? > 2 {
                    rest.clear();
                }
                Ok::<_, std::io::Error>(())
            };
            if !matches!(
                tokio::time::timeout(Duration::from_secs(5), read).await,
                Ok(Ok(()))
            ) {
                continue;
            }
            let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let called = target.starts_with("/callback?");
            let ours = called && parameter(&target, "state") == state;
            let (status, said) = match (called, ours) {
                (_, true) => (
                    "200 OK",
                    "Received. You can close this page and go on where you began.",
                ),
                (true, _) => ("400 Bad Request", "This belongs to another login."),
                (false, _) => ("404 Not Found", "Nothing here."),
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

/// The value of a query's parameter, as it is written.
fn parameter<'a>(url: &'a str, name: &str) -> Option<&'a str> {
    let query = url.split_once('?')?.1;
    let query = query.split('#').next().unwrap_or(query);
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// A query's value as text.
fn plain(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        let hex = rest.strip_prefix('%').and_then(|hex| hex.get(..2));
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &rest[3..];
            continue;
        }
        let first = if first == '+' { ' ' } else { first };
        bytes.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[rest.chars().next().map_or(1, char::len_utf8)..];
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Logs in to one server and keeps what it gives.
pub(super) async fn run(
    servers: Servers,
    name: &str,
    patience: Duration,
) -> Result<Status, CliError> {
    let mut config = servers
        .usable
        .iter()
        .find(|server| &*server.name == name)
        .cloned();
    let Some(mut config) = config.take() else {
        return Err(CliError::usage(format!("no MCP server is called {name:?}")));
    };
    config.start_timeout = patience.saturating_add(AFTERWARDS);
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(CliError::failed)?;
    let port = listener.local_addr().map_err(CliError::failed)?.port();
    let mut options = FleetOptions::default();
    options.login = Some(Arc::new(Browser {
        listener,
        port,
        patience,
    }));
    let fleet = fleet(&servers, vec![config], options);
    let result = fleet.refresh(name).await;
    fleet.shutdown().await;
    match result {
        Ok(manifest) => {
            say(&format!(
                "logged in; {}",
                count(manifest.tools.len(), "tool")
            ));
            Ok(Status::Success)
        }
        Err(error) => Err(CliError::failed(visible(&error.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_it_is_written() {
        let target = "/callback?code=a%20b&state=x%2By&empty=#state=z";
        assert_eq!(parameter(target, "state"), Some("x%2By"));
        assert_eq!(parameter(target, "empty"), Some(""));
        assert_eq!(parameter(target, "stat"), None);
        assert_eq!(parameter("/callback", "state"), None);
        assert_eq!(plain("a%20b+c%2By%C3%A4"), "a b c+yä");
        for odd in ["%", "%2", "%zz", "100%ä", ""] {
            assert_eq!(plain(odd), odd);
        }
    }
}
