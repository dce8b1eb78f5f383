//! Reports for people and for programs.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Report;

fn micros(time: Duration) -> f64 {
    (time.as_nanos() as f64 / 100.0).round() / 10.0
}

fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// One JSON object a ranker and line; shares rounded to 4 decimals.
pub fn render_json(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        let scores = &report.scores;
        let value: Value = json!({
            "ranker": report.ranker,
            "queries": report.queries,
            "recall@1": rounded(scores.recall[0]),
            "recall@3": rounded(scores.recall[1]),
            "recall@5": rounded(scores.recall[2]),
            "recall@10": rounded(scores.recall[3]),
            "hit@1": rounded(scores.hit[0]),
            "hit@5": rounded(scores.hit[1]),
            "mrr@10": rounded(scores.mrr),
            "ndcg@5": rounded(scores.ndcg),
            "refused": report.refused.map(rounded),
            "false_refused": rounded(report.false_refused),
            "p50_us": micros(report.p50),
            "p99_us": micros(report.p99),
            "index_bytes": report.index_bytes,
        });
        let _ = writeln!(out, "{value}");
    }
    out
}

/// A table, one row a ranker.
pub fn render_text(reports: &[Report]) -> String {
    let mut out = format!(
        "{:<10} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8}\n",
        "ranker",
        "queries",
        "R@1",
        "R@3",
        "R@5",
        "R@10",
        "Hit@1",
        "Hit@5",
        "MRR@10",
        "nDCG@5",
        "refused",
        "false",
        "p50 us",
        "p99 us",
        "index",
        "build ms",
    );
    for report in reports {
        let s = &report.scores;
        let _ = write!(out, "{:<10} {:>7}", report.ranker, report.queries);
        for share in s.recall.iter().chain(&s.hit).chain([&s.mrr, &s.ndcg]) {
            let _ = write!(out, " {share:>6.4}");
        }
        let refused = report
            .refused
            .map_or_else(|| "-".to_owned(), |share| format!("{share:.3}"));
        let _ = writeln!(
            out,
            " {refused:>7} {:>7.3} {:>8.1} {:>8.1} {:>8} {:>8.1}",
            report.false_refused,
            micros(report.p50),
            micros(report.p99),
            size(report.index_bytes),
            report.build.as_secs_f64() * 1e3,
        );
    }
    out
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
