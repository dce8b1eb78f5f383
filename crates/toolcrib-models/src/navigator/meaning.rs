//! Likeness of meaning, by the embedding table.
//!
//! Words meet by stem or by a short list of words used for one another; what
//! neither knows, as `colour depth` for `how many colours`, the table may. It
//! only lifts what was found by words: on its own it finds too much.

use std::collections::BTreeMap;

use toolcrib_vectors::{Table, Vector};

use super::words::{asks, each_word};

/// Words less alike than this have nothing to do with one another.
const LEAST: f32 = 0.5;

/// A question, and the words compared with it so far.
pub(super) struct Meaning {
    whole: Vector,
    words: BTreeMap<String, Vector>,
}

impl Meaning {
    pub(super) fn new(question: &str) -> Meaning {
        Meaning {
            whole: Table::builtin().embed(question),
            words: BTreeMap::new(),
        }
    }

    /// How near a text is to the whole question, 0 to 1.
    pub(super) fn near(&self, text: &str) -> f64 {
        f64::from(self.whole.similarity(&Table::builtin().embed(text))).max(0.0)
    }

    /// How near the nearest of `others` is to a word, 0 to 1; 0 for what is far.
    pub(super) fn nearest(&mut self, word: &str, others: &[String]) -> f64 {
        for text in others.iter().map(String::as_str).chain([word]) {
            if !self.words.contains_key(text) {
                let vector = Table::builtin().embed(text);
                self.words.insert(text.to_owned(), vector);
            }
        }
        let Some(asked) = self.words.get(word) else {
            return 0.0;
        };
        let known = others.iter().filter_map(|other| self.words.get(other));
        let best = known
            .map(|other| asked.similarity(other))
            .fold(0.0, f32::max);
        if best < LEAST { 0.0 } else { f64::from(best) }
    }
}

/// The words of a text that carry meaning.
pub(super) fn telling_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, |word| {
        if word.chars().count() > 2 && !asks(word) {
            words.push(word.to_owned());
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_are_near() {
        let mut meaning = Meaning::new("Where is a mistake in a word corrected?");
        let others = ["spelling".to_owned(), "database".to_owned()];
        assert!(meaning.nearest("spell", &others) > 0.5);
        assert_eq!(meaning.nearest("spell", &others[1..]), 0.0);
        assert!(meaning.near("Corrects misspelt words.") > meaning.near("Opens the database."));
        assert_eq!(telling_words("is_wide of the Cell"), ["wide", "cell"]);
    }
}
