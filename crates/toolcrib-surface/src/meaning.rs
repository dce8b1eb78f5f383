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
}

impl Meaning {
    pub(crate) fn build(docs: &[ToolDoc], table: Arc<Table>) -> Meaning {
        let mut short = VectorSet::with_capacity(docs.len());
        let mut long = VectorSet::with_capacity(docs.len());
        let mut text = String::new();
        for doc in docs {
            text.clear();
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
            for argument in doc.argument_names().take(ARGUMENTS) {
                spaced(argument, &mut text);
                text.push(' ');
            }
            long.push(&table.embed(&text));
        }
        Meaning { table, short, long }
    }

    pub(crate) fn embed(&self, text: &str) -> Vector {
        self.table.embed(text)
    }

    /// Replaces `scores` by each tool's similarity to `query`, `share` of it by the
    /// longer text.
    pub(crate) fn scores(&self, query: &Vector, share: f32, scores: &mut Vec<f32>) {
        self.short.scores(query, scores);
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
