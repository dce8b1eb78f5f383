//! A Messages answer as it grows.
//!
//! Blocks come under an index, their parts in deltas. Every field of a block is kept
//! as the text that came: pieces of a string are joined between their quotes, so
//! that a signature still fits the block it was made for.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcrib_core::{
    AssistantMessage, Block, Finish, ModelProfile, RawJson, Reply, ReplyEvent, Request, ToolCall,
};

use crate::chat::Ids;
use crate::http::{Assemble, Events, Fault, Meter, room};
use crate::joined::Joined;
use crate::json;
use crate::sse::Flow;
use crate::usage;

/// Most blocks of one reply.
const MOST: usize = 4096;

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    // Members of a whole answer.
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    stop_reason: Option<&'a RawValue>,
}

/// Parts of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    slots: Vec<Slot>,
    stop: Option<String>,
    ended: bool,
    usage: Vec<(String, String)>,
    meter: Meter,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    kind: String,
    /// All members but those below, in the order received.
    fields: Vec<(String, String)>,
    /// Visible text, or what can be read of the thinking.
    text: Joined,
    input: Joined,
}

impl Assemble for Assembler {
    fn push(&mut self, data: &[u8], on_event: &mut Events<'_>) -> Result<Flow, Fault> {
        self.meter.add(data.len())?;
        let frame: Frame<'_> =
            serde_json::from_slice(data).map_err(|_| Fault::not_the_wire("sent", data))?;
        if let Some(error) = frame.error {
            return Err(Fault::in_reply(error.get()));
        }
        match frame.kind.as_deref() {
            Some("error") => return Err(Fault::in_reply(&String::from_utf8_lossy(data))),
            Some("message_start") => {
                let usage = frame.message.and_then(|m| json::member(m.get(), "usage"));
                self.count(usage.as_deref());
            }
            Some("content_block_start") => {
                if let Some(block) = frame.content_block {
                    self.start(frame.index, block.get(), on_event)?;
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = frame.delta {
                    self.delta(frame.index, delta.get(), on_event)?;
                }
            }
            Some("message_delta") => {
                let reason = frame
                    .delta
                    .and_then(|d| json::member(d.get(), "stop_reason"));
                self.stopped(reason.as_deref());
                self.count(frame.usage.map(RawValue::get));
            }
            Some("message_stop") => {
                self.ended = true;
                return Ok(Flow::Stop);
            }
            Some("message") => {
                for (at, block) in frame.content.unwrap_or_default().iter().enumerate() {
                    self.start(Some(at as u64), block.get(), on_event)?;
                }
                self.stopped(frame.stop_reason.map(RawValue::get));
                self.count(frame.usage.map(RawValue::get));
                self.ended = self.stop.is_some();
            }
            Some(_) => {}
            None => return Err(Fault::not_the_wire("sent", data)),
        }
        Ok(Flow::Go)
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn delivered(&self) -> bool {
        self.meter.delivered()
    }

    fn finish(
        self,
        request: &Request<'_>,
        profile: &ModelProfile,
        _: &mut Events<'_>,
    ) -> Result<Reply, Fault> {
        let reason = match self.stop {
            Some(reason) if self.ended => reason,
            _ => return Err(Fault::broken_off()),
        };
        let mut ids = Ids::new(request.history);
        let blocks: Vec<Block> = self
            .slots
            .into_iter()
            .filter_map(|slot| slot.block(&mut ids))
            .collect();
        let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        let finish = match finish(&reason) {
            Finish::Stop if has_calls => Finish::ToolCalls,
            Finish::ToolCalls if !has_calls => Finish::Stop,
            finish => finish,
        };
        let usage = usage::messages(&self.usage);
        let cost = profile.price.and_then(|price| {
            // Writing to the cache costs a quarter more than reading the prompt.
            usage::estimate(&usage, price, 1.25)
        });
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
    fn start(
        &mut self,
        index: Option<u64>,
        block: &str,
        on_event: &mut Events<'_>,
    ) -> Result<(), Fault> {
        room(self.slots.len(), MOST)?;
        let mut slot = Slot {
            index,
            ..Slot::default()
        };
        json::for_each_member(block, |key, value| {
            if key == "type" {
                slot.kind = json::string(value).map_or_else(String::new, lossy);
            }
            slot.fields.push((key.to_owned(), value.to_owned()));
        });
        let field = match slot.kind.as_str() {
            "text" => Some("text"),
            "thinking" => Some("thinking"),
            _ => None,
        };
        let said = field.and_then(|field| slot.get(field).map(str::to_owned));
        if slot.kind == "tool_use"
            && let Some(name) = slot.get("name").and_then(json::string)
        {
            on_event(ReplyEvent::CallStarted(&lossy(name)));
        }
        self.slots.push(slot);
        if let (Some(said), Some(slot)) = (said, self.slots.last_mut()) {
            slot.show(&said, &mut self.meter, on_event);
        }
        Ok(())
    }

    fn delta(
        &mut self,
        index: Option<u64>,
        delta: &str,
        on_event: &mut Events<'_>,
    ) -> Result<(), Fault> {
        // A piece without a number is of the block that began last.
        let mut slots = self.slots.iter_mut();
        let slot = slots.rfind(|slot| index.is_none() || slot.index == index);
        let slot =
            slot.ok_or_else(|| Fault::malformed("sent a piece of a block that it had not begun"))?;
        let meter = &mut self.meter;
        json::for_each_member(delta, |key, value| match key {
            "type" => {}
            "text" if slot.kind == "text" => slot.show(value, meter, on_event),
            "thinking" if slot.kind == "thinking" => {
                slot.show(value, meter, on_event);
                slot.append(key, value);
            }
            "partial_json" => {
                match json::string(value) {
                    Some(piece) => slot.input.push(&piece),
                    // An object where a string belongs is kept as it was written.
                    None => slot.input.push(value.as_bytes()),
                };
            }
            "citation" => slot.cite(value),
            _ => slot.append(key, value),
        });
        Ok(())
    }

    fn stopped(&mut self, reason: Option<&str>) {
        if let Some(reason) = reason.and_then(json::string).map(lossy) {
            self.stop = Some(reason);
        }
    }

    /// Takes a record of tokens; its numbers are sums so far, so the last one counts.
    fn count(&mut self, record: Option<&str>) {
        json::for_each_member(record.unwrap_or_default(), |key, value| {
            match self.usage.iter_mut().find(|(known, _)| known == key) {
                Some(_) if value == "null" => {}
                Some((_, old)) => value.clone_into(old),
                None => self.usage.push((key.to_owned(), value.to_owned())),
            }
        });
    }
}

fn lossy(bytes: Cow<'_, [u8]>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Slot {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Reports a piece of text or thinking, given as a JSON string.
    fn show(&mut self, value: &str, meter: &mut Meter, on_event: &mut Events<'_>) {
        let bytes = json::string(value).unwrap_or_default();
        let piece = self.text.push(&bytes);
        if self.kind == "thinking" {
            meter.reasoning(piece, on_event);
        } else {
            meter.text(piece, on_event);
        }
    }

    /// Adds to a field: strings are joined, anything else takes the old one's place.
    fn append(&mut self, key: &str, value: &str) {
        let Some((_, old)) = self.fields.iter_mut().find(|(known, _)| known == key) else {
            self.fields.push((key.to_owned(), value.to_owned()));
            return;
        };
        match (old.strip_suffix('"'), value.strip_prefix('"')) {
            (Some(head), Some(tail)) => *old = format!("{head}{tail}"),
            _ => value.clone_into(old),
        }
    }

    fn cite(&mut self, citation: &str) {
        let field = self.fields.iter_mut().find(|(key, _)| key == "citations");
        match field {
            Some((_, list)) if list.ends_with(']') && list.len() > 2 => {
                list.pop();
                list.push(',');
                list.push_str(citation);
                list.push(']');
            }
            Some((_, list)) => *list = format!("[{citation}]"),
            None => self
                .fields
                .push(("citations".to_owned(), format!("[{citation}]"))),
        }
    }

    fn raw(&self) -> RawJson {
        let members = self.fields.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        RawJson(json::object(members).into())
    }

    fn block(mut self, ids: &mut Ids<'_>) -> Option<Block> {
        match self.kind.as_str() {
            "text" => {
                let text = self.text.finish();
                (!text.is_empty()).then(|| Block::Text(text.into()))
            }
            "thinking" => {
                let raw = Some(self.raw());
                Some(Block::Reasoning {
                    text: self.text.finish().into(),
                    raw,
                })
            }
            "redacted_thinking" => Some(Block::Reasoning {
                text: "".into(),
                raw: Some(self.raw()),
            }),
            "tool_use" => {
                let text = |name| self.get(name).and_then(json::string).map(lossy);
                let id = ids.unique(text("id"));
                let name = text("name").unwrap_or_default();
                let written = self.get("input").unwrap_or_default().to_owned();
                let rest = self.fields.iter().filter(|(key, value)| {
                    !matches!(key.as_str(), "type" | "id" | "name" | "input") && value != "null"
                });
                let rest: Vec<_> = rest.map(|(k, v)| (k.as_str(), v.as_str())).collect();
                let extra = (!rest.is_empty()).then(|| RawJson(json::object(rest).into()));
                let streamed = self.input.finish();
                let arguments = if streamed.is_empty() {
                    written
                } else {
                    streamed
                };
                Some(Block::Call(ToolCall {
                    id,
                    name: name.into(),
                    arguments: arguments.into(),
                    extra,
                }))
            }
            _ => {
                let input = std::mem::take(&mut self.input).finish();
                if json::is_object(&input)
                    && let Some((_, old)) = self.fields.iter_mut().find(|(key, _)| key == "input")
                {
                    *old = input;
                }
                Some(Block::Opaque(self.raw()))
            }
        }
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" | "stop" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        // With a full window the last block may be cut like at the limit.
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "pause_turn" => Finish::Paused,
        "refusal" => Finish::Refusal,
        other => Finish::Other(other.into()),
    }
}

#[cfg(test)]
mod tests;
