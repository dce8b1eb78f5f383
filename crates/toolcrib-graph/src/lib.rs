//! An in-memory graph of one repository.
//!
//! A [`CodeGraph`] is an immutable snapshot: files with their text, symbols
//! ([`Node`]), relations ([`Edge`]) and every call expression ([`CallSite`]) in
//! exactly one [`SiteState`]. It is built in parallel by a [`GraphProvider`] and
//! then only read; nothing in it depends on thread timing, so two builds of the
//! same tree are equal byte for byte.
//!
//! This crate knows nothing of tools or models: lookups return plain text and
//! data, and whoever offers them to a model wraps them.

mod citation;
mod facts;
mod graph;
mod lang;
mod language;
mod lines;
mod link;
mod lookup;
mod model;
mod provider;
mod scan;
mod snapshot;

pub use citation::{
    AnswerCheck, BindError, CheckedCitation, Citation, CitedPlace, CitedState, Place, Recheck,
    UnknownName, cited_places, trace,
};
pub use graph::{CodeGraph, GraphParts};
pub use lookup::{
    Answer, Area, AreaEdge, CallPath, CallPaths, CallPlaces, ExploreArea, Explored, FileList, Hit,
    ListFiles, Lookup, LookupCall, LookupError, MAX_CHARS, Match, Neighbor, Neighbors, ReadSource,
    Rest, SearchResults, SearchSymbols, SiteTally, SourceLines, Step, SymbolNeighbors, SymbolView,
    TRUNCATED,
};
pub use model::{
    CallSite, Direction, Edge, EdgeKind, FileId, FileInfo, Language, Node, NodeId, NodeKind,
    Origin, SiteState, Span, Str, SymbolTier, Text, TextKind,
};
pub use provider::{CachedProvider, GraphProvider, Provided, TreeSitterProvider};
pub use scan::{
    DEFAULT_MAX_FILE_SIZE, Exclusion, Problem, ProblemKind, ScanOptions, ScanReport, SourceFile,
    path_text,
};
pub use snapshot::{GraphError, Snapshot};
