//! Arguments of a router's calls, and the paths and methods among them.

use tree_sitter::Node;

use super::MAX_GIVEN;
use crate::facts::{DefIx, TermId};
use crate::lang::python::items::Reader;
use crate::lang::python::{K, kind};

/// Parts of a path that is put together.
const MAX_PARTS: u32 = 12;
/// Longest constant that is read, in bytes of source.
const MAX_CONSTANT: usize = 120;

impl<'s> Reader<'_, 's> {
    pub(super) fn methods(&mut self, given: &Given<'_>) -> Vec<String> {
        match given.named("methods") {
            Some(list) => self.verbs(list),
            None => vec!["GET".to_string()],
        }
    }

    /// What a list of methods names.
    pub(super) fn verbs(&self, list: Node<'_>) -> Vec<String> {
        let mut cursor = list.walk();
        let mut verbs: Vec<String> = list
            .named_children(&mut cursor)
            .take(MAX_GIVEN)
            .filter_map(|node| self.literal(node))
            .map(str::to_ascii_uppercase)
            .collect();
        if verbs.is_empty() {
            verbs.push("ANY".to_string());
        }
        verbs
    }

    /// A path, blank where it is not written out; `None` for what is none.
    pub(super) fn path(&mut self, node: Node<'_>, depth: u32) -> Option<String> {
        if depth > MAX_PARTS {
            return None;
        }
        if let Some(text) = self.literal(node) {
            return Some(text.to_string());
        }
        match kind(node) {
            K::String | K::ConcatenatedString => {
                let mut path = String::new();
                let mut cursor = node.walk();
                let parts: Vec<Node<'_>> =
                    node.named_children(&mut cursor).take(MAX_GIVEN).collect();
                for part in parts {
                    match kind(part) {
                        K::StringContent => path.push_str(self.b.text(part)),
                        K::Interpolation => {
                            path.push_str(&self.path(part.named_child(0)?, depth + 1)?);
                        }
                        K::String => path.push_str(&self.path(part, depth + 1)?),
                        _ => {}
                    }
                }
                Some(path)
            }
            K::Parenthesized => self.path(node.named_child(0)?, depth + 1),
            K::BinaryOperator => {
                let operator = node.child_by_field_name("operator")?;
                if operator.kind() != "+" {
                    let shown = self.b.text(node);
                    return Some(self.b.blank(TermId::UNKNOWN, shown));
                }
                let left = self.path(node.child_by_field_name("left")?, depth + 1)?;
                let right = self.path(node.child_by_field_name("right")?, depth + 1)?;
                Some(left + &right)
            }
            K::Identifier | K::Attribute => {
                let term = self.terms.expr(self.b, node);
                let shown = self.b.text(node);
                Some(self.b.blank(term, shown))
            }
            K::Call => {
                let shown = self.b.text(node);
                Some(self.b.blank(TermId::UNKNOWN, shown))
            }
            _ => None,
        }
    }

    /// Keeps what a name of the module is given, for paths that name it.
    pub(in crate::lang::python) fn routes_constant(&mut self, def: DefIx, value: Node<'_>) {
        let is_text = matches!(
            kind(value),
            K::String | K::ConcatenatedString | K::BinaryOperator
        );
        if is_text
            && value.byte_range().len() <= MAX_CONSTANT
            && let Some(text) = self.path(value, 0)
        {
            self.b.constant(def, &text);
        }
    }

    /// The text of a string without parts that are computed.
    pub(super) fn literal(&self, node: Node<'_>) -> Option<&'s str> {
        if kind(node) != K::String {
            return None;
        }
        let text = self.b.text(node);
        let text = text.trim_start_matches(['r', 'R', 'u', 'U']);
        let text = text
            .strip_prefix('"')
            .and_then(|t| t.strip_suffix('"'))
            .or_else(|| text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')))?;
        (!text.contains(['"', '\'', '\n'])).then_some(text)
    }

    pub(super) fn given<'t>(&self, call: Node<'t>) -> Given<'t>
    where
        's: 't,
    {
        let mut given = Given::default();
        let Some(list) = call.child_by_field_name("arguments") else {
            return given;
        };
        let mut cursor = list.walk();
        for argument in list.named_children(&mut cursor).take(MAX_GIVEN) {
            match kind(argument) {
                K::Comment => {}
                K::KeywordArgument => {
                    if let (Some(name), Some(value)) = (
                        argument.child_by_field_name("name"),
                        argument.child_by_field_name("value"),
                    ) {
                        given.named.push((self.b.text(name), value));
                    }
                }
                _ => given.placed.push(argument),
            }
        }
        given
    }
}

/// Arguments of a call.
#[derive(Default)]
pub(super) struct Given<'t> {
    placed: Vec<Node<'t>>,
    named: Vec<(&'t str, Node<'t>)>,
}

impl<'t> Given<'t> {
    pub(super) fn at(&self, place: usize) -> Option<Node<'t>> {
        self.placed.get(place).copied()
    }

    pub(super) fn named(&self, name: &str) -> Option<Node<'t>> {
        self.named.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }
}
