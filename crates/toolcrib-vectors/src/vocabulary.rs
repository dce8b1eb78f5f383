//! Word pieces by name: longest known prefix in one walk over a word's bytes.
//!
//! A flat table of row numbers rather than a map of strings: built in under a millisecond when the table is first used,
//! 128 KB, and a prefix's hash is its shorter prefix's hash plus one byte.

use std::ops::Range;

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
const EMPTY: u16 = u16::MAX;

/// The most rows a vocabulary can number.
pub(crate) const MAX_ROWS: usize = EMPTY as usize;

/// Rows by the text of their piece; pieces that go on within a word begin with `##`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    slots: Vec<u16>,
    spans: Vec<(u32, u8)>,
    longest: usize,
}

fn hash(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte)).wrapping_mul(PRIME)
}

impl Vocabulary {
    /// Numbers the newline-terminated pieces of `text`. `None` where there are more than [`MAX_ROWS`], a piece is empty or
    /// longer than 255 bytes, or the last is not terminated.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let mut spans = Vec::new();
        let mut start = 0;
        for (end, _) in text.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let length = u8::try_from(end - start)
                .ok()
                .filter(|length| *length > 0)?;
            spans.push((u32::try_from(start).ok()?, length));
            start = end + 1;
        }
        if start != text.len() || spans.len() > MAX_ROWS {
            return None;
        }
        let mut made = Self {
            slots: vec![EMPTY; (spans.len() * 2).next_power_of_two()],
            longest: spans
                .iter()
                .map(|span| usize::from(span.1))
                .max()
                .unwrap_or(0),
            spans,
        };
        for row in 0..made.spans.len() {
            let state = text[made.span(row)]
                .iter()
                .fold(OFFSET, |state, byte| hash(state, *byte));
            let mut slot = made.slot(state);
            while made.slots[slot] != EMPTY {
                slot = (slot + 1) % made.slots.len();
            }
            // Below MAX_ROWS, so it fits.
            made.slots[slot] = row as u16;
        }
        Some(made)
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    fn span(&self, row: usize) -> Range<usize> {
        let (start, length) = self.spans[row];
        start as usize..start as usize + usize::from(length)
    }

    fn slot(&self, state: u64) -> usize {
        // The high bits of the product are the better mixed ones.
        (state.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.slots.len() - 1)
    }

    /// The row of the longest piece that `word` begins with, and its length; `inside` for pieces that go on within a word.
    /// `text` is what the vocabulary was made from.
    pub(crate) fn longest_prefix(
        &self,
        text: &[u8],
        word: &str,
        inside: bool,
    ) -> Option<(usize, usize)> {
        let marker: &[u8] = if inside { b"##" } else { b"" };
        let bytes = word.as_bytes();
        let reach = bytes.len().min(self.longest.saturating_sub(marker.len()));
        let begin = marker.iter().fold(OFFSET, |state, byte| hash(state, *byte));
        // Most words are a piece as they stand.
        if reach == bytes.len() && reach > 0 {
            let state = bytes.iter().fold(begin, |state, byte| hash(state, *byte));
            if let Some(row) = self.find(text, state, marker, bytes) {
                return Some((row, reach));
            }
        }
        let mut states = [0; 256];
        let mut state = begin;
        for (at, byte) in bytes[..reach].iter().enumerate() {
            state = hash(state, *byte);
            states[at] = state;
        }
        let longest = if reach == bytes.len() {
            reach.saturating_sub(1)
        } else {
            reach
        };
        (1..=longest)
            .rev()
            .filter(|length| word.is_char_boundary(*length))
            .find_map(|length| {
                let row = self.find(text, states[length - 1], marker, &bytes[..length])?;
                Some((row, length))
            })
    }

    /// The text of a row.
    pub(crate) fn piece<'a>(&self, text: &'a [u8], row: usize) -> &'a [u8] {
        &text[self.span(row)]
    }

    /// The row of exactly this piece.
    pub(crate) fn row(&self, text: &[u8], piece: &str) -> Option<usize> {
        let state = piece.bytes().fold(OFFSET, hash);
        self.find(text, state, b"", piece.as_bytes())
    }

    fn find(&self, text: &[u8], state: u64, marker: &[u8], piece: &[u8]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let mut slot = self.slot(state);
        loop {
            let row = usize::from(*self.slots.get(slot)?);
            if row == usize::from(EMPTY) {
                return None;
            }
            let found = &text[self.span(row)];
            if found.len() == marker.len() + piece.len()
                && found.starts_with(marker)
                && found.ends_with(piece)
            {
                return Some(row);
            }
            slot = (slot + 1) % self.slots.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"get\ngetter\n##ter\n##t\ncaf\xc3\xa9\n";

    #[test]
    fn the_longest_piece_wins() {
        let vocabulary = Vocabulary::new(TEXT).unwrap();
        assert_eq!(
            vocabulary.longest_prefix(TEXT, "gettery", false),
            Some((1, 6))
        );
        assert_eq!(
            vocabulary.longest_prefix(TEXT, "gette", false),
            Some((0, 3))
        );
        assert_eq!(vocabulary.longest_prefix(TEXT, "ters", true), Some((2, 3)));
        assert_eq!(vocabulary.longest_prefix(TEXT, "ters", false), None);
        assert_eq!(vocabulary.longest_prefix(TEXT, "café", false), Some((4, 5)));
        assert_eq!(vocabulary.longest_prefix(TEXT, "", false), None);
    }

    #[test]
    fn a_marker_typed_in_a_text_is_no_inner_piece() {
        let vocabulary = Vocabulary::new(TEXT).unwrap();
        assert_eq!(vocabulary.row(TEXT, "get"), Some(0));
        assert_eq!(vocabulary.row(TEXT, "ge"), None);
    }

    #[test]
    fn malformed_lists_are_refused() {
        assert!(Vocabulary::new(b"a\n\nb\n").is_none(), "an empty piece");
        assert!(Vocabulary::new(b"a\nb").is_none(), "not terminated");
        assert!(
            Vocabulary::new(&[b"x".repeat(300), b"\n".to_vec()].concat()).is_none(),
            "too long"
        );
        assert!(
            Vocabulary::new(&b"a\n".repeat(MAX_ROWS + 1)).is_none(),
            "too many"
        );
        assert_eq!(Vocabulary::new(b"").unwrap().len(), 0);
    }
}
