//! `toolcrib report`: what sessions took.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::json;
use toolcrib_core::Cost;
use toolcrib_session::{RunSummary, Session};

use crate::args::ReportArgs;
use crate::exit::{CliError, Status};
use crate::session_cmd::{read, store};
use crate::terminal::{count, harmless_line, print, say};

/// Reports on each session, and on all of them together.
pub(crate) fn run(args: &ReportArgs) -> Result<Status, CliError> {
    let mut sessions = Vec::new();
    match args.newest {
        None => {
            for said in &args.sessions {
                sessions.push(read(said)?);
            }
        }
        Some(count) => {
            for stored in store()?.newest(count).map_err(CliError::failed)? {
                match stored.session {
                    Ok(session) => sessions.push(session),
                    Err(error) => say(&format!("toolcrib: left out: {error}")),
                }
            }
        }
    }
    // One that was named twice is one.
    let mut seen = BTreeSet::new();
    sessions.retain(|session: &Session| seen.insert(session.path().to_owned()));
    let mut text = String::new();
    let mut total = RunSummary::default();
    let mut runs = 0;
    for (at, session) in sessions.iter().enumerate() {
        let summary = session.summary();
        runs += summary.runs.len();
        if args.json {
            let value = json!({"id": session.meta().id, "model": session.meta().model, "runs": summary.runs, "total": summary.total});
            let _ = writeln!(text, "{value}");
        } else {
            of_session(&mut text, session, &summary.runs);
        }
        // What a branch copied was paid for once.
        let before = sessions[..at].iter();
        match before.map(|other| session.shared_lines(other)).max() {
            Some(line) if line > 1 => total.add(&session.summary_after(line).total),
            _ => total.add(&summary.total),
        }
    }
    if args.json {
        let _ = writeln!(
            text,
            "{}",
            json!({"sessions": sessions.len(), "total": total})
        );
    } else if sessions.len() != 1 || runs > 1 {
        let _ = writeln!(text, "total of {}", count(sessions.len(), "session"));
        of_run(&mut text, &total);
    }
    print(&text);
    Ok(Status::Success)
}

fn of_session(text: &mut String, session: &Session, runs: &[RunSummary]) {
    let meta = session.meta();
    let _ = writeln!(text, "{}  {}", meta.id, harmless_line(&meta.model, 60));
    for run in runs {
        let question = run.question.as_deref().unwrap_or("-");
        let _ = write!(
            text,
            "  {}: {}",
            run.outcome.as_deref().unwrap_or("cut off"),
            harmless_line(question, 80)
        );
        let _ = match &run.reason {
            Some(reason) => writeln!(text, " ({})", harmless_line(reason, 80)),
            None => writeln!(text),
        };
        of_run(text, run);
    }
}

fn of_run(text: &mut String, run: &RunSummary) {
    let known = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let usage = &run.usage;
    let _ = writeln!(
        text,
        "    tokens   {} in ({} cached, {} written to the cache), {} out ({} reasoning)",
        known(usage.input),
        known(usage.cached),
        known(usage.cache_write),
        known(usage.output),
        known(usage.reasoning),
    );
    let _ = writeln!(text, "    cost     {}", cost(run.cost));
    let _ = writeln!(
        text,
        "    rounds   {}: {} and {}, {} in the model, {} in tools, {} in all",
        run.rounds,
        replies(run.replies),
        match run.retries {
            1 => "1 retry".to_owned(),
            many => format!("{many} retries"),
        },
        seconds(run.model_ms),
        seconds(run.tool_ms),
        run.wall_ms.map_or_else(|| "?".to_owned(), seconds),
    );
    let tools: Vec<String> = run
        .tools
        .iter()
        .map(|(tool, calls)| format!("{} {calls}", harmless_line(tool, 64)))
        .collect();
    let _ = writeln!(
        text,
        "    calls    {}: {} failed, {} cut, {} with mended arguments, {} of results, {} loaded, {}{}",
        run.calls,
        run.failed_calls,
        run.truncated,
        run.repaired,
        count(run.result_bytes, "byte"),
        count(run.loaded, "tool"),
        count(run.compactions, "compaction"),
        if tools.is_empty() {
            String::new()
        } else {
            format!(" ({})", tools.join(", "))
        }
    );
    misreads(text, run);
}

/// How well prompts were read, and the five tools most often wanted after being
/// withheld.
fn misreads(text: &mut String, run: &RunSummary) {
    if run.readings == 0 && run.misreads == 0 {
        return;
    }
    let mut wanted: Vec<(&String, &u64)> = run.wanted.iter().collect();
    wanted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let wanted: Vec<String> = wanted
        .iter()
        .take(5)
        .map(|(tool, times)| format!("{} {times}", harmless_line(tool, 64)))
        .collect();
    let _ = writeln!(
        text,
        "    reading  {} read, {}{}",
        count(run.readings, "prompt"),
        count(run.misreads, "misread"),
        if wanted.is_empty() {
            String::new()
        } else {
            format!(" ({})", wanted.join(", "))
        }
    );
}

fn replies(number: u64) -> String {
    match number {
        1 => "1 reply".to_owned(),
        many => format!("{many} replies"),
    }
}

fn cost(cost: Option<Cost>) -> String {
    match cost {
        None => "unknown".to_owned(),
        Some(cost) => format!(
            "${:.4}{}{}",
            cost.usd,
            if cost.estimated { ", estimated" } else { "" },
            if cost.partial {
                ", of some replies"
            } else {
                ""
            }
        ),
    }
}

fn seconds(ms: u64) -> String {
    format!("{:.1} s", ms as f64 / 1e3)
}
