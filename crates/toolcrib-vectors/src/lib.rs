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
//! use toolcrib_vectors::{Table, VectorSet};
//!
//! let table = Table::builtin();
//! let mut set = VectorSet::new();
//! for tool in ["update_pull_request", "get_weather_forecast", "send_email"] {
//!     set.push(&table.embed(tool));
//! }
//! let mut scores = Vec::new();
//! set.scores(&table.embed("close the stale PR"), &mut scores);
//! assert!(scores[0] > scores[1] && scores[0] > scores[2]);
//! ```

mod dot;
mod set;
mod table;
mod tokenize;
mod uncased;
mod vector;
mod vocabulary;

pub use set::VectorSet;
pub use table::{MAX_TOKENS, Reader, Table, TableError};
pub use uncased::{MAX_WORD_CHARS, Uncased, uncased};
pub use vector::{DIMS, Vector};
