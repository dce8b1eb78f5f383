//! What a language knows about the types of its own library.

use super::value::Ty;

/// Facts about a standard library that source files cannot state.
pub(crate) trait Library: Send + Sync {
    /// Names that [`Library`] and the evaluator compare with.
    fn words(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a bare name is the language's own.
    fn is_builtin(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Keeps the value type in use while rules grow.
    fn shape(&self, _name: &str) -> Ty {
        Ty::Unknown
    }
}
