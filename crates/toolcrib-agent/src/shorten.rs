//! Making a transcript shorter between two runs, when somebody asks for it.

use toolcrib_core::History;
use toolcrib_session::{Row, SessionError};

use crate::Agent;
use crate::run::compact::{bytes_of, without_bodies, without_superseded};

/// A transcript that was made shorter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shortened {
    /// What is left.
    pub history: History,
    /// Bytes of its messages before.
    pub bytes_before: u64,
    /// Bytes of them now.
    pub bytes_after: u64,
}

impl Agent {
    /// The transcript without results that later ones replace and without the
    /// bodies of older ones, which stay readable where a spill store keeps them.
    /// The last messages stay as they are. The model is not asked. `None` when
    /// nothing would be saved; else the session, if there is one, knows of it.
    ///
    /// # Errors
    /// [`SessionError`] when the session cannot be written; the transcript then
    /// stays as it was.
    pub fn shorten(&self, history: &History) -> Result<Option<Shortened>, SessionError> {
        let bytes_before = bytes_of(history);
        let keep = |text: &str| self.dispatcher.keep(text);
        let shorter = without_bodies(&without_superseded(history), &keep);
        let bytes_after = bytes_of(&shorter);
        if bytes_after >= bytes_before {
            return Ok(None);
        }
        if let Some(log) = &self.session {
            let messages = shorter.messages().cloned().collect();
            log.append(&Row::compaction(
                messages,
                "asked",
                bytes_before,
                bytes_after,
            ))?;
        }
        Ok(Some(Shortened {
            history: shorter,
            bytes_before,
            bytes_after,
        }))
    }
}
