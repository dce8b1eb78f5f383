//! Type annotations as terms.

use tree_sitter::Node;

use super::K;
use super::terms::{Terms, builtin, either};
use crate::facts::{Builder, Term, TermId};
use crate::lang::terms::Remembers;

/// Types nested deeper than this are unknown.
const MAX_DEPTH: u32 = 48;
/// Arguments beyond these are not looked at.
const MAX_ARGUMENTS: usize = 8;

impl Terms {
    /// The type that an annotation stands for.
    pub(super) fn ty<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.bounded(b, node, MAX_DEPTH, Self::ty_inner)
    }

    /// A value of the type in a field of a node, unknown when there is none.
    pub(super) fn declared<'s>(
        &mut self,
        b: &mut Builder<'s>,
        node: Node<'_>,
        field: &str,
    ) -> TermId {
        match node.child_by_field_name(field) {
            Some(ty) => self.ty(b, ty),
            None => TermId::UNKNOWN,
        }
    }

    fn ty_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match self.kinds.of(node) {
            K::Annotation
            | K::OptionalAnnotation
            | K::ParenthesizedType
            | K::ReadonlyType
            | K::OptionalType
            | K::RestType
            | K::Constraint => self.first_ty(b, node),
            K::TypeName | K::Identifier => self.name(b, node),
            K::NestedType | K::NestedName | K::Member => self.nested(b, node),
            K::Generic => self.generic(b, node),
            K::Union | K::Intersection => {
                let mut terms = Vec::new();
                let mut cursor = node.walk();
                for side in node.named_children(&mut cursor).take(MAX_ARGUMENTS) {
                    let term = self.ty(b, side);
                    if term.is_known() {
                        terms.push(term);
                    }
                }
                either(b, &terms)
            }
            K::ArrayType => {
                let element = self.first_ty(b, node);
                let base = builtin(b, "Array");
                let list = b.list(&[element]);
                b.term(Term::Apply(base, list))
            }
            K::TupleType => {
                let mut terms = Vec::new();
                let mut cursor = node.walk();
                for part in node.named_children(&mut cursor).take(MAX_ARGUMENTS) {
                    let term = match part.child_by_field_name("type") {
                        Some(ty) => self.ty(b, ty),
                        None => self.ty(b, part),
                    };
                    terms.push(term);
                }
                let list = b.list(&terms);
                b.term(Term::Tuple(list))
            }
            K::FunctionType => {
                let result = self.declared(b, node, "return_type");
                b.term(Term::FnType(result))
            }
            K::ThisType => b.term(Term::ThisType),
            K::Predefined => match b.text(node) {
                "string" => builtin(b, "String"),
                "number" => builtin(b, "Number"),
                "boolean" => builtin(b, "Boolean"),
                "symbol" | "bigint" => builtin(b, "Symbol"),
                _ => TermId::UNKNOWN,
            },
            K::LiteralType => match node.named_child(0).map(|inner| self.kinds.of(inner)) {
                Some(K::String) => builtin(b, "String"),
                Some(K::Number | K::Unary) => builtin(b, "Number"),
                Some(K::True | K::False) => builtin(b, "Boolean"),
                _ => TermId::UNKNOWN,
            },
            K::TypeQuery => {
                // The type of a class is not the type of its instances.
                let Some(inner) = node.named_child(0) else {
                    return TermId::UNKNOWN;
                };
                let text = b.text(inner);
                let last = text.rsplit('.').next().unwrap_or(text);
                if last.starts_with(char::is_uppercase) {
                    return TermId::UNKNOWN;
                }
                self.expr(b, inner)
            }
            K::ConditionalType => {
                let mut terms = Vec::new();
                for field in ["consequence", "alternative"] {
                    let term = self.declared(b, node, field);
                    if term.is_known() {
                        terms.push(term);
                    }
                }
                either(b, &terms)
            }
            K::LookupType => {
                let (Some(base), Some(key)) = (node.named_child(0), node.named_child(1)) else {
                    return TermId::UNKNOWN;
                };
                let text = b.text(key);
                let name = text.trim_matches(['"', '\'']);
                if name.len() + 2 != text.len() {
                    return TermId::UNKNOWN;
                }
                let base = self.ty(b, base);
                let base = b.term(Term::Inst(base));
                let name = b.owned_name(name);
                b.term(Term::Member(base, name))
            }
            _ => TermId::UNKNOWN,
        }
    }

    fn nested<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let mut cursor = node.walk();
        let mut parts = node.named_children(&mut cursor);
        let (Some(base), Some(name)) = (parts.next(), parts.next()) else {
            return TermId::UNKNOWN;
        };
        let base = self.ty(b, base);
        let name = b.node_name(name);
        b.term(Term::Member(base, name))
    }

    fn generic<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(name) = node.child_by_field_name("name") else {
            return TermId::UNKNOWN;
        };
        let base = self.ty(b, name);
        let args = self.type_arguments(b, node);
        let list = b.list(&args);
        b.term(Term::Apply(base, list))
    }

    /// What stands between the angle brackets of a node.
    pub(super) fn type_arguments<'s>(
        &mut self,
        b: &mut Builder<'s>,
        node: Node<'_>,
    ) -> Vec<TermId> {
        let mut args = Vec::new();
        if let Some(list) = node.child_by_field_name("type_arguments") {
            let mut cursor = list.walk();
            for arg in list.named_children(&mut cursor).take(MAX_ARGUMENTS) {
                args.push(self.ty(b, arg));
            }
        }
        args
    }

    fn first_ty<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let mut cursor = node.walk();
        let first = node
            .named_children(&mut cursor)
            .find(|child| self.kinds.of(*child) != K::Comment);
        match first {
            Some(inner) => self.ty(b, inner),
            None => TermId::UNKNOWN,
        }
    }
}
