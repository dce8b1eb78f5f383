//! The extractive answer.
//!
//! Where, what and how; [`super::relations`], [`super::ways`], [`super::files`],
//! [`super::places`] and [`super::routes`] write the others, and [`super::nothing`] what is
//! none. Fixed phrases around the source's own words: names, first sentences of doc
//! comments, and the few lines that have most of what was asked, each with its
//! place. The best places come first, so that a reader who stops early has seen
//! them.

use std::fmt::Write as _;

use super::notes::{Neighborhood, Notes, Place, Symbol};
use super::question::{Intent, Question};
use super::rank::{self, Candidate};
use super::{files, nothing, places, relations, routes, ways};

/// Places named at the top.
pub(super) const TOP: usize = 3;
/// Lines quoted from the best place, and from the others.
const QUOTED: [usize; TOP] = [8, 5, 4];
/// Copies of one definition named; more are counted.
const COPIES: usize = 3;
/// Calls between the best places of a how-question.
const LINKS: usize = 6;
/// When the tools it reads are not offered.
pub(super) fn without_lookups() -> String {
    "The built-in navigator answers by looking symbols up in a code graph, and none of \
     search_symbols, read_source and symbol_neighbors is offered here."
        .to_owned()
}

/// When the question has no word to look for.
pub(super) fn no_terms() -> String {
    "Nothing found: the question has no word to look for in the repository. Name a thing, a behaviour or a symbol, \
     as in: Where are requests retried?"
        .to_owned()
}

/// Definitions whose callers one answer lists.
pub(super) const SUBJECTS: usize = 6;

/// The candidates that a who-calls question is about: all that have the name it
/// writes, else those about as good as the first.
pub(super) fn subjects<'c, 'n>(
    question: &Question,
    found: &'c [Candidate<'n>],
) -> Vec<&'c Candidate<'n>> {
    let Some(first) = found.first() else {
        return Vec::new();
    };
    let written = rank::named(question, first.name);
    if written > 0.0 {
        let same = |c: &&Candidate<'n>| {
            c.symbol.kind != "import" && rank::named(question, c.name) >= written
        };
        return found.iter().filter(same).collect();
    }
    let close = |c: &&Candidate<'_>| c.score >= first.score * 0.9;
    found.iter().take(TOP).take_while(close).collect()
}

/// The definitions among some subjects, namesakes beside each other.
pub(super) fn definitions<'n>(
    question: &Question,
    subjects: &[&Candidate<'n>],
) -> Vec<(&'n str, &'n Symbol)> {
    let each = |c: &&Candidate<'n>| {
        let own = std::iter::once((c.name, c.symbol));
        let mut all: Vec<(&'n str, &'n Symbol)> = own.chain(c.twins.clone()).collect();
        all.sort_by_key(|(name, symbol)| (rank::home(symbol), *name));
        all
    };
    let mut all: Vec<_> = subjects.iter().flat_map(each).collect();
    // Types are implemented, and what runs is called; fields of the name come last.
    all.sort_by_key(|(_, symbol)| {
        let is_type = matches!(
            &*symbol.kind,
            "interface" | "class" | "struct" | "enum" | "type_alias"
        );
        let runs = matches!(&*symbol.kind, "function" | "method" | "macro");
        !(is_type || (runs && !question.inherits))
    });
    all
}

/// Writes the answer from what is known.
pub(super) fn write(question: &Question, notes: &Notes) -> String {
    if let Some(text) = places::write(question, notes) {
        return text;
    }
    let found: Vec<Candidate<'_>> = rank::candidates(question, notes)
        .into_iter()
        .filter(|c| place(c.symbol).is_some())
        .collect();
    if let Some(text) = routes::write(question, notes) {
        return text;
    }
    if let Some(text) = nothing::write(question, notes, &found) {
        return text;
    }
    let unknown = nothing::unknown_names(question, notes, &found);
    let rest = match question.intent {
        Intent::Callers | Intent::Callees => relations::write(question, notes, &found),
        Intent::Way => {
            let way = ways::write(question, notes);
            let found_none = way.as_ref().is_none_or(|text| text.starts_with("No "));
            let mut text = way.unwrap_or_default();
            if found_none {
                text.push_str(&best(question, notes, &found));
            }
            text
        }
        Intent::File => {
            files::write(question, notes, &found).unwrap_or_else(|| best(question, notes, &found))
        }
        Intent::Where | Intent::What | Intent::How => best(question, notes, &found),
    };
    unknown + &rest
}

/// A symbol's name and place, when it has been seen.
pub(super) fn cited(notes: &Notes, name: &str) -> Option<String> {
    let at = place(notes.symbols.get(name)?)?.cite();
    let on = if rank::plain(name) != name { "on " } else { "" };
    Some(format!("`{}` {on}{at}", shown(name)))
}

/// What is left of an answer without what names any of `faults`; without a place
/// left it is none.
pub(super) fn held(text: &str, faults: &[String]) -> String {
    let left = without(text, faults);
    let cites = |text: &str| {
        let words = text.split_whitespace();
        let mut words = words.map(|word| word.trim_matches(['.', ',', ':', ';', '(', ')']));
        words.any(|word| Place::read(word).is_some())
    };
    if !faults.is_empty() && cites(text) && !cites(&left) {
        return "Nothing found. What came nearest could not be cited: its places did not hold when \
                they were checked.\n"
            .to_owned();
    }
    left
}

/// An answer without the lines and quotations that name any of `faults`.
fn without(text: &str, faults: &[String]) -> String {
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
pub(super) fn place(symbol: &Symbol) -> Option<Place> {
    symbol.place.clone().or_else(|| {
        let line = *symbol.texts.keys().next()?;
        Some(Place {
            path: symbol.text_path.clone(),
            start: line,
            end: line,
        })
    })
}

/// A line on a symbol: kind, name, place; one on its copies, and its first sentence.
pub(super) fn headline(candidate: &Candidate<'_>) -> String {
    let copies: Vec<String> = candidate.copies.iter().map(|at| at.cite()).collect();
    let mut also = String::new();
    if !copies.is_empty() {
        let left = copies.len().saturating_sub(COPIES);
        let named = copies[..copies.len() - left].join(", ");
        let _ = write!(also, "\n   also in {named}");
        if left > 0 {
            let _ = write!(also, " and {left} more");
        }
    }
    described(candidate.name, candidate.symbol, &also)
}

/// A line on one definition, and its first sentence.
pub(super) fn line(name: &str, symbol: &Symbol) -> String {
    described(name, symbol, "")
}

fn described(name: &str, symbol: &Symbol, also: &str) -> String {
    let place = place(symbol).map_or(String::new(), |place| place.cite());
    let kind = match &*symbol.kind {
        "" => "in",
        kind => kind,
    };
    let mut line = format!("{kind} `{}`, {place}{also}", shown(name));
    if !symbol.doc.is_empty() {
        // A block of its own: the words stand above the cited lines, not in them.
        let _ = write!(line, "\n   > {}", symbol.doc.replace('`', ""));
    }
    line
}

/// A name as prose can give it: qualified, or its last part alone where a number
/// tells repeated definitions apart, since sources do not write that number.
pub(super) fn shown(name: &str) -> &str {
    if rank::plain(name) == name {
        name
    } else {
        rank::bare(name)
    }
}

fn best(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> String {
    let near = rank::least(question, found);
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
    if question.intent == Intent::How {
        links(notes, found, &mut text);
    }
    let more: Vec<String> = found
        .iter()
        .skip(best.len())
        .take_while(|c| c.score >= near * 1.5)
        .take(5)
        .filter_map(|c| cited(notes, c.name))
        .collect();
    if !more.is_empty() {
        let _ = writeln!(text, "\nAlso near: {}.", more.join(", "));
    }
    text
}

/// Which of the best places call which others, outermost first.
fn links(notes: &Notes, found: &[Candidate<'_>], text: &mut String) {
    let best: Vec<&str> = found.iter().take(8).map(|c| c.name).collect();
    let mut calls: Vec<(&str, &str, &Place)> = Vec::new();
    for name in &best {
        let around = notes.neighborhoods.get(*name);
        for edge in around.into_iter().flat_map(|around| &around.edges) {
            let (from, to) = match edge.incoming {
                true => (edge.name.as_str(), *name),
                false => (*name, edge.name.as_str()),
            };
            let known = calls.iter().any(|(a, b, _)| (*a, *b) == (from, to));
            if edge.kind == "calls"
                && edge.ambiguous.is_none()
                && from != to
                && best.contains(&from)
                && best.contains(&to)
                && !known
            {
                calls.push((from, to, &edge.at));
            }
        }
    }
    let called = |name: &str| calls.iter().filter(|(_, to, _)| *to == name).count();
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&i| (called(calls[i].0), calls[i].0, calls[i].2.start));
    if !calls.is_empty() {
        text.push_str("\nHow they connect:\n");
    }
    for i in order.into_iter().take(LINKS) {
        let (from, to, at) = calls[i];
        let _ = writeln!(
            text,
            "- `{}` calls `{}` on {}",
            shown(from),
            shown(to),
            at.cite()
        );
    }
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
        if let Some(limits) = &around.limits {
            let _ = writeln!(text, "{limits}.");
        } else if let Some(tally) = &around.tally {
            let _ = writeln!(text, "{}.", tally.trim_end_matches('.'));
        }
        related("Called by", around, true, &["calls"], 4, text);
        if question.intent != Intent::Where {
            related("Calls", around, false, &["calls"], 6, text);
        }
        if question.intent == Intent::What {
            related("Members:", around, false, &["contains"], 10, text);
            related("Used by", around, true, &["references"], 4, text);
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
pub(super) fn quote(notes: &Notes, whole: &Place, lines: &Place, text: &mut String) {
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

pub(super) fn quoted_lines(notes: &Notes, lines: &Place, text: &mut String) {
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

pub(super) fn related(
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
            let on = if incoming && name == edge.name {
                ""
            } else {
                "on "
            };
            let open = match edge.ambiguous {
                Some(1) => " (may mean another)".to_owned(),
                Some(count) => format!(" (may mean another of {count} definitions)"),
                None if edge.dynamic => " (by dynamic dispatch)".to_owned(),
                None => String::new(),
            };
            format!("`{name}` {on}{at}{open}")
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

pub(super) fn shortened(line: &str) -> String {
    const MOST: usize = 160;
    if line.chars().count() <= MOST {
        return line.to_owned();
    }
    // The mark of what is left out stands on a line of its own.
    line.chars().take(MOST).chain(['\n', '…']).collect()
}
