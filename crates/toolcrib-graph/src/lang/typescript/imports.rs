//! What a file takes from other modules: `import`, `require`, `import()`.
//!
//! The first part of an import's path is the module as it is written; placing
//! the files decides where that leads.

use tree_sitter::Node;

use super::K;
use super::items::{Reader, unquoted};
use crate::facts::{Import, NewDef, one_line, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn import(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        for clause in node.named_children(&mut cursor) {
            if self.kinds.of(clause) == K::ImportRequire {
                let (Some(name), Some(source)) =
                    (clause.named_child(0), clause.child_by_field_name("source"))
                else {
                    return;
                };
                let from = unquoted(self.b.text(source));
                let bound = self.b.text(name);
                let shown = format!("import {bound} = require(\"{from}\")");
                self.import_as(node, from, None, bound, &shown);
                return;
            }
        }
        let Some(source) = node.child_by_field_name("source") else {
            return;
        };
        let from = unquoted(self.b.text(source));
        let mut any = false;
        let mut cursor = node.walk();
        for clause in node.named_children(&mut cursor) {
            if self.kinds.of(clause) != K::ImportClause {
                continue;
            }
            any = true;
            let mut parts = clause.walk();
            for part in clause.named_children(&mut parts) {
                match self.kinds.of(part) {
                    K::Identifier => {
                        let bound = self.b.text(part);
                        let shown = format!("import {bound} from \"{from}\"");
                        self.import_as(part, from, Some("default"), bound, &shown);
                    }
                    K::NamespaceImport => {
                        if let Some(name) = part.named_child(0) {
                            let bound = self.b.text(name);
                            let shown = format!("import * as {bound} from \"{from}\"");
                            self.import_as(part, from, None, bound, &shown);
                        }
                    }
                    K::NamedImports => self.named_imports(part, from),
                    _ => {}
                }
            }
        }
        if !any {
            let shown = format!("import \"{from}\"");
            self.import_as(node, from, None, from, &shown);
        }
    }

    fn named_imports(&mut self, node: Node<'_>, from: &'s str) {
        let mut cursor = node.walk();
        for item in node.named_children(&mut cursor) {
            let Some(name) = item.child_by_field_name("name") else {
                continue;
            };
            let bound = item.child_by_field_name("alias").unwrap_or(name);
            let bound = unquoted(self.b.text(bound));
            let name = unquoted(self.b.text(name));
            let shown = format!("import {{ {} }} from \"{from}\"", self.b.text(item));
            self.import_as(item, from, Some(name), bound, &shown);
        }
    }

    /// `import Name = Outer.Inner;`
    pub(super) fn import_alias(&mut self, node: Node<'_>) {
        let (Some(name), Some(target)) = (node.named_child(0), node.named_child(1)) else {
            return;
        };
        let bound = self.b.text(name);
        let mut path = vec![self.b.owned_name("")];
        for part in self.b.text(target).split('.') {
            let part = self.b.name(part.trim());
            path.push(part);
        }
        let shown = self.b.text(node);
        self.import_path(node, path, bound, shown, false);
    }

    /// One import: `name` of a module, or all of it.
    pub(super) fn import_as(
        &mut self,
        node: Node<'_>,
        from: &str,
        name: Option<&str>,
        bound: &str,
        shown: &str,
    ) {
        let mut path = vec![self.b.owned_name(from)];
        path.extend(name.map(|name| self.b.owned_name(name)));
        self.import_path(node, path, bound, shown, false);
    }

    pub(super) fn import_path(
        &mut self,
        node: Node<'_>,
        path: Vec<crate::facts::Sym>,
        bound: &str,
        shown: &str,
        glob: bool,
    ) {
        self.let_go();
        self.routes_import(&path, bound);
        let shown = one_line(shown.trim_end_matches(';'), 240);
        let exported = span(node).start_byte < self.exporting.0;
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
            level: 0,
            glob,
            binds_root: false,
        });
    }

    /// `const name = require("module")`, also unpacked: an import of that name.
    pub(super) fn require(&mut self, node: Node<'_>, name: Node<'_>, value: Node<'_>) -> bool {
        // `require("module").name` takes one name.
        let (call, member) = match self.kinds.of(value) {
            K::Member => (
                value.child_by_field_name("object"),
                value.child_by_field_name("property"),
            ),
            _ => (Some(value), None),
        };
        let Some(from) = call.and_then(|call| self.required(call)) else {
            return false;
        };
        let member = member.map(|member| self.b.text(member));
        match self.kinds.of(name) {
            K::Identifier => {
                let bound = self.b.text(name);
                let shown = self.b.text(node);
                self.import_as(node, from, member, bound, shown);
            }
            K::ObjectPattern if member.is_none() => {
                let mut cursor = name.walk();
                for part in name.named_children(&mut cursor) {
                    let (key, bound) = match self.kinds.of(part) {
                        K::ShorthandPattern => (part, part),
                        K::PairPattern => {
                            let (Some(key), Some(bound)) = (
                                part.child_by_field_name("key"),
                                part.child_by_field_name("value"),
                            ) else {
                                continue;
                            };
                            (key, bound)
                        }
                        _ => continue,
                    };
                    if !matches!(self.kinds.of(bound), K::Identifier | K::ShorthandPattern) {
                        continue;
                    }
                    let key = self.b.text(key);
                    let bound = self.b.text(bound);
                    let shown = format!("{{ {} }} = require(\"{from}\")", self.b.text(part));
                    self.import_as(part, from, Some(key), bound, &shown);
                }
            }
            _ => return false,
        }
        self.lead = None;
        // The call is a site all the same.
        if let Some(call) = call
            && let Some(function) = call.child_by_field_name("function")
        {
            let callee = self.terms.expr(self.b, function);
            let sym = self.b.node_name(function);
            self.b.call(call, function, sym, callee);
        }
        true
    }

    /// The module that `require("module")` names.
    pub(super) fn required(&self, call: Node<'_>) -> Option<&'s str> {
        if self.kinds.of(call) != K::Call {
            return None;
        }
        let function = call.child_by_field_name("function")?;
        if self.b.text(function) != "require" {
            return None;
        }
        self.only_text(call)
    }

    /// The one argument of a call when it is a literal.
    fn only_text(&self, call: Node<'_>) -> Option<&'s str> {
        let arguments = call.child_by_field_name("arguments")?;
        let first = arguments.named_child(0)?;
        if self.kinds.of(first) != K::String || self.kinds.of(arguments) != K::Arguments {
            return None;
        }
        Some(unquoted(self.b.text(first)))
    }

    /// `import("module")` and a bare `require("module")` bind no name.
    pub(super) fn dynamic_import(&mut self, node: Node<'_>, callee: Node<'_>) {
        let is_import = self.kinds.of(callee) == K::ImportKeyword
            || (self.kinds.of(callee) == K::Identifier && self.b.text(callee) == "require");
        if !is_import {
            return;
        }
        if let Some(from) = self.only_text(node) {
            let shown = self.b.text(node);
            self.import_as(node, from, None, from, shown);
        }
    }
}
