//! What BERT's uncased tokenisers make of a text before words are cut into pieces.
//!
//! Control characters are dropped, white space separates, CJK characters and punctuation are words of their own, accents
//! are stripped, letters made small. Here once, since a table and an encoder that read characters differently would
//! disagree about what a word is.

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A longer word is unknown as a whole, as in the reference.
pub const MAX_WORD_CHARS: usize = 100;

/// What a character adds to the words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncased {
    /// The word before it ends.
    Gap,
    /// A word of its own; the one before it ends.
    Alone(char),
    /// A character of the word under way.
    Within(char),
}

/// Gives `each` what a character of a text adds to its words, in order; nothing for one that is gone before words are
/// cut, so that what stood on its two sides is one word.
pub fn uncased(c: char, mut each: impl FnMut(Uncased)) {
    if matches!(c, '\t' | '\n' | '\r') {
        each(Uncased::Gap);
    } else if c == char::REPLACEMENT_CHARACTER || is_dropped(c) {
        // Nothing, and no gap.
    } else if c.is_whitespace() {
        each(Uncased::Gap);
    } else if is_cjk(c) {
        each(Uncased::Gap);
        normal(c, &mut each);
        each(Uncased::Gap);
    } else {
        normal(c, &mut each);
    }
}

fn normal(c: char, each: &mut impl FnMut(Uncased)) {
    decompose_canonical(c, |part| {
        if part.general_category() == GeneralCategory::NonspacingMark {
            return;
        }
        for lower in part.to_lowercase() {
            each(if lower.is_whitespace() {
                Uncased::Gap
            } else if is_punctuation(lower) {
                Uncased::Alone(lower)
            } else {
                Uncased::Within(lower)
            });
        }
    });
}

fn is_dropped(c: char) -> bool {
    matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::PrivateUse
            | GeneralCategory::Surrogate
    )
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x2_0000..=0x2_A6DF | 0x2_A700..=0x2_B73F | 0x2_B740..=0x2_B81F
        | 0x2_B920..=0x2_CEAF | 0xF900..=0xFAFF | 0x2_F800..=0x2_FA1F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_character_adds_what_it_should() {
        use Uncased::{Alone, Gap, Within};
        let of = |c| {
            let mut parts = Vec::new();
            uncased(c, |part| parts.push(part));
            parts
        };
        assert_eq!(of('\t'), [Gap]);
        assert_eq!(of('\u{a0}'), [Gap]);
        assert_eq!(of('\0'), []);
        assert_eq!(of('\u{ad}'), []);
        assert_eq!(of('\u{fffd}'), []);
        assert_eq!(of('É'), [Within('e')]);
        assert_eq!(of('\u{301}'), []);
        assert_eq!(of('İ'), [Within('i')]);
        assert_eq!(of('_'), [Alone('_')]);
        assert_eq!(of('«'), [Alone('«')]);
        assert_eq!(of('語'), [Gap, Within('語'), Gap]);
        assert_eq!(of('가'), [Within('ᄀ'), Within('ᅡ')]);
    }
}
