//! Names that parameters and statements bind.

use tree_sitter::Node;

use super::K;
use super::declarators::declared;
use super::items::Reader;
use super::terms::children;
use crate::facts::{Term, TermId};

impl<'s> Reader<'_, 's> {
    /// Binds the parameters of a function declarator until a byte.
    pub(in crate::lang) fn parameters(&mut self, function: Node<'_>, until: u32) {
        let Some(list) = function.child_by_field_name("parameters") else {
            return;
        };
        for parameter in children(self.kinds, list) {
            if !matches!(
                self.kind(parameter),
                K::Parameter | K::OptionalParameter | K::PackParameter
            ) {
                continue;
            }
            let (Some(ty), Some(declarator)) = (
                parameter.child_by_field_name("type"),
                parameter.child_by_field_name("declarator"),
            ) else {
                continue;
            };
            let Some(found) = declared(self.kinds, declarator) else {
                continue;
            };
            let value = self.instance(ty, Some(declarator));
            let sym = self.b.node_name(found.name);
            let at = found.name.end_byte() as u32;
            self.terms.note_plain(sym, declarator);
            self.b.local(sym, at, until, value);
        }
    }

    /// A value of a declared type; unknown where that is `auto`.
    fn instance(&mut self, ty: Node<'_>, declarator: Option<Node<'_>>) -> TermId {
        if self.is_auto(ty) {
            return TermId::UNKNOWN;
        }
        let ty = self.terms.declared_type(self.b, ty, declarator);
        self.b.term(Term::Inst(ty))
    }

    fn is_auto(&self, ty: Node<'_>) -> bool {
        matches!(self.kind(ty), K::Placeholder | K::Auto) || self.b.text(ty) == "__auto_type"
    }

    pub(super) fn local_declaration(&mut self, node: Node<'_>) {
        self.flush_comment();
        let ty = node.child_by_field_name("type");
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        self.name_inner_type(node, ty, &declarators);
        let until = self.block_end();
        for declarator in declarators {
            let Some(found) = declared(self.kinds, declarator) else {
                continue;
            };
            let value = declarator
                .child_by_field_name("value")
                .or_else(|| node.child_by_field_name("value"));
            if self.kind(found.name) == K::StructuredBinding {
                let value = match value {
                    Some(value) => self.terms.expr(self.b, value),
                    None => TermId::UNKNOWN,
                };
                self.structured(found.name, value, declarator.end_byte() as u32, until);
                continue;
            }
            if !matches!(self.kind(found.name), K::Identifier) {
                continue;
            }
            if self.named_lambda(declarator, &found) {
                continue;
            }
            let said = self.specifiers(node);
            if self.is_cpp && !(said.is_extern && self.kind(declarator) == K::Identifier) {
                self.made_by(ty, declarator);
            }
            // A prototype inside a function names no value.
            if found.is_function() && !self.is_cpp {
                continue;
            }
            let term = match (ty, value) {
                (Some(ty), Some(value)) if self.is_auto(ty) => self.terms.expr(self.b, value),
                (Some(ty), _) if found.is_function() => self.instance(ty, None),
                (Some(ty), _) => {
                    let term = self.terms.declared_type(self.b, ty, Some(declarator));
                    self.note_braces(declarator, term);
                    self.b.term(Term::Inst(term))
                }
                (None, _) => TermId::UNKNOWN,
            };
            let sym = self.b.node_name(found.name);
            let at = found.name.end_byte() as u32;
            self.terms.note_plain(sym, declarator);
            self.b.local(sym, at, until, term);
        }
    }

    /// `auto [a, b] = …`
    fn structured(&mut self, names: Node<'_>, value: TermId, at: u32, until: u32) {
        for (i, name) in children(self.kinds, names).into_iter().enumerate() {
            let part = if value.is_known() {
                self.b.term(Term::Part(value, i.min(200) as u8))
            } else {
                TermId::UNKNOWN
            };
            let sym = self.b.node_name(name);
            self.b.local(sym, at, until, part);
        }
    }

    pub(super) fn for_range(&mut self, node: Node<'_>) {
        let end = node.end_byte() as u32;
        self.blocks.push(end);
        let (Some(ty), Some(declarator), Some(right)) = (
            node.child_by_field_name("type"),
            node.child_by_field_name("declarator"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let Some(found) = declared(self.kinds, declarator) else {
            return;
        };
        let at = right.end_byte() as u32;
        let value = if self.is_auto(ty) {
            let source = self.terms.expr(self.b, right);
            self.b.term(Term::Each(source))
        } else {
            self.instance(ty, Some(declarator))
        };
        if self.kind(found.name) == K::StructuredBinding {
            self.structured(found.name, value, at, end);
            return;
        }
        let sym = self.b.node_name(found.name);
        self.b.local(sym, at, end, value);
    }

    pub(super) fn catch(&mut self, node: Node<'_>) {
        let end = node.end_byte() as u32;
        self.blocks.push(end);
        self.parameters(node, end);
    }

    pub(super) fn lambda(&mut self, node: Node<'_>) {
        let end = node.end_byte() as u32;
        self.blocks.push(end);
        if let Some(declarator) = node.child_by_field_name("declarator") {
            self.parameters(declarator, end);
        }
    }

    /// What a function without a stated result returns.
    pub(super) fn returned(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        if !self.is_cpp || self.b.def(scope).ty.is_known() || !self.in_function() {
            return;
        }
        if let Some(value) = children(self.kinds, node).first() {
            let term = self.terms.expr(self.b, *value);
            self.b.value(scope, scope, term);
        }
    }
}
