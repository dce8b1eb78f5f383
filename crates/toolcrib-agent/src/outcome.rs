//! What a run came to.

use std::time::Duration;

use toolcrib_core::{Cost, Finish, History, ModelError, Str, Usage};
use toolcrib_session::SessionError;
use toolcrib_surface::SurfaceState;

use crate::{Budget, Limit, OutOfTurn, OutcomeKind, Unanswered};

/// The end of a run, with an answer or a named reason.
#[derive(Debug)]
#[must_use = "a run may have ended without an answer"]
#[non_exhaustive]
pub enum Outcome<A> {
    /// There is an answer.
    Answered {
        /// As the answer's parser read it.
        answer: A,
        /// What it took.
        report: Report,
    },
    /// The model was asked all it could be asked and gave no valid answer.
    Unanswered {
        /// Why not.
        reason: Unanswered,
        /// What it took.
        report: Report,
    },
    /// A limit ended the run.
    Stopped {
        /// Which.
        limit: Limit,
        /// What it took.
        report: Report,
    },
    /// The caller ended the run.
    Cancelled {
        /// What it took.
        report: Report,
    },
    /// The run could not go on.
    Failed {
        /// Why.
        error: RunError,
        /// What it took.
        report: Report,
    },
}

/// What a run took, however it ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Rounds used; never more than the budget's.
    pub rounds: u32,
    /// Attempts after the last round; 0 or 1.
    pub extra_attempts: u32,
    /// Calls handed to tools.
    pub calls: u64,
    /// Sum of the reported tokens; what nobody reported is `None`.
    pub usage: Usage,
    /// Sum of the reported or estimated costs; `None` when there was none.
    pub cost: Option<Cost>,
    /// In all.
    pub elapsed: Duration,
    /// How the last reply ended: an accepted answer may have been cut off.
    pub finish: Option<Finish>,
    /// Without an answer: the last text of the model, shown or rejected.
    pub partial: Option<Str>,
    /// The transcript, every call with its result. A later run can go on from it.
    pub history: History,
    /// What the session loaded of its tools. A later run can go on from it.
    pub surface: SurfaceState,
    /// The limits that held.
    pub budget: Budget,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The session could not be written. What was written before is intact.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A stored run that had failed before, or whose answer is of another type.
    #[error("{0}")]
    Stored(Str),
    /// The driver and the machine disagree, which is a fault of this program.
    #[error(transparent)]
    OutOfTurn(#[from] OutOfTurn),
}

impl<A> Outcome<A> {
    /// What the run took.
    pub fn report(&self) -> &Report {
        match self {
            Outcome::Answered { report, .. }
            | Outcome::Unanswered { report, .. }
            | Outcome::Stopped { report, .. }
            | Outcome::Cancelled { report }
            | Outcome::Failed { report, .. } => report,
        }
    }

    /// The variant alone.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Outcome::Answered { .. } => OutcomeKind::Answered,
            Outcome::Unanswered { .. } => OutcomeKind::Unanswered,
            Outcome::Stopped { .. } => OutcomeKind::Stopped,
            Outcome::Cancelled { .. } => OutcomeKind::Cancelled,
            Outcome::Failed { .. } => OutcomeKind::Failed,
        }
    }

    /// The answer, if there is one.
    pub fn answer(&self) -> Option<&A> {
        match self {
            Outcome::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// The answer, if there is one.
    pub fn into_answer(self) -> Option<A> {
        match self {
            Outcome::Answered { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// The limit that ended the run, if one did.
    pub fn limit(&self) -> Option<Limit> {
        match self {
            Outcome::Stopped { limit, .. } => Some(*limit),
            Outcome::Unanswered {
                reason: Unanswered::Spent { limit, .. },
                ..
            } => Some(*limit),
            _ => None,
        }
    }

    /// Why there is no answer, in one line for people; `None` when there is one.
    pub fn reason(&self) -> Option<String> {
        match self {
            Outcome::Answered { .. } => None,
            Outcome::Unanswered { reason, .. } => Some(reason.to_string()),
            Outcome::Stopped { limit, report } => Some(format!(
                "the limit of {} was reached before there was an answer",
                report.budget.describe(*limit)
            )),
            Outcome::Cancelled { .. } => Some("the run was cancelled".to_owned()),
            Outcome::Failed { error, .. } => Some(error.to_string()),
        }
    }
}
