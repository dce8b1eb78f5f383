//! The OpenAI Responses wire, with nothing stored on the server.
//!
//! A transcript is a flat list of items. Reasoning comes encrypted and goes back
//! before the calls it led to. Deferred functions stand in namespaces by source; the
//! search among them runs on our side and its answer brings the definitions.

mod body;
mod reply;

pub(crate) use body::{Renderer, head};
pub(crate) use reply::Assembler;
