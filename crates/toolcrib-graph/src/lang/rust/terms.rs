//! Rust expressions and types as terms.

use tree_sitter::Node;

use super::{K, kind};
use crate::facts::{Builder, ListRange, Term, TermId};
use crate::lang::terms::{MAX_DEPTH, Memo, Remembers};

pub(super) use crate::lang::terms::{builtin, builtin_value};

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

    /// What a call calls: after a dot, a method.
    pub(super) fn callee<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let known = self.memo.get(node).is_some();
        let term = self.expr(b, node);
        if known {
            return term;
        }
        let term = match b.term_of(term) {
            Term::Member(base, name) if kind(node) == K::FieldExpression => {
                b.term(Term::Method(base, name))
            }
            Term::Apply(inner, args) => match b.term_of(inner) {
                Term::Member(base, name)
                    if node
                        .child_by_field_name("function")
                        .is_some_and(|f| kind(f) == K::FieldExpression) =>
                {
                    let method = b.term(Term::Method(base, name));
                    b.term(Term::Apply(method, args))
                }
                _ => term,
            },
            _ => term,
        };
        self.memo.set(node, term);
        term
    }

    /// Forgets what belongs to a tree that is about to be dropped.
    pub(super) fn forget(&mut self) {
        self.memo.forget();
    }

    fn expr_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::Identifier => self.name(b, node),
            K::SelfValue => b.term(Term::This),
            K::ScopedIdentifier | K::Crate | K::Super => self.path(b, node),
            K::GenericFunction => {
                let Some(function) = node.child_by_field_name("function") else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, function);
                self.applied(b, base, node)
            }
            K::FieldExpression => {
                let (Some(value), Some(field)) = (
                    node.child_by_field_name("value"),
                    node.child_by_field_name("field"),
                ) else {
                    return TermId::UNKNOWN;
                };
                let base = self.expr(b, value);
                if kind(field) == K::IntegerLiteral {
                    let place = b.text(field).parse().unwrap_or(u8::MAX);
                    return b.term(Term::Part(base, place));
                }
                let name = b.node_name(field);
                b.term(Term::Member(base, name))
            }
            K::Call => {
                let Some(function) = node.child_by_field_name("function") else {
                    return TermId::UNKNOWN;
                };
                let callee = self.callee(b, function);
                let args = self.arguments(b, node);
                b.term(Term::Call(callee, args))
            }
            K::MacroInvocation => self.macro_value(b, node),
            K::ReferenceExpression => self.field(b, node, "value"),
            K::Parenthesized | K::Unary => self.first(b, node),
            K::Try => {
                let inner = self.first(b, node);
                b.term(Term::Unwrap(inner))
            }
            K::Await => {
                let inner = self.first(b, node);
                b.term(Term::Await(inner))
            }
            K::Index => {
                let is_range = node
                    .named_child(1)
                    .is_some_and(|index| kind(index) == K::Range);
                let inner = self.first(b, node);
                if is_range {
                    return inner;
                }
                b.term(Term::Index(inner))
            }
            K::StructExpression => match node.child_by_field_name("name") {
                Some(name) => {
                    let ty = self.ty(b, name);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            },
            K::Cast => match node.child_by_field_name("type") {
                Some(ty) => {
                    let ty = self.ty(b, ty);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            },
            K::TupleExpression => {
                let list = self.children(b, node, Self::expr);
                b.term(Term::Tuple(list))
            }
            K::UnitExpression => b.term(Term::Tuple(ListRange::default())),
            K::ArrayExpression => {
                let element = self.first(b, node);
                let ty = builtin(b, "array");
                let args = b.list(&[element]);
                let ty = b.term(Term::Apply(ty, args));
                b.term(Term::Inst(ty))
            }
            K::Closure => self.closure(b, node),
            K::If => {
                let mut branches = Vec::new();
                if let Some(then) = node.child_by_field_name("consequence") {
                    branches.push(self.expr(b, then));
                }
                if let Some(other) = node.child_by_field_name("alternative") {
                    branches.push(self.first(b, other));
                }
                self.either(b, &branches)
            }
            K::Match => {
                let Some(body) = node.child_by_field_name("body") else {
                    return TermId::UNKNOWN;
                };
                let mut branches = Vec::new();
                let mut cursor = body.walk();
                for arm in body.named_children(&mut cursor).take(8) {
                    if let Some(value) = arm.child_by_field_name("value") {
                        branches.push(self.expr(b, value));
                    }
                }
                self.either(b, &branches)
            }
            K::Block => self.block(b, node),
            K::UnsafeBlock | K::AsyncBlock | K::ConstBlock => self.first(b, node),
            K::StringLiteral | K::RawString => builtin_value(b, "str"),
            K::CharLiteral => builtin_value(b, "char"),
            K::IntegerLiteral => builtin_value(b, "i32"),
            K::FloatLiteral => builtin_value(b, "f64"),
            K::BoolLiteral => builtin_value(b, "bool"),
            K::Range => builtin_value(b, "Range"),
            K::Binary => {
                let operator = node.child_by_field_name("operator");
                let logical = operator.is_some_and(|o| {
                    matches!(
                        o.kind(),
                        "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||"
                    )
                });
                if logical {
                    builtin_value(b, "bool")
                } else {
                    TermId::UNKNOWN
                }
            }
            _ => TermId::UNKNOWN,
        }
    }

    /// The type that a type node stands for.
    pub(super) fn ty<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.remembered(b, node, Self::ty_inner)
    }

    fn ty_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::TypeIdentifier | K::Identifier => self.name(b, node),
            K::PrimitiveType => {
                let sym = b.node_name(node);
                b.term(Term::Builtin(sym))
            }
            K::ScopedType | K::ScopedIdentifier => self.path(b, node),
            K::GenericType | K::GenericTurbofish => {
                let Some(ty) = node.child_by_field_name("type") else {
                    return TermId::UNKNOWN;
                };
                let base = self.ty(b, ty);
                self.applied(b, base, node)
            }
            K::ReferenceType | K::PointerType => match node.child_by_field_name("type") {
                Some(inner) => self.ty(b, inner),
                None => TermId::UNKNOWN,
            },
            K::TupleType => {
                let list = self.children(b, node, Self::ty);
                b.term(Term::Tuple(list))
            }
            K::UnitType => b.term(Term::Tuple(ListRange::default())),
            K::ArrayType => {
                let Some(element) = node.child_by_field_name("element") else {
                    return TermId::UNKNOWN;
                };
                let element = self.ty(b, element);
                let ty = builtin(b, "array");
                let args = b.list(&[element]);
                b.term(Term::Apply(ty, args))
            }
            K::DynamicType | K::AbstractType => match node.child_by_field_name("trait") {
                Some(inner) => self.ty(b, inner),
                None => TermId::UNKNOWN,
            },
            K::HigherRanked | K::QualifiedType => match node.child_by_field_name("type") {
                Some(inner) => self.ty(b, inner),
                None => TermId::UNKNOWN,
            },
            K::BoundedType | K::BracketedType | K::TraitBounds => {
                let mut cursor = node.walk();
                let first = node
                    .named_children(&mut cursor)
                    .find(|child| kind(*child) != K::Lifetime);
                match first {
                    Some(inner) => self.ty(b, inner),
                    None => TermId::UNKNOWN,
                }
            }
            K::FunctionType => {
                let result = match node.child_by_field_name("return_type") {
                    Some(ty) => self.ty(b, ty),
                    None => TermId::UNKNOWN,
                };
                b.term(Term::FnType(result))
            }
            K::TypeBinding => match node.child_by_field_name("type") {
                Some(inner) => self.ty(b, inner),
                None => TermId::UNKNOWN,
            },
            _ => TermId::UNKNOWN,
        }
    }

    fn name<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        if b.text(node) == "Self" {
            return b.term(Term::ThisType);
        }
        let sym = b.node_name(node);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }

    /// `a::b::C`, with generic arguments on any part.
    fn path<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let at = node.start_byte() as u32;
        match kind(node) {
            K::ScopedIdentifier | K::ScopedType => {
                let Some(name) = node.child_by_field_name("name") else {
                    return TermId::UNKNOWN;
                };
                let sym = b.node_name(name);
                match node.child_by_field_name("path") {
                    // `::name` starts at the crates.
                    None => b.term(Term::Name(sym, at)),
                    Some(path) => {
                        let base = self.bounded(b, path, MAX_DEPTH, Self::path);
                        b.term(Term::Member(base, sym))
                    }
                }
            }
            K::Identifier | K::TypeIdentifier => self.name(b, node),
            K::SelfValue => {
                let sym = b.owned_name("self");
                b.term(Term::Name(sym, at))
            }
            K::Super => {
                let sym = b.owned_name("super");
                b.term(Term::Name(sym, at))
            }
            K::Crate => {
                let sym = b.owned_name("crate");
                b.term(Term::Name(sym, at))
            }
            K::Metavariable => {
                let text = b.text(node);
                if text == "$crate" {
                    let sym = b.owned_name("crate");
                    b.term(Term::Name(sym, at))
                } else {
                    TermId::UNKNOWN
                }
            }
            _ => self.ty(b, node),
        }
    }

    fn applied<'s>(&mut self, b: &mut Builder<'s>, base: TermId, node: Node<'_>) -> TermId {
        let Some(arguments) = node.child_by_field_name("type_arguments") else {
            return base;
        };
        let mut args = Vec::new();
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor) {
            if kind(argument) != K::Lifetime && args.len() < MAX_ARGUMENTS {
                args.push(self.ty(b, argument));
            }
        }
        let args = b.list(&args);
        b.term(Term::Apply(base, args))
    }

    fn arguments<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> ListRange {
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return ListRange::default();
        };
        let mut args = Vec::new();
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor) {
            if matches!(
                kind(argument),
                K::LineComment | K::BlockComment | K::Attribute
            ) {
                continue;
            }
            if args.len() >= MAX_ARGUMENTS {
                break;
            }
            args.push(self.expr(b, argument));
        }
        b.list(&args)
    }

    fn closure<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let value = match node.child_by_field_name("return_type") {
            Some(ty) => {
                let ty = self.ty(b, ty);
                b.term(Term::Inst(ty))
            }
            None => self.field(b, node, "body"),
        };
        b.term(Term::Closure(value))
    }

    fn block<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let count = node.named_child_count() as u32;
        let Some(last) = (0..count)
            .rev()
            .filter_map(|i| node.named_child(i))
            .find(|n| !matches!(kind(*n), K::LineComment | K::BlockComment))
        else {
            return b.term(Term::Tuple(ListRange::default()));
        };
        if kind(last) == K::ExpressionStatement {
            // `if`, `match` and blocks at the end are statements to the grammar.
            let ends_open = !b.text(last).ends_with(';');
            if ends_open {
                return self.first(b, last);
            }
            return TermId::UNKNOWN;
        }
        self.expr(b, last)
    }

    fn either<'s>(&mut self, b: &mut Builder<'s>, branches: &[TermId]) -> TermId {
        let known: Vec<TermId> = branches.iter().copied().filter(|t| t.is_known()).collect();
        match known.as_slice() {
            [] => TermId::UNKNOWN,
            [one] => *one,
            _ => {
                let list = b.list(&known);
                b.term(Term::Either(list))
            }
        }
    }

    fn field<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>, name: &str) -> TermId {
        match node.child_by_field_name(name) {
            Some(inner) => self.expr(b, inner),
            None => TermId::UNKNOWN,
        }
    }

    fn first<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let mut cursor = node.walk();
        let first = node
            .named_children(&mut cursor)
            .find(|n| !matches!(kind(*n), K::LineComment | K::BlockComment | K::Label));
        match first {
            Some(inner) => self.expr(b, inner),
            None => TermId::UNKNOWN,
        }
    }

    fn children<'s>(
        &mut self,
        b: &mut Builder<'s>,
        node: Node<'_>,
        read: impl Fn(&mut Self, &mut Builder<'s>, Node<'_>) -> TermId,
    ) -> ListRange {
        let mut terms = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).take(12) {
            if !matches!(kind(child), K::LineComment | K::BlockComment | K::Attribute) {
                terms.push(read(self, b, child));
            }
        }
        b.list(&terms)
    }

    fn macro_value<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(name) = node.child_by_field_name("macro") else {
            return TermId::UNKNOWN;
        };
        let text = b.text(name);
        match text.rsplit("::").next().unwrap_or(text) {
            "format" | "concat" | "stringify" | "include_str" | "env" => {
                builtin_value(b, if text == "format" { "String" } else { "str" })
            }
            "vec" => builtin_value(b, "Vec"),
            "matches" | "cfg" => builtin_value(b, "bool"),
            _ => TermId::UNKNOWN,
        }
    }
}
