//! Scala: definitions, of both syntaxes.
//!
//! Names begin with the package. Parameters of a class are its fields where
//! they are declared `val` or `var`, or the class is a case class.

use std::sync::OnceLock;

use super::outline::{At, Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static SCALA: Outline = Outline {
    name: "Scala",
    grammar: || tree_sitter_scala::LANGUAGE.into(),
    query: r#"
(package_clause name: (package_identifier) @package !body)
(package_clause name: (package_identifier) @name body: (_)) @module
(package_object name: (_) @name) @class
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(trait_definition name: (_) @name) @interface
(enum_definition name: (_) @name) @enum
(simple_enum_case name: (_) @name) @member
(full_enum_case name: (_) @name) @member
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(val_definition pattern: (identifier) @name) @field
(val_definition pattern: (identifiers (identifier) @name)) @field
(val_declaration name: (_) @name) @field
(var_definition pattern: (identifier) @name) @field
(var_declaration name: (_) @name) @field
(given_definition name: (_) @name) @field
(type_definition name: (type_identifier) @name) @type
(class_definition class_parameters: (class_parameters (class_parameter name: (_) @name) @field))
(comment) @comment
(block_comment) @comment
(string) @string
(interpolated_string_expression) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("."),
    attributes: &["annotation"],
    bodies: &[
        "template_body",
        "with_template_body",
        "enum_body",
        "indented_block",
        "block",
    ],
    is_doc: |comment| comment.starts_with("/**"),
    kind,
    exported: |at| !at.says("private") && !at.before.starts_with("private"),
    home: |_, package| Home::Shared(package.to_string()),
    joint: |_, _, _| ".",
    open_variables: false,
    types: &[
        "class",
        "enum",
        "object",
        "trait",
        "package",
        "given",
        "extension",
    ],
    heads: None,
    parsed_text: as_written,
};

fn kind(at: &At<'_>) -> Option<NodeKind> {
    let declares = ["val", "var", "given"].iter().any(|word| at.says(word));
    Some(match at.by_place() {
        // A parameter.
        NodeKind::Field if !declares => {
            let of_case = at.outer_signature.split_whitespace().any(|w| w == "case");
            return of_case.then_some(NodeKind::Field);
        }
        NodeKind::Method if at.head.contains("@Test") => NodeKind::Test,
        kind => kind,
    })
}
