use super::*;
use toolcrib_core::{History, Message, ToolChoice, TurnPlan};

fn play(model: &ScriptModel, history: &History) -> (Result<Reply, ModelError>, Vec<String>) {
    let plan = TurnPlan::new("", Vec::new());
    let mut events = Vec::new();
    let request = Request {
        plan: &plan,
        history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: None,
    };
    let reply = model.play(&request, &mut |event| events.push(format!("{event:?}")));
    (reply, events)
}

fn script(text: &str) -> ScriptModel {
    ScriptModel::parse("demo.jsonl", text).unwrap()
}

fn message(outcome: Result<ScriptModel, ModelError>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.kind, Kind::Script);
    error.message
}

#[test]
fn a_script_is_found_again_from_everywhere_and_called_as_it_was_named() {
    let name = "no/such/script.jsonl";
    let here = std::env::current_dir().unwrap();
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile_in(&here);
    let file = file.unwrap();
    std::fs::write(file.path(), r#"{"text": "Once."}"#).unwrap();
    let relative = file.path().strip_prefix(&here).unwrap();
    let model = ScriptModel::open(relative).unwrap();
    assert_eq!(
        &*model.profile().id,
        format!("script:{}", file.path().display())
    );
    let history: History = [Message::user("?")].into_iter().collect();
    play(&model, &history).0.unwrap();
    let out = play(&model, &history).0.unwrap_err().message;
    assert!(
        out.starts_with(&format!("the script {} ran out", relative.display())),
        "{out}"
    );
    assert!(message(ScriptModel::open(name)).contains(name));
}

#[test]
fn replies_come_in_order_with_events_like_a_stream() {
    let model = script(concat!(
        "// a demo\n\n",
        r#"{"reasoning": "Look first.", "text": "I will look.", "calls": [{"name": "read", "arguments": {"b":1,  "a": [1.0]}}, {"name": "list", "arguments": "{\"cut"}, {"name": "stats", "id": "mine"}]}"#,
        "\n",
        r#"{"text": "Done.", "usage": {"input": 9, "output": 2}, "cost": 0.25, "finish": "length"}"#,
    ));
    assert_eq!(&*model.profile().id, "script:demo.jsonl");
    let mut history: History = [Message::user("?")].into_iter().collect();
    let (reply, events) = play(&model, &history);
    let reply = reply.unwrap();
    assert_eq!(reply.finish, Finish::ToolCalls);
    let calls: Vec<_> = reply
        .message
        .calls()
        .map(|c| (&*c.id, &*c.name, &*c.arguments))
        .collect();
    assert_eq!(
        calls,
        [
            ("call00001", "read", r#"{"b":1,  "a": [1.0]}"#),
            ("call00002", "list", r#"{"cut"#),
            ("mine", "stats", ""),
        ]
    );
    assert_eq!(
        events,
        [
            r#"Reasoning("Look ")"#,
            r#"Reasoning("first.")"#,
            r#"Text("I ")"#,
            r#"Text("will ")"#,
            r#"Text("look.")"#,
            r#"CallStarted("read")"#,
            r#"CallStarted("list")"#,
            r#"CallStarted("stats")"#,
        ]
    );
    history.push(Message::Assistant(reply.message));
    let (reply, _) = play(&model, &history);
    let reply = reply.unwrap();
    assert_eq!(reply.message.text(), "Done.");
    assert_eq!(reply.finish, Finish::Length);
    assert_eq!((reply.usage.input, reply.usage.cached), (Some(9), None));
    assert_eq!(reply.cost, Some(Cost::reported(0.25)));

    let error = play(&model, &history).0.unwrap_err();
    assert_eq!(error.kind, Kind::Script);
    assert_eq!(
        error.message,
        "the script demo.jsonl ran out: it holds 2 replies and this is request 3; add a line"
    );
}

#[test]
fn ids_do_not_meet_those_of_the_transcript() {
    let model = script(
        r#"{"calls": [{"name": "a", "id": "x"}, {"name": "b"}]}
{"calls": [{"name": "a", "id": "x"}, {"name": "b"}]}"#,
    );
    let mut history = History::new();
    let first = play(&model, &history).0.unwrap();
    history.push(Message::Assistant(first.message));
    let second = play(&model, &history).0.unwrap();
    history.push(Message::Assistant(second.message));
    let mut ids: Vec<_> = history
        .messages()
        .filter_map(|message| match message {
            Message::Assistant(message) => Some(message.calls().map(|c| c.id.to_string())),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(ids.len(), 4);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[test]
fn errors_are_typed_and_name_their_line() {
    let model = script(
        r#"{"error": "gone"}
{"error": {"kind": "context_overflow", "message": "too long", "needed": 9, "allowed": 8}}"#,
    );
    let error = play(&model, &History::new()).0.unwrap_err();
    assert_eq!((error.kind, error.retryable), (Kind::Unavailable, false));
    assert_eq!(error.message, "demo.jsonl:1: gone");
    let error = play(&model, &History::new()).0.unwrap_err();
    let (needed, allowed) = (Some(9), Some(8));
    assert_eq!(error.kind, Kind::ContextOverflow { needed, allowed });
}

#[test]
fn bad_lines_are_named_with_file_and_line() {
    let check = |text: &str, expected: &str| {
        assert_eq!(message(ScriptModel::parse("demo.jsonl", text)), expected);
    };
    check(
        "{\"text\": \"ok\"}\n\n{\"txt\": \"no\"}",
        "demo.jsonl:3: not a scripted reply: unknown field `txt`, expected one of `text`, \
         `reasoning`, `calls`, `finish`, `usage`, `cost`, `error` at column 6",
    );
    check(
        "{\"text\": ",
        "demo.jsonl:1: not a scripted reply: EOF while parsing a value at column 9",
    );
    check(
        "\n// nothing\n",
        "the script demo.jsonl holds no reply; write one JSON object a line",
    );
    let missing = message(ScriptModel::open("/nonexistent/demo.jsonl"));
    assert!(missing.starts_with("cannot read the script /nonexistent/demo.jsonl: "));
}
