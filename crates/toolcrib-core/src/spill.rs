//! Whole results, kept where a transcript has room for a part alone.

use sha2::{Digest, Sha256};

use crate::Str;

/// Keeps whole results behind handles. Blocks for the time of one write or read.
pub trait SpillStore: Send + Sync {
    /// Keeps a text and returns its handle. The same text has the same handle.
    ///
    /// # Errors
    /// [`SpillError::Io`]; nothing is kept then.
    fn put(&self, text: &str) -> Result<Str, SpillError>;

    /// The text behind a handle, whole.
    ///
    /// # Errors
    /// [`SpillError::Unknown`] for what was never kept here, [`SpillError::Io`].
    fn get(&self, handle: &str) -> Result<String, SpillError>;
}

/// Why a whole result cannot be kept or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpillError {
    /// Nothing was kept under this handle.
    #[error("no result is kept as `{0}`")]
    Unknown(Str),
    /// The system refused.
    #[error("{0}")]
    Io(String),
}

/// The handle of a text: made of its bytes alone, so that it depends neither on
/// which of several calls ended first nor on the run.
pub fn spill_handle(text: &str) -> Str {
    const BYTES: usize = 6;
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest[..BYTES].iter().map(|b| format!("{b:02x}")).collect();
    format!("r{hex}").into()
}

/// Whether a text has the form of a handle, and so no path in it.
pub fn is_spill_handle(text: &str) -> bool {
    text.len() == 13
        && text.starts_with('r')
        && text[1..]
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_made_of_the_text_alone_and_holds_no_path() {
        assert_eq!(spill_handle("a"), spill_handle("a"));
        assert_ne!(spill_handle("a"), spill_handle("b"));
        assert!(is_spill_handle(&spill_handle("")));
        for bad in ["", "r", "../../etc/pass", "r0123456789aB", "rüberüberüb"] {
            assert!(!is_spill_handle(bad), "{bad}");
        }
    }
}
