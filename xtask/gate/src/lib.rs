//! A scripted chat endpoint for programs whose instructions are counted.
//!
//! The gate and the comparison with other crates count against the same one, so that
//! their figures speak of the same requests. Not for tests: those script bytes with the
//! testkit's server.

mod server;

pub use server::{ANSWER, Script, start};
