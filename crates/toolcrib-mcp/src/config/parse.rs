//! Servers out of JSON and TOML.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{ConfigError, ServerConfig, Transport, literal};
use crate::raw;

const KEYS: [&str; 16] = [
    "args",
    "call_cap",
    "call_timeout",
    "command",
    "cwd",
    "disabled",
    "disabled_tools",
    "enabled_tools",
    "env",
    "env_file",
    "headers",
    "idle_stop",
    "oauth",
    "start_timeout",
    "type",
    "url",
];

/// The file of a client that fills nothing in.
const CLAUDE_DESKTOP: &str = "claude_desktop_config.json";

/// Reads the servers of a JSON file with an `mcpServers` object, in the order of
/// their names. A file without that key is taken for the object itself only when
/// `bare` says so. Keys of other clients are passed over.
///
/// # Errors
/// [`ConfigError`] naming `file` and the key.
pub fn servers_from_json(
    text: &str,
    file: &Path,
    bare: bool,
) -> Result<Vec<ServerConfig>, ConfigError> {
    sound(entries_from_json(text, file, bare)?)
}

/// Like [`servers_from_json`], but an entry that cannot be used becomes a server
/// whose start fails with the reason.
///
/// # Errors
/// [`ConfigError`] when the file as a whole cannot be read.
pub fn entries_from_json(
    text: &str,
    file: &Path,
    bare: bool,
) -> Result<Vec<ServerConfig>, ConfigError> {
    let fail = |key: &str, problem: String| ConfigError {
        file: Some(file.to_path_buf()),
        key: key.to_owned(),
        problem,
    };
    // Some editors of Windows begin a file with a mark of its encoding.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value: Value = serde_json::from_str(text)
        .map_err(|error| fail("mcpServers", format!("the file is not JSON: {error}")))?;
    let servers = match value.get("mcpServers") {
        Some(servers) => servers,
        None if bare => &value,
        None => return Ok(Vec::new()),
    };
    let Some(servers) = servers.as_object() else {
        return Err(fail(
            "mcpServers",
            "must be an object of servers".to_owned(),
        ));
    };
    let whole = raw::get(text, "mcpServers").map_or(text, |raw| raw.get());
    let mut seen = BTreeSet::new();
    for (name, _) in raw::entries(whole).unwrap_or_default() {
        if !seen.insert(name.clone()) {
            let key = format!("mcpServers.{name}");
            return Err(fail(&key, "stands twice; rename one of them".to_owned()));
        }
    }
    let mut servers = read(servers, "mcpServers", file, false)?;
    if file.file_name() == Some(CLAUDE_DESKTOP.as_ref()) {
        for server in &mut servers {
            server.transport.change_texts(literal);
        }
    }
    Ok(servers)
}

/// Reads the servers of `[mcp.servers.NAME]` in TOML text, in the order of their
/// names. An unknown key of a server is an error.
///
/// # Errors
/// [`ConfigError`] naming `file` and the key.
pub fn servers_from_toml(text: &str, file: &Path) -> Result<Vec<ServerConfig>, ConfigError> {
    sound(entries_from_toml(text, file)?)
}

/// Like [`servers_from_toml`], but an entry that cannot be used becomes a server
/// whose start fails with the reason.
///
/// # Errors
/// [`ConfigError`] when the file as a whole cannot be read.
pub fn entries_from_toml(text: &str, file: &Path) -> Result<Vec<ServerConfig>, ConfigError> {
    let fail = |key: &str, problem: String| ConfigError {
        file: Some(file.to_path_buf()),
        key: key.to_owned(),
        problem,
    };
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| fail("mcp", placed(&error, text)))?;
    let Some(mcp) = table.get("mcp") else {
        return Ok(Vec::new());
    };
    let Some(servers) = mcp.get("servers") else {
        return Ok(Vec::new());
    };
    let servers = serde_json::to_value(servers).map_err(|e| fail("mcp.servers", e.to_string()))?;
    let Some(servers) = servers.as_object() else {
        return Err(fail("mcp.servers", "must be a table of servers".to_owned()));
    };
    read(servers, "mcp.servers", file, true)
}

/// The servers, if all of them can be used.
fn sound(servers: Vec<ServerConfig>) -> Result<Vec<ServerConfig>, ConfigError> {
    match servers.iter().find_map(|server| server.broken.clone()) {
        Some(error) => Err(error),
        None => Ok(servers),
    }
}

/// What is wrong with TOML text, and on which line.
fn placed(error: &toml::de::Error, text: &str) -> String {
    let said = error.message().replace('\n', " ");
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {said}", before.lines().count().max(1)),
        None => said,
    }
}

fn read(
    servers: &Map<String, Value>,
    root: &str,
    file: &Path,
    strict: bool,
) -> Result<Vec<ServerConfig>, ConfigError> {
    let mut out: Vec<ServerConfig> = servers
        .iter()
        .map(|(name, entry)| {
            let entry = Entry {
                key: format!("{root}.{name}"),
                file,
                entry,
            };
            if name.trim().is_empty() {
                return entry.fail("", "a server needs a name");
            }
            Ok(entry.server(name, strict).unwrap_or_else(|error| {
                let mut server = ServerConfig::stdio(name.as_str(), "", [""; 0]);
                server.file = Some(file.to_path_buf());
                server.disabled = entry.entry.get("disabled") == Some(&Value::Bool(true));
                server.broken = Some(error);
                server
            }))
        })
        .collect::<Result<_, _>>()?;
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

struct Entry<'a> {
    key: String,
    file: &'a Path,
    entry: &'a Value,
}

impl Entry<'_> {
    fn fail<T>(&self, key: &str, problem: impl Into<String>) -> Result<T, ConfigError> {
        let key = match key {
            "" => self.key.clone(),
            key => format!("{}.{key}", self.key),
        };
        Err(ConfigError {
            file: Some(self.file.to_path_buf()),
            key,
            problem: problem.into(),
        })
    }

    fn server(&self, name: &str, strict: bool) -> Result<ServerConfig, ConfigError> {
        let Some(entry) = self.entry.as_object() else {
            return self.fail("", "must be an object with `command` or `url`");
        };
        if strict && let Some(unknown) = entry.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let nearest = KEYS
                .into_iter()
                .min_by_key(|key| strsim::levenshtein(key, unknown))
                .unwrap_or(KEYS[0]);
            return self.fail(unknown, format!("unknown key; did you mean `{nearest}`?"));
        }
        let mut server = ServerConfig::new(name, self.transport()?);
        server.file = Some(self.file.to_path_buf());
        let times = [
            ("call_timeout", &mut server.call_timeout),
            ("call_cap", &mut server.call_cap),
            ("start_timeout", &mut server.start_timeout),
        ];
        for (key, slot) in times {
            if let Some(time) = self.time(key)? {
                *slot = time;
            }
        }
        if let Some(time) = self.time("idle_stop")? {
            server.idle_stop = Some(time).filter(|time| !time.is_zero());
        }
        if let Some(disabled) = self.entry.get("disabled") {
            let Some(disabled) = disabled.as_bool() else {
                return self.fail("disabled", "must be true or false");
            };
            server.disabled = disabled;
        }
        if let Some(oauth) = self.entry.get("oauth") {
            let text = |key: &str| oauth.get(key).and_then(Value::as_str).map(str::to_owned);
            server.oauth.client_id = text("client_id").or_else(|| text("clientId"));
            server.oauth.client_secret = text("client_secret").or_else(|| text("clientSecret"));
            let scopes = oauth.get("scopes").and_then(Value::as_array);
            server.oauth.scopes = scopes
                .into_iter()
                .flatten()
                .filter_map(|scope| Some(scope.as_str()?.to_owned()))
                .collect();
        }
        Ok(server)
    }

    fn transport(&self) -> Result<Transport, ConfigError> {
        let kind = self.text("type")?;
        match (self.text("command")?, self.text("url")?) {
            (Some(_), Some(_)) => self.fail("url", "a server has `command` or `url`, not both"),
            (None, None) => self.fail("", "needs `command` (a program) or `url` (an address)"),
            (Some(command), None) => {
                if kind.as_deref().is_some_and(|kind| kind != "stdio") {
                    return self.fail("type", "a server with `command` is of type \"stdio\"");
                }
                if command.trim().is_empty() {
                    return self.fail("command", "must not be empty");
                }
                Ok(Transport::Stdio {
                    command,
                    args: self.list("args")?,
                    env: self.map("env")?,
                    cwd: self.text("cwd")?.map(PathBuf::from),
                })
            }
            (None, Some(url)) => {
                match kind.as_deref() {
                    None | Some("http" | "streamable-http" | "streamableHttp") => {}
                    Some("sse") => {
                        return self.fail(
                            "type",
                            "the old two-endpoint SSE transport is not spoken; give the server's streamable HTTP address with type \"http\"",
                        );
                    }
                    Some(_) => {
                        return self.fail("type", "must be \"http\" for a server with `url`");
                    }
                }
                if !url.starts_with("http://")
                    && !url.starts_with("https://")
                    && !url.starts_with("${")
                {
                    return self.fail("url", "must begin with http:// or https://");
                }
                Ok(Transport::Http {
                    url,
                    headers: self.map("headers")?,
                })
            }
        }
    }

    fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.entry.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => self.fail(key, "must be a text"),
        }
    }

    fn list(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        match self.entry.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| match scalar(item) {
                    Some(text) => Ok(text),
                    None => self.fail(key, "must be a list of texts"),
                })
                .collect(),
            Some(_) => self.fail(key, "must be a list of texts"),
        }
    }

    fn map(&self, key: &str) -> Result<BTreeMap<String, String>, ConfigError> {
        match self.entry.get(key) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => map
                .iter()
                .map(|(name, value)| match scalar(value) {
                    Some(text) => Ok((name.clone(), text)),
                    None => self.fail(&format!("{key}.{name}"), "must be a text"),
                })
                .collect(),
            Some(_) => self.fail(key, "must be an object of texts"),
        }
    }

    /// Seconds as a number, or a text such as `90s`, `5m`, `1h`, `500ms`.
    fn time(&self, key: &str) -> Result<Option<Duration>, ConfigError> {
        let parsed = match self.entry.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_f64(),
            Some(Value::String(text)) => {
                let digits = text
                    .find(|c: char| !c.is_ascii_digit() && c != '.')
                    .unwrap_or(text.len());
                let unit = match &text[digits..] {
                    "ms" => Some(0.001),
                    "s" | "" => Some(1.0),
                    "m" => Some(60.0),
                    "h" => Some(3600.0),
                    _ => None,
                };
                text[..digits]
                    .parse::<f64>()
                    .ok()
                    .zip(unit)
                    .map(|(n, unit)| n * unit)
            }
            Some(_) => None,
        };
        match parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            Some(time) => Ok(Some(time)),
            None => self.fail(key, "must be a time such as \"90s\" or \"5m\""),
        }
    }
}

/// Numbers and booleans are often written bare where a text is meant.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}
