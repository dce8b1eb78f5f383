//! From text to rows: identifiers cut at their humps, then the encoder's own tokeniser (BERT, uncased).
//!
//! The same steps, in the same order, as the tokeniser the table was distilled with: control characters dropped, CJK
//! characters and punctuation words of their own, accents stripped, lower case, then the longest known piece from the left.
//! One pass over the text with one word's worth of buffer, so that a text of any size costs no memory.

use crate::uncased::{MAX_WORD_CHARS, Uncased, uncased};
use crate::vocabulary::Vocabulary;

/// Calls `each` with every token's row, `None` for a word the pieces cannot make; stops once it answers `false`.
pub(crate) fn tokens(
    vocabulary: &Vocabulary,
    pieces: &[u8],
    text: &str,
    each: impl FnMut(Option<usize>) -> bool,
) {
    let mut words = Words {
        vocabulary,
        pieces,
        each,
        word: String::new(),
        chars: 0,
        found: Vec::new(),
        done: false,
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next().filter(|_| !words.done) {
        if c.is_ascii_alphanumeric() {
            let end = rest
                .bytes()
                .position(|b| !b.is_ascii_alphanumeric())
                .unwrap_or(rest.len());
            words.run(&rest[..end]);
            rest = &rest[end..];
        } else {
            words.char(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    words.flush();
}

struct Words<'a, F> {
    vocabulary: &'a Vocabulary,
    pieces: &'a [u8],
    each: F,
    word: String,
    chars: usize,
    found: Vec<usize>,
    done: bool,
}

impl<F: FnMut(Option<usize>) -> bool> Words<'_, F> {
    /// A run of ASCII letters and digits, cut at its humps unless it is a known word as it stands (GitHub).
    fn run(&mut self, run: &str) {
        let bytes = run.as_bytes();
        let humped = (1..bytes.len()).any(|at| is_hump(bytes, at));
        let cut = humped
            && self
                .vocabulary
                .row(self.pieces, &run.to_ascii_lowercase())
                .is_none();
        for (at, byte) in bytes.iter().enumerate() {
            if cut && is_hump(bytes, at) {
                self.flush();
            }
            self.push(char::from(byte.to_ascii_lowercase()));
        }
    }

    fn char(&mut self, c: char) {
        // What the general way comes to for the characters that almost all texts are made of.
        if c == ' ' {
            self.flush();
        } else if c.is_ascii_punctuation() && c != '_' {
            self.alone(c);
        } else if c == '_' {
            self.flush();
        } else {
            uncased(c, |part| match part {
                Uncased::Gap => self.flush(),
                Uncased::Alone(c) => self.alone(c),
                Uncased::Within(c) => self.push(c),
            });
        }
    }

    fn alone(&mut self, c: char) {
        self.flush();
        self.push(c);
        self.flush();
    }

    fn push(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.word.push(c);
        }
    }

    fn flush(&mut self) {
        if self.chars > 0 && !self.done {
            self.found.clear();
            let known = self.chars <= MAX_WORD_CHARS && self.split();
            if known {
                self.done = self.found.iter().any(|row| !(self.each)(Some(*row)));
            } else {
                self.done = !(self.each)(None);
            }
        }
        self.word.clear();
        self.chars = 0;
    }

    /// Cuts the word into its longest pieces from the left; false where some part is no piece.
    fn split(&mut self) -> bool {
        let mut rest = self.word.as_str();
        while !rest.is_empty() {
            let inside = rest.len() < self.word.len();
            let Some((row, length)) = self.vocabulary.longest_prefix(self.pieces, rest, inside)
            else {
                return false;
            };
            self.found.push(row);
            rest = &rest[length..];
        }
        true
    }
}

/// Whether a word begins at `at`: a capital after a small letter or digit, or the last capital before a small letter,
/// save where that is a plural's (URLs).
fn is_hump(run: &[u8], at: usize) -> bool {
    let is = |at: usize, test: fn(&u8) -> bool| run.get(at).is_some_and(test);
    if at == 0 || !is(at, u8::is_ascii_uppercase) {
        return false;
    }
    let plural = is(at + 1, |byte| *byte == b's') && !is(at + 2, u8::is_ascii_lowercase);
    !is(at - 1, u8::is_ascii_uppercase) || is(at + 1, u8::is_ascii_lowercase) && !plural
}
