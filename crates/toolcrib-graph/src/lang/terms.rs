//! What the readers of expressions and types have in common.
//!
//! Each language says what one node means; remembering it, so that a chain of
//! calls costs its length, and giving up where nesting is deep, is the same for
//! all.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use crate::facts::{Builder, Term, TermId};

/// Expressions nested deeper than this are unknown.
pub(crate) const MAX_DEPTH: u32 = 96;

/// Terms by node, and how deep the reader is.
#[derive(Default)]
pub(crate) struct Memo {
    known: FxHashMap<usize, TermId>,
    depth: u32,
}

impl Memo {
    pub(crate) fn get(&self, node: Node<'_>) -> Option<TermId> {
        self.known.get(&node.id()).copied()
    }

    pub(crate) fn set(&mut self, node: Node<'_>, term: TermId) {
        self.known.insert(node.id(), term);
    }

    /// Nodes of another tree have the same numbers.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }
}

/// A reader with a memory.
pub(crate) trait Remembers: Sized {
    fn memo(&mut self) -> &mut Memo;

    /// The term of a node, read once.
    fn remembered<'s>(
        &mut self,
        b: &mut Builder<'s>,
        node: Node<'_>,
        read: impl FnOnce(&mut Self, &mut Builder<'s>, Node<'_>) -> TermId,
    ) -> TermId {
        if let Some(term) = self.memo().get(node) {
            return term;
        }
        if self.memo().depth >= MAX_DEPTH {
            return TermId::UNKNOWN;
        }
        let term = self.bounded(b, node, MAX_DEPTH, read);
        self.memo().set(node, term);
        term
    }

    /// The term of a node, unknown below a depth.
    fn bounded<'s>(
        &mut self,
        b: &mut Builder<'s>,
        node: Node<'_>,
        most: u32,
        read: impl FnOnce(&mut Self, &mut Builder<'s>, Node<'_>) -> TermId,
    ) -> TermId {
        if self.memo().depth >= most {
            return TermId::UNKNOWN;
        }
        self.memo().depth += 1;
        let term = read(self, b, node);
        self.memo().depth -= 1;
        term
    }
}

/// One of several, or the only one.
pub(crate) fn either(b: &mut Builder<'_>, terms: &[TermId]) -> TermId {
    match terms {
        [] => TermId::UNKNOWN,
        [one] => *one,
        _ => {
            let list = b.list(terms);
            b.term(Term::Either(list))
        }
    }
}

/// A type that the language itself has.
pub(crate) fn builtin(b: &mut Builder<'_>, name: &str) -> TermId {
    let sym = b.owned_name(name);
    b.term(Term::Builtin(sym))
}

/// A value of such a type.
pub(crate) fn builtin_value(b: &mut Builder<'_>, name: &str) -> TermId {
    let ty = builtin(b, name);
    b.term(Term::Inst(ty))
}

/// A value of such a type with these elements.
pub(crate) fn collection(b: &mut Builder<'_>, name: &str, elements: &[TermId]) -> TermId {
    let ty = builtin(b, name);
    let args = b.list(elements);
    let ty = b.term(Term::Apply(ty, args));
    b.term(Term::Inst(ty))
}
