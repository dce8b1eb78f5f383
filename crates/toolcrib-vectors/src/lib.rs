//! Meaning without a model: a table of word pieces distilled from a sentence encoder, a text's vector as the weighted
//! sum of its rows, and cosine similarity in integers.
//!
//! Why a table: a lexical ranking cannot see that "close the stale PR" asks for `update_pull_request`, and an encoder
//! costs a download and milliseconds. A table costs a few megabytes in the binary and microseconds a text.
//!
//! Every figure is the same on every machine: rows are summed, scaled and multiplied as integers, and the few floating
//! point steps (square root, division, two products) are single IEEE operations in a fixed order. The run-time choice of
//! instruction set changes the time a scan takes, never its result.
//!
//! Not for: knowing what a tool or a query is, caching, or ranking. Callers decide which texts to embed and how to blend.
//!
//! ```
//! use toolcrib_vectors::VectorSet;
//! # use toolcrib_vectors::Vector;
//! # fn embed(_: &str) -> Vector { Vector::ZERO }
//! let mut set = VectorSet::new();
//! set.push(&embed("update pull request"));
//! let mut scores = Vec::new();
//! set.scores(&embed("close the stale PR"), &mut scores);
//! assert_eq!(scores.len(), 1);
//! ```

mod dot;
mod set;
mod table;
mod tokenize;
mod vector;
mod vocabulary;

pub use set::VectorSet;
pub use table::{MAX_TOKENS, Table, TableError};
pub use vector::{DIMS, Vector};
