//! Swift: definitions.
//!
//! Members of an extension belong to the type that it extends, also when that
//! is in another file of the module. The module is the directory below
//! `Sources` or `Tests`, where there is one; names begin with it.

use std::sync::OnceLock;

use super::outline::{At, Home, Outline, as_written, unlinked};
use crate::model::NodeKind;

pub(super) static SWIFT: Outline = Outline {
    name: "Swift",
    grammar: || tree_sitter_swift::LANGUAGE.into(),
    query: r#"
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name) @class
(class_declaration declaration_kind: "struct" name: (_) @name) @struct
(class_declaration declaration_kind: "enum" name: (_) @name) @enum
(class_declaration declaration_kind: "extension" name: (_) @name) @extension
(protocol_declaration name: (_) @name) @interface
(function_declaration "func" . name: _ @name) @function
(protocol_function_declaration "func" . name: _ @name) @function
(init_declaration (#set! name "init")) @function
(subscript_declaration (#set! name "subscript")) @function
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @field
(typealias_declaration name: (type_identifier) @name) @type
(associatedtype_declaration name: (type_identifier) @name) @type
(enum_entry name: (simple_identifier) @name) @member
(macro_declaration (simple_identifier) @name) @macro
(comment) @comment
(multiline_comment) @comment
(line_string_literal) @string
(multi_line_string_literal) @string
(raw_string_literal) @string
"#,
    compiled: OnceLock::new(),
    semantics: &unlinked("."),
    attributes: &["attribute"],
    bodies: &[
        "function_body",
        "class_body",
        "enum_class_body",
        "protocol_body",
        "computed_property",
        "willset_didset_block",
    ],
    is_doc: |comment| comment.starts_with("///") || comment.starts_with("/**"),
    kind,
    exported,
    home: |path, _| Home::Shared(module(path).to_string()),
    joint: |_, _, _| ".",
    open_variables: false,
    types: &["actor", "class", "enum", "extension", "protocol", "struct"],
    heads: None,
    parsed_text: as_written,
};

fn kind(at: &At<'_>) -> Option<NodeKind> {
    Some(match at.by_place() {
        NodeKind::Method | NodeKind::Function if at.head.contains("@Test") => NodeKind::Test,
        NodeKind::Method
            if at.name.starts_with("test") && at.outer_signature.contains("XCTestCase") =>
        {
            NodeKind::Test
        }
        NodeKind::Variable if at.says("let") => NodeKind::Constant,
        kind => kind,
    })
}

fn exported(at: &At<'_>) -> bool {
    let says = |word| at.says(word);
    if says("private") || says("fileprivate") || says("internal") {
        return false;
    }
    let inherits = at.kind == NodeKind::EnumMember
        || at.outer == NodeKind::Interface
        || at.outer_signature.is_empty() && at.in_type();
    says("public") || says("open") || (inherits && at.outer_exported)
}

/// The target that a file of a package belongs to.
fn module(path: &str) -> &str {
    let mut parts = path.split('/');
    while let Some(part) = parts.next() {
        if matches!(part, "Sources" | "Tests") {
            let name = parts.next().unwrap_or("");
            return if parts.next().is_some() { name } else { "" };
        }
    }
    ""
}
