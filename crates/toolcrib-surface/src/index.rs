//! The searchable form of a set of tools.
//!
//! Built once per registry generation by the caller, who keeps it beside that
//! generation; nothing in it changes afterwards, so searches share it freely.

use std::collections::BTreeMap;
use toolcrib_vectors::Table;

use crate::bm25::Words;
use crate::encoded::Encoded;
use crate::meaning::Meaning;
use crate::names::Names;
use crate::query::terms;
use crate::{SharedEncoder, ToolDoc, Weights};

/// Tools made ready to be searched.
#[derive(Debug)]
pub struct ToolIndex {
    pub(crate) docs: Vec<ToolDoc>,
    /// Each document's place in the order of names.
    pub(crate) place: Vec<u32>,
    pub(crate) names: Names,
    pub(crate) words: Words,
    pub(crate) sources: Sources,
    pub(crate) meaning: Option<Meaning>,
    pub(crate) encoded: Option<Encoded>,
    pub(crate) weights: Weights,
}

/// The distinct sources and the words of their names.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) names: Vec<toolcrib_core::Str>,
    /// Source of each document.
    pub(crate) of: Vec<u32>,
    /// Words of source names, as known to nobody else.
    pub(crate) words: Words,
}

impl ToolIndex {
    /// An index of `docs`. A result's number is the tool's place in `docs`.
    pub fn build(docs: &[ToolDoc]) -> ToolIndex {
        Self::build_with(docs, Weights::default(), Some(Table::builtin()))
    }

    /// The same with a sentence encoder beside the table, if there is one.
    pub fn build_encoded(docs: &[ToolDoc], encoder: Option<&SharedEncoder>) -> ToolIndex {
        Self::assemble(docs, Weights::default(), Some(Table::builtin()), encoder)
    }

    /// The same with other weights and another table of meanings, or words alone.
    pub fn build_with(
        docs: &[ToolDoc],
        weights: Weights,
        table: Option<&'static Table>,
    ) -> ToolIndex {
        Self::assemble(docs, weights, table, None)
    }

    fn assemble(
        docs: &[ToolDoc],
        weights: Weights,
        table: Option<&'static Table>,
        encoder: Option<&SharedEncoder>,
    ) -> ToolIndex {
        let mut order: Vec<u32> = (0..docs.len() as u32).collect();
        order.sort_by(|&a, &b| {
            docs[a as usize]
                .name
                .cmp(&docs[b as usize].name)
                .then(a.cmp(&b))
        });
        let mut place = vec![0; docs.len()];
        for (at, &doc) in order.iter().enumerate() {
            place[doc as usize] = at as u32;
        }
        let sources = Sources::build(docs, &weights);
        let listed: Vec<&str> = sources.names.iter().map(|name| &**name).collect();
        let (meaning, (names, words)) = rayon::join(
            || table.map(|table| Meaning::build(docs, &sources.of, &weights, table)),
            || {
                rayon::join(
                    || Names::build(docs, &order, &listed),
                    || Words::build(docs, &weights),
                )
            },
        );
        let encoded =
            encoder.and_then(|encoder| Encoded::build(docs, &sources.of, &weights, encoder));
        ToolIndex {
            names,
            words,
            meaning,
            encoded,
            docs: docs.to_vec(),
            place,
            sources,
            weights,
        }
    }

    /// The tools, in the order in which they were given.
    pub fn docs(&self) -> &[ToolDoc] {
        &self.docs
    }

    /// Heap bytes of the index, roughly; texts shared with the caller not counted.
    pub fn bytes(&self) -> usize {
        self.words.bytes()
            + self.meaning.as_ref().map_or(0, Meaning::bytes)
            + self.encoded.as_ref().map_or(0, Encoded::bytes)
            + self.names.bytes()
            + self.sources.words.bytes()
            + 4 * (self.place.len() + self.sources.of.len())
            + size_of::<ToolDoc>() * self.docs.len()
    }
}

impl Sources {
    fn build(docs: &[ToolDoc], weights: &Weights) -> Sources {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        for doc in docs {
            numbers.insert(&doc.source, 0);
        }
        let mut as_docs = Vec::new();
        let mut names = Vec::new();
        for (at, (name, number)) in numbers.iter_mut().enumerate() {
            *number = at as u32;
            names.push((*name).into());
            as_docs.push(ToolDoc::new(*name, ""));
        }
        Sources {
            of: docs
                .iter()
                .map(|doc| numbers.get(&*doc.source).copied().unwrap_or(0))
                .collect(),
            words: Words::build(&as_docs, weights),
            names,
        }
    }

    /// Each source's name with its letters and digits alone.
    pub(crate) fn squashed(&self) -> impl Iterator<Item = (&str, String)> {
        self.names
            .iter()
            .map(|name| (&**name, crate::names::squash(name)))
    }

    /// How much of each source's name `text` mentions, 0 to 1; rare words count more.
    pub(crate) fn mentioned(&self, text: &str) -> Vec<f32> {
        let mut sums = vec![0f32; self.names.len()];
        let most = self.words.unknown_idf().max(f32::MIN_POSITIVE);
        for (word, weight) in terms(text, &self.words, 0.0).known {
            for posting in self.words.postings(word) {
                sums[posting.doc() as usize] += weight.min(1.0) * self.words.idf(word);
            }
        }
        for (source, sum) in sums.iter_mut().enumerate() {
            let of_name = *sum / self.words.name_idf(source as u32).max(f32::MIN_POSITIVE);
            *sum = (*sum / most).min(1.0) * of_name.min(1.0).sqrt();
        }
        sums
    }
}
