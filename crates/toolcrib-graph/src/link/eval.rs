//! What a term turns out to be, as far as sources declare it.
//!
//! Evaluation is a pure function of the facts: bounded in depth, in terms and in
//! moves from one thing to another, declining to [`Ty::Unknown`] at the bound.
//! Results are remembered only when no bound was met, so that the order of
//! questions does not matter. What is remembered costs no term, but moving to it
//! is a move: else a question over remembered terms alone would have no end.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::index::{GSym, Index};
use super::lookup::{Found, Lookup, Via};
use super::members::path_of;
use super::relations::Relations;
use super::value::{Args, Ty, no_args};
use crate::facts::{ANY_TIME, DefIx, FileFacts, Flags, ListRange, Local, Sym, Term, TermId};
use crate::model::{NodeId, NodeKind};

/// Terms inside terms, definitions inside definitions.
pub(super) const MAX_DEPTH: u32 = 72;
/// Terms evaluated for one question.
pub(super) const MAX_STEPS: u32 = 3_000;
/// Terms, members, results and values asked for in one question, remembered or not.
pub(super) const MAX_MOVES: u32 = 20_000;

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
    pub(super) depth: u32,
    pub(super) steps: u32,
    pub(super) moves: u32,
    /// Variables whose values are being made instances of, outermost first.
    pub(super) instancing: Vec<NodeId>,
    pub(super) limited: bool,
    /// Values of variables that are being followed, outermost first.
    pub(super) reading: Vec<(Cx, TermId)>,
    /// Leave the receiver's type open, for results that name it.
    pub(super) keep_this: bool,
    pub(super) wanted: Wanted,
    memo: FxHashMap<(Cx, TermId), (Ty, Via)>,
    /// What variables turned out to hold.
    pub(super) values: FxHashMap<NodeId, (Ty, Via)>,
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
            moves: 0,
            instancing: Vec::new(),
            reading: Vec::new(),
            limited: false,
            keep_this: false,
            wanted: Wanted::Value,
            memo: FxHashMap::default(),
            values: FxHashMap::default(),
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
        self.moves = 0;
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
        if !self.may_move() {
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
        let ty = self.eval_inner(cx, term).bounded();
        if cacheable && !self.limited {
            self.memo.insert((cx, term), (ty.clone(), self.via));
        }
        self.via = self.via.max(outer_via);
        self.limited |= outer_limited;
        self.depth -= 1;
        ty
    }

    pub(super) fn eval_inner(&mut self, cx: Cx, term: TermId) -> Ty {
        let facts = self.facts(cx.file);
        match facts.terms[term.0 as usize] {
            Term::Unknown => Ty::Unknown,
            Term::Name(sym, at) => self.name(cx, sym, at),
            Term::Member(base, name) => self.wanting(Wanted::Value, cx, base, name),
            // A bare name that is called, where methods have names of their own.
            Term::Method(TermId::UNKNOWN, name) => {
                let name = self.index().global_name(cx.file, name);
                self.bare_method(cx, name)
            }
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
            Term::Index(base) if self.index().textual(cx.file) => self.placed(cx, base),
            Term::Index(base) => {
                let base = self.eval(cx, base);
                self.indexed(cx, &base)
            }
            Term::Enter(base) => {
                let base = self.eval(cx, base);
                self.entered(cx, &base)
            }
            Term::Await(base) => self.eval(cx, base),
            Term::Unwrap(base) if self.index().textual(cx.file) => self.pointed(cx, base),
            Term::Unwrap(base) => {
                let base = self.eval(cx, base);
                self.through(cx.file, &base, |library, seen| library.unwrapped(seen))
            }
            Term::Either(list) => {
                let all = facts.list(list).to_vec();
                Ty::any(all.into_iter().map(|t| self.eval(cx, t)).collect())
            }
            Term::Held(list) => {
                let all = facts.list(list).to_vec();
                self.alternatives(cx, &all)
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
                let value = self.value(&receiver);
                let value = match self.underlying(&value) {
                    Ty::Unknown => value,
                    under => under,
                };
                let text = self.index().names.text(method).clone();
                let shapes = self.shapes(cx.file);
                self.through_wrappers(cx.file, &value, |library, seen| {
                    library.passed(&shapes, seen, &text, place)
                })
            }
            Term::Given(callee, argument, place) => {
                let callee = self.eval(cx, callee);
                self.handed(&callee, argument, place)
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
                self.value(&found)
            }
        }
    }

    pub(super) fn wanting(&mut self, wanted: Wanted, cx: Cx, base: TermId, name: Sym) -> Ty {
        let name = self.index().global_name(cx.file, name);
        let base = self.eval(cx, base);
        let before = std::mem::replace(&mut self.wanted, wanted);
        let ty = self.member(cx, &base, name);
        self.wanted = before;
        ty
    }

    pub(super) fn list(&mut self, cx: Cx, list: ListRange) -> Args {
        if list.is_empty() {
            return no_args();
        }
        let terms = self.facts(cx.file).list(list).to_vec();
        terms.into_iter().map(|t| self.eval(cx, t)).collect()
    }

    /// Arguments as values; functions among them as closures of their results.
    pub(super) fn given(&mut self, cx: Cx, list: ListRange) -> Vec<Ty> {
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
                    _ => self.value(&ty),
                }
            })
            .collect();
        self.via = before;
        given
    }

    pub(super) fn name(&mut self, cx: Cx, sym: Sym, at: u32) -> Ty {
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
                if let Some(ty) = self.local(inner, cx.scope, locals, at) {
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
                let begun = |node: &NodeId| {
                    !index.textual(cx.file) || at == 0 || index.def(*node).span.start_byte <= at
                };
                if inside.iter().any(begun) {
                    break;
                }
            }
            if ix == DefIx::ROOT {
                break;
            }
            ix = def.parent;
        }
        if index.textual(cx.file) {
            return self.included_name(cx, name, at);
        }
        if semantics.open_classes
            && let Some(found) = self.inherited(cx, name)
        {
            return found;
        }
        let (found, via) = match self.lookup.scoped(cx.file, cx.scope, name) {
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

    pub(super) fn type_param(
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

    /// The value of a local at a place in a scope, which may be inside of the
    /// local's; `None` when it is not bound there.
    fn local(&mut self, cx: Cx, scope: DefIx, locals: &[Local], at: u32) -> Option<Ty> {
        let semantics = self.index().semantics(cx.file)?;
        if semantics.block_scoped {
            let local = locals.iter().rev().find(|l| l.at <= at && at < l.until)?;
            return Some(self.eval(cx, local.value));
        }
        let mut all: Vec<TermId> = Vec::new();
        for local in locals.iter().rev().filter(|l| l.at <= at) {
            all.push(local.value);
            if at < local.until {
                break;
            }
        }
        if all.is_empty() {
            // Bound later: in a loop, or before an inner function runs.
            all.extend(locals.iter().map(|l| l.value));
        } else {
            let is_inner = scope != cx.scope;
            let whenever = |l: &&Local| l.until == ANY_TIME || (is_inner && l.at > at);
            all.extend(locals.iter().filter(whenever).map(|l| l.value));
        }
        Some(self.alternatives(cx, &all))
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
            if is_type(def.kind) || def.flags.has(Flags::OBJECT) {
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

    pub(super) fn applied(&mut self, base: Ty, args: Args) -> Ty {
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

    /// One step deeper, or `limit` when that is too deep.
    pub(crate) fn guarded<T>(&mut self, limit: T, step: impl FnOnce(&mut Self) -> T) -> T {
        if !self.may_move() {
            return limit;
        }
        if self.depth >= MAX_DEPTH {
            self.limited = true;
            return limit;
        }
        self.depth += 1;
        let out = step(self);
        self.depth -= 1;
        out
    }

    /// Takes one move from the question's budget; `false` when none is left.
    pub(super) fn may_move(&mut self) -> bool {
        if self.moves >= MAX_MOVES {
            self.limited = true;
            return false;
        }
        self.moves += 1;
        true
    }
}

pub(crate) fn is_type(kind: NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Class | NodeKind::Struct | NodeKind::Enum | NodeKind::Interface
    )
}
