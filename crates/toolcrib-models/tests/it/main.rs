//! The wire against a server whose every byte is scripted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod faults;
mod prefix;
mod remote;
mod retries;
mod secrets;
mod support;
mod text;
mod wire;
