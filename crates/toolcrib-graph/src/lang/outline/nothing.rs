//! The library of a language whose calls are not read: nothing is known of it.

use crate::link::{Library, Seen, Shapes, Special, Ty};

pub(super) struct Nothing;

impl Library for Nothing {
    fn words(&self) -> &'static [&'static str] {
        &[]
    }

    fn is_builtin(&self, _: &str) -> bool {
        false
    }

    fn instance(&self, _: &str, _: &[Ty]) -> Option<Special> {
        None
    }

    fn method(&self, _: &Shapes<'_>, _: Seen<'_>, _: &str, _: &[Ty]) -> Ty {
        Ty::Unknown
    }

    fn call(&self, _: &Shapes<'_>, _: Seen<'_>, _: &str, _: &str, _: &[Ty]) -> Ty {
        Ty::Unknown
    }

    fn element(&self, _: &Shapes<'_>, _: Seen<'_>) -> Ty {
        Ty::Unknown
    }

    fn indexed(&self, _: &Shapes<'_>, _: Seen<'_>) -> Ty {
        Ty::Unknown
    }

    fn passed(&self, _: &Shapes<'_>, _: Seen<'_>, _: &str, _: u8) -> Ty {
        Ty::Unknown
    }

    fn target(&self, _: Seen<'_>) -> Option<Ty> {
        None
    }
}
