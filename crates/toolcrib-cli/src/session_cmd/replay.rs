//! `toolcrib session replay`: what the recorded replies would call today.
//!
//! Each recorded run is driven by the loop itself, its model replaced by the
//! replies on record, so that budgets, deferral and repairs take part as they
//! did. What differs is in the results: the repository or a tool has changed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use toolcrib_agent::{Agent, Answer, Budget};
use toolcrib_core::{
    AssistantMessage, Block, Finish, Hidden, History, Message, Mode, Model, ModelError,
    ModelErrorKind, ModelProfile, Reply, ReplyEvent, Request, SpillError, SpillStore, Str,
    ToolResult, Usage, Visibility, spill_handle,
};
use toolcrib_dispatch::REDACTED;
use toolcrib_session::{DiskSpill, Row, Session};
use toolcrib_surface::SurfacePolicy;

use super::{read, show};
use crate::args::{PlaceArgs, SessionReplayArgs};
use crate::exit::{CliError, Status};
use crate::place::Workspace;
use crate::signals::Signals;
use crate::terminal::{count, harmless_line, print, say};
use crate::{ask, model, snapshot};

/// Replies on record, given one after the other.
struct Recorded {
    profile: ModelProfile,
    replies: Mutex<VecDeque<AssistantMessage>>,
}

impl Model for Recorded {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    fn stream<'a>(
        &'a self,
        _: Request<'a>,
        _: &'a mut (dyn FnMut(ReplyEvent<'_>) + Send),
    ) -> toolcrib_core::BoxFuture<'a, Result<Reply, ModelError>> {
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let next = replies.pop_front();
        Box::pin(async move {
            let message = next.ok_or_else(|| {
                ModelError::new(ModelErrorKind::Script, "the record has no more replies")
            })?;
            let finish = match message.calls().next() {
                Some(_) => Finish::ToolCalls,
                None => Finish::Stop,
            };
            Ok(Reply {
                message,
                finish,
                usage: Usage::default(),
                cost: None,
            })
        })
    }
}

/// The whole results of a session, and those of its replay, which are not written.
struct Kept {
    then: DiskSpill,
    now: Mutex<BTreeMap<Str, String>>,
}

impl SpillStore for Kept {
    fn put(&self, text: &str) -> Result<Str, SpillError> {
        let handle = spill_handle(text);
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.insert(handle.clone(), text.to_owned());
        Ok(handle)
    }

    fn get(&self, handle: &str) -> Result<String, SpillError> {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        match now.get(handle) {
            Some(text) => Ok(text.clone()),
            None => self.then.get(handle),
        }
    }
}

/// One run as it is on record.
#[derive(Default)]
struct RunOnRecord {
    question: String,
    replies: VecDeque<AssistantMessage>,
    results: Vec<ToolResult>,
    /// Ids of the calls whose arguments held a key.
    redacted: BTreeSet<Str>,
}

pub(super) fn run(args: &SessionReplayArgs) -> Result<Status, CliError> {
    let session = read(&args.session)?;
    let dir = args.place.dir.clone();
    let dir = dir.or_else(|| session.meta().cwd.as_ref().map(PathBuf::from));
    let workspace = Workspace::open(&PlaceArgs { dir }, false)?;
    let loaded = snapshot::load(&workspace)?;
    let registry = Arc::new(ask::registry(&loaded.lookup, &args.tools, false)?);
    let runtime = model::runtime()?;
    let mode = if args.allow_writes {
        Mode::Auto
    } else {
        Mode::Plan
    };
    // As in the runs on record, what was cut can be read on.
    let kept = Arc::new(Kept {
        then: DiskSpill::beside(session.path()),
        now: Mutex::default(),
    });
    let visibility = Visibility {
        mode,
        ..Visibility::default()
    };
    let withheld = |name: &str| {
        let tool = registry.get(name);
        tool.is_some_and(|tool| visibility.check(tool.spec()) == Err(Hidden::ByMode))
    };
    let guard = runtime.enter();
    let interrupt = Signals::listen().interrupt();
    drop(guard);
    let mut tally = Tally::default();
    let mut text = String::new();
    for on_record in runs(&session) {
        let agent = Agent::builder(Arc::new(Recorded {
            profile: ModelProfile::new(session.meta().model.clone()),
            replies: Mutex::new(on_record.replies),
        }))
        .tools(Arc::clone(&registry))
        .visibility(visibility.clone())
        .surface(SurfacePolicy::default())
        .budget(Budget::default())
        .spill(Arc::clone(&kept) as Arc<dyn SpillStore>)
        .build()
        .map_err(CliError::failed)?;
        let run = agent.begin(History::new(), &on_record.question, None);
        // How the run ends is of no interest: its answer is on record, and where
        // the caller's own checks sent it back the record runs on.
        let answer = Answer::text();
        let outcome = runtime.block_on(agent.drive_until(run, &answer, interrupt.token()));
        if interrupt.token().is_cancelled() {
            break;
        }
        let again: Vec<ToolResult> = outcome
            .report()
            .history
            .messages()
            .filter_map(|message| match message {
                Message::Tool(result) => Some(result.clone()),
                _ => None,
            })
            .collect();
        compare(
            &mut text,
            args,
            &mut tally,
            &on_record.results,
            &again,
            &|old| withheld(&old.name) || on_record.redacted.contains(&old.call_id),
        );
    }
    let interrupted = interrupt.token().is_cancelled();
    drop(interrupt);
    // A tool that does not heed its cancellation must not keep the process alive.
    runtime.shutdown_background();
    print(&text);
    if interrupted {
        say("toolcrib: the replay was interrupted");
        return Ok(Status::Interrupted);
    }
    say(&format!(
        "{}: {} the same, {} different, {} not run again",
        count(tally.calls, "call"),
        tally.same,
        tally.different,
        tally.calls - tally.same - tally.different
    ));
    Ok(if tally.different == 0 {
        Status::Success
    } else {
        Status::Failure
    })
}

#[derive(Default)]
struct Tally {
    calls: usize,
    same: usize,
    different: usize,
}

fn runs(session: &Session) -> Vec<RunOnRecord> {
    let mut runs = Vec::new();
    let mut run = RunOnRecord::default();
    for entry in session.entries() {
        match &entry.row {
            Row::Message(row) => match &row.message {
                Message::User(content) if run.question.is_empty() => {
                    run.question = show::joined(content);
                }
                Message::Assistant(message) => {
                    let mut message = message.clone();
                    for block in &mut message.blocks {
                        // What ran is not on record where it held a key, and nothing
                        // else is run in its place.
                        if let Block::Call(call) = block
                            && call.arguments.contains(REDACTED)
                        {
                            call.name = format!("{REDACTED} {}", call.id).into();
                            run.redacted.insert(call.id.clone());
                        }
                    }
                    run.replies.push_back(message);
                }
                _ => {}
            },
            Row::ToolResult(row) => run.results.push(row.result.clone()),
            Row::Finished(_) => runs.push(std::mem::take(&mut run)),
            _ => {}
        }
    }
    if !run.replies.is_empty() {
        runs.push(run);
    }
    runs.retain(|run| !run.question.is_empty());
    runs
}

fn compare(
    text: &mut String,
    args: &SessionReplayArgs,
    tally: &mut Tally,
    then: &[ToolResult],
    now: &[ToolResult],
    withheld: &dyn Fn(&ToolResult) -> bool,
) {
    for old in then {
        tally.calls += 1;
        let new = now.iter().find(|new| new.call_id == old.call_id);
        let state = match new {
            None => "not run",
            Some(new) if new.is_error == old.is_error && body(new) == body(old) => "same",
            // What may change something was refused, which says nothing of the tool.
            Some(_) if withheld(old) => "not run",
            Some(_) => "different",
        };
        match state {
            "same" => tally.same += 1,
            "different" => tally.different += 1,
            _ => {}
        }
        if args.json {
            let value = json!({
                "call_id": old.call_id,
                "tool": old.name,
                "state": state,
                "then": (state == "different").then(|| body(old)),
                "now": new.filter(|_| state == "different").map(body),
            });
            let _ = writeln!(text, "{value}");
            continue;
        }
        let _ = writeln!(text, "{state:<9}  {}  {}", old.name, old.call_id);
        if let (Some(new), "different") = (new, state) {
            let (then, now) = first_difference(&body(old), &body(new));
            let _ = writeln!(text, "     then: {}", harmless_line(&then, 160));
            let _ = writeln!(text, "     now:  {}", harmless_line(&now, 160));
        }
    }
}

/// A result without the loop's own countdown, which depends on the budget.
fn body(result: &ToolResult) -> String {
    let text = show::joined(&result.content);
    match text.rfind("\n[round ") {
        Some(at) if text.ends_with(']') => text[..at].trim_end().to_owned(),
        _ => text.trim_end().to_owned(),
    }
}

/// The first lines that differ.
fn first_difference(then: &str, now: &str) -> (String, String) {
    let mut then = then.lines();
    let mut now = now.lines();
    loop {
        match (then.next(), now.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => {
                let said = |line: Option<&str>| line.unwrap_or("(nothing more)").to_owned();
                return (said(a), said(b));
            }
        }
    }
}
