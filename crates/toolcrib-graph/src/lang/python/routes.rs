//! Routes of Flask, FastAPI and Django.
//!
//! A router is what is assigned from a framework's constructor in the same file,
//! declared as a parameter of such a type, or imported under a name that only
//! routers have. A Django pattern is a call of what was imported from
//! `django.urls`. Everything else that looks like a route is none.

mod django;
mod paths;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::items::Reader;
use super::{K, kind};
use crate::facts::{DefIx, Joins, Mount, Router, Sym, Term, TermId, span};
use crate::model::NodeKind;

use paths::Given;

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
    /// Routers of functions, by the function around them.
    locals: FxHashMap<(DefIx, Sym), u32>,
    count: u32,
    imported: FxHashSet<Sym>,
    /// Names from `django.urls`, by what they are there.
    django: FxHashMap<Sym, Sym>,
    /// Classes whose `as_view()` a variable is given, by the scope of the variable.
    views: FxHashMap<(DefIx, Sym), (Sym, TermId)>,
    /// What classes say that they answer.
    answered: FxHashMap<DefIx, Vec<String>>,
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
        let (K::Identifier | K::Attribute, Some(right)) = (kind(left), right) else {
            return;
        };
        let name = self.b.node_name(left);
        if self.b.scope() == DefIx::ROOT && kind(left) == K::Identifier {
            self.routes.assigned = Some((right.end_byte() as u32, name));
        }
        let scope = self.b.scope();
        if let Some(viewed) = self.viewed(right) {
            self.routes.views.insert((scope, name), viewed);
        }
        if self.b.sym_text(name) == "methods" && self.b.def(scope).kind == NodeKind::Class {
            let verbs = self.verbs(right);
            self.routes.answered.insert(scope, verbs);
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
        if kind(left) == K::Attribute {
            // `self.router` is one router in all methods of the class.
            let class = self.b.def(self.b.scope()).parent;
            self.routes.locals.insert((class, name), self.routes.count);
            self.routes.count += 1;
        } else {
            self.local_router(name);
        }
        let given = self.given(right);
        let prefix = given.named("url_prefix").or(given.named("prefix"));
        if let Some(prefix) = prefix.and_then(|node| self.path(node, 0)) {
            let what = self.named_router(name);
            self.b.mount(Mount {
                on: None,
                what,
                prefix: prefix.into(),
                joins: Joins::Own,
            });
        }
    }

    /// A router of a function is the function's own unless it is mounted.
    fn local_router(&mut self, name: Sym) {
        let scope = self.b.scope();
        if !matches!(
            self.b.def(scope).kind,
            NodeKind::Function | NodeKind::Method | NodeKind::Test
        ) {
            return;
        }
        let number = self.routes.count;
        self.routes.count += 1;
        self.routes.locals.insert((scope, name), number);
        self.b.mount(Mount {
            on: Some(Router::Def(scope)),
            what: Router::Local(number),
            prefix: "".into(),
            joins: Joins::Else,
        });
    }

    fn named_router(&mut self, name: Sym) -> Router {
        let scope = self.b.scope();
        let mut around = scope;
        while around != DefIx::ROOT {
            if let Some(number) = self.routes.locals.get(&(around, name)) {
                return Router::Local(*number);
            }
            around = self.b.def(around).parent;
        }
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
        if !matches!(kind(object), K::Identifier | K::Attribute) {
            return None;
        }
        let router = self.b.node_name(object);
        if kind(object) == K::Attribute && !self.routes.routers.contains(&router) {
            return None;
        }
        let method = self.b.text(method);
        // `@main.route("/path")`: nothing else that is imported has it.
        let is_rule = method == "route" && self.routes.imported.contains(&router) && {
            let given = self.given(call);
            let rule = given.at(0).and_then(|rule| self.literal(rule));
            rule.is_some_and(|rule| rule.starts_with('/'))
        };
        (is_rule || self.is_router(router)).then_some((router, method))
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
        let Some(path) = path.and_then(|node| self.path(node, 0)) else {
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
                let prefix = given.named(key).and_then(|node| self.path(node, 0));
                let joins = if prefix.is_some() {
                    joins
                } else {
                    Joins::Mount
                };
                self.mounted(router, what, prefix.unwrap_or_default(), joins);
            }
            "mount" => {
                let path = given.at(0).or(given.named("path"));
                let what = given.at(1).or(given.named("app"));
                if let (Some(path), Some(what)) = (path, what)
                    && let Some(prefix) = self.path(path, 0)
                {
                    self.mounted(router, what, prefix, Joins::Mount);
                }
            }
            _ => {}
        }
    }

    fn mounted(&mut self, router: Sym, what: Node<'_>, prefix: String, joins: Joins) {
        let on = Some(self.named_router(router));
        let what = match kind(what) {
            K::Identifier => {
                let name = self.b.node_name(what);
                self.named_router(name)
            }
            // What a function makes.
            K::Call => {
                let Some(function) = what.child_by_field_name("function") else {
                    return;
                };
                let term = self.terms.expr(self.b, function);
                Router::Named(self.b.scope(), term)
            }
            _ => {
                let term = self.terms.expr(self.b, what);
                Router::Named(self.b.scope(), term)
            }
        };
        self.b.mount(Mount {
            on,
            what,
            prefix: prefix.into(),
            joins,
        });
    }

    /// `app.add_url_rule("/path", view_func=view)`.
    fn added(&mut self, node: Node<'_>, router: Sym, given: &Given<'_>) {
        let path = given.at(0).or(given.named("rule")).or(given.named("path"));
        let path = path.and_then(|node| self.path(node, 0));
        let handler = given
            .named("view_func")
            .or(given.named("route"))
            .or(given.named("endpoint").filter(|n| kind(*n) != K::String))
            .or(given.at(2))
            .or(given.at(1).filter(|n| kind(*n) != K::String));
        let (Some(path), Some(handler)) = (path, handler) else {
            return;
        };
        let class = self.viewed(handler).map(|(name, _)| self.class_named(name));
        let verbs = match class {
            Some(class) if given.named("methods").is_none() => self.methods_of(class),
            _ => self.methods(given),
        };
        let class = class.flatten();
        for verb in verbs {
            let on = self.named_router(router);
            let route = self
                .b
                .route(span(node), &format!("{verb} {path}"), Some(on));
            let mut term = self.view(handler);
            let method = verb.to_ascii_lowercase();
            if class.is_some_and(|class| self.members_of(class).any(|name| name == method)) {
                let method = self.b.owned_name(&method);
                term = self.b.term(Term::Member(term, method));
            }
            let scope = self.b.scope();
            self.b.value(route, scope, term);
        }
    }

    fn class_named(&self, name: Sym) -> Option<DefIx> {
        (1..self.b.def_count()).map(DefIx).find(|ix| {
            let def = self.b.def(*ix);
            def.kind == NodeKind::Class && def.name == name
        })
    }

    fn members_of(&self, class: DefIx) -> impl Iterator<Item = &str> {
        (1..self.b.def_count())
            .map(|ix| self.b.def(DefIx(ix)))
            .filter(move |def| def.parent == class)
            .map(|def| self.b.sym_text(def.name))
    }

    /// What a class of this file answers: what it says, else by its methods' names;
    /// anything where that is not to be seen.
    fn methods_of(&self, class: Option<DefIx>) -> Vec<String> {
        let Some(class) = class else {
            return vec!["ANY".to_string()];
        };
        if let Some(verbs) = self.routes.answered.get(&class) {
            return verbs.clone();
        }
        let verbs: Vec<String> = self
            .members_of(class)
            .filter(|name| VERBS.contains(name))
            .map(str::to_ascii_uppercase)
            .collect();
        if !verbs.is_empty() {
            return verbs;
        }
        let is_view = self
            .members_of(class)
            .any(|name| name == "dispatch_request");
        vec![if is_view { "GET" } else { "ANY" }.to_string()]
    }

    /// The class of `View.as_view()`, also by the name of a variable that is given it.
    fn viewed(&mut self, node: Node<'_>) -> Option<(Sym, TermId)> {
        if kind(node) == K::Identifier {
            let name = self.b.node_name(node);
            let mut scope = self.b.scope();
            loop {
                let found = self.routes.views.get(&(scope, name));
                if found.is_some() || scope == DefIx::ROOT {
                    return found.copied();
                }
                scope = self.b.def(scope).parent;
            }
        }
        let function = node.child_by_field_name("function")?;
        if kind(node) != K::Call || kind(function) != K::Attribute {
            return None;
        }
        let name = function.child_by_field_name("attribute")?;
        if self.b.text(name) != "as_view" {
            return None;
        }
        let class = function.child_by_field_name("object")?;
        Some((self.b.node_name(class), self.terms.expr(self.b, class)))
    }

    /// A view, or the class of `View.as_view()`.
    fn view(&mut self, node: Node<'_>) -> TermId {
        if let Some((_, class)) = self.viewed(node) {
            return class;
        }
        if kind(node) == K::Call {
            // A view wrapped in a decorator.
            let given = self.given(node);
            return match (given.at(0), given.at(1)) {
                (Some(inner), None) if kind(inner) != K::Call => self.terms.expr(self.b, inner),
                _ => TermId::UNKNOWN,
            };
        }
        self.terms.expr(self.b, node)
    }
}
