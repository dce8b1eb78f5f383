//! One MCP server in place of many.
//!
//! A [`Gateway`] stands before any number of servers and shows a client two tools in
//! place of thousands: one that searches, one that calls. It speaks every revision of
//! the protocol on both sides, starts a server when it is first needed, and passes
//! definitions and results on as the bytes they came in. [`import`] takes over what
//! other clients are configured with.
//!
//! It needs no model and knows none. Servers are `toolcrib-mcp`'s business, ranking is
//! `toolcrib-surface`'s; here is what a client sees of both.

mod backend;
mod catalog;
mod client;
mod face;
mod gateway;
mod held;
mod http;
pub mod import;
mod load;
mod pins;
mod policy;
mod relay;
mod settings;
mod spill;
mod stdio;
mod wire;

pub use gateway::{Gateway, Mode, Options};
pub use http::{HttpOptions, HttpRefused};
pub use load::{LoadError, Loaded};
pub use settings::{FillError, McpSettings, PolicySettings, ServerSettings, fill};
