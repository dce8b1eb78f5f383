//! The order of search results.
//!
//! Results come in tiers: those that match by name or path, then the words of
//! comments and strings, then, for queries of several words, symbols whose name,
//! path and texts have all words between them, and last those that have at
//! least half of them. Within a tier what a build wrote comes after its sources;
//! then the order is path, then line, so that a result never moves because of
//! another one.

use std::collections::HashSet;

use serde::Serialize;

use super::Lookup;
use super::index::{ends_in_name, is_symbol, separators_unified};
use super::words::{query_words, stem};
use crate::model::{FileId, NodeId};

/// How a result matched, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// The name, ignoring case, or the whole qualified name as it is written.
    Name,
    /// The qualified name, or its end after a separator.
    QualifiedName,
    /// The name begins with the query.
    Prefix,
    /// All words of the query are words of the name.
    Words,
    /// All words of the query begin words of the name.
    WordPrefixes,
    /// All words of the query are words of the qualified name or path.
    QualifiedWords,
    /// The name contains the query.
    InName,
    /// The qualified name contains the query.
    InQualifiedName,
    /// The path contains the query.
    InPath,
    /// All words are in one comment, doc comment or string literal.
    Text,
    /// All words are in name, path and texts taken together.
    AllWords,
    /// At least half of the words are in name, path and texts.
    SomeWords,
}

/// A result before its page is known: sorts by tier, words missing, place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) matched: Match,
    pub(super) missing: u8,
    pub(super) is_built: bool,
    pub(super) file: FileId,
    pub(super) byte: u32,
    pub(super) node: NodeId,
    pub(super) text: Option<u32>,
}

/// No tier.
const NONE: u8 = u8::MAX;

/// Results while they are found.
struct Ranking<'a> {
    lookup: &'a Lookup,
    /// The words of the query.
    wanted: Vec<String>,
    /// The best tier of each node, by name or path.
    tiers: Vec<u8>,
    /// Which words each node has, in name, path and, later, texts.
    nodes: Masks,
    /// Which words each text has.
    texts: Masks,
    /// Lines of texts already among the results.
    lines: HashSet<(FileId, u32)>,
    found: Vec<Found>,
}

impl Lookup {
    /// Every result of a query, in no order.
    pub(super) fn ranked(&self, query: &str) -> Vec<Found> {
        let mut ranking = Ranking {
            lookup: self,
            wanted: query_words(query),
            tiers: vec![NONE; self.graph.nodes().len()],
            nodes: Masks::new(self.graph.nodes().len()),
            texts: Masks::new(self.graph.texts().len()),
            lines: HashSet::new(),
            found: Vec::new(),
        };
        ranking.by_name(query);
        ranking.by_words();
        ranking.by_part(query);
        ranking.take_named();
        ranking.by_text();
        // One identifier that was found is not looked for in pieces as well.
        let in_pieces = query.contains(char::is_whitespace) || ranking.found.is_empty();
        if ranking.wanted.len() > 1 && in_pieces {
            ranking.in_pieces();
        }
        ranking.found
    }
}

impl Ranking<'_> {
    fn mark(&mut self, id: NodeId, tier: Match) {
        let slot = &mut self.tiers[id.0 as usize];
        *slot = (*slot).min(tier as u8);
    }

    fn by_name(&mut self, query: &str) {
        let (index, graph) = (&self.lookup.index, &self.lookup.graph);
        let bare = query.trim_matches('`').trim_end_matches("()");
        let lower = bare.to_lowercase();
        let unified = separators_unified(bare);
        let tail = unified.rsplit('.').next().unwrap_or("");
        index
            .named(&lower)
            .for_each(|id| self.mark(id, Match::Name));
        for id in index.named(tail).filter(|_| !tail.is_empty()) {
            let node = graph.node(id);
            if ends_in_name(&separators_unified(&node.qualified_name), &unified)
                || separators_unified(&node.symbol) == unified
            {
                self.mark(id, Match::QualifiedName);
            }
        }
        if let Some(id) = graph.by_qualified_name(bare)
            && is_symbol(graph.node(id).kind)
        {
            // Others may differ in case alone: a type and a field of that type.
            self.mark(id, Match::Name);
        }
        if !lower.is_empty() {
            let prefixed = index.prefixed(&lower);
            prefixed.for_each(|id| self.mark(id, Match::Prefix));
        }
    }

    fn by_words(&mut self) {
        let index = &self.lookup.index;
        self.nodes
            .all(&self.wanted, |w, each| index.name_words.exact(w, each));
        self.mark_complete(Match::Words);
        self.nodes.all(&self.wanted, |w, each| {
            index.name_words.prefixed(stem(w), each);
        });
        self.mark_complete(Match::WordPrefixes);
        self.nodes
            .all(&self.wanted, |w, each| index.wide_words.exact(w, each));
        self.mark_complete(Match::QualifiedWords);
    }

    fn mark_complete(&mut self, tier: Match) {
        for id in self.nodes.complete(self.wanted.len()) {
            self.mark(NodeId(id), tier);
        }
    }

    fn by_part(&mut self, query: &str) {
        let lookup = self.lookup;
        let bare = query.trim_matches('`').trim_end_matches("()");
        let lower = bare.to_lowercase();
        let index = &lookup.index;
        index.names_containing(&lower, |id| self.mark(id, Match::InName));
        index.qualified_containing(&separators_unified(bare), |id| {
            self.mark(id, Match::InQualifiedName);
        });
        let path = lower.trim_start_matches("./");
        index.paths_containing(&lookup.graph, path, |id| self.mark(id, Match::InPath));
    }

    /// Takes what matched by name or path into the results.
    fn take_named(&mut self) {
        for id in 0..self.tiers.len() {
            if let Some(&tier) = TIERS.get(self.tiers[id] as usize) {
                self.found.push(self.at_node(id as u32, tier, 0));
            }
        }
    }

    /// Finds texts that have all words, of symbols that did not match themselves.
    fn by_text(&mut self) {
        let index = &self.lookup.index;
        self.texts.all(&self.wanted, |w, each| {
            if w.chars().count() >= 4 {
                index.text_words.prefixed(stem(w), each);
            } else {
                index.text_words.exact(w, each);
            }
        });
        let whole: Vec<u32> = self
            .texts
            .complete(self.wanted.len())
            .into_iter()
            .filter(|&i| self.tiers[self.owner(i).0 as usize] == NONE)
            .collect();
        self.take_texts(
            whole
                .into_iter()
                .map(|i| self.at_text(i, Match::Text, 0))
                .collect(),
        );
    }

    /// Finds symbols and texts that have some of several words.
    fn in_pieces(&mut self) {
        let count = self.wanted.len();
        for i in 0..self.texts.touched.len() {
            let text = self.texts.touched[i];
            self.nodes
                .add(self.owner(text).0, self.texts.bits[text as usize]);
        }
        let mut taken: HashSet<NodeId> = self.found.iter().map(|f| f.node).collect();
        let missing = |bits: u32| count - bits.count_ones() as usize;
        let enough = |missing: usize| (count - missing) * 2 >= count;
        let graph = &self.lookup.graph;
        for i in 0..self.nodes.touched.len() {
            let id = self.nodes.touched[i];
            let missing = missing(self.nodes.bits[id as usize]);
            if enough(missing) && is_symbol(graph.node(NodeId(id)).kind) && taken.insert(NodeId(id))
            {
                let tier = match missing {
                    0 => Match::AllWords,
                    _ => Match::SomeWords,
                };
                self.found.push(self.at_node(id, tier, missing as u8));
            }
        }
        let mut texts: Vec<Found> = Vec::new();
        for &i in &self.texts.touched {
            let missing = missing(self.texts.bits[i as usize]);
            if enough(missing) && !taken.contains(&self.owner(i)) {
                texts.push(self.at_text(i, Match::SomeWords, missing as u8));
            }
        }
        self.take_texts(texts);
    }

    /// Takes texts into the results; a line is shown once, however many of its
    /// strings match.
    fn take_texts(&mut self, mut texts: Vec<Found>) {
        texts.sort_unstable();
        for text in texts {
            let line = text.text.map_or(0, |i| self.line(i));
            if self.lines.insert((text.file, line)) {
                self.found.push(text);
            }
        }
    }

    fn owner(&self, text: u32) -> NodeId {
        self.lookup.graph.texts()[text as usize].node
    }

    fn line(&self, text: u32) -> u32 {
        self.lookup.graph.texts()[text as usize].span.start_line
    }

    fn at_node(&self, id: u32, matched: Match, missing: u8) -> Found {
        let node = self.lookup.graph.node(NodeId(id));
        Found {
            matched,
            missing,
            is_built: self.lookup.index.is_built(node.file),
            file: node.file,
            byte: node.span.start_byte,
            node: NodeId(id),
            text: None,
        }
    }

    fn at_text(&self, i: u32, matched: Match, missing: u8) -> Found {
        let text = self.lookup.graph.texts()[i as usize];
        Found {
            matched,
            missing,
            is_built: self.lookup.index.is_built(text.file),
            file: text.file,
            byte: text.span.start_byte,
            node: text.node,
            text: Some(i),
        }
    }
}

/// The tiers of [`Match`] by name or path, by their discriminants.
const TIERS: [Match; 9] = [
    Match::Name,
    Match::QualifiedName,
    Match::Prefix,
    Match::Words,
    Match::WordPrefixes,
    Match::QualifiedWords,
    Match::InName,
    Match::InQualifiedName,
    Match::InPath,
];

/// Which of the query's words each of many numbers has.
struct Masks {
    bits: Vec<u32>,
    touched: Vec<u32>,
}

impl Masks {
    fn new(count: usize) -> Masks {
        Masks {
            bits: vec![0; count],
            touched: Vec::new(),
        }
    }

    fn clear(&mut self) {
        for &i in &self.touched {
            self.bits[i as usize] = 0;
        }
        self.touched.clear();
    }

    fn add(&mut self, number: u32, mask: u32) {
        let bits = &mut self.bits[number as usize];
        if *bits == 0 && mask != 0 {
            self.touched.push(number);
        }
        *bits |= mask;
    }

    /// Starts over with what `lookup` finds for every word.
    fn all(&mut self, wanted: &[String], lookup: impl Fn(&str, &mut dyn FnMut(u32))) {
        self.clear();
        for (i, word) in wanted.iter().enumerate() {
            lookup(word, &mut |number| self.add(number, 1 << i));
        }
    }

    /// Those that have all of `count` words.
    fn complete(&self, count: usize) -> Vec<u32> {
        let whole = |&i: &u32| self.bits[i as usize].count_ones() as usize == count;
        let touched = self.touched.iter().copied();
        touched.filter(|i| count > 0 && whole(i)).collect()
    }
}
