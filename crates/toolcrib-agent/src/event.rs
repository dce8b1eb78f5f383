//! The one stream of what happens in a run.
//!
//! Terminal, JSON lines and whatever else watches read the same events. They are
//! for watching: nothing in a run waits for them or depends on them.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use toolcrib_core::{
    Content, Cost, Fingerprint, Finish, Preview, Str, ToolErrorKind, ToolName, Usage,
};
use toolcrib_dispatch::{Decision, Repair};

use crate::{Limit, RejectionReason};

/// One thing that happened. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The run begins. Always the first.
    RunStarted {
        /// Profile id of the model.
        model: Str,
        /// How many rounds there may be.
        rounds: u32,
    },
    /// From now on these tools are shown to the model.
    SurfaceChanged {
        /// Names in the order sent.
        exposed: Vec<ToolName>,
        /// Of the request part that providers cache.
        fingerprint: Fingerprint,
        /// `initial`, or the sections that changed.
        #[serde(default)]
        reason: Str,
    },
    /// The model is asked.
    TurnStarted {
        /// The round, from 1.
        round: u32,
        /// How many there may be.
        rounds: u32,
        /// No calls are taken any more.
        final_round: bool,
        /// It is the attempt after the last round.
        extra: bool,
    },
    /// A piece of visible text.
    Text {
        /// The piece.
        text: Str,
    },
    /// A piece of reasoning.
    Reasoning {
        /// The piece.
        text: Str,
    },
    /// The model began to write a call; it may never be run.
    CallAnnounced {
        /// The tool's name as written.
        name: Str,
    },
    /// A request failed before anything was shown and is sent again.
    Retrying {
        /// Which attempt comes next.
        attempt: u32,
        /// How long until then.
        wait_ms: u64,
        /// One line on what failed.
        reason: Str,
    },
    /// The reply is complete.
    TurnFinished {
        /// The round, from 1.
        round: u32,
        /// How many calls it asks for.
        calls: u32,
        /// Bytes of its text.
        text_bytes: u64,
        /// Why it ended.
        finish: Finish,
        /// Tokens, where reported.
        usage: Usage,
        /// Money, where reported or estimated.
        cost: Option<Cost>,
        /// From request to end of reply.
        ms: u64,
    },
    /// Calls came although none were offered; they were neither run nor recorded.
    CallsIgnored {
        /// The round, from 1.
        round: u32,
        /// The tools' names as written.
        names: Vec<Str>,
    },
    /// A reply was not accepted as the answer.
    AnswerRejected {
        /// The round, from 1.
        round: u32,
        /// The class.
        reason: RejectionReason,
        /// What is wrong with it.
        error: Str,
    },
    /// Somebody is asked whether a call may run.
    ApprovalNeeded {
        /// The call's id.
        call_id: Str,
        /// The tool's name.
        name: Str,
        /// What would happen.
        preview: Preview,
    },
    /// The question has its answer.
    ApprovalGiven {
        /// The call's id.
        call_id: Str,
        /// The tool's name.
        name: Str,
        /// The answer.
        decision: Decision,
    },
    /// A call was allowed and begins to run.
    ToolCallStarted {
        /// The call's id.
        call_id: Str,
        /// The tool's name.
        name: Str,
        /// The arguments that run.
        arguments: Str,
    },
    /// A running call reported a partial text, which the model never reads.
    ToolProgress {
        /// The call's id.
        call_id: Str,
        /// What the tool said.
        text: Str,
    },
    /// A call has its result, whether it ran or not.
    ToolCallFinished {
        /// The call's id.
        call_id: Str,
        /// The tool's name.
        name: Str,
        /// Whether the result reports a failure.
        is_error: bool,
        /// The class of the failure.
        error: Option<ToolErrorKind>,
        /// The first characters of the result.
        excerpt: Str,
        /// Size of the whole result before any cut.
        bytes: u64,
        /// Whether the model reads a part of it only.
        truncated: bool,
        /// The tool's details for user interfaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<serde_json::Value>,
        /// Tools that it named for showing and that were not: unknown, not to be
        /// seen, or named by a tool that did not declare that it names others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ignored: Vec<ToolName>,
        /// What was changed in the call before it ran.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
        /// How long it ran; 0 if it did not.
        ms: u64,
    },
    /// The run is over. Always the last.
    RunFinished {
        /// How.
        outcome: OutcomeKind,
        /// The text that was accepted as the answer.
        answer: Option<Str>,
        /// Why there is no answer, for people.
        reason: Option<Str>,
        /// The limit that ended it.
        limit: Option<Limit>,
        /// Rounds used.
        rounds: u32,
        /// Attempts after the last round.
        extra_attempts: u32,
        /// Calls run.
        calls: u64,
        /// Sum of the reported tokens.
        usage: Usage,
        /// Sum of the reported costs.
        cost: Option<Cost>,
        /// In all.
        ms: u64,
    },
}

/// The variants of [`crate::Outcome`] without their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeKind {
    /// There is an answer.
    Answered,
    /// The model gave none.
    Unanswered,
    /// A limit ended the run.
    Stopped,
    /// The caller ended the run.
    Cancelled,
    /// The run could not go on.
    Failed,
}

impl Event {
    /// Moves when a reader of the JSON form would have to change.
    pub const VERSION: u32 = 1;

    /// One line of JSON without its end, beginning with the version `v`.
    pub fn to_json(&self) -> String {
        let body = serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned());
        format!("{{\"v\":{},{}", Self::VERSION, &body[1..])
    }
}

/// Whoever watches a run.
pub trait Sink: Send + Sync {
    /// Takes one event. Must not block: the run waits for it.
    fn emit(&self, event: &Event);
}

impl<F: Fn(&Event) + Send + Sync> Sink for F {
    fn emit(&self, event: &Event) {
        self(event);
    }
}

/// Writes each event as one line of JSON. A writer that fails is left alone: the
/// run is worth more than its display.
pub struct JsonLines<W>(Mutex<W>);

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `writer`, flushing after each line.
    pub fn new(writer: W) -> JsonLines<W> {
        JsonLines(Mutex::new(writer))
    }
}

impl<W: Write + Send> Sink for JsonLines<W> {
    fn emit(&self, event: &Event) {
        let mut line = event.to_json();
        line.push('\n');
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer
            .write_all(line.as_bytes())
            .and_then(|()| writer.flush());
    }
}

/// The first characters of a result, on one line.
pub(crate) fn excerpt(content: &[Content]) -> String {
    const CHARACTERS: usize = 120;
    let text = content.iter().find_map(|piece| match piece {
        Content::Text(text) => Some(&**text),
        _ => None,
    });
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.unwrap_or_default()
        .chars()
        .take(CHARACTERS)
        .map(plain)
        .collect()
}

#[cfg(test)]
mod tests;
