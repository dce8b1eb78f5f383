//! Which servers there are and how each is reached.
//!
//! Two forms are read: the `mcpServers` object that most clients share
//! (`.mcp.json`), where keys of other clients are passed over, and
//! `[mcp.servers.NAME]` of `toolcrib.toml`, where an unknown key is an error.
//! `${VAR}` stays as written until a server starts, so a configuration can be
//! shown, compared and written without a secret in it. Claude Desktop fills nothing
//! in: what its file says to a shell is left to the shell.

mod expand;
mod parse;
mod redact;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use toolcrib_core::Str;

pub use expand::literal;
pub use parse::{entries_from_json, entries_from_toml, servers_from_json, servers_from_toml};

pub(crate) use expand::{Resolved, ResolvedTransport};
pub(crate) use redact::Redact;

/// One configured server.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The name that its tools carry.
    pub name: Str,
    /// How it is reached.
    pub transport: Transport,
    /// Longest silence during one request; progress begins it anew.
    pub call_timeout: Duration,
    /// Longest run of one request, whatever its progress.
    pub call_cap: Duration,
    /// Longest time from the start of the process to the end of the handshake.
    pub start_timeout: Duration,
    /// Stopped after this long without a request; never when absent.
    pub idle_stop: Option<Duration>,
    /// Kept, but not offered.
    pub disabled: bool,
    /// OAuth client and scopes, for servers that want more than a registration on
    /// the spot.
    pub oauth: OAuthConfig,
    /// Values for `${VAR}`, before those of the environment. They are secrets: nothing
    /// shows them.
    pub variables: BTreeMap<String, String>,
    /// The file it was read from, for errors.
    pub file: Option<PathBuf>,
    /// Why the entry cannot be used; a start fails with it.
    pub broken: Option<ConfigError>,
}

/// How a server is reached. Texts may hold `${VAR}` and `${VAR:-default}`.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Transport {
    /// A child process that speaks over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, beside a minimal base.
        env: BTreeMap<String, String>,
        /// Where it runs; by default where we run.
        cwd: Option<PathBuf>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// Its address.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, String>,
    },
}

impl Transport {
    /// Has each text that may hold a variable changed.
    pub fn change_texts(&mut self, change: impl Fn(&str) -> String) {
        let each = |text: &mut String| *text = change(text);
        match self {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                each(command);
                args.iter_mut().for_each(each);
                env.values_mut().for_each(each);
                if let Some(cwd) = cwd {
                    *cwd = change(&cwd.to_string_lossy()).into();
                }
            }
            Transport::Http { url, headers } => {
                each(url);
                headers.values_mut().for_each(each);
            }
        }
    }
}

/// What an authorization server needs to know of us beforehand.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// A client id registered out of band.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<String>,
    /// Asked for instead of what the server advertises.
    pub scopes: Vec<String>,
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}`{key}`: {problem}", place(.file))]
pub struct ConfigError {
    /// The file, where there is one.
    pub file: Option<PathBuf>,
    /// The key, dotted.
    pub key: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

fn place(file: &Option<PathBuf>) -> String {
    match file {
        Some(file) => format!("{}: ", file.display()),
        None => String::new(),
    }
}

impl ServerConfig {
    /// A server with the defaults: 60 s of silence and 10 min in all for a request,
    /// 60 s for the start, stopped after 10 min without a request.
    pub fn new(name: impl Into<Str>, transport: Transport) -> ServerConfig {
        ServerConfig {
            name: name.into(),
            transport,
            call_timeout: Duration::from_secs(60),
            call_cap: Duration::from_secs(600),
            start_timeout: Duration::from_secs(60),
            idle_stop: Some(Duration::from_secs(600)),
            disabled: false,
            oauth: OAuthConfig::default(),
            variables: BTreeMap::new(),
            file: None,
            broken: None,
        }
    }

    /// A server that is a program with these arguments.
    pub fn stdio<A: Into<String>>(
        name: impl Into<Str>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> ServerConfig {
        let transport = Transport::Stdio {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            cwd: None,
        };
        ServerConfig::new(name, transport)
    }

    /// A server behind this address.
    pub fn http(name: impl Into<Str>, url: impl Into<String>) -> ServerConfig {
        let transport = Transport::Http {
            url: url.into(),
            headers: BTreeMap::new(),
        };
        ServerConfig::new(name, transport)
    }

    /// Tells configurations of different servers apart, and one server's with
    /// different credentials: what one of them lists says nothing of the other.
    /// Neither the name nor a secret can be read from it.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        let mut section = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        // A variable that is not set yet leaves the text as written.
        let expanded = |text: &String| self.expand(text).unwrap_or_else(|_| text.clone());
        match &self.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                section("stdio");
                section(&expanded(command));
                for arg in args {
                    section(&expanded(arg));
                }
                section("env");
                for (key, value) in env {
                    section(key);
                    section(&expanded(value));
                }
                section(
                    &cwd.as_ref()
                        .map(|p| p.to_string_lossy())
                        .unwrap_or_default(),
                );
            }
            Transport::Http { url, headers } => {
                section("http");
                section(&expanded(url));
                for (key, value) in headers {
                    section(key);
                    section(&expanded(value));
                }
                section(self.oauth.client_id.as_deref().unwrap_or_default());
            }
        }
        hash.finalize().iter().fold(String::new(), |mut hex, byte| {
            use fmt::Write as _;
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }

    pub(crate) fn error(&self, key: &str, problem: impl Into<String>) -> ConfigError {
        ConfigError {
            file: self.file.clone(),
            key: format!("{}.{key}", self.name),
            problem: problem.into(),
        }
    }
}

/// Without values of the environment, headers, arguments or a query: any of them
/// can be a secret.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name, self.transport)
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Stdio {
                command, args, env, ..
            } => {
                let names: Vec<&String> = env.keys().collect();
                write!(f, "{command} with {} arguments, env {names:?}", args.len())
            }
            Transport::Http { url, headers } => {
                let names: Vec<&String> = headers.keys().collect();
                write!(f, "{} headers {names:?}", shown_url(url))
            }
        }
    }
}

/// An address without user, query and fragment.
pub(crate) fn shown_url(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // A password may hold an `@` itself.
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests;
