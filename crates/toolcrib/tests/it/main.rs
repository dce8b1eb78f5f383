//! What `#[tool]` makes of functions, seen as a user of this crate alone.

mod calls;
mod specs;
