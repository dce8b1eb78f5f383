//! What can go wrong between us and a server.
//!
//! A JSON-RPC error keeps its code, message and data, so that whoever passes a
//! call on can answer with the very same error. Everything else says which server
//! it was and what a person can do next; what a server printed to its standard
//! error is part of the text, since that is where the cause usually stands.

use std::fmt;
use std::time::Duration;

use serde_json::value::RawValue;
use toolcrib_core::Str;

use crate::ConfigError;

/// A JSON-RPC error as the server sent it, without secrets of its entry.
#[derive(Debug, Clone)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// The data, byte for byte but for secrets of the server's entry.
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError {
            code,
            message: message.into(),
            data: None,
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// Why a server did not give a result.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// No server of that name is configured.
    #[error("no MCP server is called {name:?}{}", suggestion(.nearest))]
    UnknownServer {
        /// The name as given.
        name: String,
        /// The configured name that is closest.
        nearest: Option<String>,
    },
    /// Its entry cannot be used as it stands.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It did not come up.
    #[error("MCP server `{server}` did not start: {reason}{}", said(.stderr))]
    Start {
        /// The server.
        server: Str,
        /// What happened.
        reason: String,
        /// The end of what it printed to its standard error.
        stderr: String,
    },
    /// It failed shortly before and is given a rest.
    #[error("MCP server `{server}` failed ({reason}); the next try is in {} s", .retry_in.as_secs() + 1)]
    BackingOff {
        /// The server.
        server: Str,
        /// The last failure.
        reason: String,
        /// Until the next try.
        retry_in: Duration,
    },
    /// It answered with an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// It went away before it answered.
    #[error("MCP server `{server}` went away: {reason}{}", said(.stderr))]
    Closed {
        /// The server.
        server: Str,
        /// What happened.
        reason: String,
        /// The end of what it printed to its standard error.
        stderr: String,
    },
    /// It did not answer in time; it was told to stop.
    #[error("MCP server `{server}` did not answer `{method}` within {} s", .after.as_secs_f64())]
    Timeout {
        /// The server.
        server: Str,
        /// The request's method.
        method: String,
        /// The limit that was passed.
        after: Duration,
    },
    /// The caller gave up; the server was told to stop.
    #[error("the request was cancelled")]
    Cancelled,
    /// It answered with more than may be kept.
    #[error("MCP server `{server}` answered with more than {limit} bytes; ask for less")]
    TooLarge {
        /// The server.
        server: Str,
        /// The limit in bytes.
        limit: usize,
    },
    /// An HTTP server refused the request as such.
    #[error("MCP server `{server}` answered HTTP {status}{}", excerpt(.body))]
    Http {
        /// The server.
        server: Str,
        /// The status code.
        status: u16,
        /// The beginning of the answer's body.
        body: String,
    },
    /// The server forgot the session; a new one was begun, but the request may
    /// have run and was not repeated.
    #[error(
        "MCP server `{server}` lost the session; it is connected anew, but `{method}` may have run and was not repeated"
    )]
    SessionLost {
        /// The server.
        server: Str,
        /// The request's method.
        method: String,
    },
    /// It wants a login that needs a person.
    #[error("MCP server `{server}` wants a login: run `toolcrib mcp login {server}`{}", excerpt(.reason))]
    LoginNeeded {
        /// The server.
        server: Str,
        /// What the authorization said; may be empty.
        reason: String,
    },
    /// The tool is not what the call was made for; the call was not sent.
    #[error("MCP server `{server}` has changed or removed the tool `{tool}`; it did not run")]
    ToolChanged {
        /// The server.
        server: Str,
        /// The tool's name on the server.
        tool: String,
    },
    /// It broke the protocol in a way that cannot be worked around.
    #[error("MCP server `{server}` broke the protocol: {reason}")]
    Protocol {
        /// The server.
        server: Str,
        /// What it did.
        reason: String,
    },
}

impl McpError {
    /// The JSON-RPC error, where the server sent one.
    pub fn rpc(&self) -> Option<&RpcError> {
        match self {
            McpError::Rpc(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the connection is of no use after this error.
    pub(crate) fn is_fatal(&self) -> bool {
        matches!(self, McpError::Closed { .. } | McpError::Start { .. })
    }
}

fn suggestion(name: &Option<String>) -> String {
    match name {
        Some(name) => format!("; did you mean {name:?}?"),
        None => String::new(),
    }
}

/// Lines of a server's standard error that an error shows: causes come last.
const LAST_LINES: usize = 12;

fn said(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.trim().lines().collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    match last.join("\n") {
        text if text.is_empty() => text,
        text => format!("\nit printed:\n{text}"),
    }
}

fn excerpt(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}
