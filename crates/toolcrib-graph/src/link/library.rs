//! What a language knows about the types of its own library.

use super::index::{GSym, Names};
use super::value::{Ty, no_args};

/// Makes types of the library out of their names.
pub(crate) struct Shapes<'a> {
    pub(crate) names: &'a Names,
    /// The module that unnamed results belong to.
    pub(crate) module: GSym,
}

impl Shapes<'_> {
    /// A value of a library type; the name must be among [`Library::words`].
    pub(crate) fn value(&self, name: &str, args: Vec<Ty>) -> Ty {
        match self.names.find(name) {
            Some(name) => Ty::Ext {
                module: self.module,
                name,
                args: if args.is_empty() {
                    no_args()
                } else {
                    args.into()
                },
                inst: true,
            },
            None => Ty::Unknown,
        }
    }

    /// A value of some type of the library that nothing more is known of.
    pub(crate) fn opaque(&self) -> Ty {
        self.value(OPAQUE, Vec::new())
    }
}

/// The name of library types that have none here.
pub(crate) const OPAQUE: &str = "?";

/// A value of a library type, as rules see it.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// Its type's last name.
    pub(crate) head: &'a str,
    pub(crate) args: &'a [Ty],
    /// Itself.
    pub(crate) whole: &'a Ty,
    /// Whether its module is the language's own.
    pub(crate) is_standard: bool,
}

impl Seen<'_> {
    /// A type argument.
    pub(crate) fn arg(&self, place: usize) -> Ty {
        self.args.get(place).cloned().unwrap_or(Ty::Unknown)
    }
}

/// Facts about a standard library that source files cannot state. Everything
/// may answer [`Ty::Unknown`].
pub(crate) trait Library: Send + Sync {
    /// Names of the types it makes.
    fn words(&self) -> &'static [&'static str];

    /// Whether a bare name is the language's own.
    fn is_builtin(&self, name: &str) -> bool;

    /// What a value of a library type is, for types that only wrap others.
    /// `None` for types that stand for themselves.
    fn instance(&self, name: &str, args: &[Ty]) -> Option<Special>;

    /// The result of `value.name(given)`.
    fn method(&self, shapes: &Shapes<'_>, value: Seen<'_>, name: &str, given: &[Ty]) -> Ty;

    /// The result of `name(given)` or `owner::name(given)`; `owner` is empty for
    /// bare functions and constructors.
    fn call(
        &self,
        shapes: &Shapes<'_>,
        callee: Seen<'_>,
        owner: &str,
        name: &str,
        given: &[Ty],
    ) -> Ty;

    /// What a loop takes from it.
    fn element(&self, shapes: &Shapes<'_>, value: Seen<'_>) -> Ty;

    /// What an index takes from it.
    fn indexed(&self, shapes: &Shapes<'_>, value: Seen<'_>) -> Ty;

    /// What a closure passed to `value.method` is given at one place.
    fn passed(&self, shapes: &Shapes<'_>, value: Seen<'_>, method: &str, place: u8) -> Ty;

    /// What a wrapper lends its members from.
    fn target(&self, value: Seen<'_>) -> Option<Ty>;

    /// What is left when failure has returned.
    fn unwrapped(&self, value: Seen<'_>) -> Ty {
        value.whole.clone()
    }

    /// What a pattern `constructor(…)` finds inside a value.
    fn unpacked(&self, constructor: &str, value: Seen<'_>) -> Ty {
        let _ = (constructor, value);
        Ty::Unknown
    }

    /// Whether every value has this method through the library.
    fn is_universal(&self, method: &str) -> bool {
        let _ = method;
        false
    }
}

/// Library types that mean something else.
pub(crate) enum Special {
    /// This value.
    Value(Ty),
    /// A value of this type.
    Of(Ty),
    /// The type itself, not a value of it.
    Type(Ty),
    /// The receiver's type.
    This,
    /// Gives a value of this type when called.
    Function(Ty),
}
