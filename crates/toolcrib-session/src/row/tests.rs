use super::*;
use toolcrib_core::{AssistantMessage, Block, Content, RawJson, ToolCall, TurnPlan};

fn call() -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: "find".into(),
        arguments: "{ \"q\" : 1.0 }".into(),
        extra: None,
    }
}

fn all() -> Vec<Row> {
    let mut meta = Meta::new("openai:m");
    meta.id = SessionId::parse("20261130T134924123-k3f9x2m7qd").unwrap();
    meta.created = 1_796_046_564_123;
    meta.question = Some("Where?".into());
    let assistant = AssistantMessage {
        blocks: vec![
            Block::Reasoning {
                text: "Hm.".into(),
                raw: Some(RawJson("{\"sig\": 1}".into())),
            },
            Block::Text("Let me look.".into()),
            Block::Call(call()),
            Block::Opaque(RawJson("{\"x\" :[ ]}".into())),
        ],
        model: "openai:m".into(),
    };
    let mut result = ResultRow::new(ToolResult::text(&call(), "src/a.rs:1\n(truncated)", false));
    result.bytes = 90_000;
    result.shown_bytes = Some(11);
    result.spill = Some("r0123456789ab".into());
    result.ms = 12;
    result.repairs = vec!["empty_arguments".into()];
    result.details = Some(serde_json::json!({"hits": 3}));
    let mut failed = ResultRow::new(ToolResult::text(&call(), "error: no", true));
    failed.kind = Some(ToolErrorKind::BadJson);
    let empty = ToolResult {
        content: Vec::new(),
        ..ToolResult::text(&call(), "", false)
    };
    let usage = Usage {
        input: Some(10),
        output: Some(2),
        ..Usage::default()
    };
    vec![
        Row::Meta(meta),
        Row::message(Message::user("line\nbreak \u{2028} \0 \u{1b}[31m ü")),
        Row::message_in(1, Message::Assistant(assistant)),
        Row::ToolResult(result),
        Row::ToolResult(failed),
        Row::ToolResult(ResultRow::new(empty)),
        Row::usage(1, usage, Some(Cost::reported(0.000_1)), 850),
        Row::retry(1, "503 from the server"),
        Row::plan(
            TurnPlan::new("s", Vec::new()).fingerprint().clone(),
            "initial",
        ),
        Row::reading(
            vec![ToolName::parse("b").unwrap()],
            Some(vec!["web".into()]),
        ),
        Row::activation(
            vec![ToolName::parse("b").unwrap()],
            Some("c1".into()),
            vec![ToolName::parse("b").unwrap()],
        ),
        Row::message(Message::User(vec![Content::Image {
            media_type: "image/png".into(),
            data: "AAAA".into(),
        }])),
        Row::note("A note."),
        Row::finished("stopped", Some("rounds".into()), 20),
        Row::compaction(vec![Message::user("summary")], "full", 90_000, 900),
        Row::Unknown("{\"row\":\"dream\",\"kept\":6}".into()),
    ]
}

#[test]
fn l27_s58_every_row_is_one_line_and_reads_back_the_same() {
    let mut lines = Vec::new();
    for row in all() {
        encode(&row, 1_796_046_564_500, &mut lines).unwrap();
    }
    let lines = String::from_utf8(lines).unwrap();
    let read: Vec<_> = lines.lines().map(|line| decode(line).unwrap().1).collect();
    assert_eq!(read, all());
    insta::assert_snapshot!(lines);
}

#[test]
fn l27_unknown_kinds_and_fields_are_kept_and_broken_rows_are_not_unknown() {
    let unknown = r#"{"at":7,"row":"hologram","x":[1]}"#;
    assert_eq!(
        decode(unknown).unwrap(),
        (Some(7), Row::Unknown(unknown.into()))
    );
    let (at, row) = decode(r#"{"row":"note","text":"a","mood":"good"}"#).unwrap();
    assert_eq!((at, row), (None, Row::note("a")));
    for broken in [
        "",
        "{}",
        "[]",
        "7",
        "{\"row\":7}",
        "{\"row\":\"note\"}",
        "{\"row\":\"note\",\"text\":\"a\"} x",
    ] {
        assert!(decode(broken).is_err(), "{broken}");
    }
}

#[test]
fn l27_an_unknown_row_cannot_break_out_of_its_line() {
    let mut line = Vec::new();
    encode(&Row::Unknown("{\"row\":\n\"x\"}\r\n".into()), 0, &mut line).unwrap();
    assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
    assert!(decode(std::str::from_utf8(&line).unwrap().trim_end()).is_ok());
}

#[test]
fn l27_what_could_not_be_read_back_is_not_written() {
    for bad in ["", "no json", "{}", "{\"row\":\"x\"} {\"row\":\"y\"}"] {
        let mut line = Vec::new();
        assert!(
            encode(&Row::Unknown(bad.into()), 0, &mut line).is_err(),
            "{bad}"
        );
    }
}
