//! Shapes of Rust's standard library.

use crate::link::Library;

pub(super) struct RustLibrary;

impl Library for RustLibrary {}
