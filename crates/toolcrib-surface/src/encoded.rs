//! Meaning by a sentence encoder, where the caller has one.
//!
//! This crate knows the encoder by a trait alone: what it weighs, where its weights lie and where vectors are kept is
//! the caller's.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::texts;
use crate::{ToolDoc, Weights};

/// A model that turns a text into a vector of length 1, similar texts into similar ones. The same text gives the same
/// vector, whatever else is encoded beside it.
pub trait SentenceEncoder: fmt::Debug + Send + Sync {
    /// The vectors of texts about tools, in order. They will be asked for again, by later runs too.
    fn encode_tools(&self, texts: &[&str]) -> Vec<Vec<f32>>;

    /// The vectors of a query and its clauses, in order, which need not be kept.
    fn encode_query(&self, texts: &[&str]) -> Vec<Vec<f32>>;
}

/// An encoder that indexes share. Two are equal where they are one.
#[derive(Clone, Debug)]
pub struct SharedEncoder(Arc<dyn SentenceEncoder>);

impl SharedEncoder {
    /// Shares this encoder.
    pub fn new(encoder: impl SentenceEncoder + 'static) -> SharedEncoder {
        SharedEncoder(Arc::new(encoder))
    }
}

#[cfg(feature = "encoder")]
impl SentenceEncoder for toolcrib_encoder::VectorCache {
    fn encode_tools(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.encode(texts)
    }

    fn encode_query(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.encoder().encode(texts)
    }
}

impl PartialEq for SharedEncoder {
    fn eq(&self, other: &SharedEncoder) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The tools' vectors, each a mixture as the table's are.
pub(crate) struct Encoded {
    encoder: SharedEncoder,
    dims: usize,
    tools: Vec<f32>,
}

impl Encoded {
    /// `of` numbers each document's source. `None` where there is nothing to encode, or the encoder answers not.
    pub(crate) fn build(
        docs: &[ToolDoc],
        of: &[u32],
        weights: &Weights,
        encoder: &SharedEncoder,
    ) -> Option<Encoded> {
        let mut sources: HashMap<u32, usize> = HashMap::new();
        let mut all: Vec<String> = Vec::with_capacity(2 * docs.len());
        for doc in docs {
            let mut text = String::new();
            texts::short_of_source(doc, &mut text);
            all.push(text.clone());
            texts::long(doc, &mut text);
            all.push(text);
        }
        // A source's name is in the short text; only a description says more.
        let described = docs
            .iter()
            .zip(of)
            .filter(|(doc, _)| !doc.source_description.is_empty());
        for (doc, &source) in described {
            sources.entry(source).or_insert_with(|| {
                all.push(texts::of_source(doc));
                all.len() - 1
            });
        }
        let refs: Vec<&str> = all.iter().map(String::as_str).collect();
        let vectors = encoder.0.encode_tools(&refs);
        let dims = vectors.first().map_or(0, Vec::len);
        if dims == 0 || vectors.len() != all.len() {
            return None;
        }
        let mut tools = Vec::with_capacity(docs.len() * dims);
        let weights = &weights.encoded;
        for (at, source) in of.iter().enumerate() {
            let tool = mix(&vectors[2 * at], &vectors[2 * at + 1], weights.long_text);
            let source = sources.get(source).map_or(&tool, |at| &vectors[*at]);
            tools.extend(mix(&tool, source, weights.source_text));
        }
        Some(Encoded {
            encoder: encoder.clone(),
            dims,
            tools,
        })
    }

    pub(crate) fn encode(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        self.encoder.0.encode_query(texts)
    }

    /// Each tool's similarity to `query`.
    pub(crate) fn scores(&self, query: &[f32]) -> Vec<f32> {
        let tools = self.tools.chunks_exact(self.dims);
        tools.map(|tool| dot(tool, query)).collect()
    }

    /// The similarity of one tool to `query`.
    pub(crate) fn similarity(&self, doc: usize, query: &[f32]) -> f32 {
        let tool = self.tools.get(doc * self.dims..(doc + 1) * self.dims);
        tool.map_or(0.0, |tool| dot(tool, query))
    }

    /// Heap bytes of the tools' vectors.
    pub(crate) fn bytes(&self) -> usize {
        self.tools.len() * size_of::<f32>()
    }
}

impl fmt::Debug for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoded")
            .field("dims", &self.dims)
            .finish_non_exhaustive()
    }
}

/// The direction `share` of the way from the first to the second, of length 1.
fn mix(a: &[f32], b: &[f32], share: f32) -> Vec<f32> {
    let mut sum: Vec<f32> = a
        .iter()
        .zip(b)
        .map(|(a, b)| (1.0 - share) * a + share * b)
        .collect();
    let length = dot(&sum, &sum).sqrt().max(f32::MIN_POSITIVE);
    for value in &mut sum {
        *value /= length;
    }
    sum
}

/// In eight lanes added in a fixed order, so that the sum is quick and the same everywhere.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 8];
    let (a, rest_a) = a.as_chunks::<8>();
    let (b, rest_b) = b.as_chunks::<8>();
    for (a, b) in a.iter().zip(b) {
        for at in 0..8 {
            lanes[at] += a[at] * b[at];
        }
    }
    let rest = rest_a.iter().zip(rest_b).map(|(a, b)| a * b);
    rest.fold(lanes.iter().sum(), |sum: f32, product| sum + product)
}
