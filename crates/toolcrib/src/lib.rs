//! Gives a language model the right few tools, and a loop that always ends inside
//! a budget.
//!
//! A tool is a documented async function. The attribute [`tool`] reads its name,
//! description and argument schema off the function, so they cannot drift apart;
//! the function itself stays an ordinary one, to be called and tested as such.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//! use toolcrib::{Json, Registry, ToolContext, ToolError, argument, tool};
//!
//! type Stock = BTreeMap<String, u32>;
//!
//! /// Which way to sort.
//! #[argument]
//! enum Order {
//!     /// Alphabetically.
//!     Name,
//!     /// Scarcest first.
//!     Amount,
//! }
//!
//! /// Lists what is in stock, by name or by amount.
//! #[tool(effect = "read_only", result = "lookup")]
//! async fn list_stock(
//!     #[state] stock: &Arc<Stock>,
//!     /// By name when absent.
//!     order: Option<Order>,
//!     /// Longest list wanted.
//!     #[default(50)]
//!     limit: usize,
//! ) -> Json<Vec<(String, u32)>> {
//!     let mut items: Vec<_> = stock.iter().map(|(name, n)| (name.clone(), *n)).collect();
//!     if let Some(Order::Amount) = order {
//!         items.sort_by_key(|(_, n)| *n);
//!     }
//!     items.truncate(limit);
//!     Json(items)
//! }
//!
//! /// Adds two numbers.
//! #[tool(effect = "read_only")]
//! async fn add(a: i64, b: i64) -> Result<i64, ToolError> {
//!     a.checked_add(b).ok_or_else(|| ToolError::bad_args("the sum is too large; use smaller numbers"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stock = Arc::new(Stock::from([("bolt".into(), 12), ("nut".into(), 3)]));
//! let mut registry = Registry::new();
//! registry.insert(add::tool())?;
//! registry.insert(list_stock::tool(stock))?;
//!
//! // As a function it is still there.
//! assert_eq!(add(2, 3).await?, 5);
//!
//! // As a tool it takes what a model writes, and says what is wrong with it.
//! let tool = registry.get("list_stock").ok_or("not registered")?;
//! let call = |arguments: &'static str| async move {
//!     let arguments = toolcrib::Arguments::parse(arguments)?;
//!     tool.call(&arguments, &ToolContext::detached("call-1")).await
//! };
//! let listed = call(r#"{"order":"Amount"}"#).await?;
//! assert_eq!(listed, toolcrib::ToolOutput::text(r#"[["nut",3],["bolt",12]]"#));
//! let refused = call(r#"{"sort":"Amount"}"#).await.unwrap_err();
//! assert_eq!(
//!     refused.for_model(),
//!     "error: bad argument `sort`: unknown field `sort`, expected `order` or `limit`",
//! );
//! # Ok(())
//! # }
//! ```
//!
//! An [`Agent`] asks a model questions and runs the tools that it calls, within a
//! [`Budget`]. It ends with an [`Outcome`]: an answer, or the reason why there is
//! none. A model is any [`models::Model`]: a [`models::ChatModel`] over the network,
//! or a script in a test; `examples/budgeted.rs` shows both sides of that.
//!
//! What may change something asks first: an [`Approver`] sees what a call would do and
//! says yes or no, a [`PolicyApprover`] by a list; without one the answer is no.
//!
//! `examples/` has a whole program for each of these: `typed_answer`, an answer of a
//! type of one's own; `preview_and_progress`, a tool that shows what it would do and
//! how far it is; `approver`, who may write where; `tested`, an agent with its unit
//! tests; `budgeted`, all of it against a real endpoint.
//!
//! A program needs no other dependency than this crate to define tools, argument
//! types included. A crate that only defines tools can leave out the loop with
//! `default-features = false`. Other features add to it: `mcp` the tools of MCP
//! servers, `graph` lookups in a repository, `acp` agents of the Agent Client Protocol
//! as models, `local` a small model in process.

#[cfg(feature = "agent")]
mod answer;
mod output;
mod private;

#[doc(hidden)]
pub mod __private {
    //! What generated code names; not part of the public interface.
    pub use crate::private::*;
}

#[cfg(feature = "graph")]
pub mod graph {
    //! The code graph of one repository, and its lookups as tools.
    //!
    //! ```no_run
    //! use std::path::Path;
    //! use std::sync::Arc;
    //! use toolcrib::Registry;
    //! use toolcrib::graph::{GraphTools, Lookup, ScanOptions, Snapshot};
    //!
    //! # fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! let snapshot = Snapshot::load(Path::new("."), &ScanOptions::default())?;
    //! let lookup = Arc::new(Lookup::new(Arc::new(snapshot.graph)));
    //! let mut tools = Registry::new();
    //! tools.extend(&GraphTools::new(lookup)?)?;
    //! # Ok(())
    //! # }
    //! ```
    pub use toolcrib_graph::{
        CachedProvider, CodeGraph, GraphError, GraphProvider, Lookup, LookupCall, LookupError,
        ScanOptions, ScanReport, Snapshot,
    };
    pub use toolcrib_tools::GraphTools;
}
#[cfg(feature = "mcp")]
pub mod mcp {
    //! MCP servers, and their tools as those of a program.
    //!
    //! ```no_run
    //! use toolcrib::Registry;
    //! use toolcrib::mcp::{Fleet, FleetOptions, ServerConfig};
    //!
    //! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! let time = ServerConfig::stdio("time", "mcp-server-time", ["--local-timezone=UTC"]);
    //! let fleet = Fleet::new(vec![time], FleetOptions::default());
    //! fleet.refresh("time").await?;
    //! let mut tools = Registry::new();
    //! tools.extend(&toolcrib::mcp::tools(&fleet))?;
    //! # fleet.shutdown().await;
    //! # Ok(())
    //! # }
    //! ```
    pub use toolcrib_mcp::{
        ConfigError, Fleet, FleetEvent, FleetOptions, FleetTools, Freshness, Guard, Login,
        Manifest, ManifestTool, McpError, OAuthConfig, PinChange, PinError, PinKind, Pins,
        RequestContext, Reverse, RpcError, ServerConfig, ServerState, ServerStatus, Transport,
        exported_name, servers_from_json, servers_from_toml, tools,
    };
}
#[cfg(feature = "agent")]
pub mod models;
#[cfg(feature = "agent")]
pub mod session {
    //! The append-only record of runs, and what can be read from it.
    pub use toolcrib_session::{
        DiskSpill, Entry, IdError, Meta, Repaired, Row, RunSummary, Session, SessionError,
        SessionId, SessionLog, SessionStore, Stored, Summary, repair,
    };
}
#[cfg(feature = "agent")]
pub mod surface {
    //! Thousands of tools behind a few definitions: what [`AgentBuilder::surface`]
    //! takes.
    //!
    //! [`AgentBuilder::surface`]: crate::AgentBuilder::surface
    pub use toolcrib_surface::{
        Defer, Domains, Misreads, PolicyError, Reading, SentenceEncoder, SharedEncoder,
        SurfacePolicy, SurfaceReport, SurfaceSettings, SurfaceState,
    };
}

#[cfg(feature = "agent")]
pub use answer::answer_of;
pub use output::{IntoToolOutput, Json};
#[cfg(feature = "agent")]
pub use toolcrib_agent::{
    Agent, AgentBuilder, AgentError, Answer, Budget, BudgetError, End, Event, Inbox, JsonLines,
    Limit, Outcome, OutcomeKind, Rejection, RejectionReason, Report, Run, RunError, Sink,
    Unanswered,
};
pub use toolcrib_core::{
    Arguments, BoxFuture, CancellationToken, Confirming, Content, Deferring, Effect, Exposure,
    Filtered, Footprint, Hidden, Mode, NameError, Permission, Prefixed, Preview, Progress,
    Registry, RegistryError, Renamed, ResultForm, Schema, SchemaError, Selector, SourceId,
    SpillError, SpillStore, Tool, ToolContext, ToolError, ToolErrorKind, ToolName, ToolOutput,
    ToolSource, ToolSpec, Visibility,
};
#[cfg(feature = "agent")]
pub use toolcrib_dispatch::{
    Approver, Decision, DispatchLimits, PolicyApprover, Question, RedactError, Redactor, Repair,
};
pub use toolcrib_macros::{argument, tool};
