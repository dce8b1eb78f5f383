//! Meaning against meaning: one vector a tool, compared with a query's.
//!
//! A tool's vector is a mixture: what it is called and does in a sentence, its
//! longer text with its arguments, and its source, without which names like
//! `get_data` say nothing. Mixing once when the index is built leaves one product
//! a tool and query.

use std::fmt;
use toolcrib_vectors::{DIMS, Table, Vector, VectorSet};

use crate::doc::without_hash;
use crate::sentence::first_sentence;
use crate::tokenize::{Piece, words};
use crate::{ToolDoc, Weights};

/// Words of a description and names of arguments that count for the longer text.
const BODY_WORDS: usize = 60;
const ARGUMENTS: usize = 12;

pub(crate) struct Meaning {
    table: &'static Table,
    tools: VectorSet,
}

impl Meaning {
    /// `of` numbers each document's source.
    pub(crate) fn build(
        docs: &[ToolDoc],
        of: &[u32],
        weights: &Weights,
        table: &'static Table,
    ) -> Meaning {
        let count = of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut sources: Vec<Option<Vector>> = vec![None; count];
        let mut tools = VectorSet::with_capacity(docs.len());
        let mut text = String::new();
        for (doc, &source) in docs.iter().zip(of) {
            let source = sources[source as usize].get_or_insert_with(|| {
                text.clear();
                spaced(&doc.source, &mut text);
                text.push_str(": ");
                text.push_str(first_sentence(&doc.source_description));
                table.embed(&text)
            });
            text.clear();
            spaced(without_hash(doc.local_name()), &mut text);
            text.push_str(": ");
            let name = text.len();
            text.push_str(first_sentence(&doc.description));
            let short = table.embed(&text);
            text.truncate(name);
            for word in doc.description.split_whitespace().take(BODY_WORDS) {
                text.push_str(word);
                text.push(' ');
            }
            for argument in doc.argument_names().take(ARGUMENTS) {
                spaced(argument, &mut text);
                text.push(' ');
            }
            let tool = mix(&short, &table.embed(&text), weights.long_text);
            tools.push(&mix(&tool, source, weights.source_text));
        }
        Meaning { table, tools }
    }

    /// The vector of a query; `None` if the table knows no word of it.
    pub(crate) fn embed(&self, text: &str) -> Option<Vector> {
        Some(self.table.embed(text)).filter(|vector| !vector.is_zero())
    }

    /// Replaces `scores` by each tool's similarity to `query`.
    pub(crate) fn scores(&self, query: &Vector, scores: &mut Vec<f32>) {
        self.tools.scores(query, scores);
    }

    /// The similarity of one tool to `query`.
    pub(crate) fn similarity(&self, doc: usize, query: &Vector) -> f32 {
        self.tools
            .get(doc)
            .map_or(0.0, |tool| tool.similarity(query))
    }

    /// Heap bytes of the tools' vectors.
    pub(crate) fn bytes(&self) -> usize {
        self.tools.len() * (DIMS + size_of::<f32>())
    }
}

impl fmt::Debug for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meaning")
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

/// The direction between two, `share` of the way from the first to the second.
fn mix(a: &Vector, b: &Vector, share: f32) -> Vector {
    if b.is_zero() || share <= 0.0 {
        return a.clone();
    }
    if a.is_zero() {
        return b.clone();
    }
    let length = |v: &Vector| {
        let square: i32 = v
            .components()
            .iter()
            .map(|&c| i32::from(c) * i32::from(c))
            .sum();
        (square as f32).sqrt()
    };
    let (of_a, of_b) = ((1.0 - share) / length(a), share / length(b));
    let sums: [f32; DIMS] = std::array::from_fn(|at| {
        of_a * f32::from(a.components()[at]) + of_b * f32::from(b.components()[at])
    });
    let most = sums
        .iter()
        .fold(f32::MIN_POSITIVE, |most, sum| most.max(sum.abs()));
    Vector::from_components(sums.map(|sum| (sum / most * 127.0).round() as i8))
}

/// Appends the words of a name, separated by spaces. Numbers are left out: they tell
/// names apart but mean nothing, and tools that differ in them alone rank as equals.
fn spaced(name: &str, to: &mut String) {
    let start = to.len();
    words(name, |word, piece| {
        let number = word.bytes().all(|b| b.is_ascii_digit());
        if matches!(piece, Piece::Whole(false) | Piece::Part) && !number {
            if to.len() > start {
                to.push(' ');
            }
            to.push_str(word);
        }
    });
}
