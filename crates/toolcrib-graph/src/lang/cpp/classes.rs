//! Methods that classes declare, and templates.

use tree_sitter::Node;

use crate::facts::{Flags, ListRange, TypeParam};
use crate::lang::c::{Declared, K, Reader, Templated, children};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(in crate::lang) fn method_declaration(
        &mut self,
        node: Node<'_>,
        found: &Declared<'_>,
        is_alone: bool,
    ) {
        let def = self.callable(node, found, node.end_byte());
        self.declared_only(node, def);
        if is_alone {
            self.b.open(def);
        }
        debug_assert!(matches!(
            self.b.def(def).kind,
            NodeKind::Method | NodeKind::Function
        ));
    }

    /// `template <…>`: its parameters are those of what follows.
    pub(in crate::lang) fn template(&mut self, node: Node<'_>) {
        let mut params = Vec::new();
        if let Some(list) = node.child_by_field_name("parameters") {
            for parameter in children(self.kinds, list) {
                let name = match self.kind(parameter) {
                    K::TypeParameter | K::PackTypeParameter => parameter.named_child(0),
                    K::OptionalTypeParameter => parameter.child_by_field_name("name"),
                    K::TemplateTemplate => children(self.kinds, parameter)
                        .into_iter()
                        .last()
                        .and_then(|n| n.named_child(0)),
                    _ => None,
                };
                let name = name.filter(|n| self.kind(*n) == K::TypeIdentifier);
                let name = match name {
                    Some(name) => self.b.node_name(name),
                    // Keeps the places of the others.
                    None => self.b.owned_name(""),
                };
                params.push(TypeParam {
                    name,
                    bounds: ListRange::default(),
                });
            }
        }
        let params = self.b.type_params(&params);
        // The outer of two that follow each other begins the declaration.
        let (start, row) = match self.templates.last() {
            Some(outer) if outer.end as usize == node.end_byte() => (outer.start, outer.row),
            _ => (node.start_byte(), node.start_position().row),
        };
        self.templates.push(Templated {
            start,
            row,
            end: node.end_byte() as u32,
            params,
            used: false,
        });
    }

    /// `using X = T;`
    pub(in crate::lang) fn alias(&mut self, node: Node<'_>) {
        let (Some(name), Some(ty)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("type"),
        ) else {
            return;
        };
        let text = self.b.text(name);
        let exported = if self.in_class() {
            self.classes.last().is_some_and(|c| c.is_public)
        } else {
            self.hidden.is_empty()
        };
        let def = self.define(node, NodeKind::TypeAlias, text, node.end_byte(), exported);
        let term = self.terms.ty(self.b, ty);
        let params = self.template_params.take();
        let hidden = !self.hidden.is_empty();
        let def = self.b.def_mut(def);
        def.ty = term;
        if let Some(params) = params {
            def.params = params;
        }
        if hidden {
            def.flags.set(Flags::FILE_LOCAL);
        }
    }
}
