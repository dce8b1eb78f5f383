//! A key that cannot be printed by accident.

use std::fmt;

/// An API key. Its debug form shows nothing of it.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Wraps a key; white space around it is dropped.
    pub fn new(key: impl Into<String>) -> Key {
        Key(key.into().trim().to_owned())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
