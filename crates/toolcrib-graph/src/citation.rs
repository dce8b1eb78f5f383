//! Citations: places in the source that a text rests on.
//!
//! A text cites `path:line` or `path:first-last` ([`cited_places`] finds them).
//! A citation that holds is bound to more than its line numbers, which drift
//! with the next edit: to the identity of the symbol it lies in and to a hash of
//! the cited lines ([`Citation`]). Against a later graph it is then exact, moved,
//! changed or gone ([`Citation::recheck`]); what cannot be told apart with
//! certainty is never called exact, and a new place is named only when the same
//! text stands nowhere else.
//!
//! [`crate::Lookup::check_answer`] holds a whole answer against the graph: the
//! cited places, what is quoted beside them, and the names in it. It judges
//! what is written, not what is meant: prose without a name, number or quotation
//! is beyond it.

mod check;
mod names;
mod outcome;
mod parse;
mod prose;
mod quote;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use outcome::{AnswerCheck, CheckedCitation, CitedState, UnknownName};
pub use parse::{CitedPlace, cited_places};

use crate::graph::CodeGraph;
use crate::model::{FileId, FileInfo, NodeId};

/// Lines of one file. `Display` writes `path:12` or `path:12-40`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Relative to the root.
    pub path: String,
    /// The first line, from 1.
    pub start: u32,
    /// The last line, included.
    pub end: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.start)?;
        match self.end > self.start {
            true => write!(f, "-{}", self.end),
            false => Ok(()),
        }
    }
}

/// A place bound to what stood there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Citation {
    /// Where it was.
    #[serde(flatten)]
    pub place: Place,
    /// [`crate::Node::symbol`] of the symbol that the lines lie in, or of the
    /// first one that begins in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// First cited line minus first line of that symbol.
    #[serde(default)]
    pub offset: i64,
    /// SHA-256 in hexadecimal of the cited lines, joined by `\n` without a last one.
    pub sha256: String,
    /// Length of the hashed text.
    pub bytes: u32,
}

/// Why a place cannot be bound: it never existed in this graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// No such file in the snapshot.
    #[error("`{path}` is not a file of the snapshot")]
    UnknownPath {
        /// As cited.
        path: String,
    },
    /// The file has fewer lines, or the range is upside down.
    #[error("`{place}` does not exist: the file has {lines} lines")]
    OutOfRange {
        /// As cited.
        place: Place,
        /// How many lines the file has.
        lines: u32,
    },
}

/// What became of a citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Recheck {
    /// The same text, in the same lines of the same symbol.
    Exact,
    /// The same text stands in exactly one other place.
    Moved {
        /// There.
        to: Place,
    },
    /// The symbol or file is there, the cited text is not, or no longer in it.
    Changed {
        /// Where the symbol is now, as far as known.
        now: Option<Place>,
        /// Its new identity when it only changed its name.
        renamed_to: Option<String>,
    },
    /// Neither the text nor the symbol is left.
    Gone,
    /// The place was not in the graph that it was cited from.
    NeverExisted,
}

impl Recheck {
    /// The state's name in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Recheck::Exact => "exact",
            Recheck::Moved { .. } => "moved",
            Recheck::Changed { .. } => "changed",
            Recheck::Gone => "gone",
            Recheck::NeverExisted => "never existed",
        }
    }

    /// One line on a citation in this state.
    pub fn explain(&self, cited: &Place) -> String {
        match self {
            Recheck::Exact => format!("{cited} is as it was"),
            Recheck::Moved { to } => format!("{cited} moved: the same lines are now at {to}"),
            Recheck::Changed {
                renamed_to: Some(symbol),
                now,
            } => format!("{cited} changed: its symbol is now {symbol}{}", at(now)),
            Recheck::Changed { now, .. } => {
                format!(
                    "{cited} changed: the cited lines read differently{}",
                    at(now)
                )
            }
            Recheck::Gone => format!("{cited} is gone, and so is the symbol it was in"),
            Recheck::NeverExisted => format!("{cited} never existed"),
        }
    }
}

fn at(place: &Option<Place>) -> String {
    place
        .as_ref()
        .map_or(String::new(), |p| format!("; look at {p}"))
}

impl Citation {
    /// Binds a place to what stands there.
    pub fn bind(graph: &CodeGraph, place: &Place) -> Result<Citation, BindError> {
        let file = graph
            .by_path(&place.path)
            .ok_or_else(|| BindError::UnknownPath {
                path: place.path.clone(),
            })?;
        let text = cited_text(graph.file(file), place.start, place.end).ok_or_else(|| {
            BindError::OutOfRange {
                place: place.clone(),
                lines: graph.file(file).line_count(),
            }
        })?;
        let symbol = symbol_of(graph, file, place.start, place.end);
        let first = symbol.map_or(1, |id| graph.node(id).span.start_line);
        Ok(Citation {
            place: place.clone(),
            symbol: symbol.map(|id| graph.node(id).symbol.to_string()),
            offset: i64::from(place.start) - i64::from(first),
            sha256: sha256(&text),
            bytes: text.len() as u32,
        })
    }

    /// What became of it in a later graph.
    pub fn recheck(&self, now: &CodeGraph) -> Recheck {
        let Place { path, start, end } = &self.place;
        let (start, end) = (*start, *end);
        let well_formed = self.sha256.len() == 64
            && self.sha256.bytes().all(|b| b.is_ascii_hexdigit())
            && 0 < start
            && start <= end;
        if !well_formed {
            return Recheck::NeverExisted;
        }
        let same_file = now.by_path(path);
        let text_here = same_file.and_then(|f| cited_text(now.file(f), start, end));
        let same_text = text_here.as_deref().is_some_and(|t| self.is_of(t));
        if let (true, Some(file)) = (same_text, same_file)
            && self.same_symbol(now, file, start, end)
        {
            return Recheck::Exact;
        }
        if let Some(to) = self.moved_to(now) {
            return Recheck::Moved { to };
        }
        if let Some(id) = self.symbol.as_deref().and_then(|s| now.by_symbol(s)) {
            return Recheck::Changed {
                now: Some(place_of(now, id)),
                renamed_to: None,
            };
        }
        if let Some(id) = self.renamed_to(now) {
            return Recheck::Changed {
                now: Some(place_of(now, id)),
                renamed_to: Some(now.node(id).symbol.to_string()),
            };
        }
        match (same_file, &self.symbol) {
            (Some(_), None) => Recheck::Changed {
                now: None,
                renamed_to: None,
            },
            _ => Recheck::Gone,
        }
    }

    fn is_of(&self, text: &str) -> bool {
        sha256(text).eq_ignore_ascii_case(&self.sha256)
    }

    fn same_symbol(&self, graph: &CodeGraph, file: FileId, start: u32, end: u32) -> bool {
        let here = symbol_of(graph, file, start, end);
        here.map(|id| &*graph.node(id).symbol) == self.symbol.as_deref()
    }

    /// The one place where the cited text stands, when it is a place of the same
    /// symbol. Text without a letter or digit has no identity.
    fn moved_to(&self, now: &CodeGraph) -> Option<Place> {
        let count = self.place.end - self.place.start + 1;
        let mut found: Option<(FileId, u32)> = None;
        for (file, id) in now.files().iter().zip((0u32..).map(FileId)) {
            let plain = !file.text.contains('\r');
            let last = (file.line_count() + 1).saturating_sub(count);
            for start in 1..=last {
                let end = start + count - 1;
                // Few windows have the length of the cited text; only those are hashed.
                if plain && window_bytes(file, start, end) != self.bytes {
                    continue;
                }
                let text = cited_text(file, start, end);
                if text.as_deref().is_some_and(|t| self.is_of(t)) {
                    let has_words = text.is_some_and(|t| t.chars().any(char::is_alphanumeric));
                    if found.is_some() || !has_words {
                        return None;
                    }
                    found = Some((id, start));
                }
            }
        }
        let (file, start) = found?;
        let end = start + count - 1;
        let place = Place {
            path: now.file(file).path.to_string(),
            start,
            end,
        };
        if place == self.place {
            return None;
        }
        let Some(symbol) = self.symbol.as_deref() else {
            return Some(place);
        };
        let here = symbol_of(now, file, start, end)?;
        let same = match now.by_symbol(symbol) {
            Some(still) => here == still,
            None => bare_name(symbol) == &*now.node(here).name,
        };
        same.then_some(place)
    }

    /// The symbol of the same file that reads like the cited one but for its own
    /// name: the one in the same lines, else the only one.
    fn renamed_to(&self, now: &CodeGraph) -> Option<NodeId> {
        let old = bare_name(self.symbol.as_deref()?);
        let file = now.by_path(&self.place.path)?;
        let count = self.place.end - self.place.start;
        let mut found = Vec::new();
        for (id, node) in now.nodes_in(file) {
            let start = i64::from(node.span.start_line) + self.offset;
            let Ok(start) = u32::try_from(start) else {
                continue;
            };
            let Some(text) = cited_text(now.file(file), start, start + count) else {
                continue;
            };
            let named_back = parse::replace_token(&text, &node.name, old);
            if symbol_of(now, file, start, start + count) == Some(id)
                && (self.is_of(&text) || self.is_of(&named_back))
            {
                if start == self.place.start {
                    return Some(id);
                }
                found.push(id);
            }
        }
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }
}

/// What became of a place that was cited from one graph, in a later one.
pub fn trace(place: &Place, before: &CodeGraph, now: &CodeGraph) -> Recheck {
    match Citation::bind(before, place) {
        Ok(citation) => citation.recheck(now),
        Err(_) => Recheck::NeverExisted,
    }
}

/// The last name of a symbol identity, its disambiguator gone.
fn bare_name(symbol: &str) -> &str {
    let tail = symbol.rsplit(['#', '.']).next().unwrap_or(symbol);
    tail.split('~').next().unwrap_or(tail)
}

fn place_of(graph: &CodeGraph, id: NodeId) -> Place {
    let node = graph.node(id);
    Place {
        path: graph.file(node.file).path.to_string(),
        start: node.span.start_line,
        end: node.span.end_line,
    }
}

/// The symbol around a range, else the first that begins in it.
fn symbol_of(graph: &CodeGraph, file: FileId, start: u32, end: u32) -> Option<NodeId> {
    let covered = || {
        graph
            .nodes_in(file)
            .filter(|(_, n)| crate::lookup::is_symbol(n.kind))
            .find(|(_, n)| start <= n.span.start_line && n.span.start_line <= end)
            .map(|(id, _)| id)
    };
    graph.innermost(file, start, end).or_else(covered)
}

/// The lines of a range joined by `\n`; `None` when one of them is missing.
fn cited_text(file: &FileInfo, start: u32, end: u32) -> Option<String> {
    if start == 0 || end < start || end > file.line_count() {
        return None;
    }
    let mut text = String::new();
    for (number, line) in file.lines(start, end) {
        if number > start {
            text.push('\n');
        }
        text.push_str(line);
    }
    Some(text)
}

/// The length of [`cited_text`] in a file without carriage returns.
fn window_bytes(file: &FileInfo, start: u32, end: u32) -> u32 {
    let from = file.line_starts[start as usize - 1];
    match file.line_starts.get(end as usize) {
        Some(&next) => next - from - 1,
        None => file.text.len() as u32 - from,
    }
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|b| format!("{b:02x}")).collect()
}
