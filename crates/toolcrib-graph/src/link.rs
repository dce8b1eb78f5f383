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
mod import_paths;
mod included;
mod index;
mod instance;
mod library;
mod lookup;
mod members;
mod merge;
mod mounts;
mod naming;
mod paths;
mod relations;
mod roots;
mod served;
mod shape;
mod shapes;
mod shared;
mod sites;
mod spaces;
mod textual;
mod value;
mod variables;
mod virtuals;

use crate::facts::FileFacts;
use crate::graph::GraphParts;
use crate::scan::SourceFile;

pub(crate) use library::{Library, OPAQUE, Seen, Shapes, Special};
pub(crate) use roots::leading;
pub(crate) use spaces::{Placement, SpaceIx};
pub(crate) use textual::Home;
pub(crate) use value::Ty;

use index::Index;

/// Links files and their facts, both in path order, with their languages' rules.
pub(crate) fn link(
    files: &[SourceFile],
    facts: &[FileFacts],
    languages: Vec<Option<usize>>,
) -> GraphParts {
    let index = Index::new(files, facts, languages);
    edges::assemble(&index)
}
