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
use crate::facts::Flags;
use crate::model::{NodeId, NodeKind};

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
        let mut todo = self.given_to(node);
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
                Some(None) => match self.remembered(*node) {
                    Some(value) => all.push(value),
                    None => todo.extend(self.given_to(*node)),
                },
            }
        }
        Ty::any(all)
    }

    /// The values that a variable is given, last first.
    fn given_to(&mut self, node: NodeId) -> Vec<Ty> {
        let (file, ix) = self.index().place_of(node);
        let mut all = Vec::new();
        for value in self.facts(file).values_of(ix) {
            let inner = Cx {
                file,
                scope: value.scope,
            };
            let ty = self.eval(inner, value.term);
            all.extend_from_slice(ty.each());
        }
        all.reverse();
        all
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
}

#[cfg(test)]
mod tests;
