//! Call sites, and functions that are given to fields.

use tree_sitter::Node;

use super::K;
use super::items::Reader;
use super::terms::children;
use crate::facts::{Term, TermId};

/// Names bound last that a name is looked for among.
const MAX_LOCALS: usize = 400;

impl<'s> Reader<'_, 's> {
    pub(super) fn call(&mut self, node: Node<'_>) {
        let Some(function) = node.child_by_field_name("function") else {
            return;
        };
        let callee = if self.kind(function) == K::Primitive {
            self.terms.ty(self.b, function)
        } else {
            self.terms.expr(self.b, function)
        };
        let callee = match self.b.term_of(callee) {
            Term::Either(list) if self.kind(function) == K::FieldAccess => self.b.first_of(list),
            _ => callee,
        };
        let mut plain = function;
        for _ in 0..64 {
            let inner = match self.kind(plain) {
                K::Parenthesized => children(self.kinds, plain).first().copied(),
                K::Pointer => plain.child_by_field_name("argument"),
                K::FieldAccess => plain.child_by_field_name("field"),
                K::Qualified | K::TemplateFunction | K::TemplateMethod => {
                    plain.child_by_field_name("name")
                }
                K::DependentName => children(self.kinds, plain).first().copied(),
                _ => None,
            };
            match inner {
                Some(inner) => plain = inner,
                None => break,
            }
        }
        let sym = match self.kind(plain) {
            K::Identifier
            | K::FieldIdentifier
            | K::TypeIdentifier
            | K::Primitive
            | K::Destructor
            | K::Operator => {
                let name = self.plain_name(plain);
                self.b.owned_name(&name)
            }
            _ => self.b.owned_name(""),
        };
        self.b.call(node, function, sym, callee);
        self.count_arguments(node);
        if self.is_cpp
            && self.kind(function) == K::Identifier
            && let Some(list) = node.child_by_field_name("arguments")
        {
            let mut args = Vec::new();
            for argument in children(self.kinds, list).into_iter().take(4) {
                args.push(self.terms.expr(self.b, argument));
            }
            self.b.passes(&args);
        }
    }

    /// Arguments are counted where the source says how many there are.
    fn count_arguments(&mut self, node: Node<'_>) {
        if let Some(list) = node.child_by_field_name("arguments") {
            self.count_list(list);
        }
    }

    fn count_list(&mut self, list: Node<'_>) {
        let given = children(self.kinds, list);
        let unsure = given.iter().any(|n| {
            matches!(
                self.kind(*n),
                K::PackExpansion | K::PreprocIf | K::PreprocIfdef | K::Define
            ) || n.is_error()
        });
        if !unsure && !list.has_error() {
            self.b.given(given.len());
        }
    }

    /// `T x(…);`, `T x{…};` and, where a name is taken for a parameter, `T x(y);`
    pub(super) fn made_by(&mut self, ty: Option<Node<'_>>, declarator: Node<'_>) {
        let list = match self.kind(declarator) {
            // `T x;`
            K::Identifier => {
                if let Some(ty) = ty
                    && self.made(declarator, ty, None)
                {
                    self.b.implied();
                }
                return;
            }
            K::InitDeclarator => declarator.child_by_field_name("value"),
            K::FunctionDeclarator if self.passes_names(declarator) => {
                declarator.child_by_field_name("parameters")
            }
            _ => None,
        };
        let is_list = |list: &Node<'_>| match self.kind(*list) {
            K::Arguments | K::ParameterList => true,
            // Braces after `=` fill a value.
            K::Braces => list
                .prev_sibling()
                .is_none_or(|before| before.kind() != "="),
            _ => false,
        };
        if let (Some(ty), Some(list)) = (ty, list.filter(is_list))
            && declarator
                .child_by_field_name("declarator")
                .is_some_and(|d| self.kind(d) == K::Identifier)
        {
            self.made(declarator, ty, Some(list));
        }
    }

    /// `: Base(…), member{…}`
    pub(super) fn initialiser(&mut self, node: Node<'_>) {
        let parts = children(self.kinds, node);
        let (Some(name), Some(list)) = (parts.first(), parts.last()) else {
            return;
        };
        let last = name.child_by_field_name("name").unwrap_or(*name);
        let term = match self.kind(*name) {
            K::Qualified => self.terms.path(self.b, *name),
            _ => {
                let sym = self.b.node_name(last);
                self.b.term(Term::Name(sym, last.start_byte() as u32))
            }
        };
        let text = self.plain_name(*name);
        let text = text.split('<').next().unwrap_or_default().to_string();
        let sym = self.b.owned_name(&text);
        self.b
            .call_spanning(node, name.start_byte(), name.end_byte(), sym, term);
        self.b.implied();
        if matches!(self.kind(*list), K::Arguments | K::Braces) {
            self.count_list(*list);
        }
    }

    /// `T{…}`
    pub(super) fn literal(&mut self, node: Node<'_>) {
        if let (true, Some(ty), Some(list)) = (
            self.is_cpp,
            node.child_by_field_name("type"),
            node.child_by_field_name("value"),
        ) {
            self.made(node, ty, Some(list));
        }
    }

    /// Whether a class can be of that name, and so something is made.
    fn made(&mut self, node: Node<'_>, ty: Node<'_>, list: Option<Node<'_>>) -> bool {
        if !matches!(
            self.kind(ty),
            K::TypeIdentifier | K::Identifier | K::Qualified | K::TemplateType
        ) {
            return false;
        }
        self.constructs(node, ty.start_byte(), ty);
        match list {
            Some(list) => self.count_list(list),
            None => self.b.given(0),
        }
        true
    }

    /// A call at `node` of the constructor of `ty`, which is said from byte `from` on.
    fn constructs(&mut self, node: Node<'_>, from: usize, ty: Node<'_>) {
        let term = self.terms.ty(self.b, ty);
        let name = self.plain_name(ty);
        let name = name.split('<').next().unwrap_or_default().to_string();
        let sym = self.b.owned_name(&name);
        self.b.call_spanning(node, from, ty.end_byte(), sym, term);
    }

    /// Whether what looks like the parameters of a prototype are names that the
    /// function around has bound.
    fn passes_names(&self, declarator: Node<'_>) -> bool {
        let Some(list) = declarator.child_by_field_name("parameters") else {
            return false;
        };
        let scope = self.b.scope();
        let parts = children(self.kinds, list);
        !parts.is_empty()
            && parts.iter().all(|part| {
                let Some(ty) = part.child_by_field_name("type") else {
                    return false;
                };
                let text = self.b.text(ty);
                self.kind(ty) == K::TypeIdentifier
                    && part.child_by_field_name("declarator").is_none()
                    && self
                        .b
                        .locals()
                        .iter()
                        .rev()
                        .take(MAX_LOCALS)
                        .any(|l| l.scope == scope && self.b.sym_text(l.name) == text)
            })
    }

    /// `new T(…)`
    pub(super) fn creation(&mut self, node: Node<'_>) {
        let Some(ty) = node.child_by_field_name("type") else {
            return;
        };
        self.constructs(node, node.start_byte(), ty);
        if node.child_by_field_name("declarator").is_none() {
            match node.child_by_field_name("arguments") {
                Some(_) => self.count_arguments(node),
                None => self.b.given(0),
            }
        }
    }

    /// `x->f = function;`
    pub(super) fn assigned(&mut self, node: Node<'_>) {
        let (Some(left), Some(right)) = (
            node.child_by_field_name("left"),
            node.child_by_field_name("right"),
        ) else {
            return;
        };
        if self.kind(left) != K::FieldAccess {
            return;
        }
        if let Some(value) = self.function_name(right) {
            let target = self.terms.expr(self.b, left);
            self.b.assigned(target, value);
        }
    }

    /// `.f = function` in the braces of a type that is known.
    pub(super) fn paired(&mut self, node: Node<'_>) {
        let Some(ty) = self.braces.get(&node.id()).copied() else {
            return;
        };
        let mut cursor = node.walk();
        let designators: Vec<Node<'_>> = node
            .children_by_field_name("designator", &mut cursor)
            .collect();
        let [designator] = designators.as_slice() else {
            return;
        };
        if self.kind(*designator) != K::FieldDesignator {
            return;
        }
        let (Some(name), Some(value)) =
            (designator.named_child(0), node.child_by_field_name("value"))
        else {
            return;
        };
        if let Some(value) = self.function_name(value) {
            let base = self.b.term(Term::Inst(ty));
            let sym = self.b.node_name(name);
            let target = self.b.term(Term::Member(base, sym));
            self.b.assigned(target, value);
        }
    }

    /// A name that may be a function's.
    fn function_name(&mut self, node: Node<'_>) -> Option<TermId> {
        let inner = match self.kind(node) {
            K::Pointer => node.child_by_field_name("argument")?,
            _ => node,
        };
        matches!(self.kind(inner), K::Identifier | K::Qualified)
            .then(|| self.terms.expr(self.b, inner))
    }

    /// Notes the type of the braces that a declarator is given.
    pub(super) fn note_braces(&mut self, declarator: Node<'_>, ty: TermId) {
        let Some(value) = declarator.child_by_field_name("value") else {
            return;
        };
        if self.kind(value) != K::Braces || !ty.is_known() {
            return;
        }
        for (place, part) in children(self.kinds, value).into_iter().enumerate() {
            match self.kind(part) {
                K::Pair => {
                    self.braces.insert(part.id(), ty);
                    // An element of an array.
                    if let Some(inner) = part.child_by_field_name("value")
                        && self.kind(inner) == K::Braces
                        && part
                            .child_by_field_name("designator")
                            .is_some_and(|d| self.kind(d) != K::FieldDesignator)
                    {
                        self.pairs_of(inner, ty);
                    }
                }
                K::Braces => self.pairs_of(part, ty),
                _ => {
                    if let Some(value) = self.function_name(part) {
                        self.b.placed(ty, place, value);
                    }
                }
            }
        }
    }

    fn pairs_of(&mut self, braces: Node<'_>, ty: TermId) {
        let fields = children(self.kinds, braces);
        for (place, part) in fields.into_iter().enumerate() {
            if self.kind(part) == K::Pair {
                self.braces.insert(part.id(), ty);
            } else if let Some(value) = self.function_name(part) {
                self.b.placed(ty, place, value);
            }
        }
    }
}
