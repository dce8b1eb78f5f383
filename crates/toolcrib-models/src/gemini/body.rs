//! A Gemini request out of bytes rendered once.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use toolcrib_core::{
    AssistantMessage, Block, Content, HistoryItem, Message, RawJson, Request, Str, ToolCall,
    ToolChoice, ToolDialect, ToolName, ToolResult, ToolSpec, TurnPlan,
};

use crate::json::{self, is_object, members, quote};
use crate::turns::{EMPTY, Items, NO_OUTPUT, turns};

const OPENING: &[u8] = br#"{"text":"(the conversation goes on)"}"#;

/// What the bytes depend on besides the request.
#[derive(Debug)]
pub(crate) struct Renderer {
    /// `{` and all else that comes before the tools.
    pub(crate) head: Vec<u8>,
    /// The id under which this model's own messages are recorded.
    pub(crate) id: Str,
}

/// What every body begins with, up to the tools; the model's name is in the address.
pub(crate) fn head(extra: &[(String, serde_json::Value)]) -> Vec<u8> {
    let mut head = b"{".to_vec();
    for (key, value) in extra {
        quote(&mut head, key);
        let _ = write!(head, ":{value},");
    }
    head
}

/// A name that a model wrote, as this wire accepts it.
fn wire_name(name: &str) -> String {
    let name = ToolName::from_foreign(name);
    name.on_wire(ToolDialect::Gemini).into_owned()
}

impl Renderer {
    pub(crate) fn body(&self, request: &Request<'_>) -> Bytes {
        let plan = request.plan;
        // An empty list is refused.
        let sends_tools =
            !plan.tools().is_empty() && !matches!(request.tool_choice, ToolChoice::Withhold);
        let items = request.history.items();
        let turns = turns(request, OPENING, |at, item| {
            self.message(&items[..at], item)
        });
        let mut body = self.head.clone();
        if sends_tools {
            body.extend_from_slice(&plan.rendered.get_or_render("gemini.tools", || tools(plan)));
        }
        if !plan.system().trim().is_empty() {
            body.extend_from_slice(b"\"systemInstruction\":{\"parts\":[{\"text\":");
            quote(&mut body, plan.system());
            body.extend_from_slice(b"}]},");
        }
        body.extend_from_slice(b"\"contents\":[");
        for (at, turn) in turns.iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            let role = if turn.model { "model" } else { "user" };
            let _ = write!(body, "{{\"role\":\"{role}\",\"parts\":[");
            for (n, piece) in turn.pieces.iter().enumerate() {
                if n > 0 {
                    body.push(b',');
                }
                body.extend_from_slice(piece);
            }
            body.extend_from_slice(b"]}");
        }
        body.push(b']');
        if sends_tools {
            choice(&mut body, request.tool_choice);
        }
        if let Some(limit) = request.max_output_tokens {
            let _ = write!(
                body,
                ",\"generationConfig\":{{\"maxOutputTokens\":{limit}}}"
            );
        }
        body.push(b'}');
        body.into()
    }

    fn message(&self, before: &[Arc<HistoryItem>], item: &HistoryItem) -> Arc<[u8]> {
        let cache = &item.rendered;
        match &**item {
            Message::User(content) => cache.get_or_render("gemini.user", || user(content)),
            Message::Assistant(message) if message.model == self.id => {
                cache.get_or_render("gemini.assistant.own", || assistant(message, true))
            }
            Message::Assistant(message) => {
                cache.get_or_render("gemini.assistant", || assistant(message, false))
            }
            Message::Tool(result) => {
                let id = self.id_of(before, result);
                let key = match id {
                    Some(_) => "gemini.tool.id",
                    None => "gemini.tool",
                };
                cache.get_or_render(key, || output(result, id.as_deref()))
            }
            _ => cache.get_or_render("gemini.other", || user(&[])),
        }
    }

    /// The id that the model itself gave the call, as JSON; most give none.
    fn id_of(&self, before: &[Arc<HistoryItem>], result: &ToolResult) -> Option<String> {
        let message = before.iter().rev().find_map(|item| match &***item {
            Message::Assistant(message) => Some(message),
            _ => None,
        })?;
        let mut calls = message.calls().filter(|_| message.model == self.id);
        let call = calls.find(|call| call.id == result.call_id)?;
        json::member(&call.extra.as_ref()?.0, "id")
    }
}

fn tools(plan: &TurnPlan) -> Vec<u8> {
    let mut list = Items::default();
    for spec in plan.tools() {
        let render = || declaration(spec);
        list.push(&spec.rendered.get_or_render("gemini.spec", render));
    }
    let mut out = b"\"tools\":[{\"functionDeclarations\":[".to_vec();
    out.extend_from_slice(&list.0);
    out.extend_from_slice(b"]}],");
    out
}

fn declaration(spec: &ToolSpec) -> Vec<u8> {
    let mut out = b"{\"name\":".to_vec();
    quote(&mut out, &spec.name.on_wire(ToolDialect::Gemini));
    out.extend_from_slice(b",\"description\":");
    quote(&mut out, &spec.description);
    let schema = spec.fitted(ToolDialect::Gemini).wire();
    // An object without properties is refused.
    if json::member(schema, "properties").is_none_or(|properties| properties != "{}") {
        out.extend_from_slice(b",\"parameters\":");
        out.extend_from_slice(schema.as_bytes());
    }
    out.push(b'}');
    out
}

fn choice(out: &mut Vec<u8>, choice: &ToolChoice) {
    let mode = match choice {
        ToolChoice::Auto => "AUTO",
        ToolChoice::Required | ToolChoice::Named(_) => "ANY",
        ToolChoice::None | ToolChoice::Withhold => "NONE",
    };
    let _ = write!(
        out,
        ",\"toolConfig\":{{\"functionCallingConfig\":{{\"mode\":\"{mode}\""
    );
    if let ToolChoice::Named(name) = choice {
        out.extend_from_slice(b",\"allowedFunctionNames\":[");
        quote(out, &name.on_wire(ToolDialect::Gemini));
        out.push(b']');
    }
    out.extend_from_slice(b"}}");
}

fn text_part(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"{\"text\":");
    quote(out, text);
    out.push(b'}');
}

fn image(out: &mut Vec<u8>, media_type: &str, data: &str) {
    out.extend_from_slice(b"{\"inlineData\":{\"mimeType\":");
    quote(out, media_type);
    out.extend_from_slice(b",\"data\":");
    quote(out, data);
    out.extend_from_slice(b"}}");
}

fn user(content: &[Content]) -> Vec<u8> {
    let mut parts = Items::default();
    for piece in content {
        match piece {
            Content::Text(text) if text.trim().is_empty() => {}
            Content::Text(text) => parts.with(|out| text_part(out, text)),
            Content::Image { media_type, data } => parts.with(|out| image(out, media_type, data)),
            _ => {}
        }
    }
    if parts.is_empty() {
        parts.with(|out| text_part(out, EMPTY));
    }
    parts.0
}

/// Text goes as a string under `output` or `error`, whatever it holds: what looks
/// like a schema inside a structured answer is refused.
fn output(result: &ToolResult, id: Option<&str>) -> Vec<u8> {
    let mut out = b"{\"functionResponse\":{".to_vec();
    if let Some(id) = id {
        let _ = write!(out, "\"id\":{id},");
    }
    out.extend_from_slice(b"\"name\":");
    quote(&mut out, &wire_name(&result.name));
    let texts = result.content.iter().filter_map(|piece| match piece {
        Content::Text(text) => Some(&**text),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let word = if result.is_error { "error" } else { "output" };
    let _ = write!(out, ",\"response\":{{\"{word}\":");
    let blank = text.trim().is_empty();
    quote(&mut out, if blank { NO_OUTPUT } else { &text });
    out.push(b'}');
    let mut images = Items::default();
    for piece in &result.content {
        if let Content::Image { media_type, data } = piece {
            images.with(|out| image(out, media_type, data));
        }
    }
    if !images.is_empty() {
        out.extend_from_slice(b",\"parts\":[");
        out.extend_from_slice(&images.0);
        out.push(b']');
    }
    out.extend_from_slice(b"}}");
    out
}

fn assistant(message: &AssistantMessage, own: bool) -> Vec<u8> {
    let mut parts = Items::default();
    let mut says = false;
    for (at, block) in message.blocks.iter().enumerate() {
        match block {
            Block::Text(text) if text.trim().is_empty() => {}
            Block::Text(text) => {
                says = true;
                let more = message.blocks.get(at + 1).filter(|_| own);
                parts.with(|out| {
                    text_part(out, text);
                    if let Some(Block::Opaque(raw)) = more
                        && rides(raw)
                    {
                        out.pop();
                        members(out, &raw.0, |key| key != "text");
                        out.push(b'}');
                    }
                });
            }
            Block::Call(call) => {
                says = true;
                parts.with(|out| function_call(out, call, own));
            }
            Block::Opaque(raw) if own && !rides(raw) => {
                says = true;
                parts.push(raw.0.as_bytes());
            }
            Block::Reasoning { raw: Some(raw), .. } if own => parts.push(raw.0.as_bytes()),
            _ => {}
        }
    }
    if !says {
        parts.with(|out| text_part(out, EMPTY));
    }
    parts.0
}

/// Whether a block holds what rides on the text before it, rather than a part.
fn rides(raw: &RawJson) -> bool {
    let mut names = Vec::new();
    json::for_each_member(&raw.0, |key, _| names.push(key.to_owned()));
    names == ["thoughtSignature"]
}

fn function_call(out: &mut Vec<u8>, call: &ToolCall, own: bool) {
    out.extend_from_slice(b"{\"functionCall\":{");
    let extra = call.extra.as_ref().filter(|_| own);
    if let Some(id) = extra.and_then(|extra| json::member(&extra.0, "id")) {
        let _ = write!(out, "\"id\":{id},");
    }
    out.extend_from_slice(b"\"name\":");
    quote(out, &wire_name(&call.name));
    out.extend_from_slice(b",\"args\":");
    let usable = is_object(&call.arguments);
    out.extend_from_slice(if usable {
        call.arguments.trim().as_bytes()
    } else {
        b"{}"
    });
    out.push(b'}');
    if let Some(extra) = extra {
        members(out, &extra.0, |key| !matches!(key, "id" | "functionCall"));
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;
