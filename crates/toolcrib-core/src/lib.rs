//! The words every part of toolcrib shares.
//!
//! A tool author implements [`Tool`]; a caller puts tools into a [`Registry`];
//! a [`Model`] receives a [`Request`] made of a [`TurnPlan`] and a [`History`]
//! and answers with a [`Reply`]. This crate does no I/O and has no runtime, so
//! every part above it can be tested with fakes.
//!
//! ```
//! use std::sync::Arc;
//! use toolcrib_core::{
//!     Arguments, BoxFuture, Effect, Registry, Schema, Tool, ToolContext, ToolError, ToolName,
//!     ToolOutput, ToolSpec,
//! };
//!
//! struct Now(Arc<ToolSpec>);
//!
//! impl Tool for Now {
//!     fn spec(&self) -> &Arc<ToolSpec> {
//!         &self.0
//!     }
//!     fn call<'a>(
//!         &'a self,
//!         _: &'a Arguments,
//!         _: &'a ToolContext,
//!     ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
//!         Box::pin(async { Ok(ToolOutput::text("12:00")) })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ToolSpec::new(ToolName::parse("now")?, "The time of day.", Schema::empty())
//!     .effect(Effect::ReadOnly);
//! let mut registry = Registry::new();
//! registry.insert(Arc::new(Now(Arc::new(spec))))?;
//! assert_eq!(registry.iter().count(), 1);
//! # Ok(())
//! # }
//! ```

mod derived;
mod dialect;
mod error;
mod fit;
mod history;
mod message;
mod model;
mod name;
mod output;
mod plan;
mod registry;
mod render;
mod reply;
mod schema;
mod source;
mod spec;
mod spill;
mod tool;
mod usage;
mod visibility;

pub use derived::Derived;
pub use dialect::ToolDialect;
pub use error::{ToolError, ToolErrorKind};
pub use fit::{FittedSchema, SchemaNote};
pub use history::{History, HistoryItem};
pub use message::{AssistantMessage, Block, Message, RawJson, ToolCall, ToolResult};
pub use model::{
    FinalRound, Model, ModelError, ModelErrorKind, ModelProfile, Price, Request, ToolChoice,
};
pub use name::{NameError, ToolName};
pub use output::{Content, ToolOutput};
pub use plan::{Fingerprint, LoadRoute, TurnPlan};
pub use registry::{Registry, RegistryError};
pub use render::RenderCache;
pub use reply::{Finish, Reply, ReplyEvent};
pub use schema::{Schema, SchemaError};
pub use source::{Confirming, Deferring, Filtered, Prefixed, Renamed, ToolSource};
pub use spec::{Effect, Exposure, Permission, ResultForm, SourceId, ToolSpec};
pub use spill::{SpillError, SpillStore, is_spill_handle, spill_handle};
pub use tool::{Arguments, Footprint, Forwarded, Preview, Progress, Tool, ToolContext};
pub use usage::{Cost, Usage};
pub use visibility::{Hidden, Mode, Selector, Visibility};

pub use tokio_util::sync::CancellationToken;

/// A boxed `std` future that can move between threads.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A shared, immutable string.
pub type Str = std::sync::Arc<str>;
