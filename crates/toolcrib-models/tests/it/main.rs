//! The wire against a server whose every byte is scripted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

mod faults;
mod remote;
mod retries;
mod secrets;
mod support;
mod text;
mod wire;
