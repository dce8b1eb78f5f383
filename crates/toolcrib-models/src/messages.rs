//! The Anthropic Messages wire.
//!
//! Tools, system prompt and messages are cached by prefix in that order, so each has
//! its mark. Deferred definitions stand in the array from the first request on and a
//! load is a reference in a result. Blocks that carry signatures go back as they
//! came, to the model that made them and to no other.

mod body;
mod reply;

pub(crate) use body::{Renderer, head};
pub(crate) use reply::Assembler;
