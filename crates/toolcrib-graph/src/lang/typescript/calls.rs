//! Calls, and mentions that need more than their name.

use tree_sitter::Node;

use super::K;
use super::items::{Passed, Reader, line};
use crate::facts::{Term, TermId};

impl<'s> Reader<'_, 's> {
    pub(super) fn mention_name(&mut self, node: Node<'_>, kind: K) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = self.b.text(name);
        let is_element = kind != K::Generic;
        if is_element && text.starts_with(char::is_lowercase) && !text.contains('.') {
            return;
        }
        if self.kinds.of(name) == K::NestedType {
            return;
        }
        let term = self.terms.expr(self.b, name);
        self.b.mention(term, line(node));
    }

    pub(super) fn call(&mut self, node: Node<'_>, kind: K) {
        let field = if kind == K::New {
            "constructor"
        } else {
            "function"
        };
        let Some(function) = node.child_by_field_name(field) else {
            // A call is a site even when its callee is not to be read.
            let name = self.b.owned_name("");
            self.b.call(node, node, name, TermId::UNKNOWN);
            return;
        };
        let mut inner = function;
        while matches!(
            self.kinds.of(inner),
            K::Parenthesized | K::NonNull | K::Instantiation
        ) && let Some(next) = inner.named_child(0)
        {
            inner = next;
        }
        let callee = match self.kinds.of(inner) {
            K::Super => self.heritage.last().map_or(TermId::UNKNOWN, |h| h.1),
            _ => self.terms.expr(self.b, function),
        };
        let name = match self.kinds.of(inner) {
            K::Identifier | K::Super | K::ImportKeyword => self.b.node_name(inner),
            K::Member => match inner.child_by_field_name("property") {
                Some(name) => self.b.node_name(name),
                None => self.b.owned_name(""),
            },
            _ => self.b.owned_name(""),
        };
        self.b.call(node, function, name, callee);
        self.callee = inner.id();
        self.passed_functions(node, inner, callee);
        if kind == K::Call {
            self.dynamic_import(node, inner);
            self.route(node, inner);
            self.test_block(node, inner);
        }
    }

    /// Functions among the arguments take what the method gives them.
    pub(super) fn passed_functions(&mut self, node: Node<'_>, callee: Node<'_>, term: TermId) {
        let method = match self.b.term_of(term) {
            Term::Member(receiver, name) if self.kinds.of(callee) == K::Member => {
                Some((receiver, name))
            }
            _ => None,
        };
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return;
        };
        if self.kinds.of(arguments) != K::Arguments {
            return;
        }
        let mut cursor = arguments.walk();
        let mut place = 0u8;
        for argument in arguments.named_children(&mut cursor).take(6) {
            match self.kinds.of(argument) {
                K::Comment => continue,
                K::Arrow | K::FunctionExpression => {
                    let passed = Passed {
                        callee: term,
                        argument: place,
                        method,
                    };
                    self.passed.insert(argument.id(), passed);
                }
                _ => {}
            }
            place += 1;
        }
    }
}
