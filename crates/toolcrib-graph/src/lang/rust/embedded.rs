//! Source inside macro invocations, read again as the expressions or items that
//! it is, at its own place in the file.
//!
//! A macro may do anything with its tokens. Two cases are common enough to be
//! read: the arguments of well-known macros, which are expressions, and braces
//! around whole items, as in `cfg_unix! { impl Socket { … } }`, which nearly
//! always come out as they went in. Tokens that do not parse as items without
//! an error are left alone.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Range, Tree};

use super::items::{Attributes, Reader};
use super::{K, kind};
use crate::lang::walk;

/// Argument lists longer than this are not read again.
const MAX_ARGUMENTS: usize = 16 * 1024;
/// Steps of the parser, each some hundred operations, for any macro.
const MAX_STEPS: usize = 1_000;
/// Bytes of items for which one step more is allowed.
const BYTES_A_STEP: usize = 32;

impl<'s> Reader<'_, 's> {
    /// Reads the arguments of a macro as the expressions they are.
    pub(super) fn read_arguments(&mut self, tokens: Node<'_>) {
        if tokens.named_child_count() > 0 {
            self.read_expression(tokens.range());
        }
    }

    /// Reads one expression, or several in parentheses, at its place.
    pub(super) fn read_expression(&mut self, range: Range) {
        if range.end_byte - range.start_byte > MAX_ARGUMENTS {
            return;
        }
        if let Some(tree) = self.parse_again(range, MAX_STEPS) {
            self.read_again(&tree);
        }
    }

    /// Reads what is between the braces of a macro as the items they are, if
    /// that is what they are.
    pub(super) fn read_items(&mut self, tokens: Node<'_>) {
        let text = self.b.text(tokens);
        if !begins_item(text) || !text.ends_with('}') {
            return;
        }
        let (start, end) = (tokens.start_position(), tokens.end_position());
        let range = Range {
            start_byte: tokens.start_byte() + 1,
            end_byte: tokens.end_byte() - 1,
            start_point: Point::new(start.row, start.column + 1),
            end_point: Point::new(end.row, end.column.saturating_sub(1)),
        };
        let steps = MAX_STEPS + text.len() / BYTES_A_STEP;
        let Some(tree) = self.parse_again(range, steps) else {
            return;
        };
        if all_items(tree.root_node()) {
            self.read_again(&tree);
            let scope = self.b.scope();
            self.flush_docs(scope);
            self.attributes = Attributes::default();
        }
    }

    fn parse_again(&mut self, range: Range, most: usize) -> Option<Tree> {
        let mut parser = match self.parser.take() {
            Some(parser) => parser,
            None => {
                let mut parser = Parser::new();
                parser
                    .set_language(&tree_sitter_rust::LANGUAGE.into())
                    .ok()?;
                parser
            }
        };
        let tree = parser.set_included_ranges(&[range]).ok().and_then(|()| {
            let source = self.b.source.as_bytes();
            let mut steps = 0;
            let mut progress = |_: &ParseState| {
                steps += 1;
                if steps > most {
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
        tree
    }

    fn read_again(&mut self, tree: &Tree) {
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

/// Whether the first token after the brace can begin an item; spares the second
/// parse of most macros that have a language of their own.
fn begins_item(text: &str) -> bool {
    const FIRST: &[&str] = &[
        "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct",
        "trait", "type", "union", "unsafe", "use",
    ];
    let inside = text.trim_start_matches('{').trim_start();
    let word = inside
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .next()
        .unwrap_or("");
    inside.starts_with(['#', '/'])
        || FIRST.binary_search(&word).is_ok()
        || (!word.is_empty() && inside[word.len()..].starts_with('!'))
}

/// Whether a tree has items alone, and no error.
fn all_items(root: Node<'_>) -> bool {
    if root.has_error() {
        return false;
    }
    let mut cursor = root.walk();
    let (mut items, mut others) = (0, 0);
    for node in root.named_children(&mut cursor) {
        match kind(node) {
            K::LineComment | K::BlockComment | K::Attribute | K::InnerAttribute => {}
            K::Function
            | K::FunctionSignature
            | K::Struct
            | K::Union
            | K::Enum
            | K::Trait
            | K::Impl
            | K::Mod
            | K::Const
            | K::Static
            | K::TypeItem
            | K::AssociatedType
            | K::MacroDefinition
            | K::MacroInvocation
            | K::Use
            | K::ExternCrate => items += 1,
            K::ExpressionStatement
                if node
                    .named_child(0)
                    .is_some_and(|inner| kind(inner) == K::MacroInvocation) =>
            {
                items += 1;
            }
            _ => others += 1,
        }
    }
    items > 0 && others == 0
}

#[cfg(test)]
mod tests {
    use super::begins_item;

    #[test]
    fn what_may_be_items_is_told_by_its_first_token() {
        for (text, may_be) in [
            ("{ pub fn a() {} }", true),
            ("{\n    /// Words.\n    struct A; }", true),
            ("{ #![any(x)] mod a; }", true),
            ("{ cfg_other! { fn a() {} } }", true),
            ("{ \"a\" => 1 }", false),
            ("{ x = recv() => {} }", false),
            ("{}", false),
        ] {
            assert_eq!(begins_item(text), may_be, "{text}");
        }
    }
}
