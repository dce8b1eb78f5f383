//! The certain path: tools found by what they are called.
//!
//! A model that knows a name must get that tool first, however it spells it:
//! other case, other separators, none at all, with or without its source, with
//! the `mcp__` prefix. No word statistics have a say here.

use rustc_hash::FxHashMap;

use crate::ToolDoc;
use crate::doc::without_hash;
use crate::tokenize::{Piece, words};

/// How closely a text equals a name; smaller is closer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    /// Byte for byte, source included.
    Exact,
    /// Byte for byte, without the source.
    ExactLocal,
    /// But for case and separators, source included.
    Folded,
    /// But for case and separators, without the source.
    FoldedLocal,
    /// Letters and digits alone.
    Squashed,
}

/// The longest text that is looked up as a name, in bytes.
const LONGEST: usize = 2048;

#[derive(Debug, Default)]
pub(crate) struct Names {
    /// From a squashed name, and from a name's words in alphabetic order, each with and
    /// without its source, to tools in name order.
    squashed: FxHashMap<Box<str>, Vec<u32>>,
    /// From a squashed source to its number.
    sources: FxHashMap<Box<str>, u32>,
    /// From a source and the last word of a name to tools in name order.
    endings: FxHashMap<(u32, Box<str>), Vec<u32>>,
}

/// Letters and digits of `text`, in lower case.
pub(crate) fn squash(text: &str) -> String {
    if text.is_ascii() {
        let kept = text.bytes().filter(u8::is_ascii_alphanumeric);
        return kept.map(|b| char::from(b.to_ascii_lowercase())).collect();
    }
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// What a name is found by: [`squash`], or all of a text without letters and digits, as
/// names from elsewhere may be.
fn key(text: &str) -> String {
    let squashed = squash(text);
    match squashed.is_empty() && !text.is_ascii() {
        true => without_mcp(text.trim()).to_owned(),
        false => squashed,
    }
}

/// `text` in lower case with each run of separators as one `_`, none at the ends.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// The words of a name in the order of the alphabet, which no squashed name equals; of a
/// name of one word nothing.
fn reordered(name: &str) -> String {
    let folded = fold(name);
    let mut words: Vec<&str> = folded.split('_').collect();
    words.sort_unstable();
    match words.len() {
        1 => String::new(),
        _ => words.join(" "),
    }
}

/// The last word of a tool's name, in lower case.
fn last_word(doc: &ToolDoc) -> Box<str> {
    let mut last = String::new();
    words(doc.spoken_name(), |word, piece| {
        if piece != Piece::Joined {
            last.clear();
            last.push_str(word);
        }
    });
    last.into()
}

fn without_mcp(text: &str) -> &str {
    match text.get(..5) {
        Some(head) if head.eq_ignore_ascii_case("mcp__") => &text[5..],
        _ => text,
    }
}

impl Names {
    /// `order` lists all documents by name; `sources` are distinct.
    pub(crate) fn build(docs: &[ToolDoc], order: &[u32], sources: &[&str]) -> Names {
        let mut names = Names::default();
        for &at in order {
            let doc = &docs[at as usize];
            let full = squash(without_mcp(&doc.name));
            let local = squash(doc.local_name());
            // A source that is no part of the name may still be put before it.
            let qualified = squash(&doc.source) + &local;
            let plain = squash(without_hash(doc.local_name()));
            let plain_full = squash(without_hash(without_mcp(&doc.name)));
            for key in [full, local, qualified, plain, plain_full] {
                names.add(key, at);
            }
            let called = without_hash(doc.local_name());
            names.add(reordered(called), at);
            if !doc.source.is_empty() {
                names.add(reordered(&format!("{}_{called}", doc.source)), at);
            }
            if !doc.original.is_empty() {
                names.add(key(without_mcp(&doc.original)), at);
                names.add(key(doc.local_original()), at);
            }
        }
        for (number, source) in sources.iter().enumerate() {
            let key = squash(source);
            if !key.is_empty() {
                names.sources.entry(key.into()).or_insert(number as u32);
            }
        }
        for &at in order {
            let doc = &docs[at as usize];
            let (Some(source), word) = (names.source(&doc.source), last_word(doc)) else {
                continue;
            };
            names.endings.entry((source, word)).or_default().push(at);
        }
        names
    }

    fn add(&mut self, key: String, at: u32) {
        if key.is_empty() {
            return;
        }
        let list = self.squashed.entry(key.into()).or_default();
        if list.last() != Some(&at) {
            list.push(at);
        }
    }

    /// Heap bytes, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let entry = |key: &str, list: usize| key.len() + 4 * list + 56;
        self.squashed
            .iter()
            .map(|(key, list)| entry(key, list.capacity()))
            .chain(
                self.endings
                    .iter()
                    .map(|((_, word), list)| entry(word, list.capacity())),
            )
            .chain(self.sources.keys().map(|key| entry(key, 1)))
            .sum()
    }

    /// Tools called `text`, closest first, then by name.
    pub(crate) fn find(&self, text: &str, docs: &[ToolDoc]) -> Vec<u32> {
        self.closest(text, docs).0
    }

    /// The same, and how many of the first are called so equally closely.
    pub(crate) fn closest(&self, text: &str, docs: &[ToolDoc]) -> (Vec<u32>, usize) {
        let text = without_mcp(text.trim());
        if text.len() > LONGEST {
            return Default::default();
        }
        let Some(list) = self.squashed.get(key(text).as_str()) else {
            return Default::default();
        };
        let folded = fold(text);
        let mut found: Vec<_> = list
            .iter()
            .map(|&at| {
                let doc = &docs[at as usize];
                let name = without_mcp(&doc.name);
                let local = doc.local_name();
                let (original, own) = (without_mcp(&doc.original), doc.local_original());
                let closeness = if name == text || original == text {
                    Closeness::Exact
                } else if local == text || own == text {
                    Closeness::ExactLocal
                } else if fold(name) == folded || fold(original) == folded {
                    Closeness::Folded
                } else if [local, without_hash(local), own]
                    .map(fold)
                    .contains(&folded)
                {
                    Closeness::FoldedLocal
                } else {
                    Closeness::Squashed
                };
                (closeness, at)
            })
            .collect();
        found.sort_by_key(|(closeness, _)| *closeness);
        let first = found.first().map(|(closeness, _)| *closeness);
        let equal = found.iter().take_while(|found| Some(found.0) == first);
        let equal = equal.count();
        (found.into_iter().map(|(_, at)| at).collect(), equal)
    }

    /// Tools whose name has the same words as `text` in another order, by name.
    pub(crate) fn find_reordered(&self, text: &str) -> &[u32] {
        let short = text.len() <= LONGEST;
        let key = if short {
            reordered(text)
        } else {
            String::new()
        };
        self.squashed.get(key.as_str()).map_or(&[], Vec::as_slice)
    }

    /// Tools of `source` whose names end in this lower-case word, by name.
    pub(crate) fn ending(&self, source: u32, word: &str) -> &[u32] {
        let key = (source, word.into());
        self.endings.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The number of the source called `text`, whatever its case and separators.
    pub(crate) fn source(&self, text: &str) -> Option<u32> {
        self.sources.get(squash(text).as_str()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&'static str> {
        let all = [
            ("a__web_fetch", "a"),
            ("b__webFetch", "b"),
            ("git_hub__list", "git-hub"),
            ("read", ""),
        ];
        let docs: Vec<_> = all
            .iter()
            .map(|(name, source)| ToolDoc::new(*name, "").source(*source))
            .collect();
        let names = Names::build(&docs, &[0, 1, 2, 3], &["a", "b", "git-hub"]);
        assert_eq!(names.source("GitHub"), Some(2));
        names
            .find(text, &docs)
            .into_iter()
            .map(|at| all[at as usize].0)
            .collect()
    }

    #[test]
    fn what_a_source_calls_its_tool_is_a_name_of_it_exactly_first() {
        let long = "ж".repeat(300);
        let all = [
            ("a__get_x", "a", ""),
            ("b__get_x_d1c2a3b4", "b", "b__get.x"),
            ("_4074bc02", "", "погода"),
            ("_c1a2b3d4", "", "☂"),
            ("_long_00aa11bb", "", long.as_str()),
        ];
        let docs: Vec<_> = all
            .iter()
            .map(|(name, source, original)| {
                ToolDoc::new(*name, "").source(*source).original(*original)
            })
            .collect();
        let names = Names::build(&docs, &[0, 1, 2, 3, 4], &["", "a", "b"]);
        for (text, found) in [
            ("get.x", &[1, 0][..]),
            ("get_x", &[0, 1]),
            ("b__get.x", &[1]),
            ("mcp__b__get.x", &[1]),
            ("b__get_x_d1c2a3b4", &[1]),
            ("ПОГОДА", &[2]),
            ("☂", &[3]),
            ("☀", &[]),
            (&long, &[4]),
        ] {
            assert_eq!(names.find(text, &docs), found, "{text}");
        }
    }

    #[test]
    fn closest_form_first_then_name_order() {
        assert_eq!(found("web_fetch"), ["a__web_fetch", "b__webFetch"]);
        assert_eq!(found("webFetch"), ["b__webFetch", "a__web_fetch"]);
        assert_eq!(found("WEB-FETCH"), ["a__web_fetch", "b__webFetch"]);
        assert_eq!(found("b.web_fetch"), ["b__webFetch"]);
        assert_eq!(found("mcp__git-hub__list"), ["git_hub__list"]);
        assert_eq!(found("READ"), ["read"]);
        assert_eq!(found("-"), [] as [&str; 0]);
        assert_eq!(found("rea"), [] as [&str; 0]);
    }
}
