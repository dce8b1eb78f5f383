//! The real binary, end to end.
#![allow(clippy::unwrap_used, clippy::panic)]

mod ask;
mod bad_input;
mod eval_ask;
mod graph;
mod killed;
mod sessions;
mod signals;
mod tools;
mod world;
