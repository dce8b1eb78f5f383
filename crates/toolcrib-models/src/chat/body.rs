//! A request's body, put together from bytes rendered once.
//!
//! The order is fixed: what never changes, the tools, the messages, and last what
//! differs between rounds. So the bytes of one round begin with those of the round
//! before, which is what prompt caches look at, and a round costs a copy of bytes,
//! not a serialisation of everything said so far.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use toolcrib_core::{
    AssistantMessage, Block, Content, HistoryItem, Message, Request, ToolCall, ToolChoice,
    ToolDialect, ToolName, ToolResult, ToolSpec, TurnPlan,
};

use super::dialect::Dialect;
use crate::json::{is_object, members, quote as string};

/// What stands for a message in which there is nothing to send: servers refuse
/// empty text, and leaving the message out would put two of one role in a row.
const EMPTY: &str = "(empty)";
const NO_OUTPUT: &str = "(no output)";
/// Stands between a result and a question where turns must alternate: a run that was
/// stopped leaves no answer there.
const NO_ANSWER: &[u8] = b"{\"role\":\"assistant\",\"content\":\"(no answer)\"}";

/// What the bytes depend on besides the request.
pub(super) struct Renderer {
    pub(super) dialect: &'static Dialect,
    /// `{"model":…,` and all else that comes before the tools.
    pub(super) head: Vec<u8>,
    /// The id under which this model's own messages are recorded.
    pub(super) id: toolcrib_core::Str,
    pub(super) forwards_images: bool,
    /// Whether loaded tools are declared in the transcript.
    pub(super) declares: bool,
    /// The server's own search among deferred tools, in place of ours.
    pub(super) searches: Option<&'static str>,
}

impl Renderer {
    pub(super) fn body(&self, request: &Request<'_>) -> Bytes {
        let plan = request.plan;
        let sends_tools =
            !plan.tools().is_empty() && !matches!(request.tool_choice, ToolChoice::Withhold);
        let system = plan.rendered.get_or_render("chat.system", || system(plan));
        let tools = sends_tools.then(|| {
            let dialect = self.dialect.tools;
            let [key, _] = keys(dialect);
            let search = self.searches.filter(|_| !plan.deferred_tools().is_empty());
            match search {
                Some(search) => {
                    let render = || searched(plan, dialect, search);
                    plan.rendered.get_or_render("chat.tools.searched", render)
                }
                None => plan.rendered.get_or_render(key, || tools(plan, dialect)),
            }
        });

        let items = request.history.items();
        let mut parts: Vec<Arc<[u8]>> = Vec::with_capacity(items.len() + 2);
        let mut declared = Declared::default();
        let mut images = false;
        for (at, item) in items.iter().enumerate() {
            if self.dialect.merges_users
                && let Some(merged) = merged(&items[..=at])
            {
                parts.pop();
                parts.push(merged);
                continue;
            }
            if self.dialect.merges_users && asked_after_result(&items[..=at]) {
                parts.push(NO_ANSWER.into());
            }
            parts.push(self.message(item));
            let Message::Tool(result) = &***item else {
                continue;
            };
            if self.declares {
                parts.extend(declared.declaration(plan, result, self.dialect.tools));
            }
            images |= self.forwards_images && has_image(&result.content);
            let group_ends = !matches!(items.get(at + 1).map(|i| &***i), Some(Message::Tool(_)));
            if images && group_ends {
                images = false;
                parts.push(images_of_group(&items[..=at]));
            }
        }

        let size = parts.iter().map(|part| part.len() + 1).sum::<usize>()
            + self.head.len()
            + tools.as_ref().map_or(0, |tools| tools.len() + 64)
            + system.len()
            + 160;
        let mut body = Vec::with_capacity(size);
        body.extend_from_slice(&self.head);
        if let Some(tools) = &tools {
            body.extend_from_slice(self.dialect.members_with_tools.as_bytes());
            body.extend_from_slice(tools);
        }
        body.extend_from_slice(b"\"messages\":[");
        body.extend_from_slice(&system);
        let mut first = system.is_empty();
        for part in &parts {
            if !std::mem::take(&mut first) {
                body.push(b',');
            }
            body.extend_from_slice(part);
        }
        body.push(b']');
        if sends_tools {
            choice(&mut body, request.tool_choice);
        }
        if let Some(limit) = request.max_output_tokens {
            let _ = write!(body, ",\"{}\":{limit}", self.dialect.output_limit);
        }
        body.push(b'}');
        body.into()
    }

    fn message(&self, item: &HistoryItem) -> Arc<[u8]> {
        match &**item {
            Message::User(content) => item.rendered.get_or_render("chat.user", || user(content)),
            Message::Assistant(message) => {
                // Reasoning and signatures go back only to the model that made them.
                if message.model == self.id {
                    item.rendered.get_or_render(self.dialect.own_key, || {
                        assistant(message, Some(self.dialect))
                    })
                } else {
                    item.rendered
                        .get_or_render("chat.assistant", || assistant(message, None))
                }
            }
            Message::Tool(result) if self.forwards_images => item
                .rendered
                .get_or_render("chat.tool.forwarding", || tool(result, true)),
            Message::Tool(result) => item
                .rendered
                .get_or_render("chat.tool", || tool(result, false)),
            // A kind of message that this wire cannot carry.
            _ => item
                .rendered
                .get_or_render("chat.other", || user(&[Content::text(EMPTY)])),
        }
    }
}

/// Tools that the transcript has declared so far.
#[derive(Default)]
struct Declared<'a>(Vec<&'a ToolName>);

impl<'a> Declared<'a> {
    /// The declaration that follows a result which loaded tools; none for tools that
    /// were declared before or that there are no longer.
    fn declaration(
        &mut self,
        plan: &TurnPlan,
        result: &'a ToolResult,
        dialect: ToolDialect,
    ) -> Option<Arc<[u8]>> {
        let mut out = b"{\"role\":\"system\",\"tools\":[".to_vec();
        let begin = out.len();
        for name in &result.loaded {
            let deferred = plan.deferred_tools();
            let Ok(at) = deferred.binary_search_by(|spec| spec.name.cmp(name)) else {
                continue;
            };
            if self.0.contains(&name) {
                continue;
            }
            self.0.push(name);
            if out.len() > begin {
                out.push(b',');
            }
            let spec = &deferred[at];
            out.extend_from_slice(&rendered(spec, dialect));
        }
        (out.len() > begin).then(|| {
            out.extend_from_slice(b"]}");
            out.into()
        })
    }
}

/// What every body begins with, up to the tools.
pub(super) fn head(
    dialect: &Dialect,
    model: &str,
    extra: &[(String, serde_json::Value)],
) -> Vec<u8> {
    let mut head = b"{\"model\":".to_vec();
    string(&mut head, model);
    head.extend_from_slice(b",\"stream\":true,");
    head.extend_from_slice(dialect.members.as_bytes());
    for (key, value) in extra {
        string(&mut head, key);
        let _ = write!(head, ":{value},");
    }
    head
}

fn system(plan: &TurnPlan) -> Vec<u8> {
    let mut out = Vec::new();
    if !plan.system().is_empty() {
        out.extend_from_slice(b"{\"role\":\"system\",\"content\":");
        string(&mut out, plan.system());
        out.push(b'}');
    }
    out
}

fn tools(plan: &TurnPlan, dialect: ToolDialect) -> Vec<u8> {
    let mut out = b"\"tools\":[".to_vec();
    for (at, spec) in plan.tools().iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&rendered(spec, dialect));
    }
    out.extend_from_slice(b"],");
    out
}

/// The array for a server that searches by itself: what is loaded already is sent as
/// not deferred, since no search of this conversation need have found it.
fn searched(plan: &TurnPlan, dialect: ToolDialect, search: &str) -> Vec<u8> {
    let mut out = b"\"tools\":[".to_vec();
    for spec in plan.eager_tools() {
        out.extend_from_slice(&rendered(spec, dialect));
        out.push(b',');
    }
    out.extend_from_slice(search.as_bytes());
    for spec in plan.deferred_tools() {
        out.push(b',');
        let definition = rendered(spec, dialect);
        let loaded = plan
            .loaded_tools()
            .iter()
            .any(|tool| tool.name == spec.name);
        match definition.split_last() {
            Some((_, open)) if !loaded => {
                out.extend_from_slice(open);
                out.extend_from_slice(b",\"defer_loading\":true}");
            }
            _ => out.extend_from_slice(&definition),
        }
    }
    out.extend_from_slice(b"],");
    out
}

/// Under which names a plan's tools and one tool's definition are kept.
fn keys(dialect: ToolDialect) -> [&'static str; 2] {
    match dialect {
        ToolDialect::OpenAi => ["chat.tools.openai", "chat.spec.openai"],
        ToolDialect::OpenAiStrict => ["chat.tools.strict", "chat.spec.strict"],
        ToolDialect::Local => ["chat.tools.local", "chat.spec.local"],
        ToolDialect::Anthropic => ["chat.tools.anthropic", "chat.spec.anthropic"],
        ToolDialect::Gemini => ["chat.tools.gemini", "chat.spec.gemini"],
        _ => ["chat.tools", "chat.spec"],
    }
}

fn rendered(spec: &ToolSpec, dialect: ToolDialect) -> Arc<[u8]> {
    let [_, key] = keys(dialect);
    spec.rendered
        .get_or_render(key, || definition(spec, dialect))
}

fn definition(spec: &ToolSpec, dialect: ToolDialect) -> Vec<u8> {
    let mut out = b"{\"type\":\"function\",\"function\":{\"name\":".to_vec();
    string(&mut out, spec.name.as_str());
    if !spec.description.is_empty() {
        out.extend_from_slice(b",\"description\":");
        string(&mut out, &spec.description);
    }
    out.extend_from_slice(b",\"parameters\":");
    let fitted = spec.fitted(dialect);
    out.extend_from_slice(fitted.wire().as_bytes());
    if fitted.strict() {
        out.extend_from_slice(b",\"strict\":true");
    }
    out.extend_from_slice(b"}}");
    out
}

fn choice(out: &mut Vec<u8>, choice: &ToolChoice) {
    out.extend_from_slice(b",\"tool_choice\":");
    match choice {
        ToolChoice::Auto => out.extend_from_slice(b"\"auto\""),
        ToolChoice::Required => out.extend_from_slice(b"\"required\""),
        ToolChoice::None | ToolChoice::Withhold => out.extend_from_slice(b"\"none\""),
        ToolChoice::Named(name) => {
            out.extend_from_slice(b"{\"type\":\"function\",\"function\":{\"name\":");
            string(out, name.as_str());
            out.extend_from_slice(b"}}");
        }
    }
}

/// Whether `items` end with a question right after a result.
fn asked_after_result(items: &[Arc<HistoryItem>]) -> bool {
    let [.., before, last] = items else {
        return false;
    };
    matches!((&***before, &***last), (Message::Tool(_), Message::User(_)))
}

/// The messages of the user that end `items` as one; none where there is only one, or
/// one of them holds more than text.
fn merged(items: &[Arc<HistoryItem>]) -> Option<Arc<[u8]>> {
    let said = |item: &Arc<HistoryItem>| match &***item {
        Message::User(content) => Some(content.clone()),
        _ => None,
    };
    let mut group: Vec<Vec<Content>> = items.iter().rev().map_while(said).collect();
    if group.len() < 2 {
        return None;
    }
    group.reverse();
    let mut text = String::new();
    for piece in group.iter().flatten() {
        let Content::Text(piece) = piece else {
            return None;
        };
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(piece);
    }
    Some(user(&[Content::text(text)]).into())
}

fn user(content: &[Content]) -> Vec<u8> {
    let mut out = b"{\"role\":\"user\",\"content\":".to_vec();
    match content {
        [Content::Text(text)] if !text.trim().is_empty() => string(&mut out, text),
        _ => {
            let mut parts = Parts::new(&mut out);
            for piece in content {
                match piece {
                    Content::Text(text) if !text.trim().is_empty() => parts.text(text),
                    Content::Image { media_type, data } => parts.image(media_type, data),
                    _ => {}
                }
            }
            parts.finish();
        }
    }
    out.push(b'}');
    out
}

fn assistant(message: &AssistantMessage, own: Option<&Dialect>) -> Vec<u8> {
    let mut out = b"{\"role\":\"assistant\",\"content\":".to_vec();
    let text = message.text();
    let has_calls = message.calls().next().is_some();
    match (text.trim().is_empty(), has_calls) {
        (false, _) => string(&mut out, &text),
        (true, true) => out.extend_from_slice(b"null"),
        (true, false) => string(&mut out, EMPTY),
    }
    if let Some(dialect) = own {
        for block in &message.blocks {
            if let Block::Reasoning { raw: Some(raw), .. } = block {
                members(&mut out, &raw.0, |key| {
                    dialect.reasoning_back.contains(&key)
                });
            }
        }
    }
    if has_calls {
        out.extend_from_slice(b",\"tool_calls\":[");
        for (at, call) in message.calls().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            tool_call(&mut out, call, own.is_some());
        }
        out.push(b']');
    }
    out.push(b'}');
    out
}

fn tool_call(out: &mut Vec<u8>, call: &ToolCall, own: bool) {
    out.extend_from_slice(b"{\"id\":");
    string(out, &call.id);
    out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
    // A name that the model invented may be one that servers refuse.
    string(out, ToolName::from_foreign(&call.name).as_str());
    out.extend_from_slice(b",\"arguments\":");
    // Servers parse the arguments of old calls too: one broken text would fail every
    // later request of the session.
    let usable = is_object(&call.arguments);
    string(out, if usable { &call.arguments } else { "{}" });
    out.push(b'}');
    if let (true, Some(extra)) = (own, &call.extra) {
        members(out, &extra.0, |key| {
            !matches!(key, "id" | "type" | "function")
        });
    }
    out.push(b'}');
}

fn tool(result: &ToolResult, forwards_images: bool) -> Vec<u8> {
    let mut text = String::new();
    for piece in &result.content {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match piece {
            Content::Text(piece) => text.push_str(piece),
            Content::Image { media_type, .. } if forwards_images => {
                text.push_str(&format!("(image, {media_type}: in the next user message)"));
            }
            Content::Image { media_type, .. } => {
                text.push_str(&format!("(image, {media_type}: left out, text only)"));
            }
            _ => {}
        }
    }
    let mut out = b"{\"role\":\"tool\",\"tool_call_id\":".to_vec();
    string(&mut out, &result.call_id);
    out.extend_from_slice(b",\"content\":");
    let blank = text.trim().is_empty();
    string(&mut out, if blank { NO_OUTPUT } else { &text });
    out.push(b'}');
    out
}

fn has_image(content: &[Content]) -> bool {
    content.iter().any(|c| matches!(c, Content::Image { .. }))
}

/// The images of the results that end `items`, as one user message.
fn images_of_group(items: &[Arc<HistoryItem>]) -> Arc<[u8]> {
    let is_result = |item: &&Arc<HistoryItem>| matches!(&****item, Message::Tool(_));
    let start = items.len() - items.iter().rev().take_while(is_result).count();
    let mut out = b"{\"role\":\"user\",\"content\":[".to_vec();
    let mut first = true;
    for item in &items[start..] {
        match &***item {
            Message::Tool(result) if has_image(&result.content) => {
                if !std::mem::take(&mut first) {
                    out.push(b',');
                }
                let parts = || images(result);
                out.extend_from_slice(&item.rendered.get_or_render("chat.images", parts));
            }
            _ => {}
        }
    }
    out.extend_from_slice(b"]}");
    out.into()
}

/// The images of one result as content parts, without the list around them.
fn images(result: &ToolResult) -> Vec<u8> {
    let mut out = Vec::new();
    let mut parts = Parts::within(&mut out);
    for piece in &result.content {
        if let Content::Image { media_type, data } = piece {
            parts.text(&format!(
                "Image from {}, call {}:",
                result.name, result.call_id
            ));
            parts.image(media_type, data);
        }
    }
    out
}

/// A list of content parts.
struct Parts<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Parts<'a> {
    fn new(out: &'a mut Vec<u8>) -> Parts<'a> {
        out.push(b'[');
        Parts::within(out)
    }

    /// Parts of a list that the caller opens and closes.
    fn within(out: &'a mut Vec<u8>) -> Parts<'a> {
        Parts { out, empty: true }
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(b',');
        }
    }

    fn text(&mut self, text: &str) {
        self.separate();
        self.out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        string(self.out, text);
        self.out.push(b'}');
    }

    fn image(&mut self, media_type: &str, data: &str) {
        self.separate();
        self.out
            .extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{\"url\":");
        string(self.out, &format!("data:{media_type};base64,{data}"));
        self.out.extend_from_slice(b"}}");
    }

    fn finish(mut self) {
        if self.empty {
            self.text(EMPTY);
        }
        self.out.push(b']');
    }
}

#[cfg(test)]
mod tests;
