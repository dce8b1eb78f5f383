//! `toolcrib eval ask`: how often the first citations hold the right place.
//!
//! Each question goes through this very program as a person would ask it, so
//! that the time is what a person waits: start, graph and rounds included.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use toolcrib_eval::{Place, Question, load_questions};

use crate::args::EvalAskArgs;
use crate::exit::{CliError, Status};
use crate::terminal::{count, print, say};

/// What came back for one question.
struct Asked {
    /// In the order of the answer.
    cited: Vec<Place>,
    /// Whether it says that it is an answer.
    found: bool,
    rounds: u64,
    took: Duration,
    /// Why there is no answer.
    problem: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    citations: Vec<Place>,
    found: Option<bool>,
    #[serde(default)]
    rounds: u64,
    reason: Option<String>,
    outcome: Option<String>,
}

/// Asks every question and prints what was cited.
pub(crate) fn run(args: &EvalAskArgs) -> Result<Status, CliError> {
    let questions = load_questions(&args.questions).map_err(CliError::failed)?;
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("cannot find this program: {error}")))?;
    for question in &questions {
        let dir = args.repos.join(&question.repo);
        if !dir.is_dir() {
            return Err(CliError::failed(format!(
                "{} is not a directory; unpack the repository {:?} into {}",
                dir.display(),
                question.repo,
                args.repos.display()
            )));
        }
    }
    let mut hits = 0;
    let mut text = String::new();
    for question in &questions {
        let asked = ask(&program, args, question)?;
        if let Some(problem) = &asked.problem {
            say(&format!("toolcrib: {:?}: {problem}", question.question));
        }
        // Places beside an answer that says there is none are no answer.
        let rank = question.rank(&asked.cited).filter(|_| asked.found);
        let hit = match question.places.is_empty() {
            true => asked.problem.is_none() && !asked.found,
            false => rank.is_some_and(|rank| rank <= args.first),
        };
        hits += usize::from(hit);
        text.clear();
        report(&mut text, args, question, &asked, rank, hit);
        print(&text);
    }
    if args.json {
        let line = json!({"questions": questions.len(), "first": args.first, "hits": hits});
        print(&format!("{line}\n"));
    } else {
        print(&format!(
            "{hits} of {} are right: a place among the first {} citations, or nothing where there is \
             nothing\n",
            questions.len(),
            args.first
        ));
    }
    Ok(Status::Success)
}

fn ask(program: &Path, args: &EvalAskArgs, question: &Question) -> Result<Asked, CliError> {
    let mut command = Command::new(program);
    command
        .args([
            "ask",
            "--no-session",
            "--quiet",
            "--format",
            "json",
            "--dir",
        ])
        .arg(args.repos.join(&question.repo))
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(model) = &args.model {
        command.args(["--model", model]);
    }
    command.arg("--").arg(&question.question);
    let start = Instant::now();
    let output = command
        .output()
        .map_err(|error| CliError::failed(format!("cannot run {}: {error}", program.display())))?;
    let mut asked = Asked {
        cited: Vec::new(),
        found: false,
        rounds: 0,
        took: start.elapsed(),
        problem: None,
    };
    let mut finished = false;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(line) = serde_json::from_str::<Line>(line) else {
            continue;
        };
        match &*line.kind {
            "citations" => {
                asked.found = line.found.unwrap_or(true);
                asked.cited = line.citations;
            }
            "run_finished" => {
                finished = true;
                asked.rounds = line.rounds;
                if line.outcome.as_deref() != Some("answered") {
                    asked.problem = line.reason.or(line.outcome);
                }
            }
            _ => {}
        }
    }
    if !finished {
        let said = String::from_utf8_lossy(&output.stderr);
        asked.problem = Some(format!("no answer: {}", said.trim()));
    }
    Ok(asked)
}

fn report(
    text: &mut String,
    args: &EvalAskArgs,
    question: &Question,
    asked: &Asked,
    rank: Option<usize>,
    hit: bool,
) {
    let ms = u64::try_from(asked.took.as_millis()).unwrap_or(u64::MAX);
    let cited: Vec<String> = asked
        .cited
        .iter()
        .take(args.first)
        .map(|place| format!("{}:{}-{}", place.path, place.start, place.end))
        .collect();
    if args.json {
        let line = json!({
            "repo": question.repo,
            "kind": question.kind,
            "question": question.question,
            "hit": hit,
            "found": asked.found,
            "rank": rank,
            "cited": cited,
            "rounds": asked.rounds,
            "ms": ms,
            "problem": asked.problem,
        });
        let _ = writeln!(text, "{line}");
        return;
    }
    let _ = writeln!(
        text,
        "{} {} [{}] {} ({}, {ms} ms)",
        if hit { "hit " } else { "miss" },
        question.repo,
        question.kind,
        question.question,
        count(asked.rounds, "round"),
    );
    if !asked.found {
        let _ = writeln!(text, "       nothing found");
    }
    for place in cited {
        let _ = writeln!(text, "       {place}");
    }
    if !hit && let Some(rank) = rank {
        let _ = writeln!(text, "       the right place is citation {rank}");
    }
}
