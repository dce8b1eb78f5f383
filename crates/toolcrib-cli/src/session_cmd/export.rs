//! `toolcrib session export`: a session as a document.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::value::RawValue;
use toolcrib_core::{Block, Message};
use toolcrib_session::{Row, Session};

use super::{read, show};
use crate::args::{ExportFormat, SessionExportArgs};
use crate::exit::{CliError, Status};
use crate::terminal::{count, harmless, print};

pub(super) fn run(args: &SessionExportArgs) -> Result<Status, CliError> {
    let session = read(&args.session)?;
    let text = match args.format {
        ExportFormat::Markdown => markdown(&session),
        ExportFormat::Json => json(&session)?,
    };
    let Some(path) = &args.output else {
        print(&text);
        return Ok(Status::Success);
    };
    let failed = |error: std::io::Error| {
        CliError::failed(format!("cannot write {}: {error}", path.display()))
    };
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half a document is worse than none.
        let _ = std::fs::remove_file(path);
        return Err(failed(error));
    }
    Ok(Status::Success)
}

/// All rows as they stand, in one array.
fn json(session: &Session) -> Result<String, CliError> {
    let rows: Result<Vec<&RawValue>, _> = session
        .entries()
        .iter()
        .map(|entry| serde_json::from_str(&entry.raw))
        .collect();
    let rows = rows.map_err(CliError::failed)?;
    let mut text = serde_json::to_string_pretty(&rows).map_err(CliError::failed)?;
    text.push('\n');
    Ok(text)
}

fn markdown(session: &Session) -> String {
    let meta = session.meta();
    let mut text = format!(
        "# Session {}\n\n- model: {}\n",
        meta.id,
        harmless(&meta.model)
    );
    if let Some(cwd) = &meta.cwd {
        let _ = writeln!(text, "- directory: {}", harmless(cwd));
    }
    if let Some(fork) = &meta.forked_from {
        let _ = writeln!(
            text,
            "- branched off {} at line {}",
            fork.session, fork.line
        );
    }
    for entry in session.entries() {
        match &entry.row {
            Row::Message(row) => match &row.message {
                Message::User(content) => {
                    let _ = write!(text, "\n## User\n\n{}\n", harmless(&show::joined(content)));
                }
                Message::Assistant(message) => {
                    let _ = write!(text, "\n## Model\n");
                    for block in &message.blocks {
                        match block {
                            Block::Text(said) => {
                                let _ = write!(text, "\n{}\n", harmless(said));
                            }
                            Block::Call(call) => {
                                let _ = writeln!(text, "\nCalls `{}`:", harmless(&call.name));
                                fenced(&mut text, "json", &call.arguments);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            },
            Row::ToolResult(row) => {
                let kind = if row.result.is_error {
                    "Error"
                } else {
                    "Result"
                };
                let _ = write!(text, "\n### {kind} of `{}`\n", harmless(&row.result.name));
                fenced(&mut text, "", &show::joined(&row.result.content));
            }
            Row::Finished(row) => {
                let rounds = count(row.rounds, "round");
                let _ = write!(text, "\n*{} after {rounds}", row.outcome);
                if let Some(reason) = &row.reason {
                    let _ = write!(text, ": {}", harmless(reason));
                }
                text.push_str("*\n");
            }
            _ => {}
        }
    }
    text
}

/// A fence that nothing within can close.
fn fenced(text: &mut String, language: &str, what: &str) {
    let what = harmless(what);
    let longest = what
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let _ = write!(text, "\n{fence}{language}\n{}\n{fence}\n", what.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_closes_its_own_fence() {
        let mut text = String::new();
        fenced(&mut text, "", "a\n````\nb");
        assert_eq!(text, "\n`````\na\n````\nb\n`````\n");
    }
}
