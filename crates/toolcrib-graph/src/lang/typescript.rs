//! TypeScript, TSX and JavaScript: what their files declare and how modules
//! find each other.
//!
//! One set of rules for two labels: a project mixes them, and a `.js` path in an
//! import often names a `.ts` file. A module's qualified name is its path without
//! extension, so a method reads `src/shop/basket.Basket.add`.
//!
//! Call sites are the calls, `new` expressions and tagged templates. An element
//! such as `<Price/>` is a reference: the framework calls a component, the
//! expression does not. `new` and `super(…)` lead to the class. Functions given
//! to a name are functions; methods of an object given to a constant are members
//! of that constant.

mod bindings;
mod blocks;
mod calls;
mod classes;
mod docs;
mod exports;
mod functions;
mod imports;
mod items;
mod library;
mod objects;
mod parameters;
mod place;
mod routes;
mod terms;
mod types;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{KindTable, LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

/// The rules for TypeScript and TSX.
pub(crate) struct TypeScript;

/// The rules for JavaScript and JSX, the same but for the label.
pub(crate) struct JavaScript;

static SEMANTICS: Semantics = Semantics {
    separator: ".",
    block_scoped: true,
    open_classes: false,
    closed_modules: false,
    last_definition_wins: false,
    fields_apart: false,
    prelude: "globals",
    call_member: None,
};

/// The name under which a module keeps what it exports as a whole.
const MODULE_VALUE: &str = "module.exports";

impl LanguageRules for TypeScript {
    fn name(&self) -> &'static str {
        "TypeScript"
    }

    fn grammar(&self, path: &str) -> tree_sitter::Language {
        Dialect::of(path, Dialect::Typed).grammar()
    }

    fn extract<'s>(&self, root: Node<'_>, path: &str, facts: &mut Builder<'s>) {
        items::read(root, path, Dialect::of(path, Dialect::Typed), facts);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::ScriptLibrary
    }

    /// Both languages at once: their modules import each other.
    fn place(&self, placement: &mut Placement<'_>) {
        place::place(placement);
    }

    fn types_apart(&self) -> bool {
        true
    }

    fn bodies_see_members(&self) -> bool {
        false
    }

    fn module_value(&self) -> Option<&'static str> {
        Some(MODULE_VALUE)
    }
}

impl LanguageRules for JavaScript {
    fn name(&self) -> &'static str {
        "JavaScript"
    }

    fn grammar(&self, path: &str) -> tree_sitter::Language {
        Dialect::of(path, Dialect::Script).grammar()
    }

    fn extract<'s>(&self, root: Node<'_>, path: &str, facts: &mut Builder<'s>) {
        items::read(root, path, Dialect::of(path, Dialect::Script), facts);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::ScriptLibrary
    }

    fn place(&self, _placement: &mut Placement<'_>) {}

    fn loose_values(&self) -> bool {
        true
    }

    fn types_apart(&self) -> bool {
        true
    }

    fn bodies_see_members(&self) -> bool {
        false
    }

    fn module_value(&self) -> Option<&'static str> {
        Some(MODULE_VALUE)
    }
}

/// The three grammars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Script,
    Typed,
    TypedMarkup,
}

impl Dialect {
    /// What the path says, else `otherwise`.
    fn of(path: &str, otherwise: Dialect) -> Dialect {
        let extension = path.rsplit('.').next().unwrap_or("");
        match extension.to_ascii_lowercase().as_str() {
            "tsx" => Dialect::TypedMarkup,
            "ts" | "mts" | "cts" => Dialect::Typed,
            "js" | "jsx" | "mjs" | "cjs" => Dialect::Script,
            _ => otherwise,
        }
    }

    fn grammar(self) -> tree_sitter::Language {
        match self {
            Dialect::Script => tree_sitter_javascript::LANGUAGE.into(),
            Dialect::Typed => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Dialect::TypedMarkup => tree_sitter_typescript::LANGUAGE_TSX.into(),
        }
    }
}

/// Kinds of nodes by the grammar that a file is read with.
#[derive(Clone, Copy)]
struct Kinds(&'static KindTable<K>);

impl Kinds {
    fn of_dialect(dialect: Dialect) -> Kinds {
        static TABLES: [OnceLock<KindTable<K>>; 3] = [const { OnceLock::new() }; 3];
        Kinds(
            TABLES[dialect as usize]
                .get_or_init(|| KindTable::new(&dialect.grammar(), KINDS, K::Other)),
        )
    }

    fn of(self, node: Node<'_>) -> K {
        self.0.of(node, K::Other)
    }
}

macro_rules! kinds {
    ($($name:literal => $kind:ident),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum K { Other, $($kind),* }
        const KINDS: &[(&str, K)] = &[$(($name, K::$kind)),*];
    };
}

kinds! {
    "comment" => Comment,
    "import_statement" => Import,
    "import_clause" => ImportClause,
    "named_imports" => NamedImports,
    "namespace_import" => NamespaceImport,
    "import_specifier" => ImportSpecifier,
    "import_require_clause" => ImportRequire,
    "import_alias" => ImportAlias,
    "export_statement" => Export,
    "export_clause" => ExportClause,
    "export_specifier" => ExportSpecifier,
    "namespace_export" => NamespaceExport,
    "ambient_declaration" => Ambient,
    "class_declaration" => Class,
    "abstract_class_declaration" => AbstractClass,
    "class" => ClassExpression,
    "class_heritage" => Heritage,
    "extends_clause" => Extends,
    "implements_clause" => Implements,
    "extends_type_clause" => ExtendsType,
    "class_body" => ClassBody,
    "class_static_block" => StaticBlock,
    "interface_declaration" => Interface,
    "interface_body" => InterfaceBody,
    "object_type" => ObjectType,
    "enum_declaration" => Enum,
    "enum_body" => EnumBody,
    "enum_assignment" => EnumAssignment,
    "type_alias_declaration" => TypeAlias,
    "internal_module" => Namespace,
    "module" => AmbientModule,
    "function_declaration" => Function,
    "generator_function_declaration" => GeneratorDeclaration,
    "function_signature" => FunctionSignature,
    "function_expression" => FunctionExpression,
    "generator_function" => GeneratorFunction,
    "arrow_function" => Arrow,
    "method_definition" => Method,
    "method_signature" => MethodSignature,
    "abstract_method_signature" => AbstractMethod,
    "call_signature" => CallSignature,
    "construct_signature" => ConstructSignature,
    "index_signature" => IndexSignature,
    "property_signature" => PropertySignature,
    "public_field_definition" => Field,
    "field_definition" => ScriptField,
    "lexical_declaration" => Lexical,
    "variable_declaration" => Var,
    "variable_declarator" => Declarator,
    "formal_parameters" => Parameters,
    "required_parameter" => Required,
    "optional_parameter" => Optional,
    "accessibility_modifier" => Accessibility,
    "override_modifier" => Override,
    "rest_pattern" => RestPattern,
    "object_pattern" => ObjectPattern,
    "array_pattern" => ArrayPattern,
    "assignment_pattern" => AssignmentPattern,
    "object_assignment_pattern" => ObjectAssignment,
    "pair_pattern" => PairPattern,
    "shorthand_property_identifier_pattern" => ShorthandPattern,
    "shorthand_property_identifier" => Shorthand,
    "call_expression" => Call,
    "new_expression" => New,
    "arguments" => Arguments,
    "member_expression" => Member,
    "subscript_expression" => Subscript,
    "identifier" => Identifier,
    "property_identifier" => PropertyName,
    "private_property_identifier" => PrivateName,
    "type_identifier" => TypeName,
    "nested_identifier" => NestedName,
    "nested_type_identifier" => NestedType,
    "computed_property_name" => ComputedName,
    "this" => This,
    "super" => Super,
    "import" => ImportKeyword,
    "object" => Object,
    "pair" => Pair,
    "spread_element" => Spread,
    "array" => Array,
    "string" => String,
    "string_fragment" => StringFragment,
    "template_string" => Template,
    "template_substitution" => Substitution,
    "number" => Number,
    "regex" => Regex,
    "true" => True,
    "false" => False,
    "null" => Null,
    "undefined" => Undefined,
    "await_expression" => Await,
    "yield_expression" => Yield,
    "parenthesized_expression" => Parenthesized,
    "sequence_expression" => Sequence,
    "ternary_expression" => Ternary,
    "binary_expression" => Binary,
    "unary_expression" => Unary,
    "assignment_expression" => Assignment,
    "augmented_assignment_expression" => Augmented,
    "as_expression" => As,
    "satisfies_expression" => Satisfies,
    "non_null_expression" => NonNull,
    "type_assertion" => TypeAssertion,
    "instantiation_expression" => Instantiation,
    "statement_block" => Block,
    "expression_statement" => Statement,
    "return_statement" => Return,
    "for_statement" => For,
    "for_in_statement" => ForIn,
    "catch_clause" => Catch,
    "if_statement" => If,
    "decorator" => Decorator,
    "jsx_opening_element" => MarkupOpening,
    "jsx_closing_element" => MarkupClosing,
    "jsx_self_closing_element" => MarkupElement,
    "type_annotation" => Annotation,
    "opting_type_annotation" => OptionalAnnotation,
    "type_arguments" => TypeArguments,
    "type_parameters" => TypeParameters,
    "type_parameter" => TypeParameter,
    "constraint" => Constraint,
    "predefined_type" => Predefined,
    "generic_type" => Generic,
    "union_type" => Union,
    "intersection_type" => Intersection,
    "array_type" => ArrayType,
    "tuple_type" => TupleType,
    "readonly_type" => ReadonlyType,
    "optional_type" => OptionalType,
    "rest_type" => RestType,
    "parenthesized_type" => ParenthesizedType,
    "function_type" => FunctionType,
    "this_type" => ThisType,
    "literal_type" => LiteralType,
    "type_query" => TypeQuery,
    "conditional_type" => ConditionalType,
    "lookup_type" => LookupType,
}
