//! Calls that declare something: blocks of tests and routes of web frameworks.
//!
//! `it("adds", () => …)` in a test file is a test, named by the titles of the
//! groups around it and its own. `app.get("/path", handler)` is a route where
//! `app` is bound to what a known framework makes; the handler is the last thing
//! it is given.

use tree_sitter::Node;

use super::K;
use super::items::{Reader, unquoted};
use crate::facts::{Flags, TermId, one_line, span};
use crate::model::NodeKind;

/// Titles are cut to this many characters.
const MAX_TITLE: usize = 80;

const VERBS: &[&str] = &[
    "all", "delete", "get", "head", "options", "patch", "post", "put",
];

/// Calls that give something routes are added to.
const ROUTER_MAKERS: &[&str] = &[
    "express",
    "express.Router",
    "Router",
    "fastify",
    "Fastify",
    "new Hono",
    "new Router",
    "new KoaRouter",
    "new Elysia",
    "polka",
    "restana",
];

/// Types of it.
const ROUTER_TYPES: &[&str] = &[
    "Express",
    "Application",
    "Router",
    "IRouter",
    "FastifyInstance",
    "Hono",
];

pub(super) fn is_test_path(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    name.contains(".test.")
        || name.contains(".spec.")
        || name.starts_with("test.")
        || path
            .split('/')
            .any(|part| matches!(part, "__tests__" | "test" | "tests" | "spec"))
}

impl<'s> Reader<'_, 's> {
    /// `describe`, `it` and `test` with a title and a function.
    pub(super) fn test_block(&mut self, node: Node<'_>, callee: Node<'_>) {
        if !self.is_test_file {
            return;
        }
        let text = self.b.text(callee);
        let head = text.split(['.', '(']).next().unwrap_or(text);
        let is_group = matches!(head, "describe" | "suite" | "context");
        if !is_group && !matches!(head, "it" | "test" | "specify") {
            return;
        }
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return;
        };
        if self.kinds.of(arguments) != K::Arguments {
            return;
        }
        let mut title = None;
        let mut body = None;
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor).take(4) {
            match self.kinds.of(argument) {
                K::String | K::Template if title.is_none() => title = Some(argument),
                K::Arrow | K::FunctionExpression => body = Some(argument),
                _ => {}
            }
        }
        let (Some(title), Some(body)) = (title, body) else {
            return;
        };
        let title = one_line(unquoted(self.b.text(title)), MAX_TITLE);
        if is_group {
            self.groups.push((node.end_byte() as u32, title));
            return;
        }
        let mut name = String::new();
        for (_, group) in &self.groups {
            name.push_str(group);
            name.push_str(" > ");
        }
        name.push_str(&title);
        let name = one_line(&name, 2 * MAX_TITLE);
        let end = body
            .child_by_field_name("body")
            .map_or(body.end_byte(), |body| body.start_byte());
        let def = self.define(span(node), end, NodeKind::Test, &name);
        self.b.def_mut(def).flags.set(Flags::STATIC);
        self.b.def_mut(def).exported = false;
        self.b.open(def);
    }

    /// Remembers a name that a framework's maker is given to.
    pub(super) fn remember_router(
        &mut self,
        node: Node<'_>,
        name: Node<'_>,
        value: Option<Node<'_>>,
    ) {
        let made = value.is_some_and(|value| {
            let text = self.b.text(value);
            let head = text.split(['(', '<']).next().unwrap_or(text).trim();
            matches!(self.kinds.of(value), K::Call | K::New) && ROUTER_MAKERS.contains(&head)
        });
        if made {
            let sym = self.b.node_name(name);
            self.routers.insert(sym);
        } else if let Some(ty) = node.child_by_field_name("type") {
            self.remember_typed_router(name, ty);
        }
    }

    pub(super) fn remember_typed_router(&mut self, name: Node<'_>, ty: Node<'_>) {
        let text = self.b.text(ty).trim_start_matches([':', ' ']);
        let head = text.split('<').next().unwrap_or(text);
        let last = head.rsplit('.').next().unwrap_or(head);
        if self.kinds.of(name) == K::Identifier && ROUTER_TYPES.contains(&last) {
            let sym = self.b.node_name(name);
            self.routers.insert(sym);
        }
    }

    /// `app.get("/path", …, handler)` and `router.route("/path").get(handler)`.
    pub(super) fn route(&mut self, node: Node<'_>, callee: Node<'_>) {
        if self.kinds.of(callee) != K::Member {
            return;
        }
        let (Some(object), Some(verb), Some(arguments)) = (
            callee.child_by_field_name("object"),
            callee.child_by_field_name("property"),
            node.child_by_field_name("arguments"),
        ) else {
            return;
        };
        let verb = self.b.text(verb);
        if VERBS.binary_search(&verb).is_err() || self.kinds.of(arguments) != K::Arguments {
            return;
        }
        let mut cursor = arguments.walk();
        let given: Vec<Node<'_>> = arguments
            .named_children(&mut cursor)
            .filter(|argument| self.kinds.of(*argument) != K::Comment)
            .take(16)
            .collect();
        let (path, handlers) = match self.routed(object) {
            Some(path) => (path, given.as_slice()),
            None if self.is_router(object) => {
                let Some((first, rest)) = given.split_first() else {
                    return;
                };
                if !matches!(self.kinds.of(*first), K::String | K::Template) {
                    return;
                }
                (unquoted(self.b.text(*first)), rest)
            }
            None => return,
        };
        let Some(handler) = handlers.last().copied() else {
            return;
        };
        let name = format!("{} {}", verb.to_uppercase(), one_line(path, MAX_TITLE));
        let def = self.define(span(node), node.end_byte(), NodeKind::Route, &name);
        let term = match self.kinds.of(handler) {
            K::Identifier | K::Member | K::Call => self.terms.expr(self.b, handler),
            _ => TermId::UNKNOWN,
        };
        let scope = self.b.scope();
        self.b.value(def, scope, term);
    }

    fn is_router(&mut self, node: Node<'_>) -> bool {
        if self.kinds.of(node) != K::Identifier {
            return false;
        }
        let sym = self.b.node_name(node);
        self.routers.contains(&sym)
    }

    /// The path of `router.route("/path")`, other verbs between included.
    fn routed(&mut self, object: Node<'_>) -> Option<&'s str> {
        let mut node = object;
        for _ in 0..8 {
            if self.kinds.of(node) != K::Call {
                return None;
            }
            let callee = node.child_by_field_name("function")?;
            let receiver = callee.child_by_field_name("object")?;
            let name = callee.child_by_field_name("property")?;
            if self.b.text(name) == "route" && self.is_router(receiver) {
                let first = node.child_by_field_name("arguments")?.named_child(0)?;
                return matches!(self.kinds.of(first), K::String | K::Template)
                    .then(|| unquoted(self.b.text(first)));
            }
            node = receiver;
        }
        None
    }
}
