//! The extractive answer.
//!
//! Fixed phrases around the source's own words: names, first sentences of doc
//! comments, and the few lines that have most of what was asked, each with its
//! place. The best places come first, so that a reader who stops early has seen
//! them.

use std::fmt::Write as _;

use super::notes::{Neighborhood, Notes, Place, Symbol};
use super::question::{Intent, Question};
use super::rank::{self, Candidate};

/// Places named at the top.
const TOP: usize = 3;
/// Lines quoted from the best place, and from the others.
const QUOTED: [usize; TOP] = [8, 5, 4];
/// Callers or callees listed when they are what was asked.
const LISTED: usize = 15;
/// A best candidate with less of the question than this is not worth citing.
const LEAST_COVERAGE: f64 = 0.3;

/// When the tools it reads are not offered.
pub(super) fn without_lookups() -> String {
    "The built-in navigator answers by looking symbols up in a code graph, and none of \
     search_symbols, read_source and symbol_neighbors is offered here."
        .to_owned()
}

/// When the question has no word to look for.
pub(super) fn no_terms() -> String {
    "The question has no word to look for in the repository. Name a thing, a behaviour or a symbol, \
     as in: Where are requests retried?"
        .to_owned()
}

/// How many of the best candidates are the subject of a who-calls question:
/// those about as good as the first.
pub(super) fn subjects(found: &[Candidate<'_>]) -> usize {
    let close = |c: &&Candidate<'_>| c.score >= found[0].score * 0.9;
    found.iter().take(TOP).take_while(close).count()
}

/// Writes the answer from what is known.
pub(super) fn write(question: &Question, notes: &Notes) -> String {
    let found: Vec<Candidate<'_>> = rank::candidates(question, notes)
        .into_iter()
        .filter(|c| place(c.symbol).is_some())
        .collect();
    match found.first() {
        Some(best) if best.coverage >= LEAST_COVERAGE => {}
        _ => return nothing_found(question, &found),
    }
    match question.intent {
        Intent::Callers | Intent::Callees => relations(question, notes, &found),
        _ => places(question, notes, &found),
    }
}

/// An answer without the lines and quotations that name any of `faults`.
pub(super) fn without(text: &str, faults: &[String]) -> String {
    if faults.is_empty() {
        return text.to_owned();
    }
    let mut out = String::new();
    let (mut fenced, mut dropping) = (false, false);
    for line in text.lines() {
        let fence = line.starts_with("```");
        if fence {
            fenced = !fenced;
        }
        if !fenced && !fence {
            dropping = faults.iter().any(|fault| line.contains(fault.as_str()));
        }
        if !dropping {
            out.push_str(line);
            out.push('\n');
        }
        dropping &= !fence || fenced;
    }
    out
}

/// Where a symbol is, or the comment of it that was seen.
fn place(symbol: &Symbol) -> Option<Place> {
    symbol.place.clone().or_else(|| {
        let line = *symbol.texts.keys().next()?;
        Some(Place {
            path: symbol.text_path.clone(),
            start: line,
            end: line,
        })
    })
}

fn nothing_found(question: &Question, found: &[Candidate<'_>]) -> String {
    let terms: Vec<String> = question
        .terms
        .iter()
        .map(|term| format!("\"{}\"", term.word))
        .collect();
    let mut text = format!(
        "Nothing in the repository's symbols, comments and strings is worth citing for {}.",
        if terms.is_empty() {
            "this question".to_owned()
        } else {
            terms.join(", ")
        }
    );
    if let Some(place) = found.first().and_then(|c| place(c.symbol)) {
        let _ = write!(
            text,
            " The nearest is `{}` at {}.",
            shown(found[0].name),
            place.cite()
        );
    }
    text.push_str(" Other words for the same thing may find it.\n");
    text
}

/// One line on a symbol: kind, name, place, first sentence.
fn headline(candidate: &Candidate<'_>) -> String {
    let symbol = candidate.symbol;
    let place = place(symbol).map_or(String::new(), |place| place.cite());
    let kind = if symbol.kind.is_empty() {
        "in"
    } else {
        &symbol.kind
    };
    let mut line = format!("{kind} `{}`, {place}", shown(candidate.name));
    if !symbol.doc.is_empty() {
        // A block of its own: the words stand above the cited lines, not in them.
        let _ = write!(line, "\n   > {}", symbol.doc);
    }
    line
}

/// A qualified name without the numbers that tell repeated definitions apart.
fn shown(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('~') {
        out.push_str(before);
        let number = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if number == 0 {
            out.push('~');
        }
        rest = &after[number..];
    }
    out + rest
}

fn places(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> String {
    let near = found[0].score * 0.3;
    let best: Vec<&Candidate<'_>> = found
        .iter()
        .take_while(|c| c.score >= near)
        .take(TOP)
        .collect();
    let mut text = String::from(if best.len() == 1 {
        "Best match:\n"
    } else {
        "Best matches:\n"
    });
    for (i, candidate) in best.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", i + 1, headline(candidate));
    }
    for (candidate, most) in best.iter().zip(QUOTED) {
        let most = if question.intent == Intent::How {
            most + 4
        } else {
            most
        };
        details(question, notes, candidate, most, &mut text);
    }
    let more: Vec<String> = found
        .iter()
        .skip(best.len())
        .take_while(|c| c.score >= near * 1.5)
        .take(5)
        .filter_map(|c| {
            let on = if c.name.contains('~') { "on " } else { "" };
            Some(format!(
                "`{}` {on}{}",
                shown(c.name),
                place(c.symbol)?.cite()
            ))
        })
        .collect();
    if !more.is_empty() {
        let _ = writeln!(text, "\nAlso near: {}.", more.join(", "));
    }
    text
}

/// Signature, telling lines and relations of one symbol.
fn details(
    question: &Question,
    notes: &Notes,
    candidate: &Candidate<'_>,
    most: usize,
    text: &mut String,
) {
    let Some(whole) = place(candidate.symbol) else {
        return;
    };
    let around = notes.neighborhoods.get(candidate.name);
    let telling = telling(question, notes, candidate.symbol, &whole, most);
    if telling.is_none() && around.is_none_or(|a| a.tally.is_none() && a.edges.is_empty()) {
        return;
    }
    let _ = write!(text, "\n`{}`", shown(candidate.name));
    if let Some(lines) = telling {
        quote(notes, &whole, &lines, text);
    } else {
        text.push_str(":\n");
    }
    if let Some(around) = around {
        if let Some(tally) = &around.tally {
            let _ = writeln!(text, "{}.", tally.trim_end_matches('.'));
        }
        related("Called by", around, true, &["calls"], 4, text);
        if question.intent != Intent::Where {
            related("Calls", around, false, &["calls"], 6, text);
        }
        related(
            "Implemented or extended by",
            around,
            true,
            &["implements", "extends"],
            4,
            text,
        );
    }
}

/// Quotes the first line of a definition and the telling ones.
fn quote(notes: &Notes, whole: &Place, lines: &Place, text: &mut String) {
    let first = Place {
        end: whole.start,
        ..whole.clone()
    };
    let apart = lines.start > whole.start + 1 && notes.lines_in(&first).next().is_some();
    if apart {
        let _ = write!(text, ", {} and {}:\n```\n", first.cite(), lines.cite());
        quoted_lines(notes, &first, text);
        text.push_str("…\n");
    } else {
        let _ = write!(text, ", {}:\n```\n", lines.cite());
    }
    quoted_lines(notes, lines, text);
    text.push_str("```\n");
}

fn quoted_lines(notes: &Notes, lines: &Place, text: &mut String) {
    for (number, line) in notes.lines_in(lines) {
        // A fence inside a comment would end the fence around it.
        if line.contains("```") || line.contains("~~~") {
            text.push_str("…\n");
        } else if !line.chars().any(char::is_alphanumeric) {
            let _ = writeln!(text, "{}", line.trim_end());
        } else {
            let _ = writeln!(text, "{number}\t{}", shortened(line));
        }
    }
}

/// The lines to quote: those that have the terms, else the beginning.
fn telling(
    question: &Question,
    notes: &Notes,
    symbol: &Symbol,
    whole: &Place,
    most: usize,
) -> Option<Place> {
    // A comment found without its symbol is quoted with what follows it.
    let span = match &symbol.place {
        Some(place) => place.clone(),
        None => Place {
            end: whole.start + 30,
            start: whole.start.saturating_sub(10).max(1),
            path: whole.path.clone(),
        },
    };
    // A name and its parameters are shown anyway: what it does is further down.
    let inside = Place {
        start: span.start + u32::from(span.end - span.start > 3),
        ..span.clone()
    };
    let code = Place {
        start: after_docstring(notes, &inside),
        ..span.clone()
    };
    let telling = [code, inside]
        .iter()
        .find_map(|place| rank::telling_lines(question, notes, place, most));
    telling.or_else(|| {
        let read: Vec<u32> = notes.lines_in(&span).map(|(n, _)| n).take(most).collect();
        Some(Place {
            path: span.path.clone(),
            start: *read.first()?,
            end: *read.last()?,
        })
    })
}

/// The line after a string that opens a body, as in Python; the place's first
/// line when there is none.
fn after_docstring(notes: &Notes, place: &Place) -> u32 {
    let mut mark = "";
    for (number, line) in notes.lines_in(place) {
        let bare = line.trim().trim_start_matches(['r', 'u', 'R', 'U']);
        let opens = ["\"\"\"", "'''"].into_iter().find(|m| bare.starts_with(m));
        let closed = match (mark, opens) {
            ("", Some(found)) => {
                mark = found;
                bare[3..].contains(found)
            }
            // Only parameters stand before it.
            ("", None) if number < place.start + 12 => false,
            ("", None) => break,
            (open, _) => bare.contains(open),
        };
        if closed {
            return if number < place.end {
                number + 1
            } else {
                place.start
            };
        }
    }
    place.start
}

fn related(
    phrase: &str,
    around: &Neighborhood,
    incoming: bool,
    kinds: &[&str],
    most: usize,
    text: &mut String,
) {
    let all: Vec<String> = around
        .edges
        .iter()
        .filter(|edge| edge.incoming == incoming && kinds.contains(&edge.kind.as_str()))
        .map(|edge| {
            let (name, at) = (shown(&edge.name), edge.at.cite());
            // A caller is at the place of its call; what is called is elsewhere.
            if incoming && name == edge.name {
                format!("`{name}` {at}")
            } else {
                format!("`{name}` on {at}")
            }
        })
        .collect();
    if all.is_empty() {
        return;
    }
    let left = all.len().saturating_sub(most);
    let _ = write!(text, "{phrase} {}", all[..all.len() - left].join(", "));
    let _ = writeln!(
        text,
        "{}",
        if left > 0 {
            format!(" and {left} more.")
        } else {
            ".".to_owned()
        }
    );
}

/// Who calls or uses the subject, or what it calls.
fn relations(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> String {
    let incoming = question.intent == Intent::Callers;
    let mut text = String::new();
    for candidate in &found[..subjects(found)] {
        let _ = writeln!(text, "{}", headline(candidate));
        let Some(around) = notes.neighborhoods.get(candidate.name) else {
            text.push_str("Its relations were not looked up.\n\n");
            continue;
        };
        if let (true, Some(tally)) = (incoming, &around.tally) {
            let _ = writeln!(text, "{}.", tally.trim_end_matches('.'));
        }
        let edges: Vec<_> = around
            .edges
            .iter()
            .filter(|edge| edge.incoming == incoming && edge.kind != "contains")
            .filter(|edge| {
                // A test that calls is listed as a caller already.
                edge.kind != "tests"
                    || !around.edges.iter().any(|other| {
                        other.incoming == incoming
                            && other.kind == "calls"
                            && other.name == edge.name
                    })
            })
            .collect();
        if edges.is_empty() {
            let what = if incoming {
                "No use of it"
            } else {
                "Nothing that it uses"
            };
            let _ = writeln!(text, "{what} is proven in the code graph.");
        }
        for edge in edges.iter().take(LISTED) {
            let _ = writeln!(
                text,
                "- {} `{}` {} {}",
                verb(&edge.kind, incoming),
                shown(&edge.name),
                if incoming && !edge.name.contains('~') {
                    "at"
                } else {
                    "on"
                },
                edge.at.cite()
            );
        }
        let left = edges.len().saturating_sub(LISTED) + around.left_out;
        if left > 0 {
            let _ = writeln!(text, "- and {left} more");
        }
        text.push('\n');
    }
    text
}

fn verb(kind: &str, incoming: bool) -> &'static str {
    match (kind, incoming) {
        ("calls", true) => "called by",
        ("calls", false) => "calls",
        ("implements", true) => "implemented by",
        ("implements", false) => "implements",
        ("extends", true) => "extended by",
        ("extends", false) => "extends",
        ("overrides", true) => "overridden by",
        ("overrides", false) => "overrides",
        ("imports", true) => "imported by",
        ("imports", false) => "imports",
        ("tests", true) => "tested by",
        ("tests", false) => "tests",
        ("routes_to", true) => "routed to by",
        ("routes_to", false) => "routes to",
        (_, true) => "used by",
        (_, false) => "uses",
    }
}

fn shortened(line: &str) -> String {
    const MOST: usize = 160;
    if line.chars().count() <= MOST {
        return line.to_owned();
    }
    // The mark of what is left out stands on a line of its own.
    line.chars().take(MOST).chain(['\n', '…']).collect()
}
