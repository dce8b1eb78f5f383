//! Blocks of tests.
//!
//! `it("adds", () => …)` in a test file is a test, named by the titles of the
//! groups around it and its own.

use tree_sitter::Node;

use super::K;
use super::items::{Reader, unquoted};
use crate::facts::{Flags, one_line, span};
use crate::model::NodeKind;

/// Titles are cut to this many characters.
const MAX_TITLE: usize = 80;

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
        self.b.def_mut(def).flags.set(Flags::UNNAMED);
        self.b.def_mut(def).exported = false;
        self.b.open(def);
    }
}
