//! C#: definitions.
//!
//! A file's only namespace is what its names begin with; several in one file
//! are modules in it. Methods under the attributes of the usual test frameworks
//! are tests.

use std::sync::OnceLock;

use super::outline::{At, Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static CSHARP: Outline = Outline {
    name: "C#",
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    query: r#"
(namespace_declaration name: (_) @name) @namespace
(file_scoped_namespace_declaration name: (_) @name) @namespace
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @struct
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @member
(delegate_declaration name: (identifier) @name) @type
(method_declaration (explicit_interface_specifier (_) @owner) name: (identifier) @name) @function
(method_declaration name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @function
(operator_declaration operator: _ @name (#set! prefix "operator ")) @function
(conversion_operator_declaration type: (_) @name (#set! prefix "operator ")) @function
(indexer_declaration (#set! name "this[]")) @field
(property_declaration name: (identifier) @name) @field
(event_declaration name: (identifier) @name) @field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @field
(local_function_statement name: (identifier) @name) @function
(record_declaration (parameter_list (parameter name: (identifier) @name) @field))
(comment) @comment
(string_literal) @string
(verbatim_string_literal) @string
(raw_string_literal) @string
(interpolated_string_expression) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("."),
    attributes: &["attribute_list"],
    bodies: &["accessor_list", "arrow_expression_clause"],
    is_doc: |comment| comment.starts_with("///") || comment.starts_with("/**"),
    kind,
    exported,
    home: |_, namespace| Home::Shared(namespace.to_string()),
    joint: |_, _, _| ".",
    open_variables: false,
    types: &[
        "class",
        "enum",
        "interface",
        "namespace",
        "record",
        "struct",
    ],
    heads: None,
    parsed_text: as_written,
};

fn kind(at: &At<'_>) -> Option<NodeKind> {
    const TESTS: [&str; 5] = ["Test", "TestCase", "TestMethod", "Fact", "Theory"];
    Some(match at.by_place() {
        NodeKind::Method if at.head.contains('[') && TESTS.iter().any(|test| at.says(test)) => {
            NodeKind::Test
        }
        NodeKind::Field | NodeKind::Variable if at.says("const") => NodeKind::Constant,
        kind => kind,
    })
}

fn exported(at: &At<'_>) -> bool {
    match at.kind {
        NodeKind::EnumMember => at.outer_exported,
        // A parameter of a record is a public property.
        NodeKind::Field
            if at.outer_signature.contains("record ")
                && !at.text.ends_with(';')
                && !at.text.ends_with('}') =>
        {
            at.outer_exported
        }
        _ if at.outer == NodeKind::Interface => !at.says("private"),
        _ => at.says("public") || at.says("protected"),
    }
}
