//! How a run ends, as plain data.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolcrib_core::Str;

use crate::Limit;

/// Why a run is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// This text was accepted as the answer.
    Answered(Str),
    /// The model was asked all it could be asked and gave no valid answer.
    Unanswered(Unanswered),
    /// A limit ended it before an answer was tried.
    Stopped(Limit),
    /// The caller ended it.
    Cancelled,
    /// It could not go on; one line for people.
    Failed(Str),
}

/// Why there is no answer although the model could reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unanswered {
    /// All rounds and the extra attempt are spent.
    Spent {
        /// What made the last round the last.
        limit: Limit,
        /// Rounds used.
        rounds: u32,
        /// Attempts after them.
        extra: u32,
        /// Why the last reply was no answer.
        last: Rejection,
    },
    /// Three replies in a row had neither text nor calls.
    Silent,
    /// A tool failed six times in a row in the same way.
    Stuck {
        /// The tool.
        tool: Str,
        /// What it said each time.
        error: Str,
    },
    /// The model declined; what it said.
    Refused(Str),
    /// The provider withheld the reply.
    Filtered,
}

/// Why one reply was not the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The class.
    pub reason: RejectionReason,
    /// What the model was told.
    pub error: Str,
}

/// The class of a [`Rejection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RejectionReason {
    /// There was no text.
    Empty,
    /// It held tool markup as text.
    Markup,
    /// It was cut off at the output limit.
    Cut,
    /// The answer's parser refused it.
    Unparsable,
    /// The provider paused the reply and it was never finished.
    Paused,
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Spent {
                rounds,
                extra,
                last,
                limit,
            } => {
                let s = if *rounds == 1 { "" } else { "s" };
                write!(f, "no valid answer after {rounds} round{s}")?;
                if *limit == Limit::ToolCalls {
                    f.write_str(" (all tool calls were spent)")?;
                }
                if *limit == Limit::Repeats {
                    f.write_str(" (the same call was made again and again)")?;
                }
                if *limit == Limit::Cut {
                    f.write_str(" (three replies in a row were cut off at the output limit)")?;
                }
                if *extra > 0 {
                    f.write_str(" and an extra attempt")?;
                }
                write!(f, "; the last reply was not accepted: {}", last.error)
            }
            Unanswered::Silent => {
                f.write_str("the model sent three replies in a row with neither text nor calls")
            }
            Unanswered::Stuck { tool, error } => {
                let times = crate::run::STOP;
                write!(f, "`{tool}` failed {times} times in the same way: {error}")
            }
            Unanswered::Refused(text) if text.is_empty() => f.write_str("the model declined"),
            Unanswered::Refused(text) => write!(f, "the model declined: {text}"),
            Unanswered::Filtered => f.write_str("the provider's content filter withheld the reply"),
        }
    }
}
