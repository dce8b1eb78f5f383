//! The format's description and the code name the same things.

use serde_json::Value;
use toolcrib_core::{
    AssistantMessage, Fingerprint, Message, ToolCall, ToolName, ToolResult, Usage,
};
use toolcrib_session::{Meta, ResultRow, Row, Session, SessionLog};

const DOCUMENT: &str = include_str!("../../../../docs/session-format.md");

#[test]
fn every_row_and_each_of_its_fields_is_described() {
    let call = ToolCall {
        id: "c".into(),
        name: "t".into(),
        arguments: "{}".into(),
        extra: None,
    };
    let mut result = ResultRow::new(ToolResult::text(&call, "x", true));
    result.shown_bytes = Some(1);
    result.repairs = vec!["r".into()];
    result.details = Some(Value::Null);
    let dir = tempfile::tempdir().expect("a directory");
    let mut meta = Meta::new("m");
    meta.cwd = Some("/".into());
    meta.question = Some("q".into());
    meta.program = Some("p".into());
    let log = SessionLog::create(dir.path(), meta).expect("created");
    let name = ToolName::parse("t").expect("a name");
    let print = Fingerprint {
        system: "a".into(),
        tools: "b".into(),
        schemas: "c".into(),
        deferred: Some("d".into()),
    };
    for row in [
        Row::message_in(1, Message::Assistant(AssistantMessage::default())),
        Row::ToolResult(result),
        Row::usage(1, Usage::default(), None, 1),
        Row::retry(1, "why"),
        Row::plan(print, "initial"),
        Row::reading(Vec::new(), Some(Vec::new())),
        Row::activation(Vec::new(), Some("c".into()), vec![name]),
        Row::compaction(Vec::new(), "full", 2, 1),
        Row::note("n"),
        Row::finished("failed", Some("why".into()), 1),
    ] {
        log.append(&row).expect("a row");
    }
    let session = Session::read(log.path()).expect("read");
    for entry in session.entries() {
        let row: Value = serde_json::from_str(&entry.raw).expect("JSON");
        let fields = row.as_object().expect("an object");
        let kind = fields["row"].as_str().expect("a kind");
        assert!(
            DOCUMENT.contains(&format!("| `{kind}` |")),
            "the row {kind} is not described"
        );
        for field in fields.keys() {
            assert!(
                DOCUMENT.contains(&format!("`{field}`")),
                "{kind}: {field} is not described"
            );
        }
    }
}
