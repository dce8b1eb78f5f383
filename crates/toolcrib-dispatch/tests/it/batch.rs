//! L8, L9, L15: one result per call, whatever happens to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use toolcrib_core::{
    CancellationToken, Content, Effect, Mode, ToolError, ToolErrorKind, ToolName, ToolOutput,
    Visibility,
};
use toolcrib_dispatch::{
    CallOutcome, DispatchEvent, DispatchLimits, Dispatcher, Prepared, RunContext,
};
use toolcrib_testkit::tools::{FakeTool, registry};

use crate::support::{
    SECOND, assert_paired, call, calls, dispatcher, dispatcher_with, line, on_paused_clock, run,
    run_in, text,
};

fn kinds(outcomes: &[CallOutcome]) -> Vec<Option<ToolErrorKind>> {
    outcomes.iter().map(|outcome| outcome.kind).collect()
}

fn yolo() -> Visibility {
    Visibility {
        mode: Mode::Yolo,
        ..Visibility::default()
    }
}

#[test]
fn l08_every_call_has_one_result_in_call_order() {
    let dispatcher = dispatcher([
        FakeTool::echo("echo"),
        FakeTool::slow("slow", SECOND),
        FakeTool::failing("fail", "no such file"),
        FakeTool::panicking("panic", "boom"),
        FakeTool::slow("late", 1000 * SECOND),
        FakeTool::echo("write").with_effect(Effect::Write),
    ]);
    let mut asked = calls(&[
        "slow", "echo", "panic", "nope", "fail", "late", "write", "echo",
    ]);
    asked.push(call("8", "echo", "{broken"));
    let (outcomes, events) = run(&dispatcher, &asked);
    use ToolErrorKind::*;
    assert_eq!(
        kinds(&outcomes),
        [
            None,
            None,
            Some(Failed),
            Some(UnknownTool),
            Some(Failed),
            Some(Timeout),
            Some(Denied),
            None,
            Some(BadJson)
        ]
    );
    let mut finished: Vec<_> = events.iter().filter(|e| e.starts_with("fin")).collect();
    finished.sort();
    assert_eq!(finished.len(), 9);
    finished.dedup();
    assert_eq!(finished.len(), 9);
}

#[test]
fn l08_calls_with_the_same_id_have_a_result_each() {
    let dispatcher = dispatcher([FakeTool::echo("echo")]);
    let asked = [
        call("a", "echo", "{\"n\":1}"),
        call("a", "echo", "{\"n\":2}"),
        call("", "echo", ""),
    ];
    let (outcomes, _) = run(&dispatcher, &asked);
    let texts: Vec<_> = outcomes.iter().map(text).collect();
    assert_eq!(texts, ["{\"n\":1}", "{\"n\":2}", "{}"]);
}

#[test]
fn l08_a_cancelled_run_stops_what_runs_and_starts_nothing_more() {
    let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tool = {
        let (started, stopped) = (started.clone(), stopped.clone());
        FakeTool::new("wait", move |_, cx| {
            let (started, stopped) = (started.clone(), stopped.clone());
            async move {
                started.fetch_add(1, Ordering::Relaxed);
                cx.cancel.cancelled().await;
                stopped.fetch_add(1, Ordering::Relaxed);
                Err(ToolError::failed("stopped"))
            }
        })
    };
    let dispatcher = dispatcher([
        tool,
        FakeTool::slow("deaf", 50 * SECOND),
        FakeTool::echo("write").with_spec(|s| s.activating()),
    ]);
    let cx = RunContext::new(CancellationToken::new());
    let mut asked = calls(&["wait", "deaf"]);
    asked.extend(calls(&["wait"; 10]));
    let batch: Vec<Prepared> = asked.iter().map(|call| dispatcher.prepare(call)).collect();
    let mut events = Vec::new();
    let outcomes = on_paused_clock(async {
        let cancel = async {
            tokio::time::sleep(SECOND).await;
            cx.cancel.cancel();
        };
        let mut on = |event: DispatchEvent<'_>| events.push(line(event));
        tokio::join!(dispatcher.run(&batch, &cx, &mut on), cancel).0
    });
    assert_paired(&batch, &outcomes);
    assert!(
        kinds(&outcomes)
            .iter()
            .all(|kind| *kind == Some(ToolErrorKind::Cancelled))
    );
    assert_eq!(
        started.load(Ordering::Relaxed),
        7,
        "eight at once, one of them deaf"
    );
    assert_eq!(
        stopped.load(Ordering::Relaxed),
        7,
        "told to stop, not just dropped"
    );
    assert_eq!(
        events.iter().filter(|e| e.starts_with("started")).count(),
        8
    );
    insta::assert_snapshot!(text(&outcomes[0]), @"error: the run was cancelled while `wait` ran; it may have done a part of its work");
    insta::assert_snapshot!(text(&outcomes[11]), @"error: the run was cancelled before this call started; it did not run.");
}

#[test]
fn s47_a_halt_lets_running_calls_end_and_gives_the_rest_placeholders() {
    let tools = [
        FakeTool::failing("fail", "same"),
        FakeTool::slow("slow", SECOND),
        FakeTool::echo("write").with_effect(Effect::Write),
    ];
    let dispatcher = dispatcher_with(tools, yolo());
    let cx = RunContext::default();
    let batch: Vec<Prepared> = calls(&["slow", "fail", "slow", "write", "slow", "nope"])
        .iter()
        .map(|call| dispatcher.prepare(call))
        .collect();
    let outcomes = on_paused_clock(async {
        dispatcher
            .run(&batch, &cx, &mut |event| {
                if let DispatchEvent::Finished { outcome, .. } = event
                    && outcome.kind == Some(ToolErrorKind::Failed)
                {
                    cx.halt.cancel();
                }
            })
            .await
    });
    assert_paired(&batch, &outcomes);
    use ToolErrorKind::*;
    // An unknown tool says so even now: that is what the model can learn from.
    assert_eq!(
        kinds(&outcomes),
        [
            None,
            Some(Failed),
            None,
            Some(Cancelled),
            Some(Cancelled),
            Some(UnknownTool)
        ]
    );
    insta::assert_snapshot!(text(&outcomes[4]), @"error: the run was stopped before this call started; it did not run.");
}

#[test]
fn s47_a_run_cancelled_before_it_began_has_all_its_results() {
    let tool = FakeTool::echo("echo");
    let record = tool.record();
    let cx = RunContext::default();
    cx.cancel.cancel();
    let (outcomes, events) = run_in(&dispatcher([tool]), &calls(&["echo"; 3]), &cx);
    assert_eq!(kinds(&outcomes), [Some(ToolErrorKind::Cancelled); 3]);
    assert_eq!(record.all().len(), 0);
    assert_eq!(events, ["finished 0", "finished 1", "finished 2"]);
}

#[test]
fn l08_dropping_a_run_ends_its_tasks() {
    let alive = Arc::new(());
    let tool = {
        let alive = alive.clone();
        FakeTool::new("wait", move |_, _| {
            let alive = alive.clone();
            async move {
                std::future::pending::<()>().await;
                drop(alive);
                Ok(ToolOutput::default())
            }
        })
    };
    let dispatcher = dispatcher([tool]);
    let batch: Vec<Prepared> = calls(&["wait"; 3])
        .iter()
        .map(|c| dispatcher.prepare(c))
        .collect();
    on_paused_clock(async {
        let cx = RunContext::default();
        let mut on = |_: DispatchEvent<'_>| {};
        let run = dispatcher.run(&batch, &cx, &mut on);
        assert!(tokio::time::timeout(SECOND, run).await.is_err());
        tokio::time::sleep(SECOND).await;
        assert_eq!(
            Arc::strong_count(&alive),
            2,
            "held by the test and the tool alone"
        );
    });
}

#[test]
fn l09_s48_a_panic_is_a_generic_error_and_its_payload_stays_out() {
    let early = FakeTool::new("early", |_, _| -> std::future::Ready<_> {
        panic!("payload-2")
    });
    let touchy = FakeTool::echo("touchy").with_footprint(|_| panic!("payload-3"));
    let odd = FakeTool::new("odd", |_, _| async { std::panic::panic_any(7_u8) });
    let dispatcher = dispatcher([
        FakeTool::panicking("panics", "payload-1"),
        early,
        touchy,
        odd,
        FakeTool::echo("echo"),
    ]);
    let mut details = String::new();
    let batch: Vec<Prepared> = calls(&["panics", "early", "touchy", "odd", "echo"])
        .iter()
        .map(|call| dispatcher.prepare(call))
        .collect();
    let outcomes = on_paused_clock(async {
        let mut on = |event: DispatchEvent<'_>| details.push_str(&format!("{event:?}"));
        dispatcher
            .run(&batch, &RunContext::default(), &mut on)
            .await
    });
    insta::assert_snapshot!(text(&outcomes[0]), @"error: `panics` broke down. The fault is the tool's, not the call's; go another way.");
    for outcome in &outcomes[..4] {
        assert_eq!(outcome.kind, Some(ToolErrorKind::Failed));
        details.push_str(&format!("{outcome:?}"));
    }
    assert!(!details.contains("payload"), "{details}");
    assert_eq!(text(&outcomes[4]), "{}");
}

#[test]
fn l13_a_call_starts_after_its_permission_and_shows_what_runs() {
    let dispatcher = dispatcher([
        FakeTool::echo("read"),
        FakeTool::echo("write").with_effect(Effect::Write),
    ]);
    let asked = [
        call("0", "write", "{}"),
        call("1", "read", "{\"a\":1}{\"a\":2}"),
        call("2", "gone", ""),
    ];
    let batch: Vec<Prepared> = asked.iter().map(|c| dispatcher.prepare(c)).collect();
    let mut started = Vec::new();
    on_paused_clock(async {
        let mut on = |event: DispatchEvent<'_>| {
            if let DispatchEvent::Started { index, call } = event {
                started.push((index, call.arguments.to_string()));
            }
        };
        dispatcher
            .run(&batch, &RunContext::default(), &mut on)
            .await
    });
    assert_eq!(started, [(1, "{\"a\":1}".to_owned())]);
}

#[test]
fn l15_a_late_call_is_stopped_at_its_own_or_the_default_timeout() {
    let dispatcher = dispatcher([
        FakeTool::slow("default", 500 * SECOND),
        FakeTool::slow("own", 500 * SECOND).with_spec(|s| s.timeout(SECOND)),
        FakeTool::slow("patient", 500 * SECOND).with_spec(|s| s.timeout(Duration::MAX)),
        FakeTool::cancellable("polite").with_spec(|s| s.timeout(SECOND)),
        FakeTool::new("telling", |_, cx| async move {
            cx.cancel.cancelled().await;
            Ok(ToolOutput::text("half of it"))
        })
        .with_spec(|s| s.timeout(SECOND)),
    ]);
    let (outcomes, _) = run(
        &dispatcher,
        &calls(&["default", "own", "patient", "polite", "telling"]),
    );
    let late = Some(ToolErrorKind::Timeout);
    assert_eq!(kinds(&outcomes), [late, late, None, late, late]);
    let texts: Vec<_> = outcomes.iter().map(text).collect();
    insta::assert_snapshot!(texts.join("\n---\n"), @r#"
    error: `default` was stopped after 120s; ask for less at a time
    ---
    error: `own` was stopped after 1s; ask for less at a time
    ---
    done
    ---
    error: `polite` was stopped after 1s; ask for less at a time
    ---
    error: `telling` was stopped after 1s; what it gave:
    half of it
    "#);
}

#[test]
fn l15_each_call_has_a_token_of_its_own() {
    let tool = FakeTool::new("own", |_, cx| async move {
        let before = cx.cancel.is_cancelled();
        cx.cancel.cancel();
        Ok(ToolOutput::text(before.to_string()))
    })
    .with_effect(Effect::Write);
    let cx = RunContext::default();
    let (outcomes, _) = run_in(&dispatcher_with([tool], yolo()), &calls(&["own"; 3]), &cx);
    assert!(outcomes.iter().all(|outcome| text(outcome) == "false"));
    assert!(!cx.cancel.is_cancelled());
}

#[test]
fn l15_any_number_of_partial_texts_reach_the_events_and_never_the_model() {
    let tool = FakeTool::new("chatty", |_, cx| async move {
        for i in 0..5_000 {
            cx.progress.report(&format!("part {i}"));
        }
        tokio::time::sleep(SECOND).await;
        cx.progress.report("last words");
        Ok(ToolOutput::text("done"))
    });
    let (outcomes, events) = run(&dispatcher([tool]), &calls(&["chatty"]));
    assert_eq!(text(&outcomes[0]), "done");
    assert_eq!(events.len(), 1 + 5_000 + 1 + 1);
    assert_eq!(events[0], "started 0");
    assert_eq!(events[5_000], "progress 0 part 4999");
    assert_eq!(events[5_001..], ["progress 0 last words", "finished 0"]);
}

#[test]
fn l15_nobody_hears_a_call_after_its_end() {
    let tool = FakeTool::new("gossip", |_, cx| async move {
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SECOND / 10).await;
                cx.progress.report("still here");
            }
        });
        Ok(ToolOutput::text("done"))
    });
    let dispatcher = dispatcher([tool, FakeTool::slow("slow", SECOND)]);
    let (_, events) = run(&dispatcher, &calls(&["gossip", "slow"]));
    assert_eq!(
        events,
        ["started 0", "started 1", "finished 0", "finished 1"]
    );
}

#[test]
fn l15_a_flood_of_partial_texts_does_not_fill_the_memory() {
    let tool = FakeTool::new("flood", |_, cx| async move {
        let text = "x".repeat(1024 * 1024);
        for _ in 0..200 {
            cx.progress.report(&text);
        }
        Ok(ToolOutput::text("done"))
    });
    let (outcomes, events) = run(&dispatcher([tool]), &calls(&["flood"]));
    assert_eq!(text(&outcomes[0]), "done");
    assert!(events.len() <= 2 + 4, "{} events", events.len());
}

/// On threads and a clock that really run, with little patience.
fn run_on_threads(tools: [FakeTool; 2], names: &[&str]) -> Vec<CallOutcome> {
    let mut limits = DispatchLimits::default();
    limits.default_timeout = Duration::from_millis(50);
    limits.grace = Duration::from_millis(20);
    let dispatcher = Dispatcher::new(registry(tools).unwrap(), Visibility::default(), limits);
    let batch: Vec<_> = calls(names).iter().map(|c| dispatcher.prepare(c)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let outcomes = runtime.block_on(async {
        let cx = RunContext::default();
        dispatcher.run(&batch, &cx, &mut |_| {}).await
    });
    // Not waiting for a thread that a tool holds.
    runtime.shutdown_background();
    assert_paired(&batch, &outcomes);
    outcomes
}

#[test]
fn l15_a_tool_that_never_yields_is_left_behind() {
    let blocking = FakeTool::new("blocking", |_, _| async {
        std::thread::sleep(3 * SECOND);
        Ok(ToolOutput::text("too late"))
    });
    let outcomes = run_on_threads([blocking, FakeTool::echo("echo")], &["blocking", "echo"]);
    assert_eq!(kinds(&outcomes), [Some(ToolErrorKind::Timeout), None]);
}

#[test]
fn l15_a_tool_that_reports_without_end_is_stopped_all_the_same() {
    let flood = FakeTool::new("flood", |_, cx| async move {
        while !cx.cancel.is_cancelled() {
            cx.progress.report("and another thing");
        }
        Ok(ToolOutput::text("I was not done"))
    });
    let outcomes = run_on_threads([flood, FakeTool::echo("echo")], &["flood", "echo"]);
    assert_eq!(kinds(&outcomes), [Some(ToolErrorKind::Timeout), None]);
}

#[test]
fn only_a_tool_that_declares_it_activates_and_only_what_is_visible() {
    let load = |name: &str| {
        FakeTool::new(name, |_, _| async {
            let names = ["read", "ghost", "denied"].map(|n| ToolName::parse(n).unwrap());
            Ok(ToolOutput::text("loaded").activating(names))
        })
    };
    let dispatcher = dispatcher([
        load("search").with_spec(|s| s.activating()),
        load("liar"),
        FakeTool::echo("read"),
        FakeTool::echo("denied").with_spec(|s| s.permission(toolcrib_core::Permission::Deny)),
    ]);
    let (outcomes, _) = run(&dispatcher, &calls(&["search", "liar"]));
    let names = |list: &[ToolName]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&outcomes[0].activated), ["read"]);
    assert_eq!(names(&outcomes[0].ignored), ["ghost", "denied"]);
    assert_eq!(names(&outcomes[1].activated), [""; 0]);
    assert_eq!(outcomes[1].ignored.len(), 3);
}

#[test]
fn failures_say_so_in_their_first_word_and_nothing_is_empty() {
    let image = Content::Image {
        media_type: "image/png".into(),
        data: "AAAA".into(),
    };
    let pictured = {
        let image = image.clone();
        move |is_error: bool| {
            let image = image.clone();
            FakeTool::new(if is_error { "bad" } else { "good" }, move |_, _| {
                let mut output = ToolOutput::default();
                output.content = vec![Content::text(" \n"), image.clone(), Content::text("")];
                output.is_error = is_error;
                std::future::ready(Ok(output))
            })
        }
    };
    let dispatcher = dispatcher([
        FakeTool::fixed("blank", " \n\t"),
        FakeTool::failing("mute", ""),
        FakeTool::new("said", |_, _| async {
            Ok(ToolOutput::error("error: exit 1"))
        }),
        FakeTool::new("unsaid", |_, _| async { Ok(ToolOutput::error("exit 1")) }),
        pictured(true),
        pictured(false),
    ]);
    let names = ["blank", "mute", "said", "unsaid", "bad", "good"];
    let (outcomes, _) = run(&dispatcher, &calls(&names));
    let texts: Vec<_> = outcomes.iter().map(text).collect();
    insta::assert_debug_snapshot!(texts, @r#"
    [
        "(no output)",
        "error: the tool failed and gave no reason",
        "error: exit 1",
        "error: exit 1",
        "error: the call failed<image>",
        "<image>",
    ]
    "#);
    assert_eq!(outcomes[5].result.content, [image]);
    let failed = Some(ToolErrorKind::Failed);
    assert_eq!(
        kinds(&outcomes),
        [None, failed, failed, failed, failed, None]
    );
}

#[test]
fn l32_the_log_line_has_excerpts_sizes_and_time_on_one_line() {
    // The subscriber is this thread's alone, so it sees nothing of other tests.
    let lines = crate::support::logged(|| {
        let dispatcher = dispatcher([FakeTool::big("big", 5_000, 10)]);
        let arguments = format!("{{\"q\":\"{}\\n\"\n}}", "x".repeat(300));
        run(&dispatcher, &[call("c1", "big", &arguments)]);
    });
    let line = lines
        .iter()
        .find(|l| l.contains("message=tool call"))
        .unwrap();
    assert!(!line.contains('\n'), "{line}");
    assert!(
        line.contains("tool=big") && line.contains("bytes=50000"),
        "{line}"
    );
    assert!(
        line.contains("truncated=true") && line.contains(" ms="),
        "{line}"
    );
    let x = line.matches('x').count();
    assert!((190..=200).contains(&x), "{x}");
    let (_, result) = line.split_once(" result=").unwrap();
    let (result, _) = result.split_once(" bytes=").unwrap();
    assert!(result.starts_with("000000000 000000001"), "{result}");
    assert!((100..=121).contains(&result.chars().count()), "{result}");
}

#[test]
fn l08_a_call_beyond_a_budget_has_its_result_without_running() {
    let tool = FakeTool::echo("echo");
    let record = tool.record();
    let dispatcher = dispatcher([tool]);
    let error = ToolError::new(ToolErrorKind::Cancelled, "no calls are left in this run");
    let batch = [
        Prepared::refused(&call("a", "echo", "{\"q\":1}"), error.clone()),
        dispatcher.prepare(&call("b", "echo", "")),
    ];
    let outcomes = on_paused_clock(async {
        let cx = RunContext::default();
        dispatcher.run(&batch, &cx, &mut |_| {}).await
    });
    assert_paired(&batch, &outcomes);
    assert_eq!(record.all(), ["{}"]);
    assert_eq!(text(&outcomes[0]), "error: no calls are left in this run");
    // The same, for a caller that never comes to run the batch.
    let alone = CallOutcome::not_run(&batch[0], &error);
    assert_eq!(alone.result, outcomes[0].result);
    assert_eq!(
        (alone.kind, alone.bytes),
        (outcomes[0].kind, outcomes[0].bytes)
    );
    let flood = ToolError::failed("e".repeat(1_000_000));
    let bounded = CallOutcome::not_run(&batch[1], &flood);
    assert!(text(&bounded).len() < 33 * 1024 && bounded.cut.is_some());
}
