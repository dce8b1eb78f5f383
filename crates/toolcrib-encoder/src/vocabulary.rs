//! The word pieces that a model knows, and their numbers.

use std::collections::HashMap;
use std::path::Path;

use crate::EncoderError;
use crate::error::read;

/// Numbers by piece; a piece within a word is told by its map.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    first: HashMap<Box<str>, u32>,
    inner: HashMap<Box<str>, u32>,
    longest: usize,
    pub(crate) unknown: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
}

impl Vocabulary {
    /// Reads `vocab.txt` of a model's directory, else the list in its `tokenizer.json`.
    pub(crate) fn load(directory: &Path, size: usize) -> Result<Vocabulary, EncoderError> {
        let list = directory.join("vocab.txt");
        let other = directory.join("tokenizer.json");
        let (path, pieces) = if !list.exists() && other.exists() {
            let pieces = from_json(&read(&other)?);
            let pieces = pieces.ok_or_else(|| {
                EncoderError::file(
                    &other,
                    "it holds no list of word pieces under model.vocab; put the model's vocab.txt beside it",
                )
            })?;
            (other, pieces)
        } else {
            let text = String::from_utf8(read(&list)?)
                .map_err(|_| EncoderError::file(&list, "not UTF-8 text, one word piece a line"))?;
            let lines = text.lines().map(|line| line.trim_end().to_owned());
            (list, lines.collect())
        };
        Self::of(&pieces, size).map_err(|problem| EncoderError::file(&path, problem))
    }

    pub(crate) fn of(pieces: &[String], size: usize) -> Result<Vocabulary, String> {
        if pieces.len() != size {
            return Err(format!(
                "it lists {} word pieces where config.json beside it says {size}; take both from the same model",
                pieces.len()
            ));
        }
        let mut made = Vocabulary::default();
        for (number, piece) in (0u32..).zip(pieces) {
            let (map, piece) = match piece.strip_prefix("##") {
                Some(inner) if !inner.is_empty() => (&mut made.inner, inner),
                _ => (&mut made.first, piece.as_str()),
            };
            made.longest = made.longest.max(piece.len());
            map.insert(piece.into(), number);
        }
        let special = |piece: &str| {
            made.first.get(piece).copied().ok_or_else(|| {
                format!("it lacks {piece}; this is not the vocabulary of a BERT model")
            })
        };
        (made.unknown, made.begin, made.end) =
            (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(made)
    }

    /// Cuts a word into its longest pieces from the left; false, with nothing added, where some part is no piece.
    pub(crate) fn split(&self, word: &str, to: &mut Vec<u32>) -> bool {
        let before = to.len();
        let mut rest = word;
        while !rest.is_empty() {
            let map = if rest.len() == word.len() {
                &self.first
            } else {
                &self.inner
            };
            let reach = rest.floor_char_boundary(self.longest);
            let found = (1..=reach)
                .rev()
                .filter(|end| rest.is_char_boundary(*end))
                .find_map(|end| Some((*map.get(&rest[..end])?, end)));
            let Some((number, end)) = found else {
                to.truncate(before);
                return false;
            };
            to.push(number);
            rest = &rest[end..];
        }
        true
    }
}

fn from_json(bytes: &[u8]) -> Option<Vec<String>> {
    let value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let map = value.get("model")?.get("vocab")?.as_object()?;
    let mut pieces = vec![String::new(); map.len()];
    for (piece, number) in map {
        let place = usize::try_from(number.as_u64()?).ok()?;
        pieces.get_mut(place)?.clone_from(piece);
    }
    Some(pieces)
}
