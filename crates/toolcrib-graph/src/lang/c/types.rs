//! Records, enumerations, aliases and fields.

use tree_sitter::Node;

use super::K;
use super::declarators::declared;
use super::items::{Around, Reader};
use super::terms::children;
use crate::facts::{Flags, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn record(&mut self, node: Node<'_>, field: Option<&str>) {
        let name = node.child_by_field_name("name");
        let Some(body) = node.child_by_field_name("body") else {
            if let Some(name) = name
                && field == Some("type")
            {
                let term = self.terms.ty(self.b, name);
                self.b.mention(term, node.start_position().row as u32 + 1);
            }
            return;
        };
        let text = match name {
            Some(name) => self.plain_name(name),
            None => match self.terms.unnamed.get(&node.id()) {
                Some(sym) => self.b.sym_text(*sym).to_string(),
                None => {
                    // Its members are those of what is around it.
                    self.transparent.push(node.id());
                    return;
                }
            },
        };
        let outside = match name {
            Some(name) if self.kind(name) == K::Qualified => self.class_home(node, name),
            _ => false,
        };
        let is_class = self.kind(node) == K::Class;
        let kind = if is_class {
            NodeKind::Class
        } else {
            NodeKind::Struct
        };
        let exported = if self.in_class() && !outside {
            self.classes.last().is_some_and(|c| c.is_public)
        } else {
            self.hidden.is_empty()
        };
        let end = body.start_byte();
        let def = self.define(node, kind, &text, end, exported);
        let params = self.template_params.take();
        if name.is_none() {
            let shown = format!(
                "typedef {} {text}",
                self.b
                    .text(node)
                    .split(|c: char| !c.is_ascii_alphabetic())
                    .next()
                    .unwrap_or("struct")
            );
            self.b.def_mut(def).signature = Some(shown.into());
        }
        if !self.hidden.is_empty() {
            self.b.def_mut(def).flags.set(Flags::FILE_LOCAL);
        }
        if let Some(params) = params {
            self.b.def_mut(def).params = params;
        }
        self.b.open(def);
        self.bases(node, def);
        self.classes.push(Around {
            end: node.end_byte() as u32,
            is_public: !is_class,
        });
    }

    pub(super) fn enumeration(&mut self, node: Node<'_>, field: Option<&str>) {
        let name = node.child_by_field_name("name");
        if node.child_by_field_name("body").is_none() {
            if let Some(name) = name
                && field == Some("type")
            {
                let term = self.terms.ty(self.b, name);
                self.b.mention(term, node.start_position().row as u32 + 1);
            }
            return;
        }
        let text = match name {
            Some(name) => self.plain_name(name),
            None => match self.terms.unnamed.get(&node.id()) {
                Some(sym) => self.b.sym_text(*sym).to_string(),
                None => return,
            },
        };
        let is_scoped = {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .any(|n| matches!(n.kind(), "class" | "struct"))
        };
        let end = node
            .child_by_field_name("body")
            .map_or(node.end_byte(), |body| body.start_byte());
        let exported = self.hidden.is_empty()
            && (!self.in_class() || self.classes.last().is_some_and(|c| c.is_public));
        let def = self.define(node, NodeKind::Enum, &text, end, exported);
        if name.is_none() {
            self.b.def_mut(def).signature = Some(format!("typedef enum {text}").into());
        }
        if !is_scoped {
            self.b.def_mut(def).flags.set(Flags::LEAKS);
        }
        if !self.hidden.is_empty() {
            self.b.def_mut(def).flags.set(Flags::FILE_LOCAL);
        }
        self.b.open(def);
    }

    pub(super) fn enumerator(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let scope = self.b.scope();
        let kind = if self.b.def(scope).kind == NodeKind::Enum {
            NodeKind::EnumMember
        } else {
            NodeKind::Constant
        };
        let text = self.b.text(name);
        self.define(node, kind, text, node.end_byte(), self.hidden.is_empty());
    }

    pub(super) fn typedef(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let is_record = matches!(self.kind(ty), K::Struct | K::Union | K::Class | K::Enum);
        let own = ty
            .child_by_field_name("name")
            .map(|name| self.plain_name(name));
        let has_body = ty.child_by_field_name("body").is_some();
        let mut named: Option<usize> = None;
        if is_record && own.is_none() && has_body {
            let plain = declarators
                .iter()
                .find(|d| self.kind(**d) == K::TypeIdentifier);
            match plain {
                Some(name) => {
                    let sym = self.b.node_name(*name);
                    self.terms.unnamed.insert(ty.id(), sym);
                    named = Some(name.id());
                }
                None => {
                    self.name_unnamed(ty, "struct");
                }
            }
        }
        let row = node.start_position().row;
        let mut doc_goes_to_record = false;
        for declarator in declarators {
            if named == Some(declarator.id()) {
                doc_goes_to_record = true;
                continue;
            }
            let Some(found) = declared(self.kinds, declarator) else {
                continue;
            };
            let name = self.plain_name(found.name);
            if name.is_empty() || own.as_deref() == Some(name.as_str()) {
                doc_goes_to_record |= has_body;
                continue;
            }
            let end = match ty.child_by_field_name("body") {
                Some(body) => body.start_byte(),
                None => node.end_byte(),
            };
            let exported = self.hidden.is_empty();
            let def = self.define(node, NodeKind::TypeAlias, &name, end, exported);
            let term = self.terms.declared_type(self.b, ty, Some(declarator));
            self.b.def_mut(def).ty = term;
        }
        // The comment above `typedef struct` is the struct's when it begins there.
        if !doc_goes_to_record || ty.start_position().row != row {
            self.flush_comment();
        }
    }

    pub(super) fn field_declaration(&mut self, node: Node<'_>) {
        let said = self.specifiers(node);
        let ty = node.child_by_field_name("type");
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        self.name_inner_type(node, ty, &declarators);
        if !self.in_class() {
            return;
        }
        let is_alone = declarators.len() == 1;
        for declarator in declarators {
            let Some(found) = declared(self.kinds, declarator) else {
                continue;
            };
            if found.is_function() {
                self.method_declaration(node, &found, is_alone);
                continue;
            }
            let name = self.plain_name(found.name);
            let kind = if said.is_static && said.is_const {
                NodeKind::Constant
            } else {
                NodeKind::Field
            };
            let exported = self.classes.last().is_some_and(|c| c.is_public);
            let def = self.define(node, kind, &name, node.end_byte(), exported);
            let sym = self.b.owned_name(&name);
            self.terms.note_plain(sym, declarator);
            self.value_type(def, ty, declarator);
        }
    }

    /// A type without a name that is defined where it is used.
    pub(super) fn name_inner_type(
        &mut self,
        node: Node<'_>,
        ty: Option<Node<'_>>,
        declarators: &[Node<'_>],
    ) {
        let Some(ty) = ty else { return };
        let word = match self.kind(ty) {
            K::Struct | K::Class => "struct",
            K::Union => "union",
            K::Enum => "enum",
            _ => return,
        };
        let _ = node;
        if ty.child_by_field_name("body").is_some()
            && ty.child_by_field_name("name").is_none()
            && !declarators.is_empty()
        {
            self.name_unnamed(ty, word);
        }
    }

    pub(super) fn access(&mut self, node: Node<'_>) {
        let is_public = self.b.text(node).starts_with("public");
        if let Some(class) = self.classes.last_mut() {
            class.is_public = is_public;
        }
    }

    fn class_home(&mut self, node: Node<'_>, name: Node<'_>) -> bool {
        let path = self.terms.path(self.b, name);
        let path = match self.b.term_of(path) {
            crate::facts::Term::Apply(base, _) => base,
            _ => path,
        };
        let crate::facts::Term::Member(owner, _) = self.b.term_of(path) else {
            return false;
        };
        self.b.open_extension(span(node), owner, None, (0, 0));
        true
    }

    fn bases(&mut self, node: Node<'_>, def: crate::facts::DefIx) {
        let mut bases = Vec::new();
        for clause in children(self.kinds, node) {
            if self.kind(clause) != K::Bases {
                continue;
            }
            for base in children(self.kinds, clause) {
                if matches!(
                    self.kind(base),
                    K::TypeIdentifier | K::Qualified | K::TemplateType | K::DependentType
                ) {
                    bases.push(self.terms.ty(self.b, base));
                }
            }
        }
        let bases = self.b.list(&bases);
        self.b.def_mut(def).bases = bases;
    }
}
