//! Call sites, those inside the arguments of macros included.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Range};

use super::items::Reader;
use super::{K, kind};
use crate::lang::walk;

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
    "log",
    "matches",
    "panic",
    "print",
    "println",
    "ready",
    "todo",
    "trace",
    "try",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// Macros inside the arguments of macros, followed this deep.
const MAX_MACRO_DEPTH: u32 = 6;
/// Argument lists longer than this are not read again.
const MAX_MACRO_BYTES: usize = 16 * 1024;

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
        if EXPRESSION_MACROS.binary_search(&self.b.text(last)).is_ok()
            && self.macro_depth < MAX_MACRO_DEPTH
        {
            let count = node.named_child_count() as u32;
            let tree = (0..count)
                .filter_map(|i| node.named_child(i))
                .find(|child| kind(*child) == K::TokenTree);
            if let Some(tree) = tree {
                self.read_arguments(tree);
            }
        }
    }

    /// Reads the arguments of a macro as the expressions they are.
    pub(super) fn read_arguments(&mut self, tokens: Node<'_>) {
        if tokens.byte_range().len() > MAX_MACRO_BYTES || tokens.named_child_count() == 0 {
            return;
        }
        let mut parser = match self.parser.take() {
            Some(parser) => parser,
            None => {
                let mut parser = Parser::new();
                if parser
                    .set_language(&tree_sitter_rust::LANGUAGE.into())
                    .is_err()
                {
                    return;
                }
                parser
            }
        };
        let range = Range {
            start_byte: tokens.start_byte(),
            end_byte: tokens.end_byte(),
            start_point: tokens.start_position(),
            end_point: tokens.end_position(),
        };
        let tree = parser.set_included_ranges(&[range]).ok().and_then(|()| {
            let source = self.b.source.as_bytes();
            let mut steps = 0u32;
            let mut progress = |_: &tree_sitter::ParseState| {
                steps += 1;
                if steps > 1_000 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            parser.parse_with_options(
                &mut |at, _| source.get(at..).unwrap_or(&[]),
                None,
                Some(ParseOptions::new().progress_callback(&mut progress)),
            )
        });
        if tree.is_none() {
            parser.reset();
        }
        self.parser = Some(parser);
        let Some(tree) = tree else {
            return;
        };
        // Node numbers are those of the tree; both are put back afterwards.
        let terms = std::mem::take(&mut self.terms);
        let passed = std::mem::take(&mut self.passed);
        let callees = std::mem::take(&mut self.callees);
        self.macro_depth += 1;
        walk(tree.root_node(), |node, field| self.enter(node, field));
        self.macro_depth -= 1;
        self.terms.forget();
        self.terms = terms;
        self.passed = passed;
        self.callees = callees;
    }
}
