//! Java: what its files declare and how its packages are laid out.
//!
//! Every method invocation, every `new` and every `this(…)` or `super(…)` at the
//! head of a constructor is a call site; annotations are not looked into. A
//! `new` calls the constructor that takes as many arguments, or the class when
//! it declares none. Overloads are told apart by the number of arguments alone.
//! Bodies of anonymous classes are classes named `$1`, `$2`, … in their file.

mod bindings;
mod items;
mod library;
mod members;
mod place;
mod terms;

use std::sync::OnceLock;

use tree_sitter::Node;

use super::{KindTable, LanguageRules, Semantics};
use crate::facts::Builder;
use crate::link::{Library, Placement};

/// The rules for Java.
pub(crate) struct Java;

static SEMANTICS: Semantics = Semantics {
    separator: ".",
    block_scoped: true,
    open_classes: true,
    closed_modules: false,
    last_definition_wins: false,
    fields_apart: true,
    prelude: "java.lang",
    call_member: None,
};

impl LanguageRules for Java {
    fn name(&self) -> &'static str {
        "Java"
    }

    fn grammar(&self, _path: &str) -> tree_sitter::Language {
        tree_sitter_java::LANGUAGE.into()
    }

    fn extract<'s>(&self, root: Node<'_>, _path: &str, facts: &mut Builder<'s>) {
        items::read(root, facts);
    }

    fn semantics(&self) -> &'static Semantics {
        &SEMANTICS
    }

    fn library(&self) -> &'static dyn Library {
        &library::JavaLibrary
    }

    fn place(&self, placement: &mut Placement<'_>) {
        place::place(placement);
    }

    fn imports_by_file(&self) -> bool {
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
    "package_declaration" => Package,
    "import_declaration" => Import,
    "module_declaration" => Module,
    "class_declaration" => Class,
    "interface_declaration" => Interface,
    "annotation_type_declaration" => AnnotationType,
    "annotation_type_element_declaration" => AnnotationElement,
    "enum_declaration" => Enum,
    "record_declaration" => Record,
    "enum_constant" => EnumConstant,
    "class_body" => ClassBody,
    "method_declaration" => Method,
    "constructor_declaration" => Constructor,
    "compact_constructor_declaration" => CompactConstructor,
    "field_declaration" => Field,
    "constant_declaration" => Constant,
    "variable_declarator" => Declarator,
    "local_variable_declaration" => LocalVariable,
    "modifiers" => Modifiers,
    "annotation" => Annotation,
    "marker_annotation" => MarkerAnnotation,
    "line_comment" => LineComment,
    "block_comment" => BlockComment,
    "string_literal" => String,
    "character_literal" => Character,
    "decimal_integer_literal" => Integer,
    "hex_integer_literal" => HexInteger,
    "decimal_floating_point_literal" => Float,
    "true" => True,
    "false" => False,
    "null_literal" => Null,
    "class_literal" => ClassLiteral,
    "method_invocation" => Call,
    "object_creation_expression" => New,
    "explicit_constructor_invocation" => ConstructorCall,
    "method_reference" => MethodReference,
    "field_access" => FieldAccess,
    "array_access" => ArrayAccess,
    "array_creation_expression" => ArrayCreation,
    "cast_expression" => Cast,
    "instanceof_expression" => InstanceOf,
    "ternary_expression" => Ternary,
    "binary_expression" => Binary,
    "unary_expression" => Unary,
    "update_expression" => Update,
    "assignment_expression" => Assignment,
    "switch_expression" => Switch,
    "parenthesized_expression" => Parenthesized,
    "lambda_expression" => Lambda,
    "inferred_parameters" => InferredParameters,
    "formal_parameters" => FormalParameters,
    "formal_parameter" => FormalParameter,
    "spread_parameter" => SpreadParameter,
    "identifier" => Identifier,
    "this" => This,
    "super" => Super,
    "type_identifier" => TypeIdentifier,
    "scoped_type_identifier" => ScopedType,
    "scoped_identifier" => ScopedIdentifier,
    "generic_type" => GenericType,
    "array_type" => ArrayType,
    "annotated_type" => AnnotatedType,
    "integral_type" => IntegralType,
    "floating_point_type" => FloatType,
    "boolean_type" => BooleanType,
    "void_type" => VoidType,
    "wildcard" => Wildcard,
    "type_arguments" => TypeArguments,
    "type_parameter" => TypeParameter,
    "type_bound" => TypeBound,
    "type_list" => TypeList,
    "asterisk" => Asterisk,
    "block" => Block,
    "constructor_body" => ConstructorBody,
    "for_statement" => For,
    "enhanced_for_statement" => ForEach,
    "catch_clause" => Catch,
    "catch_formal_parameter" => CatchParameter,
    "try_with_resources_statement" => TryResources,
    "resource" => Resource,
    "switch_rule" => SwitchRule,
    "switch_block" => SwitchBlock,
    "type_pattern" => TypePattern,
    "record_pattern_component" => RecordComponent,
    "labeled_statement" => Labeled,
    "break_statement" => Break,
    "continue_statement" => Continue,
}

fn kind(node: Node<'_>) -> K {
    static TABLE: OnceLock<KindTable<K>> = OnceLock::new();
    TABLE
        .get_or_init(|| KindTable::new(&tree_sitter_java::LANGUAGE.into(), KINDS, K::Other))
        .of(node, K::Other)
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|n| !matches!(kind(*n), K::LineComment | K::BlockComment))
        .collect()
}
