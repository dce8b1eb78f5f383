//! L12, L13, s50: calls that need a yes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use toolcrib_core::{
    BoxFuture, CancellationToken, Effect, Mode, Permission, Preview, Selector, ToolError,
    ToolErrorKind, Visibility,
};
use toolcrib_dispatch::{
    Approver, Decision, Dispatcher, PolicyApprover, Prepared, Question, Redactor, RunContext,
};
use toolcrib_testkit::tools::FakeTool;

use crate::support::{
    SECOND, assert_paired, call, calls, dispatcher, dispatcher_with, line, on_paused_clock, run,
    text,
};

/// Answers from a list, and keeps what it was asked.
#[derive(Default)]
struct Scripted {
    answers: Mutex<VecDeque<Decision>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Decision>) -> Arc<Scripted> {
        Arc::new(Scripted {
            answers: Mutex::new(answers.into_iter().collect()),
            asked: Mutex::default(),
        })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Approver for Scripted {
    fn decide<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Decision> {
        let asked = format!("{} {:?}", question.spec.name, question.preview);
        self.asked.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

fn writer(name: &str) -> FakeTool {
    FakeTool::echo(name).with_effect(Effect::Write)
}

fn asking<const N: usize>(tools: [FakeTool; N], approver: &Arc<Scripted>) -> Dispatcher {
    dispatcher(tools).with_approver(approver.clone())
}

#[test]
fn l12_a_mode_and_an_effect_decide_who_is_asked() {
    let verdict = |mode, effect| {
        let visibility = Visibility {
            mode,
            ..Visibility::default()
        };
        let approver = Scripted::new([Decision::Deny(None)]);
        let tool = FakeTool::echo("t").with_effect(effect);
        let ran = tool.record();
        let dispatcher = dispatcher_with([tool], visibility).with_approver(approver.clone());
        run(&dispatcher, &calls(&["t"]));
        match (ran.all().len(), approver.asked().len()) {
            (1, 0) => "runs",
            (0, 1) => "asks",
            (0, 0) => "refuses",
            other => panic!("{other:?}"),
        }
    };
    use {Effect::*, Mode::*};
    let all = [Plan, Ask, Auto, Yolo]
        .map(|mode| [ReadOnly, Write, Destructive].map(|effect| verdict(mode, effect)));
    assert_eq!(
        all,
        [
            ["runs", "refuses", "refuses"],
            ["runs", "asks", "asks"],
            ["runs", "runs", "asks"],
            ["runs", "runs", "runs"],
        ]
    );
}

#[test]
fn l12_l13_s50_a_question_shows_the_arguments_that_run_and_a_start_comes_after_the_yes() {
    let tool = writer("write").with_spec(|mut spec| {
        spec.input_schema =
            toolcrib_core::Schema::parse(r#"{"properties":{"n":{"type":"integer"}}}"#).unwrap();
        spec
    });
    let ran = tool.record();
    let approver = Scripted::new([Decision::Once]);
    let dispatcher = asking([tool], &approver);
    // Mended twice on the way: the first of two objects, a number out of a text.
    let (_, events) = run(&dispatcher, &[call("1", "write", r#"{"n":"7"}{"n":8}"#)]);
    assert_eq!(ran.all(), [r#"{"n":7}"#]);
    assert_eq!(approver.asked(), [r#"write Text("{\"n\":7}")"#]);
    assert_eq!(
        events,
        [
            r#"asked 1 Text("{\"n\":7}")"#,
            "answered 1 Once",
            "started 1",
            "finished 1"
        ]
    );
}

#[test]
fn l12_once_asks_again_and_session_and_always_do_not() {
    for (decision, times) in [
        (Decision::Once, 2),
        (Decision::Session, 1),
        (Decision::Always, 1),
    ] {
        let approver = Scripted::new([decision.clone(), decision, Decision::Once, Decision::Once]);
        let dispatcher = asking([writer("write"), writer("other")], &approver);
        run(&dispatcher, &calls(&["write", "write"]));
        assert_eq!(approver.asked().len(), times);
        // A yes to one tool is none to another, and it outlives a batch.
        run(&dispatcher.clone(), &calls(&["write", "other"]));
        let last = approver.asked().last().unwrap().clone();
        assert!(times == 2 || last.starts_with("other"), "{last}");
    }
}

#[test]
fn l12_s50_a_denied_call_tells_why_and_never_starts() {
    let approver = Scripted::new([
        Decision::Deny(Some("not in this branch.".into())),
        Decision::Deny(None),
    ]);
    let dispatcher = asking([writer("write"), FakeTool::echo("read")], &approver);
    let (outcomes, events) = run(&dispatcher, &calls(&["write", "write", "read"]));
    insta::assert_snapshot!(outcomes.iter().map(text).collect::<Vec<_>>().join("\n"), @r"
    error: `write` was denied: not in this branch; it did not run. Do not try the same again; do without it or say what should be done.
    error: `write` was denied; it did not run. Do not try the same again; do without it or say what should be done.
    {}
    ");
    assert_eq!(outcomes[0].kind, Some(ToolErrorKind::Denied));
    let started: Vec<_> = events.iter().filter(|e| e.starts_with("started")).collect();
    assert_eq!(started, ["started 2"]);
}

#[test]
fn l12_s50_what_cannot_be_shown_is_denied_unasked() {
    let broken = |text: &'static str| {
        writer("fails").with_preview(move |_| async move { Err(ToolError::failed(text)) })
    };
    let panics = writer("panics").with_preview(|_| async { panic!("a secret") });
    let hangs = writer("hangs").with_preview(|_| std::future::pending());
    let approver = Scripted::new([Decision::Once, Decision::Once, Decision::Once]);
    let dispatcher = asking([broken("no such file."), panics, hangs], &approver);
    let (outcomes, events) = run(&dispatcher, &calls(&["fails", "panics", "hangs"]));
    insta::assert_snapshot!(outcomes.iter().map(text).collect::<Vec<_>>().join("\n"), @r"
    error: `fails` did not run: what it would do cannot be shown, so nobody can allow it (no such file).
    error: `panics` did not run: what it would do cannot be shown, so nobody can allow it (`panics` broke down. The fault is the tool's, not the call's; go another way).
    error: `hangs` did not run: what it would do cannot be shown, so nobody can allow it (it took longer than 10s).
    ");
    assert!(approver.asked().is_empty());
    assert!(events.iter().all(|event| event.starts_with("finished")));
}

#[test]
fn l12_a_cancelled_turn_releases_a_pending_question() {
    let approver = Scripted::new([]);
    let (read, write) = (FakeTool::echo("read"), writer("write"));
    let ran = [read.record(), write.record()];
    let dispatcher = asking([read, write], &approver);
    let calls = calls(&["read", "write", "read"]);
    let batch: Vec<Prepared> = calls.iter().map(|call| dispatcher.prepare(call)).collect();
    let cancel = CancellationToken::new();
    let cx = RunContext::new(cancel.clone());
    let mut events = Vec::new();
    let outcomes = on_paused_clock(async {
        tokio::spawn(async move {
            tokio::time::sleep(60 * SECOND).await;
            cancel.cancel();
        });
        dispatcher
            .run(&batch, &cx, &mut |event| events.push(line(event)))
            .await
    });
    assert_paired(&batch, &outcomes);
    assert_eq!(approver.asked().len(), 1);
    let kinds: Vec<_> = outcomes.iter().map(|outcome| outcome.kind).collect();
    let cancelled = Some(ToolErrorKind::Cancelled);
    assert_eq!(kinds, [None, cancelled, cancelled]);
    assert_eq!(ran.map(|record| record.all().len()), [1, 0]);
    assert!(!events.iter().any(|event| event.starts_with("answered")));
}

#[test]
fn l12_whoever_is_asked_can_end_the_run() {
    let approver = Scripted::new([Decision::CancelRun]);
    let dispatcher = asking([writer("write"), FakeTool::echo("read")], &approver);
    let batch: Vec<Prepared> = calls(&["read", "write", "read", "write"])
        .iter()
        .map(|call| dispatcher.prepare(call))
        .collect();
    let cx = RunContext::default();
    let outcomes = on_paused_clock(dispatcher.run(&batch, &cx, &mut |_| {}));
    assert_paired(&batch, &outcomes);
    let errors: Vec<_> = outcomes.iter().map(|o| o.result.is_error).collect();
    assert_eq!(errors, [false, true, true, true]);
    assert!(cx.abandon.is_cancelled() && cx.cancel.is_cancelled());
    assert_eq!(approver.asked().len(), 1);
}

#[test]
fn l12_a_policy_never_waits() {
    let policy = PolicyApprover::allowing([Selector("wri*".into())]);
    let tools = [
        writer("write"),
        writer("wipe").with_effect(Effect::Destructive),
    ];
    let dispatcher = dispatcher(tools).with_approver(Arc::new(policy));
    let (outcomes, _) = run(&dispatcher, &calls(&["write", "wipe"]));
    assert!(!outcomes[0].result.is_error);
    insta::assert_snapshot!(text(&outcomes[1]), @"error: `wipe` was denied: the policy of this run does not allow it; it did not run. Do not try the same again; do without it or say what should be done.");
}

#[test]
fn l12_an_approver_that_breaks_down_denies() {
    struct Broken;
    impl Approver for Broken {
        fn decide<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Decision> {
            Box::pin(async { panic!("no terminal") })
        }
    }
    let dispatcher = dispatcher([writer("write")]).with_approver(Arc::new(Broken));
    let (outcomes, _) = run(&dispatcher, &calls(&["write"]));
    assert_eq!(outcomes[0].kind, Some(ToolErrorKind::Denied));
}

#[test]
fn l14_reads_that_ask_are_asked_in_order_and_then_run_together() {
    let tools = ["a", "b"].map(|name| {
        FakeTool::slow(name, SECOND).with_spec(|spec| spec.permission(Permission::Ask))
    });
    let approver = Scripted::new([Decision::Once, Decision::Once]);
    let (_, events) = run(&asking(tools, &approver), &calls(&["a", "b"]));
    let heads: Vec<_> = events
        .iter()
        .map(|e| e.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        heads,
        [
            "asked 0",
            "answered 0",
            "asked 1",
            "answered 1",
            "started 0",
            "started 1",
            "finished 0",
            "finished 1"
        ]
    );
}

#[test]
fn l18_a_question_in_the_events_holds_no_secret() {
    const KEY: &str = "s3cr3t-value-of-a-key";
    let tool = writer("write").with_preview(|_| async {
        Ok(Preview::Command {
            argv: vec!["login".into(), KEY.into()],
            cwd: ".".into(),
        })
    });
    let approver = Scripted::new([Decision::Once]);
    let dispatcher = asking([tool], &approver).with_redactor(Redactor::none().with_secret(KEY));
    let (_, events) = run(&dispatcher, &calls(&["write"]));
    assert!(
        events[0].contains("[redacted]") && !events[0].contains(KEY),
        "{}",
        events[0]
    );
    // Whoever decides must see what would run.
    assert!(approver.asked()[0].contains(KEY));
}
