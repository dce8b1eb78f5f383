//! What a surface costs, for people who wonder where their tokens go.

use serde::Serialize;
use toolcrib_core::LoadRoute;

use crate::catalogue::CatalogueStep;

/// What a model is shown, in numbers. Tokens are as whoever made the report counts
/// them; by default estimates, four bytes to a token.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SurfaceReport {
    /// How many tools may be seen.
    pub tools: usize,
    /// What all their definitions take.
    pub eager_tokens: usize,
    /// What the definitions take that are sent.
    pub first_turn_tokens: usize,
    /// The loader's part of it, catalogue included.
    pub loader_tokens: usize,
    /// How far the catalogue had to be shortened.
    pub catalogue: CatalogueStep,
    /// Whether anything is deferred.
    pub active: bool,
    /// Why nothing is.
    pub reason: Option<String>,
    /// How loaded tools reach the model.
    pub route: LoadRoute,
    /// By source, in name order.
    pub sources: Vec<SourceReport>,
}

/// The part of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SourceReport {
    /// Its name.
    pub source: String,
    /// How many of its tools may be seen.
    pub tools: usize,
    /// How many of them may be deferred.
    pub eligible: usize,
    /// How many are withheld.
    pub deferred: usize,
    /// How many are sent.
    pub sent: usize,
    /// What all its definitions take.
    pub eager_tokens: usize,
    /// What the definitions take that are sent.
    pub sent_tokens: usize,
}
