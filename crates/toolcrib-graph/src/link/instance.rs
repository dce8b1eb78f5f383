//! From a type to a value of it.
//!
//! A name stands for a definition until something makes a value of it: a
//! constructor, an annotation, a call. Aliases are followed, variables hold what
//! was assigned to them, and of a name that is both a type and a value the one that
//! is meant is kept.

use std::borrow::Cow;
use std::rc::Rc;

use super::eval::{Cx, Eval, MAX_DEPTH, MAX_STEPS, is_type};
use super::library::Special;
use super::members::path_of;
use super::value::{Args, Ty, no_args};
use crate::facts::Flags;
use crate::lang::RULES;
use crate::model::{NodeId, NodeKind};

impl Eval<'_> {
    /// A value of a type.
    pub(crate) fn instance(&mut self, cx: Cx, ty: &Ty) -> Ty {
        if !self.may_move() {
            return Ty::Unknown;
        }
        if self.depth >= MAX_DEPTH || self.steps >= MAX_STEPS {
            self.limited = true;
            return Ty::Unknown;
        }
        self.depth += 1;
        self.steps += 1;
        let path = path_of(ty);
        let out = match path.as_ref().unwrap_or(ty) {
            Ty::Any(all) => {
                let all = self.apart(cx, all, true);
                Ty::any(all.iter().map(|ty| self.instance(cx, ty)).collect())
            }
            Ty::Def(node, args) => self.instance_of(*node, args),
            Ty::Ext {
                module,
                name,
                args,
                inst: false,
            } => {
                let text = self.index().names.text(*name).clone();
                let special = self
                    .library(cx.file)
                    .and_then(|library| library.instance(&text, args));
                match special {
                    Some(Special::Value(ty)) | Some(Special::Type(ty)) => ty,
                    Some(Special::Of(ty)) => self.instance(cx, &ty),
                    Some(Special::This) if self.keep_this => Ty::This,
                    Some(Special::This) => {
                        let ty = self.self_type(cx);
                        self.instance(cx, &ty)
                    }
                    Some(Special::Function(ty)) => {
                        let result = self.instance(cx, &ty);
                        Ty::Closure(Rc::new(result))
                    }
                    None => {
                        let args: Args = if args.is_empty() {
                            args.clone()
                        } else {
                            args.iter().map(|arg| self.instance(cx, arg)).collect()
                        };
                        Ty::Ext {
                            module: *module,
                            name: *name,
                            args,
                            inst: true,
                        }
                    }
                }
            }
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|p| self.instance(cx, p)).collect()),
            other => other.clone(),
        };
        self.depth -= 1;
        out
    }

    /// Of what one name stands for as a type and as a value, those of one kind
    /// where there are any and the language keeps them apart.
    pub(super) fn apart<'t>(&self, cx: Cx, all: &'t [Ty], types: bool) -> Cow<'t, [Ty]> {
        let apart = self.index().language[cx.file as usize].is_some_and(|i| RULES[i].types_apart());
        let fits = |ty: &Ty| match ty {
            Ty::Def(node, _) => {
                let kind = self.index().def(*node).kind;
                let only_type = matches!(kind, NodeKind::Interface | NodeKind::TypeAlias);
                if types {
                    only_type || is_type(kind)
                } else {
                    !only_type
                }
            }
            _ => false,
        };
        if !apart || !all.iter().any(fits) {
            return Cow::Borrowed(all);
        }
        let kept = all
            .iter()
            .filter(|ty| !matches!(ty, Ty::Def(..)) || fits(ty));
        Cow::Owned(kept.cloned().collect())
    }

    pub(super) fn instance_of(&mut self, node: NodeId, args: &Args) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let facts = self.facts(file);
        let def = facts.def(ix);
        let cx = Cx { file, scope: ix };
        match def.kind {
            kind if is_type(kind) => {
                let args: Args = if args.is_empty() {
                    args.clone()
                } else {
                    args.iter().map(|arg| self.instance(cx, arg)).collect()
                };
                Ty::Inst(node, args)
            }
            NodeKind::TypeAlias => {
                let ty = self.eval(cx, def.ty);
                let ty = self.instance(cx, &ty);
                let args: Vec<Ty> = args.iter().map(|arg| self.instance(cx, arg)).collect();
                let ty = self.substitute_params(&ty, file, def.params, &args);
                if def.flags.has(Flags::OBJECT) {
                    return Ty::any(vec![Ty::Inst(node, args.into()), ty]);
                }
                ty
            }
            _ if def.flags.has(Flags::OBJECT) => Ty::Inst(node, no_args()),
            // An alias that is stated in terms of itself is followed once.
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field
                if self.instancing.contains(&node) =>
            {
                self.limited = true;
                Ty::Unknown
            }
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field => {
                self.instancing.push(node);
                let mut all = Vec::new();
                for value in facts.values_of(ix) {
                    let inner = Cx {
                        file,
                        scope: value.scope,
                    };
                    let ty = self.eval(inner, value.term);
                    all.push(self.instance(inner, &ty));
                }
                self.instancing.pop();
                Ty::any(all).bounded()
            }
            NodeKind::EnumMember => Ty::Inst(self.index().node(file, def.parent), no_args()),
            _ => Ty::Unknown,
        }
    }
}
