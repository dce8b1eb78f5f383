//! What is written when nothing that was found is an answer.
//!
//! It begins with the same words whatever is missing, so that a program can tell it
//! from an answer; names and places that follow are near, and said to be no more.

use std::fmt::Write as _;

use super::answer::{TOP, cited};
use super::notes::Notes;
use super::question::{Intent, Question};
use super::rank::{self, Candidate};
use super::{evidence, files, ways};

/// Searches named when nothing was found.
const SEARCHES: usize = 12;
/// Names this much alike may be one misspelt, 1 for the same.
const ALIKE: f64 = 0.75;
/// A best candidate with less of a question about callers than this is not the one
/// that is meant.
const LEAST_COVERAGE: f64 = 0.3;

/// That nothing was found, and why; `None` when there is an answer.
pub(super) fn write(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> Option<String> {
    let unknown = unknown_names(question, notes, found);
    let near = |text: &str| Some(format!("Nothing found. {text}"));
    if !answers(question, notes, found) {
        let ends = ways::unheard(question, notes, found);
        return match (unknown.is_empty(), ends.is_empty()) {
            (false, _) => near(&unknown),
            (true, false) => Some(no_way(&ends)),
            (true, true) => Some(nothing_found(question, notes, found)),
        };
    }
    // Whose callers they are must be beyond doubt: those of a name that is only
    // alike would be taken for the ones asked for.
    let calls = matches!(question.intent, Intent::Callers | Intent::Callees);
    match calls && is_unheard_of(question, found) {
        true if unknown.is_empty() => Some(unheard_of(question)),
        true => near(&unknown),
        false => None,
    }
}

fn no_way(ends: &[&str]) -> String {
    format!(
        "Nothing found: no symbol is named {}, and none has a name like it, so no way from one to \
         the other can be told.\n",
        ends.join(" or ")
    )
}

/// Whether what was found is worth naming as the answer.
fn answers(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> bool {
    let Some(best) = found.first() else {
        return false;
    };
    if question.intent == Intent::Way {
        return ways::unheard(question, notes, found).is_empty()
            && (best.coverage >= LEAST_COVERAGE || rank::named(question, best.name) > 0.0);
    }
    if rank::named(question, best.name) > 0.0 || is_misspelt(question, best) {
        return true;
    }
    if is_about_absent(question, notes, found) {
        return false;
    }
    match question.intent {
        Intent::Where | Intent::What | Intent::How => evidence::is_enough(question, notes, found),
        Intent::File => {
            files::is_named(question, notes) || evidence::is_enough(question, notes, found)
        }
        Intent::Callers | Intent::Callees | Intent::Way => best.coverage >= LEAST_COVERAGE,
    }
}

/// The names with humps that prose may write too, as it does `MongoDB`, each with
/// the one word that they are searched as.
pub(super) fn whole_names(question: &Question) -> impl Iterator<Item = (&str, String)> {
    let names = question.names.iter().map(String::as_str);
    let plain = names.filter(|name| name.chars().all(char::is_alphanumeric));
    plain.map(|name| (name, name.to_lowercase()))
}

/// Whether all names that a question writes are of things that are not here:
/// no text has one whole, and no symbol's name, path or words are made of it.
fn is_about_absent(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> bool {
    let has = |word: &str| {
        let squashed = |text: &str| {
            let letters = text.chars().filter(|c| c.is_alphanumeric());
            let lower: String = letters.flat_map(char::to_lowercase).collect();
            lower.contains(word)
        };
        found.iter().any(|c| {
            let path = c.symbol.place.as_ref().map_or("", |place| &place.path);
            let said = [c.name, path, &c.symbol.doc, &c.symbol.signature];
            said.into_iter().any(squashed) || c.symbol.texts.values().any(|text| squashed(text))
        })
    };
    let count = whole_names(question).count();
    count > 0
        && count == question.names.len()
        && whole_names(question).all(|(_, word)| notes.totals.get(&word) == Some(&0) && !has(&word))
}

/// Whether a symbol's name is one of the question's but for a few letters.
fn is_misspelt(question: &Question, candidate: &Candidate<'_>) -> bool {
    let name = rank::bare(candidate.name);
    let mut names = question.names.iter().map(|asked| rank::bare(asked));
    names.any(|asked| strsim::normalized_damerau_levenshtein(name, asked) >= ALIKE)
}

/// Whether the question names symbols, and nothing that was found is one of them,
/// however it is written.
fn is_unheard_of(question: &Question, found: &[Candidate<'_>]) -> bool {
    let squashed = |name: &str| -> String {
        let letters = rank::bare(name).chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let asked: Vec<String> = question.names.iter().map(|name| squashed(name)).collect();
    let is_asked = |c: &Candidate<'_>| asked.contains(&squashed(rank::plain(c.name)));
    !asked.is_empty() && !found.iter().any(is_asked)
}

fn unheard_of(question: &Question) -> String {
    format!(
        "Nothing found: no symbol is named {}, and none has a name like it, so nothing can be said of its calls. \
         It may belong to a library, which the code graph does not read.\n",
        question.names.join(" or ")
    )
}

/// The names of the question that no symbol has, each with the nearest ones.
pub(super) fn unknown_names(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> String {
    let mut text = String::new();
    for name in &question.names {
        let asked = rank::bare(name);
        let is_asked = |c: &Candidate<'_>| rank::bare(c.name).eq_ignore_ascii_case(asked);
        if found.iter().any(is_asked) || !notes.totals.contains_key(name) {
            continue;
        }
        let alike = |c: &&Candidate<'_>| {
            strsim::normalized_damerau_levenshtein(rank::bare(c.name), asked) >= ALIKE
        };
        let near: Vec<&str> = match notes.near.get(name) {
            Some(near) => near.iter().map(String::as_str).collect(),
            None => found.iter().filter(alike).map(|c| c.name).collect(),
        };
        let near: Vec<String> = near
            .iter()
            .take(TOP)
            .filter_map(|near| cited(notes, near))
            .collect();
        if near.is_empty() {
            continue;
        }
        let _ = write!(
            text,
            "No symbol is named {name}. The nearest names: {}.\n\n",
            near.join(", ")
        );
    }
    text
}

fn nothing_found(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> String {
    let terms: Vec<String> = question
        .terms
        .iter()
        .map(|term| format!("\"{}\"", term.word))
        .collect();
    let mut text = format!(
        "Nothing found: nothing in the repository's symbols, comments and strings is worth citing for {}.",
        if terms.is_empty() {
            "this question".to_owned()
        } else {
            terms.join(", ")
        }
    );
    let unheard: Vec<String> = evidence::unheard(question, notes)
        .into_iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    if !unheard.is_empty() && unheard.len() < terms.len() {
        let _ = write!(text, " Nothing at all has {}.", unheard.join(" or "));
    }
    text.push_str(" Other words for the same thing may find it.\n");
    let near: Vec<String> = found
        .iter()
        .take(TOP)
        .filter_map(|c| cited(notes, c.name))
        .collect();
    if !near.is_empty() {
        let _ = writeln!(
            text,
            "\nNearest by single words, no answer: {}.",
            near.join(", ")
        );
    }
    let queries: Vec<&str> = notes.totals.keys().map(String::as_str).collect();
    if !queries.is_empty() {
        let _ = writeln!(
            text,
            "\nSearched, with what each found: {}.",
            notes
                .totals
                .iter()
                .take(SEARCHES)
                .map(|(query, total)| format!("{query} ({total})"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        if queries.len() > SEARCHES {
            let _ = writeln!(text, "And {} more.", queries.len() - SEARCHES);
        }
    }
    text
}
