//! Python: what its files declare and how its packages are laid out.
//!
//! Every `call` node is a call site, decorators and f-strings included. Types
//! come from annotations (quoted ones too), from values given to names and
//! attributes, and from what functions return; what is not stated stays
//! unknown.

mod annotation;
mod assignments;
mod bindings;
mod imports;
mod items;
mod library;
mod place;
mod routes;
mod terms;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{KindTable, LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

/// The rules for Python.
pub(crate) struct Python;

static SEMANTICS: Semantics = Semantics {
    separator: ".",
    block_scoped: false,
    open_classes: false,
    closed_modules: false,
    last_definition_wins: true,
    fields_apart: false,
    prelude: "builtins",
    call_member: Some("__call__"),
};

impl LanguageRules for Python {
    fn name(&self) -> &'static str {
        "Python"
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_python::LANGUAGE.into()
    }

    fn extract<'s>(&self, root: Node<'_>, path: &str, facts: &mut Builder<'s>) {
        items::read(root, path, facts);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::PythonLibrary
    }

    fn place(&self, placement: &mut Placement<'_>) {
        place::place(placement);
    }

    fn loose_values(&self) -> bool {
        true
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
    "class_definition" => Class,
    "function_definition" => Function,
    "decorated_definition" => Decorated,
    "decorator" => Decorator,
    "assignment" => Assignment,
    "augmented_assignment" => AugmentedAssignment,
    "type_alias_statement" => TypeAlias,
    "import_statement" => Import,
    "import_from_statement" => ImportFrom,
    "future_import_statement" => FutureImport,
    "aliased_import" => AliasedImport,
    "dotted_name" => DottedName,
    "relative_import" => RelativeImport,
    "import_prefix" => ImportPrefix,
    "wildcard_import" => Wildcard,
    "comment" => Comment,
    "string" => String,
    "concatenated_string" => ConcatenatedString,
    "string_content" => StringContent,
    "interpolation" => Interpolation,
    "integer" => Integer,
    "float" => Float,
    "true" => True,
    "false" => False,
    "none" => None,
    "call" => Call,
    "argument_list" => ArgumentList,
    "keyword_argument" => KeywordArgument,
    "attribute" => Attribute,
    "subscript" => Subscript,
    "slice" => Slice,
    "identifier" => Identifier,
    "type" => Type,
    "generic_type" => GenericType,
    "union_type" => UnionType,
    "member_type" => MemberType,
    "constrained_type" => ConstrainedType,
    "splat_type" => SplatType,
    "type_parameter" => TypeParameter,
    "block" => Block,
    "return_statement" => Return,
    "for_statement" => For,
    "while_statement" => While,
    "with_item" => WithItem,
    "as_pattern" => AsPattern,
    "as_pattern_target" => AsTarget,
    "except_clause" => Except,
    "if_statement" => If,
    "elif_clause" => Elif,
    "named_expression" => Named,
    "lambda" => Lambda,
    "lambda_parameters" => LambdaParameters,
    "parameters" => Parameters,
    "default_parameter" => DefaultParameter,
    "typed_parameter" => TypedParameter,
    "typed_default_parameter" => TypedDefaultParameter,
    "list_splat_pattern" => ListSplat,
    "dictionary_splat_pattern" => DictSplat,
    "list_comprehension" => ListComprehension,
    "set_comprehension" => SetComprehension,
    "dictionary_comprehension" => DictComprehension,
    "generator_expression" => Generator,
    "for_in_clause" => ForIn,
    "pair" => Pair,
    "list" => List,
    "set" => Set,
    "dictionary" => Dictionary,
    "tuple" => Tuple,
    "expression_list" => ExpressionList,
    "pattern_list" => PatternList,
    "tuple_pattern" => TuplePattern,
    "list_pattern" => ListPattern,
    "await" => Await,
    "conditional_expression" => Conditional,
    "boolean_operator" => BooleanOperator,
    "not_operator" => Not,
    "comparison_operator" => Comparison,
    "binary_operator" => BinaryOperator,
    "parenthesized_expression" => Parenthesized,
    "expression_statement" => ExpressionStatement,
    "yield" => Yield,
    "global_statement" => Global,
    "nonlocal_statement" => Nonlocal,
    "case_pattern" => CasePattern,
    "class_pattern" => ClassPattern,
    "keyword_pattern" => KeywordPattern,
    "splat_pattern" => SplatPattern,
}

fn kind(node: Node<'_>) -> K {
    static TABLE: OnceLock<KindTable<K>> = OnceLock::new();
    TABLE
        .get_or_init(|| KindTable::new(&tree_sitter_python::LANGUAGE.into(), KINDS, K::Other))
        .of(node, K::Other)
}
