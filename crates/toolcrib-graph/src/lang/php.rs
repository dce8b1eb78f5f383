//! PHP: definitions.
//!
//! Names are written `Namespace\Class::method`. A trait counts as an interface,
//! a promoted parameter as a field of the class, `define("X", …)` as a constant.

use std::sync::OnceLock;

use super::outline::{Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static PHP: Outline = Outline {
    name: "PHP",
    grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
    query: r#"
(namespace_definition name: (namespace_name) @name) @namespace
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @interface
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @member
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @function
(property_declaration (property_element name: (variable_name) @name)) @field
(property_promotion_parameter name: (variable_name) @name (#set! outer "")) @field
(const_declaration (const_element . (name) @name)) @constant
(function_call_expression function: (name) @_f
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_f "define")) @constant
(comment) @comment
(string) @string
(encapsed_string) @string
(heredoc) @string
(nowdoc) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("::"),
    attributes: &["attribute_list"],
    bodies: &[],
    is_doc: |comment| comment.starts_with("/**"),
    kind: |at| {
        Some(match at.by_place() {
            NodeKind::Method
                if at.says("Test")
                    || (at.name.starts_with("test") && at.outer_signature.contains("TestCase")) =>
            {
                NodeKind::Test
            }
            kind => kind,
        })
    },
    exported: |at| !at.says("private"),
    home: |_, namespace| Home::Shared(namespace.to_string()),
    joint: |outer, _, _| match outer {
        None | Some(NodeKind::Module) => "\\",
        _ => "::",
    },
    open_variables: false,
    types: &["class", "enum", "interface", "namespace", "trait"],
    heads: None,
    parsed_text: as_written,
};
