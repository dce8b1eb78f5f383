//! One MCP server in place of many.

pub mod import;
mod settings;

pub use settings::{FillError, McpSettings, PolicySettings, ServerSettings, fill};
