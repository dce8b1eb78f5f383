//! Tokens and money, as providers report them. Absent stays absent: an unknown
//! number is `None`, never 0.

use serde::{Deserialize, Serialize};

use crate::RawJson;

/// Token counts of one reply, or the sum of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All prompt tokens, cached ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Prompt tokens read from the provider's cache, a part of `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Prompt tokens written to the provider's cache, a part of `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// All generated tokens, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Generated tokens spent on reasoning, a part of `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The provider's own record of one reply; dropped from sums.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawJson>,
}

impl Usage {
    /// Adds another reply's counts; a count known to neither stays unknown.
    pub fn add(&mut self, other: &Usage) {
        fn sum(a: &mut Option<u64>, b: Option<u64>) {
            if let Some(b) = b {
                *a = Some(a.unwrap_or(0).saturating_add(b));
            }
        }
        sum(&mut self.input, other.input);
        sum(&mut self.cached, other.cached);
        sum(&mut self.cache_write, other.cache_write);
        sum(&mut self.output, other.output);
        sum(&mut self.reasoning, other.reasoning);
        self.raw = None;
    }
}

/// An amount in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// Some replies of the sum did not report theirs.
    pub partial: bool,
    /// Computed from a price table, not reported by the provider.
    pub estimated: bool,
}

impl Cost {
    /// The sum with another amount: partial or estimated where either is.
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            usd: self.usd + other.usd,
            partial: self.partial || other.partial,
            estimated: self.estimated || other.estimated,
        }
    }

    /// What a provider reported for one reply.
    pub fn reported(usd: f64) -> Cost {
        Cost {
            usd,
            partial: false,
            estimated: false,
        }
    }
}
