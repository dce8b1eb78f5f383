//! Languages that are read for their definitions only.
//!
//! Such a language is an [`Outline`]: a query that says which nodes define
//! something, and a few rules. Reading, containment, documentation and names are
//! the same for all and live here, so that a language is one short file. Its
//! calls and imports are not read: answers say so instead of claiming that
//! nobody calls a function. A language whose calls are wanted implements
//! [`LanguageRules`] itself.
//!
//! # Captures
//!
//! | capture | what it marks |
//! |---|---|
//! | `@module`, `@class`, `@struct`, `@interface`, `@enum`, `@member`, `@function`, `@field`, `@constant`, `@variable`, `@type`, `@macro`, `@test` | a definition; of patterns with one `@name` the first wins |
//! | `@name`, `@owner` | its name, and what the source writes before the name |
//! | `@namespace`, `@package` | what all names of the file, or of a block of it, begin with |
//! | `@extension` | members for the type that is its `@name` |
//! | `@section` | a word that decides who sees what follows it |
//! | `@hide` | the name of a definition that is not visible after all |
//! | `@singleton` | a block whose functions need no receiver |
//! | `@returned` | the name that stands for the file |
//! | `@comment`, `@string` | words for the text search |
//!
//! `(#set! name "…")` names what has no name in the source, `prefix` goes before
//! a name, `static` says that no receiver is needed, and `outer` puts a
//! parameter that is a field into the type around the function.

mod docs;
mod heads;
mod matches;
mod nothing;
mod read;
mod skeleton;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use tree_sitter::{Node, Query};

pub(crate) use heads::Heads;

use super::{LanguageRules, Semantics};
use crate::facts::{Builder, DefIx};
use crate::link::{Library, Placement};
use crate::model::{NodeKind, SymbolTier};

/// How to read the definitions of one language.
pub(crate) struct Outline {
    /// The label in the `language` table.
    pub(crate) name: &'static str,
    pub(crate) grammar: fn() -> tree_sitter::Language,
    /// See the module's head.
    pub(crate) query: &'static str,
    pub(crate) compiled: OnceLock<Option<Query>>,
    pub(crate) semantics: &'static Semantics,
    /// Children before a definition that are not part of it: attributes.
    pub(crate) attributes: &'static [&'static str],
    /// Children where the signature ends, besides the field `body`.
    pub(crate) bodies: &'static [&'static str],
    /// Whether a comment documents what follows it.
    pub(crate) is_doc: fn(&str) -> bool,
    /// What a definition is; `None` when it is none after all.
    pub(crate) kind: fn(&At<'_>) -> Option<NodeKind>,
    /// Visible outside its module by the language's own rule.
    pub(crate) exported: fn(&At<'_>) -> bool,
    /// What the names of a file begin with, from its path and its package.
    pub(crate) home: fn(&str, &str) -> Home,
    /// Between a name and the one around it, given their kinds.
    pub(crate) joint: fn(Option<NodeKind>, NodeKind, bool) -> &'static str,
    /// A variable contains what is defined in its value.
    pub(crate) open_variables: bool,
    /// Words that declare a type in braces; what is in other braces is left out
    /// when a file with errors is looked at again.
    pub(crate) types: &'static [&'static str],
    /// How lines open definitions, where braces do not.
    pub(crate) heads: Option<&'static Heads>,
    /// The text as the grammar can take it, of the same length.
    pub(crate) parsed_text: fn(&str) -> Option<String>,
}

/// One definition, as rules see it.
pub(crate) struct At<'a> {
    /// What the capture says.
    pub(crate) kind: NodeKind,
    pub(crate) name: &'a str,
    /// From the first attribute to the name.
    pub(crate) head: &'a str,
    /// The whole definition.
    pub(crate) text: &'a str,
    /// What stands before it on its line.
    pub(crate) before: &'a str,
    /// The definition around it.
    pub(crate) outer: NodeKind,
    pub(crate) outer_exported: bool,
    pub(crate) outer_signature: &'a str,
    /// The nearest `@section` before it in its scope.
    pub(crate) section: &'a str,
    pub(crate) owner: Option<&'a str>,
    pub(crate) path: &'a str,
}

impl At<'_> {
    /// Whether a whole word stands before the name.
    pub(crate) fn says(&self, word: &str) -> bool {
        self.head
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|said| said == word)
    }

    /// Directly in a type.
    pub(crate) fn in_type(&self) -> bool {
        is_type(self.outer)
    }

    /// A function becomes a method and a field a variable by where they stand.
    pub(crate) fn by_place(&self) -> NodeKind {
        match self.kind {
            NodeKind::Function if self.in_type() => NodeKind::Method,
            NodeKind::Field if !self.in_type() => NodeKind::Variable,
            kind => kind,
        }
    }
}

/// What the names of a file begin with.
pub(crate) enum Home {
    /// A package that other files belong to as well.
    Shared(String),
    /// The file's own name.
    Own(String),
}

/// Whether members of it are methods and fields.
fn is_type(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Class | NodeKind::Struct | NodeKind::Interface | NodeKind::Enum
    )
}

/// Constants of a language that is not linked.
pub(crate) const fn unlinked(separator: &'static str) -> Semantics {
    Semantics {
        separator,
        block_scoped: true,
        open_classes: false,
        closed_modules: false,
        last_definition_wins: false,
        fields_apart: false,
        prelude: "",
        call_member: None,
    }
}

impl Outline {
    /// The tree of a file with errors without the bodies of its functions.
    fn second(&self, root: Node<'_>, path: &str, text: &str) -> Option<tree_sitter::Tree> {
        if (self.types.is_empty() && self.heads.is_none()) || !loses_much(root) {
            return None;
        }
        let parsed = (self.parsed_text)(text);
        let parsed = parsed.as_deref().unwrap_or(text);
        let skeleton = match self.heads {
            Some(heads) => heads::heads(parsed, heads, root),
            None => skeleton::skeleton(parsed, self.types),
        };
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&self.grammar(path)).ok()?;
        crate::provider::parse(&mut parser, skeleton.as_bytes())
    }

    fn query(&self) -> Option<&Query> {
        self.compiled
            .get_or_init(|| Query::new(&(self.grammar)(), self.query).ok())
            .as_ref()
    }
}

impl LanguageRules for Outline {
    fn name(&self) -> &'static str {
        self.name
    }

    fn tier(&self) -> SymbolTier {
        SymbolTier::Definitions
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        (self.grammar)()
    }

    fn extract<'s>(&self, root: Node<'_>, path: &str, facts: &mut Builder<'s>) {
        let Some(query) = self.query() else {
            facts.gave_up();
            return;
        };
        let second = self.second(root, path, facts.source);
        let second = second.as_ref().map(tree_sitter::Tree::root_node);
        if !read::read(self, query, root, second, path, facts) {
            facts.gave_up();
        }
    }

    fn semantics(&self) -> &'static Semantics {
        self.semantics
    }

    fn library(&self) -> &'static dyn Library {
        &nothing::Nothing
    }

    fn place(&self, p: &mut Placement<'_>) {
        let mut shared = BTreeMap::new();
        for &file in p.own {
            let package = p.facts[file as usize]
                .def(DefIx::ROOT)
                .signature
                .as_deref()
                .and_then(|text| text.split_once(' '))
                .map_or("", |(_, package)| package);
            match (self.home)(&p.files[file as usize].path, package) {
                Home::Shared(name) => shared.entry(name).or_insert_with(Vec::new).push(file),
                Home::Own(prefix) => {
                    let space = p.detached(&prefix);
                    p.put(file, space);
                }
            }
        }
        for (name, files) in shared {
            let space = p.detached(&name);
            for file in files {
                p.put(file, space);
            }
        }
    }

    fn joint(&self, outer: Option<NodeKind>, own: NodeKind, is_static: bool) -> &'static str {
        (self.joint)(outer, own, is_static)
    }

    fn plain_extensions(&self) -> bool {
        true
    }

    fn parsed_text(&self, text: &str) -> Option<String> {
        (self.parsed_text)(text)
    }
}

/// Errors of fewer bytes lose no definition.
const SMALL_ERROR: usize = 24;

/// Whether a tree has an error that may hide definitions.
fn loses_much(root: Node<'_>) -> bool {
    if !root.has_error() {
        return false;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() && node.byte_range().len() > SMALL_ERROR {
            return true;
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// For grammars that take the text as it is.
pub(crate) fn as_written(_: &str) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::OUTLINES;

    #[test]
    fn every_query_compiles_and_every_capture_is_known() {
        for outline in OUTLINES {
            let query = Query::new(&(outline.grammar)(), outline.query);
            let query = query.unwrap_or_else(|error| panic!("{}: {error}", outline.name));
            for name in query.capture_names() {
                assert!(
                    name.starts_with('_') || matches::Mark::of(name).is_some(),
                    "{}: @{name}",
                    outline.name
                );
            }
            for i in 0..query.pattern_count() {
                for property in query.property_settings(i) {
                    assert!(
                        ["name", "prefix", "static", "outer"].contains(&&*property.key),
                        "{}: {}",
                        outline.name,
                        property.key
                    );
                }
            }
        }
    }
}
