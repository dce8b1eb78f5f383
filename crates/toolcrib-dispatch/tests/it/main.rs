//! The dispatcher as its callers see it.

// Helpers of tests are not known to clippy as tests.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod approval;
mod arguments;
mod batch;
mod limits;
mod names;
mod order;
mod random;
mod spill;
mod support;
