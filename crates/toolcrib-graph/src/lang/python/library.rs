//! Shapes of Python's standard library.

use crate::link::Library;

pub(super) struct PythonLibrary;

impl Library for PythonLibrary {}
