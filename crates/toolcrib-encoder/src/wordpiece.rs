//! From text to numbers of word pieces, as BERT's uncased tokeniser cuts it.
//!
//! Characters are read as the vector table reads them; a word is its longest pieces from the left, or unknown as a
//! whole. What looks like one of the model's special tokens is text like any other.

use std::path::Path;

use toolcrib_vectors::{MAX_WORD_CHARS, Uncased, uncased};

use crate::EncoderError;
use crate::vocabulary::Vocabulary;

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
        uncased(c, |part| match part {
            Uncased::Gap => self.flush(),
            Uncased::Alone(c) => {
                self.flush();
                self.push(c);
                self.flush();
            }
            Uncased::Within(c) => self.push(c),
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
