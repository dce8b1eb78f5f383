//! Routes of Flask, FastAPI and Django.
//!
//! A router is what is assigned from a framework's constructor in the same file,
//! declared as a parameter of such a type, or imported under a name that only
//! routers have. A Django pattern is a call of what was imported from
//! `django.urls`. Everything else that looks like a route is none.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::items::Reader;
use super::{K, kind};
use crate::facts::{DefIx, Joins, Mount, Router, Sym, Term, TermId, span};

const CONSTRUCTORS: [&str; 6] = [
    "APIRouter",
    "Blueprint",
    "FastAPI",
    "Flask",
    "Quart",
    "Starlette",
];
/// Names, or ends of names, that an imported router has.
const CUSTOMARY: [&str; 6] = ["api", "app", "application", "blueprint", "bp", "router"];
const VERBS: [&str; 8] = [
    "delete", "get", "head", "options", "patch", "post", "put", "trace",
];
/// Arguments and methods that are looked at.
const MAX_GIVEN: usize = 16;

/// What is known of routers while a file is read.
#[derive(Default)]
pub(super) struct Routes {
    routers: FxHashSet<Sym>,
    imported: FxHashSet<Sym>,
    /// Names from `django.urls`, by what they are there.
    django: FxHashMap<Sym, Sym>,
    /// Routes whose function comes next.
    pending: Vec<DefIx>,
    /// The module's variable whose value is being read, until its end.
    assigned: Option<(u32, Sym)>,
    /// Prefixes of Django's inline lists, until their ends.
    inside: Vec<(u32, String)>,
}

impl<'s> Reader<'_, 's> {
    pub(super) fn routes_import(&mut self, path: &[Sym], bound: &str) {
        let sym = self.b.owned_name(bound);
        self.routes.imported.insert(sym);
        let texts: Vec<&str> = path.iter().map(|part| self.b.sym_text(*part)).collect();
        let of_django = matches!(
            texts.as_slice(),
            ["django", "urls", _] | ["django", "conf", "urls", _] | ["django", "urls", "conf", _]
        );
        if let (true, Some(original)) = (of_django, path.last()) {
            self.routes.django.insert(sym, *original);
        }
    }

    /// A parameter or variable that is declared to be a router.
    pub(super) fn routes_declared(&mut self, name: Sym, ty: Node<'_>) {
        let text = self.b.text(ty);
        let last = text.rsplit('.').next().unwrap_or(text);
        if CONSTRUCTORS.contains(&last) {
            self.routes.routers.insert(name);
        }
    }

    pub(super) fn routes_assigned(&mut self, left: Node<'_>, right: Option<Node<'_>>) {
        let (K::Identifier, Some(right)) = (kind(left), right) else {
            return;
        };
        let name = self.b.node_name(left);
        if self.b.scope() == DefIx::ROOT {
            self.routes.assigned = Some((right.end_byte() as u32, name));
        }
        let Some(function) = right.child_by_field_name("function") else {
            return;
        };
        let text = self.b.text(function);
        let last = text.rsplit('.').next().unwrap_or(text);
        if kind(right) != K::Call || !CONSTRUCTORS.contains(&last) {
            return;
        }
        self.routes.routers.insert(name);
        let given = self.given(right);
        let prefix = given.named("url_prefix").or(given.named("prefix"));
        if let Some(prefix) = prefix.and_then(|node| self.literal(node)) {
            let what = self.named_router(name);
            self.b.mount(Mount {
                on: None,
                what,
                prefix: prefix.into(),
                joins: Joins::Own,
            });
        }
    }

    fn named_router(&mut self, name: Sym) -> Router {
        let scope = self.b.scope();
        let at = self.b.source.len() as u32;
        Router::Named(scope, self.b.term(Term::Name(name, at)))
    }

    fn is_router(&self, name: Sym) -> bool {
        let text = self.b.sym_text(name);
        let last = text.rsplit('_').next().unwrap_or(text);
        self.routes.routers.contains(&name)
            || (self.routes.imported.contains(&name) && CUSTOMARY.contains(&last))
    }

    /// The router and method of `router.method(…)`.
    fn on_router(&mut self, call: Node<'_>) -> Option<(Sym, &'s str)> {
        let function = call.child_by_field_name("function")?;
        if kind(call) != K::Call || kind(function) != K::Attribute {
            return None;
        }
        let object = function.child_by_field_name("object")?;
        let method = function.child_by_field_name("attribute")?;
        if kind(object) != K::Identifier {
            return None;
        }
        let router = self.b.node_name(object);
        self.is_router(router)
            .then(|| (router, self.b.text(method)))
    }

    /// `@router.get("/path")` and `@app.route("/path", methods=[…])`.
    pub(super) fn routes_decorator(&mut self, decorator: Node<'_>) {
        let Some(call) = decorator.named_child(0) else {
            return;
        };
        let Some((router, method)) = self.on_router(call) else {
            return;
        };
        let given = self.given(call);
        let path = given.at(0).or(given.named("path")).or(given.named("rule"));
        let Some(path) = path.and_then(|node| self.literal(node)) else {
            return;
        };
        let verbs: Vec<String> = match method {
            "route" | "api_route" => self.methods(&given),
            "websocket" => vec!["WEBSOCKET".to_string()],
            verb if VERBS.contains(&verb) => vec![verb.to_ascii_uppercase()],
            _ => return,
        };
        for verb in verbs {
            let on = self.named_router(router);
            let route = self
                .b
                .route(span(decorator), &format!("{verb} {path}"), Some(on));
            self.routes.pending.push(route);
        }
    }

    /// The definition after the decorators answers them.
    pub(super) fn routes_answered(&mut self, def: DefIx) {
        for route in std::mem::take(&mut self.routes.pending) {
            self.b.answers(route, def);
        }
    }

    pub(super) fn routes_call(&mut self, node: Node<'_>) {
        let start = node.start_byte() as u32;
        while self.routes.inside.last().is_some_and(|i| i.0 <= start) {
            self.routes.inside.pop();
        }
        if let Some(function) = node.child_by_field_name("function")
            && kind(function) == K::Identifier
            && !self.routes.django.is_empty()
        {
            let name = self.b.node_name(function);
            if let Some(original) = self.routes.django.get(&name).copied() {
                self.django(node, original);
            }
            return;
        }
        let Some((router, method)) = self.on_router(node) else {
            return;
        };
        let given = self.given(node);
        match method {
            "add_url_rule" | "add_api_route" | "add_route" => self.added(node, router, &given),
            "include_router" | "register_blueprint" => {
                let Some(what) = given.at(0) else { return };
                let (key, joins) = match method {
                    "include_router" => ("prefix", Joins::Mount),
                    _ => ("url_prefix", Joins::Instead),
                };
                let prefix = given.named(key).and_then(|node| self.literal(node));
                let joins = if prefix.is_some() {
                    joins
                } else {
                    Joins::Mount
                };
                let on = Some(self.named_router(router));
                let term = self.terms.expr(self.b, what);
                let what = Router::Named(self.b.scope(), term);
                self.b.mount(Mount {
                    on,
                    what,
                    prefix: prefix.unwrap_or("").into(),
                    joins,
                });
            }
            _ => {}
        }
    }

    /// `app.add_url_rule("/path", view_func=view)`.
    fn added(&mut self, node: Node<'_>, router: Sym, given: &Given<'_>) {
        let path = given.at(0).and_then(|node| self.literal(node));
        let handler = given
            .named("view_func")
            .or(given.named("endpoint").filter(|n| kind(*n) != K::String))
            .or(given.at(2))
            .or(given.at(1).filter(|n| kind(*n) != K::String));
        let (Some(path), Some(handler)) = (path, handler) else {
            return;
        };
        for verb in self.methods(given) {
            let on = self.named_router(router);
            let route = self
                .b
                .route(span(node), &format!("{verb} {path}"), Some(on));
            let term = self.view(handler);
            let scope = self.b.scope();
            self.b.value(route, scope, term);
        }
    }

    /// `path("users/", view)`, also around `include(…)`.
    fn django(&mut self, node: Node<'_>, original: Sym) {
        if !matches!(self.b.sym_text(original), "path" | "re_path" | "url") {
            return;
        }
        let given = self.given(node);
        let path = given.at(0).or(given.named("route"));
        let view = given.at(1).or(given.named("view"));
        let Some(path) = path.and_then(|node| self.literal(node)) else {
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
                self.routes.inside.push((end, path.to_string()));
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

    /// A view, or the class of `View.as_view()`.
    fn view(&mut self, node: Node<'_>) -> TermId {
        if kind(node) == K::Call
            && let Some(function) = node.child_by_field_name("function")
        {
            if kind(function) == K::Attribute
                && let Some(name) = function.child_by_field_name("attribute")
                && self.b.text(name) == "as_view"
                && let Some(class) = function.child_by_field_name("object")
            {
                return self.terms.expr(self.b, class);
            }
            // A view wrapped in a decorator.
            let given = self.given(node);
            return match (given.at(0), given.at(1)) {
                (Some(inner), None) if kind(inner) != K::Call => self.terms.expr(self.b, inner),
                _ => TermId::UNKNOWN,
            };
        }
        self.terms.expr(self.b, node)
    }

    fn methods(&mut self, given: &Given<'_>) -> Vec<String> {
        let Some(list) = given.named("methods") else {
            return vec!["GET".to_string()];
        };
        let mut cursor = list.walk();
        let mut verbs: Vec<String> = list
            .named_children(&mut cursor)
            .take(MAX_GIVEN)
            .filter_map(|node| self.literal(node))
            .map(str::to_ascii_uppercase)
            .collect();
        if verbs.is_empty() {
            verbs.push("ANY".to_string());
        }
        verbs
    }

    /// The text of a string without parts that are computed.
    fn literal(&self, node: Node<'_>) -> Option<&'s str> {
        if kind(node) != K::String {
            return None;
        }
        let text = self.b.text(node);
        let text = text.trim_start_matches(['r', 'R', 'u', 'U']);
        let text = text
            .strip_prefix('"')
            .and_then(|t| t.strip_suffix('"'))
            .or_else(|| text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')))?;
        (!text.contains(['"', '\'', '\n'])).then_some(text)
    }

    fn given<'t>(&self, call: Node<'t>) -> Given<'t>
    where
        's: 't,
    {
        let mut given = Given::default();
        let Some(list) = call.child_by_field_name("arguments") else {
            return given;
        };
        let mut cursor = list.walk();
        for argument in list.named_children(&mut cursor).take(MAX_GIVEN) {
            match kind(argument) {
                K::Comment => {}
                K::KeywordArgument => {
                    if let (Some(name), Some(value)) = (
                        argument.child_by_field_name("name"),
                        argument.child_by_field_name("value"),
                    ) {
                        given.named.push((self.b.text(name), value));
                    }
                }
                _ => given.placed.push(argument),
            }
        }
        given
    }
}

/// Arguments of a call.
#[derive(Default)]
struct Given<'t> {
    placed: Vec<Node<'t>>,
    named: Vec<(&'t str, Node<'t>)>,
}

impl<'t> Given<'t> {
    fn at(&self, place: usize) -> Option<Node<'t>> {
        self.placed.get(place).copied()
    }

    fn named(&self, name: &str) -> Option<Node<'t>> {
        self.named.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }
}
