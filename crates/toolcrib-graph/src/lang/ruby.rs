//! Ruby: definitions.
//!
//! Instance methods are written `Class#name`, those of the class itself
//! `Class.name`. `attr_accessor` and its kin define fields, `it "…"` and
//! `test "…"` tests by their titles. `private` is followed as a word before a
//! definition, over what follows it, and with names.

use std::sync::OnceLock;

use super::outline::{At, Heads, Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static RUBY: Outline = Outline {
    name: "Ruby",
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    query: r#"
(module name: (_) @name) @module
(class name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method name: (_) @name (#set! static "")) @function
(singleton_class) @singleton
(assignment left: (constant) @name) @constant
(alias name: (_) @name) @function
(call !receiver method: (identifier) @_m arguments: (argument_list (simple_symbol) @name)
  (#any-of? @_m "attr_accessor" "attr_reader" "attr_writer")) @field
(call !receiver method: (identifier) @_m arguments: (argument_list . [(simple_symbol) (string (string_content))] @name)
  (#any-of? @_m "define_method" "alias_method" "scope")) @function
(call !receiver method: (identifier) @_m arguments: (argument_list . (string (string_content) @name)) block: (_)
  (#any-of? @_m "it" "test" "specify" "scenario")) @test
(body_statement (identifier) @section
  (#any-of? @section "private" "protected" "public" "module_function"))
(call !receiver method: (identifier) @_m arguments: (argument_list (simple_symbol) @hide)
  (#any-of? @_m "private" "protected" "private_class_method" "private_constant"))
(comment) @comment
(string) @string
(heredoc_body) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("::"),
    attributes: &[],
    bodies: &["body_statement", "do_block", "block"],
    is_doc: |comment| {
        let words = comment.trim_start_matches('#').trim_start();
        !comment.starts_with("#!")
            && !["frozen_string_literal:", "encoding:", "typed:", "rubocop:"]
                .iter()
                .any(|magic| words.starts_with(magic))
    },
    kind,
    exported,
    home: |_, _| Home::Shared(String::new()),
    joint: |outer, own, is_static| match (outer, own) {
        (None, _) => "",
        (_, NodeKind::Method | NodeKind::Field | NodeKind::Test) if is_static => ".",
        (_, NodeKind::Method | NodeKind::Field | NodeKind::Test) => "#",
        _ => "::",
    },
    open_variables: false,
    types: &[],
    heads: Some(&HEADS),
    parsed_text: as_written,
};

static HEADS: Heads = Heads {
    closed_by,
    body: b'0',
    aside: Some(("=begin", "=end")),
};

/// `class`, `module` and `def`, also behind a word such as `private`.
fn closed_by(line: &str) -> Option<&'static str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let declares = match first {
        "class" | "module" => return opened(line, words.next()?),
        "def" => words.next(),
        _ if words.next() == Some("def")
            && first.chars().all(|c| c.is_alphabetic() || c == '_') =>
        {
            words.next()
        }
        _ => None,
    }?;
    let after = &line[line.find(declares)? + declares.len()..];
    // `def name(…) = value` and `def name = value`
    let is_value = after.trim_start().starts_with("= ") || line.contains(") = ");
    if is_value && !declares.ends_with('(') {
        return Some("");
    }
    opened(line, declares)
}

fn opened(line: &str, name: &str) -> Option<&'static str> {
    let is_name =
        name.starts_with(|c: char| c.is_alphanumeric() || "_:<=>!+-*/%&|^~[`".contains(c));
    let ends = line.ends_with("end") && line.contains([';', ' ']) && line.contains(';');
    match is_name {
        true if ends => Some(""),
        true => Some("end"),
        false => None,
    }
}

fn kind(at: &At<'_>) -> Option<NodeKind> {
    let in_type = at.in_type() || at.outer == NodeKind::Module;
    Some(match at.kind {
        NodeKind::Function if in_type => {
            let of_tests = at.outer_signature.contains("Test") || at.path.ends_with("_test.rb");
            if of_tests && at.name.starts_with("test_") {
                NodeKind::Test
            } else {
                NodeKind::Method
            }
        }
        NodeKind::Constant => {
            let value = at
                .text
                .split_once('=')
                .map_or("", |(_, value)| value.trim_start());
            let makes_class = ["Struct.new", "Class.new", "Data.define"]
                .iter()
                .any(|made| value.starts_with(made));
            if makes_class {
                NodeKind::Class
            } else {
                NodeKind::Constant
            }
        }
        NodeKind::Field if !in_type => return None,
        kind => kind,
    })
}

fn exported(at: &At<'_>) -> bool {
    let word = at.before.split_whitespace().next().unwrap_or("");
    if matches!(word, "private" | "protected" | "private_class_method") {
        return false;
    }
    let is_member = matches!(at.kind, NodeKind::Function | NodeKind::Field);
    // The word does not reach `def self.name`.
    let reached = is_member && !at.text.starts_with("def self.");
    !(reached && matches!(at.section, "private" | "protected") && word != "public")
}
