//! Variables, parameters, patterns and what tests of a type tell.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::K;
use super::items::{Given, Held, MAX_DEPTH, Passed, Reader, Visible, unquoted};
use crate::facts::{Sym, Term, TermId, WHOLE, span};
use crate::model::{NodeKind, Span};

/// Values of one variable that are looked at.
const MAX_VALUES: usize = 8;

impl<'s> Reader<'_, 's> {
    /// Whether names bound here belong to a module rather than to a block.
    fn is_static(&self) -> bool {
        let scope = self.b.scope();
        matches!(self.b.def(scope).kind, NodeKind::File | NodeKind::Module)
            && self.blocks.last().is_none_or(|(_, owner)| *owner != scope)
            && self.functions.is_empty()
    }

    pub(super) fn declarator(&mut self, node: Node<'_>) -> bool {
        let Some(name) = node.child_by_field_name("name") else {
            return true;
        };
        let value = node.child_by_field_name("value");
        if let Some(value) = value
            && self.require(node, name, value)
        {
            return false;
        }
        if self.kinds.of(name) != K::Identifier {
            let value = self.declared_value(node, value);
            if self.is_static() {
                let place = self.led_span(node);
                self.unpack_static(place, name, value, 0);
            } else {
                self.lead = None;
                let visible = self.in_block(node);
                self.bind(name, value, visible, 0);
            }
            return true;
        }
        let text = self.b.text(name);
        let bare = value.map(|value| self.bare(value));
        if let Some(function) = bare.filter(|value| self.is_function(*value)) {
            let place = self.led_span(node);
            let scope = self.b.scope();
            let declared = self.terms.declared(self.b, node, "type");
            let def = self.named_function(scope, place, function, text, NodeKind::Function);
            if declared.is_known() {
                let passed = Passed {
                    callee: declared,
                    argument: WHOLE,
                    method: None,
                };
                self.passed.insert(function.id(), passed);
                if !self.b.def(def).ty.is_known() {
                    // The type says what calling it gives.
                    let value = self.b.term(Term::Inst(declared));
                    let empty = self.b.list(&[]);
                    let result = self.b.term(Term::Call(value, empty));
                    self.b.value(def, scope, result);
                }
            }
            return true;
        }
        if let Some(class) = bare.filter(|value| self.kinds.of(*value) == K::ClassExpression) {
            let place = self.led_span(node);
            let before = self.b.scope();
            self.class(class, Some((text, place)));
            let def = self.b.scope();
            if def != before {
                self.taken.insert(class.id(), def);
            }
            return true;
        }
        self.routes_declared(name, value, node.child_by_field_name("type"));
        let declared = self.terms.declared(self.b, node, "type");
        if !self.is_static() {
            self.lead = None;
            let sym = self.b.node_name(name);
            let visible = self.in_block(node);
            if declared.is_known() || self.declares_constant {
                let term = self.declared_value(node, value);
                self.b.local(sym, visible.at, visible.until, term);
            } else {
                let first = value.filter(|value| !self.is_nothing(*value));
                let first = first.map(|value| self.terms.expr(self.b, value));
                let scope = self.b.scope();
                self.held.push(Held {
                    scope,
                    name: sym,
                    visible,
                    values: first.into_iter().collect(),
                });
            }
            return true;
        }
        let kind = if self.declares_constant {
            NodeKind::Constant
        } else {
            NodeKind::Variable
        };
        let place = self.led_span(node);
        let end = self.signature_end(node, value);
        let def = self.define(place, end, kind, text);
        if let Some(value) = value.filter(|value| self.kinds.of(*value) == K::Assignment) {
            self.exported_beside(node, value, text);
        }
        if kind == NodeKind::Constant
            && let Some(value) = value
        {
            self.routes_constant(def, value);
        }
        let scope = self.b.scope();
        let is_object = value.is_some_and(|value| self.take_object(value, def));
        if declared.is_known() {
            self.b.def_mut(def).ty = declared;
        } else if let Some(value) = value {
            let term = self.terms.expr(self.b, value);
            if !is_object && !self.is_nothing(value) {
                self.b.value(def, scope, term);
            }
        }
        if !declared.is_known() && kind == NodeKind::Variable {
            let sym = self.b.node_name(name);
            self.untyped.insert(sym, def);
        }
        true
    }

    fn declared_value(&mut self, node: Node<'_>, value: Option<Node<'_>>) -> TermId {
        let declared = self.terms.declared(self.b, node, "type");
        if declared.is_known() {
            return self.b.term(Term::Inst(declared));
        }
        match value {
            Some(value) => self.terms.expr(self.b, value),
            None => TermId::UNKNOWN,
        }
    }

    /// Whether an expression is `null` or `undefined`.
    pub(super) fn is_nothing(&self, node: Node<'_>) -> bool {
        matches!(self.kinds.of(self.bare(node)), K::Null | K::Undefined)
    }

    /// Binds the variables of functions that declare no type, with all that they
    /// are given, and gives the others' values to the variables of the module.
    pub(super) fn bind_held(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        let given = std::mem::take(&mut self.given);
        let names: FxHashSet<Sym> = given.iter().map(|given| given.name).collect();
        // Those that are bound otherwise hide others of their names.
        let mut bound: FxHashMap<Sym, Vec<(Visible, Option<usize>)>> = FxHashMap::default();
        for local in self.b.locals().iter().filter(|l| names.contains(&l.name)) {
            let (at, until) = (local.at, local.until);
            let visible = Visible { at, until };
            bound.entry(local.name).or_default().push((visible, None));
        }
        for (i, held) in held.iter().enumerate() {
            let all = bound.entry(held.name).or_default();
            all.push((held.visible, Some(i)));
        }
        for Given {
            scope,
            name,
            at,
            value,
        } in given
        {
            let all = bound.get(&name).map_or(&[][..], Vec::as_slice);
            let innermost = all
                .iter()
                .filter(|(visible, _)| visible.at <= at && at < visible.until)
                .min_by_key(|(visible, _)| visible.until - visible.at);
            match innermost {
                Some((_, Some(place))) => {
                    let held = &mut held[*place];
                    // An inner function has names of its own.
                    let value = match held.scope == scope {
                        true => value,
                        false => TermId::UNKNOWN,
                    };
                    if held.values.len() < MAX_VALUES && !held.values.contains(&value) {
                        held.values.push(value);
                    }
                }
                Some((_, None)) => {}
                None => {
                    if let Some(def) = self.untyped.get(&name).copied() {
                        self.b.value(def, scope, value);
                    }
                }
            }
        }
        for held in held {
            let value = match held.values.as_slice() {
                [] => TermId::UNKNOWN,
                [one] => *one,
                several => {
                    let list = self.b.list(several);
                    self.b.term(Term::Held(list))
                }
            };
            let Visible { at, until } = held.visible;
            self.b.local_in(held.scope, held.name, at, until, value);
        }
    }

    /// The block around a place: functions that are made earlier see it too.
    fn in_block(&self, node: Node<'_>) -> Visible {
        let scope = self.b.scope();
        if let Some((block, _)) = self.blocks.last().filter(|(_, owner)| *owner == scope) {
            return Visible {
                at: block.start,
                until: block.end,
            };
        }
        let def = self.b.def(scope);
        match self.functions.last() {
            Some(function) => Visible {
                at: function.start,
                until: function.end,
            },
            None => Visible {
                at: (node.start_byte() as u32).min(def.span.start_byte),
                until: def.span.end_byte,
            },
        }
    }

    /// Names of a pattern in a module: variables, each a part of the value.
    fn unpack_static(&mut self, place: Span, pattern: Node<'_>, value: TermId, depth: u32) {
        let mut parts = Vec::new();
        self.parts(pattern, value, depth, &mut parts);
        let scope = self.b.scope();
        let kind = if self.declares_constant {
            NodeKind::Constant
        } else {
            NodeKind::Variable
        };
        for (name, part) in parts {
            let text = self.b.text(name);
            let mut own = span(name);
            own.start_byte = own.start_byte.max(place.start_byte);
            let def = self.define(own, name.end_byte(), kind, text);
            self.b.value(def, scope, part);
        }
    }

    /// Binds every name of a pattern in the innermost scope.
    pub(super) fn bind(&mut self, pattern: Node<'_>, value: TermId, visible: Visible, depth: u32) {
        let mut parts = Vec::new();
        self.parts(pattern, value, depth, &mut parts);
        for (name, part) in parts {
            let sym = self.b.node_name(name);
            self.b.local(sym, visible.at, visible.until, part);
        }
    }

    /// The names of a pattern with what each of them takes.
    fn parts<'t>(
        &mut self,
        pattern: Node<'t>,
        value: TermId,
        depth: u32,
        out: &mut Vec<(Node<'t>, TermId)>,
    ) {
        if depth > MAX_DEPTH {
            return;
        }
        match self.kinds.of(pattern) {
            K::Identifier | K::ShorthandPattern => out.push((pattern, value)),
            K::AssignmentPattern => {
                if let Some(left) = pattern.child_by_field_name("left") {
                    let value = match pattern.child_by_field_name("right") {
                        Some(right) if !value.is_known() => self.terms.expr(self.b, right),
                        _ => value,
                    };
                    self.parts(left, value, depth + 1, out);
                }
            }
            K::RestPattern => {
                if let Some(inner) = pattern.named_child(0) {
                    self.parts(inner, TermId::UNKNOWN, depth + 1, out);
                }
            }
            K::ArrayPattern => {
                let mut place = 0u8;
                let mut cursor = pattern.walk();
                for child in pattern.children(&mut cursor) {
                    if child.kind() == "," {
                        place = place.saturating_add(1);
                    } else if child.is_named() {
                        let part = self.b.term(Term::Part(value, place));
                        self.parts(child, part, depth + 1, out);
                    }
                }
            }
            K::ObjectPattern => {
                let mut cursor = pattern.walk();
                for child in pattern.named_children(&mut cursor) {
                    match self.kinds.of(child) {
                        K::ShorthandPattern => {
                            let name = self.b.text(child);
                            let part = self.member_of(value, name);
                            out.push((child, part));
                        }
                        K::ObjectAssignment => {
                            let Some(left) = child.child_by_field_name("left") else {
                                continue;
                            };
                            let name = self.b.text(left);
                            let part = self.member_of(value, name);
                            self.parts(left, part, depth + 1, out);
                        }
                        K::PairPattern => {
                            let (Some(key), Some(inner)) = (
                                child.child_by_field_name("key"),
                                child.child_by_field_name("value"),
                            ) else {
                                continue;
                            };
                            let name = unquoted(self.b.text(key));
                            let part = self.member_of(value, name);
                            self.parts(inner, part, depth + 1, out);
                        }
                        K::RestPattern => {
                            self.parts(child, TermId::UNKNOWN, depth + 1, out);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn bind_for(&mut self, node: Node<'_>) {
        let visible = Visible {
            at: node.start_byte() as u32,
            until: node.end_byte() as u32,
        };
        let scope = self.b.scope();
        self.blocks.push((super::items::around(node, None), scope));
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let is_of = node
            .child_by_field_name("operator")
            .is_some_and(|operator| operator.kind() == "of");
        let value = if is_of {
            let all = self.terms.expr(self.b, right);
            self.b.term(Term::Each(all))
        } else {
            TermId::UNKNOWN
        };
        self.bind(left, value, visible, 0);
    }

    pub(super) fn bind_catch(&mut self, node: Node<'_>) {
        if let Some(parameter) = node.child_by_field_name("parameter") {
            let visible = Visible {
                at: node.start_byte() as u32,
                until: node.end_byte() as u32,
            };
            self.bind(parameter, TermId::UNKNOWN, visible, 0);
        }
    }

    /// `if (value instanceof Type)` tells the type inside.
    pub(super) fn narrow(&mut self, node: Node<'_>) {
        let (Some(condition), Some(then)) = (
            node.child_by_field_name("condition"),
            node.child_by_field_name("consequence"),
        ) else {
            return;
        };
        let mut test = self.bare(condition);
        for _ in 0..8 {
            let is_and = self.kinds.of(test) == K::Binary
                && test
                    .child_by_field_name("operator")
                    .is_some_and(|operator| operator.kind() == "&&");
            match test.child_by_field_name("left") {
                Some(left) if is_and => test = self.bare(left),
                _ => break,
            }
        }
        if self.kinds.of(test) != K::Binary {
            return;
        }
        let (Some(left), Some(right), Some(operator)) = (
            test.child_by_field_name("left"),
            test.child_by_field_name("right"),
            test.child_by_field_name("operator"),
        ) else {
            return;
        };
        if operator.kind() != "instanceof" || self.kinds.of(left) != K::Identifier {
            return;
        }
        let class = self.terms.expr(self.b, right);
        let value = self.b.term(Term::Inst(class));
        let sym = self.b.node_name(left);
        let until = then.end_byte() as u32;
        self.b.local(sym, then.start_byte() as u32, until, value);
    }
}
