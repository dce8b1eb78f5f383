//! The gateway's parts, from outside.
#![allow(clippy::unwrap_used, clippy::panic)]

mod import;
