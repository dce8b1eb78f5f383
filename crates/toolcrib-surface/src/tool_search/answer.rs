//! What a search answers, and what it loads: exactly what it says it loads.

use std::fmt::Write;

use toolcrib_core::{LoadRoute, ToolName, ToolOutput};

use super::arguments::Asked;
use crate::catalogue::plain;
use crate::inventory::{Entry, Inventory, Place};
use crate::sentence::first_sentence;
use crate::signature::signature;
use crate::tokens::text_tokens;
use crate::{Found, Search, Shelf};

/// Longest first sentence in an answer, in characters.
const SENTENCE: usize = 160;
/// Most unknown names that are answered one by one.
const UNKNOWN: usize = 8;
/// Most tools that are listed for a name which several have.
const SHARED: usize = 8;
/// From this miss in a row on, the same search is an error.
const REPEATED: u32 = 3;
/// Tokens kept for the lines around the entries.
const FRAME: usize = 120;

pub(super) fn answer(shelf: &Shelf, inventory: &Inventory, asked: &Asked) -> ToolOutput {
    let queries: Vec<&str> = asked.queries.iter().map(String::as_str).collect();
    let how = Search {
        limit: asked.limit.unwrap_or(inventory.policy.search_limit),
        ..Search::default()
    };
    let found = inventory.index().search_all(&queries, &how);
    let mut lists = Lists::default();
    let bridge = inventory.route == LoadRoute::Bridge;
    let whole = bridge && queries.iter().all(|query| selects(query));
    let mut left = inventory.policy.result_budget.saturating_sub(FRAME);
    for hit in &found.hits {
        let entry = &inventory.entries[hit.doc];
        let name = &entry.spec().name;
        if entry.place == Place::Eager {
            lists.listed.push(name.clone());
            continue;
        }
        let known = shelf.is_loaded(name);
        if known && !whole {
            lists.already.push(name.clone());
            continue;
        }
        let shown = describe(entry, whole);
        // A schema that is asked for by its name has no smaller form to ask for.
        let alone = whole && lists.entries.is_empty();
        match left.checked_sub(text_tokens(&shown)).or(alone.then_some(0)) {
            Some(rest) => {
                left = rest;
                lists.entries.push_str(&shown);
                lists.loaded.push(name.clone());
            }
            None => lists.dropped += 1,
        }
    }
    let new = shelf.take(&lists.loaded);
    let mut text = text(inventory, &found, &lists, queries.is_empty());
    if found.hits.is_empty() && shelf.miss(&asked.queries) >= REPEATED {
        text.push_str(" The same search found nothing before; it will not find anything now.");
        return ToolOutput::error(text);
    }
    ToolOutput::text(text).activating(new)
}

fn selects(query: &str) -> bool {
    let head = query.trim_start().get(..7);
    head.is_some_and(|head| head.eq_ignore_ascii_case("select:"))
}

#[derive(Default)]
struct Lists {
    entries: String,
    loaded: Vec<ToolName>,
    already: Vec<ToolName>,
    listed: Vec<ToolName>,
    /// Matches for which there was no room.
    dropped: usize,
}

fn describe(entry: &Entry, whole: bool) -> String {
    let spec = entry.spec();
    let mut line = format!("\n- {}", signature(spec));
    let sentence = plain(first_sentence(&spec.description), SENTENCE);
    if !sentence.is_empty() {
        let _ = write!(line, " — {sentence}");
    }
    if whole {
        let _ = write!(line, "\n  {}", spec.input_schema.wire());
    }
    line
}

fn text(inventory: &Inventory, found: &Found, lists: &Lists, blank: bool) -> String {
    let bridge = inventory.route == LoadRoute::Bridge;
    let mut lines: Vec<String> = Vec::new();
    if !lists.entries.is_empty() {
        let how = if bridge {
            "Found; run them with `call_tool`:"
        } else {
            "Loaded; call them directly:"
        };
        lines.push(format!("{how}{}", lists.entries));
    }
    if lists.dropped > 0 {
        lines.push(format!(
            "{} more matched and were not loaded: there was no room to show them. Ask for fewer at a time.",
            lists.dropped
        ));
    }
    if !lists.already.is_empty() {
        lines.push(format!("Already loaded: {}.", joined(lists.already.iter())));
    }
    if !lists.listed.is_empty() {
        lines.push(format!(
            "Already in your list, call directly: {}.",
            joined(lists.listed.iter())
        ));
    }
    if lines.is_empty() && found.shared.is_empty() {
        lines.push(nothing(inventory, found, blank));
    }
    unknown(inventory, found, &mut lines);
    lines.join("\n")
}

fn nothing(inventory: &Inventory, found: &Found, blank: bool) -> String {
    if blank {
        return "Nothing was asked for, and nothing was loaded: say what is needed.".to_owned();
    }
    let mut text = "Nothing was loaded: no tool fits.".to_owned();
    let name = |&doc: &usize| &inventory.entries[doc].spec().name;
    if !found.nearest.is_empty() {
        let names = joined(found.nearest.iter().map(name));
        let _ = write!(text, " The nearest by name: {names}.");
    }
    if !found.nearest_sources.is_empty() {
        let sources = found.nearest_sources.iter().map(|name| plain(name, 64));
        let sources: Vec<String> = sources.collect();
        let _ = write!(text, " The nearest sources: {}.", sources.join(", "));
    }
    if found.other_language && !found.no_words {
        text.push_str(" It seems to be in another language: ask in the language of the tools.");
    }
    if found.no_words {
        text.push_str(" None has any of these words: ask in the language of the tools.");
    }
    if found.left_out > 0 {
        let _ = write!(
            text,
            " {} more tools were left out. Use other words, or do without.",
            found.left_out
        );
    }
    text
}

fn unknown(inventory: &Inventory, found: &Found, lines: &mut Vec<String>) {
    let full = |doc: &usize| &inventory.entries[*doc].spec().name;
    for shared in found.shared.iter().take(UNKNOWN) {
        let shown = joined(shared.tools.iter().take(SHARED).map(full));
        let more = match shared.tools.len().saturating_sub(SHARED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!(
            "{} tools are called `{}`: {shown}{more}. Select one by its whole name.",
            shared.tools.len(),
            plain(&shared.name, 64),
        ));
    }
    for unknown in found.unknown.iter().take(UNKNOWN) {
        let near = unknown.near.iter();
        let near = joined(near.map(|&doc| &inventory.entries[doc].spec().name));
        let name = plain(&unknown.name, 64);
        lines.push(match near.is_empty() {
            true => format!("There is no tool `{name}`."),
            false => format!("There is no tool `{name}`; near it: {near}."),
        });
    }
    for source in found.unknown_sources.iter().take(UNKNOWN) {
        lines.push(format!("There is no source `{}`.", plain(source, 64)));
    }
    if found.unknown.len() > UNKNOWN {
        let more = found.unknown.len() - UNKNOWN;
        lines.push(format!("Nor are there {more} more of the names."));
    }
}

fn joined<'a>(names: impl Iterator<Item = &'a ToolName>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
