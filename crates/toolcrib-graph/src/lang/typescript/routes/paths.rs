//! Arguments of a router's calls, and the paths among them.

use tree_sitter::Node;

use super::MAX_GIVEN;
use crate::facts::{DefIx, TermId};
use crate::lang::typescript::K;
use crate::lang::typescript::items::{Reader, unquoted};

/// Parts of a path that is put together.
const MAX_PARTS: u32 = 12;
/// Longest constant that is read, in bytes of source.
const MAX_CONSTANT: usize = 120;
/// Longest constant that lists paths, in bytes of source.
const MAX_LIST: usize = 1_000;

impl<'s> Reader<'_, 's> {
    pub(super) fn given<'t>(&self, call: Node<'t>) -> Vec<Node<'t>> {
        let Some(arguments) = call.child_by_field_name("arguments") else {
            return Vec::new();
        };
        if self.kinds.of(arguments) != K::Arguments {
            return Vec::new();
        }
        let mut cursor = arguments.walk();
        arguments
            .named_children(&mut cursor)
            .filter(|argument| self.kinds.of(*argument) != K::Comment)
            .take(MAX_GIVEN)
            .collect()
    }

    /// The value of a key of an object that is written out.
    pub(super) fn option<'t>(&self, object: Node<'t>, key: &str) -> Option<Node<'t>> {
        if self.kinds.of(object) != K::Object {
            return None;
        }
        let mut cursor = object.walk();
        object
            .named_children(&mut cursor)
            .take(MAX_GIVEN)
            .filter(|pair| self.kinds.of(*pair) == K::Pair)
            .find(|pair| {
                pair.child_by_field_name("key")
                    .is_some_and(|name| unquoted(self.b.text(name)) == key)
            })
            .and_then(|pair| pair.child_by_field_name("value"))
    }

    /// The paths of an argument: each of a list, else the one.
    pub(super) fn paths(&mut self, node: Node<'_>) -> Vec<String> {
        let node = self.bare(node);
        if self.kinds.of(node) == K::Identifier {
            let name = self.b.node_name(node);
            if let Some(listed) = self.routes.lists.get(&name)
                && self.b.locals().iter().all(|local| local.name != name)
            {
                return listed.clone();
            }
        }
        if self.kinds.of(node) != K::Array {
            return self.path(node, 0).into_iter().collect();
        }
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).take(MAX_GIVEN).collect();
        let mut paths = Vec::new();
        for part in parts {
            match self.kinds.of(part) {
                // `...paths`
                K::Spread => {
                    let list = part
                        .named_child(0)
                        .filter(|list| self.kinds.of(*list) == K::Identifier);
                    paths.extend(list.map(|list| self.paths(list)).unwrap_or_default());
                }
                _ => paths.extend(self.path(part, 0)),
            }
        }
        paths
    }

    /// A path, blank where it is not written out; `None` for what is none.
    pub(super) fn path(&mut self, node: Node<'_>, depth: u32) -> Option<String> {
        if depth > MAX_PARTS {
            return None;
        }
        match self.kinds.of(node) {
            K::String => Some(unquoted(self.b.text(node)).to_string()),
            K::Regex => Some(self.b.text(node).to_string()),
            K::Template => {
                let mut path = String::new();
                let mut at = node.start_byte() + 1;
                let mut cursor = node.walk();
                let parts: Vec<Node<'_>> = node
                    .named_children(&mut cursor)
                    .filter(|part| self.kinds.of(*part) == K::Substitution)
                    .take(MAX_GIVEN)
                    .collect();
                for part in parts {
                    path.push_str(self.b.source.get(at..part.start_byte()).unwrap_or(""));
                    if let Some(inner) = part.named_child(0) {
                        path.push_str(&self.path(inner, depth + 1)?);
                    }
                    at = part.end_byte();
                }
                let end = node.end_byte().saturating_sub(1);
                path.push_str(self.b.source.get(at..end).unwrap_or(""));
                Some(path)
            }
            K::Binary => {
                let operator = node.child_by_field_name("operator")?;
                if operator.kind() != "+" {
                    return None;
                }
                let left = self.path(node.child_by_field_name("left")?, depth + 1)?;
                let right = self.path(node.child_by_field_name("right")?, depth + 1)?;
                Some(left + &right)
            }
            K::Parenthesized | K::As | K::Satisfies | K::NonNull => {
                self.path(node.named_child(0)?, depth + 1)
            }
            K::Identifier | K::Member => {
                let term = self.terms.expr(self.b, node);
                let shown = self.b.text(node);
                Some(self.b.blank(term, shown))
            }
            K::Call | K::Subscript => {
                let shown = self.b.text(node);
                Some(self.b.blank(TermId::UNKNOWN, shown))
            }
            _ => None,
        }
    }

    /// Keeps what a constant of the module says, for paths that name it.
    pub(in crate::lang::typescript) fn routes_constant(&mut self, def: DefIx, value: Node<'_>) {
        let value = self.bare(value);
        if self.kinds.of(value) == K::Array && value.byte_range().len() <= MAX_LIST {
            let listed = self.paths(value);
            if !listed.is_empty() {
                let name = self.b.def(def).name;
                self.routes.lists.insert(name, listed);
            }
            return;
        }
        let is_text = matches!(self.kinds.of(value), K::String | K::Template | K::Binary);
        if is_text
            && value.byte_range().len() <= MAX_CONSTANT
            && let Some(text) = self.path(value, 0)
        {
            self.b.constant(def, &text);
        }
    }
}
