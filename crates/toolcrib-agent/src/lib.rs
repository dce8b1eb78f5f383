//! The loop: a serialisable machine that says what to do next, and the driver that does it.

mod agent;
mod answer;
mod budget;
mod driver;
mod end;
mod event;
mod ids;
mod journal;
mod leak;
mod outcome;
mod run;
mod step;
mod tally;
mod words;

pub use agent::{Agent, AgentBuilder, AgentError};
pub use answer::Answer;
pub use budget::{Budget, BudgetError, Limit};
pub use end::{End, Rejection, RejectionReason, Unanswered};
pub use event::{Event, JsonLines, OutcomeKind, Sink};
pub use outcome::{Outcome, Report, RunError};
pub use run::{OutOfTurn, Rules, Run};
pub use step::{ModelCall, PlannedCall, Refusal, Step};
pub use tally::Tally;
