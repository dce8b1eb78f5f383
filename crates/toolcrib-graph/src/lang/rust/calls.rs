//! Call sites, those inside the arguments of macros included.

use tree_sitter::Node;

use super::branches::has_branches;
use super::items::Reader;
use super::{K, kind};

/// Macros whose arguments are expressions, read again as such.
const EXPRESSION_MACROS: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "ensure",
    "eprint",
    "eprintln",
    "error",
    "format",
    "format_args",
    "info",
    "join",
    "log",
    "matches",
    "panic",
    "print",
    "println",
    "ready",
    "todo",
    "trace",
    "try",
    "try_join",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Macros inside the arguments of macros, followed this deep.
const MAX_MACRO_DEPTH: u32 = 6;

impl<'s> Reader<'_, 's> {
    pub(super) fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        self.routes_call(node);
        let callee = self.terms.callee(self.b, function);
        let mut plain = function;
        if kind(plain) == K::GenericFunction
            && let Some(inner) = plain.child_by_field_name("function")
        {
            plain = inner;
        }
        let name = match kind(plain) {
            K::FieldExpression => plain.child_by_field_name("field"),
            K::ScopedIdentifier => plain.child_by_field_name("name"),
            K::Identifier => Some(plain),
            _ => None,
        };
        let sym = match name {
            Some(name) => self.b.node_name(name),
            None => self.b.owned_name(""),
        };
        self.b.call(node, function, sym, callee);
        // The callee follows at once, so one remembered node is enough; a
        // receiver is visited as an ordinary expression.
        self.callees.clear();
        self.callees.push(plain.id());
        if kind(plain) == K::FieldExpression
            && let Some(value) = plain.child_by_field_name("value")
        {
            let receiver = self.terms.expr(self.b, value);
            let Some(arguments) = node.child_by_field_name("arguments") else {
                return;
            };
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor) {
                if kind(argument) == K::Closure {
                    self.passed.insert(argument.id(), (receiver, sym));
                }
            }
        }
    }

    pub(super) fn macro_call(&mut self, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("macro") else {
            return;
        };
        let term = self.terms.expr(self.b, name);
        let last = name.child_by_field_name("name").unwrap_or(name);
        let sym = self.b.node_name(last);
        self.b.macro_call(node, name, sym, term);
        if self.macro_depth >= MAX_MACRO_DEPTH {
            return;
        }
        let count = node.named_child_count() as u32;
        let tokens = (0..count)
            .filter_map(|i| node.named_child(i))
            .find(|child| kind(*child) == K::TokenTree);
        let Some(tokens) = tokens else {
            return;
        };
        if EXPRESSION_MACROS.binary_search(&self.b.text(last)).is_ok() {
            self.read_arguments(tokens);
        } else if has_branches(self.b.text(last)) {
            self.read_branches(tokens);
        } else if self.b.text(tokens).starts_with('{') {
            self.read_items(tokens);
        }
    }
}
