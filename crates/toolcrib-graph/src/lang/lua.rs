//! Lua: functions, also those in tables, and variables at the top of a file.
//!
//! Names begin with the path that `require` takes. The table that a file
//! returns stands for the file; functions in another table of the file belong
//! to it, written `Table.name` or `Table:name`.

use std::sync::OnceLock;

use super::outline::{At, Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static LUA: Outline = Outline {
    name: "Lua",
    grammar: || tree_sitter_lua::LANGUAGE.into(),
    query: r#"
(function_declaration name: (identifier) @name (#set! static "")) @function
(function_declaration name: (dot_index_expression table: (_) @owner field: (identifier) @name) (#set! static "")) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (identifier) @name)) @function
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) .)) (#set! static "")) @function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition) .) (#set! static "")) @function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @owner field: (identifier) @name) .)
  (expression_list . value: (function_definition) .) (#set! static "")) @function
(field name: (identifier) @name value: (function_definition) (#set! static "")) @function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @variable)
(chunk (variable_declaration (variable_list name: (identifier) @name)) @variable)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @variable)
(chunk (assignment_statement
  (variable_list name: (dot_index_expression table: (identifier) @owner field: (identifier) @name))) @field)
(chunk (return_statement (expression_list . (identifier) @returned .)))
(comment) @comment
(string) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("."),
    attributes: &[],
    bodies: &["block"],
    is_doc: |comment| comment.starts_with("--"),
    kind,
    exported: |at| match at.owner {
        Some(_) => !at.name.starts_with('_'),
        None if at.outer == NodeKind::Variable => at.outer_exported,
        None => !at.head.trim_start().starts_with("local"),
    },
    home: |path, _| {
        let path = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let path = path.strip_suffix("/init").unwrap_or(path);
        Home::Own(path.replace('/', "."))
    },
    joint: |_, own, is_static| match own {
        NodeKind::Method if !is_static => ":",
        _ => ".",
    },
    open_variables: true,
    types: &[],
    heads: None,
    parsed_text: as_written,
};

fn kind(at: &At<'_>) -> Option<NodeKind> {
    Some(match at.kind {
        NodeKind::Function if at.owner.is_some() || at.outer == NodeKind::Variable => {
            NodeKind::Method
        }
        NodeKind::Field if at.owner.is_none() => NodeKind::Variable,
        kind => kind,
    })
}
