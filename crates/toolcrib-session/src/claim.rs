//! The right to go on with a session.
//!
//! Rows of two processes never tear each other, but two runs that go on from one
//! transcript would answer past each other and make up the same call ids. So whoever
//! goes on with a session claims it first. The claim is a lock on a file beside the
//! session and not on the session: rows take that one, each for a moment, and readers
//! take none. The system lets go of it when the process ends, however it ends; the
//! file itself, which names the process for people, means nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::SessionError;

/// A claim that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    _locked: File,
}

impl Claim {
    /// Claims the session in this file, for which there need not be one yet.
    ///
    /// # Errors
    /// [`SessionError::Claimed`] when somebody else, also within this process, holds
    /// it; [`SessionError::Io`].
    pub(crate) fn take(session: &Path) -> Result<Claim, SessionError> {
        let path = session.with_extension("lock");
        let failed = |source| SessionError::io("claim", session, source);
        loop {
            let mut file = options().open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                // A file system without locks has no claims.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::WouldBlock) => {
                    let mut by = String::new();
                    let _ = file.take(16).read_to_string(&mut by);
                    return Err(SessionError::Claimed {
                        path: session.to_owned(),
                        by: by.trim().parse().ok(),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // Who let go just now took the file away: a lock on it keeps nobody out.
            if !is_still_at(&file, &path) {
                continue;
            }
            let named = file
                .set_len(0)
                .and_then(|()| writeln!(file, "{}", std::process::id()));
            // A full disk keeps nobody from a claim.
            let _ = named;
            return Ok(Claim {
                path,
                _locked: file,
            });
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While the lock is held still, so that it is nobody else's file.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(own), Ok(there)) => id(own) == id(there),
        _ => false,
    }
}

/// Elsewhere a file that is open is not taken away.
#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> bool {
    true
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}
