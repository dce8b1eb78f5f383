//! Plans and transcripts that the tests of several wires share.

use std::sync::Arc;

use toolcrib_core::{
    AssistantMessage, Block, Content, History, LoadRoute, Message, ModelProfile, RawJson, Request,
    Schema, SourceId, ToolCall, ToolChoice, ToolDialect, ToolName, ToolResult, ToolSpec, TurnPlan,
};

use crate::check::check_request;

pub(crate) fn spec(name: &str, source: &str) -> Arc<ToolSpec> {
    let schema = r#"{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}"#;
    let spec = ToolSpec::new(
        ToolName::parse(name).unwrap(),
        format!("Does {name}."),
        Schema::parse(schema).unwrap(),
    );
    Arc::new(spec.source(SourceId::new(source)))
}

/// Two tools that are always there, a loader, and two deferred ones, of which one is
/// loaded.
pub(crate) fn plan() -> TurnPlan {
    let hub = ["find", "mail"].map(|name| spec(name, "hub"));
    TurnPlan::with_loader(
        "Be brief.",
        vec![spec("list", "builtin"), spec("read", "builtin")],
        vec![spec("tool_search", "builtin")],
        vec![hub[1].clone()],
        hub.into(),
    )
}

pub(crate) fn call(id: &str, name: &str, arguments: &str, extra: Option<&str>) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: extra.map(|raw| RawJson(raw.into())),
    }
}

pub(crate) fn image() -> Content {
    Content::Image {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
    }
}

/// What differs between wires in a transcript with everything in it.
pub(crate) struct Native<'a> {
    /// The model's own reasoning.
    pub(crate) reasoning: &'a str,
    /// What came with its first call.
    pub(crate) extra: Option<&'a str>,
    /// What came with its search.
    pub(crate) search: Option<&'a str>,
}

/// A question, a reply of another model with reasoning, a search that loaded `mail`,
/// two calls of which one has broken arguments, an image among the results, and an
/// empty reply between two questions.
pub(crate) fn transcript(model: &str, native: &Native<'_>) -> History {
    let reasoning = |text: &str, raw: &str| Block::Reasoning {
        text: text.into(),
        raw: Some(RawJson(raw.into())),
    };
    let said = |model: &str, blocks: Vec<Block>| {
        Message::Assistant(AssistantMessage {
            blocks,
            model: model.into(),
        })
    };
    let searched = call("s1", "tool_search", r#"{"p":"mail"}"#, native.search);
    let read = call("c 1", "read", r#"{"p": "ü"}"#, native.extra);
    let broken = call("c2", "no such tool", r#"{"p": "#, None);
    let mut found = ToolResult::text(&searched, "Loaded mail.", false);
    found.loaded = ["mail", "gone"].map(|n| ToolName::parse(n).unwrap()).into();
    let mut seen = ToolResult::text(&read, "A picture:", false);
    seen.content.push(image());
    [
        Message::user("Hello?"),
        said(
            "other:m",
            vec![
                reasoning("Foreign.", r#"{"foreign":true}"#),
                Block::Text("Hi.".into()),
            ],
        ),
        Message::user("Mail it."),
        said(model, vec![Block::Call(searched)]),
        Message::Tool(found),
        said(
            model,
            vec![
                reasoning("Own.", native.reasoning),
                Block::Text("Let me look.".into()),
                Block::Text(" ".into()),
                Block::Call(read),
                Block::Call(broken.clone()),
            ],
        ),
        Message::Tool(seen),
        Message::Tool(ToolResult::text(&broken, "", true)),
        said(model, Vec::new()),
        Message::User(vec![Content::text("And this?"), image()]),
        Message::user("Well?"),
    ]
    .into_iter()
    .collect()
}

pub(crate) fn request<'a>(
    plan: &'a TurnPlan,
    history: &'a History,
    choice: &'a ToolChoice,
) -> Request<'a> {
    Request {
        plan,
        history,
        tool_choice: choice,
        max_output_tokens: None,
    }
}

/// A body as lines, one item each, after it has passed the check.
pub(crate) fn shown(dialect: ToolDialect, body: &[u8]) -> String {
    let mut profile = ModelProfile::new("test:m");
    profile.dialect = dialect;
    profile.load_route = LoadRoute::Native;
    assert_eq!(check_request(&profile, body), []);
    let text = String::from_utf8(body.to_vec()).unwrap();
    text.replace("},{", "},\n{")
        .replace("\"messages\":[", "\n\"messages\":[\n")
        .replace("\"input\":[", "\n\"input\":[\n")
        .replace("\"contents\":[", "\n\"contents\":[\n")
        .replace("\"system\":", "\n\"system\":")
}
