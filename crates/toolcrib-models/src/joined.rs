//! Text that arrives in pieces, possibly cut inside a character.
//!
//! Servers that slice answers by UTF-16 units send the two halves of an emoji as
//! lone surrogate escapes in two frames. Each half alone is not text, so a half
//! is held back until its other half comes.

/// Text as far as it is complete.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    text: String,
    high: Option<u32>,
}

impl Joined {
    /// Adds UTF-8 in which surrogates may stand encoded like other characters, and
    /// returns what has become readable.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> &str {
        let before = self.text.len();
        while !bytes.is_empty() {
            let (good, rest) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, &bytes[bytes.len()..]),
                Err(error) => {
                    let (good, rest) = bytes.split_at(error.valid_up_to());
                    (std::str::from_utf8(good).unwrap_or_default(), rest)
                }
            };
            if !good.is_empty() {
                self.flush();
                self.text.push_str(good);
            }
            bytes = self.surrogate(rest);
        }
        &self.text[before..]
    }

    /// Takes one surrogate, or one stray byte, from the front.
    fn surrogate<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (code, rest) = match bytes {
            [] => return bytes,
            [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, rest @ ..] => {
                let code = 0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F);
                (code, rest)
            }
            [_, rest @ ..] => {
                self.flush();
                self.text.push(char::REPLACEMENT_CHARACTER);
                return rest;
            }
        };
        if code < 0xDC00 {
            self.flush();
            self.high = Some(code);
        } else if let Some(high) = self.high.take() {
            let joined = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00);
            self.text
                .push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        } else {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        rest
    }

    fn flush(&mut self) {
        if self.high.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// All readable text so far.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether nothing was added yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.high.is_none()
    }

    /// The complete text; a half whose other half never came is replaced.
    pub(crate) fn finish(mut self) -> String {
        self.flush();
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIGH: &[u8] = b"\xED\xA0\xBD";
    const LOW: &[u8] = b"\xED\xB8\x80";

    fn join(pieces: &[&[u8]]) -> (Vec<String>, String) {
        let mut joined = Joined::default();
        let shown = pieces.iter().map(|p| joined.push(p).to_owned()).collect();
        (shown, joined.finish())
    }

    #[test]
    fn p18_halves_of_a_character_are_joined_and_only_true_orphans_are_replaced() {
        let (shown, all) = join(&[b"a", HIGH, LOW, "é".as_bytes()]);
        assert_eq!(shown, ["a", "", "😀", "é"]);
        assert_eq!(all, "a😀é");
        assert_eq!(join(&[&[HIGH, LOW].concat()]).1, "😀");
        assert_eq!(join(&[HIGH, b"x"]).1, "\u{fffd}x");
        assert_eq!(join(&[HIGH, HIGH, LOW]).1, "\u{fffd}😀");
        assert_eq!(join(&[LOW, b"x"]).1, "\u{fffd}x");
        assert_eq!(join(&[b"x", HIGH]).1, "x\u{fffd}");
        assert_eq!(join(&[b"a\xFFb"]).1, "a\u{fffd}b");
    }
}
