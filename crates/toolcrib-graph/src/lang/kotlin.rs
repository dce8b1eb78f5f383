//! Kotlin: definitions.
//!
//! Names begin with the package. `val` and `var` in a constructor are fields of
//! the class. A companion without a name is `Companion`.

mod bodies;

use std::sync::OnceLock;

use super::outline::{At, Home, Outline, unlinked};
use crate::model::NodeKind;

pub(super) static KOTLIN: Outline = Outline {
    name: "Kotlin",
    grammar: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    query: r#"
(package_header (qualified_identifier) @package)
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @class
(companion_object name: (identifier) @name) @class
(companion_object !name (#set! name "Companion")) @class
(type_alias type: (identifier) @name) @type
(function_declaration name: (identifier) @name) @function
(function_declaration (user_type (identifier) @name .) name: (MISSING identifier)) @function
(secondary_constructor (#set! name "constructor")) @function
(property_declaration (variable_declaration (identifier) @name)) @field
(property_declaration (multi_variable_declaration (variable_declaration (identifier) @name))) @field
(enum_entry (identifier) @name) @member
(class_parameter ["val" "var"] . (identifier) @name) @field
(line_comment) @comment
(block_comment) @comment
(string_literal) @string
(multiline_string_literal) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("."),
    attributes: &["annotation"],
    bodies: &[
        "class_body",
        "enum_class_body",
        "function_body",
        "block",
        "getter",
        "setter",
    ],
    is_doc: |comment| comment.starts_with("/**"),
    kind,
    exported: |at| {
        !at.says("private")
            && !at.says("internal")
            && (at.kind != NodeKind::EnumMember || at.outer_exported)
    },
    home: |_, package| Home::Shared(package.to_string()),
    joint: |_, _, _| ".",
    open_variables: false,
    types: &["class", "interface", "object"],
    heads: None,
    parsed_text: bodies::mask,
};

fn kind(at: &At<'_>) -> Option<NodeKind> {
    Some(match at.by_place() {
        NodeKind::Class if at.says("interface") => NodeKind::Interface,
        NodeKind::Class if at.says("enum") => NodeKind::Enum,
        NodeKind::Method | NodeKind::Function if at.head.contains("@Test") => NodeKind::Test,
        NodeKind::Field | NodeKind::Variable if at.says("const") => NodeKind::Constant,
        kind => kind,
    })
}
