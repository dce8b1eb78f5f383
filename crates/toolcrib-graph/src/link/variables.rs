//! What variables, constants and fields hold.
//!
//! A variable that is given another holds what that one holds. Assignments lead
//! in circles: in `const A = exports.A = function () { … return A }()`, as
//! compilers write classes, two variables of one name each hold both. So variables
//! are followed as a graph, each once; paths through them double at every step.

use rustc_hash::FxHashSet;

use super::eval::{Cx, Eval};
use super::lookup::Via;
use super::value::{Ty, no_args};
use crate::facts::{Flags, Term, TermId};
use crate::model::{NodeId, NodeKind};

/// Variables that one may lead to by holding others.
const MAX_FOLLOWED: usize = 512;

impl Eval<'_> {
    /// What reading a name gives: the type of variables, fields and properties.
    pub(crate) fn value(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::Any(all) => Ty::any(all.iter().map(|ty| self.value(ty)).collect()),
            Ty::Def(node, _) => self.value_of(*node).unwrap_or_else(|| ty.clone()),
            other => other.clone(),
        }
    }

    /// The type of a variable, constant, field or enum member; `None` for others.
    pub(crate) fn value_of(&mut self, node: NodeId) -> Option<Ty> {
        self.guarded(Some(Ty::Unknown), |eval| eval.value_of_inner(node))
    }

    fn value_of_inner(&mut self, node: NodeId) -> Option<Ty> {
        if let Some(ty) = self.stated_value(node)? {
            return Some(ty);
        }
        if let Some(ty) = self.remembered(node) {
            return Some(ty);
        }
        let (outer_via, outer_limited) = (self.via, self.limited);
        self.via = Via::Scope;
        self.limited = false;
        let ty = self.held(node);
        if !self.keep_this && !self.limited {
            self.values.insert(node, (ty.clone(), self.via));
        }
        self.via = self.via.max(outer_via);
        self.limited |= outer_limited;
        Some(ty)
    }

    fn remembered(&mut self, node: NodeId) -> Option<Ty> {
        let known = self.values.get(&node).filter(|_| !self.keep_this);
        let (ty, via) = known.cloned()?;
        self.saw(via);
        Some(ty)
    }

    /// What a variable holds by the values it is given, those of the variables
    /// among them included. Each variable is followed once: variables that hold
    /// each other in circles would be followed along every path there is, and no
    /// path through a circle leads to a value that the others do not.
    fn held(&mut self, node: NodeId) -> Ty {
        let mut followed: FxHashSet<NodeId> = FxHashSet::default();
        followed.insert(node);
        let mut all = Vec::new();
        let mut doubt = Doubt::default();
        let mut todo = self.given_to(node, &mut doubt);
        while let Some(ty) = todo.pop() {
            if !self.may_move() {
                return Ty::Unknown;
            }
            let Ty::Def(node, _) = &ty else {
                all.push(ty);
                continue;
            };
            match self.stated_value(*node) {
                None => all.push(ty),
                Some(Some(value)) => all.push(value),
                Some(None) if !followed.insert(*node) => {}
                // The count depends on the variable alone, so this is remembered.
                Some(None) if followed.len() > MAX_FOLLOWED => return Ty::Unknown,
                Some(None) => todo.extend(self.given_to(*node, &mut doubt)),
            }
        }
        let ty = Ty::any(all);
        if ty.is_known() && doubt.is_open() {
            self.saw(Via::Open);
        }
        ty
    }

    /// The values that a variable is given, last first.
    fn given_to(&mut self, node: NodeId, doubt: &mut Doubt) -> Vec<Ty> {
        let (file, ix) = self.index().place_of(node);
        let mut all = Vec::new();
        for value in self.facts(file).values_of(ix) {
            let inner = Cx {
                file,
                scope: value.scope,
            };
            let ty = self.eval(inner, value.term);
            self.note(file, value.term, &ty, doubt);
            all.extend_from_slice(ty.each());
        }
        all.reverse();
        all
    }

    /// What a local variable holds that is given these values. One that nothing is
    /// known of leaves open what it is, unless a type is declared or the language
    /// keeps variables to the type of the first; so does one of another module
    /// beside one of the project.
    pub(super) fn alternatives(&mut self, cx: Cx, terms: &[TermId]) -> Ty {
        let facts = self.facts(cx.file);
        let mut all = Vec::with_capacity(terms.len());
        let mut doubt = Doubt::default();
        for &term in terms {
            // It is given what depends on itself, which adds nothing.
            if self.reading.contains(&(cx, term)) {
                self.limited = true;
                continue;
            }
            self.reading.push((cx, term));
            let ty = self.eval(cx, term);
            self.reading.pop();
            if terms.len() > 1 {
                self.note(cx.file, term, &ty, &mut doubt);
            }
            doubt.is_stated |=
                ty.is_known() && matches!(facts.terms[term.0 as usize], Term::Inst(_));
            all.push(ty);
        }
        let ty = Ty::any(all);
        if ty.is_known() && doubt.is_open() {
            self.saw(Via::Open);
        }
        ty
    }

    /// The type of a variable by its declaration, `Some(None)` when only its values
    /// say; `None` for what holds no value.
    fn stated_value(&mut self, node: NodeId) -> Option<Option<Ty>> {
        let (file, ix) = self.index().place_of(node);
        let def = self.facts(file).def(ix);
        match def.kind {
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field => {}
            NodeKind::EnumMember => {
                let parent = self.index().node(file, def.parent);
                return Some(Some(Ty::Inst(parent, no_args())));
            }
            _ => return None,
        }
        if def.flags.has(Flags::OBJECT) {
            return Some(Some(Ty::Inst(node, no_args())));
        }
        if !def.ty.is_known() {
            return Some(None);
        }
        let cx = Cx { file, scope: ix };
        let ty = self.eval(cx, def.ty);
        Some(Some(self.instance(cx, &ty)))
    }
    /// Notes what one of several values leaves open. Nothing itself is none of them.
    fn note(&mut self, file: u32, term: TermId, ty: &Ty, doubt: &mut Doubt) {
        let facts = self.facts(file);
        let is_nothing = match facts.terms[term.0 as usize] {
            Term::Inst(inner) => match facts.terms[inner.0 as usize] {
                Term::Builtin(name) => &**facts.name(name) == "None",
                _ => false,
            },
            _ => false,
        };
        let value = match ty {
            Ty::Def(..) => self.value(ty),
            other => other.clone(),
        };
        if value.is_known() {
            let is_outside = |ty: &Ty| matches!(ty, Ty::Ext { .. } | Ty::Method(..));
            match value.each().iter().all(is_outside) {
                true => doubt.is_outside = true,
                false => doubt.is_inside = true,
            }
        } else if !is_nothing && !self.limited {
            let is_loose = self.index().rules(file).is_some_and(|r| r.loose_values());
            doubt.is_unknown |= is_loose;
        }
    }
}

/// What the values of a variable say together.
#[derive(Default)]
struct Doubt {
    /// Nothing is known of one, and it may be of any type.
    is_unknown: bool,
    /// One declares its type.
    is_stated: bool,
    /// One is of another module.
    is_outside: bool,
    /// One is of the project.
    is_inside: bool,
}

impl Doubt {
    fn is_open(&self) -> bool {
        (self.is_unknown && !self.is_stated) || (self.is_outside && self.is_inside)
    }
}

#[cfg(test)]
mod tests;
