//! What a term turns out to be, as far as sources declare it.
//!
//! Evaluation is a pure function of the facts: bounded in depth and in steps,
//! declining to [`Ty::Unknown`] at the bound. Results are remembered only when
//! no bound was met, so that the order of questions does not matter.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::index::{GSym, Index};
use super::library::{Library, Seen, Shapes, Special};
use super::lookup::{Found, Lookup, Via};
use super::members::path_of;
use super::relations::Relations;
use super::value::{Args, Ty, no_args};
use crate::facts::{DefIx, FileFacts, Flags, ListRange, Local, Sym, Term, TermId};
use crate::lang::RULES;
use crate::model::{NodeId, NodeKind};

/// Terms inside terms, definitions inside definitions.
const MAX_DEPTH: u32 = 72;
/// Terms evaluated for one question.
const MAX_STEPS: u32 = 3_000;

/// Where a term is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Cx {
    pub(crate) file: u32,
    pub(crate) scope: DefIx,
}

/// Which of two members of one name a place means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A field where fields and methods have names of their own.
    Value,
    /// A method.
    Method,
}

/// Evaluates terms of one file after another.
pub(crate) struct Eval<'l> {
    pub(crate) lookup: &'l Lookup<'l>,
    pub(crate) relations: &'l Relations,
    depth: u32,
    steps: u32,
    limited: bool,
    /// Leave the receiver's type open, for results that name it.
    keep_this: bool,
    pub(super) wanted: Wanted,
    memo: FxHashMap<(Cx, TermId), (Ty, Via)>,
    /// The strongest step taken for the current question.
    pub(crate) via: Via,
}

impl<'l> Eval<'l> {
    pub(crate) fn new(lookup: &'l Lookup<'l>, relations: &'l Relations) -> Self {
        Eval {
            lookup,
            relations,
            depth: 0,
            steps: 0,
            limited: false,
            keep_this: false,
            wanted: Wanted::Value,
            memo: FxHashMap::default(),
            via: Via::Scope,
        }
    }

    pub(crate) fn index(&self) -> &'l Index<'l> {
        self.lookup.index
    }

    pub(crate) fn facts(&self, file: u32) -> &'l FileFacts {
        &self.index().facts[file as usize]
    }

    /// Begins a new question.
    pub(crate) fn begin(&mut self) {
        self.depth = 0;
        self.steps = 0;
        self.limited = false;
        self.keep_this = false;
        self.via = Via::Scope;
    }

    pub(crate) fn saw(&mut self, via: Via) {
        self.via = self.via.max(via);
    }

    /// What a term stands for: a definition stays one, a value is its type's.
    pub(crate) fn eval(&mut self, cx: Cx, term: TermId) -> Ty {
        if !term.is_known() {
            return Ty::Unknown;
        }
        let cacheable = !self.keep_this;
        if cacheable && let Some((ty, via)) = self.memo.get(&(cx, term)) {
            let (ty, via) = (ty.clone(), *via);
            self.saw(via);
            return ty;
        }
        if self.depth >= MAX_DEPTH || self.steps >= MAX_STEPS {
            self.limited = true;
            return Ty::Unknown;
        }
        self.depth += 1;
        self.steps += 1;
        let (outer_via, outer_limited) = (self.via, self.limited);
        self.via = Via::Scope;
        self.limited = false;
        let ty = self.eval_inner(cx, term);
        if cacheable && !self.limited {
            self.memo.insert((cx, term), (ty.clone(), self.via));
        }
        self.via = self.via.max(outer_via);
        self.limited |= outer_limited;
        self.depth -= 1;
        ty
    }

    fn eval_inner(&mut self, cx: Cx, term: TermId) -> Ty {
        let facts = self.facts(cx.file);
        match facts.terms[term.0 as usize] {
            Term::Unknown => Ty::Unknown,
            Term::Name(sym, at) => self.name(cx, sym, at),
            Term::Member(base, name) => self.wanting(Wanted::Value, cx, base, name),
            Term::Method(base, name) => self.wanting(Wanted::Method, cx, base, name),
            Term::Call(callee, args) => {
                let callee_ty = self.eval(cx, callee);
                let given = self.given(cx, args);
                let ty = self.called(cx, &callee_ty, &given);
                self.saw(Via::DeclaredReturn);
                ty
            }
            Term::Apply(base, args) => {
                let base = self.eval(cx, base);
                let args = self.list(cx, args);
                self.applied(base, args)
            }
            Term::Inst(ty) => {
                let ty = self.eval(cx, ty);
                self.instance(cx, &ty)
            }
            Term::Builtin(sym) => {
                let name = self.index().global_name(cx.file, sym);
                match self.lookup.builtin(cx.file, name) {
                    Some(Found::Ext { module, name }) => Ty::Ext {
                        module,
                        name,
                        args: no_args(),
                        inst: false,
                    },
                    _ => Ty::Unknown,
                }
            }
            Term::This => {
                self.saw(Via::Receiver);
                if self.keep_this {
                    return Ty::This;
                }
                let ty = self.self_type(cx);
                self.instance(cx, &ty)
            }
            Term::ThisType => {
                if self.keep_this {
                    return Ty::This;
                }
                self.self_type(cx)
            }
            Term::Super => match self.class_around(cx) {
                Some(class) => Ty::Super(cx.file, class),
                None => Ty::Unknown,
            },
            Term::Each(base) => {
                let base = self.eval(cx, base);
                self.element(cx, &base)
            }
            Term::Index(base) => {
                let base = self.eval(cx, base);
                self.indexed(cx, &base)
            }
            Term::Enter(base) => {
                let base = self.eval(cx, base);
                self.entered(cx, &base)
            }
            Term::Await(base) => self.eval(cx, base),
            Term::Unwrap(base) => {
                let base = self.eval(cx, base);
                self.through(cx.file, &base, |library, seen| library.unwrapped(seen))
            }
            Term::Either(list) => {
                let all = facts.list(list).to_vec();
                Ty::any(all.into_iter().map(|t| self.eval(cx, t)).collect())
            }
            Term::Tuple(list) => Ty::Tuple(self.list(cx, list)),
            Term::Part(base, place) => {
                let base = self.eval(cx, base);
                self.part(cx, &base, place)
            }
            Term::Closure(body) => {
                let body = self.eval(cx, body);
                Ty::Closure(Rc::new(body))
            }
            Term::FnType(result) => {
                let result = self.eval(cx, result);
                let result = self.instance(cx, &result);
                Ty::Closure(Rc::new(result))
            }
            Term::Passed(receiver, method, place) => {
                let receiver = self.eval(cx, receiver);
                let method = self.index().global_name(cx.file, method);
                let value = self.value(cx, &receiver);
                let text = self.index().names.text(method).clone();
                let shapes = self.shapes(cx.file);
                self.through_wrappers(cx.file, &value, |library, seen| {
                    library.passed(&shapes, seen, &text, place)
                })
            }
            Term::Unpacked(constructor, value, place) => {
                self.unpacked(cx, constructor, value, place)
            }
            Term::UnpackedField(ty, name) => {
                let name = self.index().global_name(cx.file, name);
                let ty = self.eval(cx, ty);
                let ty = match ty {
                    Ty::Def(node, args) if self.index().def(node).kind == NodeKind::EnumMember => {
                        Ty::Inst(node, args)
                    }
                    other => self.instance(cx, &other),
                };
                let found = self.member(cx, &ty, name);
                self.value(cx, &found)
            }
        }
    }

    fn wanting(&mut self, wanted: Wanted, cx: Cx, base: TermId, name: Sym) -> Ty {
        let name = self.index().global_name(cx.file, name);
        let base = self.eval(cx, base);
        let before = std::mem::replace(&mut self.wanted, wanted);
        let ty = self.member(cx, &base, name);
        self.wanted = before;
        ty
    }

    fn list(&mut self, cx: Cx, list: ListRange) -> Args {
        if list.is_empty() {
            return no_args();
        }
        let terms = self.facts(cx.file).list(list).to_vec();
        terms.into_iter().map(|t| self.eval(cx, t)).collect()
    }

    /// Arguments as values; functions among them as closures of their results.
    fn given(&mut self, cx: Cx, list: ListRange) -> Vec<Ty> {
        let terms = self.facts(cx.file).list(list).to_vec();
        let before = self.via;
        let given = terms
            .into_iter()
            .map(|term| {
                let ty = self.eval(cx, term);
                match &ty {
                    Ty::Def(node, _) if self.index().def(*node).kind.is_callable() => {
                        let result = self.called(cx, &ty, &[]);
                        if result.is_known() {
                            Ty::Closure(Rc::new(result))
                        } else {
                            ty
                        }
                    }
                    _ => self.value(cx, &ty),
                }
            })
            .collect();
        self.via = before;
        given
    }

    fn name(&mut self, cx: Cx, sym: Sym, at: u32) -> Ty {
        let index = self.index();
        let facts = self.facts(cx.file);
        let Some(semantics) = index.semantics(cx.file) else {
            return Ty::Unknown;
        };
        let name = index.global_name(cx.file, sym);
        if semantics.closed_modules
            && let Some(space) = index.space_around(cx.file, cx.scope)
            && let Some(Found::Space(space)) = self.lookup.relative_root(space, name).first()
        {
            return Ty::Space(*space);
        }
        // Locals and type parameters on the way to the module.
        let mut ix = cx.scope;
        loop {
            let def = facts.def(ix);
            let locals = facts.locals_named(ix, sym);
            if !locals.is_empty() {
                let inner = Cx {
                    file: cx.file,
                    scope: ix,
                };
                if let Some(ty) = self.local(inner, locals, at, semantics.block_scoped) {
                    return ty;
                }
            }
            if let Some(ty) = self.type_param(cx.file, ix, def.params, sym, name) {
                return ty;
            }
            if let Some(ext) = def.ext {
                let params = facts.extensions[ext.0 as usize].params;
                if let Some(ty) = self.type_param(cx.file, ix, params, sym, name) {
                    return ty;
                }
            }
            // A definition inside a function hides outer locals of that name.
            if ix != DefIx::ROOT
                && matches!(
                    def.kind,
                    NodeKind::Function | NodeKind::Method | NodeKind::Test
                )
            {
                let inside = index
                    .members
                    .named(super::index::Container::Node(index.node(cx.file, ix)), name);
                if !inside.is_empty() {
                    break;
                }
            }
            if ix == DefIx::ROOT {
                break;
            }
            ix = def.parent;
        }
        let (found, via) = match self.lookup.from_scope(cx.file, cx.scope, name) {
            Some((found, via)) => (found, via),
            None => (self.lookup.beyond(cx.file, cx.scope, name), Via::Import),
        };
        self.saw(via);
        self.found(&found)
    }

    pub(crate) fn found(&self, found: &[Found]) -> Ty {
        Ty::any(
            found
                .iter()
                .map(|item| match *item {
                    Found::Node(node) => Ty::Def(node, no_args()),
                    Found::Space(space) => Ty::Space(space),
                    Found::Ext { module, name } => Ty::Ext {
                        module,
                        name,
                        args: no_args(),
                        inst: false,
                    },
                })
                .collect(),
        )
    }

    fn type_param(
        &self,
        file: u32,
        scope: DefIx,
        params: (u32, u32),
        sym: Sym,
        name: GSym,
    ) -> Option<Ty> {
        let facts = self.facts(file);
        let place = facts.params(params).iter().position(|p| p.name == sym)?;
        Some(Ty::Param {
            file,
            scope,
            name,
            place: params.0 + place as u32,
        })
    }

    /// The value of a local at a place; `None` when it is not bound there.
    fn local(&mut self, cx: Cx, locals: &[Local], at: u32, block_scoped: bool) -> Option<Ty> {
        if block_scoped {
            let local = locals.iter().rev().find(|l| l.at <= at && at < l.until)?;
            return Some(self.eval(cx, local.value));
        }
        let mut all = Vec::new();
        let mut any_before = false;
        for local in locals.iter().rev().filter(|l| l.at <= at) {
            any_before = true;
            let ty = self.eval(cx, local.value);
            all.push(ty);
            if at < local.until {
                break;
            }
        }
        if !any_before {
            // Bound later: in a loop, or before an inner function runs.
            for local in locals {
                let ty = self.eval(cx, local.value);
                all.push(ty);
            }
        }
        Some(Ty::any(all))
    }

    /// The class or extended type around a place, as a type.
    pub(crate) fn self_type(&mut self, cx: Cx) -> Ty {
        let facts = self.facts(cx.file);
        let mut ix = cx.scope;
        loop {
            let def = facts.def(ix);
            if let Some(ext) = def.ext {
                let self_ty = facts.extensions[ext.0 as usize].self_ty;
                let inner = Cx {
                    file: cx.file,
                    scope: ix,
                };
                let keep = std::mem::replace(&mut self.keep_this, false);
                let via = self.via;
                let ty = self.eval(inner, self_ty);
                self.via = via;
                self.keep_this = keep;
                return ty;
            }
            if is_type(def.kind) {
                let args: Vec<Ty> = facts
                    .params(def.params)
                    .iter()
                    .zip(def.params.0..)
                    .map(|(param, place)| Ty::Param {
                        file: cx.file,
                        scope: ix,
                        name: self.index().global_name(cx.file, param.name),
                        place,
                    })
                    .collect();
                let args = if args.is_empty() {
                    no_args()
                } else {
                    args.into()
                };
                return Ty::Def(self.index().node(cx.file, ix), args);
            }
            if ix == DefIx::ROOT {
                return Ty::Unknown;
            }
            ix = def.parent;
        }
    }

    pub(crate) fn class_around(&self, cx: Cx) -> Option<DefIx> {
        let facts = self.facts(cx.file);
        let mut ix = cx.scope;
        loop {
            let def = facts.def(ix);
            if is_type(def.kind) {
                return Some(ix);
            }
            if ix == DefIx::ROOT {
                return None;
            }
            ix = def.parent;
        }
    }

    fn applied(&mut self, base: Ty, args: Args) -> Ty {
        base.map(|ty| match path_of(ty).as_ref().unwrap_or(ty) {
            Ty::Def(node, _) => Ty::Def(*node, args.clone()),
            Ty::Ext {
                module,
                name,
                inst: false,
                ..
            } => Ty::Ext {
                module: *module,
                name: *name,
                args: args.clone(),
                inst: false,
            },
            Ty::Method(base, name) => Ty::Method(base.clone(), *name),
            Ty::Bound(node, receiver) => Ty::Bound(*node, receiver.clone()),
            _ => Ty::Unknown,
        })
    }

    /// A value of a type.
    pub(crate) fn instance(&mut self, cx: Cx, ty: &Ty) -> Ty {
        if self.depth >= MAX_DEPTH {
            self.limited = true;
            return Ty::Unknown;
        }
        self.depth += 1;
        let path = path_of(ty);
        let out = match path.as_ref().unwrap_or(ty) {
            Ty::Any(all) => Ty::any(all.iter().map(|ty| self.instance(cx, ty)).collect()),
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

    fn instance_of(&mut self, node: NodeId, args: &Args) -> Ty {
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
                self.substitute_params(&ty, file, def.params, &args)
            }
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field => {
                let mut all = Vec::new();
                for value in facts.values_of(ix) {
                    let inner = Cx {
                        file,
                        scope: value.scope,
                    };
                    let ty = self.eval(inner, value.term);
                    all.push(self.instance(inner, &ty));
                }
                Ty::any(all)
            }
            NodeKind::EnumMember => Ty::Inst(self.index().node(file, def.parent), no_args()),
            _ => Ty::Unknown,
        }
    }

    /// What reading a name gives: the type of variables, fields and properties.
    pub(crate) fn value(&mut self, cx: Cx, ty: &Ty) -> Ty {
        match ty {
            Ty::Any(all) => Ty::any(all.iter().map(|ty| self.value(cx, ty)).collect()),
            Ty::Def(node, _) => self.value_of(*node).unwrap_or_else(|| ty.clone()),
            other => other.clone(),
        }
    }

    /// The type of a variable, constant, field or enum member; `None` for others.
    pub(crate) fn value_of(&mut self, node: NodeId) -> Option<Ty> {
        self.guarded(Some(Ty::Unknown), |eval| eval.value_of_inner(node))
    }

    /// One step deeper, or `limit` when that is too deep.
    pub(crate) fn guarded<T>(&mut self, limit: T, step: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.limited = true;
            return limit;
        }
        self.depth += 1;
        let out = step(self);
        self.depth -= 1;
        out
    }

    fn value_of_inner(&mut self, node: NodeId) -> Option<Ty> {
        let (file, ix) = self.index().place_of(node);
        let facts = self.facts(file);
        let def = facts.def(ix);
        match def.kind {
            NodeKind::Variable | NodeKind::Constant | NodeKind::Field => {}
            NodeKind::EnumMember => {
                let parent = self.index().node(file, def.parent);
                return Some(Ty::Inst(parent, no_args()));
            }
            _ => return None,
        }
        let cx = Cx { file, scope: ix };
        if def.ty.is_known() {
            let ty = self.eval(cx, def.ty);
            return Some(self.instance(cx, &ty));
        }
        let mut all = Vec::new();
        for value in facts.values_of(ix) {
            let inner = Cx {
                file,
                scope: value.scope,
            };
            let ty = self.eval(inner, value.term);
            all.push(self.value(inner, &ty));
        }
        Some(Ty::any(all))
    }

    /// The result of calling something.
    pub(crate) fn called(&mut self, cx: Cx, callee: &Ty, given: &[Ty]) -> Ty {
        if self.depth >= MAX_DEPTH {
            self.limited = true;
            return Ty::Unknown;
        }
        self.depth += 1;
        let out = match callee {
            Ty::Any(all) => Ty::any(all.iter().map(|ty| self.called(cx, ty, given)).collect()),
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
                _ => Ty::Unknown,
            },
            Ty::This => Ty::This,
            _ => Ty::Unknown,
        };
        self.depth -= 1;
        out
    }

    /// The method that is called when a value is called.
    pub(crate) fn call_member(&mut self, cx: Cx, value: &Ty) -> Option<Ty> {
        self.index().semantics(cx.file)?.call_member?;
        let name = self.index().words.call;
        let ty = self.member(cx, value, name);
        matches!(ty, Ty::Bound(..)).then_some(ty)
    }

    fn called_def(&mut self, cx: Cx, node: NodeId, args: &Args, given: &[Ty]) -> Ty {
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

    fn result_of_inner(&mut self, node: NodeId, receiver: &Ty) -> Ty {
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
                let ty = self.eval(cx, value.term);
                all.push(self.value(cx, &ty));
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
        if let Ty::Inst(_, args) | Ty::Def(_, args) = receiver {
            result = self.for_receiver(&result, file, ix, args);
        }
        result
    }

    /// Replaces the type parameters of a member's owner by the receiver's arguments.
    fn for_receiver(&mut self, ty: &Ty, file: u32, ix: DefIx, args: &Args) -> Ty {
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

    fn substitute_params(&self, ty: &Ty, file: u32, params: (u32, u32), args: &[Ty]) -> Ty {
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

    fn replace_this(&self, ty: &Ty, this: &Ty) -> Ty {
        replace(ty, &|ty| match ty {
            Ty::This => Some(this.clone()),
            _ => None,
        })
    }

    /// The type that a field has in a value of this type.
    pub(crate) fn field_type(&mut self, node: NodeId, receiver: &Ty) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let ty = self.value_of(node).unwrap_or(Ty::Unknown);
        match receiver {
            Ty::Inst(_, args) | Ty::Def(_, args) if !args.is_empty() => {
                self.for_receiver(&ty, file, ix, args)
            }
            _ => ty,
        }
    }

    // The library.

    pub(crate) fn library(&self, file: u32) -> Option<&'static dyn Library> {
        self.index().language[file as usize].map(|language| RULES[language].library())
    }

    pub(crate) fn shapes(&self, file: u32) -> Shapes<'l> {
        let language = self.index().language[file as usize].unwrap_or(0);
        Shapes {
            names: &self.index().names,
            module: self.index().words.prelude[language],
        }
    }

    /// Asks the library about each library value; others are unknown.
    fn through(
        &mut self,
        file: u32,
        ty: &Ty,
        ask: impl Fn(&'static dyn Library, Seen<'_>) -> Ty,
    ) -> Ty {
        let Some(library) = self.library(file) else {
            return Ty::Unknown;
        };
        let index = self.index();
        let language = index.language[file as usize].unwrap_or(0);
        ty.map(|ty| match ty {
            Ty::Ext {
                module,
                name,
                args,
                inst: true,
            } => ask(
                library,
                Seen {
                    head: index.names.text(*name),
                    args,
                    whole: ty,
                    is_standard: *module == index.words.prelude[language],
                },
            ),
            _ => Ty::Unknown,
        })
    }

    /// The same, looking into wrappers when the wrapper itself has no answer.
    fn through_wrappers(
        &mut self,
        file: u32,
        ty: &Ty,
        ask: impl Fn(&'static dyn Library, Seen<'_>) -> Ty,
    ) -> Ty {
        let mut ty = ty.clone();
        for _ in 0..4 {
            let answer = self.through(file, &ty, &ask);
            if answer.is_known() {
                return answer;
            }
            let inner = self.through(file, &ty, |library, seen| {
                library.target(seen).unwrap_or(Ty::Unknown)
            });
            if !inner.is_known() {
                return Ty::Unknown;
            }
            ty = inner;
        }
        Ty::Unknown
    }

    fn library_call(&mut self, cx: Cx, base: &Ty, name: GSym, given: &[Ty]) -> Ty {
        let index = self.index();
        let text = index.names.text(name).clone();
        let shapes = self.shapes(cx.file);
        match base {
            Ty::Ext { inst: true, .. } => self.through_wrappers(cx.file, base, |library, seen| {
                let own = Shapes {
                    names: shapes.names,
                    module: match seen.whole {
                        Ty::Ext { module, .. } if !seen.is_standard => *module,
                        _ => shapes.module,
                    },
                };
                library.method(&own, seen, &text, given)
            }),
            Ty::Ext {
                module,
                name: owner,
                inst: false,
                ..
            } => self.library_function(cx, base, *module, *owner, name, given),
            // Methods that the library gives to every value.
            own => match &*text {
                "clone" | "to_owned" | "borrow" | "borrow_mut" | "as_ref" | "as_mut" | "max"
                | "min" | "clamp" => own.clone(),
                "default" | "from" => own.clone(),
                "to_string" => shapes.value("String", Vec::new()),
                _ => Ty::Unknown,
            },
        }
    }

    fn library_function(
        &mut self,
        cx: Cx,
        callee: &Ty,
        module: GSym,
        owner: GSym,
        name: GSym,
        given: &[Ty],
    ) -> Ty {
        let Some(library) = self.library(cx.file) else {
            return Ty::Unknown;
        };
        let Ty::Ext { args, .. } = callee else {
            return Ty::Unknown;
        };
        let index = self.index();
        let language = index.language[cx.file as usize].unwrap_or(0);
        let shapes = Shapes {
            names: &index.names,
            module,
        };
        let seen = Seen {
            head: index.names.text(if owner == index.words.empty {
                name
            } else {
                owner
            }),
            args,
            whole: callee,
            is_standard: self.is_standard(language, module),
        };
        library.call(
            &shapes,
            seen,
            index.names.text(owner),
            index.names.text(name),
            given,
        )
    }

    fn is_standard(&self, language: usize, module: GSym) -> bool {
        let index = self.index();
        module == index.words.prelude[language]
            || matches!(&**index.names.text(module), "core" | "alloc")
    }

    /// What a loop takes.
    pub(crate) fn element(&mut self, cx: Cx, ty: &Ty) -> Ty {
        self.guarded(Ty::Unknown, |eval| eval.element_inner(cx, ty))
    }

    fn element_inner(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let value = self.value(cx, ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let element = match &part {
                Ty::Tuple(elements) => Ty::any(elements.to_vec()),
                Ty::Ext { .. } => {
                    let shapes = self.shapes(cx.file);
                    self.through_wrappers(cx.file, &part, |library, seen| {
                        library.element(&shapes, seen)
                    })
                }
                Ty::Inst(..) => self.own_element(cx, &part),
                _ => Ty::Unknown,
            };
            all.push(element);
        }
        Ty::any(all)
    }

    fn own_element(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let words = &self.index().words;
        for name in [words.iter, words.iter_async] {
            if let Ty::Bound(node, receiver) = self.member(cx, ty, name) {
                let iterator = self.result_of(node, &receiver);
                if iterator == *ty || matches!(iterator, Ty::Inst(..)) {
                    let next = self.index().words.next;
                    if let Ty::Bound(node, receiver) = self.member(cx, &iterator, next) {
                        return self.result_of(node, &receiver);
                    }
                    return Ty::Unknown;
                }
                return self.element(cx, &iterator);
            }
        }
        // An iterator of the project names what it yields.
        let item = self.index().words.item;
        let found = self.member(cx, ty, item);
        match found {
            Ty::Def(..) => self.instance(cx, &found),
            _ => Ty::Unknown,
        }
    }

    fn indexed(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let value = self.value(cx, ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let element = match &part {
                Ty::Tuple(elements) => Ty::any(elements.to_vec()),
                Ty::Ext { .. } => {
                    let shapes = self.shapes(cx.file);
                    self.through_wrappers(cx.file, &part, |library, seen| {
                        library.indexed(&shapes, seen)
                    })
                }
                Ty::Inst(..) => {
                    let name = self.index().words.get_item;
                    match self.member(cx, &part, name) {
                        Ty::Bound(node, receiver) => self.result_of(node, &receiver),
                        _ => Ty::Unknown,
                    }
                }
                _ => Ty::Unknown,
            };
            all.push(element);
        }
        Ty::any(all)
    }

    fn entered(&mut self, cx: Cx, ty: &Ty) -> Ty {
        let value = self.value(cx, ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let entered = match &part {
                Ty::Ext { name, args, .. } if *name == self.index().words.context => {
                    args.first().cloned().unwrap_or(Ty::Unknown)
                }
                Ty::Ext { .. } => part.clone(),
                Ty::Inst(..) => {
                    let words = &self.index().words;
                    let mut result = Ty::Unknown;
                    for name in [words.enter, words.enter_async] {
                        if let Ty::Bound(node, receiver) = self.member(cx, &part, name) {
                            result = self.result_of(node, &receiver);
                            break;
                        }
                    }
                    result
                }
                _ => Ty::Unknown,
            };
            all.push(entered);
        }
        Ty::any(all)
    }

    fn part(&mut self, cx: Cx, ty: &Ty, place: u8) -> Ty {
        let value = self.value(cx, ty);
        let parts: Vec<Ty> = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            let taken = match &part {
                Ty::Tuple(elements) => elements.get(place as usize).cloned().unwrap_or(Ty::Unknown),
                Ty::Ext { args, .. } => {
                    let is_tuple = args.len() > usize::from(place) && args.len() > 1;
                    let name = match &part {
                        Ty::Ext { name, .. } => self.index().names.text(*name).clone(),
                        _ => continue,
                    };
                    if is_tuple && matches!(&*name, "tuple" | "Tuple") {
                        args[usize::from(place)].clone()
                    } else {
                        let shapes = self.shapes(cx.file);
                        self.through(cx.file, &part, |library, seen| {
                            library.indexed(&shapes, seen)
                        })
                    }
                }
                Ty::Inst(node, _) => self.tuple_place(*node, &part, place),
                _ => Ty::Unknown,
            };
            all.push(taken);
        }
        Ty::any(all)
    }

    /// A positional field of a struct or variant.
    fn tuple_place(&mut self, node: NodeId, receiver: &Ty, place: u8) -> Ty {
        let (file, ix) = self.index().place_of(node);
        let facts = self.facts(file);
        let def = facts.def(ix);
        let Term::Tuple(list) = facts.terms[def.ty.0 as usize] else {
            return Ty::Unknown;
        };
        let Some(term) = facts.list(list).get(usize::from(place)).copied() else {
            return Ty::Unknown;
        };
        let cx = Cx { file, scope: ix };
        let ty = self.eval(cx, term);
        let ty = self.instance(cx, &ty);
        let owner = if def.kind == NodeKind::EnumMember {
            facts.def(def.parent).params
        } else {
            def.params
        };
        match receiver {
            Ty::Inst(_, args) => self.substitute_params(&ty, file, owner, args),
            _ => ty,
        }
    }

    fn unpacked(&mut self, cx: Cx, constructor: TermId, value: TermId, place: u8) -> Ty {
        let constructor = self.eval(cx, constructor);
        match &constructor {
            Ty::Def(node, _) => {
                let via = self.via;
                let value = self.eval(cx, value);
                let value = self.value(cx, &value);
                self.via = via;
                let receiver = value
                    .each()
                    .iter()
                    .find(|ty| matches!(ty, Ty::Inst(..)))
                    .cloned()
                    .unwrap_or(Ty::Unknown);
                self.tuple_place(*node, &receiver, place)
            }
            Ty::Ext { name, .. } => {
                let name = self.index().names.text(*name).clone();
                let value = self.eval(cx, value);
                let value = self.value(cx, &value);
                self.through_wrappers(cx.file, &value, |library, seen| {
                    library.unpacked(&name, seen)
                })
            }
            _ => Ty::Unknown,
        }
    }
}

pub(crate) fn is_type(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Class | NodeKind::Struct | NodeKind::Enum | NodeKind::Interface
    )
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
