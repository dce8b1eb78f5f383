//! Fakes for tests: scripted models, recording tools and a byte-level HTTP server.

mod server;

pub use server::{Answer, ByteServer, Received};
pub mod scripted;
pub mod spill;
pub mod tools;
