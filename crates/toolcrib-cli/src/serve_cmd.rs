//! `toolcrib serve`: the gateway, on the standard streams or over HTTP.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolcrib_core::ToolSource as _;
use toolcrib_gateway::{Gateway, HttpOptions, Loaded, Mode, Options};
use toolcrib_mcp::entries_from_json;
use toolcrib_tools::GraphTools;

use crate::args::{ServeArgs, ServeMode};
use crate::config::{REPOSITORY_FILE, read_up_to};
use crate::exit::{CliError, Status};
use crate::mcp_cmd;
use crate::place::{self, Workspace};
use crate::signals::Signals;
use crate::snapshot;
use crate::terminal::{self, say};

/// Largest configuration in bytes; a client's own file may be named for it.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Serves until the client is done or a signal comes.
pub(crate) fn run(args: &ServeArgs) -> Result<Status, CliError> {
    let workspace = Workspace::open(&args.place, true)?;
    let mut options = options(args, &workspace)?;
    options.mode = match args.mode {
        ServeMode::Search => Mode::Search,
        ServeMode::ListChanged => Mode::ListChanged,
        ServeMode::Eager => Mode::Eager,
        ServeMode::Transparent => Mode::Transparent,
    };
    options.cache_dir = workspace.places.cache.as_ref().map(|dir| dir.join("mcp"));
    if let Some(state) = &workspace.places.state {
        options = options.pins(state.join("mcp-pins.json"), &args.approve);
    }
    options.hold_changed = args.pin;
    options.guard = mcp_cmd::guard();
    let configured = workspace.config.encoder.as_deref();
    options.encoder = crate::encoder::open(&args.encoder, configured, &workspace.places)?;
    options.result_cap = args.max_result;
    if args.graph {
        let loaded = snapshot::load(&workspace)?;
        options.local = GraphTools::new(loaded.lookup)
            .map_err(CliError::failed)?
            .tools();
    }
    if options.servers.is_empty() && !args.graph {
        let text = match &args.config {
            Some(path) => format!("{} names no MCP server", path.display()),
            None => "no MCP server is configured: run `toolcrib import`, or write [mcp.servers.NAME] into toolcrib.toml".to_owned(),
        };
        return Err(CliError::usage(text));
    }
    let known = |name: &String| options.servers.iter().any(|server| *server.name == **name);
    if let Some(name) = args.approve.iter().find(|name| !known(name)) {
        let all: Vec<&str> = options.servers.iter().map(|server| &*server.name).collect();
        return Err(CliError::usage(format!(
            "--approve: no server {name:?}; there are {}",
            all.join(", ")
        )));
    }
    // One client on pipes needs no second thread, and is answered sooner without.
    let mut builder = match args.http {
        Some(_) => tokio::runtime::Builder::new_multi_thread(),
        None => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build().map_err(CliError::failed)?;
    let status = runtime.block_on(async {
        let mut signals = Signals::listen();
        let gateway = Gateway::new(options);
        let served = match &args.http {
            None => lines(&gateway, &mut signals).await,
            Some(address) => http(&gateway, address, args, &mut signals).await,
        };
        let tasks = tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks();
        tracing::debug!(tasks, "serving has ended");
        gateway.shutdown().await;
        served
    });
    runtime.shutdown_background();
    status
}

async fn lines(gateway: &Arc<Gateway>, signals: &mut Signals) -> Result<Status, CliError> {
    if terminal::is_closed() {
        return Err(CliError::failed(
            "standard output is closed, so no answer could be written",
        ));
    }
    if std::io::stdin().is_terminal() {
        say(
            "toolcrib: speaking MCP on this terminal; clients start this themselves (`toolcrib import`), --http serves many",
        );
    }
    tokio::select! {
        served = gateway.serve_lines(std::io::stdin(), std::io::stdout()) => {
            served.map_err(CliError::failed)?;
            Ok(Status::Success)
        }
        ended = signals.ended() => Ok(ended),
    }
}

async fn http(
    gateway: &Arc<Gateway>,
    address: &str,
    args: &ServeArgs,
    signals: &mut Signals,
) -> Result<Status, CliError> {
    let wrong = || {
        CliError::usage(format!(
            "--http {address:?} is no address; give one such as 127.0.0.1:8383, or a port"
        ))
    };
    let address = match address.parse::<u16>() {
        Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
        Err(_) => {
            let named = address.replacen("localhost:", "127.0.0.1:", 1);
            named.parse().map_err(|_| wrong())?
        }
    };
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|error| CliError::failed(format!("cannot listen on {address}: {error}")))?;
    let local = listener.local_addr().map_err(CliError::failed)?;
    let mut options = HttpOptions::default();
    options.token = token(args)?;
    options.origins.clone_from(&args.allow_origin);
    options.hosts.clone_from(&args.allow_host);
    options.check(local).map_err(CliError::usage)?;
    say(&format!("toolcrib: serving http://{local}/mcp"));
    let stop = CancellationToken::new();
    let serving = gateway.serve_http(listener, options, stop.clone());
    tokio::select! {
        served = serving => {
            served.map_err(CliError::usage)?;
            Ok(Status::Success)
        }
        ended = signals.ended() => {
            stop.cancel();
            Ok(ended)
        }
    }
}

fn token(args: &ServeArgs) -> Result<Option<String>, CliError> {
    if let Some(path) = &args.token_file {
        let text = read(path)?
            .ok_or_else(|| CliError::usage(format!("{} does not exist", path.display())))?;
        return Ok(Some(text.trim().to_owned()));
    }
    Ok(std::env::var("TOOLCRIB_TOKEN")
        .ok()
        .filter(|token| !token.is_empty()))
}

fn options(args: &ServeArgs, workspace: &Workspace) -> Result<Options, CliError> {
    let root = &workspace.root;
    if let Some(path) = &args.config {
        return from_file(path, root);
    }
    let mut loaded = Loaded::default();
    if let Some(path) = &workspace.places.user_config
        && let Some(text) = read(path)?
    {
        loaded = Loaded::from_toml(&text, path, root).map_err(CliError::usage)?;
    }
    let file = root.join(REPOSITORY_FILE);
    if let Some(text) = read(&file)? {
        let own = Loaded::from_toml(&text, &file, root).map_err(CliError::usage)?;
        let rules = own.policy.allow.is_empty();
        if (own.servers.is_empty() && rules) || place::trusted(&workspace.places, &file)? {
            loaded = loaded.overlaid(own);
        } else {
            say(&format!(
                "toolcrib: {REPOSITORY_FILE} names MCP servers, which count only after `toolcrib trust`"
            ));
        }
    }
    Ok(loaded.options())
}

fn from_file(path: &Path, root: &Path) -> Result<Options, CliError> {
    let text =
        read(path)?.ok_or_else(|| CliError::usage(format!("{} does not exist", path.display())))?;
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        let servers = entries_from_json(&text, path, true).map_err(CliError::usage)?;
        return Ok(Options::new(servers));
    }
    let loaded = Loaded::from_toml(&text, path, root).map_err(CliError::usage)?;
    Ok(loaded.options())
}

fn read(path: &Path) -> Result<Option<String>, CliError> {
    match read_up_to(path, MAX_FILE) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| CliError::usage(format!("{} is not UTF-8", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::usage(format!(
            "cannot read {}: {error}",
            path.display()
        ))),
    }
}
