//! `toolcrib session show`: the rows of a session for people.

use std::fmt::Write as _;

use toolcrib_core::{Block, Content, Message};
use toolcrib_session::{Entry, Row};

use super::read;
use crate::args::SessionShowArgs;
use crate::exit::{CliError, Status};
use crate::terminal::{count, harmless, harmless_line, print};

/// Characters shown of a text, unless all of it is asked for.
const EXCERPT: usize = 160;

pub(super) fn run(args: &SessionShowArgs) -> Result<Status, CliError> {
    let session = read(&args.session)?;
    let mut text = String::new();
    for entry in session.entries() {
        if args.json {
            let _ = writeln!(text, "{}", entry.raw);
        } else {
            row(&mut text, entry, args.full);
        }
    }
    if session.torn_bytes() > 0 && !args.json {
        let _ = writeln!(
            text,
            "      left out: {} of a row that was being written",
            count(session.torn_bytes(), "byte")
        );
    }
    print(&text);
    Ok(Status::Success)
}

fn row(text: &mut String, entry: &Entry, full: bool) {
    let shown = |what: &str| {
        if full {
            // Later lines stand below the first.
            harmless(what).trim_end().replace('\n', "\n      ")
        } else {
            harmless_line(what, EXCERPT)
        }
    };
    let _ = write!(text, "{:>4}  ", entry.line);
    let _ = match &entry.row {
        Row::Meta(meta) => writeln!(
            text,
            "session {}  model {}  in {}{}",
            meta.id,
            shown(&meta.model),
            shown(meta.cwd.as_deref().unwrap_or("no directory")),
            meta.forked_from.as_ref().map_or_else(String::new, |fork| {
                format!("  branched off {} at line {}", fork.session, fork.line)
            }),
        ),
        Row::Message(row) => match &row.message {
            Message::User(content) => writeln!(text, "user: {}", shown(&joined(content))),
            Message::Assistant(message) => {
                let mut parts = Vec::new();
                for block in &message.blocks {
                    parts.push(match block {
                        Block::Text(said) => shown(said),
                        Block::Call(call) => {
                            format!("calls {} {}", shown(&call.name), shown(&call.arguments))
                        }
                        Block::Reasoning { text, .. } => format!("(thinks) {}", shown(text)),
                        _ => "(a block that only its model reads)".to_owned(),
                    });
                }
                writeln!(text, "model: {}", parts.join("\n      "))
            }
            Message::Tool(result) => writeln!(text, "result: {}", shown(&joined(&result.content))),
            _ => writeln!(text, "a message of a kind unknown here"),
        },
        Row::ToolResult(row) => writeln!(
            text,
            "{} of {}, {} ms, {}{}: {}",
            if row.result.is_error {
                "error"
            } else {
                "result"
            },
            shown(&row.result.name),
            row.ms,
            count(row.bytes, "byte"),
            row.shown_bytes
                .map_or_else(String::new, |shown| format!(", {shown} shown")),
            shown(&joined(&row.result.content)),
        ),
        Row::Usage(row) => writeln!(
            text,
            "round {}: {} tokens in, {} out, {}, {} ms",
            row.round,
            known(row.usage.input),
            known(row.usage.output),
            row.cost.map_or_else(
                || "cost unknown".to_owned(),
                |cost| format!("${:.4}", cost.usd)
            ),
            row.ms
        ),
        Row::Retry(row) => writeln!(
            text,
            "round {}: sent again, {}",
            row.round,
            shown(&row.reason)
        ),
        Row::Plan(row) => writeln!(text, "plan ({})", shown(&row.reason)),
        Row::Activation(row) => {
            let names: Vec<&str> = row.tools.iter().map(|name| name.as_str()).collect();
            let _ = write!(text, "loaded {}", names.join(", "));
            match row.misread.len() {
                0 => writeln!(text),
                count => writeln!(text, " ({count} not predicted)"),
            }
        }
        Row::Reading(row) => {
            let names: Vec<&str> = row.tools.iter().map(|name| name.as_str()).collect();
            let domains = row.domains.iter().flatten().map(|word| shown(word));
            let domains: Vec<String> = domains.collect();
            writeln!(
                text,
                "read for the tools it needs: {}; about: {}",
                or_none(&names.join(", ")),
                or_none(&domains.join(", "))
            )
        }
        Row::Compaction(row) => writeln!(
            text,
            "made shorter ({}): {}, now {} in {}",
            shown(&row.reason),
            count(row.bytes_before, "byte"),
            row.bytes_after,
            count(row.messages.len(), "message")
        ),
        Row::Note(row) => writeln!(text, "note: {}", shown(&row.text)),
        Row::Finished(row) => writeln!(
            text,
            "{} after {}{}",
            shown(&row.outcome),
            count(row.rounds, "round"),
            row.reason
                .as_deref()
                .map_or_else(String::new, |reason| format!(": {}", shown(reason)))
        ),
        _ => writeln!(text, "a row of a kind unknown here: {}", shown(&entry.raw)),
    };
}

/// The text of a message; an image is named.
pub(super) fn joined(content: &[Content]) -> String {
    let parts: Vec<String> = content
        .iter()
        .map(|part| match part {
            Content::Text(text) => text.to_string(),
            Content::Image { media_type, .. } => format!("[image, {media_type}]"),
            _ => "[content of a kind unknown here]".to_owned(),
        })
        .collect();
    parts.join("\n")
}

fn or_none(list: &str) -> &str {
    if list.is_empty() { "none" } else { list }
}

fn known(count: Option<u64>) -> String {
    count.map_or_else(|| "?".to_owned(), |count| count.to_string())
}
