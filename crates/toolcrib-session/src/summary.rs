//! What a session's runs took: rounds, tokens, money, time, failures.
//!
//! Computed from the rows alone, so that any session can be reported on, also
//! one whose run was killed. What no row says stays unknown.

use std::collections::BTreeMap;

use serde::Serialize;
use toolcrib_core::{Content, Cost, Message, Usage};

use crate::{Row, Session};

/// What one run took, or several together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// What was asked; `None` in a sum.
    pub question: Option<String>,
    /// How it ended, in one word; `None` when it was cut off, and in a sum.
    pub outcome: Option<String>,
    /// The limit or error behind it; `None` in a sum.
    pub reason: Option<String>,
    /// Rounds used; of a run that was cut off, those that it had begun to write down.
    pub rounds: u64,
    /// Replies of the model.
    pub replies: u64,
    /// Requests that failed and were sent again.
    pub retries: u64,
    /// Tool calls that have a result.
    pub calls: u64,
    /// Of these, results that report a failure.
    pub failed_calls: u64,
    /// Of these, results that were cut.
    pub truncated: u64,
    /// Bytes of the results before any cut.
    pub result_bytes: u64,
    /// Calls whose arguments were mended before they ran.
    pub repaired: u64,
    /// Tools that were loaded on the way.
    pub loaded: u64,
    /// Prompts that were read for the tools they need.
    pub readings: u64,
    /// Tools that were needed although the reading had not predicted them.
    pub misreads: u64,
    /// The same by tool.
    pub wanted: BTreeMap<String, u64>,
    /// How often the transcript was made shorter.
    pub compactions: u64,
    /// Calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Tokens, as far as replies reported them.
    pub usage: Usage,
    /// Money, as far as replies reported it.
    pub cost: Option<Cost>,
    /// Milliseconds in the model.
    pub model_ms: u64,
    /// Milliseconds in tools, calls side by side counted each.
    pub tool_ms: u64,
    /// Milliseconds from the first row to the last.
    pub wall_ms: Option<u64>,
}

/// What the runs of a session took.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Each run in order.
    pub runs: Vec<RunSummary>,
    /// All together.
    pub total: RunSummary,
}

impl RunSummary {
    /// Adds another run. What was asked and how it ended is of each run, and of no sum.
    pub fn add(&mut self, other: &RunSummary) {
        (self.question, self.outcome, self.reason) = (None, None, None);
        self.rounds += other.rounds;
        self.replies += other.replies;
        self.retries += other.retries;
        self.calls += other.calls;
        self.failed_calls += other.failed_calls;
        self.truncated += other.truncated;
        self.result_bytes += other.result_bytes;
        self.repaired += other.repaired;
        self.loaded += other.loaded;
        self.readings += other.readings;
        self.misreads += other.misreads;
        for (tool, times) in &other.wanted {
            *self.wanted.entry(tool.clone()).or_default() += times;
        }
        self.compactions += other.compactions;
        for (tool, calls) in &other.tools {
            *self.tools.entry(tool.clone()).or_default() += calls;
        }
        self.usage.add(&other.usage);
        self.cost = sum(
            self.cost,
            self.replies > other.replies,
            other.cost,
            other.replies > 0,
        );
        self.model_ms += other.model_ms;
        self.tool_ms += other.tool_ms;
        self.wall_ms = match (self.wall_ms, other.wall_ms) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
    }
}

/// A sum of costs; partial where one of two that had replies is unknown.
fn sum(a: Option<Cost>, a_counts: bool, b: Option<Cost>, b_counts: bool) -> Option<Cost> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (Some(known), None) => Some(Cost {
            partial: known.partial || b_counts,
            ..known
        }),
        (None, Some(known)) => Some(Cost {
            partial: known.partial || a_counts,
            ..known
        }),
        (None, None) => None,
    }
}

impl Session {
    /// What each run took. A run ends with its `finished` row, or where the next one
    /// begins that goes on after it was cut off: with the tools of a new process, or
    /// with a question after what the model said.
    pub fn summary(&self) -> Summary {
        self.summary_after(1)
    }

    /// What the rows after this line took, counted from 1: in a fork that is reported
    /// on beside its origin, what the lines that they have in common do not hold.
    pub fn summary_after(&self, line: u64) -> Summary {
        let mut summary = Summary::default();
        let mut run = RunSummary::default();
        let mut begun = None;
        let mut replied = false;
        for entry in self.entries().iter().filter(|entry| entry.line > line) {
            if goes_on(&run, &entry.row) {
                summary.runs.push(std::mem::take(&mut run));
                (begun, replied) = (None, false);
            }
            if begun.is_none() && !matches!(entry.row, Row::Meta(_)) {
                begun = Some(entry.at);
            }
            if let (Some(Some(first)), Some(at)) = (begun, entry.at) {
                run.wall_ms = Some(at.saturating_sub(first));
            }
            if let Row::Usage(row) = &entry.row {
                run.cost = sum(
                    run.cost,
                    std::mem::replace(&mut replied, true),
                    row.cost,
                    true,
                );
            }
            count(&mut run, &entry.row);
            if matches!(entry.row, Row::Finished(_)) {
                summary.runs.push(std::mem::take(&mut run));
                (begun, replied) = (None, false);
            }
        }
        if begun.is_some() {
            summary.runs.push(run);
        }
        for run in &summary.runs {
            summary.total.add(run);
        }
        summary
    }

    /// The last line up to which this session and another hold the same rows, where one
    /// is a branch of the other or both are of a third; 1, the first, where none is.
    pub fn shared_lines(&self, other: &Session) -> u64 {
        if self.meta().forked_from.is_none() && other.meta().forked_from.is_none() {
            return 1;
        }
        let pairs = self.entries().iter().zip(other.entries()).skip(1);
        pairs
            .take_while(|(own, others)| own.raw == others.raw)
            .last()
            .map_or(1, |(own, _)| own.line)
    }
}

/// Whether a run begins with this row although the one before it never ended.
fn goes_on(before: &RunSummary, row: &Row) -> bool {
    match row {
        Row::Plan(row) => before.question.is_some() && row.reason == "initial",
        // What is said on the way belongs to a round.
        Row::Message(row) => {
            let asks = row.round.is_none() && matches!(row.message, Message::User(_));
            asks && before.replies > 0
        }
        _ => false,
    }
}

fn count(run: &mut RunSummary, row: &Row) {
    match row {
        Row::Message(row) => match &row.message {
            Message::User(content) if run.question.is_none() => {
                let text = content.iter().filter_map(|part| match part {
                    Content::Text(text) => Some(&**text),
                    _ => None,
                });
                let text: Vec<&str> = text.collect();
                run.question = Some(text.join("\n"));
            }
            Message::Assistant(_) => {
                run.replies += 1;
                began(run, row.round.unwrap_or_default());
            }
            _ => {}
        },
        Row::ToolResult(row) => {
            run.calls += 1;
            run.failed_calls += u64::from(row.result.is_error);
            run.truncated += u64::from(row.shown_bytes.is_some());
            run.result_bytes += row.bytes;
            run.repaired += u64::from(!row.repairs.is_empty());
            run.tool_ms += row.ms;
            *run.tools.entry(row.result.name.to_string()).or_default() += 1;
        }
        Row::Usage(row) => {
            run.usage.add(&row.usage);
            run.model_ms += row.ms;
            began(run, row.round);
        }
        Row::Retry(row) => {
            run.retries += 1;
            began(run, row.round);
        }
        Row::Compaction(_) => run.compactions += 1,
        // One whose prompt was never written down is made again when the run goes on.
        Row::Reading(_) if run.question.is_none() => run.readings = 1,
        Row::Reading(_) => run.readings += 1,
        Row::Activation(row) => {
            run.loaded += row.tools.len() as u64;
            run.misreads += row.misread.len() as u64;
            for tool in &row.misread {
                *run.wanted.entry(tool.to_string()).or_default() += 1;
            }
        }
        Row::Finished(row) => {
            run.outcome = Some(row.outcome.clone());
            run.reason.clone_from(&row.reason);
            run.rounds = row.rounds.into();
        }
        _ => {}
    }
}

fn began(run: &mut RunSummary, round: u32) {
    run.rounds = run.rounds.max(round.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Meta, ResultRow, SessionLog};
    use toolcrib_core::{AssistantMessage, ToolCall, ToolResult};

    fn result(name: &str, is_error: bool, ms: u64) -> Row {
        let call = ToolCall {
            id: "c".into(),
            name: name.into(),
            arguments: "{}".into(),
            extra: None,
        };
        let mut row = ResultRow::new(ToolResult::text(&call, "x", is_error));
        row.bytes = 10;
        row.shown_bytes = is_error.then_some(5);
        row.ms = ms;
        Row::ToolResult(row)
    }

    fn usage(input: u64) -> Usage {
        Usage {
            input: Some(input),
            ..Usage::default()
        }
    }

    #[test]
    fn s69_a_prompt_that_was_cut_off_after_its_reading_is_read_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = SessionLog::create(dir.path(), Meta::new("m")).expect("created");
        let reading = || Row::reading(Vec::new(), None);
        let asks = || Row::message(Message::user("which?"));
        let ends = || Row::finished("answered", None, 1);
        for row in [reading(), reading(), asks(), ends(), reading(), asks()] {
            log.append(&row).expect("a row");
        }
        let summary = Session::read(log.path()).expect("read").summary();
        let readings: Vec<u64> = summary.runs.iter().map(|run| run.readings).collect();
        assert_eq!((readings, summary.total.readings), (vec![1, 1], 2));
    }

    #[test]
    fn runs_are_told_apart_and_summed() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = SessionLog::create(dir.path(), Meta::new("m")).expect("created");
        let reply = || Row::message_in(1, Message::Assistant(AssistantMessage::default()));
        for row in [
            Row::message(Message::user("first")),
            Row::retry(1, "503"),
            reply(),
            Row::usage(1, usage(7), Some(Cost::reported(0.5)), 20),
            result("a", false, 3),
            result("b", true, 4),
            Row::finished("answered", None, 2),
            Row::message(Message::user("second")),
            reply(),
            Row::usage(1, usage(5), None, 30),
            Row::retry(2, "529"),
            Row::retry(2, "529"),
        ] {
            log.append(&row).expect("a row");
        }
        let summary = Session::read(log.path()).expect("read").summary();
        let [first, second] = &summary.runs[..] else {
            panic!("{:?}", summary.runs);
        };
        assert_eq!(first.question.as_deref(), Some("first"));
        assert_eq!(first.outcome.as_deref(), Some("answered"));
        assert_eq!(
            (first.calls, first.failed_calls, first.truncated),
            (2, 1, 1)
        );
        assert_eq!((first.tool_ms, first.model_ms), (7, 20));
        assert_eq!((first.rounds, first.retries), (2, 1));
        assert_eq!(
            (second.rounds, second.retries),
            (2, 2),
            "cut off in the second"
        );
        assert_eq!(first.cost, Some(Cost::reported(0.5)));
        assert_eq!(second.outcome, None);
        assert_eq!(second.cost, None);
        let total = &summary.total;
        assert_eq!(total.usage.input, Some(12));
        assert_eq!((total.rounds, total.replies, total.retries), (4, 2, 3));
        assert_eq!(total.tools["b"], 1);
        let cost = total.cost.expect("a cost");
        assert!(cost.partial && (cost.usd - 0.5).abs() < 1e-9);
    }

    /// Killed, gone on with by another process, and once more by a chat whose last
    /// row could not be written.
    #[test]
    fn runs_that_never_ended_are_told_apart_from_those_that_go_on() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = SessionLog::create(dir.path(), Meta::new("m")).expect("created");
        let plan = || {
            let fingerprint = toolcrib_core::TurnPlan::eager(
                String::new(),
                &toolcrib_core::Registry::new(),
                &toolcrib_core::Visibility::default(),
            );
            Row::plan(fingerprint.fingerprint().clone(), "initial")
        };
        let asked = |text: &str| Row::message(Message::user(text));
        let reply = || Row::message_in(1, Message::Assistant(AssistantMessage::default()));
        for row in [
            plan(),
            asked("first"),
            // Queued before anything was said.
            asked("and this"),
            plan(),
            asked("first"),
            reply(),
            Row::usage(1, usage(7), None, 20),
            Row::message_in(1, Message::user("queued later")),
            result("a", false, 3),
            asked("second"),
            reply(),
            Row::finished("answered", None, 1),
        ] {
            log.append(&row).expect("a row");
        }
        let summary = Session::read(log.path()).expect("read").summary();
        let runs: Vec<_> = summary
            .runs
            .iter()
            .map(|run| (run.question.as_deref(), run.replies, run.calls))
            .collect();
        assert_eq!(
            runs,
            [
                (Some("first"), 0, 0),
                (Some("first"), 1, 1),
                (Some("second"), 1, 0)
            ]
        );
        let ends: Vec<_> = summary
            .runs
            .iter()
            .map(|run| run.outcome.as_deref())
            .collect();
        assert_eq!(ends, [None, None, Some("answered")]);
        assert_eq!(
            (&summary.total.question, &summary.total.outcome),
            (&None, &None)
        );
        assert_eq!(summary.total.replies, 2);
    }

    #[test]
    fn a_branch_takes_what_its_own_rows_took() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = crate::SessionStore::new(dir.path());
        let log = SessionLog::create(dir.path(), Meta::new("m")).expect("created");
        let reply = |round| Row::message_in(round, Message::Assistant(AssistantMessage::default()));
        let paid = |round, usd| Row::usage(round, usage(7), Some(Cost::reported(usd)), 20);
        for row in [Row::message(Message::user("q")), paid(1, 0.5), reply(1)] {
            log.append(&row).expect("a row");
        }
        let origin = Session::read(log.path()).expect("read");
        let branch = store.fork(&origin, None).expect("forked");
        for row in [paid(2, 0.25), reply(2), Row::finished("answered", None, 2)] {
            branch.append(&row).expect("a row");
        }
        log.append(&Row::finished("failed", None, 1))
            .expect("a row");
        let origin = Session::read(log.path()).expect("read");
        let branch = Session::read(branch.path()).expect("read");
        assert_eq!(branch.summary().total.cost, Some(Cost::reported(0.75)));
        for (one, other) in [(&origin, &branch), (&branch, &origin)] {
            assert_eq!(one.shared_lines(other), 4);
        }
        // In the second round of a run, and yet the whole of what is counted.
        let own = branch.summary_after(4).total;
        assert_eq!(own.cost, Some(Cost::reported(0.25)));
        assert_eq!((own.replies, own.usage.input), (1, Some(7)));
        assert_eq!(origin.shared_lines(&origin), 1, "no branch");
    }

    #[test]
    fn a_session_without_a_run_has_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let log = SessionLog::create(dir.path(), Meta::new("m")).expect("created");
        let summary = Session::read(log.path()).expect("read").summary();
        assert_eq!(summary, Summary::default());
    }
}
