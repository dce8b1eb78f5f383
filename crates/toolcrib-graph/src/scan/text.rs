//! From bytes to text: what is binary, and what is kept of broken text.

use super::report::ProblemKind;

const SNIFFED: usize = 8 * 1024;

pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) problem: Option<ProblemKind>,
}

/// `None` for binary: a NUL among the first 8 KiB, UTF-16 with its mark apart.
pub(super) fn decode(bytes: Vec<u8>) -> Option<Decoded> {
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => return Some(utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => return Some(utf16(rest, u16::from_be_bytes)),
        _ => {}
    }
    if bytes[..bytes.len().min(SNIFFED)].contains(&0) {
        return None;
    }
    let (mut text, problem) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => (
            String::from_utf8_lossy(error.as_bytes()).into_owned(),
            Some(ProblemKind::ReplacedBytes),
        ),
    };
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Some(Decoded { text, problem })
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
