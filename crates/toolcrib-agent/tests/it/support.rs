//! Tools, agents and looks at what a model was sent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolcrib_agent::{Agent, AgentBuilder, Event};
use toolcrib_core::{
    Arguments, Block, BoxFuture, Content, Effect, Finish, Message, Registry, Schema, Tool,
    ToolCall, ToolContext, ToolError, ToolName, ToolOutput, ToolSpec,
};
use toolcrib_testkit::scripted::{Recorded, ScriptedModel, Turn};

/// What a [`Fake`] does when called.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    Echo,
    Fail,
    Panic,
    Progress,
    Wait,
}

/// A read-only tool that counts its runs.
pub(crate) struct Fake {
    spec: Arc<ToolSpec>,
    does: Does,
    runs: Arc<AtomicUsize>,
}

impl Tool for Fake {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match self.does {
                Does::Echo => Ok(ToolOutput::text(format!("echo {}", args.as_str()))),
                Does::Fail => Err(ToolError::failed("no such file")),
                Does::Panic => panic!("a secret of the process"),
                Does::Progress => {
                    cx.progress.report("half way");
                    cx.progress.report("nearly there");
                    Ok(ToolOutput::text("done"))
                }
                Does::Wait => {
                    tokio::time::sleep(Duration::from_secs(3600)).await;
                    Ok(ToolOutput::text("late"))
                }
            }
        })
    }
}

pub(crate) struct Fakes {
    pub(crate) registry: Registry,
    pub(crate) runs: Arc<AtomicUsize>,
}

pub(crate) fn fakes() -> Fakes {
    let runs = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new();
    for (name, does) in [
        ("lookup", Does::Echo),
        ("fail", Does::Fail),
        ("panic", Does::Panic),
        ("progress", Does::Progress),
        ("wait", Does::Wait),
    ] {
        let spec = ToolSpec::new(
            ToolName::parse(name).unwrap(),
            format!("Does {name}."),
            Schema::empty(),
        )
        .effect(Effect::ReadOnly);
        let tool = Fake {
            spec: Arc::new(spec),
            does,
            runs: runs.clone(),
        };
        registry.insert(Arc::new(tool)).unwrap();
    }
    Fakes { registry, runs }
}

pub(crate) fn model(turns: impl IntoIterator<Item = Turn>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(turns))
}

/// An agent with the fake tools.
pub(crate) fn agent(model: &Arc<ScriptedModel>) -> AgentBuilder {
    Agent::builder(model.clone())
        .tools(fakes().registry)
        .system("You answer questions.")
}

/// One lookup.
pub(crate) fn look() -> Turn {
    Turn::calls([("lookup", r#"{"q":"a"}"#)])
}

/// One lookup, another one for each number.
pub(crate) fn look_at(n: usize) -> Turn {
    Turn::calls([("lookup", format!(r#"{{"q":{n}}}"#).as_str())])
}

/// A call with its id.
pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: None,
    })
}

pub(crate) fn text(text: &str) -> Block {
    Block::Text(text.into())
}

pub(crate) fn cut(blocks: impl IntoIterator<Item = Block>) -> Turn {
    Turn::blocks(blocks, Finish::Length)
}

/// One line a message, for snapshots.
pub(crate) fn transcript<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    let lines = messages.into_iter().map(|message| match message {
        Message::User(content) => format!("user: {}", joined(content)),
        Message::Tool(result) => {
            let error = if result.is_error { " !" } else { "" };
            format!("{}{error}: {}", result.call_id, joined(&result.content))
        }
        Message::Assistant(message) => {
            let blocks: Vec<_> = message
                .blocks
                .iter()
                .map(|block| match block {
                    Block::Text(text) => text.to_string(),
                    Block::Call(call) => format!("{}={}({})", call.id, call.name, call.arguments),
                    other => format!("{other:?}"),
                })
                .collect();
            format!("model: {}", blocks.join(" | "))
        }
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

pub(crate) fn joined(content: &[Content]) -> String {
    let pieces = content.iter().map(|piece| match piece {
        Content::Text(text) => text.to_string(),
        other => format!("{other:?}"),
    });
    pieces.collect::<Vec<_>>().join("\n")
}

/// Panics unless calls and results pair up, in order and at once.
#[track_caller]
pub(crate) fn assert_paired(messages: &[Message]) {
    let mut open: std::collections::VecDeque<&str> = Default::default();
    let mut seen = std::collections::HashSet::new();
    for message in messages {
        match message {
            Message::Tool(result) => {
                assert_eq!(open.pop_front(), Some(&*result.call_id), "{messages:#?}");
            }
            other => {
                assert!(open.is_empty(), "unanswered {open:?} in {messages:#?}");
                if let Message::Assistant(message) = other {
                    assert!(!message.blocks.is_empty());
                    for call in message.calls() {
                        assert!(!call.id.trim().is_empty());
                        assert!(seen.insert(&call.id), "id {} twice", call.id);
                        let value: serde_json::Value =
                            serde_json::from_str(&call.arguments).unwrap();
                        assert!(value.is_object(), "{value}");
                        open.push_back(&call.id);
                    }
                }
            }
        }
    }
    assert!(open.is_empty(), "unanswered {open:?}");
}

/// Panics unless each request begins with all of the one before and shares its
/// plan.
#[track_caller]
pub(crate) fn assert_prefixes(requests: &[Recorded]) {
    for pair in requests.windows(2) {
        assert!(pair[1].same_plan);
        assert_eq!(pair[0].fingerprint, pair[1].fingerprint);
        assert_eq!(pair[0].system, pair[1].system);
    }
    assert_messages_grow(requests);
}

/// The messages of each request begin with all of the one before.
pub(crate) fn assert_messages_grow(requests: &[Recorded]) {
    for pair in requests.windows(2) {
        // Bytes, as a wire would render them.
        let bytes = |messages: &[Message]| -> Vec<String> {
            let render = |message: &Message| serde_json::to_string(message).unwrap();
            messages.iter().map(render).collect()
        };
        let (before, after) = (bytes(&pair[0].messages), bytes(&pair[1].messages));
        assert!(after.len() >= before.len());
        assert_eq!(before[..], after[..before.len()]);
    }
}

/// A sink that keeps everything.
#[derive(Clone, Default)]
pub(crate) struct Kept(pub(crate) Arc<Mutex<Vec<Event>>>);

impl toolcrib_agent::Sink for Kept {
    fn emit(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Kept {
    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }
}
