//! What a search asks for, read once.
//!
//! `select:a,b` and lists of names take the certain path; `source:x` narrows;
//! `+word` demands; everything else is words. A query is read up to a fixed
//! length: what a model pastes after that is not a need.

use std::cell::OnceCell;

use crate::names::Names;
use crate::rank::Admit;
use crate::tokenize::{Piece, function_word, talk_word, words};
use crate::{ToolDoc, bm25::Words};

/// Longest part of a query that is read, in bytes.
pub(crate) const MAX_QUERY: usize = 8192;
/// Most names that one query can list.
pub(crate) const MAX_NAMES: usize = 32;
/// Most words beside a source's name that are read as ends of names.
const MAX_ENDINGS: usize = 6;
/// Most words of a source's name where it is not written as one.
const MAX_SOURCE_WORDS: usize = 3;
/// Most clauses that are looked at by themselves.
const MAX_CLAUSES: usize = 12;

/// A query's known words with their weights, and what else it says.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// Known words, each once.
    pub(crate) known: Vec<(u32, f32)>,
    /// Words that no tool has.
    pub(crate) unknown: usize,
}

/// One name of a query and the tools it can mean, closest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) text: String,
    pub(crate) docs: Vec<u32>,
    /// How many of the first are called so equally closely.
    pub(crate) equal: usize,
}

impl Named {
    /// The admitted tools that are called so equally closely; more than one where the
    /// name alone does not tell which is meant.
    pub(crate) fn admitted(&self, admit: Admit<'_>) -> Vec<usize> {
        let equal = self.docs[..self.equal].iter().map(|&doc| doc as usize);
        equal.filter(|doc| admit(*doc)).collect()
    }
}

/// A query taken apart.
#[derive(Debug, Default)]
pub(crate) struct Query {
    /// What is left to rank by, without operators.
    pub(crate) text: String,
    /// Whether it began with `select:`; then names alone count.
    pub(crate) select: bool,
    /// Listed names in their order.
    pub(crate) named: Vec<Named>,
    /// Whether it is names and nothing else.
    pub(crate) only_names: bool,
    /// Listed names that no tool has; for `select:` alone.
    pub(crate) unknown_names: Vec<String>,
    /// Words that must occur, in lower case.
    pub(crate) required: Vec<String>,
    /// Names of sources to which the answer is confined.
    pub(crate) sources: Vec<String>,
    /// For each word beside a source's name, where all are last words of names of that
    /// source's tools: those tools.
    pub(crate) endings: Vec<Vec<u32>>,
    /// The text without that source's name, which the words would drown in.
    pub(crate) beside_source: Option<String>,
    /// An encoder's vectors of the text and its clauses, once they were asked for.
    pub(crate) encoded: OnceCell<Vec<Vec<f32>>>,
}

/// Cuts at a character boundary.
pub(crate) fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

impl Query {
    pub(crate) fn read(raw: &str, names: &Names, docs: &[ToolDoc]) -> Query {
        let raw = head(raw.trim(), MAX_QUERY);
        let mut query = Query::default();
        if let Some(list) = strip_prefix_fold(raw, "select:") {
            query.select = true;
            query.select_names(list, names, docs);
            return query;
        }
        let mut text = String::with_capacity(raw.len());
        for word in raw.split_whitespace() {
            let source = ["source:", "server:"]
                .iter()
                .find_map(|key| strip_prefix_fold(word, key));
            if let Some(source) = source {
                if source.contains(char::is_alphanumeric) {
                    query.sources.push(source.to_lowercase());
                }
                continue;
            }
            let demanded = word
                .strip_prefix('+')
                .filter(|rest| rest.starts_with(char::is_alphabetic));
            if let Some(word) = demanded {
                query.demand(word);
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(demanded.unwrap_or(word));
        }
        // Line ends separate names, so the raw text is looked at.
        let list = if query.sources.is_empty() && query.required.is_empty() {
            raw
        } else {
            &text
        };
        (query.named, query.only_names) = listed(list, names, docs);
        if !query.only_names {
            query.read_endings(&text, names);
        }
        query.text = text;
        query
    }

    /// The words that tools are looked for by, those of a source's name left out where it
    /// is known to be one.
    pub(crate) fn words(&self) -> &str {
        self.beside_source.as_deref().unwrap_or(&self.text)
    }

    /// Reads a source's name and the last words of some of its tools' names, in any order.
    fn read_endings(&mut self, text: &str, names: &Names) {
        let items: Vec<&str> = text
            .split_whitespace()
            .take(MAX_ENDINGS + MAX_SOURCE_WORDS + 1)
            .map(clean)
            .collect();
        if items.len() > MAX_ENDINGS + MAX_SOURCE_WORDS {
            return;
        }
        for length in (1..=MAX_SOURCE_WORDS).rev() {
            for start in 0..(items.len() + 1).saturating_sub(length) {
                let Some(source) = names.source(&items[start..start + length].concat()) else {
                    continue;
                };
                let beside = || items[..start].iter().chain(&items[start + length..]);
                let endings: Vec<Vec<u32>> = beside()
                    .map(|word| names.ending(source, &word.to_lowercase()).to_vec())
                    .collect();
                if !endings.is_empty() && endings.iter().all(|docs| !docs.is_empty()) {
                    self.endings = endings;
                    self.beside_source = Some(beside().copied().collect::<Vec<_>>().join(" "));
                    return;
                }
            }
        }
    }

    /// An encoder's vector of the text, once it was asked for.
    pub(crate) fn whole(&self) -> Option<&[f32]> {
        self.encoded.get()?.first().map(Vec::as_slice)
    }

    /// Whether it asks for nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty()
            && self.unknown_names.is_empty()
            && self.required.is_empty()
            && !self.text.contains(char::is_alphanumeric)
    }

    fn select_names(&mut self, list: &str, names: &Names, docs: &[ToolDoc]) {
        // A name from elsewhere may hold what separates names.
        if self.select_name(list.trim(), names, docs) {
            return;
        }
        let items = list.split([',', ';', '\n']).map(clean);
        for item in items.filter(|item| !item.is_empty()).take(MAX_NAMES) {
            if self.select_name(item, names, docs) {
                continue;
            }
            for part in item.split_whitespace().take(MAX_NAMES) {
                if !self.select_name(part, names, docs) && self.unknown_names.len() < MAX_NAMES {
                    self.unknown_names.push(head(part, 128).to_owned());
                }
            }
        }
    }

    fn select_name(&mut self, text: &str, names: &Names, docs: &[ToolDoc]) -> bool {
        let (found, equal) = names.closest(text, docs);
        let Some(&first) = found.first() else {
            return false;
        };
        let known = self.named.iter().any(|named| named.docs[0] == first);
        if !known && self.named.len() < MAX_NAMES {
            self.named.push(named(text, found, equal));
        }
        true
    }

    fn demand(&mut self, word: &str) {
        words(word, |word, piece| {
            if matches!(piece, Piece::Whole(_)) {
                self.required.push(word.to_owned());
            }
        });
    }
}

fn strip_prefix_fold<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Without the quotes, brackets and stops that surround a name in prose.
fn clean(item: &str) -> &str {
    item.trim()
        .trim_matches(|c: char| "\"'`()[]{}.?!:".contains(c) || c.is_whitespace())
}

fn named(text: &str, docs: Vec<u32>, equal: usize) -> Named {
    Named {
        text: text.to_owned(),
        docs,
        equal,
    }
}

/// The names in `text`, all of it as one or its words, and whether it is nothing else.
fn listed(text: &str, names: &Names, docs: &[ToolDoc]) -> (Vec<Named>, bool) {
    let (whole, equal) = names.closest(text, docs);
    if !whole.is_empty() {
        let only = !text.contains(char::is_whitespace) && compound(text, &whole, docs);
        return (vec![named(text, whole, equal)], only);
    }
    let other_order = names.find_reordered(text);
    if !other_order.is_empty() {
        let all = named(text, other_order.to_vec(), other_order.len());
        return (vec![all], false);
    }
    let mut named: Vec<Named> = Vec::new();
    let mut lone = Vec::new();
    let mut from = None;
    let mut all_names = true;
    for item in items(text, names, docs) {
        let (found, equal) = names.closest(item, docs);
        if found.is_empty() {
            match names.source(item) {
                Some(source) => from = Some(source),
                None => all_names = false,
            }
        } else if named.len() < MAX_NAMES && !named.iter().any(|known| known.docs == found) {
            lone.push(!compound(item, &found, docs));
            named.push(self::named(item, found, equal));
        }
    }
    // A word like `search` is a name only where everything beside it is one too.
    let commas = text.contains([',', ';', '\n']);
    let is_list = all_names && (commas || from.is_some() || lone.contains(&false));
    if !is_list {
        let mut keep = lone.iter().map(|lone| !lone);
        named.retain(|_| keep.next().unwrap_or(false));
    }
    if let Some(source) = from.filter(|_| is_list) {
        for named in &mut named {
            named
                .docs
                .sort_by_key(|&at| names.source(&docs[at as usize].source) != Some(source));
        }
    }
    let only = is_list && !named.is_empty();
    (named, only)
}

/// Entries of a list. A name may hold spaces where something else separates it.
fn items<'a>(text: &'a str, names: &Names, docs: &[ToolDoc]) -> Vec<&'a str> {
    let mut items = Vec::new();
    for item in text.split([',', ';', '\n']).map(clean) {
        if names.find(item, docs).is_empty() {
            items.extend(item.split_whitespace().map(clean));
        } else {
            items.push(item);
        }
    }
    items.retain(|item| !item.is_empty() && !item.eq_ignore_ascii_case("and"));
    items
}

/// Whether a text can hardly be anything but a name: several words in one.
fn compound(item: &str, found: &[u32], docs: &[ToolDoc]) -> bool {
    if item.contains(char::is_whitespace) {
        return true;
    }
    found.first().is_some_and(|&at| {
        let mut parts = 0;
        words(docs[at as usize].spoken_name(), |_, piece| match piece {
            Piece::Whole(false) | Piece::Part => parts += 1,
            Piece::Whole(true) | Piece::Joined => {}
        });
        parts > 1
    })
}

/// The words of `text` that can rank tools.
pub(crate) fn terms(text: &str, index: &Words, number_weight: f32) -> Terms {
    let mut all = Terms::default();
    gather(text, index, number_weight, &mut all, true);
    if all.known.is_empty() && all.unknown == 0 {
        gather(text, index, number_weight, &mut all, false);
    }
    all
}

/// Whether `text` has a word that says something and that no tool has.
pub(crate) fn any_unknown(text: &str, index: &Words) -> bool {
    let mut all = Terms::default();
    gather(text, index, 0.0, &mut all, true);
    all.unknown > 0
}

fn gather(text: &str, index: &Words, number_weight: f32, all: &mut Terms, strict: bool) {
    let mut scratch = String::new();
    let mut whole_known = false;
    words(text, |word, piece| {
        match piece {
            Piece::Whole(_) => whole_known = false,
            Piece::Part if whole_known => return,
            Piece::Part => {}
            Piece::Joined => return,
        }
        if function_word(word) || (strict && talk_word(word)) {
            return;
        }
        match index.id(word, &mut scratch) {
            Some(id) => {
                whole_known = matches!(piece, Piece::Whole(_));
                let number = word.bytes().all(|b| b.is_ascii_digit());
                let weight = if number { number_weight } else { 1.0 };
                match all.known.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, sum)) => *sum = (*sum + 0.3 * weight).min(2.0),
                    None => all.known.push((id, weight)),
                }
            }
            None if piece == Piece::Whole(false) || piece == Piece::Part => {
                all.unknown += usize::from(!word.bytes().any(|b| b.is_ascii_digit()));
            }
            None => {}
        }
    });
}

/// Sentences and listed parts of a query with several needs; empty when it has one.
pub(crate) fn clauses(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for sentence in text.split_inclusive(['.', '?', '!', ';', '\n']) {
        for part in sentence.split([',', ';', '\n', '+']) {
            let mut rest = part;
            while let Some((before, after)) = split_at_and(rest) {
                all.push(before);
                rest = after;
            }
            all.push(rest);
        }
    }
    all.retain(|part| part.bytes().filter(|b| *b == b' ').count() >= 1);
    if all.len() < 2 {
        return Vec::new();
    }
    all.truncate(MAX_CLAUSES);
    all
}

fn split_at_and(text: &str) -> Option<(&str, &str)> {
    [" and ", " then ", " or "]
        .iter()
        .filter_map(|word| text.find(word).map(|at| (at, word.len())))
        .min()
        .map(|(at, len)| (&text[..at], &text[at + len..]))
}
