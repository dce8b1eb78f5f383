//! The loop: a serialisable machine that says what to do next, and the driver
//! that does it.
//!
//! An [`Agent`] asks a [`Model`](toolcrib_core::Model) a question, runs the tools
//! it calls and asks again, until a reply parses into the caller's [`Answer`] or a
//! limit of the [`Budget`] ends the run; the [`Outcome`] says which. All decisions
//! are made by [`Run`], which is plain data and never waits, so a run can be
//! stored, continued elsewhere, or driven by something else than this crate.
//!
//! It is no place for what a tool does (`toolcrib-dispatch`), for wires
//! (`toolcrib-models`) or for choosing which tools a model sees.
//!
//! ```
//! use std::sync::Arc;
//! use toolcrib_agent::{Agent, Answer, Budget, Outcome};
//! use toolcrib_testkit::scripted::{ScriptedModel, Turn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::new([Turn::text("about twelve"), Turn::text("12")]);
//! let agent = Agent::builder(Arc::new(model))
//!     .system("You count.")
//!     .budget(Budget::rounds(5))
//!     .build()?;
//! let number = Answer::<u32>::from_text("a whole number");
//! match agent.run_typed("How many months has a year?", &number).await {
//!     Outcome::Answered { answer, report } => {
//!         assert_eq!((answer, report.rounds), (12, 2));
//!     }
//!     other => println!("no answer: {}", other.reason().unwrap_or_default()),
//! }
//! # Ok(())
//! # }
//! ```

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
pub use run::{CallResult, OutOfTurn, Rules, Run};
pub use step::{ModelCall, PlannedCall, Refusal, Step};
pub use tally::Tally;
