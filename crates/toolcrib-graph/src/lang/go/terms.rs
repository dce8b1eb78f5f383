//! Go expressions and types as terms.

use tree_sitter::Node;

use super::bindings::children;
use super::{K, kind};
use crate::facts::{Builder, Term, TermId};
use crate::lang::terms::{MAX_DEPTH, Memo, Remembers};

pub(super) use crate::lang::terms::{builtin, builtin_value};

/// Arguments beyond these are not looked at.
const MAX_ARGUMENTS: usize = 6;

/// Builds terms and remembers them by node, so that a chain costs its length.
#[derive(Default)]
pub(super) struct Terms {
    memo: Memo,
}

impl Remembers for Terms {
    fn memo(&mut self) -> &mut Memo {
        &mut self.memo
    }
}

impl Terms {
    /// The value of an expression.
    pub(super) fn expr<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.remembered(b, node, Self::expr_inner)
    }

    /// A type as it is written.
    pub(super) fn ty<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.bounded(b, node, MAX_DEPTH, Self::ty_inner)
    }

    /// What a function gives: one type, or a tuple of several.
    pub(super) fn result<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        if kind(node) != K::ParameterList {
            return self.ty(b, node);
        }
        let mut parts = Vec::new();
        for parameter in children(node) {
            let Some(ty) = parameter.child_by_field_name("type") else {
                continue;
            };
            let ty = self.ty(b, ty);
            let mut cursor = parameter.walk();
            let count = parameter
                .children_by_field_name("name", &mut cursor)
                .filter(|n| n.is_named())
                .count();
            for _ in 0..count.clamp(1, 16) {
                parts.push(ty);
            }
        }
        match parts.as_slice() {
            [] => TermId::UNKNOWN,
            [one] => *one,
            _ => {
                let list = b.list(&parts);
                b.term(Term::Tuple(list))
            }
        }
    }

    pub(super) fn apply_builtin(
        &mut self,
        b: &mut Builder<'_>,
        name: &str,
        args: &[TermId],
    ) -> TermId {
        let base = builtin(b, name);
        let list = b.list(args);
        b.term(Term::Apply(base, list))
    }

    fn expr_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::Identifier => self.name(b, node),
            K::Selector => {
                let (Some(operand), Some(field)) = (
                    node.child_by_field_name("operand"),
                    node.child_by_field_name("field"),
                ) else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, operand);
                let name = b.node_name(field);
                b.term(Term::Member(base, name))
            }
            K::Call => self.call(b, node),
            K::Conversion | K::Composite | K::Assertion => match node.child_by_field_name("type") {
                Some(ty) => {
                    let ty = self.ty(b, ty);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            },
            K::Index => {
                let (Some(operand), Some(index)) = (
                    node.child_by_field_name("operand"),
                    node.child_by_field_name("index"),
                ) else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, operand);
                if names_type(b, index) {
                    let arg = self.ty(b, index);
                    let list = b.list(&[arg]);
                    return b.term(Term::Apply(base, list));
                }
                b.term(Term::Index(base))
            }
            K::Unary => {
                let Some(operand) = node.child_by_field_name("operand") else {
                    return TermId::UNKNOWN;
                };
                let operator = node.child_by_field_name("operator");
                let base = self.expr(b, operand);
                match operator.map(|o| o.kind()) {
                    Some("<-") => b.term(Term::Each(base)),
                    Some("!") => builtin_value(b, "bool"),
                    _ => base,
                }
            }
            K::Binary => {
                let operator = node.child_by_field_name("operator").map(|o| o.kind());
                match operator {
                    Some("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") => {
                        builtin_value(b, "bool")
                    }
                    _ => match node.child_by_field_name("left") {
                        Some(left) => self.expr(b, left),
                        None => TermId::UNKNOWN,
                    },
                }
            }
            K::Slice => match node.child_by_field_name("operand") {
                Some(operand) => self.expr(b, operand),
                None => TermId::UNKNOWN,
            },
            K::Parenthesized | K::VariadicArgument | K::LiteralElement => {
                match children(node).first() {
                    Some(inner) => self.expr(b, *inner),
                    None => TermId::UNKNOWN,
                }
            }
            K::FuncLiteral => {
                let result = match node.child_by_field_name("result") {
                    Some(result) => {
                        let ty = self.result(b, result);
                        b.term(Term::Inst(ty))
                    }
                    None => TermId::UNKNOWN,
                };
                b.term(Term::Closure(result))
            }
            K::Instantiation => {
                let Some(base) = node.child_by_field_name("type") else {
                    return TermId::UNKNOWN;
                };
                let term = self.ty(b, base);
                let mut args = Vec::new();
                for arg in children(node).into_iter().skip(1).take(8) {
                    args.push(self.ty(b, arg));
                }
                let list = b.list(&args);
                b.term(Term::Apply(term, list))
            }
            K::String | K::RawString => builtin_value(b, "string"),
            K::Int => builtin_value(b, "int"),
            K::Float => builtin_value(b, "float64"),
            K::Rune => builtin_value(b, "rune"),
            K::True | K::False => builtin_value(b, "bool"),
            // A type where a value is expected: an argument of `new`, a conversion.
            _ => self.ty(b, node),
        }
    }

    fn call<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return TermId::UNKNOWN;
        };
        let given = children(arguments);
        if matches!(b.text(function), "new" | "make") {
            return match given.first() {
                Some(ty) => {
                    let ty = self.ty(b, *ty);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            };
        }
        let mut callee = self.expr(b, function);
        let mut args = Vec::new();
        if let Some(list) = node.child_by_field_name("type_arguments") {
            for arg in children(list).into_iter().take(8) {
                args.push(self.ty(b, arg));
            }
            let list = b.list(&args);
            callee = b.term(Term::Apply(callee, list));
            args.clear();
        }
        for argument in given.into_iter().take(MAX_ARGUMENTS) {
            args.push(self.expr(b, argument));
        }
        let args = b.list(&args);
        b.term(Term::Call(callee, args))
    }

    fn ty_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::TypeIdentifier | K::Identifier => self.name(b, node),
            K::QualifiedType => {
                let (Some(package), Some(name)) = (
                    node.child_by_field_name("package"),
                    node.child_by_field_name("name"),
                ) else {
                    return TermId::UNKNOWN;
                };
                let base = self.name(b, package);
                let name = b.node_name(name);
                b.term(Term::Member(base, name))
            }
            K::Selector => self.expr(b, node),
            K::Unary => match node.child_by_field_name("operand") {
                Some(operand) => self.ty(b, operand),
                None => TermId::UNKNOWN,
            },
            K::PointerType
            | K::ParenthesizedType
            | K::Parenthesized
            | K::TypeElem
            | K::TypeConstraint => match children(node).as_slice() {
                [inner] => self.ty(b, *inner),
                _ => TermId::UNKNOWN,
            },
            K::SliceType | K::ArrayType | K::ImplicitArray => {
                let element = self.field(b, node, "element");
                self.apply_builtin(b, "[]", &[element])
            }
            K::MapType => {
                let sides = [self.field(b, node, "key"), self.field(b, node, "value")];
                self.apply_builtin(b, "map", &sides)
            }
            K::ChannelType => {
                let element = self.field(b, node, "value");
                self.apply_builtin(b, "chan", &[element])
            }
            K::GenericType => {
                let base = self.field(b, node, "type");
                let mut args = Vec::new();
                if let Some(list) = node.child_by_field_name("type_arguments") {
                    for arg in children(list).into_iter().take(8) {
                        args.push(self.ty(b, arg));
                    }
                }
                let list = b.list(&args);
                b.term(Term::Apply(base, list))
            }
            K::FunctionType => {
                let result = match node.child_by_field_name("result") {
                    Some(result) => self.result(b, result),
                    None => TermId::UNKNOWN,
                };
                b.term(Term::FnType(result))
            }
            _ => TermId::UNKNOWN,
        }
    }

    fn field<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>, name: &str) -> TermId {
        match node.child_by_field_name(name) {
            Some(inner) => self.ty(b, inner),
            None => TermId::UNKNOWN,
        }
    }

    fn name<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let sym = b.node_name(node);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }
}

/// Whether an index is a type argument rather than a value.
fn names_type(b: &Builder<'_>, index: Node<'_>) -> bool {
    match kind(index) {
        K::Identifier => super::library::is_type_name(b.text(index)),
        K::TypeIdentifier
        | K::QualifiedType
        | K::GenericType
        | K::PointerType
        | K::SliceType
        | K::ArrayType
        | K::MapType
        | K::FunctionType
        | K::InterfaceType
        | K::ChannelType => true,
        _ => false,
    }
}
