//! The loop against scripted models and real dispatch.

#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
mod approvals;
mod bridge;
mod budgets;
mod calls;
mod circles;
mod compaction;
mod endings;
mod events;
mod random;
mod rounds;
mod secrets;
mod sessions;
mod spans;
mod support;
mod surface;
mod wire;

/// The child process of tests with an MCP server.
#[test]
fn fake_mcp_server() {
    toolcrib_testkit::fake_mcp::run_if_asked();
}
