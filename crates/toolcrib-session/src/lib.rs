//! An append-only session log that survives crashes.
//!
//! A session is one file of JSON Lines. [`SessionLog`] appends [`Row`]s, one
//! `write` per complete line under a lock that other processes respect, so that
//! no crash and no second writer can tear a row that was written before.
//! [`Session`] reads a file back, and [`repair`] makes a transcript that every
//! provider accepts out of whatever a crash left.
//!
//! It knows nothing of the loop: which rows are written, and when they are
//! synced to disk, is the caller's choice. Whoever goes on with a session claims it
//! ([`SessionLog::claim`]), so that no two runs do at once.
//!
//! ```
//! use toolcrib_core::Message;
//! use toolcrib_session::{Meta, Row, Session, SessionLog};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let log = SessionLog::create(dir.path(), Meta::new("openai:some-model"))?;
//! log.append(&Row::message(Message::user("Where is main?")))?;
//! log.sync()?;
//! let session = Session::read(log.path())?;
//! assert_eq!(session.history().len(), 1);
//! # Ok(())
//! # }
//! ```

mod claim;
mod error;
mod id;
mod log;
mod read;
mod repair;
mod row;
mod spill;
mod store;
mod summary;

pub use error::SessionError;
pub use id::{IdError, SessionId};
pub use log::SessionLog;
pub use read::{Entry, Session};
pub use repair::{Repaired, repair};
pub use row::{
    ActivationRow, CompactionRow, FORMAT, FinishedRow, Fork, MessageRow, Meta, NoteRow, PlanRow,
    ReadingRow, ResultRow, RetryRow, Row, UsageRow,
};
pub use spill::DiskSpill;
pub use store::{SessionStore, Stored};
pub use summary::{RunSummary, Summary};
