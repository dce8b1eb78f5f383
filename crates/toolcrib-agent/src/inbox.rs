//! Messages for a run that is busy.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use toolcrib_core::Str;

/// Where messages wait until a run takes them, before its next request. Clones are
/// the same place. What a run does not take any more stays for the next one.
#[derive(Clone, Debug, Default)]
pub struct Inbox(Arc<Mutex<VecDeque<Str>>>);

impl Inbox {
    /// An empty one.
    pub fn new() -> Inbox {
        Inbox::default()
    }

    /// Adds a message of the user.
    pub fn push(&self, text: impl Into<Str>) {
        self.lock().push_back(text.into());
    }

    /// The messages that wait, oldest first; none waits afterwards.
    pub fn take(&self) -> Vec<Str> {
        self.lock().drain(..).collect()
    }

    /// The oldest message, if it is wanted; else it stays.
    pub(crate) fn take_if(&self, wanted: impl FnOnce(Str) -> bool) -> Option<Str> {
        let mut waiting = self.lock();
        let first = waiting.front()?.clone();
        wanted(first).then(|| waiting.pop_front())?
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
