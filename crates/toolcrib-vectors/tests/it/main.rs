//! The crate as its users see it.

mod golden;
mod hostile;
mod table;
