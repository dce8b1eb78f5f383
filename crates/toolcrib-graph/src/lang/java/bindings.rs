//! Names that parameters, statements and patterns bind.

use tree_sitter::Node;

use super::items::Reader;
use super::terms::either;
use super::{K, children, kind};
use crate::facts::{Term, TermId};

impl<'s> Reader<'_, 's> {
    pub(super) fn parameter(&mut self, node: Node<'_>, until: u32) {
        let at = node.start_byte() as u32;
        if kind(node) == K::SpreadParameter {
            let parts = children(node);
            let declarator = parts.iter().find(|n| kind(**n) == K::Declarator);
            let ty = parts
                .iter()
                .find(|n| !matches!(kind(**n), K::Declarator | K::Modifiers));
            let name = declarator.and_then(|d| d.child_by_field_name("name"));
            if let (Some(name), Some(ty)) = (name, ty) {
                let ty = self.terms.ty(self.b, *ty);
                let ty = self.terms.array(self.b, ty);
                let value = self.b.term(Term::Inst(ty));
                let sym = self.b.node_name(name);
                self.b.local(sym, at, until, value);
            }
            return;
        }
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let value = self.declared(node, TermId::UNKNOWN);
        let sym = self.b.node_name(name);
        self.b.local(sym, at, until, value);
    }

    /// A value of the declared type, or `given` where that is `var`.
    fn declared(&mut self, node: Node<'_>, given: TermId) -> TermId {
        match node.child_by_field_name("type") {
            Some(ty) if self.b.text(ty) != "var" => {
                let mut ty = self.terms.ty(self.b, ty);
                if node.child_by_field_name("dimensions").is_some() {
                    ty = self.terms.array(self.b, ty);
                }
                self.b.term(Term::Inst(ty))
            }
            _ => given,
        }
    }

    pub(super) fn local_variable(&mut self, node: Node<'_>) {
        self.doc = None;
        let until = self.block_end();
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some(name) = declarator.child_by_field_name("name") else {
                continue;
            };
            let given = match declarator.child_by_field_name("value") {
                Some(value) => self.terms.expr(self.b, value),
                None => TermId::UNKNOWN,
            };
            let mut value = self.declared(node, given);
            if declarator.child_by_field_name("dimensions").is_some() {
                let array = self.terms.array(self.b, value);
                value = self.b.term(Term::Inst(array));
            }
            let sym = self.b.node_name(name);
            let at = declarator.end_byte() as u32;
            self.b.local(sym, at, until, value);
        }
    }

    pub(super) fn for_each(&mut self, node: Node<'_>) {
        self.blocks.push(node.end_byte() as u32);
        let (Some(name), Some(value)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        let value = self.terms.expr(self.b, value);
        let each = self.b.term(Term::Each(value));
        let value = self.declared(node, each);
        let sym = self.b.node_name(name);
        let at = node.start_byte() as u32;
        self.b.local(sym, at, node.end_byte() as u32, value);
    }

    pub(super) fn catch(&mut self, node: Node<'_>) {
        self.blocks.push(node.end_byte() as u32);
        let parameter = children(node)
            .into_iter()
            .find(|n| kind(*n) == K::CatchParameter);
        let Some(parameter) = parameter else { return };
        let Some(name) = parameter.child_by_field_name("name") else {
            return;
        };
        let mut values = Vec::new();
        for part in children(parameter) {
            if part.kind() == "catch_type" {
                for ty in children(part) {
                    let ty = self.terms.ty(self.b, ty);
                    values.push(self.b.term(Term::Inst(ty)));
                }
            }
        }
        let value = either(self.b, &values);
        let sym = self.b.node_name(name);
        let at = node.start_byte() as u32;
        self.b.local(sym, at, node.end_byte() as u32, value);
    }

    pub(super) fn resource(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let given = match node.child_by_field_name("value") {
            Some(value) => self.terms.expr(self.b, value),
            None => TermId::UNKNOWN,
        };
        let value = self.declared(node, given);
        let sym = self.b.node_name(name);
        let until = self.block_end();
        self.b.local(sym, node.end_byte() as u32, until, value);
    }

    pub(super) fn lambda(&mut self, node: Node<'_>) {
        let end = node.end_byte() as u32;
        self.blocks.push(end);
        let passed = self
            .passed
            .iter()
            .position(|(id, _, _)| *id == node.id())
            .map(|i| self.passed.swap_remove(i));
        let Some(list) = node.child_by_field_name("parameters") else {
            return;
        };
        let names = match kind(list) {
            K::Identifier => vec![list],
            _ => children(list),
        };
        for (i, parameter) in names.into_iter().enumerate() {
            let name = match kind(parameter) {
                K::Identifier => parameter,
                _ if parameter
                    .child_by_field_name("type")
                    .is_some_and(|ty| self.b.text(ty) != "var") =>
                {
                    self.parameter(parameter, end);
                    continue;
                }
                _ => match parameter.child_by_field_name("name") {
                    Some(name) => name,
                    None => continue,
                },
            };
            let value = match passed {
                Some((_, receiver, method)) => {
                    self.b
                        .term(Term::Passed(receiver, method, i.min(255) as u8))
                }
                None => TermId::UNKNOWN,
            };
            let sym = self.b.node_name(name);
            self.b.local(sym, node.start_byte() as u32, end, value);
        }
    }

    /// `value instanceof Type name`.
    pub(super) fn instance_of(&mut self, node: Node<'_>) {
        let (Some(name), Some(ty)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let ty = self.terms.ty(self.b, ty);
        self.bind_pattern(node, name, ty);
    }

    /// `case Type name` and the components of record patterns.
    pub(super) fn pattern(&mut self, node: Node<'_>) {
        let parts = children(node);
        if let [ty, name] = parts.as_slice()
            && kind(*name) == K::Identifier
        {
            let ty = self.terms.ty(self.b, *ty);
            self.bind_pattern(node, *name, ty);
        }
    }

    fn bind_pattern(&mut self, node: Node<'_>, name: Node<'_>, ty: TermId) {
        let value = self.b.term(Term::Inst(ty));
        let sym = self.b.node_name(name);
        let until = self.block_end();
        self.b.local(sym, node.end_byte() as u32, until, value);
    }
}
