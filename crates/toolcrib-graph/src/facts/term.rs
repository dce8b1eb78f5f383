//! Expressions and types, as far as resolution needs them.

use serde::{Deserialize, Serialize};

use super::Sym;

/// Index into [`super::FileFacts::terms`]; 0 is the unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct TermId(pub(crate) u32);

impl TermId {
    pub(crate) const UNKNOWN: TermId = TermId(0);

    pub(crate) fn is_known(self) -> bool {
        self != TermId::UNKNOWN
    }
}

impl Default for TermId {
    fn default() -> Self {
        TermId::UNKNOWN
    }
}

/// A range of [`super::FileFacts::lists`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ListRange {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl ListRange {
    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Stands for the whole where an argument or place is asked for.
pub(crate) const WHOLE: u8 = u8::MAX;

/// A type or an expression. A type's term stands for the type itself;
/// [`Term::Inst`] makes a value of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Term {
    /// Not expressible; resolution declines.
    Unknown,
    /// A bare name as seen from a byte position.
    Name(Sym, u32),
    /// `base.name` or `base::name`.
    Member(TermId, Sym),
    /// `base.name` where it is called: never a field.
    Method(TermId, Sym),
    /// The result of calling; the list holds what the arguments are, closures above all.
    Call(TermId, ListRange),
    /// A generic with its arguments.
    Apply(TermId, ListRange),
    /// A value of a type.
    Inst(TermId),
    /// A value of a type that the language itself has, by its name.
    Builtin(Sym),
    /// The receiver of the method around it.
    This,
    /// The type of the receiver.
    ThisType,
    /// The receiver seen as its bases.
    Super,
    /// An element, as a loop takes it.
    Each(TermId),
    /// An element, as an index takes it.
    Index(TermId),
    /// What entering a context gives.
    Enter(TermId),
    /// What awaiting gives.
    Await(TermId),
    /// What is left when failure has returned.
    Unwrap(TermId),
    /// One of several.
    Either(ListRange),
    /// What a variable holds that is given these values, one at a time.
    Held(ListRange),
    /// A tuple.
    Tuple(ListRange),
    /// One place of a tuple.
    Part(TermId, u8),
    /// A closure, by what it returns.
    Closure(TermId),
    /// The first parameter of a closure passed to `receiver.method`.
    Passed(TermId, Sym, u8),
    /// What a closure given to `callee` at an argument is called with at a place;
    /// [`WHOLE`] for the argument when the callee is the closure's own type.
    Given(TermId, u8, u8),
    /// What a pattern `constructor(…)` takes out of a value at one place.
    Unpacked(TermId, TermId, u8),
    /// A named field that a pattern takes out.
    UnpackedField(TermId, Sym),
    /// A function type by its result.
    FnType(TermId),
}
