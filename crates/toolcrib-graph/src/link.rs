//! From the facts of all files to one graph.
//!
//! The linker places files into a tree of modules, gives every definition its
//! names, and evaluates call sites and mentions by what the sources declare. It
//! is neutral of the language: what differs is in the rules' [`Semantics`] and
//! [`Library`]. What no declaration decides stays unresolved; nothing is
//! guessed from a name alone.
//!
//! [`Semantics`]: crate::lang::Semantics

mod bare;
mod calls;
mod edges;
mod eval;
mod index;
mod library;
mod lookup;
mod members;
mod mounts;
mod naming;
mod paths;
mod relations;
mod shape;
mod shapes;
mod shared;
mod sites;
mod spaces;
mod value;

use crate::facts::FileFacts;
use crate::graph::GraphParts;
use crate::scan::SourceFile;

pub(crate) use library::{Library, OPAQUE, Seen, Shapes, Special};
pub(crate) use spaces::{Placement, SpaceIx};
pub(crate) use value::Ty;

use index::Index;

/// Links files and their facts, both in path order.
pub(crate) fn link(files: &[SourceFile], facts: &[FileFacts]) -> GraphParts {
    let index = Index::new(files, facts);
    edges::assemble(&index)
}
