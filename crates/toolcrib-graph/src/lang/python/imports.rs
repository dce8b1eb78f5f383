//! `import` and `from` statements, one import a name.

use tree_sitter::Node;

use super::items::{Reader, is_public};
use super::{K, kind};
use crate::facts::{Import, NewDef, Sym, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn import(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for item in node.children_by_field_name("name", &mut cursor) {
            let (path_node, alias) = match kind(item) {
                K::AliasedImport => (
                    item.child_by_field_name("name"),
                    item.child_by_field_name("alias"),
                ),
                _ => (Some(item), None),
            };
            let Some(path_node) = path_node else { continue };
            let path = self.dotted(path_node);
            let Some(first) = path.first().copied() else {
                continue;
            };
            let shown = one_line_import("import", self.b.text(item));
            let bound = match alias {
                Some(alias) => self.b.text(alias).to_string(),
                None => self.b.sym_text(first).to_string(),
            };
            self.import_leaf(item, path, &bound, &shown, 0, false, alias.is_none());
        }
    }

    pub(super) fn import_from(&mut self, node: Node<'_>) {
        let Some(module) = node.child_by_field_name("module_name") else {
            return;
        };
        let mut level = 0u8;
        let mut prefix = Vec::new();
        if kind(module) == K::RelativeImport {
            let mut cursor = module.walk();
            for part in module.named_children(&mut cursor) {
                match kind(part) {
                    K::ImportPrefix => {
                        let dots = self.b.text(part).bytes().filter(|c| *c == b'.').count();
                        level = dots.min(255) as u8;
                    }
                    _ => prefix = self.dotted(part),
                }
            }
        } else {
            prefix = self.dotted(module);
        }
        let from = self.b.text(module);
        let mut cursor = node.walk();
        for item in node.children_by_field_name("name", &mut cursor) {
            let (name, alias) = match kind(item) {
                K::AliasedImport => (
                    item.child_by_field_name("name"),
                    item.child_by_field_name("alias"),
                ),
                _ => (Some(item), None),
            };
            let Some(name) = name else { continue };
            let mut path = prefix.clone();
            path.extend(self.dotted(name));
            let bound = self.b.text(alias.unwrap_or(name)).to_string();
            let shown = format!("from {from} import {}", self.b.text(item));
            self.import_leaf(item, path, &bound, &shown, level, false, false);
        }
        let mut cursor = node.walk();
        if let Some(star) = node
            .named_children(&mut cursor)
            .find(|child| kind(*child) == K::Wildcard)
        {
            let shown = format!("from {from} import *");
            self.import_leaf(star, prefix, "*", &shown, level, true, false);
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn import_leaf(
        &mut self,
        node: Node<'_>,
        path: Vec<Sym>,
        bound: &str,
        shown: &str,
        level: u8,
        glob: bool,
        binds_root: bool,
    ) {
        let shown = crate::facts::one_line(shown, 240);
        let exported = is_public(bound);
        self.routes_import(&path, bound);
        let def = self.b.add(NewDef {
            kind: NodeKind::Import,
            name: bound,
            span: span(node),
            exported,
            signature: Some(shown.into()),
            doc: None,
        });
        self.b.import(Import {
            def,
            path: path.into(),
            level,
            glob,
            binds_root,
        });
    }

    pub(super) fn dotted(&mut self, node: Node<'_>) -> Vec<Sym> {
        let mut path = Vec::new();
        let mut cursor = node.walk();
        for part in node.named_children(&mut cursor) {
            if kind(part) == K::Identifier {
                path.push(self.b.node_name(part));
            }
        }
        if path.is_empty() && kind(node) == K::Identifier {
            path.push(self.b.node_name(node));
        }
        path
    }
}

fn one_line_import(word: &str, what: &str) -> String {
    format!("{word} {what}")
}
