//! Whether a query is in another language than the tools.
//!
//! It changes no ranking: it is told where nothing fits, so that whoever asked can ask
//! again in the tools' language. What tells it are letters of a script, or small words of
//! common languages, that no tool has.

use crate::bm25::Words;
use crate::tokenize::{Piece, function_word, words};

/// Small words that are none in English, sorted.
const SMALL_WORDS: [&str; 68] = [
    "au", "auf", "aus", "avec", "bei", "bitte", "como", "cómo", "da", "dans", "das", "de", "del",
    "della", "der", "des", "di", "dos", "du", "een", "ein", "eine", "einen", "el", "en", "es",
    "est", "et", "für", "het", "ich", "il", "ist", "je", "la", "las", "le", "les", "los", "mein",
    "meine", "mes", "mit", "mon", "naar", "nach", "não", "para", "por", "pour", "que", "quel",
    "qui", "qué", "sur", "um", "uma", "un", "una", "und", "une", "uno", "van", "vom", "von",
    "voor", "wie", "zu",
];

/// Whether `text` is in letters, or has small words of a language, that no tool has.
pub(crate) fn other_language(text: &str, index: &Words) -> bool {
    let (mut english, mut small, mut script, mut known) = (0usize, 0usize, 0usize, 0usize);
    let mut scratch = String::new();
    words(text, |word, piece| {
        if !matches!(piece, Piece::Whole(_)) {
            return;
        }
        if index.id(word, &mut scratch).is_some() {
            known += 1;
        } else if SMALL_WORDS.binary_search(&word).is_ok() {
            small += 1;
        } else if word.chars().any(|c| c.is_alphabetic() && c as u32 > LATIN) {
            script += 1;
        } else if function_word(word) {
            english += 1;
        }
    });
    small > english || script > known
}

/// The last letter of the Latin script's extensions.
const LATIN: u32 = 0x24F;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ToolDoc, Weights};

    #[test]
    fn another_language_is_told_by_small_words_or_letters_that_no_tool_has() {
        assert!(SMALL_WORDS.is_sorted());
        let english = [ToolDoc::new("search", "Search articles in an archive.")];
        let spanish = [ToolDoc::new("buscar", "Busca un artículo en el archivo.")];
        let of = |docs: &[ToolDoc]| Words::build(docs, &Weights::default());
        let (english, spanish) = (of(&english), of(&spanish));
        for (text, in_english, in_spanish) in [
            ("buscar un artículo", true, false),
            ("trouver un article pour moi", true, true),
            ("wie wird das Wetter", true, true),
            ("найди статью", true, true),
            ("查找文章", true, true),
            ("find the article of a day", false, false),
            ("naïve café", false, false),
            ("search 查", false, true),
            ("", false, false),
        ] {
            assert_eq!(other_language(text, &english), in_english, "{text}");
            assert_eq!(other_language(text, &spanish), in_spanish, "{text}");
        }
    }
}
