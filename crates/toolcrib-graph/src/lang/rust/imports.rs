//! `use` declarations, one import a leaf.

use tree_sitter::Node;

use super::items::Reader;
use super::{K, kind};
use crate::facts::{Import, NewDef, Sym, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn import(&mut self, node: Node<'_>, item: K) {
        let exported = self.exported(node);
        if item == K::ExternCrate {
            let Some(name) = node.child_by_field_name("name") else {
                return;
            };
            let path = vec![self.b.node_name(name)];
            let alias = node.child_by_field_name("alias").unwrap_or(name);
            let bound = self.b.text(alias);
            self.import_leaf(node, path, bound, false, exported);
            return;
        }
        let Some(argument) = node.child_by_field_name("argument") else {
            return;
        };
        let mut todo: Vec<(Node<'_>, Vec<Sym>)> = vec![(argument, Vec::new())];
        while let Some((item, prefix)) = todo.pop() {
            match kind(item) {
                K::ScopedUseList => {
                    let mut prefix = prefix;
                    if let Some(path) = item.child_by_field_name("path") {
                        self.use_path(path, &mut prefix);
                    }
                    if let Some(list) = item.child_by_field_name("list") {
                        todo.push((list, prefix));
                    }
                }
                K::UseList => {
                    let count = item.named_child_count() as u32;
                    for i in (0..count).rev() {
                        if let Some(child) = item.named_child(i) {
                            todo.push((child, prefix.clone()));
                        }
                    }
                }
                K::UseAs => {
                    let mut path = prefix;
                    if let Some(inner) = item.child_by_field_name("path") {
                        self.use_path(inner, &mut path);
                    }
                    let bound = item
                        .child_by_field_name("alias")
                        .map_or("_", |alias| self.b.text(alias));
                    self.import_leaf(item, path, bound, false, exported);
                }
                K::UseWildcard => {
                    let mut path = prefix;
                    if let Some(inner) = item.named_child(0) {
                        self.use_path(inner, &mut path);
                    }
                    self.import_leaf(item, path, "*", true, exported);
                }
                K::LineComment | K::BlockComment => {}
                _ => {
                    let mut path = prefix;
                    self.use_path(item, &mut path);
                    let bound = path.last().map(|sym| self.b.sym_text(*sym).to_string());
                    if let Some(bound) = bound {
                        self.import_leaf(item, path, &bound, false, exported);
                    }
                }
            }
        }
    }

    /// Appends the names of a path; `self` at its end names what is before it.
    pub(super) fn use_path(&mut self, node: Node<'_>, path: &mut Vec<Sym>) {
        let mut parts = Vec::new();
        let mut node = node;
        loop {
            if kind(node) != K::ScopedIdentifier {
                parts.push(node);
                break;
            }
            if let Some(name) = node.child_by_field_name("name") {
                parts.push(name);
            }
            match node.child_by_field_name("path") {
                Some(inner) => node = inner,
                None => break,
            }
        }
        for part in parts.into_iter().rev() {
            if kind(part) == K::SelfValue && !path.is_empty() {
                continue;
            }
            let sym = self.b.node_name(part);
            path.push(sym);
        }
    }

    pub(super) fn import_leaf(
        &mut self,
        node: Node<'_>,
        path: Vec<Sym>,
        bound: &str,
        glob: bool,
        exported: bool,
    ) {
        let mut shown = String::from("use ");
        for (i, sym) in path.iter().enumerate() {
            if i > 0 {
                shown.push_str("::");
            }
            shown.push_str(self.b.sym_text(*sym));
        }
        if glob {
            shown.push_str("::*");
        } else if path
            .last()
            .is_none_or(|last| self.b.sym_text(*last) != bound)
        {
            shown.push_str(" as ");
            shown.push_str(bound);
        }
        let parent = self.b.scope();
        let def = self.b.add_to(
            parent,
            None,
            NewDef {
                kind: NodeKind::Import,
                name: bound,
                span: span(node),
                exported,
                signature: Some(shown.as_str().into()),
                doc: None,
            },
        );
        self.b.import(Import {
            def,
            path: path.into(),
            level: 0,
            glob,
            binds_root: false,
        });
    }
}
