//! What stands in the session, and when.

use std::sync::Arc;

use toolcrib_agent::{Budget, Event, Outcome, OutcomeKind, RunError, Step};
use toolcrib_core::{CancellationToken, Message};
use toolcrib_session::{Meta, Row, Session, SessionLog};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

use crate::support::*;

fn log() -> (tempfile::TempDir, SessionLog) {
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    (dir, log)
}

fn rows(log: &SessionLog) -> Vec<&'static str> {
    let session = Session::read(log.path()).unwrap();
    let names = session.entries().iter().map(|entry| match &entry.row {
        Row::Meta(_) => "meta",
        Row::Message(row) => match row.message {
            Message::User(_) => "user",
            _ => "model",
        },
        Row::ToolResult(_) => "result",
        Row::Usage(_) => "usage",
        Row::Plan(_) => "plan",
        Row::Finished(_) => "finished",
        _ => "other",
    });
    names.collect()
}

#[tokio::test]
async fn rows_are_written_as_things_happen_and_give_the_same_transcript() {
    let (_dir, log) = log();
    let model = model([
        Turn::calls([("lookup", "{}"), ("lookup", "")]),
        Turn::text("Done.").using(10, 1, None),
    ]);
    let agent = agent(&model).session(log.clone()).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
    assert_eq!(
        rows(&log),
        [
            "meta", "plan", "user", "usage", "model", "result", "result", "usage", "model",
            "finished"
        ]
    );
    let session = Session::read(log.path()).unwrap();
    let read: Vec<_> = session.history().messages().cloned().collect();
    let ran: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_eq!(read, ran);
}

#[tokio::test]
async fn the_calls_are_in_the_session_before_they_run() {
    let (_dir, log) = log();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (watch, at_start) = (log.clone(), seen.clone());
    let sink = move |event: &Event| {
        if let Event::ToolCallStarted { .. } = event {
            *at_start.lock().unwrap() = rows(&watch);
        }
    };
    let model = model([look(), Turn::text("Done.")]);
    let agent = agent(&model)
        .session(log.clone())
        .sink(Arc::new(sink))
        .build()
        .unwrap();
    let _ = agent.run("Go.").await;
    assert_eq!(
        *seen.lock().unwrap(),
        ["meta", "plan", "user", "usage", "model"]
    );
}

#[tokio::test]
async fn a_cancelled_run_leaves_a_session_in_which_every_call_has_its_result() {
    let (_dir, log) = log();
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let sink = move |event: &Event| {
        if let Event::ToolCallStarted { .. } = event {
            stop.cancel();
        }
    };
    let model = model([Turn::calls([("wait", "{}"), ("lookup", "{}")])]);
    let agent = agent(&model)
        .session(log.clone())
        .sink(Arc::new(sink))
        .cancel(cancel)
        .build()
        .unwrap();
    assert_eq!(agent.run("Go.").await.kind(), OutcomeKind::Cancelled);
    let session = Session::read(log.path()).unwrap();
    assert!(toolcrib_session::repair(&session.history()).is_none());
    assert_eq!(rows(&log).last(), Some(&"finished"));
}

#[test]
fn a_full_disk_ends_the_run_with_an_intact_session() {
    const CHILD: &str = "TOOLCRIB_TEST_FULL_DISK";
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        return runtime.block_on(run_until_full());
    }
    // The limit holds for a whole process, so the run gets one of its own.
    let script = r#"ulimit -f 64; trap "" XFSZ; exec "$0" --exact "$1" --nocapture"#;
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg("sessions::a_full_disk_ends_the_run_with_an_intact_session")
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("1 passed"), "{stdout}");
}

async fn run_until_full() {
    let (_dir, log) = log();
    let mut n = 0;
    let model = Arc::new(ScriptedModel::from_fn(move |_| {
        n += 2;
        let long = |n: usize| format!(r#"{{"q":"{n}{}"}}"#, "x".repeat(2_000));
        Turn::calls([
            ("lookup", long(n).as_str()),
            ("lookup", long(n + 1).as_str()),
        ])
    }));
    let agent = agent(&model)
        .session(log.clone())
        .budget(Budget::rounds(1_000))
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    let reason = outcome.reason().unwrap();
    let Outcome::Failed {
        error: RunError::Session(_),
        report,
    } = outcome
    else {
        panic!("{reason}");
    };
    assert!(reason.starts_with("no room left"), "{reason}");
    assert!(
        report.rounds > 2 && report.rounds < 100,
        "{}",
        report.rounds
    );
    assert_paired(&report.history.messages().cloned().collect::<Vec<_>>());
    let session = Session::read(log.path()).unwrap();
    assert_eq!(session.torn_bytes(), 0);
    let written = session.history().len();
    assert!(written > 3 && written <= report.history.len());
}

#[tokio::test]
async fn a_run_stored_between_two_steps_goes_on_with_the_same_requests() {
    let script = || {
        ScriptedModel::from_fn(|request| match request.messages.len() {
            1 | 3 => look(),
            5 => Turn::text(""),
            _ => Turn::text("Done."),
        })
    };
    let whole = Arc::new(script());
    let build =
        |model: &Arc<ScriptedModel>| agent(model).budget(Budget::rounds(9)).build().unwrap();
    let outcome = build(&whole).run("Go.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);

    let first = model([look()]);
    let mut run = build(&first).begin(Default::default(), "Go.", None);
    assert!(matches!(run.step(), Step::CallModel(_)));
    let stored = serde_json::to_string(&run).unwrap();
    let resumed = Arc::new(script());
    let again = serde_json::from_str(&stored).unwrap();
    let outcome = build(&resumed)
        .drive(again, &toolcrib_agent::Answer::text())
        .await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
    let messages = |model: &ScriptedModel| -> Vec<_> {
        model.requests().into_iter().map(|r| r.messages).collect()
    };
    assert_eq!(messages(&resumed), messages(&whole));
}

#[tokio::test]
async fn a_later_run_goes_on_from_an_earlier_history() {
    let model = model([look(), Turn::text("It is a."), look(), Turn::text("And b.")]);
    let agent = agent(&model).build().unwrap();
    let first = agent.run("What?").await;
    let run = agent.begin(first.report().history.clone(), "What else?", None);
    let second = agent.drive(run, &toolcrib_agent::Answer::text()).await;
    assert_eq!(second.answer().unwrap(), "And b.");
    assert_eq!(second.report().rounds, 2);
    let requests = model.requests();
    assert_prefixes(&requests);
    assert_paired(&requests[3].messages);
}

#[tokio::test]
async fn a_history_that_a_crash_left_is_put_right_before_it_is_sent() {
    let model = model([look(), Turn::text("It is a."), Turn::text("And b.")]);
    let agent = agent(&model).build().unwrap();
    let first = agent.run("What?").await;
    let torn = first.report().history.messages().take(2).cloned().collect();
    let run = agent.begin(torn, "What else?", None);
    let second = agent.drive(run, &toolcrib_agent::Answer::text()).await;
    assert_eq!(second.answer().unwrap(), "And b.");
    assert_paired(&model.requests()[2].messages);
}
