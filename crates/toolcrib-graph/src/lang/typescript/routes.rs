//! Routes of Express and of what is written in its manner.
//!
//! A router is a name, a field or a chain that a known framework's maker is given
//! to, or that is declared to be one; a parameter or an import of a customary name
//! is one where it is given a path and a handler. What is mounted elsewhere, in
//! this file or another, is written down as it stands; the linker composes the
//! paths. The handler is the last thing that a route is given; what comes before
//! is mentioned by the route.

mod mounts;
mod paths;
mod routers;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::K;
use super::items::{Reader, line};
use super::terms::either;
use crate::facts::{DefIx, Router, Sym, TermId, one_line, span};
use crate::model::{NodeKind, Span};

const VERBS: &[&str] = &[
    "all", "delete", "get", "head", "options", "patch", "post", "put",
];

/// Methods of a router that give the router itself.
const FLUENT: &[&str] = &["disable", "enable", "engine", "param", "set", "use"];

/// Calls of one chain that are looked through.
const MAX_CHAIN: usize = 128;
/// Arguments that are looked at.
const MAX_GIVEN: usize = 16;
/// Titles are cut to this many characters.
const MAX_TITLE: usize = 160;
/// What is known of routers while a file is read.
#[derive(Default)]
pub(super) struct Routes {
    names: Vec<Named>,
    /// Members of frameworks' modules by the names that they are imported under.
    makers: FxHashMap<Sym, (usize, String)>,
    imported: FxHashSet<Sym>,
    /// Paths that constants of the module list.
    lists: FxHashMap<Sym, Vec<String>>,
    count: u32,
    /// Routers whose value is being read, until its end.
    values: Vec<(u32, u32, Router)>,
    /// What functions that are written in place take.
    inline: FxHashMap<usize, Router>,
    /// Routes of a chain, whose last one is met first.
    queued: Vec<Queued>,
}

/// A name that holds a router.
#[derive(Clone, Copy)]
struct Named {
    scope: DefIx,
    name: Sym,
    until: u32,
    router: Router,
    /// Nothing but its name says so.
    customary: bool,
}

struct Queued {
    place: Span,
    title: String,
    on: Option<Router>,
    scope: DefIx,
    handler: TermId,
    before: Vec<(TermId, u32)>,
}

/// What a call of a router's method is on.
struct On<'t> {
    router: Option<Router>,
    customary: bool,
    /// The argument of `route(…)` before it.
    path: Option<Node<'t>>,
    /// Follows another call.
    chained: bool,
}

impl<'s> Reader<'_, 's> {
    /// Defines what the walk has come to.
    pub(super) fn routes_reached(&mut self, start: u32) {
        while self
            .routes
            .queued
            .last()
            .is_some_and(|q| q.place.start_byte <= start)
        {
            if let Some(queued) = self.routes.queued.pop() {
                self.routes_define(queued);
            }
        }
    }

    fn routes_define(&mut self, queued: Queued) {
        let end = queued.place.end_byte as usize;
        let def = self.define(queued.place, end, NodeKind::Route, &queued.title);
        self.b.routed(def, queued.on);
        self.b.value(def, queued.scope, queued.handler);
        for (term, line) in queued.before {
            self.b.mention_in(def, term, line);
        }
    }

    /// `app.get("/path", …, handler)`, `router.route("/path").get(handler)`,
    /// `app.use("/prefix", router)` and calls that are given a router.
    pub(super) fn route(&mut self, node: Node<'_>, callee: Node<'_>) {
        if self.kinds.of(callee) == K::Member
            && let (Some(object), Some(method)) = (
                callee.child_by_field_name("object"),
                callee.child_by_field_name("property"),
            )
        {
            let name = self.b.text(method);
            let is_verb = VERBS.binary_search(&name).is_ok();
            if (is_verb || matches!(name, "use" | "register" | "route"))
                && let Some(on) = self.router(object, 0)
            {
                match name {
                    "use" => self.used(node, &on),
                    "register" => self.registered(node, &on),
                    "route" => self.mounted_route(node, &on),
                    _ => self.verb(node, method, name, &on),
                }
                return;
            }
        }
        if !self.routes.names.is_empty() {
            self.handed_on(node, callee);
        }
    }

    fn verb(&mut self, node: Node<'_>, method: Node<'_>, verb: &str, on: &On<'_>) {
        let given = self.given(node);
        let (paths, handlers) = match on.path {
            Some(path) => (self.paths(path), given.as_slice()),
            None => match given.split_first() {
                Some((first, rest)) => (self.paths(*first), rest),
                None => return,
            },
        };
        let mut flat: Vec<Node<'_>> = Vec::new();
        for handler in handlers {
            if self.kinds.of(*handler) == K::Array {
                let mut cursor = handler.walk();
                flat.extend(handler.named_children(&mut cursor).take(MAX_GIVEN));
            } else {
                flat.push(*handler);
            }
        }
        flat.retain(|handler| self.kinds.of(*handler) != K::Comment);
        let Some((handler, before)) = flat.split_last() else {
            return;
        };
        if on.customary && !paths.iter().all(|path| path.starts_with(['/', '*'])) {
            return;
        }
        let term = self.handler(*handler);
        let mut mentioned = Vec::new();
        for given in before {
            if matches!(self.kinds.of(*given), K::Identifier | K::Member) {
                mentioned.push((self.terms.expr(self.b, *given), line(*given)));
            }
        }
        let mut place = span(node);
        let queued = on.chained || on.path.is_some();
        if queued {
            // The chain begins far before; the route is where its method is.
            place.start_byte = method.start_byte() as u32;
            place.start_line = line(method);
        }
        let scope = self.b.scope();
        let make = |path: String| Queued {
            place,
            title: format!("{} {}", verb.to_uppercase(), one_line(&path, MAX_TITLE)),
            on: on.router,
            scope,
            handler: term,
            before: mentioned.clone(),
        };
        let routes: Vec<Queued> = paths.into_iter().map(make).collect();
        if queued {
            self.routes.queued.extend(routes.into_iter().rev());
        } else {
            for route in routes {
                self.routes_define(route);
            }
        }
    }

    /// What answers, also inside of a wrapper or bound to something.
    fn handler(&mut self, node: Node<'_>) -> TermId {
        match self.kinds.of(node) {
            K::Identifier | K::Member => self.terms.expr(self.b, node),
            K::Call => {
                if let Some(callee) = node.child_by_field_name("function")
                    && self.kinds.of(callee) == K::Member
                    && let (Some(object), Some(name)) = (
                        callee.child_by_field_name("object"),
                        callee.child_by_field_name("property"),
                    )
                    && self.b.text(name) == "bind"
                {
                    return self.terms.expr(self.b, object);
                }
                let whole = self.terms.expr(self.b, node);
                match self.given(node).as_slice() {
                    [inner] if matches!(self.kinds.of(*inner), K::Identifier | K::Member) => {
                        let inner = self.terms.expr(self.b, *inner);
                        either(self.b, &[whole, inner])
                    }
                    _ => whole,
                }
            }
            _ => TermId::UNKNOWN,
        }
    }
}
