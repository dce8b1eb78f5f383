//! Bare names that are members of the classes around them.
//!
//! For languages where a class's members, inherited ones too, are in scope by
//! their bare names, and where methods have names of their own and are told
//! apart by their arguments.

use super::eval::{Cx, Eval, Wanted, is_type};
use super::index::{Container, GSym};
use super::lookup::{Found, Via};
use super::members::TypeMember;
use super::relations::is_function;
use super::value::{Ty, no_args};
use crate::facts::DefIx;
use crate::model::{NodeId, NodeKind};

/// Classes around a name that are asked for it; nesting has no other bound.
const MAX_CLASSES_AROUND: u32 = 64;

impl Eval<'_> {
    /// Where methods are told apart by their arguments, those of what a type
    /// extends stand beside its own unless these take as many.
    pub(super) fn add_inherited_overloads(
        &self,
        node: NodeId,
        name: GSym,
        nodes: &mut Vec<NodeId>,
    ) {
        let index = self.index();
        let (file, _) = index.place_of(node);
        let open = index.semantics(file).is_some_and(|s| s.open_classes);
        if !open || !nodes.iter().all(|n| is_function(index.def(*n).kind)) {
            return;
        }
        for base in self.relations.line(node).0.into_iter().skip(1) {
            for &member in index.members.named(Container::Node(base), name) {
                let def = index.def(member);
                if is_function(def.kind) && nodes.iter().all(|n| index.def(*n).arity != def.arity) {
                    nodes.push(member);
                }
            }
        }
    }

    /// A bare name that is called: a member of the classes around, then imported.
    pub(super) fn bare_method(&mut self, cx: Cx, name: GSym) -> Ty {
        let before = std::mem::replace(&mut self.wanted, Wanted::Method);
        let found = self.of_classes_around(cx, name);
        self.wanted = before;
        let outside = match found {
            Some((ty, true)) => return ty,
            Some((ty, false)) => Some(ty),
            None => None,
        };
        if let Some((found, via)) = self.lookup.imported_member(cx.file, name) {
            self.saw(via);
            return self.found(&found);
        }
        if outside.is_none()
            && let Some(found) = self.lookup.in_foreign_globs(cx.file, name, true)
        {
            self.saw(Via::Import);
            return self.found(&[found]);
        }
        outside
            .or_else(|| {
                let ty = self.self_type(cx);
                let ty = self.instance(cx, &ty);
                self.universal(cx, &ty, name)
            })
            .unwrap_or(Ty::Unknown)
    }

    /// A bare name that is a field or type of the classes around.
    pub(super) fn inherited(&mut self, cx: Cx, name: GSym) -> Option<Ty> {
        let before = std::mem::replace(&mut self.wanted, Wanted::Value);
        let found = self.of_classes_around(cx, name);
        self.wanted = before;
        match found {
            Some((ty, true)) => Some(ty),
            _ => None,
        }
    }

    /// What the nearest class around has under a name, and whether the project
    /// declares it.
    fn of_classes_around(&mut self, cx: Cx, name: GSym) -> Option<(Ty, bool)> {
        let facts = self.facts(cx.file);
        let mut outside = None;
        let mut ix = cx.scope;
        let mut asked = 0;
        loop {
            let def = facts.def(ix);
            let is_class = is_type(def.kind) || def.kind == NodeKind::EnumMember;
            if is_class && asked < MAX_CLASSES_AROUND {
                asked += 1;
                let node = self.index().node(cx.file, ix);
                let receiver = Ty::Inst(node, no_args());
                match self.find_in_type(cx, node, &receiver, name) {
                    TypeMember::Nodes(nodes) => {
                        let calls = self.wanted == Wanted::Method;
                        let index = self.index();
                        let kept: Vec<NodeId> = nodes
                            .into_iter()
                            .filter(|n| is_function(index.def(*n).kind) == calls)
                            .collect();
                        if !kept.is_empty() {
                            let ty = if calls {
                                self.bound_all(&kept, &receiver)
                            } else {
                                let found: Vec<Found> = kept.into_iter().map(Found::Node).collect();
                                self.found(&found)
                            };
                            return Some((ty, true));
                        }
                    }
                    TypeMember::Lent(ty) => return Some((ty, true)),
                    TypeMember::Outside(module) if outside.is_none() => {
                        outside = Some(self.outside(module, name));
                    }
                    _ => {}
                }
            }
            if ix == DefIx::ROOT {
                return outside.map(|ty| (ty, false));
            }
            ix = def.parent;
        }
    }
}
