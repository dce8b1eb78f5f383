//! Names that parameters, statements and closures bind.

use tree_sitter::Node;

use super::docs::is_comment;
use super::items::Reader;
use super::{K, kind};
use crate::facts::{Term, TermId};

impl<'s> Reader<'_, 's> {
    pub(super) fn block_end(&self) -> u32 {
        self.blocks
            .last()
            .copied()
            .unwrap_or(self.b.source.len() as u32)
    }

    /// Binds parameters and named results for the extent of a function.
    pub(super) fn parameters(&mut self, node: Node<'_>) {
        for field in ["parameters", "result"] {
            let Some(list) = node.child_by_field_name(field) else {
                continue;
            };
            if kind(list) != K::ParameterList {
                continue;
            }
            let mut place = 0;
            let mut cursor = list.walk();
            for parameter in list.named_children(&mut cursor) {
                let Some(written) = parameter.child_by_field_name("type") else {
                    continue;
                };
                let mut ty = self.terms.ty(self.b, written);
                if kind(parameter) == K::VariadicParameter {
                    ty = self.terms.apply_builtin(self.b, "[]", &[ty]);
                }
                let value = self.b.term(Term::Inst(ty));
                let mut names = parameter.walk();
                for name in parameter.children_by_field_name("name", &mut names) {
                    let sym = self.b.node_name(name);
                    let at = list.start_byte() as u32;
                    self.b.local(sym, at, node.end_byte() as u32, value);
                    if field == "parameters" {
                        self.routes_parameter(node, sym, written, place);
                    }
                    place += 1;
                }
            }
        }
    }

    pub(super) fn closure(&mut self, node: Node<'_>) {
        self.blocks.push(node.end_byte() as u32);
        self.parameters(node);
    }

    pub(super) fn short_var(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let names = children(left);
        let values = children(right);
        let until = self.block_end();
        for (i, name) in names.iter().enumerate() {
            if kind(*name) != K::Identifier || self.b.text(*name) == "_" {
                continue;
            }
            let value = self.value_at(&values, i, names.len());
            let sym = self.b.node_name(*name);
            self.b.local(sym, node.end_byte() as u32, until, value);
            if let (Some(value), true) = (values.get(i), values.len() == names.len()) {
                self.routes_assigned(*name, *value, until);
            }
        }
    }

    /// `server.router = …` and `router = …`.
    pub(super) fn field_given(&mut self, node: Node<'_>) {
        if let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) && let ([name], [value]) = (children(left).as_slice(), children(right).as_slice())
            && kind(*name) == K::Selector
        {
            self.routes_assigned(*name, *value, u32::MAX);
        }
    }

    pub(super) fn range(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let source = self.terms.expr(self.b, right);
        let range = self.b.owned_name("range");
        let until = self.block_end();
        for (i, name) in children(left).into_iter().enumerate().take(2) {
            if kind(name) != K::Identifier {
                continue;
            }
            let value = if i == 0 {
                self.b.term(Term::Passed(source, range, 0))
            } else {
                self.b.term(Term::Each(source))
            };
            let sym = self.b.node_name(name);
            self.b.local(sym, node.end_byte() as u32, until, value);
        }
    }

    pub(super) fn receive(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        let value = self.terms.expr(self.b, right);
        let until = self.block_end();
        if let Some(name) = children(left)
            .first()
            .filter(|n| kind(**n) == K::Identifier)
        {
            let sym = self.b.node_name(*name);
            self.b.local(sym, node.end_byte() as u32, until, value);
        }
    }

    pub(super) fn type_switch(&mut self, node: Node<'_>) {
        let (Some(alias), Some(value)) = (
            node.child_by_field_name("alias"),
            node.child_by_field_name("value"),
        ) else {
            return;
        };
        let Some(name) = alias.named_child(0) else {
            return;
        };
        let sym = self.b.node_name(name);
        let value = self.terms.expr(self.b, value);
        if let Some(last) = self.switches.last_mut() {
            last.0 = Some((sym, value));
        }
    }

    /// In a case of one type the name has that type, else what it had.
    pub(super) fn type_case(&mut self, node: Node<'_>) {
        let Some((Some((sym, value)), _)) = self.switches.last().copied() else {
            return;
        };
        let mut cursor = node.walk();
        let types: Vec<Node<'_>> = node
            .children_by_field_name("type", &mut cursor)
            .filter(|n| n.is_named())
            .collect();
        let value = match types.as_slice() {
            [one] => {
                let ty = self.terms.ty(self.b, *one);
                self.b.term(Term::Inst(ty))
            }
            _ => value,
        };
        let (at, until) = (node.start_byte() as u32, node.end_byte() as u32);
        self.b.local(sym, at, until, value);
    }

    /// Notes what the braces that follow hold.
    pub(super) fn composite(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        self.literal = match kind(ty) {
            K::StructType => Literal::Unknown,
            K::MapType | K::SliceType | K::ArrayType | K::ImplicitArray => {
                let field = if kind(ty) == K::MapType {
                    "value"
                } else {
                    "element"
                };
                match ty.child_by_field_name(field) {
                    Some(element) if is_named_type(element) => {
                        Literal::Elements(self.terms.ty(self.b, element))
                    }
                    _ => Literal::Elements(TermId::UNKNOWN),
                }
            }
            _ => Literal::Struct(self.terms.ty(self.b, ty)),
        };
    }

    pub(super) fn braces(&mut self, node: Node<'_>) {
        let literal = match std::mem::take(&mut self.literal) {
            Literal::None => match self.literals.last() {
                Some((Literal::Elements(ty), _)) if ty.is_known() => Literal::Struct(*ty),
                _ => Literal::Unknown,
            },
            literal => literal,
        };
        self.literals.push((literal, node.end_byte() as u32));
    }

    /// The keys of struct literals are fields, those of maps are expressions.
    pub(super) fn keyed(&mut self, node: Node<'_>) {
        let Some(key) = node.child_by_field_name("key") else {
            return;
        };
        let Some(name) = key.named_child(0).filter(|n| kind(*n) == K::Identifier) else {
            return;
        };
        match self.literals.last() {
            Some((Literal::Struct(ty), _)) => {
                let value = self.b.term(Term::Inst(*ty));
                let sym = self.b.node_name(name);
                let member = self.b.term(Term::Member(value, sym));
                self.b.mention(member, name.start_position().row as u32 + 1);
            }
            Some((Literal::Elements(_), _)) => return,
            _ => {}
        }
        self.callee = name.id();
    }
}

/// What the braces of a literal hold.
#[derive(Clone, Copy, Default)]
pub(super) enum Literal {
    #[default]
    None,
    Unknown,
    /// Fields of this type.
    Struct(TermId),
    /// Elements of this type, when it has a name.
    Elements(TermId),
}

fn is_named_type(ty: Node<'_>) -> bool {
    matches!(
        kind(ty),
        K::TypeIdentifier | K::QualifiedType | K::GenericType | K::PointerType
    )
}

pub(super) fn children<'t>(list: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = list.walk();
    list.named_children(&mut cursor)
        .filter(|n| !is_comment(*n))
        .collect()
}
