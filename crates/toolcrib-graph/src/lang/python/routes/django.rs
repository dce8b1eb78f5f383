//! Django's patterns: `path("users/", view)`, also around `include(…)`.

use tree_sitter::Node;

use super::MAX_GIVEN;
use crate::facts::{DefIx, Joins, Mount, Router, Sym, Term, TermId, span};
use crate::lang::python::items::Reader;
use crate::lang::python::{K, kind};

impl Reader<'_, '_> {
    /// `path("users/", view)`, also around `include(…)`.
    pub(super) fn django(&mut self, node: Node<'_>, original: Sym) {
        if !matches!(self.b.sym_text(original), "path" | "re_path" | "url") {
            return;
        }
        let given = self.given(node);
        let path = given.at(0).or(given.named("route"));
        let view = given.at(1).or(given.named("view"));
        let Some(path) = path.and_then(|node| self.path(node, 0)) else {
            return;
        };
        let Some(view) = view else { return };
        let before: String = self.routes.inside.iter().map(|i| i.1.as_str()).collect();
        let start = node.start_byte() as u32;
        let assigned = self.routes.assigned.filter(|a| start < a.0).map(|a| a.1);
        let on = assigned.map(|name| self.named_router(name));
        if kind(view) == K::Call && self.is_include(view) {
            let Some(what) = self.given(view).at(0) else {
                return;
            };
            let what = match kind(what) {
                K::Tuple => what.named_child(0).unwrap_or(what),
                _ => what,
            };
            if kind(what) == K::List {
                let end = view.end_byte() as u32;
                let path = path.trim_start_matches('^').to_string();
                self.routes.inside.push((end, path));
                return;
            }
            let what = match self.literal(what) {
                Some(module) => Router::Absolute(self.patterns_of(module)),
                None => Router::Named(DefIx::ROOT, self.terms.expr(self.b, what)),
            };
            self.b.mount(Mount {
                on,
                what,
                prefix: format!("/{before}{}", path.trim_start_matches('^')).into(),
                joins: Joins::Mount,
            });
            return;
        }
        let shown = match path.starts_with('^') && before.is_empty() {
            true => path.to_string(),
            false => format!("/{before}{}", path.trim_start_matches('^')),
        };
        let route = self.b.route(span(node), &format!("ANY {shown}"), on);
        let term = self.view(view);
        let scope = self.b.scope();
        self.b.value(route, scope, term);
    }

    fn is_include(&mut self, call: Node<'_>) -> bool {
        call.child_by_field_name("function")
            .is_some_and(|function| {
                let name = self.b.node_name(function);
                let original = self.routes.django.get(&name);
                original.is_some_and(|original| self.b.sym_text(*original) == "include")
            })
    }

    /// `urlpatterns` of a module that is named in a string.
    fn patterns_of(&mut self, module: &str) -> TermId {
        let at = self.b.source.len() as u32;
        let mut term = TermId::UNKNOWN;
        for part in module.split('.').take(MAX_GIVEN).chain(["urlpatterns"]) {
            let sym = self.b.owned_name(part);
            term = self.b.term(if term.is_known() {
                Term::Member(term, sym)
            } else {
                Term::Name(sym, at)
            });
        }
        term
    }
}
