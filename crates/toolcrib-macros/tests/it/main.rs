//! What authors read when a function cannot be a tool.

mod refused;
