//! The real binary, end to end.

mod ask;
mod bad_input;
mod graph;
mod signals;
mod world;
