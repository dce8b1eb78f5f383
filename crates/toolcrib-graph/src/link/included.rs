//! What names, members and calls mean in languages that are included as text.

use super::eval::{Cx, Eval, is_type};
use super::index::{Container, GSym};
use super::lookup::{Found, Via};
use super::members::TypeMember;
use super::relations::is_function;
use super::sites::{Targets, origin};
use super::textual::leads_on;
use super::value::{Ty, no_args};
use crate::facts::{Call, DefIx, Sym, Term, TermId};
use crate::model::{NodeId, NodeKind, SiteState};

/// Functions of libraries that make a value of their first type argument.
const MAKERS: [&str; 4] = ["make_unique", "make_shared", "make_optional", "make_any"];

/// Aliases that lead to a class are followed this far.
const MAX_ALIASES: u32 = 8;

impl Eval<'_> {
    /// Declarations as what completes them.
    pub(super) fn completed(&self, found: Vec<Found>) -> Vec<Found> {
        let joined = &self.relations.joined;
        let mut all: Vec<Found> = Vec::with_capacity(found.len());
        for item in found {
            match &item {
                Found::Node(node) => {
                    for node in joined.completed(node) {
                        if !all.contains(&Found::Node(*node)) {
                            all.push(Found::Node(*node));
                        }
                    }
                }
                _ => all.push(item),
            }
        }
        all
    }

    /// A bare name: of the functions and classes around it with their bases, of
    /// the namespaces, of the language.
    /// Before `::` only types and namespaces are meant.
    pub(super) fn included_name(&mut self, cx: Cx, name: GSym, at: u32) -> Ty {
        let before_path = at == 0;
        for container in self.lookup.containers(cx.file, cx.scope) {
            let Container::Node(node) = container else {
                break;
            };
            let index = self.index();
            if !is_type(index.def(node).kind) {
                let mut found = self.lookup.textual_members(cx.file, container, name);
                self.lookup.keep_begun(cx.file, at, &mut found);
                if !found.is_empty() && !before_path {
                    let found = self.completed(found);
                    return self.found(&found);
                }
                continue;
            }
            let receiver = Ty::Inst(node, no_args());
            match self.included_member(cx, node, name) {
                TypeMember::Nodes(mut nodes) => {
                    // Constructors are not found by their name.
                    nodes.retain(|n| {
                        !is_function(index.def(*n).kind)
                            || super::virtuals::owner_of(index, *n)
                                .is_none_or(|owner| index.name_of(owner) != index.names.text(name))
                    });
                    if before_path {
                        nodes.retain(|n| leads_on(index.def(*n).kind));
                    }
                    if !nodes.is_empty() {
                        self.saw(Via::Receiver);
                        let found: Vec<Found> = nodes.into_iter().map(Found::Node).collect();
                        return self.members_of(&found, &receiver, false);
                    }
                }
                TypeMember::Lent(ty) => return ty,
                _ => {}
            }
        }
        match self.lookup.textual_name(cx.file, cx.scope, name, at) {
            Some((found, via)) => {
                self.saw(via);
                let found = self.completed(found);
                self.found(&found)
            }
            None => {
                self.saw(Via::Import);
                let found = self.lookup.beyond(cx.file, cx.scope, name);
                self.found(&found)
            }
        }
    }

    /// A member of a type or of the nearest base that has it.
    pub(super) fn included_member(&mut self, cx: Cx, node: NodeId, name: GSym) -> TypeMember {
        let (line, outside) = self.relations.line(node);
        for class in line {
            let found = self
                .lookup
                .textual_members(cx.file, Container::Node(class), name);
            if found.is_empty() {
                continue;
            }
            let nodes: Vec<NodeId> = self
                .completed(found)
                .into_iter()
                .filter_map(|item| match item {
                    Found::Node(node) => Some(node),
                    _ => None,
                })
                .collect();
            if !nodes.is_empty() {
                return TypeMember::Nodes(nodes);
            }
        }
        match outside.first() {
            Some(Found::Ext { module, .. }) if *module != self.index().words.opaque => {
                TypeMember::Outside(*module)
            }
            _ => TypeMember::Nothing,
        }
    }

    /// What `->` and `*` lead to: what a pointer of the library or of the project
    /// points to, the value itself for plain pointers.
    pub(super) fn pointed(&mut self, cx: Cx, base: TermId) -> Ty {
        let base = self.eval(cx, base);
        let value = self.value(&base);
        let arrow = self.index().names.find("operator->");
        let parts = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            all.push(match &part {
                Ty::Ext { inst: true, .. } => {
                    self.through(cx.file, &part, |library, seen| library.unwrapped(seen))
                }
                Ty::Inst(..) => match arrow.map(|name| self.member(cx, &part, name)) {
                    Some(Ty::Bound(node, receiver)) => self.result_of(node, &receiver),
                    Some(Ty::Any(_)) => Ty::Unknown,
                    _ => part,
                },
                _ => part,
            });
        }
        Ty::any(all)
    }

    /// What an index takes: what `operator[]` gives, the value itself for plain
    /// arrays, since these are not told from what they hold.
    pub(super) fn placed(&mut self, cx: Cx, base: TermId) -> Ty {
        let base = self.eval(cx, base);
        let value = self.value(&base);
        let index = self.index().names.find("operator[]");
        let parts = value.each().to_vec();
        let mut all = Vec::new();
        for part in parts {
            all.push(match &part {
                Ty::Ext { inst: true, .. } => self.indexed(cx, &part),
                Ty::Inst(..) => match index.map(|name| self.member(cx, &part, name)) {
                    Some(Ty::Unknown) | None => part,
                    Some(found) => {
                        let results: Vec<Ty> = found.each().to_vec();
                        let results = results.iter().map(|ty| self.called(cx, ty, &[]));
                        Ty::any(results.collect())
                    }
                },
                _ => part,
            });
        }
        Ty::any(all)
    }

    /// Decides a call site.
    pub(super) fn included_state(&mut self, cx: Cx, call: &Call) -> SiteState {
        let ty = self.eval(cx, call.callee);
        let mut targets = Targets::default();
        self.collect(cx, &ty, &mut targets, 0);
        let index = self.index();
        let is_cpp = index
            .semantics(cx.file)
            .is_some_and(|s| s.separator == "::");
        let mut nodes: Vec<NodeId> = Vec::new();
        for (node, _) in &targets.nodes {
            nodes.extend(self.relations.joined.completed(node));
        }
        let is_code = |node: &NodeId| !is_type(index.def(*node).kind);
        if !is_cpp || nodes.iter().any(is_code) {
            nodes.retain(is_code);
        }
        let given = call.given.map(usize::from);
        let mut fitting: Vec<NodeId> = Vec::new();
        for node in nodes {
            if is_code(&node) {
                fitting.push(node);
                continue;
            }
            let made = self.constructors(node, given);
            if made.is_empty() {
                fitting.push(node);
            }
            fitting.extend(made);
        }
        if let Some(given) = given {
            fitting.retain(|node| self.fits(*node, given));
        }
        fitting.sort_unstable();
        fitting.dedup();
        if fitting.is_empty() && !targets.outside.is_empty() {
            fitting = self.made_through(cx, call);
            fitting.sort_unstable();
            fitting.dedup();
        }
        match fitting.as_slice() {
            [] => match targets.outside.first() {
                Some(module) => SiteState::External {
                    module: index.names.text(*module).clone(),
                },
                None if targets.nodes.is_empty() => match self.by_arguments(cx, call) {
                    Some(target) => SiteState::Resolved {
                        target,
                        origin: origin(Via::DeclaredReturn),
                    },
                    None => self.through_pointer(cx, call.callee),
                },
                None => SiteState::Unresolved,
            },
            [one] => {
                if !self.names_its_class(cx, call.callee)
                    && let Some(implementations) = self.overriders(*one)
                {
                    return SiteState::Dynamic {
                        declared: *one,
                        implementations,
                    };
                }
                SiteState::Resolved {
                    target: *one,
                    origin: origin(self.via),
                }
            }
            _ => SiteState::Ambiguous {
                candidates: fitting,
            },
        }
    }

    /// A bare name that only the namespaces of its arguments' types have.
    fn by_arguments(&mut self, cx: Cx, call: &Call) -> Option<NodeId> {
        let facts = self.facts(cx.file);
        let Term::Name(sym, _) = facts.terms[call.callee.0 as usize] else {
            return None;
        };
        if call.args.is_empty() {
            return None;
        }
        let index = self.index();
        let name = index.global_name(cx.file, sym);
        let mut found: Vec<NodeId> = Vec::new();
        for ty in self.given(cx, call.args) {
            for ty in ty.each() {
                let Ty::Inst(node, _) = ty else { continue };
                let (file, ix) = index.place_of(*node);
                let Some(space) = index.space_around(file, ix) else {
                    continue;
                };
                let items = self.lookup.textual_in_space(cx.file, space, name);
                found.extend(self.completed(items).iter().filter_map(|item| match item {
                    Found::Node(node) if is_function(index.def(*node).kind) => Some(*node),
                    _ => None,
                }));
            }
        }
        found.sort_unstable();
        found.dedup();
        if let Some(given) = call.given {
            found.retain(|node| self.fits(*node, usize::from(given)));
        }
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// What `std::make_unique<T>(…)` and its like make a `T` with.
    fn made_through(&mut self, cx: Cx, call: &Call) -> Vec<NodeId> {
        let index = self.index();
        let facts = self.facts(cx.file);
        if !MAKERS.contains(&&**facts.name(call.name)) {
            return Vec::new();
        }
        let Term::Apply(_, list) = facts.terms[call.callee.0 as usize] else {
            return Vec::new();
        };
        let Some(class) = facts.list(list).first() else {
            return Vec::new();
        };
        let ty = self.eval(cx, *class);
        let ty = self.instance(cx, &ty);
        let Ty::Inst(node, _) = ty else {
            return Vec::new();
        };
        if !is_type(index.def(node).kind) {
            return Vec::new();
        }
        self.saw(Via::DeclaredReturn);
        let made = self.constructors(node, call.given.map(usize::from));
        if made.is_empty() { vec![node] } else { made }
    }

    /// Constructors of a class that take so many arguments.
    fn constructors(&self, class: NodeId, given: Option<usize>) -> Vec<NodeId> {
        let index = self.index();
        let (file, ix) = index.place_of(class);
        let name = index.global_name(file, self.facts(file).def(ix).name);
        let mut all = Vec::new();
        for member in index.members.named(Container::Node(class), name) {
            if is_function(index.def(*member).kind) {
                all.extend(self.relations.joined.completed(member));
            }
        }
        if let Some(given) = given {
            all.retain(|node| self.fits(*node, given));
        }
        all
    }

    /// Decides a constructor's call that is not written as one: `T x;`, or a base or
    /// member in the list before a constructor's body. `None` unless a class of the
    /// project is made; what is of another module is not told from a built-in type
    /// that goes by a name of its own.
    pub(super) fn implied_state(&mut self, cx: Cx, call: &Call) -> Option<SiteState> {
        let class = self.made_class(cx, call.callee)?;
        let mut made = self.constructors(class, call.given.map(usize::from));
        made.sort_unstable();
        made.dedup();
        Some(match made.as_slice() {
            [] => SiteState::Resolved {
                target: class,
                origin: origin(self.via),
            },
            [one] => SiteState::Resolved {
                target: *one,
                origin: origin(self.via),
            },
            _ => SiteState::Ambiguous { candidates: made },
        })
    }

    /// The class that a name stands for, or that the member of that name is of.
    fn made_class(&mut self, cx: Cx, callee: TermId) -> Option<NodeId> {
        let index = self.index();
        let own = match self.facts(cx.file).terms[callee.0 as usize] {
            Term::Name(sym, _) => match self.self_type(cx) {
                Ty::Def(node, _) | Ty::Inst(node, _) => {
                    let name = index.global_name(cx.file, sym);
                    match self.included_member(cx, node, name) {
                        TypeMember::Nodes(nodes) => nodes.first().copied(),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        let field = own.filter(|node| index.def(*node).kind == NodeKind::Field);
        let mut ty = match field {
            Some(field) => {
                self.saw(Via::Receiver);
                self.plain_type(field)?
            }
            None => self.eval(cx, callee),
        };
        for _ in 0..MAX_ALIASES {
            let Ty::Def(node, _) = ty else { return None };
            match index.def(node).kind {
                NodeKind::Class | NodeKind::Struct => return Some(node),
                NodeKind::TypeAlias => ty = self.plain_type(node)?,
                _ => return None,
            }
        }
        None
    }

    /// The type that a field or an alias is declared with, unless it is of pointers,
    /// references or arrays.
    fn plain_type(&mut self, node: NodeId) -> Option<Ty> {
        let (file, ix) = self.index().place_of(node);
        let def = self.facts(file).def(ix);
        let text = def.signature.as_deref()?;
        if text.contains(['*', '&', '[']) {
            return None;
        }
        Some(self.eval(Cx { file, scope: ix }, def.ty))
    }

    /// `Class::method()`, which is decided where it stands.
    fn names_its_class(&mut self, cx: Cx, callee: TermId) -> bool {
        let Term::Member(base, _) = self.facts(cx.file).terms[callee.0 as usize] else {
            return false;
        };
        let base = self.eval(cx, base);
        base.each().iter().all(|ty| match ty {
            Ty::Def(node, _) => {
                let kind = self.index().def(*node).kind;
                is_type(kind) || kind == NodeKind::TypeAlias
            }
            Ty::Space(_) => true,
            _ => false,
        })
    }

    /// A call through a variable, a field or a parameter that holds a function.
    fn through_pointer(&mut self, cx: Cx, callee: TermId) -> SiteState {
        let facts = self.facts(cx.file);
        let mut term = callee;
        let declared = loop {
            match facts.terms[term.0 as usize] {
                Term::Unwrap(inner) | Term::Index(inner) => term = inner,
                Term::Member(base, name) => {
                    let name = self.index().global_name(cx.file, name);
                    let base = self.eval(cx, base);
                    break self.member_node(cx, &base, name);
                }
                Term::Name(sym, at) => break self.pointer_named(cx, sym, at),
                _ => break None,
            }
        };
        let index = self.index();
        let holds = |node: &NodeId| {
            matches!(
                index.def(*node).kind,
                NodeKind::Field | NodeKind::Variable | NodeKind::Constant | NodeKind::TypeAlias
            )
        };
        match declared.filter(holds) {
            Some(declared) => SiteState::Dynamic {
                declared,
                implementations: self
                    .relations
                    .joined
                    .assigned
                    .get(&declared)
                    .cloned()
                    .unwrap_or_default(),
            },
            None => SiteState::Unresolved,
        }
    }

    /// The variable or field of a name, or the named type of a local.
    fn pointer_named(&mut self, cx: Cx, sym: Sym, at: u32) -> Option<NodeId> {
        let facts = self.facts(cx.file);
        let mut ix = cx.scope;
        loop {
            let locals = facts.locals_named(ix, sym);
            if let Some(local) = locals.iter().rev().find(|l| l.at <= at && at < l.until) {
                let Term::Inst(ty) = facts.terms[local.value.0 as usize] else {
                    return None;
                };
                let cx = Cx {
                    file: cx.file,
                    scope: ix,
                };
                return match self.eval(cx, ty) {
                    Ty::Def(node, _) => Some(node),
                    _ => None,
                };
            }
            if ix == DefIx::ROOT {
                break;
            }
            ix = facts.def(ix).parent;
        }
        let name = self.index().global_name(cx.file, sym);
        for container in self.lookup.containers(cx.file, cx.scope) {
            if let Container::Node(node) = container
                && is_type(self.index().def(node).kind)
                && let TypeMember::Nodes(nodes) = self.included_member(cx, node, name)
            {
                return nodes.first().copied();
            }
        }
        let (found, _) = self.lookup.textual_name(cx.file, cx.scope, name, at)?;
        match self.completed(found).as_slice() {
            [Found::Node(node)] => Some(*node),
            _ => None,
        }
    }
}
