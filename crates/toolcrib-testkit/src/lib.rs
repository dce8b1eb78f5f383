//! Fakes for tests: scripted models, recording tools, a byte-level HTTP server and an
//! MCP server that misbehaves.

pub mod fake_mcp;
mod server;

pub use server::{Answer, ByteServer, Received};
pub mod scripted;
pub mod spill;
pub mod tools;
