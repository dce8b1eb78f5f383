//! Sessions as files: what survives crashes, second writers and full disks.

// Helpers of tests are not known to clippy as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod crash;
mod documented;
mod files;
mod full;
mod processes;
mod support;
