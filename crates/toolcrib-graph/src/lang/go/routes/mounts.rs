//! Routers under others: mounted, in closures, and handed to functions.

use tree_sitter::Node;

use super::{MAX_GIVEN, MAX_PARTS, On};
use crate::facts::{Joins, Router, joined};
use crate::lang::go::bindings::children;
use crate::lang::go::items::Reader;
use crate::lang::go::{K, kind};

impl Reader<'_, '_> {
    /// A handler that is itself a router of whole paths, unless what it is under is
    /// taken off before.
    pub(super) fn mounts_whole(&mut self, on: &On, handler: Node<'_>) -> bool {
        match self.stripped(handler) {
            Some((inner, prefix)) => self.mounts(on, inner, &joined(&on.prefix, &prefix)),
            None => self.mounts(on, handler, &on.prefix),
        }
    }

    /// A handler that is itself a router; says whether it is one for certain.
    fn mounts(&mut self, on: &On, handler: Node<'_>, prefix: &str) -> bool {
        let mut inner = handler;
        for _ in 0..MAX_PARTS {
            if let Some(what) = self.router(inner, false)
                && what.certain
                && let Some(router) = what.router
                && kind(inner) == K::Identifier
            {
                self.mount(on.router, router, prefix, Joins::Mount);
                return true;
            }
            let given = (kind(inner) == K::Call)
                .then(|| inner.child_by_field_name("arguments").map(children))
                .flatten();
            let Some(given) = given else { break };
            match given.as_slice() {
                [one] => inner = *one,
                [] => {
                    if let Some(callee) = inner.child_by_field_name("function") {
                        let term = self.terms.expr(self.b, callee);
                        let what = Router::Named(self.b.scope(), term);
                        self.mount(on.router, what, prefix, Joins::Mount);
                    }
                    break;
                }
                _ => break,
            }
        }
        false
    }

    /// What `http.StripPrefix("/prefix", handler)` hands on, and the prefix.
    fn stripped<'t>(&mut self, handler: Node<'t>) -> Option<(Node<'t>, String)> {
        if kind(handler) != K::Call {
            return None;
        }
        let function = handler.child_by_field_name("function")?;
        if !self.b.text(function).ends_with("StripPrefix") {
            return None;
        }
        let given = handler.child_by_field_name("arguments").map(children)?;
        let [prefix, inner] = given.as_slice() else {
            return None;
        };
        Some((*inner, self.path(*prefix, 0)?))
    }

    /// `r.Route("/x", func(r chi.Router) { … })`, `r.Group(func(r chi.Router) { … })`
    /// and `r.Mount("/x", router)`.
    pub(super) fn nested(&mut self, operand: Node<'_>, method: &str, given: &[Node<'_>]) -> bool {
        let (path, what) = match (method, given) {
            ("Route" | "Mount", [path, what]) => (Some(*path), *what),
            ("Group", [what]) if kind(*what) == K::FuncLiteral => (None, *what),
            _ => return false,
        };
        let Some(on) = self.router(operand, true) else {
            return false;
        };
        let path = match path {
            Some(path) => match self.path(path, 0) {
                Some(path) => path,
                None => return false,
            },
            None => String::new(),
        };
        let prefix = joined(&on.prefix, &path);
        if method == "Mount" {
            self.mounts(&on, what, &prefix);
            return on.certain;
        }
        let router = match kind(what) {
            K::FuncLiteral => {
                let router = self.new_local();
                self.routes.inline.insert(what.id(), router);
                router
            }
            K::Identifier | K::Selector => {
                let term = self.terms.expr(self.b, what);
                Router::Given(self.b.scope(), term, 0)
            }
            _ => return false,
        };
        self.mount(on.router, router, &prefix, Joins::Mount);
        true
    }

    /// `register(group)`: what the function adds, it adds to that group.
    pub(super) fn handed_on(&mut self, callee: Node<'_>, arguments: Node<'_>) {
        if !matches!(kind(callee), K::Identifier | K::Selector) {
            return;
        }
        for (place, given) in children(arguments).into_iter().take(MAX_GIVEN).enumerate() {
            if !matches!(kind(given), K::Identifier | K::Selector | K::Call) {
                continue;
            }
            let Some(on) = self
                .router(given, false)
                .filter(|on| on.certain && !on.made)
            else {
                continue;
            };
            if !self.routes.seen.insert(given.id()) {
                continue;
            }
            let term = self.terms.expr(self.b, callee);
            let what = Router::Given(self.b.scope(), term, place.min(250) as u8);
            self.mount(on.router, what, &on.prefix, Joins::Mount);
        }
    }
}
