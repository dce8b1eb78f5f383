//! The five lookups: `search_symbols`, `explore_area`, `read_source`,
//! `symbol_neighbors` and `list_files`.
//!
//! Each takes plain arguments and returns an [`Answer`]: typed data for a
//! program and the text that a person and a model read, which is the same text.
//! They read the snapshot alone, so an answer never depends on what happens to
//! the files meanwhile. Plain and narrow on purpose: five small answers that
//! say what they left out serve a small context better than one large one.
//! Wrapping them as tools, with schemas, is someone else's work.
//!
//! # Line grammar
//!
//! Texts are at most 8,000 characters ([`MAX_CHARS`]), all included, and end
//! in a newline. Fields of a record are separated by two spaces; a kind and a
//! name by one. A place is `path:line` or `path:first-last`. Control characters
//! never occur but as `\n` between lines and as tabs in source.
//!
//! ```text
//! answer    = head { record } { note } [ more ], or two of these in a row where
//!             a symbol's members or an area's nodes are followed by its edges
//! symbol    = KIND " " QUALIFIED "  " PLACE [ "  " SIGNATURE ]
//! file      = "file " PATH [ "  " LANGUAGE ", " N " lines" ]
//! doc       = 4 spaces, the first sentence of the doc comment of the line before
//! text      = "text " OWNER "  " PATH ":" LINE "  " the line, trimmed
//! edge      = FROM " -" EDGE-KIND "-> " TO "  " PATH ":" LINE [ "  [dynamic]" ]
//! neighbor  = ( "<- " | "-> " ) EDGE-KIND " " ( symbol | file ), no signature,
//!             then unless the kind is contains: "  at " PATH ":" LINE
//!             [ " (also " LINE { ", " LINE } [ ", …" ] ")" ]
//!             [ "  [" MARK { "; " MARK } "]" ]
//! MARK      = "x" N | "guess" | "dynamic: " N " implementation(s)"
//!           | "dynamic: no other implementation" | "dynamic via " QUALIFIED
//!           | "ambiguous: one of " N
//! source    = LINE TAB the line [ " (+" N " characters)" ]
//! listed    = PATH "  " LANGUAGE "  " N " bytes"
//! note      = "note: " one line; "note: nearest names:" has indented symbols below
//! more      = [ "(truncated) " ] N " more; next: " CALL
//! CALL      = the lookup's name, a space, its arguments as JSON; for people the
//!             command that makes it, see [`Lookup::for_commands`]
//! ```
//!
//! | lookup | head | records |
//! |---|---|---|
//! | `search_symbols` | `N results for "QUERY"; A-B shown:` | symbol with doc, text |
//! | `explore_area`, a name | symbol with doc, [tallies](SiteTally::sentence), `N members; A-B shown:`, then `N edges; A-B shown:` | symbol, then neighbor |
//! | `explore_area`, a path | `area PATH: N nodes in M files; A-B shown:`, then `N edges; A-B shown:` | file, symbol, then edge |
//! | `explore_area`, `A -> B` | `N shortest paths of M calls from A to B:` or `no call path from A to B…:`, both symbols | `path N:` and edges |
//! | `read_source` | `PLACE of N lines (LANGUAGE)` | source |
//! | `symbol_neighbors` | symbol with doc, tallies, `N edges; A-B shown:` | neighbor |
//! | `list_files` | `N files[ under PATH][; A-B shown; by directory: …]:` | listed |
//!
//! Only what does not fit, or comes after the limit, is left out, and `more`
//! says how much and returns it when called.

mod call;
mod cap;
mod error;
mod explore;
mod facts;
mod files;
mod index;
mod near;
mod neighbors;
mod paths;
mod rank;
mod render;
mod resolve;
mod search;
mod source;
mod voice;
mod words;

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::Serialize;

pub use call::{ExploreArea, ListFiles, LookupCall, ReadSource, SearchSymbols, SymbolNeighbors};
pub use cap::{MAX_CHARS, TRUNCATED};
pub use error::LookupError;
pub use explore::{Area, AreaEdge, Explored, SymbolView};
pub use facts::{CallPlaces, SiteTally};
pub use files::FileList;
pub use neighbors::{Neighbor, Neighbors};
pub use paths::{CallPath, CallPaths, Step};
pub use rank::Match;
pub use search::{Hit, SearchResults};
pub use source::SourceLines;

use crate::graph::CodeGraph;
pub(crate) use cap::clip;
use index::LookupIndex;
pub(crate) use index::is_symbol;
use voice::Voice;

/// What a lookup found, as data and as text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer<T> {
    /// For programs.
    pub data: T,
    /// For people and models, in the grammar of the module head.
    pub text: String,
}

/// An answer or the reason why there is none.
pub(crate) type LookupResult<T> = Result<T, LookupError>;

/// A graph and what its lookups need beside it. Build it once a graph.
pub struct Lookup {
    pub(crate) graph: Arc<CodeGraph>,
    pub(crate) index: Arc<LookupIndex>,
    voice: Voice,
}

impl Lookup {
    /// Indexes a graph; takes a fraction of the time that building it took.
    pub fn new(graph: Arc<CodeGraph>) -> Lookup {
        let index = Arc::new(LookupIndex::build(&graph));
        Lookup {
            graph,
            index,
            voice: Voice::default(),
        }
    }

    /// The graph that is looked up in.
    pub fn graph(&self) -> &CodeGraph {
        &self.graph
    }

    /// Makes a call, such as a follow-up, and returns its text.
    pub fn run(&self, call: &LookupCall) -> Result<String, LookupError> {
        Ok(match call {
            LookupCall::SearchSymbols(a) => self.search_symbols(a)?.text,
            LookupCall::ExploreArea(a) => self.explore_area(a)?.text,
            LookupCall::ReadSource(a) => self.read_source(a)?.text,
            LookupCall::SymbolNeighbors(a) => self.symbol_neighbors(a)?.text,
            LookupCall::ListFiles(a) => self.list_files(a)?.text,
        })
    }
}

/// What a listing leaves out, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rest {
    /// How many records come after those shown.
    pub left_out: usize,
    /// Whether the limit on characters, not on records, ended the listing.
    pub truncated: bool,
    /// The call that returns the next part.
    pub next: LookupCall,
}

impl Rest {
    /// The follow-up line of the grammar.
    pub(crate) fn line(&self, voice: &Voice) -> String {
        let marker = if self.truncated { "(truncated) " } else { "" };
        format!(
            "{marker}{} more; next: {}\n",
            self.left_out,
            voice.call(&self.next)
        )
    }
}
