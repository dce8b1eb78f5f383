//! Shell scripts, in Bash's grammar: functions and variables at the top.
//!
//! A script is no module and its names are often those of the next one, so they
//! begin with the script's path.

use std::sync::OnceLock;

use super::outline::{Heads, Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static SHELL: Outline = Outline {
    name: "Shell",
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    query: r#"
(function_definition name: (word) @name) @function
(program (variable_assignment name: (variable_name) @name) @variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @variable)
(comment) @comment
(string) @string
(raw_string) @string
(heredoc_body) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("."),
    attributes: &[],
    bodies: &["compound_statement"],
    is_doc: |comment| !comment.starts_with("#!") && !comment.starts_with("# shellcheck"),
    kind: |at| {
        Some(match at.kind {
            NodeKind::Variable if at.says("readonly") || at.head.contains(" -r") => {
                NodeKind::Constant
            }
            kind => kind,
        })
    },
    exported: |at| !at.name.starts_with('_'),
    home: |path, _| {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        Home::Own(match dir {
            "" => stem.to_string(),
            dir => format!("{dir}/{stem}"),
        })
    },
    joint: |_, _, _| ".",
    open_variables: false,
    types: &[],
    heads: Some(&HEADS),
    parsed_text: as_written,
};

static HEADS: Heads = Heads {
    closed_by,
    body: b':',
    aside: None,
};

/// `name() {`, `function name {` and either with the brace on the next line.
fn closed_by(line: &str) -> Option<&'static str> {
    let (is_said, rest) = match line.strip_prefix("function ") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    };
    let end = rest.find(|c: char| c.is_whitespace() || "(){}$\"'`=<>|&;#".contains(c));
    let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim_start();
    let after = match rest.strip_prefix('(') {
        Some(rest) => rest.trim_start().strip_prefix(')')?.trim_start(),
        None if is_said => rest,
        None => return None,
    };
    let code = after.split(" #").next().unwrap_or(after).trim_end();
    match code {
        "" | "{" => Some("}"),
        "(" => Some(")"),
        _ if code.starts_with('{') && code.ends_with('}') => Some(""),
        _ if code.starts_with('{') => Some("}"),
        _ => None,
    }
}
