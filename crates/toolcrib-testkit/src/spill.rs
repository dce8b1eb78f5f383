//! A store of whole results in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toolcrib_core::{SpillError, SpillStore, Str, spill_handle};

/// Keeps everything until it is dropped.
#[derive(Debug, Default)]
pub struct MemorySpill(Mutex<BTreeMap<Str, String>>);

impl MemorySpill {
    /// All texts kept so far, by handle.
    pub fn all(&self) -> BTreeMap<Str, String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl SpillStore for MemorySpill {
    fn put(&self, text: &str) -> Result<Str, SpillError> {
        let handle = spill_handle(text);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(handle.clone(), text.to_owned());
        Ok(handle)
    }

    fn get(&self, handle: &str) -> Result<String, SpillError> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(handle).cloned();
        found.ok_or_else(|| SpillError::Unknown(handle.into()))
    }
}
