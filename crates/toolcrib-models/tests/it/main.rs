//! The wire against a server whose every byte is scripted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[cfg(all(feature = "acp", unix))]
mod acp;
#[cfg(all(feature = "acp", unix))]
mod fake_agent;
mod faults;
mod prefix;
mod real;
mod remote;
mod retries;
mod secrets;
mod support;
mod text;
mod wire;

/// The agent of other tests is this binary, started once more.
#[cfg(all(feature = "acp", unix))]
#[test]
fn fake_acp_agent() {
    fake_agent::run_if_asked();
}
