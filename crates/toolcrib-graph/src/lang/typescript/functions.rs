//! Functions and methods, however they are written.

use tree_sitter::Node;

use super::K;
use super::items::{Reader, around, unquoted};
use super::terms::either;
use crate::facts::{DefIx, Flags, Sym, TermId, span};
use crate::model::{NodeKind, Span};

impl<'s> Reader<'_, 's> {
    pub(super) fn function(&mut self, node: Node<'_>, kind: K) {
        let Some(name) = node.child_by_field_name("name") else {
            self.anonymous(node);
            return;
        };
        let sym = self.b.node_name(name);
        let text = self.b.text(name);
        let scope = self.b.scope();
        let body = node.child_by_field_name("body");
        let def = self.declared_function(node, scope, sym, text, NodeKind::Function, false);
        self.b.def_mut(def).flags.set(Flags::STATIC);
        if kind == K::FunctionSignature || body.is_none() {
            return;
        }
        self.open_function(node, def, true);
    }

    /// A function or method by its declaration; overloads become one.
    pub(super) fn declared_function(
        &mut self,
        node: Node<'_>,
        owner: DefIx,
        sym: Sym,
        name: &str,
        kind: NodeKind,
        is_static: bool,
    ) -> DefIx {
        let body = node.child_by_field_name("body");
        let declared = self.terms.declared(self.b, node, "return_type");
        let key = (owner, sym, is_static);
        if let Some(&earlier) = self.overloads.get(&key) {
            let end = span(node);
            let made = self.b.def_mut(earlier);
            made.span.end_byte = end.end_byte;
            made.span.end_line = end.end_line;
            if body.is_some() {
                self.overloads.remove(&key);
                let made = self.b.def_mut(earlier);
                made.flags = Flags::default();
            } else {
                let ty = self.b.def(earlier).ty;
                let both: Vec<TermId> = [ty, declared]
                    .into_iter()
                    .filter(|ty| ty.is_known())
                    .collect();
                let ty = either(self.b, &both);
                self.b.def_mut(earlier).ty = ty;
            }
            self.callbacks(earlier, node);
            self.let_go();
            return earlier;
        }
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let def = self.define_in(owner, span(node), end, kind, name);
        let params = self.type_params(node);
        self.callbacks(def, node);
        let made = self.b.def_mut(def);
        made.params = params;
        made.ty = declared;
        if body.is_none() {
            made.flags.set(Flags::ABSTRACT);
            self.overloads.insert(key, def);
        }
        def
    }

    /// Makes a function the scope of what follows.
    pub(super) fn open_function(&mut self, node: Node<'_>, def: DefIx, detached: bool) {
        self.b.open(def);
        self.functions.push(around(node, Some(def)));
        self.terms.enter_function(node, detached);
        self.parameters(node);
        if let Some(body) = node.child_by_field_name("body")
            && self.kinds.of(body) != K::Block
            && !self.b.def(def).ty.is_known()
        {
            let value = self.terms.expr(self.b, body);
            self.b.value(def, def, value);
        }
    }

    /// A function without a name of its own.
    pub(super) fn anonymous(&mut self, node: Node<'_>) {
        self.functions.push(around(node, None));
        self.terms.enter_function(node, true);
        self.parameters(node);
    }

    pub(super) fn function_value(&mut self, node: Node<'_>, kind: K) {
        // Inside of it, its own name means itself.
        if let Some(name) = node.child_by_field_name("name") {
            let sym = self.b.node_name(name);
            let (at, until) = (node.start_byte() as u32, node.end_byte() as u32);
            match self.taken.get(&node.id()) {
                Some(def) if self.b.sym_text(self.b.def(*def).name) == self.b.text(name) => {}
                _ => self.b.local(sym, at, until, TermId::UNKNOWN),
            }
        }
        match self.taken.get(&node.id()).copied() {
            Some(def) => {
                self.functions.push(around(node, Some(def)));
                let is_method = self.b.def(def).kind == NodeKind::Method;
                if kind != K::Arrow {
                    self.terms.enter_function(node, !is_method);
                }
                self.parameters(node);
                if let Some(body) = node.child_by_field_name("body")
                    && self.kinds.of(body) != K::Block
                    && !self.b.def(def).ty.is_known()
                {
                    let value = self.terms.expr(self.b, body);
                    self.b.value(def, def, value);
                }
            }
            None => {
                self.functions.push(around(node, None));
                if kind != K::Arrow {
                    self.terms.enter_function(node, true);
                }
                self.parameters(node);
            }
        }
    }

    /// A name given to a function: the definition of that function.
    pub(super) fn named_function(
        &mut self,
        owner: DefIx,
        place: Span,
        function: Node<'_>,
        name: &str,
        kind: NodeKind,
    ) -> DefIx {
        let end = function
            .child_by_field_name("body")
            .map_or(function.end_byte(), |body| body.start_byte());
        let def = self.define_in(owner, place, end, kind, name);
        let params = self.type_params(function);
        self.callbacks(def, function);
        let ty = self.terms.declared(self.b, function, "return_type");
        let made = self.b.def_mut(def);
        made.params = params;
        made.ty = ty;
        if kind == NodeKind::Function {
            made.flags.set(Flags::STATIC);
        }
        self.taken.insert(function.id(), def);
        self.b.open(def);
        def
    }

    pub(super) fn method(&mut self, node: Node<'_>, kind: K) {
        let owner = self.bodies.last().and_then(|body| body.def);
        let name = node.child_by_field_name("name");
        let (Some(owner), Some(name)) = (owner, name) else {
            if kind == K::Method {
                self.anonymous(node);
            }
            return;
        };
        if self.kinds.of(name) == K::ComputedName {
            if kind == K::Method {
                self.functions.push(around(node, None));
                self.terms.enter_function(node, false);
                self.parameters(node);
            }
            return;
        }
        let text = unquoted(self.b.text(name));
        let sym = self.b.owned_name(text);
        let said = self.modifiers(node);
        let mut flags = Flags::default();
        if said.is_static {
            flags.set(Flags::STATIC);
        }
        if said.is_async {
            flags.set(Flags::ASYNC);
        }
        if said.is_getter || said.is_setter {
            flags.set(Flags::PROPERTY);
        }
        if said.is_setter {
            flags.set(Flags::OVERLOAD);
        }
        let def = if said.is_setter || said.is_getter {
            let body = node.child_by_field_name("body");
            let end = body.map_or(node.end_byte(), |body| body.start_byte());
            let def = self.define_in(owner, span(node), end, NodeKind::Method, text);
            let ty = self.terms.declared(self.b, node, "return_type");
            self.b.def_mut(def).ty = ty;
            def
        } else {
            self.declared_function(node, owner, sym, text, NodeKind::Method, said.is_static)
        };
        if node.child_by_field_name("body").is_none() {
            flags.set(Flags::ABSTRACT);
        }
        self.b.def_mut(def).flags = flags;
        self.hide_private(def, text, said.is_private);
        if node.child_by_field_name("body").is_some() {
            self.open_function(node, def, false);
            if text == "constructor" {
                self.parameter_fields(node, owner);
            }
        }
    }

    pub(super) fn hide_private(&mut self, def: DefIx, name: &str, is_private: bool) {
        if (is_private || name.starts_with('#')) && self.visible_members.last() == Some(&def) {
            self.visible_members.pop();
        }
    }

    /// `constructor(private readonly store: Store)` declares fields.
    pub(super) fn parameter_fields(&mut self, node: Node<'_>, class: DefIx) {
        let Some(list) = node.child_by_field_name("parameters") else {
            return;
        };
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor) {
            let said = self.modifiers(parameter);
            let Some(pattern) = parameter.child_by_field_name("pattern") else {
                continue;
            };
            if !said.declares_field || self.kinds.of(pattern) != K::Identifier {
                continue;
            }
            let text = self.b.text(pattern);
            let sym = self.b.name(text);
            let def = self.define_in(
                class,
                span(parameter),
                parameter.end_byte(),
                NodeKind::Field,
                text,
            );
            self.hide_private(def, text, said.is_private);
            self.declared.insert((class, sym));
            self.routes_field(class, pattern, None, parameter.child_by_field_name("type"));
            let ty = self.terms.declared(self.b, parameter, "type");
            self.b.def_mut(def).ty = ty;
            if !ty.is_known()
                && let Some(value) = parameter.child_by_field_name("value")
            {
                let value = self.terms.expr(self.b, value);
                self.b.value(def, class, value);
            }
        }
    }

    /// What a function returns where it declares nothing.
    pub(super) fn result(&mut self, node: Node<'_>) {
        let Some(def) = self.functions.last().and_then(|function| function.def) else {
            return;
        };
        if self.b.def(def).ty.is_known() {
            return;
        }
        if let Some(value) = node.named_child(0) {
            let value = self.terms.expr(self.b, value);
            let scope = self.b.scope();
            self.b.value(def, scope, value);
        }
    }

    pub(super) fn block(&mut self, node: Node<'_>) {
        let scope = self.b.scope();
        let def = self.b.def(scope);
        let is_body = def.kind == NodeKind::Module
            && !self.blocks.iter().rev().any(|(_, owner)| *owner == scope)
            && def.span.end_byte == node.end_byte() as u32;
        if !is_body {
            self.blocks.push((around(node, None), scope));
        }
    }
}
