//! What a [`crate::Run`] asks its driver to do.

use serde::{Deserialize, Serialize};
use toolcrib_core::{Str, ToolCall, ToolChoice, ToolError, ToolErrorKind};

use crate::{Compaction, End, words};

/// The next thing to do. Asking again without having done it gives the same step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Send the history to the model, then say [`crate::Run::model_replied`] or
    /// [`crate::Run::model_failed`].
    CallModel(ModelCall),
    /// Prepare and run these calls in order, then say
    /// [`crate::Run::calls_prepared`] (optional) and [`crate::Run::calls_done`].
    RunCalls(Vec<PlannedCall>),
    /// Try to read this text as the answer, then say
    /// [`crate::Run::answer_accepted`] or [`crate::Run::answer_rejected`].
    CheckAnswer(Str),
    /// Make the transcript shorter, then say [`crate::Run::compacted`].
    Compact(Compaction),
    /// Nothing more.
    Done(End),
}

/// One request to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCall {
    /// Which tools may be called.
    pub tool_choice: ToolChoice,
    /// The round it belongs to, from 1.
    pub round: u32,
    /// How many rounds there may be.
    pub rounds: u32,
    /// Calls are not taken any more; true also for the extra attempt.
    pub final_round: bool,
    /// It is the attempt after the last round.
    pub extra: bool,
}

/// One call of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedCall {
    /// As the model wrote it, with an id that is unique within the session.
    pub call: ToolCall,
    /// Set when it must not run; its result says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

/// Why a call must not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The reply was cut off, and the call with it.
    Cut,
    /// Its arguments end in the middle, though the reply was not said to be cut.
    Open,
    /// All calls of the budget, so many, are spent.
    CallsSpent(u64),
    /// A limit of the run, in words, is reached.
    Stopped(Str),
}

impl Refusal {
    /// Whether the call failed for how it was written: no limit is the reason, and no
    /// cut that another call of its reply, as `cut` says, failed for before.
    pub(crate) fn counts(&self, cut: bool) -> bool {
        match self {
            Refusal::Open => true,
            Refusal::Cut => !cut,
            Refusal::CallsSpent(_) | Refusal::Stopped(_) => false,
        }
    }

    /// The result of the call.
    pub fn to_error(&self) -> ToolError {
        match self {
            Refusal::Cut => ToolError::new(ToolErrorKind::BadJson, words::CUT_CALL),
            Refusal::Open => ToolError::new(ToolErrorKind::BadJson, words::OPEN_CALL),
            Refusal::CallsSpent(limit) => {
                ToolError::new(ToolErrorKind::Denied, words::over_limit(*limit))
            }
            Refusal::Stopped(limit) => ToolError::new(ToolErrorKind::Denied, words::not_run(limit)),
        }
    }
}
