//! What happens when a model calls a tool: parse, repair, approve, run, cap.
//!
//! Work comes in two phases, because a transcript must hold what ran and not
//! what was asked for. [`Dispatcher::prepare`] looks the tool up, reads and
//! repairs the arguments and asks visibility and permission; its
//! [`Prepared::call`] goes into the transcript. [`Dispatcher::run`] then gives
//! exactly one [`CallOutcome`] per prepared call, in call order, whatever
//! happens: a panic, a timeout, a cancelled run.
//!
//! It knows nothing of rounds, budgets or models, and writes nothing but log
//! lines.
//!
//! ```
//! use toolcrib_core::{ToolCall, Visibility};
//! use toolcrib_dispatch::{DispatchEvent, DispatchLimits, Dispatcher, RunContext};
//! use toolcrib_testkit::tools::{FakeTool, registry};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = registry([FakeTool::echo("echo")])?;
//! let dispatcher = Dispatcher::new(tools, Visibility::default(), DispatchLimits::default());
//! let call = ToolCall {
//!     id: "call_1".into(),
//!     name: "echo".into(),
//!     arguments: r#"{"say":"hello"}{"say":"again"}"#.into(),
//!     extra: None,
//! };
//! let prepared = dispatcher.prepare(&call);
//! assert_eq!(&*prepared.call.arguments, r#"{"say":"hello"}"#);
//!
//! let mut finished = 0;
//! let mut on = |event: DispatchEvent<'_>| {
//!     finished += usize::from(matches!(event, DispatchEvent::Finished { .. }));
//! };
//! let outcomes = dispatcher.run(&[prepared], &RunContext::default(), &mut on).await;
//! assert_eq!((outcomes.len(), finished), (1, 1));
//! # Ok(())
//! # }
//! ```

mod approve;
mod arguments;
mod cap;
mod dispatcher;
mod event;
mod nearest;
mod outcome;
mod prepared;
mod read_result;
mod redact;
mod schedule;
mod supervise;
mod validate;

pub use approve::{Approver, Decision, PolicyApprover, Question};
pub use arguments::Repair;
pub use cap::Cut;
pub use dispatcher::{DispatchLimits, Dispatcher, RunContext};
pub use event::DispatchEvent;
pub use outcome::CallOutcome;
pub use prepared::{Prepared, Verdict};
pub use read_result::{READ_RESULT, ReadResult};
pub use redact::{REDACTED, RedactError, RedactedStream, Redactor};
