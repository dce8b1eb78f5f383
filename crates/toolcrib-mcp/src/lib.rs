//! MCP servers as tools.
//!
//! A [`Fleet`] holds all configured servers. It knows what each of them offers
//! from a cache before anything runs, starts one when it is first needed, and
//! keeps one server's trouble away from the others. [`tools`] makes its servers'
//! tools those of toolcrib; a gateway passes raw requests on with
//! [`Fleet::request`].
//!
//! The client's view of a definition and a result is raw JSON: typed models of the
//! protocol drop keys and fail a whole list on one bad schema. So this crate speaks
//! JSON-RPC itself over a child's pipes and over HTTP, and uses `rmcp` where its
//! types cost nothing: for logging in.
//!
//! ```no_run
//! use toolcrib_core::ToolSource as _;
//! use toolcrib_mcp::{Fleet, FleetOptions, RequestContext, ServerConfig, tools};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let time = ServerConfig::stdio("time", "mcp-server-time", ["--local-timezone=UTC"]);
//! let fleet = Fleet::new(vec![time], FleetOptions::default());
//! fleet.refresh("time").await?;
//! for tool in tools(&fleet).tools() {
//!     assert!(tool.spec().name.as_str().starts_with("time__"));
//! }
//! fleet.shutdown().await;
//! # Ok(())
//! # }
//! ```

mod auth;
mod config;
mod connection;
mod context;
mod error;
mod fleet;
mod guard;
mod headers;
mod http;
mod manifest;
mod message;
mod names;
mod output;
mod peer;
mod pins;
mod raw;
mod sse;
mod stdio;
mod tools;

pub use auth::Login;
pub use config::{
    ConfigError, OAuthConfig, ServerConfig, Transport, entries_from_json, entries_from_toml,
    literal, servers_from_json, servers_from_toml,
};
pub use context::{RequestContext, Reverse};
pub use error::{McpError, RpcError};
pub use fleet::{Fleet, FleetEvent, FleetOptions, ServerState, ServerStatus};
pub use guard::{Guard, end_groups_of};
pub use manifest::{Annotations, Freshness, Manifest, ManifestTool, Quarantined};
pub use names::exported_name;
pub use output::output_of;
pub use peer::Noise;
pub use pins::{PinChange, PinError, PinKind, Pins};
pub use tools::{FleetTools, tools};
