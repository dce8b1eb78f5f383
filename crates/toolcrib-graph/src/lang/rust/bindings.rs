//! Names that statements, parameters and closures bind.

use tree_sitter::Node;

use super::items::Reader;
use super::patterns::{Visible, bind, placed};
use super::{K, kind};
use crate::facts::{Term, TermId};

impl<'s> Reader<'_, 's> {
    pub(super) fn block_end(&self, node: Node<'_>) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(node.end_byte() as u32)
    }

    pub(super) fn bind_let(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return;
        };
        self.routes_let(node);
        let value = self.declared_or(node, "value");
        let visible = Visible {
            at: node.end_byte() as u32,
            until: self.block_end(node),
        };
        bind(self.b, &mut self.terms, pattern, value, visible);
    }

    pub(super) fn bind_condition(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return;
        };
        let value = self.declared_or(node, "value");
        let visible = Visible {
            at: node.end_byte() as u32,
            until: self.block_end(node),
        };
        bind(self.b, &mut self.terms, pattern, value, visible);
    }

    pub(super) fn bind_for(&mut self, node: Node<'_>) {
        let (Some(pattern), Some(body)) = (
            node.child_by_field_name("pattern"),
            node.child_by_field_name("body"),
        ) else {
            return;
        };
        let value = self.declared_or(node, "value");
        let each = self.b.term(Term::Each(value));
        let visible = Visible {
            at: body.start_byte() as u32,
            until: body.end_byte() as u32,
        };
        bind(self.b, &mut self.terms, pattern, each, visible);
    }

    pub(super) fn closure(&mut self, node: Node<'_>) {
        self.blocks.push(node.end_byte() as u32);
        let Some(parameters) = node.child_by_field_name("parameters") else {
            return;
        };
        let passed = self.passed.remove(&node.id());
        let visible = Visible {
            at: node.start_byte() as u32,
            until: node.end_byte() as u32,
        };
        for (place, parameter) in placed(parameters) {
            let mut pattern = parameter;
            let mut value = match (passed, place) {
                (Some((receiver, method)), Some(place)) => {
                    self.b.term(Term::Passed(receiver, method, place))
                }
                _ => TermId::UNKNOWN,
            };
            if kind(parameter) == K::Parameter {
                if let Some(ty) = parameter.child_by_field_name("type") {
                    let term = self.terms.ty(self.b, ty);
                    // `_` leaves it to the context.
                    if term.is_known() && self.b.text(ty) != "_" {
                        value = self.b.term(Term::Inst(term));
                    }
                }
                match parameter.child_by_field_name("pattern") {
                    Some(inner) => pattern = inner,
                    None => continue,
                }
            }
            bind(self.b, &mut self.terms, pattern, value, visible);
        }
    }

    pub(super) fn parameter(&mut self, node: Node<'_>) {
        let Some(pattern) = node.child_by_field_name("pattern") else {
            return;
        };
        let value = self.declared_or(node, "value");
        let visible = Visible {
            at: node.start_byte() as u32,
            until: self.block_end(node),
        };
        bind(self.b, &mut self.terms, pattern, value, visible);
    }

    /// The declared type, else the value of a field.
    pub(super) fn declared_or(&mut self, node: Node<'_>, field: &str) -> TermId {
        if let Some(ty) = node.child_by_field_name("type")
            && self.b.text(ty) != "_"
        {
            let ty = self.terms.ty(self.b, ty);
            return self.b.term(Term::Inst(ty));
        }
        match node.child_by_field_name(field) {
            Some(value) => self.terms.expr(self.b, value),
            None => TermId::UNKNOWN,
        }
    }
}
