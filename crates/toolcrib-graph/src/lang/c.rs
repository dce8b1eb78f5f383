//! C: what its files declare and how includes make its names visible.
//!
//! Every `call_expression` is a call site, a function-like macro's among them;
//! attributes are not looked into and the text of macros is not parsed. Both
//! sides of `#if` are read, so that a function that has two bodies is two
//! definitions. A prototype and its definition are one symbol. Pointers and
//! arrays are not told from what they point to. C++ is read by the same hand:
//! what only it has is in `cpp`.

mod bindings;
mod calls;
mod declarators;
mod docs;
mod functions;
mod items;
mod library;
mod mask;
mod place;
mod terms;
mod types;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{KindTable, LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

pub(super) use declarators::Declared;
pub(super) use items::{Reader, Templated, read};
pub(super) use library::is_known;
pub(super) use mask::mask;
pub(super) use place::place;
pub(super) use terms::children;

/// The rules for C.
pub(crate) struct C;

static SEMANTICS: Semantics = Semantics {
    separator: ".",
    block_scoped: true,
    open_classes: false,
    closed_modules: false,
    last_definition_wins: false,
    fields_apart: false,
    prelude: "libc",
    call_member: None,
};

impl LanguageRules for C {
    fn name(&self) -> &'static str {
        "C"
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_c::LANGUAGE.into()
    }

    fn extract<'s>(&self, root: Node<'_>, _path: &str, facts: &mut Builder<'s>) {
        read(root, facts, Kinds::c(), false);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::CLibrary
    }

    fn place(&self, placement: &mut Placement<'_>) {
        place(placement);
    }

    fn parsed_text(&self, text: &str) -> Option<String> {
        mask(text)
    }

    fn textual(&self) -> bool {
        true
    }
}

macro_rules! kinds {
    ($($name:literal => $kind:ident),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum K { Other, $($kind),* }
        const KINDS: &[(&str, K)] = &[$(($name, K::$kind)),*];
    };
}

kinds! {
    "comment" => Comment,
    "preproc_include" => Include,
    "preproc_def" => Define,
    "preproc_function_def" => DefineFunction,
    "preproc_call" => Directive,
    "preproc_if" => PreprocIf,
    "preproc_ifdef" => PreprocIfdef,
    "preproc_elif" => PreprocElif,
    "preproc_else" => PreprocElse,
    "preproc_defined" => PreprocDefined,
    "attribute_specifier" => Attribute,
    "attribute_declaration" => AttributeDeclaration,
    "ms_declspec_modifier" => Declspec,
    "linkage_specification" => Linkage,
    "namespace_definition" => Namespace,
    "namespace_alias_definition" => NamespaceAlias,
    "nested_namespace_specifier" => NestedNamespace,
    "using_declaration" => Using,
    "alias_declaration" => Alias,
    "type_definition" => Typedef,
    "template_declaration" => Template,
    "template_parameter_list" => TemplateParameters,
    "template_instantiation" => TemplateInstantiation,
    "struct_specifier" => Struct,
    "union_specifier" => Union,
    "class_specifier" => Class,
    "enum_specifier" => Enum,
    "enumerator" => Enumerator,
    "base_class_clause" => Bases,
    "field_declaration_list" => Fields,
    "field_declaration" => Field,
    "friend_declaration" => Friend,
    "access_specifier" => Access,
    "function_definition" => Function,
    "declaration" => Declaration,
    "init_declarator" => InitDeclarator,
    "function_declarator" => FunctionDeclarator,
    "abstract_function_declarator" => AbstractFunction,
    "pointer_declarator" => PointerDeclarator,
    "pointer_type_declarator" => PointerTypeDeclarator,
    "abstract_pointer_declarator" => AbstractPointer,
    "abstract_parenthesized_declarator" => AbstractParenthesized,
    "reference_declarator" => ReferenceDeclarator,
    "array_declarator" => ArrayDeclarator,
    "attributed_declarator" => AttributedDeclarator,
    "parenthesized_declarator" => ParenthesizedDeclarator,
    "structured_binding_declarator" => StructuredBinding,
    "variadic_declarator" => VariadicDeclarator,
    "parameter_list" => ParameterList,
    "parameter_declaration" => Parameter,
    "optional_parameter_declaration" => OptionalParameter,
    "variadic_parameter_declaration" => PackParameter,
    "variadic_parameter" => Variadic,
    "type_parameter_declaration" => TypeParameter,
    "optional_type_parameter_declaration" => OptionalTypeParameter,
    "variadic_type_parameter_declaration" => PackTypeParameter,
    "template_template_parameter_declaration" => TemplateTemplate,
    "trailing_return_type" => TrailingReturn,
    "storage_class_specifier" => Storage,
    "type_qualifier" => Qualifier,
    "virtual" => Virtual,
    "virtual_specifier" => VirtualSpecifier,
    "pure_virtual_clause" => PureVirtual,
    "field_initializer_list" => InitializerList,
    "field_initializer" => FieldInitializer,
    "compound_statement" => Block,
    "if_statement" => If,
    "for_statement" => For,
    "for_range_loop" => ForRange,
    "while_statement" => While,
    "switch_statement" => Switch,
    "catch_clause" => Catch,
    "return_statement" => Return,
    "goto_statement" => Goto,
    "lambda_expression" => Lambda,
    "call_expression" => Call,
    "new_expression" => New,
    "new_declarator" => NewDeclarator,
    "argument_list" => Arguments,
    "initializer_list" => Braces,
    "initializer_pair" => Pair,
    "field_designator" => FieldDesignator,
    "parameter_pack_expansion" => PackExpansion,
    "field_expression" => FieldAccess,
    "subscript_expression" => Subscript,
    "pointer_expression" => Pointer,
    "parenthesized_expression" => Parenthesized,
    "assignment_expression" => Assignment,
    "conditional_expression" => Conditional,
    "binary_expression" => Binary,
    "unary_expression" => Unary,
    "update_expression" => Update,
    "comma_expression" => Comma,
    "cast_expression" => Cast,
    "compound_literal_expression" => CompoundLiteral,
    "co_await_expression" => CoAwait,
    "sizeof_expression" => Sizeof,
    "string_literal" => String,
    "raw_string_literal" => RawString,
    "concatenated_string" => Concatenated,
    "char_literal" => Char,
    "number_literal" => Number,
    "true" => True,
    "false" => False,
    "null" => Null,
    "this" => This,
    "identifier" => Identifier,
    "field_identifier" => FieldIdentifier,
    "type_identifier" => TypeIdentifier,
    "namespace_identifier" => NamespaceIdentifier,
    "statement_identifier" => Label,
    "qualified_identifier" => Qualified,
    "template_type" => TemplateType,
    "template_function" => TemplateFunction,
    "template_method" => TemplateMethod,
    "template_argument_list" => TemplateArguments,
    "dependent_name" => DependentName,
    "dependent_type" => DependentType,
    "destructor_name" => Destructor,
    "operator_name" => Operator,
    "operator_cast" => OperatorCast,
    "primitive_type" => Primitive,
    "sized_type_specifier" => Sized,
    "placeholder_type_specifier" => Placeholder,
    "auto" => Auto,
    "decltype" => Decltype,
    "type_descriptor" => Descriptor,
    "condition_clause" => Condition,
    "init_statement" => InitStatement,
}

/// Which grammar the numbers of node kinds are of.
#[derive(Clone, Copy)]
pub(super) struct Kinds(&'static KindTable<K>);

impl Kinds {
    pub(super) fn c() -> Self {
        static TABLE: OnceLock<KindTable<K>> = OnceLock::new();
        Kinds(
            TABLE.get_or_init(|| KindTable::new(&tree_sitter_c::LANGUAGE.into(), KINDS, K::Other)),
        )
    }

    pub(super) fn cpp() -> Self {
        static TABLE: OnceLock<KindTable<K>> = OnceLock::new();
        Kinds(
            TABLE
                .get_or_init(|| KindTable::new(&tree_sitter_cpp::LANGUAGE.into(), KINDS, K::Other)),
        )
    }

    pub(super) fn of(self, node: Node<'_>) -> K {
        self.0.of(node, K::Other)
    }
}
