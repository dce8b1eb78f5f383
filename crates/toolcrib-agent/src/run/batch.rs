//! The calls of one reply, from the reply to their results.

use serde::{Deserialize, Serialize};
use toolcrib_core::{AssistantMessage, Block, Content, Finish, Message, Str, ToolCall, ToolResult};

use super::guard::Notice;
use super::{CallResult, OutOfTurn, Phase, Run};
use crate::step::Refusal;
use crate::{End, Limit, PlannedCall, Unanswered, words};

/// One reply with calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Batch {
    /// The reply, until it is in the transcript.
    message: Option<AssistantMessage>,
    planned: Vec<PlannedCall>,
}

impl Batch {
    pub(super) fn planned(&self) -> &[PlannedCall] {
        &self.planned
    }

    pub(super) fn refuse_all(&mut self, limit: &str) {
        for planned in &mut self.planned {
            planned
                .refusal
                .get_or_insert_with(|| Refusal::Stopped(limit.into()));
        }
    }
}

impl Run {
    /// Decides which calls of a reply may run.
    pub(super) fn plan_calls(&mut self, mut message: AssistantMessage, finish: &Finish) {
        let last = message.calls().count() - 1;
        let mut left = self
            .budget
            .tool_calls
            .map(|limit| (limit, limit.saturating_sub(self.tally.calls)));
        let mut planned = Vec::with_capacity(last + 1);
        for block in &mut message.blocks {
            let Block::Call(call) = block else { continue };
            call.id = self.ids.unique(&call.id);
            let mut refusal = damage(call, *finish == Finish::Length, planned.len() == last);
            if let (None, Some((limit, left))) = (&refusal, &mut left) {
                match left.checked_sub(1) {
                    Some(less) => *left = less,
                    None => refusal = Some(Refusal::CallsSpent(*limit)),
                }
            }
            planned.push(PlannedCall {
                call: call.clone(),
                refusal,
            });
        }
        if matches!(left, Some((_, 0))) {
            self.hurry = Some(Limit::ToolCalls);
        }
        self.phase = Phase::Calls(Batch {
            message: Some(message),
            planned,
        });
    }

    /// Takes the calls as they will run, one for each planned call and in the same
    /// order, and appends the reply to the transcript with them. Without it the
    /// reply is appended as received by [`Run::calls_done`], arguments that cannot
    /// be sent back replaced by `{}`.
    ///
    /// # Errors
    /// [`OutOfTurn`] when no calls were to be run; nothing changes then.
    pub fn calls_prepared(
        &mut self,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> Result<(), OutOfTurn> {
        let Phase::Calls(batch) = &mut self.phase else {
            return Err(self.out_of_turn("calls_prepared"));
        };
        let Some(mut message) = batch.message.take() else {
            return Ok(());
        };
        let mut calls = calls.into_iter();
        for (planned, slot) in batch.planned.iter_mut().zip(calls_of(&mut message)) {
            let prepared = match calls.next() {
                // Ids are the machine's own; all else is the dispatcher's to settle.
                Some(call) => ToolCall {
                    id: planned.call.id.clone(),
                    ..call
                },
                None => sendable(&planned.call),
            };
            planned.call = prepared.clone();
            *slot = prepared;
        }
        let ran = batch.planned.iter().filter(|p| p.refusal.is_none()).count();
        self.tally.calls += ran as u64;
        self.push(Message::Assistant(message));
        Ok(())
    }

    /// Takes the results, in call order. A call without one gets an error result,
    /// and a result without a call is dropped.
    ///
    /// # Errors
    /// [`OutOfTurn`] when no calls were to be run; nothing changes then.
    pub fn calls_done<R: Into<CallResult>>(&mut self, results: Vec<R>) -> Result<(), OutOfTurn> {
        match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Calls(batch) => {
                let results = results.into_iter().map(Into::into).collect();
                self.close_batch(batch, results, words::NO_RESULT);
                Ok(())
            }
            other => {
                self.phase = other;
                Err(self.out_of_turn("calls_done"))
            }
        }
    }

    /// Appends one result for each call, `missing` where there is none, and leaves
    /// the machine ready for the next round.
    pub(super) fn close_batch(&mut self, batch: Batch, results: Vec<CallResult>, missing: &str) {
        self.phase = Phase::Calls(batch);
        if self.calls_prepared([]).is_err() {
            return;
        }
        let Phase::Calls(batch) = std::mem::replace(&mut self.phase, Phase::Ready) else {
            return;
        };
        let mut results: Vec<Option<CallResult>> = results.into_iter().map(Some).collect();
        let count = batch.planned.len();
        let mut cut = false;
        for (i, planned) in batch.planned.into_iter().enumerate() {
            let call = &planned.call;
            let mine = |slot: &&mut Option<CallResult>| {
                slot.as_ref()
                    .is_some_and(|ended| ended.result.call_id == call.id)
            };
            // In order nearly always, and then the first look finds it.
            let found = match results.get_mut(i).filter(mine) {
                Some(slot) => slot.take(),
                None => results.iter_mut().find(mine).and_then(Option::take),
            };
            let mut result = match found {
                // A spent limit is no failure of a tool, and one cut of a reply is one.
                Some(ended) if !planned.refusal.as_ref().is_none_or(|why| why.counts(cut)) => {
                    ended.result
                }
                Some(ended) => {
                    let notice = self.guard.notice(call, &ended);
                    self.heed(notice, &call.name, ended)
                }
                None => {
                    let text = match &planned.refusal {
                        Some(refusal) => refusal.to_error().for_model(),
                        None => format!("error: {missing}"),
                    };
                    ToolResult::text(call, text, true)
                }
            };
            cut |= planned.refusal == Some(Refusal::Cut);
            if i + 1 == count {
                self.append_countdown(&mut result.content);
            }
            self.push(Message::Tool(result));
        }
        if let (Some(stuck), Phase::Ready) = (self.stuck.take(), &self.phase) {
            self.over(End::Unanswered(stuck));
        }
    }

    /// Does what a notice asks for, and adds to the result what the model is told.
    fn heed(&mut self, notice: Notice, name: &Str, ended: CallResult) -> ToolResult {
        let CallResult {
            mut result, wanted, ..
        } = ended;
        match notice {
            Notice::Fine => {}
            Notice::FailedAgain => append(&mut result.content, &words::failed_again(&wanted)),
            Notice::Stuck => {
                let text = text_of(&result.content);
                self.stuck.get_or_insert_with(|| Unanswered::Stuck {
                    tool: name.clone(),
                    error: text.chars().take(200).collect::<String>().into(),
                });
            }
            Notice::SameAgain => append(&mut result.content, words::SAME_AGAIN),
            Notice::Enough => {
                append(&mut result.content, words::SAME_AGAIN);
                self.hurry.get_or_insert(Limit::Repeats);
            }
        }
        result
    }

    /// Written once, when the result enters the transcript, and never again: a
    /// countdown kept up to date would change bytes already sent.
    fn append_countdown(&self, content: &mut Vec<Content>) {
        let countdown = words::countdown(
            self.tally.rounds,
            self.budget.rounds,
            self.hurry,
            self.rules.format.as_deref(),
        );
        append(content, &countdown);
    }
}

/// Adds a paragraph to a result.
fn append(content: &mut Vec<Content>, text: &str) {
    match content.last_mut() {
        Some(Content::Text(last)) => *last = format!("{last}\n\n{text}").into(),
        _ => content.push(Content::text(text)),
    }
}

fn text_of(content: &[Content]) -> &str {
    let text = content.iter().find_map(|piece| match piece {
        Content::Text(text) => Some(&**text),
        _ => None,
    });
    text.unwrap_or_default()
}

fn calls_of(message: &mut AssistantMessage) -> impl Iterator<Item = &mut ToolCall> {
    message.blocks.iter_mut().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        _ => None,
    })
}

/// Whether a call arrived whole. The last call of a cut reply is suspect even if
/// its arguments parse: a cut `{"n":12` may have been closed by the server.
fn damage(call: &ToolCall, cut: bool, last: bool) -> Option<Refusal> {
    if cut && last {
        return Some(Refusal::Cut);
    }
    let text = call.arguments.trim();
    if text.is_empty() {
        return None;
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => None,
        Err(_) if cut => Some(Refusal::Cut),
        Err(error) if error.is_eof() => Some(Refusal::Open),
        Err(_) => None,
    }
}

/// The call as it can be sent back: some servers refuse every later request over
/// arguments that are not an object.
fn sendable(call: &ToolCall) -> ToolCall {
    // Read in full: what is nested deeper than parsers go is refused as well.
    let read = serde_json::from_str::<serde_json::Value>(&call.arguments);
    let arguments: Str = if read.is_ok_and(|value| value.is_object()) {
        call.arguments.clone()
    } else {
        "{}".into()
    };
    ToolCall {
        arguments,
        ..call.clone()
    }
}
