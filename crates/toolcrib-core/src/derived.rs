//! A place for what another crate computes from an immutable value.
//!
//! A compiled schema costs far more than the check it is made for, and depends on
//! the spec alone, so the spec carries it along. This crate knows nothing of what
//! is kept. A clone starts empty, because a clone is about to be changed.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// One computed value of any type, made at its first use.
#[derive(Default)]
pub struct Derived(OnceLock<Arc<dyn Any + Send + Sync>>);

impl Derived {
    /// The value, made by `make` at the first call only. The place holds one type:
    /// whoever asks for another one gets it made anew each time.
    pub fn get_or_make<T: Any + Send + Sync>(&self, make: impl Fn() -> T) -> Arc<T> {
        let kept = self.0.get_or_init(|| Arc::new(make()));
        match Arc::clone(kept).downcast::<T>() {
            Ok(value) => value,
            Err(_) => Arc::new(make()),
        }
    }
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derived")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_value_is_made_once_and_a_clone_starts_empty() {
        let place = Derived::default();
        let made = Cell::new(0);
        let make = || {
            made.set(made.get() + 1);
            7_u32
        };
        assert_eq!((*place.get_or_make(make), *place.get_or_make(make)), (7, 7));
        assert_eq!(made.get(), 1);
        assert_eq!(*place.get_or_make(|| "other"), "other");
        place.clone().get_or_make(make);
        assert_eq!(made.get(), 2);
    }
}
