//! Meaning against meaning: one vector a tool, compared with a query's.
//!
//! A tool's vector is a mixture of its three texts. Mixing once when the index is built leaves one product
//! a tool and query.

use std::fmt;

use rayon::prelude::*;
use toolcrib_vectors::{DIMS, Table, Vector, VectorSet};

use crate::sentence::first_sentence;
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

    /// Whether the table knows `word` as a whole.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        matches!(&self.table.pieces_of(word)[..], [Some(_)])
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
    texts::name(doc, text);
    let name = table.begin().read(text);
    let sentence = first_sentence(&doc.description);
    let short = name.clone().read(sentence);
    let of_short = short.vector();
    // The longer text begins with the sentence, unless that alone is longer.
    let (long, rest, left) = match plain_words(sentence) {
        Some(count) if count <= texts::BODY_WORDS && doc.description.starts_with(sentence) => (
            short,
            &doc.description[sentence.len()..],
            texts::BODY_WORDS - count,
        ),
        _ => (name, &*doc.description, texts::BODY_WORDS),
    };
    text.clear();
    for word in rest.split_whitespace().take(left) {
        text.push_str(word);
        text.push(' ');
    }
    texts::arguments(doc, text);
    mix(&of_short, &long.read(text).vector(), weights.long_text)
}

/// How many words a text has, if cutting it at white space is all that tells it from
/// the same words with one space between them.
fn plain_words(text: &str) -> Option<usize> {
    let plain = |b: u8| (b' '..0x7f).contains(&b) || matches!(b, b'\t' | b'\n' | b'\r');
    text.bytes()
        .all(plain)
        .then(|| text.split_ascii_whitespace().count())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The two texts of a tool, each read from its beginning.
    fn apart(doc: &ToolDoc, weights: &Weights, table: &Table) -> Vector {
        let (mut short, mut long) = (String::new(), String::new());
        texts::name(doc, &mut short);
        short.push_str(first_sentence(&doc.description));
        texts::long(doc, &mut long);
        mix(&table.embed(&short), &table.embed(&long), weights.long_text)
    }

    #[test]
    fn what_two_texts_share_is_read_once_and_changes_nothing() {
        let table = Table::builtin();
        let weights = Weights::default();
        let long = "Reads pages of documents and what they link to ".repeat(9);
        for description in [
            "Closes a pull request. It may be stale. Nothing is lost.",
            "One line\nand another. With more",
            "  Indented.\r\n\r\nMore\tof it.",
            "Odd\u{b}breaks\u{1}and\u{c}more. Then words.",
            "查询天气。Weather of a town. Today",
            "Use e.g. this, i.e. that. Then it ends",
            "no stop",
            "",
            &long,
            &format!("{long}. And more"),
        ] {
            let mut doc = ToolDoc::new("forge__closePull_4074bc02", description).source("forge");
            doc.arguments = "pullId\nreason\n\nWhich one.".into();
            let together = of_tool(&doc, &weights, table, &mut String::new());
            assert_eq!(together, apart(&doc, &weights, table), "{description:?}");
        }
    }
}
