//! Call sites, and the routes that some of them declare.

use tree_sitter::Node;

use super::bindings::children;
use super::items::Reader;
use super::{K, kind};
use crate::facts::{DefIx, NewDef, Sym, Term, span};
use crate::model::NodeKind;

impl<'s> Reader<'_, 's> {
    pub(super) fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        let callee = self.terms.expr(self.b, function);
        let mut plain = function;
        loop {
            let inner = match kind(plain) {
                K::Parenthesized => plain.named_child(0),
                K::Instantiation => plain.child_by_field_name("type"),
                K::Index => plain.child_by_field_name("operand"),
                K::Unary => plain.child_by_field_name("operand"),
                _ => None,
            };
            match inner {
                Some(inner) => plain = inner,
                None => break,
            }
        }
        let name = match kind(plain) {
            K::Selector => plain.child_by_field_name("field"),
            K::Identifier | K::TypeIdentifier => Some(plain),
            K::QualifiedType => plain.child_by_field_name("name"),
            _ => None,
        };
        let sym = match name {
            Some(name) => self.b.node_name(name),
            None => self.b.owned_name(""),
        };
        self.b.call(node, function, sym, callee);
        self.callee = plain.id();
        if kind(plain) == K::Selector
            && let Some(arguments) = node.child_by_field_name("arguments")
        {
            self.route(node, plain, arguments);
        }
    }

    /// `[]byte(s)` and other conversions whose type is no mere name.
    pub(super) fn conversion(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        let callee = self.terms.ty(self.b, ty);
        let sym = self.b.owned_name("");
        self.b.call(node, ty, sym, callee);
    }

    /// `mux.HandleFunc("GET /x", handler)` and `router.GET("/x", …, handler)`.
    fn route(&mut self, node: Node<'_>, selector: Node<'_>, arguments: Node<'_>) {
        let Some(field) = selector.child_by_field_name("field") else {
            return;
        };
        let given = children(arguments);
        let method = self.b.text(field);
        let (verb, at) = match method {
            "HandleFunc" | "Handle" if given.len() == 2 => ("ANY", 0),
            // `Handle("GET", "/x", handler)` of gin.
            "Handle" if given.len() > 2 => match self.literal_text(given[0]) {
                Some(verb) if !verb.is_empty() => (verb, 1),
                _ => return,
            },
            "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "OPTIONS" | "HEAD" | "Get" | "Post"
            | "Put" | "Delete" | "Patch" | "Options" | "Head"
                if given.len() > 1 =>
            {
                (method, 0)
            }
            "Any" if given.len() > 1 => ("ANY", 0),
            _ => return,
        };
        let Some(pattern) = given.get(at).and_then(|node| self.literal_text(*node)) else {
            return;
        };
        // Patterns of net/http may begin with their method.
        let (verb, path) = match pattern.split_once(' ') {
            Some((verb, path)) if at == 0 => (verb, path.trim_start()),
            _ => (verb, pattern),
        };
        let is_path = path.starts_with('/') || (path.is_empty() && method != "HandleFunc");
        if !is_path && !path.contains('/') {
            return;
        }
        let Some(handler) = given.last().copied().filter(|_| given.len() > at + 1) else {
            return;
        };
        let prefix = self.prefix_of(selector).unwrap_or_default();
        let name = format!("{} {prefix}{path}", verb.to_ascii_uppercase());
        let name = crate::facts::one_line(&name, 160);
        let signature = self.b.signature(node.start_byte(), node.end_byte());
        let def = self.b.add_to(
            DefIx::ROOT,
            None,
            NewDef {
                kind: NodeKind::Route,
                name: &name,
                span: span(node),
                exported: true,
                signature,
                doc: None,
            },
        );
        let term = self.handler(handler, method == "Handle" && at == 0);
        let scope = self.b.scope();
        self.b.value(def, scope, term);
    }

    /// What answers a route: a function, or a value through its method.
    fn handler(&mut self, handler: Node<'_>, is_value: bool) -> crate::facts::TermId {
        // `http.HandlerFunc(f)` is `f`.
        if kind(handler) == K::Call
            && let Some(function) = handler.child_by_field_name("function")
            && self.b.text(function).ends_with("HandlerFunc")
            && let Some(arguments) = handler.child_by_field_name("arguments")
            && let [inner] = children(arguments).as_slice()
        {
            return self.terms.expr(self.b, *inner);
        }
        let term = self.terms.expr(self.b, handler);
        if !is_value {
            return term;
        }
        let serve = self.b.owned_name("ServeHTTP");
        let served = self.b.term(Term::Member(term, serve));
        let both = self.b.list(&[term, served]);
        self.b.term(Term::Either(both))
    }

    fn literal_text(&self, node: Node<'_>) -> Option<&'s str> {
        match kind(node) {
            K::String => Some(self.b.text(node).trim_matches('"')),
            K::RawString => Some(self.b.text(node).trim_matches('`')),
            _ => None,
        }
    }

    /// Remembers `group := router.Group("/v1")`.
    pub(super) fn group(&mut self, name: Sym, value: Node<'_>) {
        if kind(value) != K::Call {
            return;
        }
        let (Some(function), Some(arguments)) = (
            value.child_by_field_name("function"),
            value.child_by_field_name("arguments"),
        ) else {
            return;
        };
        let is_group = kind(function) == K::Selector
            && function
                .child_by_field_name("field")
                .is_some_and(|field| self.b.text(field) == "Group");
        if !is_group {
            return;
        }
        let path = arguments
            .named_child(0)
            .and_then(|first| self.literal_text(first));
        if let Some(path) = path {
            let above = self.prefix_of(function).unwrap_or_default();
            let scope = self.b.scope();
            self.groups.insert((scope, name), format!("{above}{path}"));
        }
    }

    fn prefix_of(&mut self, selector: Node<'_>) -> Option<String> {
        let operand = selector.child_by_field_name("operand")?;
        if kind(operand) != K::Identifier {
            return None;
        }
        let name = self.b.node_name(operand);
        let scope = self.b.scope();
        self.groups.get(&(scope, name)).cloned()
    }
}
