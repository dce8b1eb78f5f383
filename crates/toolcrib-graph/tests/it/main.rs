//! Integration tests of the graph: scanning, extraction, linking.

#![allow(clippy::unwrap_used, clippy::panic)]

mod broken;
mod cache;
mod constants;
mod determinism;
mod exclusions;
mod handlers;
mod hostile;
mod lookups;
mod macros;
mod nesting;
mod outlines;
mod phantoms;
mod reassigned;
mod roots;
mod routes;
mod sample;
mod scripts;
mod states;
mod support;
