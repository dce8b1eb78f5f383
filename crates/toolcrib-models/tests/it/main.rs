//! The wire against a server whose every byte is scripted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod faults;
mod retries;
mod secrets;
mod support;
mod wire;
