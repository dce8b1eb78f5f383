//! Sessions in temporary directories, and this binary run again as another process.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use toolcrib_core::{AssistantMessage, Block, Message, ToolCall, ToolResult};
use toolcrib_session::{Meta, ResultRow, Row, Session, SessionLog};

pub(crate) fn session() -> (TempDir, SessionLog) {
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("test:model")).unwrap();
    (dir, log)
}

/// A note of about `bytes` bytes that says who wrote it.
pub(crate) fn note(writer: &str, number: usize, bytes: usize) -> Row {
    Row::note(format!("{writer} {number} {}", "ü".repeat(bytes / 2)))
}

pub(crate) fn notes(session: &Session) -> Vec<&str> {
    let rows = session.entries().iter().filter_map(|e| match &e.row {
        Row::Note(note) => Some(note.text.as_str()),
        _ => None,
    });
    rows.collect()
}

/// Asked, looked up and answered.
pub(crate) fn one_turn(log: &SessionLog) {
    let call = ToolCall {
        id: "c1".into(),
        name: "find".into(),
        arguments: "{}".into(),
        extra: None,
    };
    let says = |block| {
        Message::Assistant(AssistantMessage {
            blocks: vec![block],
            model: "test:model".into(),
        })
    };
    let result = ToolResult::text(&call, "src/main.rs:1", false);
    for row in [
        Row::message(Message::user("Wo ist main?")),
        Row::message(says(Block::Call(call))),
        Row::ToolResult(ResultRow::new(result)),
        Row::message(says(Block::Text("In src/main.rs — Zeile 1.".into()))),
        Row::finished("answered", None, 2),
    ] {
        log.append(&row).unwrap();
    }
}

/// The variable that tells a child which session to write.
pub(crate) const CHILD: &str = "TOOLCRIB_SESSION_TEST_CHILD";

/// This test binary again, running the one test `name` as a child.
pub(crate) fn child(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.env(CHILD, path);
    command.stdout(std::process::Stdio::piped());
    command
}
