//! By which calls one symbol leads to another: `how does A reach B`.
//!
//! The way is asked of `explore_area`, first as the question writes both ends,
//! then, when that names no symbol or several, with the symbols found for them.

use std::fmt::Write as _;

use serde_json::json;

use super::answer::{cited, shown};
use super::notes::{Hop, Notes, Way};
use super::plan::Look;
use super::question::Question;
use super::rank::{self, Candidate};

/// Symbols tried for one end.
const TRIED: usize = 2;
/// Calls of one way that are shown; a longer one says what it leaves out.
const SHOWN: usize = 20;

/// The calls to make for a way, beside those for its ends.
pub(super) fn looks(question: &Question, notes: &Notes, found: &[Candidate<'_>]) -> Vec<Look> {
    let Some((a, b)) = &question.ends else {
        return Vec::new();
    };
    if notes.rounds == 0 {
        let ends = [a, b].map(|name| Look {
            tool: "search_symbols",
            arguments: json!({ "query": name, "limit": 20 }),
        });
        return ends.into_iter().chain([explore(a, b)]).collect();
    }
    if let Some(way) = best(notes) {
        return way
            .chains
            .first()
            .into_iter()
            .flatten()
            .take(SHOWN)
            .map(|hop| Look {
                tool: "read_source",
                arguments: json!({
                    "path": hop.at.path, "start": hop.at.start, "end": hop.at.end,
                }),
            })
            .collect();
    }
    let mut looks = Vec::new();
    for from in meant(a, found) {
        for to in meant(b, found) {
            looks.push(explore(from, to));
        }
    }
    looks
}

fn explore(a: &str, b: &str) -> Look {
    Look {
        tool: "explore_area",
        arguments: json!({ "query": format!("{a} -> {b}") }),
    }
}

/// The symbols that a name may mean, best first.
fn meant<'n>(name: &str, found: &[Candidate<'n>]) -> Vec<&'n str> {
    let same = |c: &&Candidate<'n>| {
        let unified = rank::plain(c.name).replace("::", ".");
        let asked = name.replace("::", ".");
        unified == asked
            || unified.ends_with(&format!(".{asked}"))
            || rank::bare(c.name).eq_ignore_ascii_case(name)
    };
    let does = |c: &&Candidate<'n>| {
        matches!(
            &*c.symbol.kind,
            "function" | "method" | "class" | "struct" | "interface" | "test" | "macro"
        )
    };
    let mut all: Vec<&str> = found
        .iter()
        .filter(same)
        .filter(does)
        .map(|c| c.name)
        .collect();
    all.truncate(TRIED);
    all
}

/// The ends that are written as names and that nothing found has; none when a way
/// was found all the same.
pub(super) fn unheard<'q>(
    question: &'q Question,
    notes: &Notes,
    found: &[Candidate<'_>],
) -> Vec<&'q str> {
    let Some((a, b)) = question.ends.as_ref().filter(|_| best(notes).is_none()) else {
        return Vec::new();
    };
    let known = |end: &str| {
        let same = |c: &Candidate<'_>| rank::bare(c.name).eq_ignore_ascii_case(rank::bare(end));
        !question.names.iter().any(|name| name == end) || found.iter().any(same)
    };
    let ends = [a.as_str(), b.as_str()];
    ends.into_iter().filter(|end| !known(end)).collect()
}

/// The shortest way known; one that leads as asked before one that does not.
fn best(notes: &Notes) -> Option<&Way> {
    let length = |way: &&Way| way.chains.first().map_or(0, Vec::len);
    let led = notes.ways.values().filter(|way| !way.chains.is_empty());
    led.min_by_key(|way| (way.reversed, length(way)))
}

/// The way, or that there is none; `None` when it was never looked up.
pub(super) fn write(question: &Question, notes: &Notes) -> Option<String> {
    question.ends.as_ref()?;
    let Some(way) = best(notes) else {
        return none(notes);
    };
    let chain = way.chains.first()?;
    let mut text = String::new();
    if way.reversed {
        let _ = writeln!(
            text,
            "No chain of proven calls leads that way; one leads the other way, in {}:",
            calls(chain.len())
        );
    } else {
        let _ = writeln!(text, "{}, one after the other:", calls(chain.len()));
    }
    for (i, hop) in chain.iter().take(SHOWN).enumerate() {
        let _ = writeln!(text, "{}. {}", i + 1, step(hop));
    }
    if chain.len() > SHOWN {
        let _ = writeln!(text, "\nand {} more.", calls(chain.len() - SHOWN));
    }
    text.push('\n');
    for hop in chain.iter().take(SHOWN) {
        let Some((number, line)) = notes.lines_in(&hop.at).next() else {
            continue;
        };
        if !line.contains("```") && !line.contains("~~~") {
            let line = super::answer::shortened(line);
            let _ = writeln!(text, "{}:\n```\n{number}\t{line}\n```", hop.at.cite());
        }
    }
    if way.chains.len() > 1 {
        let _ = writeln!(
            text,
            "\n{} of the same length.",
            match way.chains.len() - 1 {
                1 => "One more way is".to_owned(),
                n => format!("{n} more ways are"),
            }
        );
    }
    let ends: Vec<String> = way
        .ends
        .iter()
        .filter_map(|name| cited(notes, name))
        .collect();
    if ends.len() == 2 {
        let _ = writeln!(text, "\nThe ends: {}.", ends.join(", "));
    }
    Some(text)
}

fn calls(count: usize) -> String {
    match count {
        1 => "1 call".to_owned(),
        n => format!("{n} calls"),
    }
}

fn step(hop: &Hop) -> String {
    let how = if hop.dynamic {
        " (which definition runs is decided at run time)"
    } else {
        ""
    };
    format!(
        "`{}` calls `{}` on {}{how}",
        shown(&hop.from),
        shown(&hop.to),
        hop.at.cite()
    )
}

fn none(notes: &Notes) -> Option<String> {
    let way = notes.ways.values().next()?;
    let ends: Vec<String> = way
        .ends
        .iter()
        .filter_map(|name| cited(notes, name))
        .collect();
    let mut text = format!("No chain of proven calls connects {}.", ends.join(" and "));
    if let Some(reach) = &way.reach {
        let said = reach.split_once(" reach ").map_or("", |(_, rest)| rest);
        if !said.is_empty() {
            let _ = write!(text, "\n\nProven calls from the first reach {said}.");
        }
    }
    text.push_str("\n\n");
    Some(text)
}
