//! The client against servers that keep the rules and servers that do not.

mod era;
mod faults;
mod fleet;
mod freshness;
mod http;
mod kit;
mod pages;
mod stdio;

/// The fake servers of all other tests are this binary, started once more.
#[test]
fn fake_mcp_server() {
    toolcrib_testkit::fake_mcp::run_if_asked();
}

/// Holds a fake server until it is killed itself.
#[test]
fn holder() {
    if let Ok(starts) = std::env::var(kit::HOLD) {
        kit::hold(&starts);
    }
}
