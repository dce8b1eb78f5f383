//! What a file gives to other modules.
//!
//! A name that is exported as it is needs no more than its definition. Other
//! names, `default` and what other modules export become imports of the module
//! itself or of the other one, under the name they are exported by.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::items::{Reader, line, unquoted};
use super::{K, MODULE_VALUE};
use crate::facts::{DefIx, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    /// Says whether the walk goes inside.
    pub(super) fn export(&mut self, node: Node<'_>) -> bool {
        if self.exporting.0 != u32::MAX {
            self.exporting = (node.end_byte() as u32, self.b.scope());
        }
        let source = node
            .child_by_field_name("source")
            .map(|source| unquoted(self.b.text(source)));
        let mut cursor = node.walk();
        let mut is_default = false;
        let mut is_value = false;
        let mut is_star = false;
        for child in node.children(&mut cursor) {
            match child.kind() {
                "default" => is_default = true,
                "=" => is_value = true,
                "*" => is_star = true,
                _ => {}
            }
            match self.kinds.of(child) {
                K::ExportClause => {
                    self.export_clause(child, source);
                    return false;
                }
                K::NamespaceExport => {
                    if let (Some(name), Some(from)) = (child.named_child(0), source) {
                        let bound = unquoted(self.b.text(name));
                        let shown = format!("export * as {bound} from \"{from}\"");
                        self.import_as(node, from, None, bound, &shown);
                    }
                    return false;
                }
                _ => {}
            }
        }
        if let (true, Some(from)) = (is_star, source) {
            let path = vec![self.b.owned_name(from)];
            let shown = format!("export * from \"{from}\"");
            self.import_path(node, path, "*", &shown, true);
            return false;
        }
        if is_default || is_value {
            let bound = if is_default { "default" } else { MODULE_VALUE };
            return self.export_value(node, bound);
        }
        true
    }

    fn export_clause(&mut self, clause: Node<'_>, source: Option<&str>) {
        let mut cursor = clause.walk();
        for item in clause.named_children(&mut cursor) {
            let Some(name) = item.child_by_field_name("name") else {
                continue;
            };
            let own = unquoted(self.b.text(name));
            let bound = item
                .child_by_field_name("alias")
                .map_or(own, |alias| unquoted(self.b.text(alias)));
            match source {
                Some(from) => {
                    let shown = format!("export {{ {} }} from \"{from}\"", self.b.text(item));
                    self.import_as(item, from, Some(own), bound, &shown);
                }
                None => {
                    self.let_go();
                    let sym = self.b.name(own);
                    self.exported_names.insert(sym);
                    let term = self.terms.name(self.b, name);
                    self.b.mention(term, line(item));
                    if bound != own {
                        let shown = format!("export {{ {} }}", self.b.text(item));
                        self.import_as(item, "", Some(own), bound, &shown);
                    }
                }
            }
        }
    }

    /// `export default …` and `export = …`.
    fn export_value(&mut self, node: Node<'_>, bound: &'static str) -> bool {
        let Some(value) = node
            .child_by_field_name("declaration")
            .or_else(|| node.child_by_field_name("value"))
            .or_else(|| last_named(node))
        else {
            return true;
        };
        let named = value
            .child_by_field_name("name")
            .filter(|_| {
                matches!(
                    self.kinds.of(value),
                    K::Class
                        | K::AbstractClass
                        | K::ClassExpression
                        | K::Function
                        | K::GeneratorDeclaration
                        | K::FunctionExpression
                        | K::GeneratorFunction
                        | K::Interface
                        | K::FunctionSignature
                )
            })
            .or_else(|| Some(value).filter(|v| self.kinds.of(*v) == K::Identifier));
        if let Some(name) = named {
            let own = self.b.text(name);
            let sym = self.b.name(own);
            self.exported_names.insert(sym);
            // The comment before is the definition's, not the alias's.
            let waiting = self.waiting.take();
            let shown = format!("export {bound} {own}");
            self.import_as(node, "", Some(own), bound, &shown);
            self.waiting = waiting;
            if self.is_function(value) {
                let scope = self.b.scope();
                self.named_function(scope, span(value), value, own, NodeKind::Function);
            }
            return true;
        }
        self.export_unnamed(node, value, bound);
        true
    }

    /// A value without a name is known by how it is exported.
    fn export_unnamed(&mut self, node: Node<'_>, value: Node<'_>, bound: &'static str) {
        let inner = self.bare(value);
        let place = span(node);
        if self.is_function(inner) {
            let scope = self.b.scope();
            let def = self.named_function(scope, place, inner, bound, NodeKind::Function);
            self.b.def_mut(def).exported = true;
            return;
        }
        if matches!(self.kinds.of(inner), K::Class | K::ClassExpression) {
            self.class(inner, Some((bound, place)));
            let def = self.b.scope();
            self.taken.insert(inner.id(), def);
            return;
        }
        let def = self.define(place, node.end_byte(), NodeKind::Constant, bound);
        self.b.def_mut(def).exported = true;
        if !self.take_object(inner, def) {
            let term = self.terms.expr(self.b, value);
            let scope = self.b.scope();
            self.b.value(def, scope, term);
        }
    }

    /// `module.exports = …` and `exports.name = …`; says whether it was one.
    pub(super) fn common_export(
        &mut self,
        node: Node<'_>,
        left: Node<'_>,
        right: Node<'_>,
    ) -> bool {
        let path = self.b.text(left);
        if path == MODULE_VALUE {
            self.module_value(node, right);
            return true;
        }
        let Some((owner, name)) = path.rsplit_once('.') else {
            return false;
        };
        if owner != "exports" && owner != MODULE_VALUE {
            return false;
        }
        if self.b.scope() == DefIx::ROOT {
            self.exported_as(node, name, right);
        }
        true
    }

    /// The whole of what a module exports; members of an object are the module's.
    fn module_value(&mut self, node: Node<'_>, right: Node<'_>) {
        if self.b.scope() != DefIx::ROOT {
            return;
        }
        let value = self.bare(right);
        if self.kinds.of(value) == K::Object {
            self.taken.insert(value.id(), DefIx::ROOT);
        } else {
            self.exported_as(node, MODULE_VALUE, right);
        }
    }

    /// A pair of the object that a module exports.
    pub(super) fn exported_pair(&mut self, node: Node<'_>, name: &str, value: Node<'_>) {
        self.exported_as(node, name, value);
    }

    fn exported_as(&mut self, node: Node<'_>, name: &str, value: Node<'_>) {
        let inner = self.bare(value);
        if self.kinds.of(inner) == K::Identifier {
            let own = self.b.text(inner);
            let sym = self.b.name(own);
            self.exported_names.insert(sym);
            if own != name {
                let shown = format!("exports.{name} = {own}");
                self.import_as(node, "", Some(own), name, &shown);
            }
            return;
        }
        if self.is_function(inner) {
            let def = self.named_function(DefIx::ROOT, span(node), inner, name, NodeKind::Function);
            self.b.def_mut(def).exported = true;
            return;
        }
        if self.kinds.of(inner) == K::ClassExpression {
            self.class(inner, Some((name, span(node))));
            let def = self.b.scope();
            self.taken.insert(inner.id(), def);
            self.b.def_mut(def).exported = true;
            return;
        }
        let def = self.define(span(node), node.end_byte(), NodeKind::Constant, name);
        self.b.def_mut(def).exported = true;
        if !self.take_object(inner, def) {
            let term = self.terms.expr(self.b, value);
            self.b.value(def, DefIx::ROOT, term);
        }
    }

    /// Names exported by a clause, and members of what is exported.
    pub(super) fn finish_exports(&mut self) {
        let count = self.b.def_count();
        let mut seen: FxHashMap<DefIx, ()> = FxHashMap::default();
        for i in 1..count {
            let ix = DefIx(i);
            let def = self.b.def(ix);
            if def.parent == DefIx::ROOT
                && def.kind != NodeKind::Import
                && self.exported_names.contains(&def.name)
            {
                self.b.def_mut(ix).exported = true;
            }
        }
        for ix in std::mem::take(&mut self.visible_members) {
            if seen.insert(ix, ()).is_none() {
                let parent = self.b.def(ix).parent;
                self.b.def_mut(ix).exported = self.b.def(parent).exported;
            }
        }
    }
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}
