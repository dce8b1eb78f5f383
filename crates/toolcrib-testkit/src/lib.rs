//! Fakes for tests: scripted models, recording tools and a byte-level HTTP server.

pub mod scripted;
pub mod tools;
