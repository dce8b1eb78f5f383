//! A Responses request out of bytes rendered once.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use toolcrib_core::{
    AssistantMessage, Block, Content, HistoryItem, Message, RawJson, Request, Str, ToolCall,
    ToolChoice, ToolName, ToolResult, ToolSpec, spill_handle,
};

use crate::deferral;
use crate::json::{self, is_object, members, quote};
use crate::turns::{Brought, EMPTY, Items, NO_OUTPUT};

/// What the bytes depend on besides the request.
#[derive(Debug)]
pub(crate) struct Renderer {
    /// `{"model":…,` and all else that comes before the tools.
    pub(crate) head: Vec<u8>,
    /// The id under which this model's own messages are recorded.
    pub(crate) id: Str,
    /// Whether deferred functions are sent and searched for.
    pub(crate) native: bool,
    /// Whether what was loaded is added where it was.
    pub(crate) additions: bool,
    /// Whether texts of the model go back as whole items. A server of another kind may
    /// refuse the short form, and the provider's own need not take an id that it never
    /// gave.
    pub(crate) whole_texts: bool,
}

/// What every body begins with, up to the tools. Without the encrypted reasoning a
/// later request would lack what its calls came from.
pub(crate) fn head(model: &str, extra: &[(String, serde_json::Value)]) -> Vec<u8> {
    let mut head = b"{\"model\":".to_vec();
    quote(&mut head, model);
    head.extend_from_slice(
        br#","stream":true,"store":false,"include":["reasoning.encrypted_content"],"#,
    );
    for (key, value) in extra {
        quote(&mut head, key);
        let _ = write!(head, ":{value},");
    }
    head
}

impl Renderer {
    pub(crate) fn body(&self, request: &Request<'_>) -> Bytes {
        let plan = request.plan;
        let offers = !plan.tools().is_empty() || (self.native && !plan.deferred_tools().is_empty());
        let sends_tools = offers && !matches!(request.tool_choice, ToolChoice::Withhold);
        let mut body = self.head.clone();
        if sends_tools {
            body.extend_from_slice(b"\"tools\":");
            body.extend_from_slice(&self.tools(request));
            body.push(b',');
        }
        if !plan.system().trim().is_empty() {
            body.extend_from_slice(b"\"instructions\":");
            quote(&mut body, plan.system());
            body.push(b',');
        }
        body.extend_from_slice(b"\"input\":[");
        let mut first = true;
        for item in self.items(request) {
            if !std::mem::take(&mut first) {
                body.push(b',');
            }
            body.extend_from_slice(&item);
        }
        body.push(b']');
        if sends_tools {
            self.choice(&mut body, request);
        }
        if let Some(limit) = request.max_output_tokens {
            let _ = write!(body, ",\"max_output_tokens\":{limit}");
        }
        body.push(b'}');
        body.into()
    }

    fn tools(&self, request: &Request<'_>) -> Arc<[u8]> {
        let plan = request.plan;
        if self.additions {
            let unreferenced = deferral::unreferenced(plan, request.history);
            let loaded = plan.loaded_tools().iter();
            let loaded = loaded.filter(|spec| unreferenced.contains(&&spec.name));
            let mut fixed = [plan.eager_tools(), plan.loader_tools()].concat();
            fixed.extend(loaded.cloned());
            return deferral::responses_array(&fixed).into();
        }
        if !self.native {
            let render = || deferral::responses_array(plan.tools());
            return plan.rendered.get_or_render("responses.tools", render);
        }
        let unreferenced = deferral::unreferenced(plan, request.history);
        if unreferenced.is_empty() {
            let render = || deferral::responses_tools(plan, &[]);
            return plan
                .rendered
                .get_or_render("responses.tools.native", render);
        }
        deferral::responses_tools(plan, &unreferenced).into()
    }

    fn choice(&self, out: &mut Vec<u8>, request: &Request<'_>) {
        out.extend_from_slice(b",\"tool_choice\":");
        match request.tool_choice {
            ToolChoice::Auto => out.extend_from_slice(b"\"auto\""),
            ToolChoice::Required => out.extend_from_slice(b"\"required\""),
            ToolChoice::None | ToolChoice::Withhold => out.extend_from_slice(b"\"none\""),
            ToolChoice::Named(name) => {
                out.extend_from_slice(b"{\"type\":\"function\",\"name\":");
                quote(out, name.as_str());
                out.push(b'}');
            }
        }
    }

    fn items(&self, request: &Request<'_>) -> Vec<Arc<[u8]>> {
        let mut items: Vec<Arc<[u8]>> = Vec::new();
        // Ids of calls that were searches on the wire.
        let mut searches: Vec<&str> = Vec::new();
        let mut brought = Brought::default();
        let history = request.history.items();
        for (at, item) in history.iter().enumerate() {
            match &***item {
                Message::Assistant(message) => {
                    let own = message.model == self.id;
                    if own {
                        let found = message.calls().filter(|call| is_search(call));
                        searches.extend(found.map(|call| &*call.id));
                    }
                    let place = self.whole_texts.then_some(at);
                    items.push(assistant(item, message, own, place));
                }
                Message::Tool(result) if searches.contains(&&*result.call_id) => {
                    items.push(deferral::responses_found(request.plan, result).into());
                    if result.loaded.is_empty() {
                        // Nothing was found; only words can say why.
                        let render = || user(&result.content);
                        items.push(item.rendered.get_or_render("responses.said", render));
                    }
                }
                Message::Tool(result) => {
                    let render = || output(result);
                    items.push(item.rendered.get_or_render("responses.tool", render));
                    if self.additions {
                        let tools = brought.by(request.plan, &history[at..=at]);
                        items.extend(addition(&tools));
                    }
                }
                Message::User(content) => {
                    let render = || user(content);
                    items.push(item.rendered.get_or_render("responses.user", render));
                }
                _ => {
                    let render = || user(&[]);
                    items.push(item.rendered.get_or_render("responses.other", render));
                }
            }
        }
        items
    }
}

/// An item that offers tools from here on.
fn addition(tools: &[&Arc<ToolSpec>]) -> Option<Arc<[u8]>> {
    if tools.is_empty() {
        return None;
    }
    let tools: Vec<Arc<ToolSpec>> = tools.iter().map(|spec| Arc::clone(spec)).collect();
    let mut out = br#"{"type":"additional_tools","role":"developer","tools":"#.to_vec();
    out.extend_from_slice(&deferral::responses_array(&tools));
    out.push(b'}');
    Some(out.into())
}

fn assistant(
    item: &HistoryItem,
    message: &AssistantMessage,
    own: bool,
    place: Option<usize>,
) -> Arc<[u8]> {
    let key = match (own, place) {
        (true, None) => "responses.assistant.own",
        (false, None) => "responses.assistant",
        (true, Some(_)) => "responses.assistant.own.whole",
        (false, Some(_)) => "responses.assistant.whole",
    };
    item.rendered
        .get_or_render(key, || assistant_items(message, own, place))
}

fn is_search(call: &ToolCall) -> bool {
    let kind = |extra: &RawJson| json::member(&extra.0, "type");
    call.extra.as_ref().and_then(kind).as_deref() == Some("\"tool_search_call\"")
}

fn user(content: &[Content]) -> Vec<u8> {
    let mut parts = Items::default();
    for piece in content {
        part(&mut parts, piece);
    }
    if parts.is_empty() {
        part(&mut parts, &Content::text(EMPTY));
    }
    let mut out = b"{\"type\":\"message\",\"role\":\"user\",\"content\":[".to_vec();
    out.extend_from_slice(&parts.0);
    out.extend_from_slice(b"]}");
    out
}

fn part(parts: &mut Items, piece: &Content) {
    match piece {
        Content::Text(text) if text.trim().is_empty() => {}
        Content::Text(text) => parts.with(|out| {
            out.extend_from_slice(b"{\"type\":\"input_text\",\"text\":");
            quote(out, text);
            out.push(b'}');
        }),
        Content::Image { media_type, data } => parts.with(|out| {
            out.extend_from_slice(b"{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":");
            quote(out, &format!("data:{media_type};base64,{data}"));
            out.push(b'}');
        }),
        _ => {}
    }
}

fn output(result: &ToolResult) -> Vec<u8> {
    let mut out = b"{\"type\":\"function_call_output\",\"call_id\":".to_vec();
    quote(&mut out, &result.call_id);
    out.extend_from_slice(b",\"output\":");
    let pictured = result
        .content
        .iter()
        .any(|piece| matches!(piece, Content::Image { .. }));
    if pictured {
        let mut parts = Items::default();
        for piece in &result.content {
            part(&mut parts, piece);
        }
        out.push(b'[');
        out.extend_from_slice(&parts.0);
        out.push(b']');
    } else {
        let texts = result.content.iter().filter_map(|piece| match piece {
            Content::Text(text) => Some(&**text),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let blank = text.trim().is_empty();
        quote(&mut out, if blank { NO_OUTPUT } else { &text });
    }
    out.push(b'}');
    out
}

/// All items of one reply. A whole message item stands behind the text it holds and
/// goes back in its place. With a `place` in the transcript the other texts become whole
/// items too.
fn assistant_items(message: &AssistantMessage, own: bool, place: Option<usize>) -> Vec<u8> {
    let mut items = Items::default();
    let reasons = message
        .blocks
        .iter()
        .any(|block| matches!(block, Block::Reasoning { raw: Some(_), .. }));
    for (at, block) in message.blocks.iter().enumerate() {
        match block {
            Block::Text(text) if text.trim().is_empty() => {}
            Block::Text(_) if own && held(message.blocks.get(at + 1)) => {}
            Block::Text(text) => items.with(|out| said(out, text, place.map(|place| (place, at)))),
            Block::Call(call) if own && is_search(call) => items.with(|out| search(out, call)),
            Block::Call(call) => items.with(|out| function_call(out, call, own, reasons)),
            Block::Reasoning { raw: Some(raw), .. } | Block::Opaque(raw) if own => {
                items.push(raw.0.as_bytes());
            }
            _ => {}
        }
    }
    if items.is_empty() {
        items.with(|out| said(out, EMPTY, place.map(|place| (place, 0))));
    }
    items.0
}

/// Whether a block is a message item kept whole.
fn held(block: Option<&Block>) -> bool {
    let Some(Block::Opaque(raw)) = block else {
        return false;
    };
    json::member(&raw.0, "type").as_deref() == Some("\"message\"")
}

/// A text of the model: short, or whole with an id out of where it stands and what it
/// says.
fn said(out: &mut Vec<u8>, text: &str, place: Option<(usize, usize)>) {
    out.extend_from_slice(b"{\"type\":\"message\",");
    let Some((message, block)) = place else {
        out.extend_from_slice(b"\"role\":\"assistant\",\"content\":");
        quote(out, text);
        out.push(b'}');
        return;
    };
    let mark = spill_handle(text);
    let _ = write!(out, "\"id\":\"msg_{message}_{block}_{mark}\",");
    out.extend_from_slice(
        b"\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":",
    );
    quote(out, text);
    out.extend_from_slice(b",\"annotations\":[]}]}");
}

fn arguments(call: &ToolCall) -> &str {
    if is_object(&call.arguments) {
        call.arguments.trim()
    } else {
        "{}"
    }
}

fn function_call(out: &mut Vec<u8>, call: &ToolCall, own: bool, reasons: bool) {
    out.extend_from_slice(b"{\"type\":\"function_call\",\"call_id\":");
    quote(out, &call.id);
    out.extend_from_slice(b",\"name\":");
    quote(out, ToolName::from_foreign(&call.name).as_str());
    out.extend_from_slice(b",\"arguments\":");
    quote(out, arguments(call));
    if let (true, Some(extra)) = (own, &call.extra) {
        // An item's id is accepted only beside the reasoning it came with.
        members(out, &extra.0, |key| {
            matches!(key, "namespace" | "caller") || (key == "id" && reasons)
        });
    }
    out.push(b'}');
}

fn search(out: &mut Vec<u8>, call: &ToolCall) {
    out.extend_from_slice(
        b"{\"type\":\"tool_search_call\",\"execution\":\"client\",\"status\":\"completed\",\"call_id\":",
    );
    quote(out, &call.id);
    out.extend_from_slice(b",\"arguments\":");
    out.extend_from_slice(arguments(call).as_bytes());
    out.push(b'}');
}

#[cfg(test)]
mod tests;
