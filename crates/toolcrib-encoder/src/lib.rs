//! Meaning by a model: a BERT-class sentence encoder such as all-MiniLM-L6-v2, run on the processor, its weights read
//! from a directory that the caller names. Nothing is ever downloaded.
//!
//! Why a forward pass of its own and no inference library: six layers of one architecture need four kernels, a library
//! for all architectures multiplies the build's time and the binary's size, and none of them promises what the ranking
//! needs: the same vector for a text whatever else is encoded beside it, on any number of threads.
//!
//! Texts of a batch lie behind one another without padding. Every row of every product is summed in the order of its
//! components, so neither the batch nor the thread can be seen in a result. Processors with fused multiply-add (all
//! since about 2013) give the same bits; others differ in the last ones.
//!
//! Not for: knowing what a tool or a query is, or ranking. Callers decide which texts to encode and how to blend.

mod cache;
mod config;
mod error;
mod gemm;
mod kernels;
mod layer;
mod model;
mod vocabulary;
mod weights;
mod wordpiece;

pub use cache::VectorCache;
pub use error::EncoderError;
pub use model::{Encoder, MAX_TOKENS};
pub use wordpiece::Wordpiece;
