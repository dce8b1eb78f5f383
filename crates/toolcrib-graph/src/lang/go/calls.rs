//! Call sites.

use tree_sitter::Node;

use super::items::Reader;
use super::{K, kind};

impl Reader<'_, '_> {
    pub(super) fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        let callee = self.terms.expr(self.b, function);
        let mut plain = function;
        loop {
            let inner = match kind(plain) {
                K::Parenthesized => plain.named_child(0),
                K::Instantiation => plain.child_by_field_name("type"),
                K::Index => plain.child_by_field_name("operand"),
                K::Unary => plain.child_by_field_name("operand"),
                _ => None,
            };
            match inner {
                Some(inner) => plain = inner,
                None => break,
            }
        }
        let name = match kind(plain) {
            K::Selector => plain.child_by_field_name("field"),
            K::Identifier | K::TypeIdentifier => Some(plain),
            K::QualifiedType => plain.child_by_field_name("name"),
            _ => None,
        };
        let sym = match name {
            Some(name) => self.b.node_name(name),
            None => self.b.owned_name(""),
        };
        self.b.call(node, function, sym, callee);
        self.callee = plain.id();
        self.routes_call(node, plain);
    }

    /// `[]byte(s)` and other conversions whose type is no mere name.
    pub(super) fn conversion(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        let callee = self.terms.ty(self.b, ty);
        let sym = self.b.owned_name("");
        self.b.call(node, ty, sym, callee);
    }
}
