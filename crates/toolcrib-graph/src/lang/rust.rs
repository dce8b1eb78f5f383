//! Rust: what its files declare and how its crates and modules are laid out.
//!
//! Every `call_expression` and every `macro_invocation` is a call site, those
//! inside the arguments of well-known macros (`assert_eq!`, `format!`, `vec!`, …)
//! included, since these are read again as expressions, as braces around whole
//! items are read again as items. Struct literals are references, not calls.
//! What other macros expand to is not looked at.

mod bindings;
mod branches;
mod calls;
mod docs;
mod embedded;
mod imports;
mod items;
mod library;
mod patterns;
mod place;
mod routes;
mod terms;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{KindTable, LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

/// The rules for Rust.
pub(crate) struct Rust;

static SEMANTICS: Semantics = Semantics {
    separator: "::",
    block_scoped: true,
    open_classes: false,
    closed_modules: true,
    last_definition_wins: false,
    fields_apart: true,
    prelude: "std",
    call_member: None,
};

impl LanguageRules for Rust {
    fn name(&self) -> &'static str {
        "Rust"
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_rust::LANGUAGE.into()
    }

    fn extract<'s>(&self, root: Node<'_>, _path: &str, facts: &mut Builder<'s>) {
        items::read(root, facts);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::RustLibrary
    }

    fn place(&self, placement: &mut Placement<'_>) {
        place::place(placement);
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
    "function_item" => Function,
    "function_signature_item" => FunctionSignature,
    "struct_item" => Struct,
    "union_item" => Union,
    "enum_item" => Enum,
    "enum_variant" => Variant,
    "field_declaration" => Field,
    "trait_item" => Trait,
    "impl_item" => Impl,
    "mod_item" => Mod,
    "const_item" => Const,
    "static_item" => Static,
    "type_item" => TypeItem,
    "associated_type" => AssociatedType,
    "macro_definition" => MacroDefinition,
    "macro_invocation" => MacroInvocation,
    "use_declaration" => Use,
    "extern_crate_declaration" => ExternCrate,
    "line_comment" => LineComment,
    "block_comment" => BlockComment,
    "attribute_item" => Attribute,
    "inner_attribute_item" => InnerAttribute,
    "string_literal" => StringLiteral,
    "raw_string_literal" => RawString,
    "char_literal" => CharLiteral,
    "integer_literal" => IntegerLiteral,
    "float_literal" => FloatLiteral,
    "boolean_literal" => BoolLiteral,
    "call_expression" => Call,
    "field_expression" => FieldExpression,
    "generic_function" => GenericFunction,
    "identifier" => Identifier,
    "scoped_identifier" => ScopedIdentifier,
    "type_identifier" => TypeIdentifier,
    "scoped_type_identifier" => ScopedType,
    "generic_type" => GenericType,
    "generic_type_with_turbofish" => GenericTurbofish,
    "primitive_type" => PrimitiveType,
    "reference_type" => ReferenceType,
    "pointer_type" => PointerType,
    "tuple_type" => TupleType,
    "unit_type" => UnitType,
    "array_type" => ArrayType,
    "dynamic_type" => DynamicType,
    "abstract_type" => AbstractType,
    "bounded_type" => BoundedType,
    "function_type" => FunctionType,
    "bracketed_type" => BracketedType,
    "qualified_type" => QualifiedType,
    "higher_ranked_trait_bound" => HigherRanked,
    "type_binding" => TypeBinding,
    "self" => SelfValue,
    "super" => Super,
    "crate" => Crate,
    "metavariable" => Metavariable,
    "let_declaration" => Let,
    "let_condition" => LetCondition,
    "for_expression" => For,
    "if_expression" => If,
    "while_expression" => While,
    "match_expression" => Match,
    "match_arm" => MatchArm,
    "match_pattern" => MatchPattern,
    "match_block" => MatchBlock,
    "closure_expression" => Closure,
    "closure_parameters" => ClosureParameters,
    "parameter" => Parameter,
    "self_parameter" => SelfParameter,
    "parameters" => Parameters,
    "block" => Block,
    "unsafe_block" => UnsafeBlock,
    "async_block" => AsyncBlock,
    "const_block" => ConstBlock,
    "try_block" => TryBlock,
    "else_clause" => ElseClause,
    "expression_statement" => ExpressionStatement,
    "reference_expression" => ReferenceExpression,
    "parenthesized_expression" => Parenthesized,
    "unary_expression" => Unary,
    "try_expression" => Try,
    "await_expression" => Await,
    "index_expression" => Index,
    "range_expression" => Range,
    "struct_expression" => StructExpression,
    "tuple_expression" => TupleExpression,
    "array_expression" => ArrayExpression,
    "type_cast_expression" => Cast,
    "binary_expression" => Binary,
    "return_expression" => Return,
    "unit_expression" => UnitExpression,
    "lifetime" => Lifetime,
    "label" => Label,
    "visibility_modifier" => Visibility,
    "token_tree" => TokenTree,
    "tuple_pattern" => TuplePattern,
    "tuple_struct_pattern" => TupleStructPattern,
    "struct_pattern" => StructPattern,
    "field_pattern" => FieldPattern,
    "shorthand_field_identifier" => ShorthandField,
    "or_pattern" => OrPattern,
    "captured_pattern" => CapturedPattern,
    "ref_pattern" => RefPattern,
    "mut_pattern" => MutPattern,
    "reference_pattern" => ReferencePattern,
    "slice_pattern" => SlicePattern,
    "range_pattern" => RangePattern,
    "generic_pattern" => GenericPattern,
    "type_parameters" => TypeParameters,
    "type_parameter" => TypeParameter,
    "where_clause" => WhereClause,
    "where_predicate" => WherePredicate,
    "trait_bounds" => TraitBounds,
    "scoped_use_list" => ScopedUseList,
    "use_list" => UseList,
    "use_as_clause" => UseAs,
    "use_wildcard" => UseWildcard,
    "ordered_field_declaration_list" => TupleFields,
}

fn kind(node: Node<'_>) -> K {
    static TABLE: OnceLock<KindTable<K>> = OnceLock::new();
    TABLE
        .get_or_init(|| KindTable::new(&tree_sitter_rust::LANGUAGE.into(), KINDS, K::Other))
        .of(node, K::Other)
}
