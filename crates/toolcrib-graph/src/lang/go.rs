//! Go: what its files declare and how its packages are laid out.
//!
//! Every `call_expression` and every `type_conversion_expression` is a call
//! site: a conversion calls the type it names, and one to a type of the language
//! (`[]byte(s)`, `string(b)`) is external. Pointers are not told from what they
//! point to and type arguments are not inferred. A defined type that is neither
//! a struct nor an interface (`type Chain []Handler`) is shown as a class, since
//! it has methods, and lends what its underlying type has.

mod bindings;
mod calls;
mod docs;
mod items;
mod library;
mod mended;
mod place;
mod routes;
mod terms;
mod types;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{KindTable, LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

/// The rules for Go.
pub(crate) struct Go;

static SEMANTICS: Semantics = Semantics {
    separator: ".",
    block_scoped: true,
    open_classes: false,
    closed_modules: false,
    last_definition_wins: false,
    fields_apart: false,
    prelude: "builtin",
    call_member: None,
};

impl LanguageRules for Go {
    fn name(&self) -> &'static str {
        "Go"
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_go::LANGUAGE.into()
    }

    fn extract<'s>(&self, root: Node<'_>, path: &str, facts: &mut Builder<'s>) {
        items::read(root, path, facts);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::GoLibrary
    }

    fn place(&self, placement: &mut Placement<'_>) {
        place::place(placement);
    }

    fn mended(&self, text: &str) -> Option<String> {
        mended::mended(text)
    }

    fn imports_by_file(&self) -> bool {
        true
    }

    fn globs_bring_exported(&self) -> bool {
        true
    }

    fn structural(&self) -> bool {
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
    "package_clause" => Package,
    "import_spec" => ImportSpec,
    "import_declaration" => ImportDeclaration,
    "function_declaration" => Function,
    "method_declaration" => Method,
    "type_declaration" => TypeDeclaration,
    "type_spec" => TypeSpec,
    "type_alias" => TypeAlias,
    "const_declaration" => ConstDeclaration,
    "const_spec" => ConstSpec,
    "var_declaration" => VarDeclaration,
    "var_spec" => VarSpec,
    "field_declaration" => Field,
    "field_declaration_list" => FieldList,
    "method_elem" => MethodElem,
    "type_elem" => TypeElem,
    "comment" => Comment,
    "interpreted_string_literal" => String,
    "raw_string_literal" => RawString,
    "rune_literal" => Rune,
    "int_literal" => Int,
    "float_literal" => Float,
    "imaginary_literal" => Imaginary,
    "true" => True,
    "false" => False,
    "nil" => Nil,
    "iota" => Iota,
    "call_expression" => Call,
    "type_conversion_expression" => Conversion,
    "type_assertion_expression" => Assertion,
    "type_instantiation_expression" => Instantiation,
    "selector_expression" => Selector,
    "index_expression" => Index,
    "slice_expression" => Slice,
    "unary_expression" => Unary,
    "binary_expression" => Binary,
    "parenthesized_expression" => Parenthesized,
    "composite_literal" => Composite,
    "literal_value" => LiteralValue,
    "literal_element" => LiteralElement,
    "keyed_element" => Keyed,
    "func_literal" => FuncLiteral,
    "variadic_argument" => VariadicArgument,
    "argument_list" => ArgumentList,
    "expression_list" => ExpressionList,
    "identifier" => Identifier,
    "type_identifier" => TypeIdentifier,
    "qualified_type" => QualifiedType,
    "generic_type" => GenericType,
    "pointer_type" => PointerType,
    "parenthesized_type" => ParenthesizedType,
    "slice_type" => SliceType,
    "array_type" => ArrayType,
    "implicit_length_array_type" => ImplicitArray,
    "map_type" => MapType,
    "channel_type" => ChannelType,
    "function_type" => FunctionType,
    "interface_type" => InterfaceType,
    "struct_type" => StructType,
    "negated_type" => NegatedType,
    "type_constraint" => TypeConstraint,
    "type_arguments" => TypeArguments,
    "parameter_list" => ParameterList,
    "parameter_declaration" => Parameter,
    "variadic_parameter_declaration" => VariadicParameter,
    "short_var_declaration" => ShortVar,
    "assignment_statement" => Assign,
    "range_clause" => RangeClause,
    "receive_statement" => Receive,
    "type_switch_statement" => TypeSwitch,
    "type_case" => TypeCase,
    "default_case" => DefaultCase,
    "expression_case" => ExpressionCase,
    "communication_case" => CommunicationCase,
    "expression_switch_statement" => Switch,
    "select_statement" => Select,
    "if_statement" => If,
    "for_statement" => For,
    "block" => Block,
    "label_name" => Label,
}

fn kind(node: Node<'_>) -> K {
    static TABLE: OnceLock<KindTable<K>> = OnceLock::new();
    TABLE
        .get_or_init(|| KindTable::new(&tree_sitter_go::LANGUAGE.into(), KINDS, K::Other))
        .of(node, K::Other)
}
