//! What is mounted on a router, and what a router is handed to.

use tree_sitter::Node;

use super::{MAX_CHAIN, On};
use crate::facts::{Joins, Mount, Router, Term, TermId};
use crate::lang::typescript::K;
use crate::lang::typescript::items::Reader;

impl<'s> Reader<'_, 's> {
    /// `app.use("/prefix", guard, router)` mounts each of them that is a router.
    pub(super) fn used(&mut self, node: Node<'_>, on: &On<'_>) {
        let given = self.given(node);
        let Some(first) = given.first() else { return };
        let is_path = given.len() > 1
            && match self.kinds.of(*first) {
                K::String | K::Template | K::Regex | K::Binary => true,
                K::Array => first
                    .named_child(0)
                    .is_some_and(|path| matches!(self.kinds.of(path), K::String | K::Template)),
                // A constant's name, since what is mounted comes after it.
                K::Identifier | K::Member => self.shouts(*first),
                _ => false,
            };
        let prefixes = if is_path {
            self.paths(*first)
        } else {
            vec![String::new()]
        };
        for what in given.iter().skip(usize::from(is_path)) {
            for prefix in &prefixes {
                self.mount(*what, prefix, on);
            }
        }
    }

    /// Whether a name is written as constants are, or as what holds a path.
    pub(super) fn shouts(&self, node: Node<'_>) -> bool {
        let text = self.b.text(node);
        let last = text.rsplit('.').next().unwrap_or(text);
        let lower = last.to_ascii_lowercase();
        !last.contains(char::is_lowercase)
            || ["path", "prefix", "base", "root", "url"]
                .iter()
                .any(|end| lower.ends_with(end))
    }

    /// `app.register(plugin, { prefix: "/v1" })`, also written in place.
    pub(super) fn registered(&mut self, node: Node<'_>, on: &On<'_>) {
        let given = self.given(node);
        let Some(what) = given.first() else { return };
        let prefix = given
            .get(1)
            .and_then(|options| self.option(*options, "prefix"))
            .and_then(|prefix| self.path(prefix, 0))
            .unwrap_or_default();
        if matches!(self.kinds.of(*what), K::Arrow | K::FunctionExpression) {
            let router = self.new_local(None);
            self.routes.inline.insert(what.id(), router);
            self.mount_router(on, router, &prefix);
        } else if matches!(self.kinds.of(*what), K::Identifier | K::Member | K::Call) {
            let term = self.callee_term(*what);
            let what = Router::Given(self.b.scope(), term, 0);
            self.mount_router(on, what, &prefix);
        }
    }

    /// `app.route("/prefix", router)`.
    pub(super) fn mounted_route(&mut self, node: Node<'_>, on: &On<'_>) {
        if let [path, what] = self.given(node).as_slice()
            && let Some(prefix) = self.path(*path, 0)
        {
            self.mount(*what, &prefix, on);
        }
    }

    pub(super) fn mount(&mut self, what: Node<'_>, prefix: &str, on: &On<'_>) {
        let what = self.bare(what);
        let known = self.router(what, 0).and_then(|known| known.router);
        let router = match (known, self.kinds.of(what)) {
            (Some(router), _) => router,
            (None, K::Identifier | K::Call | K::New | K::Member) => {
                let term = self.callee_term(what);
                if !term.is_known() {
                    return;
                }
                Router::Named(self.b.scope(), term)
            }
            _ => return,
        };
        self.mount_router(on, router, prefix);
    }

    pub(super) fn mount_router(&mut self, on: &On<'_>, what: Router, prefix: &str) {
        if on.router == Some(what) {
            return;
        }
        self.b.mount(Mount {
            on: on.router,
            what,
            prefix: prefix.into(),
            joins: Joins::Mount,
        });
    }

    /// What stands for a router that is made elsewhere: the function or class that
    /// makes it, the module that holds it, or its name.
    pub(super) fn callee_term(&mut self, node: Node<'_>) -> TermId {
        let mut node = self.bare(node);
        for _ in 0..MAX_CHAIN {
            match self.kinds.of(node) {
                K::Call => {
                    if let Some(from) = self.required(node) {
                        // The import goes by the name of its module.
                        let at = self.b.source.len() as u32;
                        let name = self.b.name(from);
                        return self.b.term(Term::Name(name, at));
                    }
                    let Some(callee) = node.child_by_field_name("function") else {
                        return TermId::UNKNOWN;
                    };
                    node = callee;
                }
                K::New => match node.child_by_field_name("constructor") {
                    Some(class) => return self.terms.expr(self.b, class),
                    None => return TermId::UNKNOWN,
                },
                K::Member => {
                    let Some(object) = node.child_by_field_name("object") else {
                        return TermId::UNKNOWN;
                    };
                    match self.kinds.of(object) {
                        // `new Api().router` is what the class makes.
                        K::New => node = object,
                        K::Parenthesized => node = self.bare(object),
                        K::Call if self.required(object).is_some() => {
                            let module = self.callee_term(object);
                            let Some(name) = node.child_by_field_name("property") else {
                                return module;
                            };
                            let name = self.b.node_name(name);
                            return self.b.term(Term::Member(module, name));
                        }
                        _ => return self.terms.expr(self.b, node),
                    }
                }
                _ => return self.terms.expr(self.b, node),
            }
        }
        TermId::UNKNOWN
    }

    /// `register(app)`: what the function adds, it adds to that router.
    pub(super) fn handed_on(&mut self, node: Node<'_>, callee: Node<'_>) {
        for (place, given) in self.given(node).into_iter().enumerate() {
            let is_name = matches!(self.kinds.of(given), K::Identifier | K::Member);
            let Some(on) = is_name.then(|| self.router(given, 0)).flatten() else {
                continue;
            };
            let term = self.callee_term(callee);
            if term.is_known() {
                let what = Router::Given(self.b.scope(), term, place.min(250) as u8);
                self.mount_router(&on, what, "");
            }
        }
    }
}
