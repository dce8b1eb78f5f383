//! What an expression can turn out to be.

use std::rc::Rc;

use super::index::GSym;
use super::spaces::SpaceIx;
use crate::facts::DefIx;
use crate::model::NodeId;

/// Type arguments, or the elements of a tuple.
pub(crate) type Args = Rc<[Ty]>;

/// The outcome of evaluating a term. A type stands for itself until
/// instantiated; unions are flat and without unknowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// Not stated anywhere.
    Unknown,
    /// A definition: a type, function, module, constant.
    Def(NodeId, Args),
    /// A value of a project type.
    Inst(NodeId, Args),
    /// A method taken from a value.
    Bound(NodeId, Rc<Ty>),
    /// A member taken from something of another module.
    Method(Rc<Ty>, GSym),
    /// A module.
    Space(SpaceIx),
    /// Something of another module; `inst` when it is a value of that type.
    Ext {
        module: GSym,
        name: GSym,
        args: Args,
        inst: bool,
    },
    /// A type parameter of the definition or extension of a file.
    Param {
        file: u32,
        scope: DefIx,
        name: GSym,
        place: u32,
    },
    /// The receiver's own type, in a declared result.
    This,
    /// A tuple.
    Tuple(Args),
    /// Something that gives this when called.
    Closure(Rc<Ty>),
    /// One of several.
    Any(Args),
    /// The receiver seen as its bases: where, and as what.
    Super(u32, DefIx),
}

impl Ty {
    /// Joins alternatives: flat, without unknowns and repeats.
    pub(crate) fn any(all: Vec<Ty>) -> Ty {
        let mut flat: Vec<Ty> = Vec::with_capacity(all.len());
        for ty in all {
            match ty {
                Ty::Unknown => {}
                Ty::Any(inner) => {
                    for ty in inner.iter() {
                        if !flat.contains(ty) {
                            flat.push(ty.clone());
                        }
                    }
                }
                ty => {
                    if !flat.contains(&ty) {
                        flat.push(ty);
                    }
                }
            }
        }
        match flat.len() {
            0 => Ty::Unknown,
            1 => flat.swap_remove(0),
            _ => {
                // Overloads are told apart later, by their arguments.
                let named = |ty: &Ty| matches!(ty, Ty::Bound(..) | Ty::Def(..));
                flat.truncate(if flat.iter().all(named) { 16 } else { 8 });
                Ty::Any(flat.into())
            }
        }
    }

    /// The same type, cut at its depths when it has grown beyond any that code
    /// states: a variable that wraps itself in a loop doubles its type each time it
    /// is followed, and shared parts are compared and dropped as if they were many.
    pub(crate) fn bounded(self) -> Ty {
        const MAX_PARTS: u32 = 48;
        let fits = |ty: &Ty| {
            let mut left = MAX_PARTS;
            ty.weigh(&mut left)
        };
        if fits(&self) {
            return self;
        }
        let cuts = [4, 3, 2, 1].into_iter().map(|depth| self.cut(depth));
        cuts.into_iter().find(fits).unwrap_or(Ty::Unknown)
    }

    /// Whether there are at most `left` parts; stops counting when there are not.
    fn weigh(&self, left: &mut u32) -> bool {
        let Some(rest) = left.checked_sub(1) else {
            return false;
        };
        *left = rest;
        match self {
            Ty::Def(_, parts)
            | Ty::Inst(_, parts)
            | Ty::Ext { args: parts, .. }
            | Ty::Tuple(parts)
            | Ty::Any(parts) => parts.iter().all(|part| part.weigh(left)),
            Ty::Bound(_, inner) | Ty::Method(inner, _) | Ty::Closure(inner) => inner.weigh(left),
            Ty::Unknown | Ty::Space(_) | Ty::Param { .. } | Ty::This | Ty::Super(..) => true,
        }
    }

    /// The type down to a depth, unknown below it.
    fn cut(&self, depth: u32) -> Ty {
        let Some(below) = depth.checked_sub(1) else {
            return Ty::Unknown;
        };
        let parts = |parts: &Args| -> Args { parts.iter().map(|part| part.cut(below)).collect() };
        let inner = |inner: &Rc<Ty>| Rc::new(inner.cut(below));
        match self {
            Ty::Def(node, args) => Ty::Def(*node, parts(args)),
            Ty::Inst(node, args) => Ty::Inst(*node, parts(args)),
            Ty::Bound(node, ty) => Ty::Bound(*node, inner(ty)),
            Ty::Method(ty, name) => Ty::Method(inner(ty), *name),
            Ty::Ext {
                module,
                name,
                args,
                inst,
            } => Ty::Ext {
                module: *module,
                name: *name,
                args: parts(args),
                inst: *inst,
            },
            Ty::Tuple(all) => Ty::Tuple(parts(all)),
            Ty::Closure(ty) => Ty::Closure(inner(ty)),
            // Alternatives stand side by side, at the same depth.
            Ty::Any(all) => Ty::any(all.iter().map(|ty| ty.cut(depth)).collect()),
            plain => plain.clone(),
        }
    }

    pub(crate) fn is_known(&self) -> bool {
        !matches!(self, Ty::Unknown)
    }

    /// The alternatives, itself when there is one.
    pub(crate) fn each(&self) -> &[Ty] {
        match self {
            Ty::Any(all) => all,
            Ty::Unknown => &[],
            one => std::slice::from_ref(one),
        }
    }

    /// Applies a function to every alternative and joins the results.
    pub(crate) fn map(&self, f: impl FnMut(&Ty) -> Ty) -> Ty {
        match self {
            Ty::Any(all) => Ty::any(all.iter().map(f).collect()),
            Ty::Unknown => Ty::Unknown,
            one => {
                let mut f = f;
                f(one)
            }
        }
    }
}

/// No arguments, shared within a thread.
pub(crate) fn no_args() -> Args {
    thread_local! {
        static EMPTY: Args = Rc::from([]);
    }
    EMPTY.with(Rc::clone)
}
