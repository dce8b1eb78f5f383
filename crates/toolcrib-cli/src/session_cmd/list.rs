//! `toolcrib session list`.

use std::fmt::Write as _;

use serde_json::json;
use toolcrib_session::{Session, Stored};

use super::store;
use crate::args::SessionListArgs;
use crate::exit::{CliError, Status};
use crate::terminal::{count, harmless_line, print};

pub(super) fn run(args: &SessionListArgs) -> Result<Status, CliError> {
    let store = store()?;
    let stored = store.newest(args.limit).map_err(CliError::failed)?;
    let mut text = String::new();
    for one in &stored {
        match (&one.session, args.json) {
            (Ok(session), false) => line(&mut text, one, session),
            (Ok(session), true) => object(&mut text, one, session),
            (Err(error), false) => {
                let _ = writeln!(text, "{}  unreadable: {error}", one.id);
            }
            (Err(error), true) => {
                let value = json!({"id": one.id, "path": one.path, "error": error.to_string()});
                let _ = writeln!(text, "{value}");
            }
        }
    }
    if !args.json {
        let all = store.ids().map_err(CliError::failed)?.len();
        let _ = match (stored.len(), all) {
            (_, 0) => writeln!(text, "no sessions in {}", store.dir().display()),
            (shown, all) if shown < all => {
                writeln!(
                    text,
                    "{shown} of {}; -n {all} shows all",
                    count(all, "session")
                )
            }
            _ => Ok(()),
        };
    }
    print(&text);
    Ok(Status::Success)
}

fn line(text: &mut String, stored: &Stored, session: &Session) {
    let summary = session.summary();
    let outcome = match summary.runs.last() {
        None => "empty",
        Some(run) => run.outcome.as_deref().unwrap_or("cut off"),
    };
    let question = session.meta().question.as_deref();
    let question = question.or(summary.total.question.as_deref());
    let _ = writeln!(
        text,
        "{}  {outcome:<10}  {:>3} replies  {:>3} calls  {}  {}",
        stored.id,
        summary.total.replies,
        summary.total.calls,
        harmless_line(&session.meta().model, 30),
        harmless_line(question.unwrap_or("-"), 60),
    );
}

fn object(text: &mut String, stored: &Stored, session: &Session) {
    let summary = session.summary();
    let meta = session.meta();
    let value = json!({
        "id": stored.id,
        "path": stored.path,
        "bytes": stored.bytes,
        "created": meta.created,
        "model": meta.model,
        "cwd": meta.cwd,
        "question": meta.question,
        "forked_from": meta.forked_from,
        "rows": session.entries().len(),
        "runs": summary.runs.len(),
        "outcome": summary.runs.last().map(|run| &run.outcome),
    });
    let _ = writeln!(text, "{value}");
}
