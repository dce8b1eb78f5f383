//! Why a session cannot be written or read.

use std::io;
use std::path::{Path, PathBuf};

/// What went wrong with a session file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no room for another row. What was written before is intact.
    #[error(
        "no room left to write the session {path}; free some space, rows written so far are kept"
    )]
    DiskFull {
        /// The session file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("cannot {}: {source}", tried(action, path))]
    Io {
        /// What was tried: `create`, `open`, `read`, `write`, `sync`, `lock`, `claim`, or
        /// with the directory `list` and `make`.
        action: &'static str,
        /// The session file or its directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process held the lock for too long.
    #[error("the session {path} is being written by another process that does not let go")]
    Busy {
        /// The session file.
        path: PathBuf,
    },
    /// Somebody else goes on with it.
    #[error(
        "the session {path} is in use{}; wait until it is free, or go on in a branch of your own (`session fork`)",
        by.map_or_else(String::new, |by| format!(" by process {by}"))
    )]
    Claimed {
        /// The session file.
        path: PathBuf,
        /// The process that holds it, if known.
        by: Option<u32>,
    },
    /// A complete line is not a row.
    #[error("line {line} of the session {path} is not a session row: {reason}")]
    BadLine {
        /// The session file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Not one complete row: the crash came before the first one was written.
    #[error("the session {path} holds no complete row; there is nothing to go on with")]
    Empty {
        /// The session file.
        path: PathBuf,
    },
    /// The first row says nothing about the session.
    #[error("{path} does not begin with a session's `meta` row; it is another kind of file")]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "the session {path} has format {found}, this program reads up to {}; use a newer one",
        crate::FORMAT
    )]
    Newer {
        /// The session file.
        path: PathBuf,
        /// The format it has.
        found: u32,
    },
    /// No session has the name that was given.
    #[error(
        "no session is called {said:?} in {dir}; {}",
        if newest.is_empty() { "there is none yet".to_owned() } else { format!("the newest: {newest}") }
    )]
    NoSuch {
        /// What was given.
        said: String,
        /// Where it was looked for.
        dir: PathBuf,
        /// The newest names, separated by commas.
        newest: String,
    },
    /// What was given fits several sessions.
    #[error("{count} sessions fit {said:?}; give more of the name: {some}")]
    Ambiguous {
        /// What was given.
        said: String,
        /// How many fit.
        count: usize,
        /// Some of them, separated by commas.
        some: String,
    },
    /// A session does not have the line that was asked for.
    #[error("the session {path} has {last} lines, and no line {line} to branch off at")]
    NoLine {
        /// The session file.
        path: PathBuf,
        /// What was asked for.
        line: u64,
        /// The last line it has.
        last: u64,
    },
    /// A value that JSON cannot hold.
    #[error("a row cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

fn tried(action: &str, path: &Path) -> String {
    let path = path.display();
    match action {
        "list" => format!("list the sessions in {path}"),
        "make" => format!("make the directory of sessions {path}"),
        _ => format!("{action} the session {path}"),
    }
}

impl SessionError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> SessionError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => SessionError::DiskFull { path, source },
            _ => SessionError::Io {
                action,
                path,
                source,
            },
        }
    }
}
