//! Parameters: what they are declared to take, what the function that a closure
//! is given to calls it with, and what a function calls its own arguments with.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::K;
use super::items::{Passed, Reader, Visible, unquoted};
use super::terms::either;
use crate::facts::{DefIx, Handed, Term, TermId, WHOLE};

/// Parameters beyond these take nothing from the function they are given to.
const MAX_PLACES: usize = 4;

impl<'s> Reader<'_, 's> {
    /// The parameters of a function, visible in all of it.
    pub(super) fn parameters(&mut self, function: Node<'_>) {
        let visible = Visible {
            at: function.start_byte() as u32,
            until: function.end_byte() as u32,
        };
        let passed = self.passed.get(&function.id()).copied();
        if let Some(single) = function.child_by_field_name("parameter") {
            self.routes_parameter(function, single, None, 0);
            let value = self.handed(passed, 0);
            self.bind(single, value, visible, 0);
            return;
        }
        let Some(list) = function.child_by_field_name("parameters") else {
            return;
        };
        let mut place = 0usize;
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor) {
            let (pattern, ty, default) = match self.kinds.of(parameter) {
                K::Required | K::Optional => (
                    parameter.child_by_field_name("pattern"),
                    parameter.child_by_field_name("type"),
                    parameter.child_by_field_name("value"),
                ),
                K::Comment | K::Decorator => continue,
                _ => (Some(parameter), None, None),
            };
            let Some(pattern) = pattern else { continue };
            self.routes_parameter(function, pattern, ty, place);
            let mut value = match ty {
                Some(ty) => {
                    let ty = self.terms.ty(self.b, ty);
                    if ty.is_known() {
                        self.b.term(Term::Inst(ty))
                    } else {
                        TermId::UNKNOWN
                    }
                }
                None => self.handed(passed, place),
            };
            if !value.is_known()
                && ty.is_none()
                && let Some(default) = default
            {
                value = self.terms.expr(self.b, default);
            }
            if self.kinds.of(pattern) == K::ObjectPattern
                && let Some(object) = ty.and_then(|ty| self.object_type(ty))
            {
                self.bind_members(pattern, object, visible);
            } else if self.kinds.of(pattern) == K::RestPattern {
                if let Some(inner) = pattern.named_child(0) {
                    self.bind(inner, value, visible, 0);
                }
            } else {
                self.bind(pattern, value, visible, 0);
            }
            place += 1;
        }
    }

    /// The object type that an annotation writes out.
    fn object_type<'t>(&self, annotation: Node<'t>) -> Option<Node<'t>> {
        let ty = annotation.named_child(0)?;
        (self.kinds.of(ty) == K::ObjectType).then_some(ty)
    }

    /// `{ one, two: other }: { one: A; two: B }`: each name by its own type.
    fn bind_members(&mut self, pattern: Node<'_>, object: Node<'_>, visible: Visible) {
        let mut types: FxHashMap<&'s str, TermId> = FxHashMap::default();
        let mut cursor = object.walk();
        for member in object.named_children(&mut cursor) {
            if let (Some(name), Some(ty)) = (
                member.child_by_field_name("name"),
                member.child_by_field_name("type"),
            ) {
                let name = unquoted(self.b.text(name));
                let ty = self.terms.ty(self.b, ty);
                if ty.is_known() {
                    types.insert(name, self.b.term(Term::Inst(ty)));
                }
            }
        }
        let mut cursor = pattern.walk();
        for child in pattern.named_children(&mut cursor) {
            let (key, inner) = match self.kinds.of(child) {
                K::ShorthandPattern => (Some(child), Some(child)),
                K::ObjectAssignment => {
                    let left = child.child_by_field_name("left");
                    (left, left)
                }
                K::PairPattern => (
                    child.child_by_field_name("key"),
                    child.child_by_field_name("value"),
                ),
                _ => (None, child.named_child(0)),
            };
            let value = key
                .and_then(|key| types.get(unquoted(self.b.text(key))).copied())
                .unwrap_or(TermId::UNKNOWN);
            if let Some(inner) = inner {
                self.bind(inner, value, visible, 0);
            }
        }
    }

    /// What a function is called with at a place by what it is given to.
    fn handed(&mut self, passed: Option<Passed>, place: usize) -> TermId {
        let Some(passed) = passed.filter(|_| place < MAX_PLACES) else {
            return TermId::UNKNOWN;
        };
        let place = place as u8;
        let declared = self
            .b
            .term(Term::Given(passed.callee, passed.argument, place));
        let Some((receiver, method)) = passed.method else {
            return declared;
        };
        // A promise stands for what it promises.
        let known = if place == 0 && self.b.sym_text(method) == "then" {
            receiver
        } else {
            self.b.term(Term::Passed(receiver, method, place))
        };
        either(self.b, &[known, declared])
    }

    /// What a function declares that it calls its arguments with.
    pub(super) fn callbacks(&mut self, def: DefIx, function: Node<'_>) {
        let Some(list) = function.child_by_field_name("parameters") else {
            return;
        };
        let mut argument = 0u8;
        let mut cursor = list.walk();
        for parameter in list.named_children(&mut cursor).take(8) {
            if matches!(self.kinds.of(parameter), K::Comment | K::Decorator) {
                continue;
            }
            if let Some(ty) = parameter
                .child_by_field_name("type")
                .and_then(|annotation| annotation.named_child(0))
            {
                match self.kinds.of(ty) {
                    K::FunctionType => self.places_of(def, argument, ty),
                    K::TypeName | K::Generic | K::NestedType => {
                        let term = self.terms.ty(self.b, ty);
                        self.b.handed(Handed {
                            def,
                            argument,
                            place: WHOLE,
                            term,
                        });
                    }
                    _ => {}
                }
            }
            argument += 1;
        }
    }

    /// The parameters that a function type writes out.
    pub(super) fn places_of(&mut self, def: DefIx, argument: u8, function: Node<'_>) {
        let Some(list) = function.child_by_field_name("parameters") else {
            return;
        };
        let mut cursor = list.walk();
        let places = list.named_children(&mut cursor).take(MAX_PLACES);
        for (place, parameter) in (0u8..).zip(places) {
            let term = self.terms.declared(self.b, parameter, "type");
            self.b.handed(Handed {
                def,
                argument,
                place,
                term,
            });
        }
    }
}
