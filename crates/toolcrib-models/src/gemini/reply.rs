//! A Gemini answer as it grows: parts under one candidate, whole calls, and usage
//! that each chunk repeats as it is so far.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcrib_core::{
    AssistantMessage, Block, Finish, ModelProfile, RawJson, Reply, ReplyEvent, Request, ToolCall,
    ToolDialect, ToolName,
};

use crate::chat::Ids;
use crate::http::{Assemble, Events, Fault, Meter, room};
use crate::joined::Joined;
use crate::json;
use crate::sse::Flow;
use crate::usage;

/// Most parts of one reply.
const MOST: usize = 1 << 16;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow, default, rename = "usageMetadata")]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "promptFeedback")]
    feedback: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Candidate<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    content: Option<Parts<'a>>,
    #[serde(borrow, default, rename = "finishReason")]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default)]
    parts: Option<Vec<&'a RawValue>>,
}

/// Parts of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    pieces: Vec<Piece>,
    finish: Option<Finish>,
    usage: Option<String>,
    meter: Meter,
}

#[derive(Debug)]
enum Piece {
    /// Text that nothing rides on yet.
    Text(Joined),
    /// What rides on the text before.
    Signature(String),
    Thought(Joined),
    /// A thought part with its signature.
    Signed(Joined, String),
    Call(String),
    Other(String),
}

impl Assemble for Assembler {
    fn push(&mut self, data: &[u8], on_event: &mut Events<'_>) -> Result<Flow, Fault> {
        self.meter.add(data.len())?;
        if data.trim_ascii_start().first() == Some(&b'[') {
            // Without the query that asks for events the chunks come as one list.
            let list: Vec<&RawValue> =
                serde_json::from_slice(data).map_err(|_| Fault::not_the_wire("sent", data))?;
            for chunk in list {
                self.chunk(chunk.get().as_bytes(), on_event)?;
            }
            return Ok(Flow::Go);
        }
        self.chunk(data, on_event)?;
        Ok(Flow::Go)
    }

    fn ended(&self) -> bool {
        self.finish.is_some()
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
        let Some(finish) = self.finish else {
            return Err(Fault::broken_off());
        };
        let mut ids = Ids::new(request.history);
        let mut blocks: Vec<Block> = Vec::new();
        for piece in self.pieces {
            match piece {
                Piece::Text(text) => {
                    let text = text.finish();
                    if !text.is_empty() {
                        blocks.push(Block::Text(text.into()));
                    }
                }
                Piece::Signature(raw) | Piece::Other(raw) => {
                    blocks.push(Block::Opaque(RawJson(raw.into())));
                }
                Piece::Thought(text) => blocks.push(Block::Reasoning {
                    text: text.finish().into(),
                    raw: None,
                }),
                Piece::Signed(text, raw) => blocks.push(Block::Reasoning {
                    text: text.finish().into(),
                    raw: Some(RawJson(raw.into())),
                }),
                Piece::Call(part) => blocks.push(call(&part, request, &mut ids)),
            }
        }
        let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
        let finish = match finish {
            Finish::Stop if has_calls => Finish::ToolCalls,
            Finish::ToolCalls if !has_calls => Finish::Stop,
            finish => finish,
        };
        let usage = self.usage.as_deref().map(usage::gemini).unwrap_or_default();
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
    fn chunk(&mut self, data: &[u8], on_event: &mut Events<'_>) -> Result<(), Fault> {
        let chunk: Chunk<'_> =
            serde_json::from_slice(data).map_err(|_| Fault::not_the_wire("sent", data))?;
        if let Some(error) = chunk.error {
            return Err(Fault::in_reply(error.get()));
        }
        let nothing =
            chunk.candidates.is_none() && chunk.usage.is_none() && chunk.feedback.is_none();
        let begun = self.usage.is_some() || !self.pieces.is_empty();
        // Between good chunks one may hold no more than the version of the model.
        if nothing && !(begun && data.trim_ascii_start().starts_with(b"{")) {
            return Err(Fault::not_the_wire("sent", data));
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage.get().to_owned());
        }
        let blocked = |raw: &&RawValue| json::member(raw.get(), "blockReason").is_some();
        if chunk.feedback.as_ref().is_some_and(blocked) {
            self.finish = Some(Finish::ContentFilter);
        }
        let candidates = chunk.candidates.unwrap_or_default();
        let first = |candidate: &&Candidate<'_>| candidate.index.unwrap_or(0) == 0;
        let Some(candidate) = candidates.iter().find(first) else {
            return Ok(());
        };
        let parts = candidate.content.as_ref().and_then(|c| c.parts.as_ref());
        for part in parts.into_iter().flatten() {
            self.part(part.get(), on_event)?;
        }
        if let Some(reason) = candidate.reason.as_deref().filter(|r| !r.is_empty()) {
            self.finish = Some(finish(reason));
        }
        Ok(())
    }

    fn part(&mut self, part: &str, on_event: &mut Events<'_>) -> Result<(), Fault> {
        room(self.pieces.len(), MOST)?;
        let text = json::member(part, "text");
        let signature = json::member(part, "thoughtSignature");
        if let Some(call) = json::member(part, "functionCall") {
            if let Some(name) = json::member(&call, "name")
                .as_deref()
                .and_then(json::string)
            {
                on_event(ReplyEvent::CallStarted(&String::from_utf8_lossy(&name)));
            }
            self.pieces.push(Piece::Call(part.to_owned()));
            return Ok(());
        }
        let Some(bytes) = text.as_deref().and_then(json::string) else {
            self.pieces.push(Piece::Other(part.to_owned()));
            return Ok(());
        };
        let thought = json::member(part, "thought").as_deref() == Some("true");
        if let (false, Some(signature)) = (thought, &signature)
            && bytes.is_empty()
        {
            // The signature of an empty part stays on that part.
            let whole = json::object([("text", "\"\""), ("thoughtSignature", signature)]);
            self.pieces.push(Piece::Other(whole));
            return Ok(());
        }
        // A part that is signed is not one with its neighbours.
        let joins = match (self.pieces.last(), &signature) {
            (Some(Piece::Text(_)), None) => !thought,
            (Some(Piece::Thought(_)), None) => thought,
            _ => false,
        };
        if !joins {
            self.pieces.push(match (thought, &signature) {
                (true, Some(_)) => Piece::Signed(Joined::default(), part.to_owned()),
                (true, None) => Piece::Thought(Joined::default()),
                (false, _) => Piece::Text(Joined::default()),
            });
        }
        if let Some(Piece::Text(joined) | Piece::Thought(joined) | Piece::Signed(joined, _)) =
            self.pieces.last_mut()
        {
            let shown = joined.push(&bytes);
            if thought {
                self.meter.reasoning(shown, on_event);
            } else {
                self.meter.text(shown, on_event);
            }
        }
        if let (false, Some(signature)) = (thought, &signature) {
            let whole = json::object([("thoughtSignature", signature.as_str())]);
            self.pieces.push(Piece::Signature(whole));
        }
        Ok(())
    }
}

fn call(part: &str, request: &Request<'_>, ids: &mut Ids<'_>) -> Block {
    let call = json::member(part, "functionCall").unwrap_or_default();
    let text = |name| {
        let raw = json::member(&call, name)?;
        let bytes = json::string(&raw)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let given = json::member(&call, "id").filter(|id| id.len() > 2 && id.starts_with('"'));
    let mut kept: Vec<(String, String)> = Vec::new();
    if let Some(id) = given {
        kept.push(("id".to_owned(), id));
    }
    json::for_each_member(part, |key, value| {
        if key != "functionCall" {
            kept.push((key.to_owned(), value.to_owned()));
        }
    });
    let members = kept.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let extra = (!kept.is_empty()).then(|| RawJson(json::object(members).into()));
    let name = text("name").unwrap_or_default();
    let offered = request.plan.tools().iter().map(|spec| &spec.name);
    let known = ToolName::from_wire(ToolDialect::Gemini, &name, offered);
    Block::Call(ToolCall {
        id: ids.unique(text("id")),
        name: known.map_or(name.as_str(), ToolName::as_str).into(),
        arguments: json::member(&call, "args").unwrap_or_default().into(),
        extra,
    })
}

fn finish(reason: &str) -> Finish {
    match reason {
        "STOP" | "FINISH_REASON_UNSPECIFIED" => Finish::Stop,
        // Not among the provider's own, but proxies say it.
        "FUNCTION_CALL" => Finish::ToolCalls,
        "MAX_TOKENS" => Finish::Length,
        "CONTINUATION" => Finish::Paused,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => Finish::ContentFilter,
        other => Finish::Other(other.into()),
    }
}

#[cfg(test)]
mod tests;
