//! Which file has something: files ranked by their names and by what is in them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::answer::{cited, shown};
use super::notes::{Notes, Place};
use super::plan::Look;
use super::question::Question;
use super::rank::{self, Candidate, share, stems};
use super::words::prefix;

/// Files named.
const TOP: usize = 3;
/// Symbols named of one file.
const EACH: usize = 3;

/// Listings of the files that are called as the question's words are.
pub(super) fn looks(question: &Question) -> Vec<Look> {
    let terms = question.terms.iter().filter(|term| term.weight >= 1.0);
    terms
        .take(4)
        .map(|term| Look {
            tool: "list_files",
            arguments: json!({ "glob": format!("*{}*", prefix(&term.stem)) }),
        })
        .collect()
}

struct Ranked<'c, 'n> {
    path: String,
    score: f64,
    best: Vec<&'c Candidate<'n>>,
}

fn ranked<'c, 'n>(
    question: &Question,
    notes: &'n Notes,
    found: &'c [Candidate<'n>],
) -> Vec<Ranked<'c, 'n>> {
    let terms = rank::weigh(question, notes);
    let mut within: BTreeMap<&str, Vec<&Candidate<'n>>> = BTreeMap::new();
    for path in &notes.files {
        within.entry(path).or_default();
    }
    for candidate in found {
        if let Some(place) = &candidate.symbol.place {
            within.entry(&place.path).or_default().push(candidate);
        }
    }
    let top = found.first().map_or(1.0, |c| c.score);
    let mut files: Vec<Ranked<'c, 'n>> = within
        .into_iter()
        .map(|(path, best)| {
            let file = path.rsplit('/').next().unwrap_or(path);
            let named = stems(file.split('.').next().unwrap_or(file));
            let has = share(&terms, &named).max(0.7 * share(&terms, &stems(path)));
            // Three good places in a file say more than one.
            let inside: f64 = best
                .iter()
                .zip([1.0, 0.3, 0.2])
                .map(|(c, part)| part * c.score / top)
                .sum();
            Ranked {
                path: path.to_owned(),
                score: (1.5 * has + inside) * rank::path_prior(question, path, ""),
                best: best.into_iter().take(EACH).collect(),
            }
        })
        .collect();
    files.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.path.cmp(&b.path))
    });
    files
}

/// Whether a listed file is called as the question's words are.
pub(super) fn is_named(question: &Question, notes: &Notes) -> bool {
    const MOST: f64 = 0.6;
    let terms = rank::weigh(question, notes);
    let named = |path: &String| share(&terms, &stems(path)) >= MOST;
    notes.files.iter().any(named)
}

/// The best files and what in them says so; `None` when there is none.
pub(super) fn write(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> Option<String> {
    let files = ranked(question, notes, found);
    let least = files.first().filter(|best| best.score > 0.3)?.score * 0.4;
    let best: Vec<_> = files
        .iter()
        .take_while(|file| file.score >= least)
        .take(TOP)
        .collect();
    let mut text = String::from(if best.len() == 1 {
        "Best match:\n"
    } else {
        "Best matches:\n"
    });
    for (i, file) in best.iter().enumerate() {
        let head = Place {
            path: file.path.clone(),
            start: 1,
            end: 1,
        };
        let _ = writeln!(text, "{}. {}", i + 1, head.cite());
    }
    for file in best {
        let names: Vec<String> = file
            .best
            .iter()
            .filter_map(|c| cited(notes, c.name))
            .collect();
        if let Some(first) = file.best.first() {
            let _ = write!(text, "\nIn it: {}.", names.join(", "));
            if !first.symbol.doc.is_empty() {
                let doc = first.symbol.doc.replace('`', "");
                let _ = write!(text, "\n`{}`:\n> {doc}", shown(first.name));
            }
            text.push('\n');
        }
    }
    Some(text)
}
