//! Tool calls for models that only write text.
//!
//! The catalogue and a call format go into the system prompt, calls are read out of
//! the reply, and results go back as text; everything above sees a model like any
//! other. A result is only ever what a tool gave: what the model writes in the form
//! of one is cut off, with all that it built on it.

pub(crate) mod markup;
mod visible;

use std::sync::Arc;

use tokio::sync::OnceCell;
use toolcrib_core::{
    AssistantMessage, Block, BoxFuture, Content, Finish, History, LoadRoute, Message, Model,
    ModelError, ModelErrorKind, ModelProfile, Reply, ReplyEvent, Request, ToolChoice, ToolResult,
    TurnPlan,
};

use crate::chat::{ChatModel, Ids};
use crate::json::is_object;

/// What the model is told; the tools follow.
const PROTOCOL: &str = "\
You can call tools. To call one, write exactly this, one block for each call, and then stop:

<tool_call>
{\"name\": \"NAME\", \"arguments\": {ARGUMENTS}}
</tool_call>

The arguments are one JSON object that fits the tool's schema. Independent calls may stand in one \
message. Results come in the next message in <tool_response> blocks; never write such a block \
yourself. When you have what you need, answer in plain text without any block. These are the tools:
";

/// A model whose tool calls are written into its text.
pub struct TextTools {
    inner: Arc<dyn Model>,
    profile: ModelProfile,
    detect: Option<Detect>,
}

struct Detect {
    model: Arc<ChatModel>,
    native: OnceCell<bool>,
}

impl std::fmt::Debug for TextTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextTools")
            .field("id", &self.profile.id)
            .field("detects", &self.detect.is_some())
            .finish()
    }
}

impl TextTools {
    /// Calls in text for whatever model writes it.
    pub fn new(inner: Arc<dyn Model>) -> TextTools {
        let mut profile = inner.profile().clone();
        profile.native_tools = true;
        profile.max_tools = None;
        // The catalogue stands in the system prompt, which grows with what is loaded.
        if !matches!(profile.load_route, LoadRoute::Bridge | LoadRoute::Off) {
            profile.load_route = LoadRoute::Append;
        }
        TextTools {
            inner,
            profile,
            detect: None,
        }
    }

    /// Calls in text only where the model's server says that it cannot list tools.
    /// The server is asked once, with the first request that has any.
    pub fn detecting(model: ChatModel) -> TextTools {
        let model = Arc::new(model);
        let profile = model.profile().clone();
        TextTools {
            inner: Arc::clone(&model) as Arc<dyn Model>,
            profile,
            detect: Some(Detect {
                model,
                native: OnceCell::new(),
            }),
        }
    }

    async fn writes(&self, request: &Request<'_>) -> bool {
        let calls = request.history.messages().any(|message| match message {
            Message::Assistant(message) => message.calls().next().is_some(),
            _ => false,
        });
        if request.plan.tools().is_empty() && !calls {
            return false;
        }
        match &self.detect {
            None => true,
            Some(detect) => {
                let ask = || detect.model.lists_tools();
                !*detect.native.get_or_init(ask).await
            }
        }
    }

    async fn written(
        &self,
        request: Request<'_>,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let plan = TurnPlan::new(system(request.plan), Vec::new());
        let history = history(request.history, request.tool_choice);
        let asked = Request {
            plan: &plan,
            history: &history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: request.max_output_tokens,
        };
        let offers = !matches!(request.tool_choice, ToolChoice::None | ToolChoice::Withhold);
        let mut shown = visible::Visible::default();
        let reply = {
            let mut event = |event: ReplyEvent<'_>| match event {
                ReplyEvent::Text(text) if offers => {
                    let safe = shown.push(text);
                    if !safe.is_empty() {
                        on_event(ReplyEvent::Text(&safe));
                    }
                }
                other => on_event(other),
            };
            self.inner.stream(asked, &mut event).await?
        };
        if !offers {
            return Ok(reply);
        }
        let text = reply.message.text();
        let parsed = markup::parse(&text, request.plan);
        let rest = shown.rest(&parsed.text);
        if !rest.is_empty() {
            on_event(ReplyEvent::Text(rest));
        }
        Ok(self.reply(reply, parsed, &request, on_event))
    }

    fn reply(
        &self,
        reply: Reply,
        parsed: markup::Parsed,
        request: &Request<'_>,
        on_event: &mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> Reply {
        let mut blocks: Vec<Block> = Vec::new();
        let own = reply.message.blocks.iter();
        blocks.extend(
            own.filter(|block| matches!(block, Block::Reasoning { .. }))
                .cloned(),
        );
        if !parsed.thinking.is_empty() {
            blocks.push(Block::Reasoning {
                text: parsed.thinking.into(),
                raw: None,
            });
        }
        if !parsed.text.trim().is_empty() {
            blocks.push(Block::Text(parsed.text.into()));
        }
        let mut ids = Ids::new(request.history);
        let called = !parsed.calls.is_empty();
        for (name, arguments) in parsed.calls {
            on_event(ReplyEvent::CallStarted(&name));
            blocks.push(Block::Call(toolcrib_core::ToolCall {
                id: ids.unique(None),
                name: name.into(),
                arguments: arguments.into(),
                extra: None,
            }));
        }
        let finish = match reply.finish {
            Finish::Stop if called => Finish::ToolCalls,
            finish => finish,
        };
        Reply {
            message: AssistantMessage {
                blocks,
                model: self.profile.id.clone(),
            },
            finish,
            ..reply
        }
    }
}

impl Model for TextTools {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
        on_event: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            if let ToolChoice::Named(name) = request.tool_choice
                && !request.plan.tools().iter().any(|tool| tool.name == *name)
            {
                let what = format!("the tool {name} that must be called is not offered");
                return Err(ModelError::new(ModelErrorKind::BadRequest, what));
            }
            if self.writes(&request).await {
                self.written(request, on_event).await
            } else {
                self.inner.stream(request, on_event).await
            }
        })
    }
}

fn system(plan: &TurnPlan) -> String {
    let render = || {
        let mut out = plan.system().trim_end().to_owned();
        if plan.tools().is_empty() {
            return out.into_bytes();
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(PROTOCOL);
        for spec in plan.tools() {
            out.push_str(&format!(
                "\n{}: {}\nschema: {}\n",
                spec.name,
                spec.description.trim(),
                spec.input_schema.wire()
            ));
        }
        out.into_bytes()
    };
    let bytes = plan.rendered.get_or_render("text.system", render);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The transcript with calls and results as text; results in a row are one message.
fn history(history: &History, choice: &ToolChoice) -> History {
    let mut out: Vec<Message> = Vec::new();
    let mut results: Vec<Content> = Vec::new();
    for message in history.messages() {
        if let Message::Tool(result) = message {
            write_result(&mut results, result);
            continue;
        }
        let mut content = std::mem::take(&mut results);
        match message {
            Message::User(said) => {
                content.extend(said.iter().cloned());
                push_user(&mut out, content);
            }
            Message::Assistant(message) => {
                push_user(&mut out, content);
                out.push(Message::Assistant(as_text(message)));
            }
            _ => push_user(&mut out, content),
        }
    }
    push_user(&mut out, results);
    if let Some(wanted) = crate::reask::in_words(choice) {
        push_user(&mut out, vec![Content::text(wanted)]);
    }
    out.into_iter().collect()
}

/// Adds to the user's side; two messages of it in a row become one, which the
/// templates of small models insist on.
fn push_user(out: &mut Vec<Message>, content: Vec<Content>) {
    if content.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(Message::User(said)) => said.extend(content),
        _ => out.push(Message::User(content)),
    }
}

fn write_result(out: &mut Vec<Content>, result: &ToolResult) {
    let mut text = String::new();
    for piece in &result.content {
        if let Content::Text(piece) = piece {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(piece);
        }
    }
    let text = if text.trim().is_empty() {
        crate::turns::NO_OUTPUT
    } else {
        text.trim_end()
    };
    out.push(Content::text(format!(
        "<tool_response name=\"{}\" id=\"{}\">\n{text}\n</tool_response>",
        toolcrib_core::ToolName::from_foreign(&result.name),
        result.call_id
    )));
    let images = result.content.iter();
    out.extend(
        images
            .filter(|c| matches!(c, Content::Image { .. }))
            .cloned(),
    );
}

fn as_text(message: &AssistantMessage) -> AssistantMessage {
    let mut text = message.text();
    for call in message.calls() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let arguments = if is_object(&call.arguments) {
            call.arguments.trim()
        } else {
            "{}"
        };
        let name = serde_json::Value::from(&*call.name);
        text.push_str(&format!(
            "<tool_call>\n{{\"name\": {name}, \"arguments\": {arguments}}}\n</tool_call>"
        ));
    }
    let mut blocks: Vec<Block> = message
        .blocks
        .iter()
        .filter(|block| {
            matches!(
                block,
                Block::Reasoning { raw: Some(_), .. } | Block::Opaque(_)
            )
        })
        .cloned()
        .collect();
    blocks.push(Block::Text(text.into()));
    AssistantMessage {
        blocks,
        model: message.model.clone(),
    }
}

#[cfg(test)]
mod tests;
