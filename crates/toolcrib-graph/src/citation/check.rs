//! Holding an answer against the graph.
//!
//! Each citation ends in exactly one state, the first fault found in the order
//! of [`CitedState`]. Only what is written beside a citation, in the same
//! sentence, is held against its lines, and names in backticks against the whole
//! snapshot; every doubt is decided for the text, since a false alarm costs a
//! round and teaches the writer to cite less.

use super::names::{Written, classify, is_common, segments};
use super::outcome::{AnswerCheck, CheckedCitation, CitedState, UnknownName};
use super::parse::{CitedPlace, cited_places, find_token};
use super::prose::{Fragment, Markup, Unit, units};
use super::quote::{any_scale, missing_line, number, occurs};
use super::{BindError, Citation, Place, cited_text, place_of};
use crate::lookup::Lookup;
use crate::model::NodeId;

impl Lookup {
    /// Holds the citations, quotations and names of an answer against the graph.
    pub fn check_answer(&self, text: &str) -> AnswerCheck {
        let cited = cited_places(text, self.graph());
        let mut citations: Vec<CheckedCitation> = cited.iter().map(|c| self.existing(c)).collect();
        let mut unknown: Vec<UnknownName> = Vec::new();
        for unit in units(text, &cited) {
            self.check_beside(text, &unit, &cited, &mut citations);
            self.check_names(text, &unit, &citations, &mut unknown);
        }
        AnswerCheck { citations, unknown }
    }

    fn existing(&self, cited: &CitedPlace) -> CheckedCitation {
        let (state, citation) = match Citation::bind(self.graph(), &cited.place) {
            Ok(citation) => (CitedState::Verified, Some(citation)),
            Err(BindError::UnknownPath { path }) => {
                let near = self.near_paths(&path);
                (CitedState::UnknownPath { near }, None)
            }
            Err(BindError::OutOfRange { lines, .. }) => (CitedState::OutOfRange { lines }, None),
        };
        CheckedCitation {
            cited: cited.clone(),
            state,
            citation,
        }
    }

    /// The text of a citation's lines, when they exist.
    fn lines_of(&self, citation: &CheckedCitation) -> Option<String> {
        let place = &citation.cited.place;
        let file = self.graph().by_path(&place.path)?;
        cited_text(self.graph().file(file), place.start, place.end)
    }

    /// Holds what a unit says against the lines it cites.
    fn check_beside(
        &self,
        text: &str,
        unit: &Unit,
        cited: &[CitedPlace],
        citations: &mut [CheckedCitation],
    ) {
        if unit.citations.is_empty() {
            return;
        }
        let mut faults: Vec<(usize, CitedState)> = Vec::new();
        let lines: Vec<String> = unit
            .citations
            .iter()
            .filter_map(|&i| self.lines_of(&citations[i]))
            .collect();
        if lines.len() < unit.citations.len() {
            // What is beside a place that does not exist cannot be told apart
            // from what is beside the others.
            return;
        }
        let all = lines.join("\n");
        for fragment in &unit.fragments {
            let Some(inner) = text.get(fragment.at.clone()) else {
                continue;
            };
            if let Some((i, name)) = self.claim(text, fragment, unit, cited)
                && let Some(state) = self.misplaced(&name, &cited[i].place)
            {
                faults.push((i, state));
                continue;
            }
            if let Some(state) = self.not_in(text, fragment, inner, &lines, &all) {
                faults.push((nearest(fragment, unit, cited), state));
            }
        }
        if let Some(state) = constant_claim(text, unit, &lines) {
            faults.push((unit.citations[0], state));
        }
        for (i, state) in faults {
            let slot = &mut citations[i].state;
            if *slot == CitedState::Verified {
                *slot = state;
            }
        }
    }

    /// The citation that a name stands right beside, and the name.
    fn claim(
        &self,
        text: &str,
        fragment: &Fragment,
        unit: &Unit,
        cited: &[CitedPlace],
    ) -> Option<(usize, String)> {
        if fragment.markup != Markup::Code {
            return None;
        }
        let Written::Name(name) = classify(text.get(fragment.at.clone())?) else {
            return None;
        };
        if is_common(&name) && self.meant(&name).is_empty() {
            return None;
        }
        let after = |i: &&usize| cited[**i].at.start >= fragment.at.end;
        let next = unit.citations.iter().find(after).copied();
        if let Some(i) = next
            && joins(text.get(fragment.at.end..cited[i].at.start)?)
        {
            return Some((i, name));
        }
        let before = |i: &&usize| cited[**i].at.end <= fragment.at.start;
        let i = unit.citations.iter().rev().find(before).copied()?;
        let between = text.get(cited[i].at.end..fragment.at.start)?;
        let leads = between
            .chars()
            .all(|c| matches!(c, ' ' | ':' | '—' | '–' | '-' | '`' | '(' | '*' | ']'));
        (leads && between.chars().count() <= 8).then_some((i, name))
    }

    /// Why a named symbol is not at a place that exists, `None` when it is.
    fn misplaced(&self, name: &str, place: &Place) -> Option<CitedState> {
        let graph = self.graph();
        let file = graph.by_path(&place.path)?;
        let lines = cited_text(graph.file(file), place.start, place.end)?;
        let meant = self.meant(name);
        let overlaps = |id: &NodeId| {
            let node = graph.node(*id);
            node.file == file
                && node.span.start_line <= place.end
                && place.start <= node.span.end_line
        };
        if meant.iter().any(overlaps) {
            return None;
        }
        // Definitions of one name are told apart by an ordinal that no text writes.
        let overload = graph.nodes_in(file).any(|(id, n)| {
            let plain = without_ordinal(&n.qualified_name);
            let same = plain == without_ordinal(name)
                || meant
                    .iter()
                    .any(|&m| without_ordinal(&graph.node(m).qualified_name) == plain);
            same && overlaps(&id)
        });
        if overload {
            return None;
        }
        let bare = segments(name).last().copied().unwrap_or(name);
        let defined_here = graph.nodes_in(file).any(|(_, n)| {
            &*n.name == bare
                && crate::lookup::is_symbol(n.kind)
                && place.start <= n.span.start_line
                && n.span.start_line <= place.end
        });
        let mentioned = find_token(&lines, bare).is_some();
        if mentioned && (meant.is_empty() || !defined_here) {
            return None;
        }
        let doc_of = meant.iter().any(|id| {
            let node = graph.node(*id);
            // Attributes and doc comments stand above the definition.
            node.file == file && (place.end < node.span.start_line) && {
                let above = cited_text(graph.file(file), place.start, node.span.start_line - 1);
                above.is_some_and(|t| t.lines().all(is_above))
            }
        });
        if doc_of {
            return None;
        }
        let here: Vec<NodeId> = meant
            .iter()
            .copied()
            .filter(|&id| graph.node(id).file == file)
            .collect();
        Some(CitedState::OtherSymbol {
            claimed: name.to_owned(),
            claimed_at: match (here.as_slice(), meant.as_slice()) {
                ([one], _) | ([], [one]) => Some(place_of(graph, *one)),
                _ => None,
            },
            there: graph
                .innermost(file, place.start, place.end)
                .map(|id| graph.node(id).qualified_name.to_string()),
        })
    }

    /// Why a quoted fragment or number is not in the cited lines.
    fn not_in(
        &self,
        text: &str,
        fragment: &Fragment,
        inner: &str,
        lines: &[String],
        all: &str,
    ) -> Option<CitedState> {
        if fragment.markup == Markup::Fence {
            let missing = missing_line(inner, all)?;
            return Some(self.quote_missing(missing));
        }
        let number_missing = |value: &str| {
            let there = lines.iter().any(|l| any_scale(value, inner, l));
            let counts_lines = text[..fragment.at.start]
                .trim_end_matches(['`', '"', '“', ' '])
                .to_lowercase();
            let is_line = counts_lines.ends_with("line") || counts_lines.ends_with("lines");
            (!there && !is_line).then(|| CitedState::NumberMissing {
                number: inner.to_owned(),
            })
        };
        let written = match fragment.markup {
            Markup::Code => classify(inner),
            _ => number(inner).map_or(Written::Fragment, Written::Number),
        };
        match written {
            Written::Number(value) => number_missing(&value),
            Written::Fragment => {
                let wordless = !inner.chars().any(char::is_alphanumeric);
                let found =
                    wordless || lines.iter().any(|l| occurs(inner, l)) || occurs(inner, all);
                (!found).then(|| self.quote_missing(inner))
            }
            Written::Name(_) | Written::Path(_) | Written::Nothing => None,
        }
    }

    fn quote_missing(&self, quote: &str) -> CitedState {
        CitedState::QuoteMissing {
            quote: quote.trim().to_owned(),
            stands_at: self.stands_at(quote),
        }
    }

    /// The only line of the snapshot that contains a quotation.
    fn stands_at(&self, quote: &str) -> Option<Place> {
        let first = quote.trim().lines().next()?.trim();
        let mut found = None;
        for file in self.graph().files() {
            let Some(at) = find_token(&file.text, first) else {
                continue;
            };
            let again = find_token(&file.text[at + first.len()..], first);
            if found.is_some() || again.is_some() {
                return None;
            }
            let line = file.line_at(at as u32);
            found = Some(Place {
                path: file.path.to_string(),
                start: line,
                end: line,
            });
        }
        found
    }

    /// Looks up the backticked names of a unit.
    fn check_names(
        &self,
        text: &str,
        unit: &Unit,
        citations: &[CheckedCitation],
        unknown: &mut Vec<UnknownName>,
    ) {
        for fragment in unit.fragments.iter().filter(|f| f.markup == Markup::Code) {
            let inner = text.get(fragment.at.clone()).unwrap_or("");
            let written = classify(inner);
            let (name, near) = match &written {
                Written::Name(name) if !self.knows(name) => {
                    let ids = self.near_symbols(name);
                    let near = ids
                        .iter()
                        .map(|&id| self.graph().node(id).qualified_name.to_string());
                    (name, near.collect())
                }
                Written::Path(path) if !self.knows_path(path) && !self.knows(path) => {
                    // Only a file is claimed to exist; `and/or` is no path.
                    if !super::parse::looks_like_file(path) {
                        continue;
                    }
                    (path, self.near_paths(path))
                }
                _ => continue,
            };
            let told = citations.iter().any(
                |c| matches!(&c.state, CitedState::OtherSymbol { claimed, .. } if claimed == name),
            );
            if told || unknown.iter().any(|u| u.name == *name) {
                continue;
            }
            unknown.push(UnknownName {
                name: name.clone(),
                at: fragment.at.clone(),
                near,
            });
        }
    }
}

/// Whether the words between a name and a citation say that the one is at the
/// other.
fn joins(between: &str) -> bool {
    let words: Vec<&str> = between
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    let introduces = |w: &&str| {
        matches!(
            w.to_lowercase().as_str(),
            "in" | "at" | "from" | "see" | "is" | "defined" | "declared" | "lives" | "found"
        )
    };
    let marks = |c: char| c.is_alphanumeric() || c.is_whitespace() || "`([<—–-:*\"'".contains(c);
    between.chars().all(marks) && words.len() <= 3 && words.iter().all(introduces)
}

/// `a::b~2` as `a::b`.
fn without_ordinal(name: &str) -> &str {
    match name.rsplit_once('~') {
        Some((plain, ordinal)) if ordinal.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    }
}

/// Whether a line can stand between a doc comment and its definition.
fn is_above(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with(['#', '/', '*', '@'])
}

/// The citation that a fragment is nearest to: the next one, else the last.
fn nearest(fragment: &Fragment, unit: &Unit, cited: &[CitedPlace]) -> usize {
    let after = |i: &&usize| cited[**i].at.start >= fragment.at.end;
    let next = unit.citations.iter().find(after);
    next.or(unit.citations.last()).copied().unwrap_or(0)
}

/// A plain number that a sentence gives as the value of a constant which the
/// cited lines define: `MAX_CHARS` is 8,000.
fn constant_claim(text: &str, unit: &Unit, lines: &[String]) -> Option<CitedState> {
    for fragment in unit.fragments.iter().filter(|f| f.markup == Markup::Code) {
        let name = text.get(fragment.at.clone())?;
        let constant = name.len() > 2
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let defines = |l: &&String| find_token(l, name).is_some();
        let Some(lines) = lines.iter().find(defines).filter(|_| constant) else {
            continue;
        };
        let after = text.get(fragment.at.end + 1..unit.at.end)?.trim_start();
        let said = ["is ", "= ", "equals ", "of ", "was ", "defaults to "];
        let Some(rest) = said.iter().find_map(|s| after.strip_prefix(s)) else {
            continue;
        };
        let word = rest.split_whitespace().next()?;
        let word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let value = number(word).filter(|_| {
            word.chars()
                .all(|c| c.is_ascii_digit() || matches!(c, ',' | '_' | '.'))
        });
        let scaled = rest
            .split_whitespace()
            .take(2)
            .collect::<Vec<_>>()
            .join(" ");
        if let Some(value) = value
            && !any_scale(&value, &scaled, lines)
        {
            return Some(CitedState::NumberMissing {
                number: word.to_owned(),
            });
        }
    }
    None
}
