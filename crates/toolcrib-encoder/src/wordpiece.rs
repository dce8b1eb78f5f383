//! From text to numbers of word pieces, as BERT's uncased tokeniser cuts it.
//!
//! Control characters are dropped, white space separates, CJK characters and punctuation are words of their own, accents
//! are stripped, letters made small; a word is its longest pieces from the left, or unknown as a whole. What looks like
//! one of the model's special tokens is text like any other.

use std::path::Path;

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::EncoderError;
use crate::vocabulary::Vocabulary;

/// A longer word is unknown as a whole.
const MAX_WORD_CHARS: usize = 100;

/// The tokeniser of one model.
#[derive(Debug)]
pub struct Wordpiece {
    vocabulary: Vocabulary,
}

impl Wordpiece {
    pub(crate) fn load(directory: &Path, size: usize) -> Result<Wordpiece, EncoderError> {
        Vocabulary::load(directory, size).map(|vocabulary| Wordpiece { vocabulary })
    }

    /// A tokeniser with these pieces, numbered as they come.
    ///
    /// # Errors
    /// [`EncoderError::File`] where one of the three special pieces `[UNK]`, `[CLS]` and `[SEP]` is missing.
    pub fn with_pieces(pieces: &[String]) -> Result<Wordpiece, EncoderError> {
        let vocabulary = Vocabulary::of(pieces, pieces.len())
            .map_err(|problem| EncoderError::file(Path::new("the list of word pieces"), problem))?;
        Ok(Wordpiece { vocabulary })
    }

    /// The numbers of a text's pieces between those of its begin and end, at most `most` in all: what follows is cut.
    /// Time and memory are bounded by `most`, not by the text.
    pub fn ids(&self, text: &str, most: usize) -> Vec<u32> {
        let mut words = Words {
            vocabulary: &self.vocabulary,
            word: String::new(),
            chars: 0,
            ids: vec![self.vocabulary.begin],
            most: most.saturating_sub(1).max(1),
        };
        for c in text.chars() {
            words.char(c);
            if words.ids.len() >= words.most {
                break;
            }
        }
        words.flush();
        let Words { mut ids, most, .. } = words;
        ids.truncate(most);
        ids.push(self.vocabulary.end);
        ids
    }
}

struct Words<'a> {
    vocabulary: &'a Vocabulary,
    word: String,
    chars: usize,
    ids: Vec<u32>,
    most: usize,
}

impl Words<'_> {
    fn char(&mut self, c: char) {
        if matches!(c, '\t' | '\n' | '\r') {
            self.flush();
        } else if c == '\0' || c == char::REPLACEMENT_CHARACTER || is_dropped(c) {
            // Gone before words are cut: what stood on its two sides is one word.
        } else if c.is_whitespace() {
            self.flush();
        } else if is_cjk(c) {
            self.flush();
            self.normal(c);
            self.flush();
        } else {
            self.normal(c);
        }
    }

    fn normal(&mut self, c: char) {
        decompose_canonical(c, |part| {
            if part.general_category() == GeneralCategory::NonspacingMark {
                return;
            }
            for lower in part.to_lowercase() {
                if lower.is_whitespace() {
                    self.flush();
                } else if is_punctuation(lower) {
                    self.flush();
                    self.push(lower);
                    self.flush();
                } else {
                    self.push(lower);
                }
            }
        });
    }

    fn push(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.word.push(c);
        }
    }

    fn flush(&mut self) {
        if self.chars > 0 && self.ids.len() < self.most {
            let known =
                self.chars <= MAX_WORD_CHARS && self.vocabulary.split(&self.word, &mut self.ids);
            if !known {
                self.ids.push(self.vocabulary.unknown);
            }
        }
        self.word.clear();
        self.chars = 0;
    }
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
