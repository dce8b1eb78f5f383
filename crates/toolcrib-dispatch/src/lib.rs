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

mod arguments;
mod cap;
mod dispatcher;
mod event;
mod nearest;
mod outcome;
mod prepared;
mod schedule;
mod supervise;

pub use arguments::Repair;
pub use cap::Cut;
pub use dispatcher::{DispatchLimits, Dispatcher, RunContext};
pub use event::DispatchEvent;
pub use outcome::CallOutcome;
pub use prepared::{Prepared, Verdict};
