//! The loop: a serialisable machine that says what to do next, and the driver that does it.

mod answer;
mod budget;
mod end;
mod event;
mod ids;
mod leak;
mod run;
mod step;
mod tally;
mod words;

pub use answer::Answer;
pub use budget::{Budget, BudgetError, Limit};
pub use end::{End, Rejection, RejectionReason, Unanswered};
pub use event::{Event, JsonLines, OutcomeKind, Sink};
pub use run::{OutOfTurn, Rules, Run};
pub use step::{ModelCall, PlannedCall, Refusal, Step};
pub use tally::Tally;
