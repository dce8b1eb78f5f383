//! A Responses answer as it grows.
//!
//! The deltas are for whoever watches; the reply is made of the items as they are
//! when they are done, which alone are complete and signed.

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

/// Most items of one reply.
const MOST: usize = 4096;

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    object: Option<&'a RawValue>,
    #[serde(default)]
    output_index: Option<u64>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    incomplete_details: Option<&'a RawValue>,
}

/// Parts of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    /// Done items by their place in the output.
    items: Vec<(u64, String)>,
    text: Joined,
    reasoning: Joined,
    finish: Option<Finish>,
    usage: Option<String>,
    meter: Meter,
    announced: usize,
}

impl Assemble for Assembler {
    fn push(&mut self, data: &[u8], on_event: &mut Events<'_>) -> Result<Flow, Fault> {
        self.meter.add(data.len())?;
        let odd = |_| Fault::not_the_wire("sent", data);
        let frame: Frame<'_> = serde_json::from_slice(data).map_err(odd)?;
        let kind = frame.kind.as_deref().unwrap_or_default();
        match kind {
            "error" => {
                return Err(Fault::in_reply(&String::from_utf8_lossy(data)));
            }
            "response.output_item.added" => {
                let name = frame.item.and_then(|item| called(item.get()));
                if let Some(name) = name {
                    self.announced += 1;
                    on_event(ReplyEvent::CallStarted(&name));
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let piece = frame.delta.and_then(|delta| json::string(delta.get()));
                let shown = self.text.push(&piece.unwrap_or_default());
                self.meter.text(shown, on_event);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let piece = frame.delta.and_then(|delta| json::string(delta.get()));
                let shown = self.reasoning.push(&piece.unwrap_or_default());
                self.meter.reasoning(shown, on_event);
            }
            "response.output_item.done" => {
                room(self.items.len(), MOST)?;
                if let Some(item) = frame.item {
                    let at = frame.output_index.unwrap_or(self.items.len() as u64);
                    match self.items.iter_mut().find(|(known, _)| *known == at) {
                        Some((_, old)) => item.get().clone_into(old),
                        None => self.items.push((at, item.get().to_owned())),
                    }
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let raw = frame.response.map_or("{}", RawValue::get);
                self.end(serde_json::from_str(raw).map_err(odd)?)?;
                return Ok(Flow::Stop);
            }
            _ if frame.object.is_some_and(|raw| raw.get() == "\"response\"") => {
                self.end(serde_json::from_slice(data).map_err(odd)?)?;
            }
            "" => {
                return Err(match frame.error {
                    Some(error) => Fault::in_reply(error.get()),
                    None => Fault::not_the_wire("sent", data),
                });
            }
            _ => {}
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
        let Some(finish) = self.finish.take() else {
            return Err(Fault::broken_off());
        };
        let mut items = std::mem::take(&mut self.items);
        items.sort_by_key(|(at, _)| *at);
        let search = request.plan.loader_tools().first();
        let search = search.map_or("tool_search", |spec| spec.name.as_str());
        let mut ids = Ids::new(request.history);
        let mut read = Read::default();
        for (_, item) in &items {
            read.item(item, search, &mut ids);
        }
        // A whole answer announces nothing on the way.
        self.announce(&read, on_event);
        let Read {
            mut blocks,
            refused,
        } = read;
        // What was shown is said, though a server keeps it out of its items.
        let said = self.text.finish();
        if !said.is_empty() && !blocks.iter().any(|block| matches!(block, Block::Text(_))) {
            let first = |block: &Block| matches!(block, Block::Call(_));
            let at = blocks.iter().position(first).unwrap_or(blocks.len());
            blocks.insert(at, Block::Text(said.into()));
        }
        let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        let finish = match finish {
            Finish::Stop if has_calls => Finish::ToolCalls,
            Finish::Stop if refused => Finish::Refusal,
            finish => finish,
        };
        let usage = self
            .usage
            .as_deref()
            .map(usage::responses)
            .unwrap_or_default();
        let cost = profile
            .price
            .and_then(|price| usage::estimate(&usage, price, 1.0));
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
    fn end(&mut self, response: Response<'_>) -> Result<(), Fault> {
        if let Some(error) = response.error.filter(|raw| raw.get() != "null") {
            return Err(Fault::in_reply(error.get()));
        }
        let reason = response
            .incomplete_details
            .and_then(|details| json::member(details.get(), "reason"));
        self.finish = Some(match response.status.as_deref() {
            Some("completed") | None => Finish::Stop,
            Some("incomplete") => match reason.as_deref() {
                Some("\"max_output_tokens\"") | None => Finish::Length,
                Some("\"content_filter\"") => Finish::ContentFilter,
                Some(other) => Finish::Other(other.trim_matches('"').into()),
            },
            Some(_) => return Err(Fault::said_error()),
        });
        self.usage = response
            .usage
            .map(RawValue::get)
            .filter(|raw| *raw != "null")
            .map(str::to_owned);
        let output = response.output.unwrap_or_default();
        if output.len() > self.items.len() {
            let numbered = output.iter().enumerate();
            self.items = numbered
                .map(|(at, item)| (at as u64, item.get().to_owned()))
                .collect();
        }
        Ok(())
    }

    fn announce(&mut self, read: &Read, on_event: &mut Events<'_>) {
        if self.text.is_empty() {
            for block in &read.blocks {
                if let Block::Text(text) = block {
                    on_event(ReplyEvent::Text(text));
                }
            }
        }
        let calls = read.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(&call.name),
            _ => None,
        });
        for name in calls.skip(self.announced) {
            on_event(ReplyEvent::CallStarted(name));
        }
    }
}

/// The name of a call that an item begins.
fn called(item: &str) -> Option<String> {
    let kind = json::member(item, "type")?;
    match kind.as_str() {
        "\"function_call\"" => text(item, "name"),
        "\"tool_search_call\"" => Some("tool_search".to_owned()),
        _ => None,
    }
}

fn text(item: &str, name: &str) -> Option<String> {
    let raw = json::member(item, name)?;
    let bytes = json::string(&raw)?;
    let mut joined = Joined::default();
    joined.push(&bytes);
    Some(joined.finish())
}

#[derive(Debug, Default)]
struct Read {
    blocks: Vec<Block>,
    refused: bool,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
}

impl Read {
    fn item(&mut self, item: &str, search: &str, ids: &mut Ids<'_>) {
        let kind = text(item, "type").unwrap_or_default();
        match kind.as_str() {
            "message" => {
                self.message(item);
                // What only the whole item says goes back with it.
                let more = |name| json::member(item, name).is_some_and(|raw| raw != "null");
                if more("phase") {
                    self.blocks.push(Block::Opaque(RawJson(item.into())));
                }
            }
            "function_call" => {
                let arguments = match json::member(item, "arguments") {
                    Some(raw) if raw.starts_with('"') => text(item, "arguments"),
                    raw => raw,
                };
                self.blocks.push(Block::Call(ToolCall {
                    id: ids.unique(text(item, "call_id").or_else(|| text(item, "id"))),
                    name: text(item, "name").unwrap_or_default().into(),
                    arguments: arguments.unwrap_or_default().into(),
                    extra: extra(item, &["id", "namespace", "caller"]),
                }));
            }
            "tool_search_call" if text(item, "execution").as_deref() != Some("server") => {
                let arguments = json::member(item, "arguments").unwrap_or_default();
                self.blocks.push(Block::Call(ToolCall {
                    id: ids.unique(text(item, "call_id").or_else(|| text(item, "id"))),
                    name: search.into(),
                    arguments: arguments.into(),
                    extra: extra(item, &["type", "id"]),
                }));
            }
            "reasoning" => {
                let mut clear = String::new();
                for list in ["summary", "content"] {
                    let raw = json::member(item, list).unwrap_or_default();
                    let parts: Vec<Part<'_>> = serde_json::from_str(&raw).unwrap_or_default();
                    for part in parts {
                        push_text(&mut clear, part.text);
                    }
                    if !clear.is_empty() {
                        break;
                    }
                }
                self.blocks.push(Block::Reasoning {
                    text: clear.into(),
                    raw: Some(RawJson(item.into())),
                });
            }
            _ => self.blocks.push(Block::Opaque(RawJson(item.into()))),
        }
    }

    fn message(&mut self, item: &str) {
        let content = json::member(item, "content").unwrap_or_default();
        let parts: Vec<Part<'_>> = serde_json::from_str(&content).unwrap_or_default();
        let mut said = String::new();
        for part in parts {
            let refused = part.kind.as_deref() == Some("refusal");
            self.refused |= refused;
            push_text(&mut said, if refused { part.refusal } else { part.text });
        }
        if !said.is_empty() {
            self.blocks.push(Block::Text(said.into()));
        }
    }
}

fn push_text(out: &mut String, raw: Option<&RawValue>) {
    if let Some(bytes) = raw.and_then(|raw| json::string(raw.get())) {
        let mut joined = Joined::default();
        joined.push(&bytes);
        out.push_str(&joined.finish());
    }
}

/// The named members of an item, as received; none where it has none of them.
fn extra(item: &str, names: &[&str]) -> Option<RawJson> {
    let mut kept = Vec::new();
    json::for_each_member(item, |key, value| {
        if names.contains(&key) && value != "null" {
            kept.push((key.to_owned(), value.to_owned()));
        }
    });
    let members = kept.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    (!kept.is_empty()).then(|| RawJson(json::object(members).into()))
}

#[cfg(test)]
mod tests;
