//! One evaluation: rankers, queries, and what came out.

use std::time::{Duration, Instant};

use serde::Serialize;
use toolcrib_surface::SharedEncoder;

use crate::metrics::{Scores, score};
use crate::{Query, RankerKind, ToolEntry};

/// Answers are ranked this deep.
const DEPTH: usize = 10;

/// What to evaluate.
#[derive(Clone, Debug)]
pub struct SearchEval<'a> {
    /// The tools to search.
    pub tools: &'a [ToolEntry],
    /// Queries with known answers.
    pub queries: &'a [Query],
    /// Requests that nothing serves, if any.
    pub negatives: Option<&'a [Query]>,
    /// Only the queries and negatives of this half, 0 or 1.
    pub half: Option<u8>,
    /// Who answers.
    pub rankers: Vec<RankerKind>,
    /// A sentence encoder for the product's own ranking.
    pub encoder: Option<SharedEncoder>,
}

/// What one ranker achieved.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Which one.
    pub ranker: &'static str,
    /// How many queries it answered.
    pub queries: usize,
    /// How well. A refusal does not empty the ranking scored here.
    pub scores: Scores,
    /// Share of negatives refused; `None` without negatives.
    pub refused: Option<f64>,
    /// Share of queries refused though a tool serves them.
    pub false_refused: f64,
    /// Median time of a query.
    pub p50: Duration,
    /// Time that 99 of 100 queries keep.
    pub p99: Duration,
    /// Heap bytes of the index, roughly.
    pub index_bytes: usize,
    /// Time to build the index.
    pub build: Duration,
    /// The answers, in query order.
    pub run: Vec<RunLine>,
}

/// One answer, as an outside scorer reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunLine {
    /// The query's id.
    pub id: String,
    /// Names of tools, best first.
    pub ranked: Vec<String>,
    /// Whether the ranker said that nothing fits.
    pub refused: bool,
}

/// Runs every ranker over the queries; reports are in the rankers' order. A half
/// without queries scores 0.
pub fn evaluate(eval: &SearchEval<'_>) -> Vec<Report> {
    let chosen = |query: &&Query| eval.half.is_none_or(|half| query.half == half);
    let queries: Vec<&Query> = eval.queries.iter().filter(chosen).collect();
    let negatives: Option<Vec<&Query>> = eval
        .negatives
        .map(|all| all.iter().filter(chosen).collect());
    eval.rankers
        .iter()
        .map(|&kind| one(kind, eval, &queries, negatives.as_deref()))
        .collect()
}

fn one(
    kind: RankerKind,
    eval: &SearchEval<'_>,
    queries: &[&Query],
    negatives: Option<&[&Query]>,
) -> Report {
    let start = Instant::now();
    let ranker = kind.build(eval.tools, eval.encoder.as_ref());
    let build = start.elapsed();
    let mut times = Vec::with_capacity(queries.len());
    let mut places = Vec::with_capacity(queries.len());
    let mut run = Vec::with_capacity(queries.len());
    for query in queries {
        let start = Instant::now();
        let answer = ranker.rank(&query.query, DEPTH);
        times.push(start.elapsed());
        run.push(RunLine {
            id: query.id.clone(),
            ranked: answer
                .ranked
                .iter()
                .map(|&at| eval.tools[at].name.clone())
                .collect(),
            refused: answer.refused,
        });
        places.push(answer.ranked);
    }
    times.sort_unstable();
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let refused = negatives.map(|all| {
        let refused = all
            .iter()
            .filter(|query| ranker.rank(&query.query, DEPTH).refused);
        share(refused.count(), all.len())
    });
    Report {
        ranker: kind.name(),
        queries: queries.len(),
        scores: score(queries, &places),
        refused,
        false_refused: share(run.iter().filter(|line| line.refused).count(), run.len()),
        p50: percentile(&times, 0.50),
        p99: percentile(&times, 0.99),
        index_bytes: ranker.index_bytes(),
        build,
        run,
    }
}

/// Nearest-rank percentile of sorted times.
fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<_> = (1..=200).map(Duration::from_micros).collect();
        assert_eq!(percentile(&times, 0.50), Duration::from_micros(100));
        assert_eq!(percentile(&times, 0.99), Duration::from_micros(198));
        assert_eq!(percentile(&times[..1], 0.99), Duration::from_micros(1));
        assert_eq!(percentile(&[], 0.5), Duration::ZERO);
    }
}
