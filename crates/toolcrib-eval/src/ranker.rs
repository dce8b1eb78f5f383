//! The rankers that can be compared.

use toolcrib_surface::{SharedEncoder, ToolDoc, ToolIndex};

use crate::baseline::{Bm25, Substring};
use crate::{EvalError, ToolEntry};

/// What a ranker says to one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Places of tools, best first.
    pub ranked: Vec<usize>,
    /// Whether it says that nothing fits.
    pub refused: bool,
}

/// Something that orders tools by a query.
pub trait Ranker {
    /// The best `limit` tools for `query`.
    fn rank(&self, query: &str, limit: usize) -> Answer;
    /// Heap bytes of its index, roughly.
    fn index_bytes(&self) -> usize;
}

/// A ranker by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankerKind {
    /// The product's own ranking.
    Toolcrib,
    /// How many of the query's words occur in a tool's text as substrings.
    Substring,
    /// BM25 over lower-case words of name and description.
    Bm25,
    /// The same with stemming, stop words and argument texts.
    Bm25Stem,
}

impl RankerKind {
    /// All of them, the product's own first.
    pub const ALL: [RankerKind; 4] = [
        RankerKind::Toolcrib,
        RankerKind::Substring,
        RankerKind::Bm25,
        RankerKind::Bm25Stem,
    ];

    /// Reads a name; `all` stands for every ranker.
    ///
    /// # Errors
    /// [`EvalError::UnknownRanker`] lists the names.
    pub fn parse(name: &str) -> Result<Vec<RankerKind>, EvalError> {
        if name == "all" {
            return Ok(Self::ALL.to_vec());
        }
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .map(|kind| vec![kind])
            .ok_or_else(|| EvalError::UnknownRanker(name.to_owned()))
    }

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        match self {
            RankerKind::Toolcrib => "toolcrib",
            RankerKind::Substring => "substring",
            RankerKind::Bm25 => "bm25",
            RankerKind::Bm25Stem => "bm25-stem",
        }
    }

    /// Builds it over `tools`. An encoder is the product's own ranking's.
    pub fn build(self, tools: &[ToolEntry], encoder: Option<&SharedEncoder>) -> Box<dyn Ranker> {
        match self {
            RankerKind::Toolcrib => {
                let docs: Vec<ToolDoc> = tools.iter().map(ToolEntry::doc).collect();
                Box::new(ToolIndex::build_encoded(&docs, encoder))
            }
            RankerKind::Substring => Box::new(Substring::build(tools)),
            RankerKind::Bm25 => Box::new(Bm25::build(tools, false)),
            RankerKind::Bm25Stem => Box::new(Bm25::build(tools, true)),
        }
    }
}

impl Ranker for ToolIndex {
    fn rank(&self, query: &str, limit: usize) -> Answer {
        let ranking = ToolIndex::rank(self, query, limit);
        Answer {
            ranked: ranking.hits.iter().map(|hit| hit.doc).collect(),
            refused: ranking.nothing_fits,
        }
    }

    fn index_bytes(&self) -> usize {
        self.bytes()
    }
}
