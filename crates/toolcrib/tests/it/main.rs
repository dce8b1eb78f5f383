//! What `#[tool]` makes of functions, seen as a user of this crate alone.

#![allow(clippy::unwrap_used)]

mod calls;
mod examples;
mod needle;
mod specs;
mod whole;
