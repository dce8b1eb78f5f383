//! Python expressions and annotations as terms.

use tree_sitter::Node;

use super::{K, annotation, kind};
use crate::facts::{Builder, Term, TermId};
use crate::lang::terms::{MAX_DEPTH, Memo, Remembers};

pub(super) use crate::lang::terms::{builtin, builtin_value, collection, either};

/// Arguments beyond these are not looked at.
const MAX_ARGUMENTS: usize = 4;

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

    /// The type that an annotation stands for.
    pub(super) fn ty<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        if matches!(kind(node), K::Type) {
            return match node.named_child(0) {
                Some(inner) => self.ty(b, inner),
                None => TermId::UNKNOWN,
            };
        }
        self.bounded(b, node, MAX_DEPTH, Self::ty_inner)
    }

    fn expr_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::Identifier => self.name(b, node),
            K::Attribute => {
                let (Some(object), Some(name)) = (
                    node.child_by_field_name("object"),
                    node.child_by_field_name("attribute"),
                ) else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, object);
                let name = b.node_name(name);
                b.term(Term::Member(base, name))
            }
            K::Call => self.call(b, node),
            K::Subscript => {
                let Some(value) = node.child_by_field_name("value") else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, value);
                let is_slice = node
                    .child_by_field_name("subscript")
                    .is_some_and(|s| kind(s) == K::Slice);
                if is_slice {
                    return base;
                }
                let mut args = Vec::new();
                let mut cursor = node.walk();
                for arg in node
                    .children_by_field_name("subscript", &mut cursor)
                    .take(4)
                {
                    args.push(self.ty(b, arg));
                }
                let index = b.term(Term::Index(base));
                // Which of the two it is depends on what the base turns out to be.
                let list = b.list(&args);
                let applied = b.term(Term::Apply(base, list));
                let both = b.list(&[index, applied]);
                b.term(Term::Either(both))
            }
            K::Await => {
                let inner = self.first(b, node);
                b.term(Term::Await(inner))
            }
            K::Parenthesized | K::ExpressionStatement => self.first(b, node),
            K::Named => match node.child_by_field_name("value") {
                Some(value) => self.expr(b, value),
                None => TermId::UNKNOWN,
            },
            K::Conditional => {
                let mut terms = Vec::new();
                for i in [0, 2] {
                    if let Some(branch) = node.named_child(i) {
                        terms.push(self.expr(b, branch));
                    }
                }
                either(b, &terms)
            }
            K::BooleanOperator => {
                let mut terms = Vec::new();
                for side in ["left", "right"] {
                    if let Some(branch) = node.child_by_field_name(side) {
                        terms.push(self.expr(b, branch));
                    }
                }
                either(b, &terms)
            }
            K::Lambda => {
                let value = match node.child_by_field_name("body") {
                    Some(body) => self.expr(b, body),
                    None => TermId::UNKNOWN,
                };
                b.term(Term::Closure(value))
            }
            K::Tuple | K::ExpressionList => {
                let mut terms = Vec::new();
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor).take(12) {
                    terms.push(self.expr(b, child));
                }
                let list = b.list(&terms);
                b.term(Term::Tuple(list))
            }
            K::List | K::Set => {
                let element = self.first(b, node);
                let name = if kind(node) == K::List { "list" } else { "set" };
                collection(b, name, &[element])
            }
            K::ListComprehension | K::SetComprehension | K::Generator => {
                let element = match node.child_by_field_name("body") {
                    Some(body) => self.expr(b, body),
                    None => TermId::UNKNOWN,
                };
                let name = match kind(node) {
                    K::ListComprehension => "list",
                    K::SetComprehension => "set",
                    _ => "Generator",
                };
                collection(b, name, &[element])
            }
            K::Dictionary | K::DictComprehension => {
                let pair = if kind(node) == K::Dictionary {
                    node.named_child(0)
                } else {
                    node.child_by_field_name("body")
                };
                let mut sides = [TermId::UNKNOWN; 2];
                if let Some(pair) = pair.filter(|p| kind(*p) == K::Pair) {
                    for (side, name) in sides.iter_mut().zip(["key", "value"]) {
                        if let Some(inner) = pair.child_by_field_name(name) {
                            *side = self.expr(b, inner);
                        }
                    }
                }
                collection(b, "dict", &sides)
            }
            K::String => {
                let bytes = b.text(node);
                let mark = bytes.find(['"', '\'']).unwrap_or(0);
                let is_bytes = bytes[..mark].contains(['b', 'B']);
                builtin_value(b, if is_bytes { "bytes" } else { "str" })
            }
            K::ConcatenatedString => builtin_value(b, "str"),
            K::Integer => builtin_value(b, "int"),
            K::Float => builtin_value(b, "float"),
            K::True | K::False | K::Comparison | K::Not => builtin_value(b, "bool"),
            K::None => builtin_value(b, "None"),
            K::BinaryOperator => {
                let left = node.child_by_field_name("left");
                match left.map(kind) {
                    Some(K::String | K::ConcatenatedString) => builtin_value(b, "str"),
                    _ if node
                        .child_by_field_name("operator")
                        .is_some_and(|o| o.kind() == "|") =>
                    {
                        // A union of types written as a value.
                        let mut terms = Vec::new();
                        for side in ["left", "right"] {
                            if let Some(side) = node.child_by_field_name(side) {
                                terms.push(self.expr(b, side));
                            }
                        }
                        either(b, &terms)
                    }
                    _ => TermId::UNKNOWN,
                }
            }
            _ => TermId::UNKNOWN,
        }
    }

    fn call<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let (Some(function), Some(arguments)) = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        ) else {
            return TermId::UNKNOWN;
        };
        let text = b.text(function);
        if text == "super" {
            return b.term(Term::Super);
        }
        let last = text.rsplit('.').next().unwrap_or(text);
        if last == "cast"
            && let Some(ty) = arguments.named_child(0)
        {
            let ty = self.ty(b, ty);
            return b.term(Term::Inst(ty));
        }
        if last == "TypeVar" {
            return self.bound(b, arguments);
        }
        let callee = self.expr(b, function);
        let mut args = Vec::new();
        if kind(arguments) == K::Generator {
            args.push(self.expr(b, arguments));
        } else {
            let mut cursor = arguments.walk();
            for argument in arguments.named_children(&mut cursor) {
                if matches!(kind(argument), K::KeywordArgument | K::Comment) {
                    continue;
                }
                if args.len() >= MAX_ARGUMENTS {
                    break;
                }
                args.push(self.expr(b, argument));
            }
        }
        let args = b.list(&args);
        b.term(Term::Call(callee, args))
    }

    /// A type variable stands for its bound.
    fn bound<'s>(&mut self, b: &mut Builder<'s>, arguments: Node<'_>) -> TermId {
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor) {
            let is_bound = kind(argument) == K::KeywordArgument
                && argument
                    .child_by_field_name("name")
                    .is_some_and(|name| b.text(name) == "bound");
            if is_bound && let Some(value) = argument.child_by_field_name("value") {
                return self.ty(b, value);
            }
        }
        TermId::UNKNOWN
    }

    fn ty_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::Identifier => self.name(b, node),
            K::None => builtin(b, "None"),
            K::Attribute => self.expr(b, node),
            K::MemberType => {
                let (Some(base), Some(name)) = (node.named_child(0), node.named_child(1)) else {
                    return TermId::UNKNOWN;
                };
                let base = self.ty(b, base);
                let name = b.node_name(name);
                b.term(Term::Member(base, name))
            }
            K::String => {
                let text = b.text(node);
                annotation::read(b, text, node.start_byte() as u32)
            }
            K::Subscript => {
                let Some(value) = node.child_by_field_name("value") else {
                    return TermId::UNKNOWN;
                };
                let base = self.ty(b, value);
                if b.text(value).ends_with("Literal") {
                    return TermId::UNKNOWN;
                }
                let mut args = Vec::new();
                let mut cursor = node.walk();
                for arg in node
                    .children_by_field_name("subscript", &mut cursor)
                    .take(8)
                {
                    args.push(self.ty(b, arg));
                }
                let list = b.list(&args);
                b.term(Term::Apply(base, list))
            }
            K::GenericType => {
                let Some(base) = node.named_child(0) else {
                    return TermId::UNKNOWN;
                };
                if b.text(base) == "Literal" {
                    return TermId::UNKNOWN;
                }
                let base = self.ty(b, base);
                let mut args = Vec::new();
                if let Some(list) = node.named_child(1) {
                    let mut cursor = list.walk();
                    for arg in list.named_children(&mut cursor).take(8) {
                        args.push(self.ty(b, arg));
                    }
                }
                let list = b.list(&args);
                b.term(Term::Apply(base, list))
            }
            K::BinaryOperator | K::UnionType => {
                let mut terms = Vec::new();
                let mut cursor = node.walk();
                for side in node.named_children(&mut cursor) {
                    terms.push(self.ty(b, side));
                }
                either(b, &terms)
            }
            K::List | K::Tuple => {
                let mut terms = Vec::new();
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor).take(8) {
                    terms.push(self.ty(b, child));
                }
                let list = b.list(&terms);
                b.term(Term::Tuple(list))
            }
            K::Parenthesized | K::Type | K::ConstrainedType | K::SplatType => {
                match node.named_child(0) {
                    Some(inner) => self.ty(b, inner),
                    None => TermId::UNKNOWN,
                }
            }
            _ => TermId::UNKNOWN,
        }
    }

    fn name<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let sym = b.node_name(node);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }

    fn first<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let mut cursor = node.walk();
        let first = node
            .named_children(&mut cursor)
            .find(|child| kind(*child) != K::Comment);
        match first {
            Some(inner) => self.expr(b, inner),
            None => TermId::UNKNOWN,
        }
    }
}
