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
                flat.truncate(8);
                Ty::Any(flat.into())
            }
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
