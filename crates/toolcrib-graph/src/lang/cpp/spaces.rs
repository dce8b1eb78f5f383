//! Namespaces and what brings their names elsewhere.

use tree_sitter::Node;

use crate::facts::{DefIx, Flags, Import, NewDef, Term, TermId, span};
use crate::lang::c::{K, Reader, children};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(in crate::lang) fn namespace(&mut self, node: Node<'_>) {
        let name = node.child_by_field_name("name");
        let is_inline = {
            let mut cursor = node.walk();
            node.children(&mut cursor).any(|n| n.kind() == "inline")
        };
        let text: String = match name {
            Some(name) => self.b.text(name).split_whitespace().collect(),
            None => "{namespace}".to_string(),
        };
        let end = node
            .child_by_field_name("body")
            .map_or(node.end_byte(), |body| body.start_byte());
        let exported = name.is_some() && self.hidden.is_empty();
        let def = self.define(node, NodeKind::Module, &text, end, exported);
        if name.is_none() || is_inline {
            self.b.def_mut(def).flags.set(Flags::LEAKS);
        }
        if name.is_none() {
            self.hidden.push(node.end_byte() as u32);
        }
        self.b.open(def);
    }

    /// `namespace a = b::c;`
    pub(in crate::lang) fn namespace_alias(&mut self, node: Node<'_>) {
        self.flush_comment();
        let Some(name) = node.child_by_field_name("name") else {
            return;
        };
        let target = children(self.kinds, node)
            .into_iter()
            .rfind(|n| n.id() != name.id());
        let Some(target) = target else { return };
        let text: String = self.b.text(target).split_whitespace().collect();
        let term = self.path_of_text(&text, target.start_byte());
        let bound = self.b.text(name);
        self.import_of(node, bound, term, false);
    }

    /// `using a::b;` and `using namespace a;`
    pub(in crate::lang) fn using(&mut self, node: Node<'_>) {
        self.flush_comment();
        let Some(target) = children(self.kinds, node).into_iter().next_back() else {
            return;
        };
        let is_glob = {
            let mut cursor = node.walk();
            node.children(&mut cursor).any(|n| n.kind() == "namespace")
        };
        let term = if self.kind(target) == K::Qualified {
            self.terms.path(self.b, target)
        } else {
            self.terms.name(self.b, target)
        };
        let name = if is_glob {
            "*".to_string()
        } else {
            self.plain_name(target)
        };
        self.import_of(node, &name, term, is_glob);
    }

    fn import_of(&mut self, node: Node<'_>, name: &str, term: TermId, glob: bool) {
        let signature = self.b.signature(node.start_byte(), node.end_byte());
        let signature = signature.map(|text| text.trim_end_matches([';', ' ']).into());
        let def: DefIx = self.b.add(NewDef {
            kind: NodeKind::Import,
            name,
            span: span(node),
            exported: false,
            signature,
            doc: None,
        });
        self.b.def_mut(def).ty = term;
        if glob {
            self.b.def_mut(def).flags.set(Flags::UNNAMED);
        }
        self.b.import(Import {
            def,
            path: Box::new([]),
            level: 0,
            glob,
            binds_root: false,
        });
    }

    fn path_of_text(&mut self, text: &str, at: usize) -> TermId {
        let mut term = TermId::UNKNOWN;
        for part in text.split("::") {
            let part = if part.is_empty() { "::" } else { part };
            let sym = self.b.owned_name(part);
            term = if term.is_known() {
                self.b.term(Term::Member(term, sym))
            } else {
                self.b.term(Term::Name(sym, at as u32))
            };
        }
        term
    }
}
