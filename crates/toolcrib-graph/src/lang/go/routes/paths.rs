//! Paths and handlers among the arguments of a router's calls.

use tree_sitter::Node;

use super::{MAX_GIVEN, MAX_PARTS};
use crate::facts::{DefIx, Sym, Term, TermId};
use crate::lang::go::bindings::children;
use crate::lang::go::items::Reader;
use crate::lang::go::{K, kind};

/// Methods that net/http has constants for.
const METHODS: [&str; 9] = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
];
/// Longest constant that is read, in bytes of source.
const MAX_CONSTANT: usize = 120;

impl<'s> Reader<'_, 's> {
    /// What answers a route: a function, the method of a value, or the only one of
    /// these that a wrapper is given.
    pub(super) fn handler(&mut self, node: Node<'_>, depth: u32) -> TermId {
        match kind(node) {
            K::FuncLiteral => TermId::UNKNOWN,
            K::Call if depth < MAX_PARTS => {
                let mut found = Vec::new();
                let is_function = node
                    .child_by_field_name("function")
                    .is_some_and(|function| self.b.text(function).ends_with("HandlerFunc"));
                if !is_function {
                    found.push(self.served(node));
                }
                let given = node.child_by_field_name("arguments").map(children);
                for inner in given.into_iter().flatten().take(MAX_GIVEN) {
                    if matches!(kind(inner), K::Call | K::Identifier | K::Selector) {
                        found.push(self.handler(inner, depth + 1));
                    }
                }
                let both = self.b.list(&found);
                self.b.term(Term::Either(both))
            }
            _ => {
                let term = self.terms.expr(self.b, node);
                let served = self.served(node);
                let both = self.b.list(&[term, served]);
                self.b.term(Term::Either(both))
            }
        }
    }

    fn served(&mut self, node: Node<'_>) -> TermId {
        let term = self.terms.expr(self.b, node);
        let serve = self.b.owned_name("ServeHTTP");
        self.b.term(Term::Member(term, serve))
    }

    pub(super) fn literal(&self, node: Node<'_>) -> Option<&'s str> {
        match kind(node) {
            K::String => Some(self.b.text(node).trim_matches('"')),
            K::RawString => Some(self.b.text(node).trim_matches('`')),
            _ => None,
        }
    }

    /// The method that `http.MethodPost` names, under any name of the package.
    pub(super) fn http_method(&self, node: Node<'_>) -> Option<String> {
        if kind(node) != K::Selector {
            return None;
        }
        let (_, name) = self.b.text(node).split_once('.')?;
        let name = name.strip_prefix("Method")?.to_ascii_uppercase();
        METHODS.contains(&name.as_str()).then_some(name)
    }

    /// The methods that an argument is: one, or a slice of them.
    pub(super) fn http_methods(&self, node: Node<'_>) -> Vec<String> {
        if kind(node) != K::Composite {
            let literal = self.literal(node).map(str::to_ascii_uppercase);
            return literal
                .or_else(|| self.http_method(node))
                .into_iter()
                .collect();
        }
        let Some(body) = node.child_by_field_name("body") else {
            return Vec::new();
        };
        let elements = children(body).into_iter().take(MAX_GIVEN);
        elements
            .filter_map(|element| element.named_child(0))
            .flat_map(|element| match kind(element) {
                K::Composite => Vec::new(),
                _ => self.http_methods(element),
            })
            .collect()
    }

    /// A path, blank where it is not written out; `None` for what is none.
    pub(super) fn path(&mut self, node: Node<'_>, depth: u32) -> Option<String> {
        if depth > MAX_PARTS {
            return None;
        }
        match kind(node) {
            K::String | K::RawString => self.literal(node).map(str::to_string),
            K::Parenthesized => self.path(node.named_child(0)?, depth + 1),
            K::Binary => {
                let operator = node.child_by_field_name("operator")?;
                if operator.kind() != "+" {
                    return None;
                }
                let left = self.path(node.child_by_field_name("left")?, depth + 1)?;
                let right = self.path(node.child_by_field_name("right")?, depth + 1)?;
                Some(left + &right)
            }
            K::Selector if self.http_method(node).is_some() => self.http_method(node),
            K::Identifier | K::Selector => {
                let sym = self.b.node_name(node);
                let scope = self.b.scope();
                if let Some(text) = self.routes.constants.get(&(scope, sym)) {
                    return Some(text.clone());
                }
                let term = self.terms.expr(self.b, node);
                let shown = self.b.text(node);
                Some(self.b.blank(term, shown))
            }
            K::Call | K::Index => {
                let shown = self.b.text(node);
                Some(self.b.blank(TermId::UNKNOWN, shown))
            }
            _ => None,
        }
    }

    /// Keeps what a constant says, for paths that name it.
    pub(in crate::lang::go) fn routes_constant(
        &mut self,
        def: Option<DefIx>,
        name: Sym,
        value: Node<'_>,
    ) {
        let is_text = matches!(kind(value), K::String | K::RawString | K::Binary);
        if !is_text || value.byte_range().len() > MAX_CONSTANT {
            return;
        }
        let Some(text) = self.path(value, 0) else {
            return;
        };
        match def {
            Some(def) => self.b.constant(def, &text),
            None => {
                let scope = self.b.scope();
                self.routes.constants.insert((scope, name), text);
            }
        }
    }
}
