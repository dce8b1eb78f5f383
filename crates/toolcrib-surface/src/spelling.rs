//! Misspelt words of a query, read as what they were meant to be.
//!
//! A word that neither a tool nor the table of meanings knows, and that one slip of a
//! finger makes of a word of the tools, is read as that word: by itself it would find
//! nothing, and its pieces would mean something else. Words with capitals inside or in the
//! middle of a query are names, which are not mended; nor are short words, of which most
//! are one letter from another.

use crate::index::ToolIndex;
use crate::tokenize::{function_word, talk_word};

/// Fewest letters of a word that is mended.
const SHORTEST: usize = 5;
/// Fewest letters of a word in which one letter may be another.
const REPLACED: usize = 6;
/// Most words of a query that are looked up.
const MOST: usize = 16;

/// Words of tools by which others are mended, sorted, with how many tools have them.
#[derive(Debug, Default)]
pub(crate) struct Spellings(Vec<(Box<str>, u32)>);

impl Spellings {
    pub(crate) fn build(words: impl Iterator<Item = (Box<str>, u32)>) -> Spellings {
        let mut words: Vec<_> = words.filter(|(word, _)| mendable(word)).collect();
        words.sort_unstable();
        Spellings(words)
    }

    /// The word with the same first letter that is one slip away and that most tools have,
    /// of equal ones the first.
    fn near(&self, word: &str) -> Option<&str> {
        let first = &word[..word.chars().next()?.len_utf8()];
        let from = self.0.partition_point(|(known, _)| **known < *first);
        let mut best: Option<&(Box<str>, u32)> = None;
        for known in self.0[from..]
            .iter()
            .take_while(|(k, _)| k.starts_with(first))
        {
            if best.is_none_or(|best| known.1 > best.1) && one_slip(word, &known.0) {
                best = Some(known);
            }
        }
        best.map(|(word, _)| &**word)
    }

    pub(crate) fn bytes(&self) -> usize {
        let texts: usize = self.0.iter().map(|(word, _)| word.len()).sum();
        texts + size_of::<(Box<str>, u32)>() * self.0.len()
    }
}

/// Whether `word` is letters of a script with capitals, all small, and long enough.
fn mendable(word: &str) -> bool {
    word.len() >= SHORTEST
        && word.chars().all(char::is_lowercase)
        && word.chars().count() >= SHORTEST
}

/// Whether one letter too many, too few, wrong or in its neighbour's place is all that
/// tells the words apart.
fn one_slip(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let same = |(x, y): &(char, char)| x == y;
    let bytes = |(c, _): (char, char)| c.len_utf8();
    let head: usize = a.chars().zip(b.chars()).take_while(same).map(bytes).sum();
    let (x, y) = (&a[head..], &b[head..]);
    let tail = x.chars().rev().zip(y.chars().rev()).take_while(same);
    let tail: usize = tail.map(bytes).sum();
    let mut x = x[..x.len() - tail].chars();
    let mut y = y[..y.len() - tail].chars();
    match [x.next(), x.next(), x.next(), y.next(), y.next(), y.next()] {
        [Some(_), None, None, None, None, None] | [None, None, None, Some(_), None, None] => true,
        [Some(_), None, None, Some(_), None, None] => a.chars().count() >= REPLACED,
        [Some(p), Some(q), None, Some(r), Some(s), None] => p == s && q == r,
        _ => false,
    }
}

impl ToolIndex {
    /// `text` with its misspelt words mended; `None` if it has none. Without the table no
    /// word can be told from a misspelt one.
    pub(crate) fn mended(&self, text: &str) -> Option<String> {
        let meaning = self.meaning.as_ref()?;
        let mut mended = String::new();
        let mut done = 0;
        let mut looked_up = 0;
        let mut scratch = String::new();
        for (at, run) in runs(text) {
            // A capital that begins the query makes no name.
            let small = match run.chars().skip(1).all(char::is_lowercase) && at == 0 {
                true => run.to_lowercase(),
                false => run.to_owned(),
            };
            if !mendable(&small)
                || function_word(&small)
                || talk_word(&small)
                || self.words.id(&small, &mut scratch).is_some()
                || meaning.has_word(&small)
            {
                continue;
            }
            looked_up += 1;
            if looked_up > MOST {
                break;
            }
            if let Some(word) = self.words.spellings().near(&small) {
                mended.push_str(&text[done..at]);
                mended.push_str(word);
                done = at + run.len();
            }
        }
        (done > 0).then(|| mended + &text[done..])
    }
}

/// The longest runs of letters in `text` and where they begin; those beside a digit or
/// within an apostrophe's reach are left out.
fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}');
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find(part)?;
            let run = &text[start..];
            let run = &run[..run.find(|c| !part(c)).unwrap_or(run.len())];
            at = start + run.len();
            if run.chars().all(char::is_alphabetic) {
                return Some((start, run));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolDoc;

    #[test]
    fn one_slip_and_no_more() {
        for (a, b, is) in [
            ("wether", "weather", true),
            ("weatherr", "weather", true),
            ("waether", "weather", true),
            ("weathar", "weather", true),
            ("wetherr", "weather", false),
            ("wheater", "weather", false),
            ("stack", "stock", false),
            ("weather", "weather", false),
            ("прогоз", "прогноз", true),
        ] {
            assert_eq!(one_slip(a, b), is, "{a} {b}");
        }
    }

    #[test]
    fn what_nobody_knows_is_mended_and_all_else_stays() {
        let docs = [
            ToolDoc::new("weather_forecast", "Weather forecast for a city."),
            ToolDoc::new("text_translate", "Translate text into other languages."),
            ToolDoc::new("post_github", "Post to GitHub, Stripe or Figma."),
        ];
        let index = ToolIndex::build(&docs);
        let mended = |text: &str| index.mended(text).unwrap_or_default();
        assert_eq!(mended("wether forcast, plase"), "weather forecast, plase");
        assert_eq!(mended("Trasnlate it"), "translate it");
        assert_eq!(mended("get_wether"), "get_weather");
        // Known words, names, short words, words with digits: as they are.
        for text in [
            "leather",
            "on Githob",
            "WETHER",
            "cty",
            "wether2",
            "weathers",
        ] {
            assert_eq!(mended(text), "", "{text}");
        }
    }

    #[test]
    fn runs_are_letters_alone() {
        let found: Vec<_> = runs("ab_cd, it's x2 éa").collect();
        assert_eq!(found, [(0, "ab"), (3, "cd"), (15, "éa")]);
    }
}
