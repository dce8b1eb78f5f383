//! What calling something gives.

use std::rc::Rc;

use super::eval::{Cx, Eval, is_type};
use super::value::{Args, Ty, no_args};
use crate::facts::{DefIx, FileFacts, Flags, Term, TermId, WHOLE};
use crate::model::{NodeId, NodeKind};

/// Bases are looked through for arguments this far.
const MAX_BASES: usize = 24;

/// Whether a method gives its receiver, or makes another of the receiver's type.
fn gives_receiver(facts: &FileFacts, method: DefIx, term: TermId) -> bool {
    match facts.terms[term.0 as usize] {
        Term::This | Term::ThisType => true,
        Term::Call(callee, _) => match facts.terms[callee.0 as usize] {
            Term::Call(..) => false,
            _ => gives_receiver(facts, method, callee),
        },
        Term::Name(name, _) => match facts.locals_named(method, name) {
            [only] => matches!(
                facts.terms[only.value.0 as usize],
                Term::This | Term::ThisType
            ),
            _ => false,
        },
        _ => false,
    }
}

impl Eval<'_> {
    /// The result of calling something.
    pub(crate) fn called(&mut self, cx: Cx, callee: &Ty, given: &[Ty]) -> Ty {
        self.guarded(Ty::Unknown, |eval| eval.called_inner(cx, callee, given))
    }

    fn called_inner(&mut self, cx: Cx, callee: &Ty, given: &[Ty]) -> Ty {
        match callee {
            Ty::Any(all) => {
                let all = self.apart(cx, all, false);
                let fit = |ty: &&Ty| self.takes(ty, given.len());
                let fitting: Vec<Ty> = all.iter().filter(fit).cloned().collect();
                let all = if fitting.is_empty() {
                    all
                } else {
                    fitting.into()
                };
                Ty::any(all.iter().map(|ty| self.called(cx, ty, given)).collect())
            }
            Ty::Def(node, args) => self.called_def(cx, *node, args, given),
            Ty::Bound(node, receiver) => self.result_of(*node, receiver),
            Ty::Closure(result) => (**result).clone(),
            Ty::Method(base, name) => self.library_call(cx, base, *name, given),
            Ty::Ext {
                module,
                name,
                inst: false,
                ..
            } => {
                let empty = self.index().words.empty;
                self.library_function(cx, callee, *module, empty, *name, given)
            }
            Ty::Inst(..) => match self.call_member(cx, callee) {
                Some(Ty::Bound(node, receiver)) => self.result_of(node, &receiver),
                _ => match self.underlying(callee) {
                    Ty::Closure(result) => (*result).clone(),
                    _ => Ty::Unknown,
                },
            },
            Ty::This => Ty::This,
            _ => Ty::Unknown,
        }
    }

    /// Whether something takes so many arguments, as far as it says.
    fn takes(&self, ty: &Ty, given: usize) -> bool {
        match ty {
            Ty::Def(node, _) | Ty::Bound(node, _) => self.fits(*node, given),
            _ => true,
        }
    }

    /// Whether a definition takes so many arguments, as far as it says.
    pub(super) fn fits(&self, node: NodeId, given: usize) -> bool {
        match self.relations.joined.arity(self.index(), node) {
            Some((least, u8::MAX)) => given >= usize::from(least),
            None => true,
            Some((least, most)) => (usize::from(least)..=usize::from(most)).contains(&given),
        }
    }

    /// The method that is called when a value is called.
    pub(crate) fn call_member(&mut self, cx: Cx, value: &Ty) -> Option<Ty> {
        let name = self.index().semantics(cx.file)?.call_member?;
        let name = self.index().names.find(name)?;
        let ty = self.member(cx, value, name);
        matches!(ty, Ty::Bound(..)).then_some(ty)
    }

    pub(super) fn called_def(&mut self, cx: Cx, node: NodeId, args: &Args, given: &[Ty]) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let def = self.facts(file).def(ix);
        match def.kind {
            NodeKind::EnumMember => {
                let parent = self.index().node(file, def.parent);
                Ty::Inst(parent, no_args())
            }
            kind if is_type(kind) => Ty::Inst(node, args.clone()),
            NodeKind::TypeAlias => {
                let inner = Cx { file, scope: ix };
                let ty = self.eval(inner, def.ty);
                self.instance(inner, &ty)
            }
            NodeKind::Function | NodeKind::Method | NodeKind::Test => {
                self.result_of(node, &Ty::Unknown)
            }
            _ => match self.value_of(node) {
                Some(value) => self.called(cx, &value, given),
                None => Ty::Unknown,
            },
        }
    }

    /// A function's result for a receiver.
    pub(crate) fn result_of(&mut self, node: NodeId, receiver: &Ty) -> Ty {
        self.guarded(Ty::Unknown, |eval| eval.result_of_inner(node, receiver))
    }

    pub(super) fn result_of_inner(&mut self, node: NodeId, receiver: &Ty) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let facts = self.facts(file);
        let def = facts.def(ix);
        let cx = Cx { file, scope: ix };
        let mut result = if def.ty.is_known() {
            let keep = std::mem::replace(&mut self.keep_this, true);
            let ty = self.eval(cx, def.ty);
            let ty = self.instance(cx, &ty);
            self.keep_this = keep;
            ty
        } else {
            let mut all = Vec::new();
            for value in facts.values_of(ix) {
                let keep = self.keep_this;
                self.keep_this |= gives_receiver(facts, ix, value.term);
                let ty = self.eval(cx, value.term);
                all.push(self.value(&ty));
                self.keep_this = keep;
            }
            Ty::any(all)
        };
        if def.flags.has(Flags::CONTEXT) {
            let element = self.element(cx, &result);
            let shapes = self.shapes(file);
            result = shapes.value("ContextManager", vec![element]);
        }
        let this = match receiver {
            Ty::Unknown => {
                let ty = self.self_type(cx);
                self.instance(cx, &ty)
            }
            other => {
                let other = other.clone();
                self.instance(cx, &other)
            }
        };
        result = self.replace_this(&result, &this);
        self.seen_from(&result, receiver, file, ix)
    }

    /// The arguments that a receiver's type gives to the type that declares a
    /// member: its own, or those that it states for its base.
    fn args_of_owner(&mut self, node: NodeId, args: &Args, file: u32, ix: DefIx) -> Args {
        let index = self.index();
        let def = self.facts(file).def(ix);
        let owner = index.node(file, def.parent);
        let params = self.facts(file).def(def.parent).params;
        if def.ext.is_some() || owner == node || params.0 == params.1 {
            return args.clone();
        }
        let mut seen = vec![node];
        let mut todo = vec![(node, args.clone())];
        while let Some((node, args)) = todo.pop() {
            let (file, ix) = index.place_of(node);
            let facts = self.facts(file);
            let own = facts.def(ix).params;
            let cx = Cx { file, scope: ix };
            for term in facts.list(facts.def(ix).bases).to_vec() {
                let Ty::Def(base, given) = self
                    .eval(cx, term)
                    .each()
                    .first()
                    .cloned()
                    .unwrap_or(Ty::Unknown)
                else {
                    continue;
                };
                if seen.len() >= MAX_BASES || seen.contains(&base) {
                    continue;
                }
                seen.push(base);
                let given: Args = given
                    .iter()
                    .map(|ty| {
                        let ty = self.instance(cx, ty);
                        self.substitute_params(&ty, file, own, &args)
                    })
                    .collect();
                if base == owner {
                    return given;
                }
                todo.push((base, given));
            }
        }
        no_args()
    }

    /// What a function calls the closure with that it is given as an argument.
    pub(super) fn handed(&mut self, callee: &Ty, argument: u8, place: u8) -> Ty {
        self.guarded(Ty::Unknown, |eval| {
            callee.map(|callee| eval.handed_by(callee, argument, place))
        })
    }

    fn handed_by(&mut self, callee: &Ty, argument: u8, place: u8) -> Ty {
        let (Ty::Def(node, _) | Ty::Bound(node, _)) = callee else {
            return Ty::Unknown;
        };
        let index = self.index();
        let mut nodes = vec![*node];
        if is_type(index.def(*node).kind)
            && let Some(name) = index.names.find("constructor")
        {
            let made = index
                .members
                .named(super::index::Container::Node(*node), name);
            nodes.extend(made);
        }
        let mut all = Vec::new();
        for node in nodes {
            let (file, ix) = index.place_of(node);
            let cx = Cx { file, scope: ix };
            for handed in self.facts(file).handed_by(ix) {
                if handed.argument != argument {
                    continue;
                }
                if handed.place == place {
                    let ty = self.eval(cx, handed.term);
                    let ty = self.instance(cx, &ty);
                    all.push(match callee {
                        Ty::Bound(_, receiver) => self.seen_from(&ty, receiver, file, ix),
                        _ => ty,
                    });
                } else if handed.place == WHOLE {
                    let ty = self.eval(cx, handed.term);
                    let alias = |ty: &Ty| match ty {
                        Ty::Def(node, _) => index.def(*node).kind == NodeKind::TypeAlias,
                        _ => false,
                    };
                    for ty in ty.each().iter().filter(|ty| alias(ty)) {
                        all.push(self.handed(ty, WHOLE, place));
                    }
                }
            }
        }
        Ty::any(all)
    }

    /// A member's type with what the receiver says of its owner's parameters.
    fn seen_from(&mut self, ty: &Ty, receiver: &Ty, file: u32, ix: DefIx) -> Ty {
        match receiver {
            Ty::Inst(node, args) | Ty::Def(node, args) => {
                let args = self.args_of_owner(*node, args, file, ix);
                self.for_receiver(ty, file, ix, &args)
            }
            _ => ty.clone(),
        }
    }

    /// Replaces the type parameters of a member's owner by the receiver's arguments.
    pub(super) fn for_receiver(&mut self, ty: &Ty, file: u32, ix: DefIx, args: &Args) -> Ty {
        let facts = self.facts(file);
        let def = facts.def(ix);
        if let Some(ext) = def.ext {
            let self_ty = facts.extensions[ext.0 as usize].self_ty;
            let cx = Cx { file, scope: ix };
            let pattern = self.eval(cx, self_ty);
            if let Ty::Def(_, params) = pattern {
                return replace_params(ty, &params, args);
            }
            return ty.clone();
        }
        let parent = facts.def(def.parent);
        self.substitute_params(ty, file, parent.params, args)
    }

    pub(super) fn substitute_params(
        &self,
        ty: &Ty,
        file: u32,
        params: (u32, u32),
        args: &[Ty],
    ) -> Ty {
        if params.0 == params.1 {
            return ty.clone();
        }
        replace(ty, &|ty| match ty {
            Ty::Param {
                file: from, place, ..
            } if *from == file && (params.0..params.1).contains(place) => {
                args.get((*place - params.0) as usize).cloned()
            }
            _ => None,
        })
    }

    pub(super) fn replace_this(&self, ty: &Ty, this: &Ty) -> Ty {
        replace(ty, &|ty| match ty {
            Ty::This => Some(this.clone()),
            _ => None,
        })
    }

    /// The type that a field has in a value of this type.
    pub(crate) fn field_type(&mut self, node: NodeId, receiver: &Ty) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let ty = self.value_of(node).unwrap_or(Ty::Unknown);
        self.seen_from(&ty, receiver, file, ix)
    }
}

/// Rewrites a type from the inside.
fn replace(ty: &Ty, with: &impl Fn(&Ty) -> Option<Ty>) -> Ty {
    if let Some(ty) = with(ty) {
        return ty;
    }
    let all = |args: &Args| -> Args {
        if args.is_empty() {
            args.clone()
        } else {
            args.iter().map(|arg| replace(arg, with)).collect()
        }
    };
    match ty {
        Ty::Def(node, args) => Ty::Def(*node, all(args)),
        Ty::Inst(node, args) => Ty::Inst(*node, all(args)),
        Ty::Ext {
            module,
            name,
            args,
            inst,
        } => Ty::Ext {
            module: *module,
            name: *name,
            args: all(args),
            inst: *inst,
        },
        Ty::Tuple(parts) => Ty::Tuple(all(parts)),
        Ty::Any(parts) => Ty::any(parts.iter().map(|p| replace(p, with)).collect()),
        Ty::Closure(result) => Ty::Closure(Rc::new(replace(result, with))),
        other => other.clone(),
    }
}

/// Replaces the parameters that stand in a pattern by what stands there.
fn replace_params(ty: &Ty, pattern: &Args, args: &Args) -> Ty {
    if pattern.is_empty() || args.is_empty() {
        return ty.clone();
    }
    replace(ty, &|ty| match ty {
        Ty::Param { .. } => pattern
            .iter()
            .position(|p| p == ty)
            .and_then(|i| args.get(i).cloned()),
        _ => None,
    })
}
