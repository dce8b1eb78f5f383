//! What to do next: look further, or answer.
//!
//! A question takes two or more rounds of lookups: searches for every term and
//! their combinations at once; then the best places are read and their callers
//! asked for; once more if reading changed which places are best.

use serde_json::{Value, json};

use super::answer;
use super::notes::Notes;
use super::question::{Intent, Question};
use super::rank::{self, Candidate};
use super::words::{alike, prefix};
use super::{files, nothing, places, routes, ways};

/// One lookup to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// What a reply does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Look(Vec<Look>),
    Answer(String),
}

/// Batches of lookups for one question.
const MAX_ROUNDS: usize = 4;
/// The same when only further pages of a list of callers are asked for.
const MAX_PAGES: usize = 9;
/// Searches in one batch.
const MAX_SEARCHES: usize = 25;
/// Places read in one batch.
const READS: usize = 10;
/// Longest piece of source read at once, in lines.
const READ_LINES: u32 = 120;

/// Decides the next reply.
///
/// Lookups that `offered` does not know are not made.
pub(super) fn next(
    question: &Question,
    notes: &Notes,
    may_call: bool,
    offered: impl Fn(&str) -> bool,
) -> Step {
    let is_empty = question.terms.is_empty() && question.names.is_empty();
    if is_empty && question.subject.is_none() && question.place.is_none() {
        return Step::Answer(answer::no_terms());
    }
    if may_call && notes.rounds < MAX_PAGES {
        let place = places::looks(question, notes);
        let wanted = if let Some(looks) = place {
            looks
        } else if notes.rounds < MAX_ROUNDS {
            wanted(question, notes)
        } else {
            pages(question, notes)
        };
        let fresh: Vec<Look> = wanted
            .into_iter()
            .filter(|look| {
                offered(look.tool)
                    && !notes
                        .made
                        .contains(&(look.tool.to_owned(), look.arguments.to_string()))
            })
            .collect();
        if !fresh.is_empty() {
            return Step::Look(fresh);
        }
    }
    if notes.rounds == 0 {
        // Nothing was looked up, so nothing can be said: not even that there is nothing.
        return Step::Answer(String::new());
    }
    Step::Answer(answer::write(question, notes))
}

fn wanted(question: &Question, notes: &Notes) -> Vec<Look> {
    // The first round may have gone to a place that turned out to be prose.
    if notes.rounds == 0 || notes.totals.is_empty() {
        let mut looks = match question.intent {
            Intent::Way => ways::looks(question, notes, &[]),
            Intent::File => files::looks(question),
            _ => Vec::new(),
        };
        looks.extend(routes::looks(question, notes));
        looks.extend(searches(question));
        return looks;
    }
    let looks = routes::looks(question, notes);
    if !looks.is_empty() {
        return looks;
    }
    let found = rank::candidates(question, notes);
    if found.is_empty() {
        return if notes.rounds == 1 {
            wider_searches(question)
        } else {
            Vec::new()
        };
    }
    match question.intent {
        Intent::Callers | Intent::Callees => {
            let subjects = answer::subjects(question, &found);
            let mut looks: Vec<Look> = answer::definitions(question, &subjects)
                .into_iter()
                .take(answer::SUBJECTS)
                .map(|(name, _)| neighbors(question, name))
                .collect();
            looks.extend(found.iter().take(1).filter_map(read));
            looks.extend(pages(question, notes));
            looks
        }
        Intent::Way => {
            let looks = ways::looks(question, notes, &found);
            if !looks.is_empty() {
                return looks;
            }
            best_places(question, notes, &found)
        }
        _ => best_places(question, notes, &found),
    }
}

/// Reads the best places, asks for what is around them, and searches beside them.
fn best_places(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> Vec<Look> {
    let near = rank::least(question, found);
    let best = || found.iter().take_while(|c| c.score >= near);
    let mut looks: Vec<Look> = best().take(READS).filter_map(read).collect();
    looks.extend(best().take(READS).map(|c| neighbors(question, c.name)));
    if notes.rounds == 1 {
        looks.extend(scoped(question, found));
    }
    looks.dedup();
    looks
}

/// What the lists of callers left out.
fn pages(question: &Question, notes: &Notes) -> Vec<Look> {
    if !matches!(question.intent, Intent::Callers | Intent::Callees) {
        return Vec::new();
    }
    let found = rank::candidates(question, notes);
    let subjects = answer::definitions(question, &answer::subjects(question, &found));
    subjects
        .into_iter()
        .take(answer::SUBJECTS)
        .filter_map(|(name, _)| {
            let arguments = notes.neighborhoods.get(name)?.next.clone()?;
            Some(Look {
                tool: "symbol_neighbors",
                arguments,
            })
        })
        .collect()
}

/// The terms again within the files of the best candidates: a listing of the
/// whole repository may have left out what stands beside them.
fn scoped(question: &Question, found: &[Candidate<'_>]) -> Vec<Look> {
    let mut words: Vec<&str> = Vec::new();
    for at in 0..3 {
        for term in &question.terms {
            let word = match at {
                0 => Some(prefix(&term.stem)),
                at => alike(&term.stem).nth(at - 1),
            };
            words.extend(word.filter(|word| !words.contains(word)));
        }
    }
    words.truncate(8);
    let mut paths: Vec<&str> = Vec::new();
    for candidate in found {
        let symbol = candidate.symbol;
        let path = symbol.place.as_ref().map_or(&symbol.text_path, |p| &p.path);
        if paths.len() < 3 && !paths.contains(&path.as_str()) {
            paths.push(path);
        }
    }
    let mut looks = Vec::new();
    for path in paths {
        for word in &words {
            looks.push(Look {
                tool: "search_symbols",
                arguments: json!({ "query": word, "path": path, "limit": 12 }),
            });
        }
    }
    looks
}

fn search(query: String, limit: u32) -> Look {
    Look {
        tool: "search_symbols",
        arguments: json!({ "query": query, "limit": limit }),
    }
}

/// Each name, all terms together, pairs, single terms, and words used for them.
fn searches(question: &Question) -> Vec<Look> {
    let mut looks: Vec<Look> = question
        .names
        .iter()
        .chain(&question.subject)
        .map(|name| search(name.clone(), 20))
        .collect();
    let strong: Vec<&str> = question
        .terms
        .iter()
        .filter(|t| t.weight >= 1.0)
        .map(|t| prefix(&t.stem))
        .collect();
    let all: Vec<&str> = question.terms.iter().map(|t| prefix(&t.stem)).collect();
    let main = if strong.is_empty() { &all } else { &strong };
    if main.len() > 1 {
        looks.push(search(main.join(" "), 50));
    }
    looks.extend(all.iter().map(|term| search((*term).to_owned(), 50)));
    if main.len() > 2 {
        looks.extend(main.windows(2).map(|pair| search(pair.join(" "), 40)));
        // Two words of prose are often one of a name.
        looks.extend(
            main.windows(2)
                .take(3)
                .map(|pair| search(pair.concat(), 15)),
        );
        looks.push(search(format!("{} {}", main[0], main[main.len() - 1]), 40));
    }
    // Each word used for another, first ones first, among the other terms.
    let strong_terms: Vec<_> = question.terms.iter().filter(|t| t.weight >= 1.0).collect();
    let others: Vec<Vec<&str>> = strong_terms
        .iter()
        .map(|term| alike(&term.stem).collect())
        .collect();
    let most = others.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..most {
        for (i, term) in strong_terms.iter().enumerate() {
            if let Some(other) = others[i].get(at) {
                let beside = strong_terms.iter().filter(|t| t.stem != term.stem);
                let mut words = vec![*other];
                words.extend(beside.map(|t| prefix(&t.stem)).take(4));
                looks.push(search(words.join(" "), 25));
            }
        }
    }
    looks.dedup();
    looks.truncate(MAX_SEARCHES);
    // As one word, which nothing that only has a part of it answers to.
    looks.extend(nothing::whole_names(question).map(|(_, word)| search(word, 5)));
    looks
}

/// When nothing was found: the first letters of each term.
fn wider_searches(question: &Question) -> Vec<Look> {
    let short = question.terms.iter().filter(|t| t.stem.chars().count() > 5);
    short
        .map(|t| search(t.stem.chars().take(5).collect(), 20))
        .collect()
}

/// The call that reads a candidate: its whole definition or the lines around a
/// comment of it.
fn read(candidate: &Candidate<'_>) -> Option<Look> {
    let symbol = candidate.symbol;
    let (path, start, end) = match (&symbol.place, symbol.texts.keys().next()) {
        (Some(place), text) => {
            let whole = place.end - place.start < READ_LINES;
            let from = match text {
                Some(line) if !whole => line.saturating_sub(20).max(place.start),
                _ => place.start,
            };
            (&place.path, from, place.end.min(from + READ_LINES - 1))
        }
        (None, Some(line)) => (&symbol.text_path, line.saturating_sub(10).max(1), line + 30),
        (None, None) => return None,
    };
    Some(Look {
        tool: "read_source",
        arguments: json!({ "path": path, "start": start, "end": end }),
    })
}

fn neighbors(question: &Question, name: &str) -> Look {
    let direction = match question.intent {
        _ if question.both => "both",
        Intent::Callers | Intent::Where => "incoming",
        Intent::Callees => "outgoing",
        Intent::What | Intent::How | Intent::File | Intent::Way => "both",
    };
    Look {
        tool: "symbol_neighbors",
        arguments: json!({ "name": name, "direction": direction }),
    }
}
