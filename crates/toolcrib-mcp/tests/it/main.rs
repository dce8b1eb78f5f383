//! The client against servers that keep the rules and servers that do not.

mod era;
mod faults;
mod fleet;
mod kit;
mod pages;
mod stdio;

/// The fake servers of all other tests are this binary, started once more.
#[test]
fn fake_mcp_server() {
    toolcrib_testkit::fake_mcp::run_if_asked();
}
