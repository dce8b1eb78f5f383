//! Taking over the servers that other clients are configured with.
//!
//! [`survey`] reads their files, [`Plan::new`] says what would be written, [`apply`]
//! writes it with backups, [`undo`] puts every byte back. Nothing but [`apply`] and
//! [`undo`] changes a file. Edits are made on the text, so that comments and layout
//! outside the edited entries stay; secrets stay in the file where they are, and the
//! gateway gets them from there. It starts no server and knows no protocol.

mod backup;
mod carry;
mod client;
mod entry;
mod give_back;
mod json_text;
mod plan;
mod secret;
mod survey;
mod switched_off;
mod take_away;
mod variables;

pub use backup::{Applied, Left, Undone, apply, undo};
pub use client::{Client, Os, Places, Scope};
pub use plan::{Goal, Plan, PlannedServer, Write};
pub(crate) use survey::toml_value;
pub use survey::{Found, Problem, Survey, survey};
pub use variables::carried_variables;

use std::path::PathBuf;

/// Why an import stopped. No file was changed unless the text says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file could not be read or written.
    #[error("cannot {what} {}: {error}", path.display())]
    File {
        /// `read`, `write` and the like.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        error: std::io::Error,
    },
    /// A configuration of our own cannot be changed as it stands.
    #[error("{}: {why}", path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// What is wrong and with which key.
        why: String,
    },
    /// There is nothing to undo.
    #[error("no import is on record here, so there is nothing to undo")]
    NothingToUndo,
}

impl ImportError {
    fn file(what: &'static str, path: &std::path::Path, error: std::io::Error) -> ImportError {
        ImportError::File {
            what,
            path: path.to_owned(),
            error,
        }
    }
}
