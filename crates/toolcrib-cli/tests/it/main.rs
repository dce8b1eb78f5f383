//! The real binary, end to end.
#![allow(clippy::unwrap_used, clippy::panic)]

mod ask;
mod bad_input;
mod chat;
mod eval_ask;
mod gateway;
mod graph;
mod import;
mod killed;
mod login;
mod mcp;
mod models;
mod sessions;
mod signals;
mod tools;
mod world;

/// The MCP servers of the tests are this binary, started once more.
#[test]
fn fake_mcp_server() {
    toolcrib_testkit::fake_mcp::run_if_asked();
}
