//! `toolcrib mcp`: the configured MCP servers, looked at and tried out by hand.
//!
//! What servers say is text of strangers: it is shown with everything invisible
//! written out, and nothing in it is followed.

mod login;

use std::fmt::Write as _;
use std::io::Read as _;
use std::sync::{Arc, LazyLock};

use futures_util::StreamExt as _;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcrib_core::Content;
use toolcrib_mcp::{
    Fleet, FleetOptions, Guard, Manifest, McpError, RequestContext, ServerConfig, ServerState,
    ServerStatus, exported_name, output_of,
};

use crate::args::{McpArgs, McpCommand};
use crate::exit::{CliError, Status};
use crate::mcp_servers::Servers;
use crate::terminal::{count, print, say, visible};

/// The first argument of the process that ends what servers started if this one is
/// killed; not for people.
pub(crate) const GUARD: &str = "--guard-of-servers";
/// Servers that are checked at the same time.
const AT_ONCE: usize = 4;
/// Characters of a description that a listing shows.
const SHOWN: usize = 100;

/// Runs the command that was chosen.
pub(crate) fn run(args: &McpArgs) -> Result<Status, CliError> {
    let servers = Servers::read(&args.place, &args.config)?;
    for note in servers.notes() {
        say(&format!("toolcrib: {note}"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(CliError::failed)?;
    runtime.block_on(async {
        match &args.what {
            McpCommand::Login { server, timeout } => login::run(servers, server, *timeout).await,
            what => {
                let fleet = fleet(&servers, servers.usable.clone(), FleetOptions::default());
                let done = tokio::select! {
                    done = command(&fleet, what) => done,
                    _ = tokio::signal::ctrl_c() => Ok(Status::Interrupted),
                };
                fleet.shutdown().await;
                done
            }
        }
    })
}

/// A fleet with this user's caches and logins.
pub(crate) fn fleet(
    servers: &Servers,
    configs: Vec<ServerConfig>,
    mut options: FleetOptions,
) -> Arc<Fleet> {
    options.guard = guard();
    options.cache_dir = servers.places.cache.as_ref().map(|dir| dir.join("mcp"));
    options.credentials_dir = servers
        .places
        .state
        .as_ref()
        .map(|dir| dir.join("mcp-logins"));
    Fleet::new(configs, options)
}

/// This program once more, as a guard: one for all that this process starts.
pub(crate) fn guard() -> Option<Guard> {
    static SHARED: LazyLock<Option<Guard>> = LazyLock::new(|| {
        let program = std::env::current_exe().ok()?;
        Some(Guard::new(program, [GUARD]))
    });
    SHARED.clone()
}

async fn command(fleet: &Arc<Fleet>, what: &McpCommand) -> Result<Status, CliError> {
    match what {
        McpCommand::List { json } => Ok(list(fleet, *json)),
        McpCommand::Check { servers, json } => check(fleet, servers, *json).await,
        McpCommand::Tools { server, json } => tools(fleet, server.as_deref(), *json).await,
        McpCommand::Call {
            tool,
            arguments,
            json,
        } => call(fleet, tool, arguments.as_deref(), *json).await,
        McpCommand::Login { .. } => Ok(Status::Failure),
    }
}

fn list(fleet: &Fleet, as_json: bool) -> Status {
    let all = fleet.status();
    if as_json {
        let all: Vec<Value> = all.iter().map(|status| as_value(fleet, status)).collect();
        print(&format!("{}\n", Value::Array(all)));
        return Status::Success;
    }
    if all.is_empty() {
        print(
            "no MCP servers are configured; write them to .mcp.json or [mcp.servers.NAME] of toolcrib.toml\n",
        );
        return Status::Success;
    }
    let width = all
        .iter()
        .map(|status| visible(&status.name).chars().count())
        .max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for status in &all {
        let known = match fleet.manifest(&status.name) {
            Some(manifest) => format!(
                "{}, {}, protocol {}",
                count(status.tools, "tool"),
                count(tokens(&manifest), "token"),
                visible(&status.protocol_version)
            ),
            None if status.state == ServerState::Disabled => String::new(),
            None => "not known yet: `toolcrib mcp check` asks it".to_owned(),
        };
        let name = visible(&status.name);
        let _ = writeln!(
            text,
            "{name:width$}  {:10}  {known}",
            status.state.to_string()
        );
    }
    print(&text);
    Status::Success
}

async fn check(fleet: &Arc<Fleet>, servers: &[String], as_json: bool) -> Result<Status, CliError> {
    let names: Vec<String> = if servers.is_empty() {
        let on = fleet
            .names()
            .filter(|name| fleet.config(name).is_some_and(|c| !c.disabled));
        on.map(ToString::to_string).collect()
    } else {
        servers.to_vec()
    };
    // Some at a time: servers that all start at once make each other late.
    let checks = names
        .iter()
        .map(|name| async move { (name, fleet.refresh(name).await) });
    let mut checks = futures_util::stream::iter(checks).buffered(AT_ONCE);
    let mut failed = false;
    let mut values = Vec::new();
    while let Some((name, result)) = checks.next().await {
        failed |= result.is_err();
        let status = fleet
            .status()
            .into_iter()
            .find(|status| *status.name == **name);
        let Some(status) = status else {
            return Err(CliError::usage(match result {
                Err(error) => error.to_string(),
                Ok(_) => format!("no MCP server is called {name:?}"),
            }));
        };
        if as_json {
            let mut value = as_value(fleet, &status);
            value["ok"] = json!(result.is_ok());
            if let Err(error) = &result {
                value["error"] = json!(error.to_string());
            }
            values.push(value);
        } else {
            print(&checked(
                &status,
                result.as_ref().err().map(ToString::to_string),
            ));
        }
    }
    if as_json {
        print(&format!("{}\n", Value::Array(values)));
    }
    Ok(if failed {
        Status::Failure
    } else {
        Status::Success
    })
}

fn checked(status: &ServerStatus, error: Option<String>) -> String {
    let mut text = format!("{}: ", visible(&status.name));
    match error {
        Some(error) => {
            let _ = writeln!(text, "FAILED: {}", indented(&visible(&error)));
        }
        None => {
            let _ = writeln!(
                text,
                "ok, {}, up in {} ms, protocol {}",
                count(status.tools, "tool"),
                status.start_took.unwrap_or_default().as_millis(),
                visible(&status.protocol_version)
            );
        }
    }
    for problem in &status.problems {
        let _ = writeln!(text, "  incomplete: {}", visible(problem));
    }
    for tool in &status.quarantined {
        let (name, reason) = (visible(&tool.name), visible(&tool.reason));
        let _ = writeln!(text, "  left out: {name}: {reason}");
    }
    if status.noise.count > 0 {
        let last = status
            .noise
            .last
            .last()
            .map(String::as_str)
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "  {} on its standard output that hold no message, the last: {}",
            count(status.noise.count, "line"),
            visible(last)
        );
    }
    text
}

async fn tools(
    fleet: &Arc<Fleet>,
    server: Option<&str>,
    as_json: bool,
) -> Result<Status, CliError> {
    let names: Vec<String> = match server {
        Some(server) => vec![server.to_owned()],
        None => fleet.names().map(ToString::to_string).collect(),
    };
    let mut failed = false;
    for name in &names {
        let manifest = match fleet.manifest(name) {
            Some(manifest) => Ok(manifest),
            None => fleet.refresh(name).await,
        };
        let manifest = match manifest {
            Ok(manifest) => manifest,
            Err(error @ McpError::UnknownServer { .. }) => return Err(CliError::usage(error)),
            Err(error) => {
                failed = true;
                say(&format!("toolcrib: {}", visible(&error.to_string())));
                continue;
            }
        };
        let mut text = String::new();
        for tool in &manifest.tools {
            let exported = exported_name(name, &tool.name);
            if as_json {
                let _ = writeln!(
                    text,
                    "{{\"name\":\"{exported}\",\"server\":{},\"definition\":{}}}",
                    json!(name),
                    one_line(&tool.raw)
                );
            } else {
                let first = visible(tool.description.trim().lines().next().unwrap_or_default());
                let first: String = first.chars().take(SHOWN).collect();
                let _ = writeln!(text, "{exported}  {first}");
            }
        }
        print(&text);
    }
    Ok(if failed {
        Status::Failure
    } else {
        Status::Success
    })
}

async fn call(
    fleet: &Arc<Fleet>,
    name: &str,
    arguments: Option<&str>,
    as_json: bool,
) -> Result<Status, CliError> {
    let arguments = match arguments {
        None => "{}".to_owned(),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(CliError::failed)?;
            text
        }
        Some(text) => text.to_owned(),
    };
    let value: Value = serde_json::from_str(&arguments)
        .map_err(|error| CliError::usage(format!("the arguments are not JSON: {error}")))?;
    if !value.is_object() {
        return Err(CliError::usage(
            "the arguments must be a JSON object such as '{\"path\":\"a\"}'",
        ));
    }
    let (server, tool) = find(fleet, name).await?;
    let params = format!(
        "{{\"name\":{},\"arguments\":{}}}",
        json!(tool),
        arguments.trim()
    );
    let params = RawValue::from_string(params).map_err(CliError::failed)?;
    let cx = RequestContext {
        progress: Some(Arc::new(|params| {
            say(&format!("toolcrib: {}", visible(params.get())));
        })),
        ..RequestContext::default()
    };
    let result = fleet
        .request(&server, "tools/call", Some(params), &cx)
        .await
        .map_err(|error| CliError::failed(visible(&error.to_string())))?;
    let output = output_of(&tool, &result);
    if as_json {
        print(&format!("{}\n", one_line(&result)));
    } else {
        for content in &output.content {
            match content {
                Content::Text(text) => print(&format!("{}\n", visible(text))),
                Content::Image { media_type, data } => print(&format!(
                    "[image {}, {} bytes]\n",
                    visible(media_type),
                    data.len() / 4 * 3
                )),
                _ => {}
            }
        }
    }
    Ok(if output.is_error {
        Status::Failure
    } else {
        Status::Success
    })
}

/// The server and tool of an exported name, or of `SERVER/TOOL`.
async fn find(fleet: &Arc<Fleet>, name: &str) -> Result<(String, String), CliError> {
    if let Some((server, tool)) = name.split_once('/')
        && fleet.config(server).is_some()
    {
        return Ok((server.to_owned(), tool.to_owned()));
    }
    let mut known = Vec::new();
    // The servers whose name fits first: most names need no other one.
    let mut servers: Vec<String> = fleet.names().map(ToString::to_string).collect();
    servers.sort_by_key(|server| !name.starts_with(&format!("{server}__")));
    for server in &servers {
        let manifest = match fleet.manifest(server) {
            Some(manifest) => manifest,
            None if !name.starts_with(&format!("{server}__")) => continue,
            None => fleet.refresh(server).await.map_err(CliError::failed)?,
        };
        for tool in &manifest.tools {
            let exported = exported_name(server, &tool.name).to_string();
            if exported == name {
                return Ok((server.clone(), tool.name.to_string()));
            }
            known.push(exported);
        }
    }
    let nearest = known
        .iter()
        .map(|known| (strsim::levenshtein(known, name), known))
        .filter(|(far, known)| *far <= known.len().max(name.len()) / 2)
        .min()
        .map(|(_, known)| known);
    Err(CliError::usage(match nearest {
        Some(nearest) => format!("no tool is called {name:?}; did you mean `{nearest}`?"),
        None => format!(
            "no tool is called {name:?}; `toolcrib mcp check` asks the servers what they have"
        ),
    }))
}

fn as_value(fleet: &Fleet, status: &ServerStatus) -> Value {
    let manifest = fleet.manifest(&status.name);
    json!({
        "name": &*status.name,
        "state": status.state.to_string(),
        "tools": status.tools,
        "tokens": manifest.as_deref().map(tokens),
        "protocol": &*status.protocol_version,
        "fingerprint": manifest.as_ref().map(|manifest| manifest.fingerprint.clone()),
        "start_ms": status.start_took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        "problems": status.problems,
        "quarantined": status.quarantined.iter()
            .map(|tool| json!({"name": tool.name, "reason": tool.reason}))
            .collect::<Vec<_>>(),
        "noise": status.noise.count,
        "error": status.error,
    })
}

/// What the definitions cost as they come over the wire, estimated at four
/// characters a token.
fn tokens(manifest: &Manifest) -> usize {
    let characters = |raw: &RawValue| raw.get().chars().count();
    manifest
        .tools
        .iter()
        .map(|tool| characters(&tool.raw))
        .sum::<usize>()
        / 4
}

/// The bytes on one line: JSON has line breaks only between its tokens.
fn one_line(raw: &RawValue) -> String {
    raw.get().replace(['\n', '\r'], " ")
}

fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n    ")
}
