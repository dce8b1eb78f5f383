//! The real binary, end to end.
#![allow(clippy::unwrap_used, clippy::panic)]

mod ask;
mod bad_input;
mod graph;
mod signals;
mod tools;
mod world;
