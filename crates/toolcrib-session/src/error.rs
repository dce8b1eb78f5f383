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
    #[error("cannot {action} the session {path}: {source}")]
    Io {
        /// What was tried: `create`, `open`, `read`, `write`, `sync`, `lock`.
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
    /// A value that JSON cannot hold.
    #[error("a row cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
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
