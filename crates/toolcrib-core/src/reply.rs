//! What comes back from a model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AssistantMessage, Cost, Str, Usage};

/// One complete reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What the model said, in order.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub finish: Finish,
    /// Tokens, where reported.
    #[serde(default)]
    pub usage: Usage,
    /// Money, where reported.
    #[serde(default)]
    pub cost: Option<Cost>,
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// It said all it wanted.
    Stop,
    /// It waits for tool results.
    ToolCalls,
    /// It was cut at the output limit; its last call may be cut too and must not run.
    Length,
    /// It declined.
    Refusal,
    /// The provider withheld the rest.
    ContentFilter,
    /// The provider asks to be sent the turn back as it is.
    Paused,
    /// A reason this crate does not know.
    Other(Str),
}

/// What a reply shows while it is under way. Complete calls come with the
/// [`Reply`] alone, so that a half-streamed call can never be run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ReplyEvent<'a> {
    /// A piece of the visible text.
    Text(&'a str),
    /// A piece of reasoning.
    Reasoning(&'a str),
    /// The model began to write a call of this tool.
    CallStarted(&'a str),
    /// The request failed before anything was shown and is sent again.
    Retrying {
        /// Which attempt comes next; the first retry is 2.
        attempt: u32,
        /// How long until then.
        wait: Duration,
        /// One line on what failed.
        reason: &'a str,
    },
}
