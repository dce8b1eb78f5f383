//! Meaning against meaning: two vectors a tool, compared with a query's.
//!
//! One vector is of what a tool is called and does in a sentence, the other of
//! its longer text with its arguments: a short query is nearer to the first, a
//! detailed one to the second.

use std::fmt;
use std::sync::Arc;

use toolcrib_vectors::{Table, Vector, VectorSet};

use crate::ToolDoc;
use crate::sentence::first_sentence;
use crate::tokenize::{Piece, words};

/// Words of a description and names of arguments that count for the longer text.
const BODY_WORDS: usize = 60;
const ARGUMENTS: usize = 12;

pub(crate) struct Meaning {
    table: Arc<Table>,
    short: VectorSet,
    long: VectorSet,
    pub(crate) sources: VectorSet,
}

impl Meaning {
    pub(crate) fn build(docs: &[ToolDoc], of: &[u32], w: &crate::Weights, table: Arc<Table>) -> Meaning {
        let n = of.iter().max().map_or(0, |m| *m as usize + 1);
        let mut sums = vec![[0f32; 256]; n];
        W6.store(w.x[6] > 0.0, std::sync::atomic::Ordering::Relaxed);
        let mut short = VectorSet::with_capacity(docs.len());
        let mut long = VectorSet::with_capacity(docs.len());
        let mut text = String::new();
        for doc in docs {
            text.clear();
            if w.x[4] == 1.0 { spaced(&doc.source, &mut text); text.push(' '); }
            spaced(doc.local_name(), &mut text);
            text.push_str(": ");
            let name = text.len();
            text.push_str(first_sentence(&doc.description));
            short.push(&table.embed(&text));
            text.truncate(name);
            for word in doc.description.split_whitespace().take(BODY_WORDS) {
                text.push_str(word);
                text.push(' ');
            }
            if w.x[4] == 2.0 { spaced(&doc.source, &mut text); text.push(' '); }
            for argument in doc.argument_names().take(ARGUMENTS) {
                spaced(argument, &mut text);
                text.push(' ');
            }
            let v = table.embed(&text);
            let sv = short.get(short.len() - 1).unwrap_or_default();
            let v = if w.x[6] > 0.0 { mix(&sv, &v, w.long_text) } else { v };
            long.push(&v);
            let norm = v.components().iter().map(|c| f32::from(*c) * f32::from(*c)).sum::<f32>().sqrt().max(1.0);
            for (s, c) in sums[of[short.len() - 1] as usize].iter_mut().zip(v.components()) { *s += f32::from(*c) / norm; }
        }
        let mut sources = VectorSet::new();
        for s in &sums {
            let top = s.iter().fold(f32::MIN_POSITIVE, |a, b| a.max(b.abs()));
            let mut c = [0i8; 256];
            for (c, s) in c.iter_mut().zip(s) { *c = (s / top * 127.0).round() as i8; }
            sources.push(&Vector::from_components(c));
        }
        Meaning { table, short, long, sources }
    }

    pub(crate) fn embed(&self, text: &str) -> Vector {
        self.table.embed(text)
    }

    /// Replaces `scores` by each tool's similarity to `query`, `share` of it by the
    /// longer text.
    pub(crate) fn scores(&self, query: &Vector, share: f32, scores: &mut Vec<f32>) {
        self.short.scores(query, scores);
        if W6.load(std::sync::atomic::Ordering::Relaxed) {
            self.long.scores(query, scores);
            return;
        }
        if share > 0.0 {
            let mut long = Vec::new();
            self.long.scores(query, &mut long);
            for (score, long) in scores.iter_mut().zip(long) {
                *score += share * (long - *score);
            }
        }
    }

    /// Heap bytes of the tools' vectors.
    pub(crate) fn bytes(&self) -> usize {
        self.short.len() * 2 * (toolcrib_vectors::DIMS + size_of::<f32>())
    }
}

impl fmt::Debug for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meaning").field("tools", &self.short.len()).finish_non_exhaustive()
    }
}

/// Appends the words of a name, separated by spaces.
fn spaced(name: &str, to: &mut String) {
    let start = to.len();
    words(name, |word, piece| {
        if matches!(piece, Piece::Whole(false) | Piece::Part) {
            if to.len() > start {
                to.push(' ');
            }
            to.push_str(word);
        }
    });
}

pub(crate) static W6: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
fn mix(a: &Vector, b: &Vector, share: f32) -> Vector {
    let n = |v: &Vector| v.components().iter().map(|c| f32::from(*c) * f32::from(*c)).sum::<f32>().sqrt().max(1.0);
    let (na, nb) = (n(a), n(b));
    let s: Vec<f32> = a.components().iter().zip(b.components()).map(|(a, b)| (1.0 - share) * f32::from(*a) / na + share * f32::from(*b) / nb).collect();
    let top = s.iter().fold(f32::MIN_POSITIVE, |a, b| a.max(b.abs()));
    let mut c = [0i8; 256];
    for (c, s) in c.iter_mut().zip(&s) { *c = (s / top * 127.0).round() as i8; }
    Vector::from_components(c)
}
