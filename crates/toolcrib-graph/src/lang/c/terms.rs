//! Expressions and types of C and C++ as terms.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::declarators::declared;
use super::{K, Kinds};
use crate::facts::{Builder, Sym, Term, TermId};
use crate::lang::terms::{MAX_DEPTH, Memo, Remembers};

/// Arguments beyond these are not looked at.
const MAX_ARGUMENTS: usize = 16;
/// Parts of a qualified name beyond these are not looked at.
const MAX_PARTS: usize = 24;

/// Children that are not comments.
pub(in crate::lang) fn children<'t>(kinds: Kinds, node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .filter(|n| kinds.of(*n) != K::Comment)
        .collect()
}

/// Builds terms and remembers them by node, so that a chain costs its length.
pub(in crate::lang) struct Terms {
    kinds: Kinds,
    is_cpp: bool,
    memo: Memo,
    /// Names given to types that have none, by their node.
    pub(super) unnamed: FxHashMap<usize, Sym>,
    /// Names declared last as an array or a pointer, whose index is plain.
    pub(super) plain: FxHashSet<Sym>,
}

impl Remembers for Terms {
    fn memo(&mut self) -> &mut Memo {
        &mut self.memo
    }
}

impl Terms {
    pub(super) fn new(kinds: Kinds, is_cpp: bool) -> Self {
        Terms {
            kinds,
            is_cpp,
            memo: Memo::default(),
            unnamed: FxHashMap::default(),
            plain: FxHashSet::default(),
        }
    }

    /// The value of an expression.
    pub(in crate::lang) fn expr<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.remembered(b, node, Self::expr_inner)
    }

    /// A type as it is written, without pointers and references.
    pub(in crate::lang) fn ty<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        self.bounded(b, node, MAX_DEPTH, Self::ty_inner)
    }

    pub(in crate::lang) fn builtin(&mut self, b: &mut Builder<'_>, name: &str) -> TermId {
        let sym = b.owned_name(name);
        b.term(Term::Builtin(sym))
    }

    fn value(&mut self, b: &mut Builder<'_>, name: &str) -> TermId {
        let ty = self.builtin(b, name);
        b.term(Term::Inst(ty))
    }

    pub(in crate::lang) fn name<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let sym = b.node_name(node);
        b.term(Term::Name(sym, node.start_byte() as u32))
    }

    /// A type, or what a function of it gives when the declarator makes it one.
    pub(in crate::lang) fn declared_type<'s>(
        &mut self,
        b: &mut Builder<'s>,
        ty: Node<'_>,
        declarator: Option<Node<'_>>,
    ) -> TermId {
        let term = self.ty(b, ty);
        let makes_function = declarator.is_some_and(|d| match declared(self.kinds, d) {
            Some(found) => found.function.is_some(),
            None => has_function(self.kinds, d),
        });
        if makes_function {
            b.term(Term::FnType(term))
        } else {
            term
        }
    }

    /// Notes whether a declarator makes its name an array or a pointer.
    pub(super) fn note_plain(&mut self, name: Sym, declarator: Node<'_>) {
        let mut node = declarator;
        if self.kinds.of(node) == K::InitDeclarator
            && let Some(inner) = node.child_by_field_name("declarator")
        {
            node = inner;
        }
        if matches!(
            self.kinds.of(node),
            K::PointerDeclarator | K::ArrayDeclarator
        ) {
            self.plain.insert(name);
        } else {
            self.plain.remove(&name);
        }
    }

    fn expr_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match self.kinds.of(node) {
            K::Identifier | K::NamespaceIdentifier => self.name(b, node),
            K::Qualified => self.path(b, node),
            K::TemplateFunction => self.applied(b, node),
            K::This => b.term(Term::This),
            K::FieldAccess => self.member(b, node),
            K::Call => self.call(b, node),
            K::New => match node.child_by_field_name("type") {
                Some(ty) => {
                    let ty = self.ty(b, ty);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            },
            K::Cast | K::CompoundLiteral => match node.child_by_field_name("type") {
                Some(ty) => {
                    let ty = self.ty(b, ty);
                    b.term(Term::Inst(ty))
                }
                None => TermId::UNKNOWN,
            },
            K::Subscript => {
                let base = self.field(b, node, "argument");
                let is_plain = match b.term_of(base) {
                    Term::Name(sym, _) | Term::Member(_, sym) => self.plain.contains(&sym),
                    _ => false,
                };
                if !base.is_known() || is_plain {
                    return base;
                }
                b.term(Term::Index(base))
            }
            K::Pointer => {
                let base = self.field(b, node, "argument");
                let takes = node
                    .child_by_field_name("operator")
                    .is_some_and(|o| o.kind() == "*");
                if takes && self.is_cpp && base.is_known() {
                    b.term(Term::Unwrap(base))
                } else {
                    base
                }
            }
            K::Parenthesized => match children(self.kinds, node).first() {
                Some(inner) => self.expr(b, *inner),
                None => TermId::UNKNOWN,
            },
            K::Assignment => self.field(b, node, "left"),
            K::Update => self.field(b, node, "argument"),
            K::Comma => self.field(b, node, "right"),
            K::Conditional => {
                let mut terms = Vec::new();
                for name in ["consequence", "alternative"] {
                    let term = self.field(b, node, name);
                    if term.is_known() {
                        terms.push(term);
                    }
                }
                either(b, &terms)
            }
            K::Binary => {
                let operator = node.child_by_field_name("operator").map(|o| o.kind());
                match operator {
                    Some("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") => {
                        self.value(b, "bool")
                    }
                    _ => self.field(b, node, "left"),
                }
            }
            K::Unary => {
                let operator = node.child_by_field_name("operator").map(|o| o.kind());
                match operator {
                    Some("!" | "not") => self.value(b, "bool"),
                    _ => self.field(b, node, "argument"),
                }
            }
            K::CoAwait => {
                let base = self.field(b, node, "argument");
                b.term(Term::Await(base))
            }
            K::Lambda => {
                let result = node
                    .child_by_field_name("declarator")
                    .and_then(|d| self.trailing(b, d))
                    .unwrap_or(TermId::UNKNOWN);
                b.term(Term::FnType(result))
            }
            K::String | K::RawString | K::Concatenated | K::Char => self.value(b, "char"),
            K::Number => self.value(b, "int"),
            K::True | K::False => self.value(b, "bool"),
            K::TypeIdentifier | K::TemplateType | K::Primitive | K::Sized | K::Descriptor => {
                self.ty(b, node)
            }
            _ => TermId::UNKNOWN,
        }
    }

    /// The result type after `->`.
    pub(in crate::lang) fn trailing<'s>(
        &mut self,
        b: &mut Builder<'s>,
        declarator: Node<'_>,
    ) -> Option<TermId> {
        let part = children(self.kinds, declarator)
            .into_iter()
            .find(|n| self.kinds.of(*n) == K::TrailingReturn)?;
        let ty = part.named_child(0)?;
        Some(self.ty(b, ty))
    }

    fn field<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>, name: &str) -> TermId {
        match node.child_by_field_name(name) {
            Some(inner) => self.expr(b, inner),
            None => TermId::UNKNOWN,
        }
    }

    fn call<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(function) = node.child_by_field_name("function") else {
            return TermId::UNKNOWN;
        };
        if self.kinds.of(function) == K::TemplateFunction
            && let Some(name) = function.child_by_field_name("name")
            && b.text(name).ends_with("_cast")
            && let Some(ty) = self.first_argument(function)
        {
            let ty = self.ty(b, ty);
            return b.term(Term::Inst(ty));
        }
        let callee = self.expr(b, function);
        let mut args = Vec::new();
        if let Some(list) = node.child_by_field_name("arguments") {
            for argument in children(self.kinds, list).into_iter().take(MAX_ARGUMENTS) {
                args.push(self.expr(b, argument));
            }
        }
        if !callee.is_known() {
            return callee;
        }
        let args = b.list(&args);
        b.term(Term::Call(callee, args))
    }

    fn first_argument<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        let list = node.child_by_field_name("arguments")?;
        children(self.kinds, list).into_iter().next()
    }

    fn member<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let (Some(base), Some(field)) = (
            node.child_by_field_name("argument"),
            node.child_by_field_name("field"),
        ) else {
            return TermId::UNKNOWN;
        };
        let mut term = self.expr(b, base);
        if !term.is_known() {
            return term;
        }
        let arrow = node
            .child_by_field_name("operator")
            .is_some_and(|o| o.kind() == "->");
        if arrow && self.is_cpp && self.kinds.of(base) != K::This {
            term = b.term(Term::Unwrap(term));
        }
        let mut name = field;
        loop {
            match self.kinds.of(name) {
                // `p->Base::f()` names the class.
                K::Qualified => return self.path(b, name),
                K::TemplateMethod => match name.child_by_field_name("name") {
                    Some(inner) => name = inner,
                    None => return TermId::UNKNOWN,
                },
                K::DependentName => match children(self.kinds, name).first() {
                    Some(inner) => name = *inner,
                    None => return TermId::UNKNOWN,
                },
                _ => break,
            }
        }
        let sym = b.node_name(name);
        let member = b.term(Term::Member(term, sym));
        let place = match b.text(name) {
            "first" if self.is_cpp => 0,
            "second" if self.is_cpp => 1,
            _ => return member,
        };
        let part = b.term(Term::Part(term, place));
        either(b, &[member, part])
    }

    /// `a::b::c`; a leading `::` begins at the outermost namespace.
    pub(in crate::lang) fn path<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let mut term: Option<TermId> = None;
        let mut node = node;
        for _ in 0..MAX_PARTS {
            if self.kinds.of(node) != K::Qualified {
                return self.part_of_path(b, term, node);
            }
            match node.child_by_field_name("scope") {
                Some(scope) => {
                    let base = self.part_of_path(b, term, scope);
                    if !base.is_known() {
                        return base;
                    }
                    term = Some(base);
                }
                None => {
                    let sym = b.owned_name("::");
                    term = Some(b.term(Term::Name(sym, node.start_byte() as u32)));
                }
            }
            match node.child_by_field_name("name") {
                Some(name) => node = name,
                None => return TermId::UNKNOWN,
            }
        }
        TermId::UNKNOWN
    }

    fn part_of_path<'s>(
        &mut self,
        b: &mut Builder<'s>,
        base: Option<TermId>,
        node: Node<'_>,
    ) -> TermId {
        let mut name = node;
        let mut args = None;
        loop {
            match self.kinds.of(name) {
                K::TemplateType | K::TemplateFunction | K::TemplateMethod => {
                    args = name.child_by_field_name("arguments");
                    match name.child_by_field_name("name") {
                        Some(inner) => name = inner,
                        None => return TermId::UNKNOWN,
                    }
                }
                K::DependentName => match children(self.kinds, name).first() {
                    Some(inner) => name = *inner,
                    None => return TermId::UNKNOWN,
                },
                K::Decltype => return TermId::UNKNOWN,
                _ => break,
            }
        }
        let text = b.text(name);
        let sym = if self.kinds.of(name) == K::Operator || text.contains(char::is_whitespace) {
            let text: String = text.split_whitespace().collect();
            b.owned_name(&text)
        } else {
            b.name(text)
        };
        let term = match base {
            Some(base) => b.term(Term::Member(base, sym)),
            // Before `::` only types and namespaces are meant, no local.
            None => b.term(Term::Name(sym, 0)),
        };
        self.with_arguments(b, term, args)
    }

    fn with_arguments<'s>(
        &mut self,
        b: &mut Builder<'s>,
        term: TermId,
        args: Option<Node<'_>>,
    ) -> TermId {
        let Some(list) = args else { return term };
        let mut terms = Vec::new();
        for argument in children(self.kinds, list).into_iter().take(8) {
            terms.push(self.ty(b, argument));
        }
        let list = b.list(&terms);
        b.term(Term::Apply(term, list))
    }

    fn applied<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        let Some(name) = node.child_by_field_name("name") else {
            return TermId::UNKNOWN;
        };
        let base = self.name(b, name);
        self.with_arguments(b, base, node.child_by_field_name("arguments"))
    }

    fn ty_inner<'s>(&mut self, b: &mut Builder<'s>, node: Node<'_>) -> TermId {
        match self.kinds.of(node) {
            K::TypeIdentifier | K::Identifier => self.name(b, node),
            K::Qualified => self.path(b, node),
            K::TemplateType => self.applied(b, node),
            K::Struct | K::Union | K::Class | K::Enum => match node.child_by_field_name("name") {
                Some(name) => self.ty(b, name),
                None => match self.unnamed.get(&node.id()).copied() {
                    Some(sym) => b.term(Term::Name(sym, node.start_byte() as u32)),
                    None => TermId::UNKNOWN,
                },
            },
            K::Primitive => {
                let text = b.text(node).to_string();
                self.builtin(b, &text)
            }
            K::Sized => self.builtin(b, "int"),
            K::Descriptor => match node.child_by_field_name("type") {
                Some(ty) => self.declared_type(b, ty, node.child_by_field_name("declarator")),
                None => TermId::UNKNOWN,
            },
            K::DependentType => match children(self.kinds, node).first() {
                Some(inner) => self.ty(b, *inner),
                None => TermId::UNKNOWN,
            },
            K::Decltype => TermId::UNKNOWN,
            _ => TermId::UNKNOWN,
        }
    }
}

/// Whether an abstract declarator makes a function of its type.
fn has_function(kinds: Kinds, node: Node<'_>) -> bool {
    let mut node = node;
    loop {
        if matches!(kinds.of(node), K::AbstractFunction | K::FunctionDeclarator) {
            return true;
        }
        let inner = node.child_by_field_name("declarator").or_else(|| {
            (kinds.of(node) == K::AbstractParenthesized)
                .then(|| node.named_child(0))
                .flatten()
        });
        match inner {
            Some(inner) => node = inner,
            None => return false,
        }
    }
}

pub(in crate::lang) fn either(b: &mut Builder<'_>, terms: &[TermId]) -> TermId {
    match terms {
        [] => TermId::UNKNOWN,
        [one] => *one,
        _ => {
            let list = b.list(terms);
            b.term(Term::Either(list))
        }
    }
}
