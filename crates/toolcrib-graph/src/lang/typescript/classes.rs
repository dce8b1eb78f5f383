//! Classes, interfaces, enums, aliases and namespaces.

use tree_sitter::Node;

use super::K;
use super::items::{Reader, unquoted};
use crate::facts::{DefIx, Flags, ListRange, Term, TermId, TypeParam, span};
use crate::model::{NodeKind, Span};

impl<'s> Reader<'_, 's> {
    /// A class; `name` when it is given to one.
    pub(super) fn class(&mut self, node: Node<'_>, name: Option<(&str, Span)>) {
        let own = node.child_by_field_name("name").map(|n| self.b.text(n));
        let Some((name, place)) = name.or_else(|| own.map(|n| (n, span(node)))) else {
            return;
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let def = self.define(place, end, NodeKind::Class, name);
        let params = self.type_params(node);
        let mut bases = Vec::new();
        let mut base = TermId::UNKNOWN;
        let mut cursor = node.walk();
        for heritage in node.named_children(&mut cursor) {
            if self.kinds.of(heritage) != K::Heritage {
                continue;
            }
            let mut inner = heritage.walk();
            for clause in heritage.named_children(&mut inner) {
                match self.kinds.of(clause) {
                    K::Extends => {
                        if let Some(value) = clause.child_by_field_name("value") {
                            base = self.terms.expr(self.b, value);
                            let args = self.terms.type_arguments(self.b, clause);
                            let mut applied = base;
                            if !args.is_empty() {
                                let list = self.b.list(&args);
                                applied = self.b.term(Term::Apply(base, list));
                            }
                            bases.push(applied);
                        }
                    }
                    K::Implements => {
                        let mut types = clause.walk();
                        for ty in clause.named_children(&mut types) {
                            bases.push(self.terms.ty(self.b, ty));
                        }
                    }
                    K::Comment => {}
                    _ => {
                        base = self.terms.expr(self.b, clause);
                        bases.push(base);
                    }
                }
            }
        }
        let bases = self.b.list(&bases);
        let made = self.b.def_mut(def);
        made.bases = bases;
        made.params = params;
        self.b.open(def);
        self.heritage.push((node.end_byte() as u32, base));
        self.terms.enter_function(node, false);
        if let Some(body) = body {
            self.taken.insert(body.id(), def);
            self.declared_names(def, body);
        }
    }

    /// What a class body declares, so that an assignment does not do it again.
    pub(super) fn declared_names(&mut self, def: DefIx, body: Node<'_>) {
        let mut cursor = body.walk();
        for member in body.named_children(&mut cursor) {
            if let Some(name) = member
                .child_by_field_name("name")
                .or_else(|| member.child_by_field_name("property"))
            {
                let name = self.b.node_name(name);
                self.declared.insert((def, name));
            }
        }
    }

    pub(super) fn interface(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = self.b.text(name);
        let def = self.define(span(node), end, NodeKind::Interface, text);
        let params = self.type_params(node);
        let mut bases = Vec::new();
        let mut cursor = node.walk();
        for clause in node.named_children(&mut cursor) {
            if self.kinds.of(clause) == K::ExtendsType {
                let mut types = clause.walk();
                for ty in clause.named_children(&mut types) {
                    bases.push(self.terms.ty(self.b, ty));
                }
            }
        }
        let bases = self.b.list(&bases);
        let made = self.b.def_mut(def);
        made.bases = bases;
        made.params = params;
        self.b.open(def);
        if let Some(body) = body {
            self.taken.insert(body.id(), def);
        }
    }

    pub(super) fn enumeration(&mut self, node: Node<'_>) {
        let (Some(name), Some(body)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("body"),
        ) else {
            return;
        };
        let text = self.b.text(name);
        let def = self.define(span(node), body.start_byte(), NodeKind::Enum, text);
        self.b.open(def);
        self.taken.insert(body.id(), def);
    }

    pub(super) fn bare_enum_member(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        if self.b.def(scope).kind == NodeKind::Enum
            && self
                .bodies
                .last()
                .is_some_and(|body| body.def == Some(scope))
        {
            self.enum_member(node, Some(node));
        }
    }

    pub(super) fn enum_member(&mut self, node: Node<'_>, name: Option<Node<'_>>) {
        let Some(name) = name else { return };
        let scope = self.b.scope();
        if self.b.def(scope).kind != NodeKind::Enum {
            return;
        }
        let text = unquoted(self.b.text(name));
        // The name inside an assignment is met again.
        if self
            .overloads
            .insert((scope, self.b.name(text), true), scope)
            .is_none()
        {
            self.define(span(node), node.end_byte(), NodeKind::EnumMember, text);
        }
    }

    pub(super) fn type_alias(&mut self, node: Node<'_>) {
        let (Some(name), Some(value)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        let text = self.b.text(name);
        let def = self.define(span(node), node.end_byte(), NodeKind::TypeAlias, text);
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        let mut object = None;
        if self.kinds.of(value) == K::ObjectType {
            object = Some(value);
        } else if self.kinds.of(value) == K::Intersection {
            let mut cursor = value.walk();
            object = value
                .named_children(&mut cursor)
                .find(|part| self.kinds.of(*part) == K::ObjectType);
        }
        self.b.open(def);
        if let Some(object) = object {
            self.taken.insert(object.id(), def);
            self.b.def_mut(def).flags.set(Flags::OBJECT);
        }
        let ty = self.terms.ty(self.b, value);
        self.b.def_mut(def).ty = ty;
        if self.kinds.of(value) == K::FunctionType {
            self.places_of(def, crate::facts::WHOLE, value);
        }
    }

    pub(super) fn namespace(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = unquoted(self.b.text(name));
        let exporting = self.exporting;
        let is_path = self.kinds.of(name) != K::String;
        for part in text.split('.') {
            let part = if is_path { part.trim() } else { text };
            let def = self.define(span(node), end, NodeKind::Module, part);
            self.b.open(def);
            if !is_path {
                break;
            }
        }
        if exporting.0 == u32::MAX {
            // Everything in a declaration file is visible.
            self.exporting = (u32::MAX, self.b.scope());
        }
    }

    /// Type parameters and what they extend.
    pub(super) fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
        let mut params = Vec::new();
        if let Some(list) = node.child_by_field_name("type_parameters") {
            let mut cursor = list.walk();
            for param in list.named_children(&mut cursor) {
                let Some(name) = param.child_by_field_name("name") else {
                    continue;
                };
                let name = self.b.node_name(name);
                let bounds = match param.child_by_field_name("constraint") {
                    Some(bound) => {
                        let bound = self.terms.ty(self.b, bound);
                        self.b.list(&[bound])
                    }
                    None => ListRange::default(),
                };
                params.push(TypeParam { name, bounds });
            }
        }
        self.b.type_params(&params)
    }
}
