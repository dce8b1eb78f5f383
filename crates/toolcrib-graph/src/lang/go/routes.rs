//! Routes of net/http, gin and what is written in their manner.
//!
//! A router is a variable that a maker or a group is given to, or a parameter of
//! a router's type. Groups that are handed to functions, closures that take one
//! and routers that are mounted are written down where they stand; the linker
//! composes the paths, also across files. Where nothing says that a receiver is a
//! router, only methods that nothing else has (`HandleFunc`, `GET`) with a literal
//! path count.

mod mounts;
mod paths;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::bindings::children;
use super::items::Reader;
use super::{K, kind};
use crate::facts::{BLANK, DefIx, Joins, Mount, Router, Sym, Term, joined, one_line, span};
use crate::model::NodeKind;

/// Types of routers, without their package.
const TYPES: [&str; 11] = [
    "App",
    "Echo",
    "Engine",
    "Group",
    "IRouter",
    "IRoutes",
    "Mux",
    "Router",
    "RouterGroup",
    "Routes",
    "ServeMux",
];
/// Functions that make routers, with their package unless that tells nothing.
const MAKERS: [&str; 7] = [
    "NewMux",
    "NewRouter",
    "NewServeMux",
    "echo.New",
    "fiber.New",
    "gin.Default",
    "gin.New",
];
/// Fields that are taken for routers where they get a literal path and a handler.
const CUSTOMARY: [&str; 8] = [
    "api", "app", "echo", "engine", "group", "mux", "r", "router",
];
/// Methods of routers that give a router under the same path.
const FLUENT: [&str; 10] = [
    "Headers",
    "Host",
    "Methods",
    "NewRoute",
    "Queries",
    "Schemes",
    "StrictSlash",
    "Subrouter",
    "Use",
    "With",
];
/// Calls of one chain that are looked through.
const MAX_CHAIN: usize = 64;
/// Arguments that are looked at.
const MAX_GIVEN: usize = 16;
/// Parts of a path that is put together, and wrappers of one handler.
const MAX_PARTS: u32 = 12;
/// Titles are cut to this many characters.
const MAX_TITLE: usize = 160;

/// What is known of routers while a file is read.
#[derive(Default)]
pub(super) struct Routes {
    names: Vec<Named>,
    count: u32,
    /// What closures that are written in place take.
    inline: FxHashMap<usize, Router>,
    /// Methods that are said after the call that adds the route.
    methods: FxHashMap<usize, Vec<String>>,
    /// Constants of functions.
    constants: FxHashMap<(DefIx, Sym), String>,
    /// Calls whose arguments have been seen to.
    seen: FxHashSet<usize>,
    /// The handler comes before what stands around it.
    handler_first: bool,
}

#[derive(Clone, Copy)]
struct Named {
    scope: DefIx,
    name: Sym,
    until: u32,
    router: Router,
}

/// What routes are added to.
struct On {
    router: Option<Router>,
    prefix: String,
    /// Something says that it is a router.
    certain: bool,
    /// It is made here.
    made: bool,
}

impl<'s> Reader<'_, 's> {
    pub(super) fn routes_import(&mut self, path: &str) {
        self.routes.handler_first |= path.contains("labstack/echo");
    }

    fn remember(&mut self, scope: DefIx, name: Sym, until: u32, router: Router) {
        self.routes.names.push(Named {
            scope,
            name,
            until,
            router,
        });
    }

    fn new_local(&mut self) -> Router {
        let number = self.routes.count;
        self.routes.count += 1;
        Router::Local(number)
    }

    fn known(&self, name: Sym, at: u32) -> Option<Router> {
        let mut scope = self.b.scope();
        loop {
            let mut known = self.routes.names.iter().rev();
            let found =
                known.find(|known| known.scope == scope && known.name == name && at < known.until);
            if found.is_some() || scope == DefIx::ROOT {
                return found.map(|known| known.router);
            }
            scope = self.b.def(scope).parent;
        }
    }

    fn function_around(&self) -> Option<DefIx> {
        self.b.enclosing(|def| {
            matches!(
                def.kind,
                NodeKind::Function | NodeKind::Method | NodeKind::Test
            )
        })
    }

    /// A parameter of a function or closure.
    pub(super) fn routes_parameter(
        &mut self,
        function: Node<'_>,
        name: Sym,
        ty: Node<'_>,
        place: usize,
    ) {
        let text = self.b.text(ty).trim_start_matches('*');
        let last = text.rsplit('.').next().unwrap_or(text);
        if !TYPES.contains(&last) {
            return;
        }
        let scope = self.b.scope();
        let router = if kind(function) == K::FuncLiteral {
            match self.routes.inline.get(&function.id()).copied() {
                Some(router) if place == 0 => router,
                _ => self.new_local(),
            }
        } else {
            Router::Param(scope, place.min(250) as u8)
        };
        self.remember(scope, name, function.end_byte() as u32, router);
    }

    /// `group := router.Group("/v1")` and `router := gin.New()`, of a function or
    /// of the package.
    pub(super) fn routes_assigned(&mut self, name: Node<'_>, value: Node<'_>, until: u32) {
        if !matches!(kind(value), K::Call | K::Unary | K::Identifier) {
            return;
        }
        let Some(on) = self.router(value, true).filter(|on| on.certain) else {
            return;
        };
        let text = self.b.text(name);
        let sym = self.b.name(text);
        let function = self.function_around();
        let is_field = kind(name) == K::Selector;
        let router = match function {
            None => {
                let at = self.b.source.len() as u32;
                Router::Named(DefIx::ROOT, self.b.term(Term::Name(sym, at)))
            }
            Some(_) => match self.known(sym, name.start_byte() as u32) {
                Some(known) if is_field => known,
                _ => self.new_local(),
            },
        };
        let scope = if is_field {
            DefIx::ROOT
        } else {
            self.b.scope()
        };
        self.remember(scope, sym, if is_field { u32::MAX } else { until }, router);
        if on.made {
            if let Some(function) = function.filter(|_| !is_field) {
                self.mount(Some(Router::Def(function)), router, "", Joins::Else);
            }
            // A maker of the project's own.
            if kind(value) == K::Call
                && let Some(callee) = value.child_by_field_name("function")
            {
                let term = self.terms.expr(self.b, callee);
                let made = Router::Named(self.b.scope(), term);
                self.mount(Some(router), made, "", Joins::Mount);
            }
        } else if on.router != Some(router) {
            self.mount(on.router, router, &on.prefix, Joins::Mount);
        }
    }

    fn mount(&mut self, on: Option<Router>, what: Router, prefix: &str, joins: Joins) {
        self.b.mount(Mount {
            on,
            what,
            prefix: prefix.into(),
            joins,
        });
    }

    /// The router that an expression is; `making` when it may be a new one.
    fn router(&mut self, node: Node<'_>, making: bool) -> Option<On> {
        let mut node = node;
        let mut prefix = String::new();
        for _ in 0..MAX_CHAIN {
            match kind(node) {
                K::Parenthesized => node = node.named_child(0)?,
                K::Unary => {
                    let inner = node.child_by_field_name("operand")?;
                    if making
                        && kind(inner) == K::Composite
                        && self.b.text(inner).contains("ServeMux")
                    {
                        return Some(self.made(prefix));
                    }
                    node = inner;
                }
                K::Identifier => {
                    let sym = self.b.node_name(node);
                    let known = self.known(sym, node.start_byte() as u32);
                    let router = match known {
                        Some(router) => router,
                        None => {
                            let term = self.terms.expr(self.b, node);
                            Router::Named(self.b.scope(), term)
                        }
                    };
                    return Some(On {
                        router: Some(router),
                        certain: known.is_some() || !prefix.is_empty(),
                        prefix,
                        made: false,
                    });
                }
                K::Selector => {
                    let text = self.b.text(node);
                    let sym = self.b.name(text);
                    let known = self.known(sym, node.start_byte() as u32);
                    let last = text.rsplit('.').next().unwrap_or(text);
                    return Some(On {
                        router: known,
                        certain: known.is_some() || !prefix.is_empty() || CUSTOMARY.contains(&last),
                        prefix,
                        made: false,
                    });
                }
                K::Call => {
                    let function = node.child_by_field_name("function")?;
                    let text = self.b.text(function);
                    let last = text.rsplit('.').next().unwrap_or(text);
                    if MAKERS.contains(&text) || MAKERS.contains(&last) {
                        return Some(self.made(prefix));
                    }
                    if kind(function) != K::Selector {
                        return None;
                    }
                    let given = node.child_by_field_name("arguments").map(children)?;
                    match (last, given.first()) {
                        ("Group" | "PathPrefix", Some(first)) => {
                            let own = self.path(*first, 0)?;
                            prefix = joined(&own, &prefix);
                        }
                        (name, _) if FLUENT.contains(&name) => {}
                        _ => return None,
                    }
                    node = function.child_by_field_name("operand")?;
                }
                _ => return None,
            }
        }
        None
    }

    fn made(&mut self, prefix: String) -> On {
        On {
            router: self.function_around().map(Router::Def),
            prefix,
            certain: true,
            made: true,
        }
    }

    /// Routes, mounts, and routers that are handed on.
    pub(super) fn routes_call(&mut self, node: Node<'_>, callee: Node<'_>) {
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return;
        };
        if kind(callee) == K::Selector
            && let (Some(operand), Some(field)) = (
                callee.child_by_field_name("operand"),
                callee.child_by_field_name("field"),
            )
            && self.router_method(node, operand, self.b.text(field), arguments)
        {
            return;
        }
        if !self.routes.names.is_empty() {
            self.handed_on(callee, arguments);
        }
    }

    /// A method that only routers have; says whether it was one.
    fn router_method(
        &mut self,
        node: Node<'_>,
        operand: Node<'_>,
        method: &str,
        arguments: Node<'_>,
    ) -> bool {
        match method {
            "HandleFunc" | "Handle" | "Any" | "Match" | "GET" | "POST" | "PUT" | "DELETE"
            | "PATCH" | "OPTIONS" | "HEAD" | "Get" | "Post" | "Put" | "Delete" | "Patch"
            | "Options" | "Head" => self.route(node, operand, method, &children(arguments)),
            "Add" => self.route(node, operand, method, &children(arguments)),
            "Handler" | "HandlerFunc" => self.built(node, operand, &children(arguments)),
            "Route" | "Group" | "Mount" => self.nested(operand, method, &children(arguments)),
            "Methods" => {
                let mut verbs = Vec::new();
                for given in children(arguments).into_iter().take(MAX_GIVEN) {
                    verbs.extend(self.http_methods(given));
                }
                self.routes.methods.insert(operand.id(), verbs);
                false
            }
            _ => false,
        }
    }

    /// `mux.HandleFunc("GET /x", handler)` and `router.GET("/x", …, handler)`.
    fn route(
        &mut self,
        node: Node<'_>,
        operand: Node<'_>,
        method: &str,
        given: &[Node<'_>],
    ) -> bool {
        let stated = match given {
            // `Handle("GET", "/x", handler)` and `Match([]string{…}, …)` of gin, and
            // `Add("GET", "/x", handler)` of echo.
            [methods, _, _, ..] if matches!(method, "Add" | "Handle" | "Match") => {
                self.http_methods(*methods)
            }
            _ => Vec::new(),
        };
        let (verb, at) = match method {
            "Add" | "Handle" | "Match" if given.len() > 2 => match stated.first() {
                Some(verb) if !verb.is_empty() => (verb.as_str(), 1),
                _ => return false,
            },
            "Add" | "Match" => return false,
            "HandleFunc" | "Handle" | "Any" => ("ANY", 0),
            verb => (verb, 0),
        };
        let Some((first, rest)) = given.get(at..).and_then(<[_]>::split_first) else {
            return false;
        };
        if rest.is_empty() {
            return false;
        }
        let on = self.router(operand, true);
        let certain = on.as_ref().is_some_and(|on| on.certain);
        let plain = self.literal(*first);
        let is_common = method.chars().nth(1).is_some_and(char::is_lowercase)
            && !matches!(method, "HandleFunc" | "Handle");
        if !certain && (is_common || plain.is_none()) {
            return false;
        }
        let Some(pattern) = self.path(*first, 0) else {
            return false;
        };
        // Patterns of net/http may begin with their method.
        let (verb, path) = match pattern.split_once(' ') {
            Some((verb, path)) if at == 0 && !verb.contains(BLANK[0]) => (verb, path.trim_start()),
            _ => (verb, pattern.as_str()),
        };
        if plain.is_some() {
            let is_path = path.starts_with('/') || (path.is_empty() && method != "HandleFunc");
            if !is_path && !path.contains('/') && !certain {
                return false;
            }
        }
        let on = on.unwrap_or(On {
            router: None,
            prefix: String::new(),
            certain,
            made: false,
        });
        let (handler, before) = match (self.routes.handler_first, rest) {
            (true, [first, rest @ ..]) => (*first, rest),
            (_, [rest @ .., last]) => (*last, rest),
            _ => return false,
        };
        if method == "Handle" && at == 0 && self.mounts_whole(&on, handler) {
            return true;
        }
        let said = self.routes.methods.get(&node.id()).cloned();
        let verbs = match said {
            Some(verbs) if !verbs.is_empty() => verbs,
            _ if stated.len() > 1 => stated.clone(),
            _ => vec![verb.to_ascii_uppercase()],
        };
        let sym = self.b.node_name(operand);
        let is_name = matches!(kind(operand), K::Identifier | K::Selector);
        let is_doubted = is_name && self.known(sym, operand.start_byte() as u32).is_none();
        for def in self.add_routes(node, &on, &verbs, path, handler) {
            if is_doubted {
                let receiver = self.terms.expr(self.b, operand);
                self.b.doubt(def, receiver);
            }
            for guard in before.iter().take(MAX_GIVEN) {
                if matches!(kind(*guard), K::Identifier | K::Selector) {
                    let guarded = self.terms.expr(self.b, *guard);
                    let line = guard.start_position().row as u32 + 1;
                    self.b.mention_in(def, guarded, line);
                }
            }
        }
        true
    }

    fn add_routes(
        &mut self,
        node: Node<'_>,
        on: &On,
        verbs: &[String],
        path: &str,
        handler: Node<'_>,
    ) -> Vec<DefIx> {
        let path = joined(&on.prefix, path);
        let term = self.handler(handler, 0);
        let scope = self.b.scope();
        let mut routes = Vec::with_capacity(verbs.len());
        for verb in verbs {
            let title = one_line(&format!("{verb} {path}"), MAX_TITLE);
            let def = self.b.route(span(node), &title, on.router);
            self.b.value(def, scope, term);
            routes.push(def);
        }
        routes
    }

    /// `r.Methods("GET").Path("/x").HandlerFunc(handler)` of gorilla: what a route
    /// is for is said in any order before its handler.
    fn built(&mut self, node: Node<'_>, operand: Node<'_>, given: &[Node<'_>]) -> bool {
        let [handler] = given else { return false };
        let mut verbs = self.routes.methods.get(&node.id()).cloned();
        let mut path = None;
        let mut at = operand;
        for _ in 0..MAX_CHAIN {
            let Some(function) = at.child_by_field_name("function") else {
                break;
            };
            let (Some(inner), Some(field), Some(given)) = (
                function.child_by_field_name("operand"),
                function.child_by_field_name("field"),
                at.child_by_field_name("arguments").map(children),
            ) else {
                break;
            };
            match (self.b.text(field), given.as_slice()) {
                ("Path" | "PathPrefix", [one]) if path.is_none() => match self.path(*one, 0) {
                    Some(own) => path = Some(own),
                    None => return false,
                },
                ("Methods", given) => {
                    let given = given.iter().take(MAX_GIVEN);
                    verbs = Some(given.flat_map(|one| self.http_methods(*one)).collect());
                }
                ("Headers" | "Host" | "Name" | "NewRoute" | "Queries" | "Schemes", _) => {}
                _ => break,
            }
            at = inner;
        }
        let (Some(path), Some(on)) = (path, self.router(at, true)) else {
            return false;
        };
        if !on.certain && !path.starts_with('/') {
            return false;
        }
        if self.mounts_whole(&on, *handler) {
            return true;
        }
        let verbs = verbs.filter(|verbs| !verbs.is_empty());
        let verbs = verbs.unwrap_or_else(|| vec!["ANY".to_string()]);
        self.add_routes(node, &on, &verbs, &path, *handler);
        true
    }
}
