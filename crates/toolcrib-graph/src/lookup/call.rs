//! The five lookups as data: their arguments, and a call that can be made again.
//!
//! A follow-up offered by an answer is such a call, printed as the lookup's name
//! and its arguments in JSON; making it returns the next part, so that paging is
//! a matter of copying it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Arguments of `search_symbols`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSymbols {
    /// A name, part of one, or words.
    pub query: String,
    /// A node kind, see [`crate::NodeKind::as_str`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// A directory, file or glob to search in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many results to show, 20 unless given, at most 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// How many results to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

/// Arguments of `explore_area`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExploreArea {
    /// A qualified name, a directory or file prefix, or `A -> B`.
    pub query: String,
    /// How many symbols, and then edges, to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

/// Arguments of `read_source`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadSource {
    /// A file, relative to the root.
    pub path: String,
    /// The first line, 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u32>,
    /// The last line, `start + 40` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
}

/// Arguments of `symbol_neighbors`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymbolNeighbors {
    /// A qualified name, or a bare one that is unique.
    pub name: String,
    /// `incoming`, `outgoing` or `both`; both unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
    /// Edge kinds, see [`crate::EdgeKind::as_str`]; `guess` adds guessed edges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    /// How many edges to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

/// Arguments of `list_files`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListFiles {
    /// A directory or file prefix; the root unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A glob over file names, or over paths when it has a `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    /// How many files to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

/// One call of one lookup.
///
/// `Display` writes `search_symbols {"query":"cap","offset":20}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", content = "arguments", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum LookupCall {
    SearchSymbols(SearchSymbols),
    ExploreArea(ExploreArea),
    ReadSource(ReadSource),
    SymbolNeighbors(SymbolNeighbors),
    ListFiles(ListFiles),
}

impl fmt::Display for LookupCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, arguments) = match self {
            LookupCall::SearchSymbols(a) => ("search_symbols", serde_json::to_string(a)),
            LookupCall::ExploreArea(a) => ("explore_area", serde_json::to_string(a)),
            LookupCall::ReadSource(a) => ("read_source", serde_json::to_string(a)),
            LookupCall::SymbolNeighbors(a) => ("symbol_neighbors", serde_json::to_string(a)),
            LookupCall::ListFiles(a) => ("list_files", serde_json::to_string(a)),
        };
        write!(f, "{tool} {}", arguments.map_err(|_| fmt::Error)?)
    }
}
