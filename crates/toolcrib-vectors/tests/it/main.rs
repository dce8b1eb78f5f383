//! The crate as its users see it.

mod table;
