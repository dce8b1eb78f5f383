//! A reply as it grows out of chunks.
//!
//! Whole answers and streams go through the same code: a whole answer is one chunk
//! whose message takes the place of the delta. A reply exists only once its end was
//! seen; everything else is an error, however much text came before.

use serde_json::value::RawValue;
use toolcrib_core::{
    AssistantMessage, Block, Finish, History, Message, ModelProfile, RawJson, Reply, ReplyEvent,
    Request, Str, ToolCall,
};

use super::merge::{Calls, MergeError};
use super::usage;
use super::wire::{self, Choice, Chunk, Delta};
use crate::http::{Assemble, Events, Fault, Meter};
use crate::joined::Joined;
use crate::json;
use crate::sse::Flow;

/// Parts of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    text: Joined,
    reasoning: Joined,
    details: Vec<Detail>,
    /// Which field the reasoning came in.
    reasoning_field: &'static str,
    calls: Calls,
    finish: Option<Finish>,
    refused: bool,
    usage: Option<Box<RawValue>>,
    meter: Meter,
}

/// One entry of `reasoning_details`; those of one kind and index continue each
/// other.
#[derive(Debug)]
struct Detail {
    fields: Vec<(String, String)>,
}

impl Assemble for Assembler {
    fn push(&mut self, data: &[u8], on_event: &mut Events<'_>) -> Result<Flow, Fault> {
        self.meter.add(data.len())?;
        let chunk: Chunk<'_> =
            serde_json::from_slice(data).map_err(|_| Fault::not_the_wire("sent", data))?;
        if let Some(error) = chunk.error {
            return Err(Fault::in_reply(error.get()));
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage.to_owned());
        } else if chunk.eval_count.is_some() {
            let whole = String::from_utf8_lossy(data).into_owned();
            self.usage = RawValue::from_string(whole).ok().or(self.usage.take());
        }
        let first = |choice: &&Choice<'_>| choice.index.unwrap_or(0) == 0;
        if let Some(choice) = chunk
            .choices
            .as_deref()
            .unwrap_or_default()
            .iter()
            .find(first)
        {
            self.choice(choice, on_event)?;
        }
        Ok(Flow::Go)
    }

    fn ended(&self) -> bool {
        self.finish.is_some()
    }

    fn delivered(&self) -> bool {
        self.meter.delivered()
    }

    fn finish(
        mut self,
        request: &Request<'_>,
        profile: &ModelProfile,
        on_event: &mut Events<'_>,
    ) -> Result<Reply, Fault> {
        let Some(mut finish) = self.finish.take() else {
            return Err(Fault::broken_off());
        };
        self.announce(true, on_event);
        let mut blocks = Vec::new();
        let raw = self.reasoning_raw();
        let reasoning = self.reasoning.finish();
        if !reasoning.is_empty() || raw.is_some() {
            blocks.push(Block::Reasoning {
                text: reasoning.into(),
                raw,
            });
        }
        let text = self.text.finish();
        if !text.is_empty() {
            blocks.push(Block::Text(text.into()));
        }
        let mut ids = Ids::new(request.history);
        for slot in self.calls.into_slots() {
            let members = slot.extra.iter().map(|(k, v)| (k.as_str(), v.get()));
            let extra = (!slot.extra.is_empty()).then(|| RawJson(json::object(members).into()));
            blocks.push(Block::Call(ToolCall {
                id: ids.unique(slot.id),
                name: slot.name.finish().into(),
                arguments: slot.arguments.finish().into(),
                extra,
            }));
        }
        let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        match finish {
            Finish::Stop if has_calls => finish = Finish::ToolCalls,
            Finish::ToolCalls if !has_calls => finish = Finish::Stop,
            _ => {}
        }
        if self.refused && finish == Finish::Stop {
            finish = Finish::Refusal;
        }
        let (usage, cost) = match &self.usage {
            Some(raw) => usage::read(raw, profile.price),
            None => Default::default(),
        };
        Ok(Reply {
            message: AssistantMessage {
                blocks,
                model: profile.id.clone(),
            },
            finish,
            usage,
            cost,
        })
    }
}

impl Assembler {
    fn choice(&mut self, choice: &Choice<'_>, on_event: &mut Events<'_>) -> Result<(), Fault> {
        if let Some(error) = choice.error {
            return Err(Fault::in_reply(error.get()));
        }
        if let Some(delta) = choice.delta.as_ref().or(choice.message.as_ref()) {
            self.delta(delta, on_event)?;
        }
        if let Some(reason) = json::label(choice.finish_reason) {
            self.finish = Some(finish(&reason)?);
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, on_event: &mut Events<'_>) -> Result<(), Fault> {
        // Some servers send the same reasoning under both names.
        for (field, raw) in [
            ("reasoning_content", delta.reasoning_content),
            ("reasoning", delta.reasoning),
        ] {
            if let Some(bytes) = json::text(raw).filter(|bytes| !bytes.is_empty()) {
                self.reasoning_field = field;
                self.meter.reasoning(self.reasoning.push(&bytes), on_event);
                break;
            }
        }
        if let Some(details) = delta.reasoning_details {
            self.details(details);
        }
        for (raw, refusal) in [(delta.content, false), (delta.refusal, true)] {
            if let Some(bytes) = json::text(raw).filter(|bytes| !bytes.is_empty()) {
                self.refused |= refusal;
                self.meter.text(self.text.push(&bytes), on_event);
            }
        }
        if let Some(pieces) = &delta.tool_calls {
            self.calls.next_chunk();
            for piece in pieces {
                self.calls.push(piece).map_err(merge_fault)?;
            }
            self.announce(false, on_event);
        }
        if let Some(function) = &delta.function_call {
            let piece = wire::CallDelta {
                function: wire::FunctionDelta {
                    name: function.name,
                    arguments: function.arguments,
                },
                ..wire::CallDelta::default()
            };
            self.calls.next_chunk();
            self.calls.push(&piece).map_err(merge_fault)?;
            self.announce(false, on_event);
        }
        Ok(())
    }

    /// Reports calls whose name is known to be complete: its arguments have begun,
    /// or nothing more can come.
    fn announce(&mut self, ended: bool, on_event: &mut Events<'_>) {
        for slot in self.calls.slots() {
            let known = !slot.name.is_empty() && (ended || !slot.arguments.is_empty());
            if known && !slot.announced {
                slot.announced = true;
                on_event(ReplyEvent::CallStarted(slot.name.as_str()));
            }
        }
    }

    fn details(&mut self, raw: &RawValue) {
        let entries: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        for entry in entries {
            let mut fields = Vec::new();
            json::for_each_member(entry.get(), |key, value| {
                fields.push((key.to_owned(), value.to_owned()));
            });
            let detail = Detail { fields };
            match self.details.last_mut() {
                Some(last) if last.continued_by(&detail) => last.append(detail),
                _ => self.details.push(detail),
            }
        }
    }

    /// The reasoning under the names in which it came.
    fn reasoning_raw(&self) -> Option<RawJson> {
        let mut members = Vec::new();
        let text = serde_json::Value::from(self.reasoning.as_str()).to_string();
        if !self.reasoning.is_empty() {
            members.push((self.reasoning_field, text.as_str()));
        }
        let details = self.details.iter().map(Detail::json).collect::<Vec<_>>();
        let details = format!("[{}]", details.join(","));
        if !self.details.is_empty() {
            members.push(("reasoning_details", details.as_str()));
        }
        (!members.is_empty()).then(|| RawJson(json::object(members).into()))
    }
}

impl Detail {
    /// Fields whose pieces are concatenated.
    const TEXTS: [&str; 4] = ["text", "summary", "data", "signature"];

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    fn continued_by(&self, next: &Detail) -> bool {
        let same = |name| self.get(name) == next.get(name);
        let other_id = self.get("id").is_some() && next.get("id").is_some() && !same("id");
        same("type") && same("index") && self.get("index").is_some() && !other_id
    }

    fn append(&mut self, next: Detail) {
        for (key, value) in next.fields {
            let Some((_, old)) = self.fields.iter_mut().find(|(known, _)| *known == key) else {
                self.fields.push((key, value));
                continue;
            };
            let texts = (old.strip_suffix('"'), value.strip_prefix('"'));
            *old = match texts {
                (Some(head), Some(tail)) if Self::TEXTS.contains(&key.as_str()) => {
                    format!("{head}{tail}")
                }
                _ if value == "null" => continue,
                _ => value,
            };
        }
    }

    fn json(&self) -> String {
        json::object(self.fields.iter().map(|(k, v)| (k.as_str(), v.as_str())))
    }
}

/// Reasons known to mean one of ours.
const REASONS: [(&str, Finish); 12] = [
    ("stop", Finish::Stop),
    ("tool_calls", Finish::ToolCalls),
    ("function_call", Finish::ToolCalls),
    ("length", Finish::Length),
    ("content_filter", Finish::ContentFilter),
    ("refusal", Finish::Refusal),
    ("max_tokens", Finish::Length),
    ("model_length", Finish::Length),
    ("tool_use", Finish::ToolCalls),
    ("end_turn", Finish::Stop),
    ("stop_sequence", Finish::Stop),
    ("eos_token", Finish::Stop),
];

fn finish(reason: &str) -> Result<Finish, Fault> {
    if reason == "error" {
        return Err(Fault::said_error());
    }
    let known = REASONS.iter().find(|(word, _)| *word == reason);
    Ok(known.map_or_else(
        || Finish::Other(reason.into()),
        |(_, finish)| finish.clone(),
    ))
}

fn merge_fault(error: MergeError) -> Fault {
    Fault::malformed(match error {
        MergeError::TooMany => "sent more than a thousand tool calls in one reply",
        MergeError::Ambiguous => "sent pieces of tool calls that cannot be told apart",
    })
}

/// Ids of calls, unique within the session as far as its transcript shows.
pub(crate) struct Ids<'a> {
    history: &'a History,
    given: Vec<Str>,
    next: Option<usize>,
}

impl<'a> Ids<'a> {
    pub(crate) fn new(history: &'a History) -> Ids<'a> {
        Ids {
            history,
            given: Vec::new(),
            next: None,
        }
    }

    /// `id` where it is new, else one that is. Nine letters and digits, the
    /// strictest rule that chat templates have.
    pub(crate) fn unique(&mut self, id: Option<String>) -> Str {
        let mut id: Str = id.unwrap_or_default().into();
        while id.is_empty() || self.given.contains(&id) || self.earlier().any(|used| *used == *id) {
            let next = self.next.unwrap_or_else(|| self.earlier().count()) + 1;
            self.next = Some(next);
            id = format!("call{next:05}").into();
        }
        self.given.push(id.clone());
        id
    }

    fn earlier(&self) -> impl Iterator<Item = &'a str> {
        let calls = self.history.messages().filter_map(|message| match message {
            Message::Assistant(message) => Some(message.calls()),
            _ => None,
        });
        calls.flatten().map(|call| &*call.id)
    }
}

#[cfg(test)]
mod tests;
