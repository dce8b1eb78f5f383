use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    History, Message, Model, ModelError, Reply, ReplyEvent, Request, Schema, ToolChoice, ToolName,
    ToolSpec, TurnPlan,
};
use toolcrib_models::{ChatModel, ChatOptions, RetryPolicy, Vendor};
use toolcrib_testkit::{Answer, ByteServer};

/// What a caller saw of one request.
pub(crate) struct Seen {
    pub(crate) result: Result<Reply, ModelError>,
    pub(crate) events: Vec<String>,
}

impl Seen {
    pub(crate) fn reply(&self) -> &Reply {
        self.result.as_ref().expect("a reply")
    }

    pub(crate) fn error(&self) -> &ModelError {
        let error = self.result.as_ref().expect_err("an error");
        assert!(!error.message.contains('\n'), "{}", error.message);
        error
    }

    pub(crate) fn text(&self) -> String {
        self.reply().message.text()
    }
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

pub(crate) fn options(server: &ByteServer) -> ChatOptions {
    let mut options = ChatOptions::new(Vendor::Generic, "m").base_url(server.url("/v1"));
    options.retry = RetryPolicy {
        base: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    options
}

pub(crate) fn spec(name: &str) -> Arc<ToolSpec> {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}"#;
    Arc::new(ToolSpec::new(
        ToolName::parse(name).unwrap(),
        format!("Does {name}."),
        Schema::parse(schema).unwrap(),
    ))
}

pub(crate) fn ask_with(model: &dyn Model, history: &History, choice: &ToolChoice) -> Seen {
    let plan = TurnPlan::new("Be brief.", vec![spec("list"), spec("read")]);
    let mut events = Vec::new();
    let request = Request {
        plan: &plan,
        history,
        tool_choice: choice,
        max_output_tokens: None,
    };
    let result = runtime().block_on(model.stream(request, &mut |event| {
        events.push(match event {
            ReplyEvent::Text(text) => format!("text {text}"),
            ReplyEvent::Reasoning(text) => format!("reasoning {text}"),
            ReplyEvent::CallStarted(name) => format!("call {name}"),
            ReplyEvent::Retrying { attempt, .. } => format!("retrying {attempt}"),
            other => format!("{other:?}"),
        });
    }));
    Seen { result, events }
}

pub(crate) fn ask(model: &dyn Model) -> Seen {
    let history: History = [Message::user("Hello?")].into_iter().collect();
    ask_with(model, &history, &ToolChoice::Auto)
}

/// Asks once a server that answers like this.
pub(crate) fn against(answers: impl IntoIterator<Item = Answer>) -> (Seen, ByteServer) {
    let server = ByteServer::start(answers).unwrap();
    let model = ChatModel::new(options(&server)).unwrap();
    (ask(&model), server)
}

/// A chunk with this delta.
pub(crate) fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

/// A chunk that ends the reply.
pub(crate) fn end(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":{reason}}}]}}"#)
}

/// A short good reply.
pub(crate) fn good() -> Answer {
    Answer::sse([
        delta(r#"{"role":"assistant","content":"fine"}"#),
        end(r#""stop""#),
    ])
    .done()
}
