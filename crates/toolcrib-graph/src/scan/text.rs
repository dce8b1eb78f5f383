//! From bytes to text: what is binary, and what is kept of broken text.
//!
//! Source with a stray NUL is still source: where the name says what a file is
//! written in, or the NUL comes late, each is read as a blank, so that every place
//! in the file holds.

use super::report::ProblemKind;
use crate::language::language_name;

const SNIFFED: usize = 8 * 1024;

pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) problem: Option<ProblemKind>,
}

/// Control characters that the smallest text may have by accident.
const FEW: usize = 4;
/// Bytes for each further control character that a text may have by accident; what is
/// compressed has one for about ten.
const STRAY: usize = 128;

/// `None` for binary: a NUL among the first 8 KiB of what is no source by its name
/// or has many such, UTF-16 with its mark apart.
pub(super) fn decode(path: &str, mut bytes: Vec<u8>) -> Option<Decoded> {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => return Some(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => return Some(utf16(rest, u16::from_be_bytes)),
        _ => {}
    }
    let is_early = bytes[..bytes.len().min(SNIFFED)].contains(&0);
    if is_early && (language_name(path).is_none() || !is_mostly_text(&bytes)) {
        return None;
    }
    let mut has_nul = false;
    for byte in bytes.iter_mut().filter(|byte| **byte == 0) {
        *byte = b' ';
        has_nul = true;
    }
    let (mut text, problem) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => (
            String::from_utf8_lossy(error.as_bytes()).into_owned(),
            Some(ProblemKind::ReplacedBytes),
        ),
    };
    let problem = problem.or(has_nul.then_some(ProblemKind::NulBytes));
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Some(Decoded { text, problem })
}

fn is_mostly_text(bytes: &[u8]) -> bool {
    let odd = |byte: &&u8| **byte < b' ' && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c);
    bytes.iter().filter(odd).count() <= FEW + bytes.len() / STRAY
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Decoded {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Decoded {
        text,
        problem: Some(ProblemKind::Utf16),
    }
}
