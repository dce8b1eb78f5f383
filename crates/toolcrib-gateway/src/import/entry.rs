//! One client's entry for a server, read into the gateway's own form.
//!
//! Texts are still in the client's own syntax for variables; [`super::carry`] turns
//! them. What cannot be read is named with its key and left where it is.

use serde_json::{Map, Value};

use super::client::Client;
use crate::settings::ServerSettings;

/// An entry as the client wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// Texts in the client's syntax.
    pub(crate) server: ServerSettings,
    /// Variables that the client hands on by their names.
    pub(crate) forwarded: Vec<String>,
    /// Headers whose value is a variable: header, what stands before it, variable.
    pub(crate) header_variables: Vec<(String, &'static str, String)>,
}

/// What an entry turned out to be.
#[derive(Debug, PartialEq)]
pub(crate) enum Read {
    /// A server.
    Server(Box<Entry>),
    /// This gateway.
    Gateway,
    /// Nothing that can be served: the key within the entry, and why.
    Problem(String, String),
}

/// Reads the entry `value` of `client`.
pub(crate) fn read(client: Client, value: &Value) -> Read {
    let Some(map) = value.as_object() else {
        return Read::Problem(String::new(), "it is not an object".to_owned());
    };
    let mut reader = Reader { map, problem: None };
    let entry = reader.entry(client);
    match (reader.problem, entry) {
        (Some((key, why)), _) => Read::Problem(key, why),
        (None, entry) if is_gateway(&entry.server) => Read::Gateway,
        (None, entry) => Read::Server(Box::new(entry)),
    }
}

fn is_gateway(server: &ServerSettings) -> bool {
    let program = server.command.as_deref().unwrap_or("");
    let name = program.rsplit(['/', '\\']).next().unwrap_or("");
    let name = name.strip_suffix(".exe").unwrap_or(name);
    // However its file is called: a name of an older one, or with a version.
    starts_serving(server) && (name.starts_with("toolcrib") || is_this_program(program))
}

fn starts_serving(server: &ServerSettings) -> bool {
    server.args.first().is_some_and(|arg| arg == "serve")
}

/// Whether a program is the one that runs now, links followed.
fn is_this_program(program: &str) -> bool {
    let program = std::path::Path::new(program);
    let own = || std::env::current_exe().ok()?.canonicalize().ok();
    program.is_absolute()
        && program
            .canonicalize()
            .is_ok_and(|program| Some(program) == own())
}

/// [`read`], for an entry of that name. The gateway's is known by its name too, since
/// the program may be called anything and may have moved since.
pub(crate) fn read_named(client: Client, name: &str, value: &Value) -> Read {
    match read(client, value) {
        Read::Server(entry)
            if matches!(name, "toolcrib" | "toolcrib-gateway") && starts_serving(&entry.server) =>
        {
            Read::Gateway
        }
        other => other,
    }
}

/// Whether the entry of that name, of whichever client, starts this gateway.
pub(crate) fn is_gateway_entry(name: &str, value: &Value) -> bool {
    let client = match value.get("command") {
        Some(Value::Array(_)) => Client::Opencode,
        Some(_) => Client::ClaudeDesktop,
        None => return false,
    };
    read_named(client, name, value) == Read::Gateway
}

struct Reader<'a> {
    map: &'a Map<String, Value>,
    problem: Option<(String, String)>,
}

impl Reader<'_> {
    fn wrong(&mut self, key: &str, why: impl Into<String>) {
        self.problem.get_or_insert((key.to_owned(), why.into()));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.map.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.wrong(key, "it is not a text");
                None
            }
        }
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => {
                let mut texts = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    match item {
                        Value::String(text) => texts.push(text.clone()),
                        // Ports are often written without quotes.
                        Value::Number(number) => texts.push(number.to_string()),
                        _ => self.wrong(&format!("{key}[{at}]"), "it is not a text"),
                    }
                }
                texts
            }
            Some(_) => {
                self.wrong(key, "it is not a list of texts");
                Vec::new()
            }
        }
    }

    fn pairs(&mut self, key: &str) -> Vec<(String, String)> {
        match self.map.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(map)) => {
                let mut pairs = Vec::with_capacity(map.len());
                for (name, value) in map {
                    match value {
                        Value::String(text) => pairs.push((name.clone(), text.clone())),
                        Value::Number(_) | Value::Bool(_) => {
                            pairs.push((name.clone(), value.to_string()));
                        }
                        // A variable that is to be unset.
                        Value::Null => {}
                        _ => self.wrong(&format!("{key}.{name}"), "it is not a text"),
                    }
                }
                pairs
            }
            Some(_) => {
                self.wrong(key, "it is not an object of texts");
                Vec::new()
            }
        }
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.map.get(key).and_then(Value::as_bool)
    }

    /// A number of seconds, or of their thousandth parts, as this gateway writes it.
    fn time(&self, key: &str, milliseconds: bool) -> Option<String> {
        let value = self.map.get(key)?.as_f64().filter(|time| *time > 0.0)?;
        let seconds = if milliseconds { value / 1000.0 } else { value };
        Some(format!("{seconds}s"))
    }

    fn entry(&mut self, client: Client) -> Entry {
        let mut entry = Entry::default();
        let kind = self.text("type").unwrap_or_default();
        if client == Client::Opencode {
            self.opencode(&mut entry);
        } else if client == Client::Zed && self.map.get("command").is_some_and(Value::is_object) {
            // Older settings nest the program.
            if let Some(inner) = self.map.get("command").and_then(Value::as_object) {
                let mut inner = Reader {
                    map: inner,
                    problem: None,
                };
                entry.server.command = inner.text("path");
                entry.server.args = inner.texts("args");
                entry.server.env = inner.pairs("env").into_iter().collect();
                if let Some((key, why)) = inner.problem {
                    self.wrong(&format!("command.{key}"), why);
                }
            }
        } else {
            entry.server.command = self.text("command");
            entry.server.args = self.texts("args");
            entry.server.env = self.pairs("env").into_iter().collect();
            entry.server.env_file = self.text("envFile");
        }
        entry.server.cwd = self.text("cwd");
        let server = &mut entry.server;
        server.url = match client {
            Client::GeminiCli => self.text("httpUrl").or_else(|| self.text("url")),
            Client::Windsurf => self.text("serverUrl").or_else(|| self.text("url")),
            _ => self.text("url"),
        };
        let old_stream = kind == "sse"
            || (client == Client::GeminiCli
                && self.map.contains_key("url")
                && !self.map.contains_key("httpUrl")
                && kind != "http");
        if old_stream && server.command.is_none() {
            self.wrong(
                if kind == "sse" { "type" } else { "url" },
                "it speaks the old HTTP+SSE transport; give it the server's address for streamable HTTP",
            );
        }
        server.headers = self.pairs("headers").into_iter().collect();
        self.limits(client, &mut entry);
        let server = &entry.server;
        match (&server.command, &server.url) {
            (None, None) => self.wrong("", "it has neither a command nor an address"),
            (Some(command), None) if command.trim().is_empty() => {
                self.wrong("command", "it is empty");
            }
            (Some(_), Some(_)) => self.wrong("url", "it has both a command and an address"),
            (None, Some(url))
                if !url.starts_with("http://")
                    && !url.starts_with("https://")
                    && !url.starts_with(['$', '{']) =>
            {
                self.wrong("url", "it is no http or https address");
            }
            _ => {}
        }
        entry
    }

    fn opencode(&mut self, entry: &mut Entry) {
        let mut words = self.texts("command").into_iter();
        entry.server.command = words.next();
        entry.server.args = words.collect();
        let environment = self.pairs("environment");
        entry.server.env = environment.into_iter().collect();
    }

    /// Timeouts, filters, and whether it is switched off.
    fn limits(&mut self, client: Client, entry: &mut Entry) {
        entry.server.disabled =
            self.flag("disabled") == Some(true) || self.flag("enabled") == Some(false);
        match client {
            Client::Codex => {
                entry.server.start_timeout = self
                    .time("startup_timeout_sec", false)
                    .or_else(|| self.time("startup_timeout_ms", true));
                entry.server.call_timeout = self.time("tool_timeout_sec", false);
                entry.server.enabled_tools = self.texts("enabled_tools");
                entry.server.disabled_tools = self.texts("disabled_tools");
                entry.forwarded = self.texts("env_vars");
                entry.server.headers = self.pairs("http_headers").into_iter().collect();
                for (header, variable) in self.pairs("env_http_headers") {
                    entry.header_variables.push((header, "", variable));
                }
                if let Some(variable) = self.text("bearer_token_env_var") {
                    let header = ("Authorization".to_owned(), "Bearer ", variable);
                    entry.header_variables.push(header);
                }
            }
            Client::GeminiCli => {
                entry.server.call_timeout = self.time("timeout", true);
                entry.server.enabled_tools = self.texts("includeTools");
                entry.server.disabled_tools = self.texts("excludeTools");
            }
            Client::Opencode => entry.server.start_timeout = self.time("timeout", true),
            Client::Windsurf => entry.server.disabled_tools = self.texts("disabledTools"),
            _ => {}
        }
    }
}
