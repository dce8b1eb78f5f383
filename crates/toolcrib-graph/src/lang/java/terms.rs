//! Java expressions and types as terms.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::items::last_name;
use super::{K, children, kind};
use crate::facts::{Builder, Sym, Term, TermId};
use crate::lang::terms::{MAX_DEPTH, Memo, Remembers};

pub(super) use crate::lang::terms::either;

/// Arguments beyond these are not looked at.
const MAX_ARGUMENTS: usize = 16;

/// Builds terms and remembers them by node, so that a chain costs its length.
#[derive(Default)]
pub(super) struct Terms {
    memo: Memo,
    /// Numbers of anonymous classes, by their bodies.
    anonymous: FxHashMap<usize, usize>,
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

    /// What a method invocation calls. A bare name is a member of the classes
    /// around it, of what they extend, or imported.
    pub(super) fn callee<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(name) = node.child_by_field_name("name") else {
            return TermId::UNKNOWN;
        };
        let sym = b.node_name(name);
        let base = match node.child_by_field_name("object") {
            // `Outer.super.method()`
            Some(_) if has_super(node) => b.term(Term::Super),
            Some(object) => {
                let base = self.expr(b, object);
                if !base.is_known() {
                    return TermId::UNKNOWN;
                }
                base
            }
            None => TermId::UNKNOWN,
        };
        b.term(Term::Method(base, sym))
    }

    /// The name of an anonymous class, by its body.
    pub(super) fn anonymous(&mut self, body: Node<'_>) -> String {
        let next = self.anonymous.len() + 1;
        format!("${}", self.anonymous.entry(body.id()).or_insert(next))
    }

    /// The constructors of a type, and the type for when it declares none.
    pub(super) fn constructor(&mut self, b: &mut Builder<'_>, ty: TermId, name: Sym) -> TermId {
        if !ty.is_known() {
            return TermId::UNKNOWN;
        }
        let constructor = b.term(Term::Method(ty, name));
        let both = b.list(&[constructor, ty]);
        b.term(Term::Either(both))
    }

    pub(super) fn builtin(&mut self, b: &mut Builder<'_>, name: &str) -> TermId {
        let sym = b.owned_name(name);
        b.term(Term::Builtin(sym))
    }

    pub(super) fn array(&mut self, b: &mut Builder<'_>, element: TermId) -> TermId {
        self.apply(b, "[]", &[element])
    }

    fn apply(&mut self, b: &mut Builder<'_>, name: &str, args: &[TermId]) -> TermId {
        let base = self.builtin(b, name);
        let list = b.list(args);
        b.term(Term::Apply(base, list))
    }

    fn value(&mut self, b: &mut Builder<'_>, name: &str) -> TermId {
        let ty = self.builtin(b, name);
        b.term(Term::Inst(ty))
    }

    fn expr_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::Identifier => self.name(b, node),
            K::This => b.term(Term::This),
            K::Super => b.term(Term::Super),
            K::FieldAccess => self.field_access(b, node),
            K::Call => {
                let callee = self.callee(b, node);
                let mut args = Vec::new();
                if let Some(list) = node.child_by_field_name("arguments") {
                    for argument in children(list).into_iter().take(MAX_ARGUMENTS) {
                        args.push(self.expr(b, argument));
                    }
                }
                if !callee.is_known() {
                    return TermId::UNKNOWN;
                }
                let args = b.list(&args);
                b.term(Term::Call(callee, args))
            }
            K::New if let Some(body) = overriding(node) => {
                let name = self.anonymous(body);
                let sym = b.owned_name(&name);
                let ty = b.term(Term::Name(sym, body.start_byte() as u32));
                b.term(Term::Inst(ty))
            }
            K::New | K::Cast => match node.child_by_field_name("type") {
                Some(ty) => {
                    let ty = self.ty(b, ty);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            },
            K::ArrayCreation => match node.child_by_field_name("type") {
                Some(ty) => {
                    let ty = self.ty(b, ty);
                    let array = self.array(b, ty);
                    b.term(Term::Inst(array))
                }
                None => TermId::UNKNOWN,
            },
            K::ArrayAccess => match node.child_by_field_name("array") {
                Some(array) => {
                    let base = self.expr(b, array);
                    b.term(Term::Index(base))
                }
                None => TermId::UNKNOWN,
            },
            K::MethodReference => self.reference(b, node),
            K::Lambda => {
                let body = node.child_by_field_name("body");
                let value = match body.filter(|body| kind(*body) != K::Block) {
                    Some(body) => self.expr(b, body),
                    None => TermId::UNKNOWN,
                };
                b.term(Term::Closure(value))
            }
            K::Parenthesized => match children(node).first() {
                Some(inner) => self.expr(b, *inner),
                None => TermId::UNKNOWN,
            },
            K::Assignment => match node.child_by_field_name("left") {
                Some(left) => self.expr(b, left),
                None => TermId::UNKNOWN,
            },
            K::Ternary => {
                let mut terms = Vec::new();
                for field in ["consequence", "alternative"] {
                    if let Some(branch) = node.child_by_field_name(field) {
                        terms.push(self.expr(b, branch));
                    }
                }
                either(b, &terms)
            }
            K::Binary => {
                let operator = node.child_by_field_name("operator").map(|o| o.kind());
                let sides = ["left", "right"].map(|side| node.child_by_field_name(side));
                match operator {
                    Some("+") if sides.iter().flatten().any(|s| kind(*s) == K::String) => {
                        self.value(b, "String")
                    }
                    Some("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") => {
                        self.value(b, "boolean")
                    }
                    _ => match sides[0] {
                        Some(left) => self.expr(b, left),
                        None => TermId::UNKNOWN,
                    },
                }
            }
            K::InstanceOf => self.value(b, "boolean"),
            K::Unary => match node.child_by_field_name("operand") {
                Some(operand) => self.expr(b, operand),
                None => TermId::UNKNOWN,
            },
            K::ClassLiteral => {
                let ty = match children(node).first() {
                    Some(ty) => self.ty(b, *ty),
                    None => TermId::UNKNOWN,
                };
                let class = self.apply(b, "Class", &[ty]);
                b.term(Term::Inst(class))
            }
            K::String => self.value(b, "String"),
            K::Integer | K::HexInteger => self.value(b, "int"),
            K::Float => self.value(b, "double"),
            K::Character => self.value(b, "char"),
            K::True | K::False => self.value(b, "boolean"),
            K::TypeIdentifier | K::ScopedType | K::GenericType | K::ArrayType => self.ty(b, node),
            _ => TermId::UNKNOWN,
        }
    }

    fn field_access<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let (Some(object), Some(field)) = (
            node.child_by_field_name("object"),
            node.child_by_field_name("field"),
        ) else {
            return TermId::UNKNOWN;
        };
        if kind(field) == K::This {
            // `Outer.this`
            let ty = self.expr(b, object);
            return b.term(Term::Inst(ty));
        }
        let sym = b.node_name(field);
        // `java.util.List` as part of an expression.
        let is_package = b.text(field).starts_with(char::is_uppercase)
            && kind(object) == K::FieldAccess
            && is_package_name(b.text(object));
        let base = if is_package {
            self.package(b, object)
        } else {
            self.expr(b, object)
        };
        if !base.is_known() {
            return TermId::UNKNOWN;
        }
        b.term(Term::Member(base, sym))
    }

    /// `Type::method`, `value::method`, `Type::new`, as what calling it gives.
    fn reference<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let parts = children(node);
        let Some(first) = parts.first() else {
            return TermId::UNKNOWN;
        };
        let base = self.expr(b, *first);
        if !base.is_known() {
            return TermId::UNKNOWN;
        }
        let is_new = b.text(node).ends_with("new");
        let name = parts.last().filter(|n| n.id() != first.id());
        let result = match name.filter(|n| kind(**n) == K::Identifier && !is_new) {
            Some(name) => {
                let sym = b.node_name(*name);
                let callee = b.term(Term::Method(base, sym));
                let none = b.list(&[]);
                b.term(Term::Call(callee, none))
            }
            None => b.term(Term::Inst(base)),
        };
        b.term(Term::Closure(result))
    }

    fn ty_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match kind(node) {
            K::TypeIdentifier | K::Identifier => self.name(b, node),
            K::ScopedType => {
                let parts = children(node);
                let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
                    return TermId::UNKNOWN;
                };
                let base = if is_package_name(b.text(*first)) {
                    self.package(b, *first)
                } else {
                    self.ty(b, *first)
                };
                if first.id() == last.id() || !base.is_known() {
                    return base;
                }
                let name = b.node_name(*last);
                b.term(Term::Member(base, name))
            }
            K::GenericType => {
                let parts = children(node);
                let Some(first) = parts.first() else {
                    return TermId::UNKNOWN;
                };
                let base = self.ty(b, *first);
                let mut args = Vec::new();
                if let Some(list) = parts.iter().find(|n| kind(**n) == K::TypeArguments) {
                    for argument in children(*list).into_iter().take(8) {
                        args.push(self.ty(b, argument));
                    }
                }
                let list = b.list(&args);
                b.term(Term::Apply(base, list))
            }
            // `? extends T` gives a `T`.
            K::Wildcard => match children(node).last() {
                Some(bound) => self.ty(b, *bound),
                None => TermId::UNKNOWN,
            },
            K::ArrayType => match node.child_by_field_name("element") {
                Some(element) => {
                    let element = self.ty(b, element);
                    self.array(b, element)
                }
                None => TermId::UNKNOWN,
            },
            K::AnnotatedType => match last_name(node) {
                Some(_) => match children(node).last() {
                    Some(inner) => self.ty(b, *inner),
                    None => TermId::UNKNOWN,
                },
                None => TermId::UNKNOWN,
            },
            K::IntegralType | K::FloatType | K::BooleanType => {
                let name = b.text(node).to_string();
                self.builtin(b, &name)
            }
            _ => TermId::UNKNOWN,
        }
    }

    /// A package, whose name is one.
    fn package<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let text: String = b.text(node).split_whitespace().collect();
        let sym = b.owned_name(&text);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }

    fn name<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let sym = b.node_name(node);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }
}

/// The body after a `new` that has methods of its own.
fn overriding(node: Node<'_>) -> Option<Node<'_>> {
    let body = children(node)
        .into_iter()
        .find(|n| kind(*n) == K::ClassBody)?;
    children(body)
        .iter()
        .any(|n| kind(*n) == K::Method)
        .then_some(body)
}

fn has_super(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|n| kind(n) == K::Super)
}

/// Whether a dotted text is a package by convention: no part has a capital.
fn is_package_name(text: &str) -> bool {
    text.len() < 200
        && text.contains('.')
        && text
            .bytes()
            .all(|c| c == b'.' || c == b'_' || c.is_ascii_lowercase() || c.is_ascii_digit())
}
