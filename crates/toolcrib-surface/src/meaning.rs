//! Meaning against meaning: one vector a tool, compared with a query's.
//!
//! A tool's vector is a mixture of its three texts. Mixing once when the index is built leaves one product
//! a tool and query.

use std::fmt;

use rayon::prelude::*;
use toolcrib_vectors::{DIMS, Table, Vector, VectorSet};

use crate::texts;
use crate::{ToolDoc, Weights};

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
        let mut first: Vec<Option<&ToolDoc>> = vec![None; count];
        for (doc, &source) in docs.iter().zip(of) {
            first[source as usize].get_or_insert(doc);
        }
        let sources: Vec<Vector> = first
            .par_iter()
            .map(|doc| doc.map_or(Vector::ZERO, |doc| table.embed(&texts::of_source(doc))))
            .collect();
        let vectors: Vec<Vector> = docs
            .par_iter()
            .zip(of)
            .map_init(String::new, |text, (doc, &source)| {
                let tool = of_tool(doc, weights, table, text);
                mix(&tool, &sources[source as usize], weights.source_text)
            })
            .collect();
        let mut tools = VectorSet::with_capacity(docs.len());
        for vector in &vectors {
            tools.push(vector);
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

/// The meaning of a tool, its source left out. `text` is scratch.
fn of_tool(doc: &ToolDoc, weights: &Weights, table: &Table, text: &mut String) -> Vector {
    texts::short(doc, text);
    let short = table.embed(text);
    texts::long(doc, text);
    mix(&short, &table.embed(text), weights.long_text)
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
