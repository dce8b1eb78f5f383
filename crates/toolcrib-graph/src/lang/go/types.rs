//! Type declarations with their fields and methods, constants and variables.

use tree_sitter::Node;

use super::docs::is_comment;
use super::items::{Reader, arity, is_exported};
use super::{K, kind};
use crate::facts::{DefIx, Flags, NewDef, Term, TermId, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn type_spec(&mut self, node: Node<'_>, item: K) {
        let (Some(name), Some(ty)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("type"),
        ) else {
            return;
        };
        let text = self.b.text(name);
        let node_kind = match (item, kind(ty)) {
            (K::TypeAlias, _) => NodeKind::TypeAlias,
            (_, K::StructType) => NodeKind::Struct,
            (_, K::InterfaceType) => NodeKind::Interface,
            _ => NodeKind::Class,
        };
        let def = self.define(node, node_kind, text, text);
        self.b.open(def);
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        match node_kind {
            NodeKind::Struct => self.fields(def, ty),
            NodeKind::Interface => self.interface(def, ty),
            _ => {
                let ty = self.terms.ty(self.b, ty);
                self.b.def_mut(def).ty = ty;
            }
        }
    }

    fn fields(&mut self, def: DefIx, ty: Node<'_>) {
        let Some(list) = ty.named_child(0).filter(|n| kind(*n) == K::FieldList) else {
            return;
        };
        let mut bases = Vec::new();
        let mut above: Vec<Node<'_>> = Vec::new();
        let mut cursor = list.walk();
        for field in list.named_children(&mut cursor) {
            if is_comment(field) {
                above.push(field);
                continue;
            }
            let comments = std::mem::take(&mut above);
            let Some(declared) = field.child_by_field_name("type") else {
                continue;
            };
            let doc = self.doc_above(&comments, field.start_position().row);
            let term = self.terms.ty(self.b, declared);
            let mut names = field.walk();
            let mut named: Vec<Node<'_>> =
                field.children_by_field_name("name", &mut names).collect();
            if named.is_empty() {
                bases.push(term);
                named.extend(last_name(declared));
            }
            for name in named {
                let text = self.b.text(name);
                let signature = self.b.signature(field.start_byte(), field.end_byte());
                let field = self.b.add_to(
                    def,
                    None,
                    NewDef {
                        kind: NodeKind::Field,
                        name: text,
                        span: span(field),
                        exported: is_exported(text),
                        signature,
                        doc: doc.clone(),
                    },
                );
                self.b.def_mut(field).ty = term;
            }
        }
        let bases = self.b.list(&bases);
        self.b.def_mut(def).bases = bases;
    }

    fn interface(&mut self, def: DefIx, ty: Node<'_>) {
        let mut bases = Vec::new();
        let mut above: Vec<Node<'_>> = Vec::new();
        let mut cursor = ty.walk();
        for member in ty.named_children(&mut cursor) {
            if is_comment(member) {
                above.push(member);
                continue;
            }
            let comments = std::mem::take(&mut above);
            match kind(member) {
                K::MethodElem => {
                    let Some(name) = member.child_by_field_name("name") else {
                        continue;
                    };
                    let text = self.b.text(name);
                    let doc = self.doc_above(&comments, member.start_position().row);
                    let signature = self.b.signature(member.start_byte(), member.end_byte());
                    let method = self.b.add_to(
                        def,
                        None,
                        NewDef {
                            kind: NodeKind::Method,
                            name: text,
                            span: span(member),
                            exported: is_exported(text),
                            signature,
                            doc,
                        },
                    );
                    let result = self.result_type(member);
                    let arity = arity(member);
                    let method = self.b.def_mut(method);
                    method.ty = result;
                    method.arity = arity;
                    method.flags.set(Flags::ABSTRACT);
                }
                K::TypeElem if member.named_child_count() == 1 => {
                    let embedded = member.named_child(0);
                    if let Some(ty) = embedded.filter(|ty| kind(*ty) != K::NegatedType) {
                        bases.push(self.terms.ty(self.b, ty));
                    }
                }
                _ => {}
            }
        }
        let bases = self.b.list(&bases);
        self.b.def_mut(def).bases = bases;
    }

    /// Constants and variables: definitions in a package, locals in a function.
    pub(super) fn values(&mut self, node: Node<'_>, item: K) {
        let ty = node.child_by_field_name("type");
        let declared = ty.map(|ty| self.terms.ty(self.b, ty));
        let mut values: Vec<Node<'_>> = Vec::new();
        if let Some(list) = node.child_by_field_name("value") {
            let mut cursor = list.walk();
            values.extend(list.named_children(&mut cursor).filter(|n| !is_comment(*n)));
        }
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node
            .children_by_field_name("name", &mut cursor)
            .filter(|n| kind(*n) == K::Identifier)
            .collect();
        let repeats = item == K::ConstSpec && declared.is_none() && values.is_empty();
        let scope = self.b.scope();
        let count = names.len();
        for (i, name) in names.into_iter().enumerate() {
            let value = match declared {
                Some(ty) => self.b.term(Term::Inst(ty)),
                None if repeats => self.repeated,
                None => self.value_at(&values, i, count),
            };
            if item == K::ConstSpec && i == 0 && !repeats {
                self.repeated = value;
            }
            let text = self.b.text(name);
            if scope != DefIx::ROOT {
                if text != "_" {
                    let sym = self.b.name(text);
                    let at = node.end_byte() as u32;
                    let until = self.block_end();
                    self.b.local(sym, at, until, value);
                    match (values.get(i), values.len() == count) {
                        (Some(value), true) if item == K::ConstSpec => {
                            self.routes_constant(None, sym, *value);
                        }
                        (Some(value), true) => self.routes_assigned(name, *value, until),
                        _ => {}
                    }
                }
                continue;
            }
            if text == "_" {
                continue;
            }
            let kind = if item == K::ConstSpec {
                NodeKind::Constant
            } else {
                NodeKind::Variable
            };
            let def = self.define(node, kind, text, text);
            let word = if item == K::ConstSpec { "const" } else { "var" };
            let def_mut = self.b.def_mut(def);
            def_mut.signature = def_mut
                .signature
                .take()
                .map(|text| format!("{word} {text}").into());
            match declared {
                Some(ty) => def_mut.ty = ty,
                None => self.b.value(def, DefIx::ROOT, value),
            }
            let sym = self.b.name(text);
            match (values.get(i), values.len() == count) {
                (Some(value), true) if item == K::ConstSpec => {
                    self.routes_constant(Some(def), sym, *value);
                }
                (Some(value), true) => self.routes_assigned(name, *value, u32::MAX),
                _ => {}
            }
        }
    }

    /// What one of several names is given.
    pub(super) fn value_at(&mut self, values: &[Node<'_>], place: usize, names: usize) -> TermId {
        if values.len() == names {
            return match values.get(place) {
                Some(value) => self.terms.expr(self.b, *value),
                None => TermId::UNKNOWN,
            };
        }
        let [value] = values else {
            return TermId::UNKNOWN;
        };
        let mut inner = *value;
        while kind(inner) == K::Parenthesized {
            match inner.named_child(0) {
                Some(next) => inner = next,
                None => break,
            }
        }
        let whole = self.terms.expr(self.b, inner);
        if kind(inner) == K::Call {
            return self.b.term(Term::Part(whole, place.min(255) as u8));
        }
        // `value, ok := …` of a map, a channel or an assertion.
        if place == 0 { whole } else { TermId::UNKNOWN }
    }
}

/// The name that an embedded field goes by.
fn last_name(ty: Node<'_>) -> Option<Node<'_>> {
    let mut ty = ty;
    loop {
        ty = match kind(ty) {
            K::TypeIdentifier => return Some(ty),
            K::QualifiedType => return ty.child_by_field_name("name"),
            K::GenericType => ty.child_by_field_name("type")?,
            _ => ty.named_child(0)?,
        };
    }
}
