//! Tool names, validated once.
//!
//! The strictest common rule of model providers is the rule here, so that a
//! name accepted once is accepted on every wire. Names from elsewhere are mapped
//! into it by [`ToolName::from_foreign`] without looking at any other name, which
//! keeps the result independent of what else is registered.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A name that every model provider accepts: 1 to 64 of `[a-zA-Z0-9_-]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(Arc<str>);

/// Why a string is not a tool name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No characters at all.
    #[error("a tool name must not be empty")]
    Empty,
    /// Longer than [`ToolName::MAX_LEN`].
    #[error("tool name {name:?} has {len} characters; at most {max} are allowed", max = ToolName::MAX_LEN)]
    TooLong {
        /// The name as given.
        name: String,
        /// Its length in characters.
        len: usize,
    },
    /// A character outside `[a-zA-Z0-9_-]`.
    #[error("tool name {name:?} contains {found:?}; only letters, digits, `_` and `-` are allowed")]
    BadCharacter {
        /// The name as given.
        name: String,
        /// The first offending character.
        found: char,
    },
}

impl ToolName {
    /// Longest name in characters that all providers accept.
    pub const MAX_LEN: usize = 64;

    const HASH_LEN: usize = 8;

    /// Accepts a name that is already valid.
    ///
    /// # Errors
    /// [`NameError`] says what is wrong with it.
    pub fn parse(name: &str) -> Result<ToolName, NameError> {
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if let Some(found) = name.chars().find(|&c| !allowed(c)) {
            return Err(NameError::BadCharacter {
                name: name.to_owned(),
                found,
            });
        }
        if name.len() > Self::MAX_LEN {
            return Err(NameError::TooLong {
                name: name.to_owned(),
                len: name.len(),
            });
        }
        Ok(ToolName(name.into()))
    }

    /// Maps any string to a valid name, the same one every time.
    ///
    /// A valid name is kept. Otherwise characters outside the set become `_`, a
    /// long name keeps both of its ends (generated names differ at the end), and
    /// eight hexadecimal digits of the original's SHA-256 are appended, so that two
    /// different originals do not meet.
    pub fn from_foreign(name: &str) -> ToolName {
        if let Ok(name) = Self::parse(name) {
            return name;
        }
        let clean: String = name
            .chars()
            .map(|c| if allowed(c) { c } else { '_' })
            .collect();
        let digest = Sha256::digest(name.as_bytes());
        let hash: String = digest
            .iter()
            .take(Self::HASH_LEN / 2)
            .map(|b| format!("{b:02x}"))
            .collect();
        let room = Self::MAX_LEN - Self::HASH_LEN - 1;
        let body = if clean.len() <= room {
            clean
        } else {
            let head = room / 2 - 1;
            let tail = room - head - 1;
            format!("{}-{}", &clean[..head], &clean[clean.len() - tail..])
        };
        ToolName(format!("{body}_{hash}").into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ToolName {
    type Error = NameError;
    fn try_from(name: String) -> Result<Self, NameError> {
        Self::parse(&name)
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> String {
        name.0.as_ref().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rejects_what_a_provider_would_reject() {
        assert_eq!(ToolName::parse(""), Err(NameError::Empty));
        assert!(matches!(
            ToolName::parse("fs.read"),
            Err(NameError::BadCharacter { found: '.', .. })
        ));
        assert!(matches!(
            ToolName::parse(&"a".repeat(65)),
            Err(NameError::TooLong { len: 65, .. })
        ));
        assert_eq!(ToolName::parse(&"a".repeat(64)).unwrap().as_str().len(), 64);
    }

    #[test]
    fn foreign_names_keep_their_distinguishing_end() {
        let long = format!("{}_create", "twilio_api_v2010_account_".repeat(4));
        let other = format!("{}_delete", "twilio_api_v2010_account_".repeat(4));
        let (a, b) = (
            ToolName::from_foreign(&long),
            ToolName::from_foreign(&other),
        );
        assert!(
            a.as_str().contains("_create_") && b.as_str().contains("_delete_"),
            "{a} {b}"
        );
        assert_ne!(a, b);
        insta::assert_snapshot!(ToolName::from_foreign("fs.read"), @"fs_read_4074bc02");
    }

    proptest! {
        #[test]
        fn every_foreign_name_maps_to_a_valid_one_and_stays(name in "\\PC{0,200}") {
            let mapped = ToolName::from_foreign(&name);
            prop_assert!(ToolName::parse(mapped.as_str()).is_ok());
            prop_assert_eq!(&ToolName::from_foreign(&name), &mapped);
            prop_assert_eq!(ToolName::from_foreign(mapped.as_str()), mapped);
        }
    }
}
