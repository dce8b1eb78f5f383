//! The encoder beside a reference, and what it says of files that are no model.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod files;
mod golden;
