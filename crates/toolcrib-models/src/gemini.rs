//! The Gemini `generateContent` wire.
//!
//! Calls need not have ids and are matched by order and name; signatures ride on the
//! parts they were made for and go back on the same ones. Schemas of arguments are a
//! small part of JSON Schema here.

mod body;
mod reply;

pub(crate) use body::{Renderer, head};
pub(crate) use reply::Assembler;
