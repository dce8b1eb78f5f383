//! Types with their members.

use tree_sitter::Node;

use super::items::{Around, Reader, last_name};
use super::{K, children, kind};
use crate::facts::{DefIx, Flags, ListRange, NewDef, Term, TermId, TypeParam, span};
use crate::model::{NodeKind, TextKind};

/// What modifiers and annotations say.
#[derive(Clone, Copy, Default)]
struct Modifiers {
    is_public: bool,
    is_protected: bool,
    is_private: bool,
    is_static: bool,
    is_final: bool,
    is_test: bool,
}

impl<'s> Reader<'_, 's> {
    pub(super) fn class(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let item = kind(node);
        let node_kind = match item {
            K::Interface | K::AnnotationType => NodeKind::Interface,
            K::Enum => NodeKind::Enum,
            _ => NodeKind::Class,
        };
        let text = self.b.text(name);
        let def = self.define(node, node_kind, text);
        // What follows is seen from inside, so that type parameters are.
        self.b.open(def);
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        let mut bases = Vec::new();
        let mut above = None;
        for part in children(node) {
            match part.kind() {
                "superclass" => {
                    if let Some(ty) = children(part).first() {
                        let term = self.terms.ty(self.b, *ty);
                        bases.push(term);
                        if let Some(name) = last_name(*ty) {
                            above = Some((term, self.b.node_name(name)));
                        }
                    }
                }
                "super_interfaces" | "extends_interfaces" => {
                    for list in children(part) {
                        for ty in children(list) {
                            bases.push(self.terms.ty(self.b, ty));
                        }
                    }
                }
                _ => {}
            }
        }
        let bases = self.b.list(&bases);
        self.b.def_mut(def).bases = bases;
        let name = self.b.node_name(name);
        self.classes.push(Around {
            name,
            above,
            end: node.end_byte() as u32,
        });
        if item == K::Record {
            self.components(node, def);
        }
    }

    /// A record's components are fields, each with a method that reads it.
    fn components(&mut self, node: Node<'_>, def: DefIx) {
        let Some(list) = node.child_by_field_name("parameters") else {
            return;
        };
        let parameters = children(list);
        let count = parameters.len().min(254) as u8;
        self.b.def_mut(def).arity = Some((count, count));
        for parameter in parameters {
            let (Some(ty), Some(name)) = (
                parameter.child_by_field_name("type"),
                parameter.child_by_field_name("name"),
            ) else {
                continue;
            };
            let ty = self.terms.ty(self.b, ty);
            let text = self.b.text(name);
            for kind in [NodeKind::Field, NodeKind::Method] {
                let signature = self
                    .b
                    .signature(parameter.start_byte(), parameter.end_byte());
                let member = self.b.add_to(
                    def,
                    None,
                    NewDef {
                        kind,
                        name: text,
                        span: span(parameter),
                        exported: kind == NodeKind::Method,
                        signature,
                        doc: None,
                    },
                );
                self.b.def_mut(member).ty = ty;
                if kind == NodeKind::Method {
                    self.b.def_mut(member).arity = Some((0, 0));
                }
            }
        }
    }

    /// The body after `new T(…)`.
    pub(super) fn anonymous_class(&mut self, node: Node<'_>) {
        let end = node.end_byte() as u32;
        let Some((_, base, above)) = self.created.iter().find(|c| c.0 == end).copied() else {
            return;
        };
        let name = self.terms.anonymous(node);
        let shown = format!("new {}() {{ … }}", self.b.sym_text(above));
        let def = self.b.add(NewDef {
            kind: NodeKind::Class,
            name: &name,
            span: span(node),
            exported: false,
            signature: Some(shown.into()),
            doc: None,
        });
        self.b.open(def);
        let bases = self.b.list(&[base]);
        self.b.def_mut(def).bases = bases;
        let name = self.b.owned_name(&name);
        self.classes.push(Around {
            name,
            above: Some((base, above)),
            end: node.end_byte() as u32,
        });
    }

    pub(super) fn enum_constant(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = self.b.text(name);
        let def = self.define(node, NodeKind::EnumMember, text);
        self.b.def_mut(def).exported = true;
        if node.child_by_field_name("body").is_some() {
            self.b.open(def);
        }
    }

    pub(super) fn method(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let said = self.modifiers(node);
        let node_kind = if said.is_test {
            NodeKind::Test
        } else {
            NodeKind::Method
        };
        let text = self.b.text(name);
        let def = self.define(node, node_kind, text);
        if said.is_static {
            self.b.def_mut(def).flags.set(Flags::STATIC);
        }
        if node.child_by_field_name("body").is_none() {
            self.b.def_mut(def).flags.set(Flags::ABSTRACT);
        }
        self.b.open(def);
        let params = self.type_params(node);
        self.b.def_mut(def).params = params;
        let mut ty = match node.child_by_field_name("type") {
            Some(ty) => self.terms.ty(self.b, ty),
            None => TermId::UNKNOWN,
        };
        if node.child_by_field_name("dimensions").is_some() {
            ty = self.terms.array(self.b, ty);
        }
        self.b.def_mut(def).ty = ty;
        self.parameters(node, def);
    }

    pub(super) fn constructor(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let text = self.b.text(name);
        let class_arity = self.b.def(self.b.scope()).arity;
        let def = self.define(node, NodeKind::Method, text);
        self.b.open(def);
        let this = self.b.term(Term::ThisType);
        self.b.def_mut(def).ty = this;
        if kind(node) == K::CompactConstructor {
            self.b.def_mut(def).arity = class_arity;
        } else {
            self.parameters(node, def);
        }
    }

    fn parameters(&mut self, node: Node<'_>, def: DefIx) {
        let mut count = 0usize;
        let mut variadic = false;
        let end = node.end_byte() as u32;
        if let Some(list) = node.child_by_field_name("parameters") {
            for parameter in children(list) {
                match kind(parameter) {
                    K::FormalParameter => count += 1,
                    K::SpreadParameter => variadic = true,
                    _ => continue,
                }
                self.parameter(parameter, end);
            }
        }
        let count = count.min(254) as u8;
        self.b.def_mut(def).arity = Some((count, if variadic { u8::MAX } else { count }));
    }

    pub(super) fn field(&mut self, node: Node<'_>) {
        let said = self.modifiers(node);
        let Some(declared) = node.child_by_field_name("type") else {
            return;
        };
        let ty = self.terms.ty(self.b, declared);
        let of_interface = self.b.def(self.b.scope()).kind == NodeKind::Interface;
        let kind = if (said.is_static && said.is_final) || of_interface {
            NodeKind::Constant
        } else {
            NodeKind::Field
        };
        let doc = self.doc;
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let Some(name) = declarator.child_by_field_name("name") else {
                continue;
            };
            self.doc = doc;
            let text = self.b.text(name);
            let def = self.define(node, kind, text);
            let ty = if declarator.child_by_field_name("dimensions").is_some() {
                self.terms.array(self.b, ty)
            } else {
                ty
            };
            self.b.def_mut(def).ty = ty;
        }
    }

    fn type_params(&mut self, node: Node<'_>) -> (u32, u32) {
        let mut params = Vec::new();
        if let Some(list) = node.child_by_field_name("type_parameters") {
            for parameter in children(list) {
                let mut name = None;
                let mut bounds = ListRange::default();
                for part in children(parameter) {
                    match kind(part) {
                        K::TypeIdentifier => name = Some(self.b.node_name(part)),
                        K::TypeBound => {
                            let mut terms = Vec::new();
                            for bound in children(part) {
                                terms.push(self.terms.ty(self.b, bound));
                            }
                            bounds = self.b.list(&terms);
                        }
                        _ => {}
                    }
                }
                if let Some(name) = name {
                    params.push(TypeParam { name, bounds });
                }
            }
        }
        self.b.type_params(&params)
    }

    fn modifiers(&self, node: Node<'_>) -> Modifiers {
        let mut said = Modifiers::default();
        let mut cursor = node.walk();
        let Some(list) = node
            .named_children(&mut cursor)
            .find(|n| kind(*n) == K::Modifiers)
        else {
            return said;
        };
        let mut cursor = list.walk();
        for word in list.children(&mut cursor) {
            match word.kind() {
                "public" => said.is_public = true,
                "protected" => said.is_protected = true,
                "private" => said.is_private = true,
                "static" => said.is_static = true,
                "final" => said.is_final = true,
                "annotation" | "marker_annotation" => {
                    let name = word
                        .child_by_field_name("name")
                        .map_or("", |name| self.b.text(name));
                    said.is_test |= matches!(
                        name.rsplit('.').next().unwrap_or(name),
                        "Test"
                            | "ParameterizedTest"
                            | "RepeatedTest"
                            | "TestFactory"
                            | "TestTemplate"
                            | "Property"
                    );
                }
                _ => {}
            }
        }
        said
    }

    fn define(&mut self, node: Node<'_>, kind: NodeKind, name: &str) -> DefIx {
        let said = self.modifiers(node);
        let body = node.child_by_field_name("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        // Annotations come before what a signature is read for.
        let start = children(node)
            .into_iter()
            .find(|n| super::kind(*n) == K::Modifiers)
            .and_then(|list| {
                let mut cursor = list.walk();
                let last = list
                    .named_children(&mut cursor)
                    .filter(|n| matches!(super::kind(*n), K::Annotation | K::MarkerAnnotation))
                    .last();
                last.map(|n| n.end_byte())
            })
            .unwrap_or(node.start_byte());
        let signature = self.b.signature(start, end);
        let signature = signature.map(|text| text.trim_end_matches([';', ' ', ',']).into());
        let of_interface = self.b.def(self.b.scope()).kind == NodeKind::Interface;
        let exported = said.is_public || said.is_protected || (of_interface && !said.is_private);
        let place = self.doc.take();
        let doc = place.map(|place| self.doc_text(place));
        let def = self.b.add(NewDef {
            kind,
            name,
            span: span(node),
            exported,
            signature,
            doc: doc.filter(|doc| !doc.is_empty()),
        });
        if let Some(place) = place {
            self.b.words(def, place, TextKind::Doc);
        }
        def
    }
}
