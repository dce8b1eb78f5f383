//! A Messages request out of bytes rendered once.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use toolcrib_core::{
    AssistantMessage, Block, Content, HistoryItem, Message, Request, Str, ToolCall, ToolChoice,
    ToolName, ToolSpec, TurnPlan,
};

use crate::deferral::{self, call_id};
use crate::json::{is_object, members, quote};
use crate::turns::{Brought, EMPTY, Items, Turn, turns};

/// Most marks that a request may carry.
const MARKS: usize = 4;
/// The provider looks this many blocks back from a mark, less some room.
const REACH: usize = 15;
/// Sent where no limit is known: a request must name one.
const OUTPUT: u64 = 8192;

const MARK: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
const OPENING: &[u8] = br#"{"type":"text","text":"(the conversation goes on)"}"#;

/// What the bytes depend on besides the request.
#[derive(Debug)]
pub(crate) struct Renderer {
    /// `{"model":…,` and all else that comes before the tools.
    pub(crate) head: Vec<u8>,
    /// The id under which this model's own messages are recorded.
    pub(crate) id: Str,
    /// Whether deferred definitions are sent and loads are references.
    pub(crate) native: bool,
    /// Whether loads are said in messages of their own instead of in results.
    pub(crate) additions: bool,
    pub(crate) output_limit: Option<u64>,
}

/// What every body begins with, up to the tools. `bound` asks the server to drop
/// thinking that what stands before it no longer fits.
pub(crate) fn head(model: &str, extra: &[(String, serde_json::Value)], bound: bool) -> Vec<u8> {
    let mut head = b"{\"model\":".to_vec();
    quote(&mut head, model);
    head.extend_from_slice(b",\"stream\":true,");
    let own = extra.iter().find(|(key, _)| key == "thinking");
    if bound {
        let mut thinking = match own.map(|(_, value)| value) {
            Some(serde_json::Value::Object(own)) => own.clone(),
            _ => serde_json::Map::from_iter([("type".to_owned(), "adaptive".into())]),
        };
        let drop = serde_json::json!({"prefix_mismatch_behavior": "drop_block"});
        thinking.entry("block_binding").or_insert(drop);
        let _ = write!(
            head,
            "\"thinking\":{},",
            serde_json::Value::Object(thinking)
        );
    }
    let written = |key: &str| bound && key == "thinking";
    for (key, value) in extra.iter().filter(|(key, _)| !written(key)) {
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
        let turns = turns(request, OPENING, |_, item| self.message(plan, item));

        let mut body = self.head.clone();
        let mut marks = MARKS;
        if sends_tools {
            body.extend_from_slice(b"\"tools\":");
            body.extend_from_slice(&self.tools(request));
            body.push(b',');
            marks -= 1;
        }
        if !plan.system().trim().is_empty() {
            body.extend_from_slice(
                &plan
                    .rendered
                    .get_or_render("messages.system", || system(plan)),
            );
            marks -= 1;
        }
        body.extend_from_slice(b"\"messages\":[");
        let marked = marked(&turns, marks);
        let mut brought = Brought::default();
        for (at, turn) in turns.iter().enumerate() {
            if at > 0 {
                body.push(b',');
            }
            let role = if turn.model { "assistant" } else { "user" };
            let _ = write!(body, "{{\"role\":\"{role}\",\"content\":[");
            for (n, piece) in turn.pieces.iter().enumerate() {
                if n > 0 {
                    body.push(b',');
                }
                body.extend_from_slice(piece);
            }
            if marked.contains(&at) {
                body.pop();
                body.extend_from_slice(MARK);
                body.push(b'}');
            }
            body.extend_from_slice(b"]}");
            if self.additions {
                let items = &request.history.items()[turn.items.clone()];
                addition(&mut body, &brought.by(plan, items));
            }
        }
        body.push(b']');
        if sends_tools {
            choice(&mut body, request.tool_choice);
        }
        let known = self.output_limit;
        let limit = match (request.max_output_tokens, known) {
            (Some(asked), Some(known)) => asked.min(known),
            (asked, known) => asked.or(known).unwrap_or(OUTPUT),
        };
        let _ = write!(body, ",\"max_tokens\":{limit}}}");
        body.into()
    }

    fn tools(&self, request: &Request<'_>) -> Arc<[u8]> {
        let plan = request.plan;
        if !self.native {
            let render = || deferral::messages_array(plan.tools(), &[], &[]);
            return plan.rendered.get_or_render("messages.tools", render);
        }
        // What was loaded before the transcript began has no reference in it.
        let unreferenced = deferral::unreferenced(plan, request.history);
        if unreferenced.is_empty() {
            let render = || deferral::messages_tools(plan, &[]);
            return plan.rendered.get_or_render("messages.tools.native", render);
        }
        deferral::messages_tools(plan, &unreferenced).into()
    }

    fn message(&self, plan: &TurnPlan, item: &HistoryItem) -> Arc<[u8]> {
        let cache = &item.rendered;
        match &**item {
            Message::User(content) => cache.get_or_render("messages.user", || user(content)),
            Message::Assistant(message) if message.model == self.id => {
                cache.get_or_render("messages.assistant.own", || assistant(message, true))
            }
            Message::Assistant(message) => {
                cache.get_or_render("messages.assistant", || assistant(message, false))
            }
            // A reference to a tool that is gone would be refused, so these depend on
            // the plan; there are few.
            Message::Tool(result)
                if self.native && !self.additions && !result.loaded.is_empty() =>
            {
                let known = |name: &&ToolName| deferral::deferred(plan, name).is_some();
                let loaded: Vec<&ToolName> = result.loaded.iter().filter(known).collect();
                deferral::messages_result(result, &loaded).into()
            }
            Message::Tool(result) => {
                cache.get_or_render("messages.tool", || deferral::messages_result(result, &[]))
            }
            _ => cache.get_or_render("messages.other", || user(&[])),
        }
    }
}

fn system(plan: &TurnPlan) -> Vec<u8> {
    let mut out = b"\"system\":[{\"type\":\"text\",\"text\":".to_vec();
    quote(&mut out, plan.system());
    out.extend_from_slice(MARK);
    out.extend_from_slice(b"}],");
    out
}

/// Which turns end with a mark: the newest of the user's side, and before it one
/// that the provider's look back from there may not reach. Anchors lie at fixed
/// counts of blocks, so that they stay where they are while the transcript grows.
fn marked(turns: &[Turn], marks: usize) -> Vec<usize> {
    let mut anchors = Vec::new();
    let (mut blocks, mut next) = (0, REACH);
    let mut newest = None;
    for (at, turn) in turns.iter().enumerate() {
        blocks += turn.pieces.iter().map(|piece| count(piece)).sum::<usize>();
        if turn.model {
            continue;
        }
        newest = Some(at);
        if blocks >= next {
            anchors.push(at);
            next = (blocks / REACH + 1) * REACH;
        }
    }
    anchors.retain(|at| Some(*at) != newest);
    let extra = anchors.len().saturating_sub(marks.saturating_sub(1));
    let mut marked = anchors.split_off(extra);
    marked.extend(newest);
    marked
}

/// How many blocks a rendered message has: commas between braces at depth 0, which
/// strings may hold too, so this is never less than the truth.
fn count(piece: &[u8]) -> usize {
    1 + memchr::memmem::find_iter(piece, b"},{\"type\":").count()
}

/// A message that offers tools from here on.
fn addition(out: &mut Vec<u8>, tools: &[&Arc<ToolSpec>]) {
    if tools.is_empty() {
        return;
    }
    let mut blocks = Items::default();
    for spec in tools {
        blocks.with(|out| {
            out.extend_from_slice(
                br#"{"type":"tool_addition","tool":{"type":"tool_reference","name":"#,
            );
            quote(out, spec.name.as_str());
            out.extend_from_slice(b"}}");
        });
    }
    out.extend_from_slice(br#",{"role":"system","content":["#);
    out.extend_from_slice(&blocks.0);
    out.extend_from_slice(b"]}");
}

fn choice(out: &mut Vec<u8>, choice: &ToolChoice) {
    let kind = match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Required => "any",
        ToolChoice::None | ToolChoice::Withhold => "none",
        ToolChoice::Named(_) => "tool",
    };
    let _ = write!(out, ",\"tool_choice\":{{\"type\":\"{kind}\"");
    if let ToolChoice::Named(name) = choice {
        out.extend_from_slice(b",\"name\":");
        quote(out, name.as_str());
    }
    out.push(b'}');
}

fn user(content: &[Content]) -> Vec<u8> {
    let mut items = Items::default();
    for piece in content {
        deferral::messages_content(&mut items, piece);
    }
    if items.is_empty() {
        items.with(|out| deferral::text_block(out, EMPTY));
    }
    items.0
}

fn assistant(message: &AssistantMessage, own: bool) -> Vec<u8> {
    let mut items = Items::default();
    let mut says = false;
    for block in &message.blocks {
        match block {
            // Blank texts are refused.
            Block::Text(text) if text.trim().is_empty() => {}
            Block::Text(text) => {
                says = true;
                items.with(|out| deferral::text_block(out, text));
            }
            Block::Call(call) => {
                says = true;
                items.with(|out| tool_use(out, call, own));
            }
            Block::Reasoning { raw: Some(raw), .. } if own => items.push(raw.0.as_bytes()),
            Block::Opaque(raw) if own => {
                says = true;
                items.push(raw.0.as_bytes());
            }
            _ => {}
        }
    }
    // Thinking alone is no turn.
    if !says {
        items.with(|out| deferral::text_block(out, EMPTY));
    }
    items.0
}

fn tool_use(out: &mut Vec<u8>, call: &ToolCall, own: bool) {
    out.extend_from_slice(b"{\"type\":\"tool_use\",\"id\":");
    quote(out, &call_id(&call.id));
    out.extend_from_slice(b",\"name\":");
    quote(out, ToolName::from_foreign(&call.name).as_str());
    out.extend_from_slice(b",\"input\":");
    let usable = is_object(&call.arguments);
    out.extend_from_slice(if usable {
        call.arguments.trim().as_bytes()
    } else {
        b"{}"
    });
    if let (true, Some(extra)) = (own, &call.extra) {
        members(out, &extra.0, |key| {
            !matches!(key, "type" | "id" | "name" | "input" | "cache_control")
        });
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;
