//! Routes of axum and of actix-web, and of macros in the manner of both.
//!
//! Only in files that name the framework: `route` and `service` are common
//! words. A router is the function that builds it, or a variable inside one.
//! What is nested in place is under its prefix by position; what is built
//! elsewhere is mounted, and the linker composes the paths.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::items::Reader;
use super::{K, kind};
use crate::facts::{Builder, DefIx, Joins, Mount, Router, Sym, TermId, joined, span};
use crate::model::{NodeKind, Span};

const VERBS: [&str; 10] = [
    "any", "connect", "delete", "get", "head", "options", "patch", "post", "put", "trace",
];
/// Calls of one chain that are looked through.
const MAX_CHAIN: usize = 128;
/// Prefixes around one place.
const MAX_INSIDE: usize = 64;

/// What is known of routers while a file is read.
#[derive(Default)]
pub(super) struct Routes {
    axum: bool,
    actix: bool,
    macros: bool,
    /// Variables that hold routers, by the function around them.
    locals: FxHashMap<(DefIx, Sym), u32>,
    count: u32,
    /// Routers whose value is being read, until its end.
    lets: Vec<(u32, u32)>,
    /// Prefixes with the bytes that they are around.
    inside: Vec<(u32, u32, Vec<String>)>,
    /// Routes of a chain, whose last one is met first.
    queued: Vec<Queued>,
}

/// A route to be defined when the walk is there.
struct Queued {
    place: Span,
    title: String,
    on: Option<Router>,
    scope: DefIx,
    handler: TermId,
}

impl Routes {
    pub(super) fn new(source: &str) -> Routes {
        let actix = source.contains("actix_web");
        Routes {
            axum: source.contains("axum"),
            actix,
            macros: actix || source.contains("rocket"),
            ..Routes::default()
        }
    }
}

/// Where a chain of calls begins.
enum Root<'t> {
    /// `name.…`
    Name(Node<'t>),
    /// `path(…).…`, with the path and the call.
    Call(Node<'t>, Node<'t>),
}

impl<'s> Reader<'_, 's> {
    /// `#[get("/path")]` and `#[route("/path", method = "GET")]`.
    pub(super) fn routes_attribute(&mut self, node: Node<'_>, name: &str, inner: &str) {
        if !self.routes.macros {
            return;
        }
        let Some(path) = inner.split('"').nth(1).filter(|path| path.starts_with('/')) else {
            return;
        };
        let verbs: Vec<String> = match name {
            "route" => inner
                .split("method")
                .skip(1)
                .filter_map(|said| said.trim_start().strip_prefix('='))
                .filter_map(|said| said.split('"').nth(1))
                .map(str::to_ascii_uppercase)
                .collect(),
            verb if VERBS.contains(&verb) && verb != "any" => vec![verb.to_ascii_uppercase()],
            _ => return,
        };
        for verb in verbs {
            let route = self.b.route(span(node), &format!("{verb} {path}"), None);
            self.attributes.routes.push(route);
        }
    }

    /// The function under its attributes answers them.
    pub(super) fn routes_answered(&mut self, def: DefIx) {
        for route in std::mem::take(&mut self.attributes.routes) {
            self.b.answers(route, def);
            self.b.route_on(route, Router::Def(def));
        }
    }

    /// `let api = Router::new()…` and `let api = routes();`.
    pub(super) fn routes_let(&mut self, node: Node<'_>) {
        if !self.routes.axum {
            return;
        }
        let (Some(pattern), Some(value)) = (
            node.child_by_field_name("pattern"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        // `let mut app` has its name in a field beside.
        if kind(pattern) != K::Identifier || kind(value) != K::Call {
            return;
        }
        let Some(function) = function_around(self.b) else {
            return;
        };
        let what = match root(value) {
            Some(Root::Name(name)) => match self.local(name) {
                Some(old) => Some(Router::Local(old)),
                None => return,
            },
            Some(Root::Call(path, _)) if self.b.text(path).ends_with("Router::new") => None,
            Some(Root::Call(path, _)) if is_path(path) => {
                let term = self.terms.expr(self.b, path);
                Some(Router::Named(self.b.scope(), term))
            }
            _ => return,
        };
        let number = self.routes.count;
        self.routes.count += 1;
        let name = self.b.node_name(pattern);
        self.routes.locals.insert((function, name), number);
        self.routes.lets.push((value.end_byte() as u32, number));
        self.b.mount(Mount {
            on: Some(Router::Def(function)),
            what: Router::Local(number),
            prefix: "".into(),
            joins: Joins::Else,
        });
        if let Some(what) = what {
            self.b.mount(Mount {
                on: Some(Router::Local(number)),
                what,
                prefix: "".into(),
                joins: Joins::Mount,
            });
        }
    }

    fn local(&mut self, name: Node<'_>) -> Option<u32> {
        let function = function_around(self.b)?;
        let sym = self.b.node_name(name);
        self.routes.locals.get(&(function, sym)).copied()
    }

    /// What a route at a place is added to.
    fn around(&mut self, chain: Option<&Root<'_>>) -> Option<Router> {
        if let Some(Root::Name(name)) = chain
            && let Some(number) = self.local(*name)
        {
            return Some(Router::Local(number));
        }
        if let Some((_, number)) = self.routes.lets.last() {
            return Some(Router::Local(*number));
        }
        function_around(self.b).map(Router::Def)
    }

    /// Defines what the walk has come to.
    pub(super) fn routes_reached(&mut self, start: u32) {
        while self
            .routes
            .queued
            .last()
            .is_some_and(|q| q.place.start_byte <= start)
        {
            if let Some(queued) = self.routes.queued.pop() {
                let route = self.b.route(queued.place, &queued.title, queued.on);
                self.b.value(route, queued.scope, queued.handler);
            }
        }
    }

    fn prefix(&self, at: u32) -> String {
        self.prefixes(at).swap_remove(0)
    }

    /// All that a place is under, since a resource may have several paths; at least
    /// one.
    fn prefixes(&self, at: u32) -> Vec<String> {
        let mut prefixes = vec![String::new()];
        for (start, end, parts) in &self.routes.inside {
            if (*start..*end).contains(&at) {
                let mut all = Vec::new();
                for prefix in &prefixes {
                    all.extend(parts.iter().map(|part| joined(prefix, part)));
                }
                all.truncate(MAX_INSIDE);
                prefixes = all;
            }
        }
        prefixes
    }

    fn push(&mut self, around: Node<'_>, prefix: &str) {
        self.push_all(around, vec![prefix.to_string()]);
    }

    fn push_all(&mut self, around: Node<'_>, prefixes: Vec<String>) {
        if self.routes.inside.len() < MAX_INSIDE && !prefixes.is_empty() {
            let (start, end) = (around.start_byte() as u32, around.end_byte() as u32);
            self.routes.inside.push((start, end, prefixes));
        }
    }

    pub(super) fn routes_call(&mut self, node: Node<'_>) {
        if !self.routes.axum && !self.routes.actix {
            return;
        }
        let start = node.start_byte() as u32;
        self.routes.inside.retain(|inside| inside.1 > start);
        while self.routes.lets.last().is_some_and(|l| l.0 <= start) {
            self.routes.lets.pop();
        }
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return;
        };
        if kind(function) != K::FieldExpression {
            return;
        }
        let Some(method) = function.child_by_field_name("field") else {
            return;
        };
        let method = self.b.text(method);
        let wanted = [
            "route",
            "route_service",
            "nest",
            "nest_service",
            "merge",
            "service",
            "configure",
            "to",
        ];
        let is_verb = self.routes.actix && VERBS.contains(&method);
        if !is_verb && !wanted.contains(&method) {
            return;
        }
        let mut cursor = arguments.walk();
        let given: Vec<Node<'_>> = arguments
            .named_children(&mut cursor)
            .filter(|n| !matches!(kind(*n), K::LineComment | K::BlockComment))
            .take(4)
            .collect();
        let chain = function.child_by_field_name("value").and_then(root);
        if self.routes.actix {
            self.actix(node, method, &given, arguments, chain.as_ref());
        }
        if self.routes.axum {
            // The chain begins far before; the route is where its method is.
            let mut place = span(node);
            if let Some(name) = function.child_by_field_name("field") {
                place.start_byte = name.start_byte() as u32;
                place.start_line = name.start_position().row as u32 + 1;
            }
            self.axum(place, method, &given, chain.as_ref());
        }
    }

    fn axum(&mut self, place: Span, method: &str, given: &[Node<'_>], chain: Option<&Root<'_>>) {
        match (method, given) {
            ("route" | "route_service", [path, methods]) => {
                let answered = match method {
                    "route" => self.method_router(*methods),
                    _ => vec![("any".to_string(), *methods)],
                };
                let Some(path) = self.path(*path).filter(|_| !answered.is_empty()) else {
                    return;
                };
                let at = methods.start_byte() as u32;
                let path = joined(&self.prefix(at), &path);
                for (verb, handler) in answered.into_iter().rev() {
                    let on = self.around(chain);
                    let title = format!("{} {path}", verb.to_ascii_uppercase());
                    let handler = match kind(handler) {
                        K::Identifier | K::ScopedIdentifier | K::GenericFunction => {
                            self.terms.expr(self.b, handler)
                        }
                        _ => TermId::UNKNOWN,
                    };
                    self.routes.queued.push(Queued {
                        place,
                        title,
                        on,
                        scope: self.b.scope(),
                        handler,
                    });
                }
            }
            ("nest" | "nest_service", [path, what]) => {
                if let Some(path) = self.path(*path) {
                    self.mounted(*what, &path, chain);
                }
            }
            ("merge", [what]) => self.mounted(*what, "", chain),
            _ => {}
        }
    }

    /// `get(list).post(add)`, as (verb, handler) in source order.
    fn method_router<'t>(&self, node: Node<'t>) -> Vec<(String, Node<'t>)> {
        let mut found = Vec::new();
        let mut node = node;
        for _ in 0..MAX_CHAIN {
            let Some(function) = node.child_by_field_name("function") else {
                break;
            };
            let (name, next) = match kind(function) {
                K::FieldExpression => (
                    function.child_by_field_name("field"),
                    function.child_by_field_name("value"),
                ),
                K::ScopedIdentifier => (function.child_by_field_name("name"), None),
                K::Identifier => (Some(function), None),
                _ => break,
            };
            let list = node.child_by_field_name("arguments");
            let given = |place| list.and_then(|list| list.named_child(place));
            if let (Some(name), Some(first)) = (name, given(0)) {
                let verb = self.b.text(name);
                if VERBS.contains(&verb) {
                    found.push((verb.to_string(), first));
                } else if verb == "on"
                    && let Some(handler) = given(1)
                {
                    // `MethodFilter::GET.or(MethodFilter::POST)`, the last one first
                    // as the chain is.
                    let verbs = verbs_in(self.b.text(first));
                    found.extend(verbs.into_iter().rev().map(|verb| (verb, handler)));
                }
            }
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        found.reverse();
        found
    }

    /// A router under a prefix: built in place, by a function, or before.
    fn mounted(&mut self, what: Node<'_>, path: &str, chain: Option<&Root<'_>>) {
        let at = what.start_byte() as u32;
        let prefix = joined(&self.prefix(at), path);
        let what = match if kind(what) == K::Identifier {
            Some(Root::Name(what))
        } else {
            root(what)
        } {
            Some(Root::Name(name)) => match self.local(name) {
                Some(number) => Router::Local(number),
                None => return,
            },
            Some(Root::Call(function, _)) if self.b.text(function).ends_with("Router::new") => {
                if !path.is_empty() {
                    self.push(what, path);
                }
                return;
            }
            Some(Root::Call(function, _)) if is_path(function) => {
                let term = self.terms.expr(self.b, function);
                Router::Named(self.b.scope(), term)
            }
            _ => return,
        };
        let on = self.around(chain);
        self.b.mount(Mount {
            on,
            what,
            prefix: prefix.into(),
            joins: Joins::Mount,
        });
    }

    fn actix(
        &mut self,
        node: Node<'_>,
        method: &str,
        given: &[Node<'_>],
        arguments: Node<'_>,
        chain: Option<&Root<'_>>,
    ) {
        let (path, call) = match chain {
            Some(Root::Call(path, call)) => (self.b.text(*path), Some(*call)),
            _ => ("", None),
        };
        let own: Vec<String> = call
            .and_then(|call| call.child_by_field_name("arguments"))
            .and_then(|list| list.named_child(0))
            .map(|first| self.own_paths(first))
            .unwrap_or_default();
        let is_place = matches!(path.rsplit("::").next(), Some("scope" | "resource"));
        let is_verb = VERBS.contains(&method);
        if is_place && method != "to" && !is_verb {
            self.push_all(arguments, own.clone());
        }
        match (method, given) {
            ("route", [place, _]) => {
                if let Some(place) = self.path(*place) {
                    self.push(arguments, &place);
                }
            }
            (verb, [handler]) if verb == "to" || (is_verb && path.ends_with("resource")) => {
                let said = if is_verb { verb } else { "ANY" };
                let verb = path.strip_prefix("web::").unwrap_or("");
                let method = call
                    .filter(|_| verb == "method")
                    .and_then(|call| call.child_by_field_name("arguments"))
                    .map(|list| verbs_in(self.b.text(list)));
                let verb = match method.as_deref() {
                    Some([verb]) => verb.as_str(),
                    _ => verb,
                };
                let at = handler.start_byte() as u32;
                let above = self.prefixes(at);
                let (verb, paths) = match own.as_slice() {
                    [_, ..] if is_place => {
                        let mut all = Vec::new();
                        for prefix in &above {
                            all.extend(own.iter().map(|own| joined(prefix, own)));
                        }
                        (said, all)
                    }
                    _ if path == "web::route" => ("ANY", above),
                    _ if VERBS.contains(&verb) => (verb, above),
                    _ => return,
                };
                for path in paths.iter().filter(|path| !path.is_empty()) {
                    let on = function_around(self.b).map(Router::Def);
                    let title = format!("{} {path}", verb.to_ascii_uppercase());
                    let route = self.b.route(span(node), &title, on);
                    if is_path(*handler) {
                        let term = self.terms.expr(self.b, *handler);
                        let scope = self.b.scope();
                        self.b.value(route, scope, term);
                    }
                }
            }
            ("service" | "configure", [what]) => {
                let mut parts = vec![*what];
                if kind(*what) == K::TupleExpression {
                    let mut cursor = what.walk();
                    parts = what.named_children(&mut cursor).take(MAX_INSIDE).collect();
                }
                for what in parts.into_iter().filter(|part| is_path(*part)) {
                    let prefix = self.prefix(what.start_byte() as u32);
                    let on = function_around(self.b).map(Router::Def);
                    let term = self.terms.expr(self.b, what);
                    let what = Router::Named(self.b.scope(), term);
                    self.b.mount(Mount {
                        on,
                        what,
                        prefix: prefix.into(),
                        joins: Joins::Mount,
                    });
                }
            }
            _ => {}
        }
    }

    /// The paths of a resource: one, or those of an array.
    fn own_paths(&mut self, node: Node<'_>) -> Vec<String> {
        if kind(node) != K::ArrayExpression {
            return self.path(node).into_iter().collect();
        }
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.named_children(&mut cursor).take(MAX_INSIDE).collect();
        parts
            .into_iter()
            .filter_map(|part| self.path(part))
            .collect()
    }

    /// A path, blank where it is the name of a constant or put together.
    fn path(&mut self, node: Node<'_>) -> Option<String> {
        match kind(node) {
            K::ReferenceExpression => self.path(node.child_by_field_name("value")?),
            K::Identifier | K::ScopedIdentifier => {
                let term = self.terms.expr(self.b, node);
                let shown = self.b.text(node);
                Some(self.b.blank(term, shown))
            }
            K::MacroInvocation => {
                let shown = self.b.text(node);
                Some(self.b.blank(TermId::UNKNOWN, shown))
            }
            _ => self.literal(node).map(str::to_string),
        }
    }

    /// Keeps what a constant says, for paths that name it.
    pub(super) fn routes_constant(&mut self, def: DefIx, value: Node<'_>) {
        let text = self.b.text(value);
        if kind(value) == K::StringLiteral
            && let Some(text) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'))
        {
            self.b.constant(def, text);
        }
    }

    fn literal(&self, node: Node<'_>) -> Option<&'s str> {
        let text = self.b.text(node);
        (kind(node) == K::StringLiteral)
            .then(|| text.strip_prefix('"')?.strip_suffix('"'))
            .flatten()
            .filter(|text| text.is_empty() || text.starts_with(['/', '{']))
    }
}

/// The methods that names like `Method::PUT` and `MethodFilter::PUT` in a text are.
fn verbs_in(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words = words.filter(|word| !word.contains(char::is_lowercase));
    words
        .map(str::to_ascii_lowercase)
        .filter(|word| VERBS.contains(&word.as_str()) && word != "any")
        .collect()
}

fn is_path(node: Node<'_>) -> bool {
    matches!(kind(node), K::Identifier | K::ScopedIdentifier)
}

fn root(node: Node<'_>) -> Option<Root<'_>> {
    let mut node = node;
    for _ in 0..MAX_CHAIN {
        match kind(node) {
            K::Identifier => return Some(Root::Name(node)),
            K::Call => {}
            _ => return None,
        }
        let function = node.child_by_field_name("function")?;
        match kind(function) {
            K::FieldExpression => node = function.child_by_field_name("value")?,
            _ => return Some(Root::Call(function, node)),
        }
    }
    None
}

fn function_around(b: &Builder<'_>) -> Option<DefIx> {
    b.enclosing(|def| {
        matches!(
            def.kind,
            NodeKind::Function | NodeKind::Method | NodeKind::Test
        )
    })
}
