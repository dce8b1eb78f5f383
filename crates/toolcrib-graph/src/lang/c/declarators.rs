//! What a declarator declares: a name, and whether it is a function's.

use tree_sitter::Node;

use super::items::Reader;
use super::terms::children;
use super::{K, Kinds};

/// A declarator taken apart.
pub(in crate::lang) struct Declared<'t> {
    /// The node of the name, a qualified one included.
    pub(in crate::lang) name: Node<'t>,
    /// The innermost function declarator.
    pub(in crate::lang) function: Option<Node<'t>>,
    /// The function is reached through a pointer: a variable that can be called.
    pub(in crate::lang) is_pointer: bool,
}

impl Declared<'_> {
    pub(in crate::lang) fn is_function(&self) -> bool {
        self.function.is_some() && !self.is_pointer
    }
}

/// Follows a declarator down to its name; `None` for abstract ones.
pub(in crate::lang) fn declared<'t>(kinds: Kinds, node: Node<'t>) -> Option<Declared<'t>> {
    let mut function = None;
    let mut is_pointer = false;
    let mut node = node;
    loop {
        match kinds.of(node) {
            K::FunctionDeclarator => {
                function = Some(node);
                is_pointer = false;
                node = node.child_by_field_name("declarator")?;
            }
            K::PointerDeclarator | K::PointerTypeDeclarator | K::ArrayDeclarator => {
                is_pointer |= function.is_some();
                node = node.child_by_field_name("declarator")?;
            }
            K::ReferenceDeclarator => {
                is_pointer |= function.is_some();
                node = inner(kinds, node)?;
            }
            K::InitDeclarator => node = node.child_by_field_name("declarator")?,
            K::AttributedDeclarator | K::ParenthesizedDeclarator | K::VariadicDeclarator => {
                node = inner(kinds, node)?;
            }
            K::Identifier
            | K::FieldIdentifier
            | K::TypeIdentifier
            | K::Primitive
            | K::Qualified
            | K::Destructor
            | K::Operator
            | K::OperatorCast
            | K::TemplateFunction
            | K::TemplateMethod
            | K::TemplateType
            | K::StructuredBinding => {
                return Some(Declared {
                    name: node,
                    function,
                    is_pointer,
                });
            }
            _ => return None,
        }
    }
}

fn inner<'t>(kinds: Kinds, node: Node<'t>) -> Option<Node<'t>> {
    children(kinds, node).into_iter().find(|n| {
        !matches!(
            kinds.of(*n),
            K::Attribute | K::AttributeDeclaration | K::Qualifier | K::Other
        )
    })
}

impl<'s> Reader<'_, 's> {
    /// The plain text of a declared name, without what qualifies it.
    pub(in crate::lang) fn plain_name(&self, node: Node<'_>) -> String {
        let mut node = node;
        loop {
            match self.kind(node) {
                K::Qualified => match node.child_by_field_name("name") {
                    Some(name) => node = name,
                    None => return String::new(),
                },
                K::TemplateFunction | K::TemplateMethod => match node.child_by_field_name("name") {
                    Some(name) => node = name,
                    None => return String::new(),
                },
                K::DependentName => match children(self.kinds, node).first() {
                    Some(name) => node = *name,
                    None => return String::new(),
                },
                K::TemplateType | K::Destructor => {
                    return self.b.text(node).split_whitespace().collect();
                }
                K::Operator => {
                    let text = self.b.text(node);
                    let sign = text.trim_start_matches("operator").trim();
                    let is_word = sign.starts_with(|c: char| c.is_ascii_alphabetic());
                    let sign: String = sign.split_whitespace().collect();
                    let gap = if is_word { " " } else { "" };
                    return format!("operator{gap}{sign}");
                }
                K::OperatorCast => {
                    let ty = node
                        .child_by_field_name("type")
                        .map_or("", |ty| self.b.text(ty));
                    return format!("operator {}", ty.trim());
                }
                _ => return self.b.text(node).trim().to_string(),
            }
        }
    }
}
