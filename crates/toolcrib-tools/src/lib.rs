//! The built-in tools: lookups on the code graph of one repository.
//!
//! [`GraphTools`] is a source of five read-only tools over one immutable
//! snapshot. What they do lives in `toolcrib-graph`; this crate gives them their
//! names, descriptions and schemas, and nothing else.

mod graph;

pub use graph::GraphTools;
