//! L14: what runs side by side.

use std::sync::{Arc, Mutex};

use toolcrib_core::{Effect, Footprint, Mode, ToolOutput, Visibility};
use toolcrib_dispatch::Dispatcher;
use toolcrib_testkit::tools::FakeTool;

use crate::support::{SECOND, call, dispatcher_with, run, text};

/// Read-only `r`, writing `w`, serial loader `l`, and `a`, `b` which read one
/// resource each. Each call takes as many seconds as its argument says.
fn timed() -> (Dispatcher, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let tool = |name: &'static str| {
        let log = log.clone();
        FakeTool::new(name, move |arguments, cx| {
            let log = log.clone();
            async move {
                let seconds = arguments.value()["s"].as_u64().unwrap() as u32;
                log.lock().unwrap().push(format!("+{}", cx.call_id));
                tokio::time::sleep(seconds * SECOND).await;
                log.lock().unwrap().push(format!("-{}", cx.call_id));
                Ok(ToolOutput::text(cx.call_id.clone()))
            }
        })
    };
    let reading = |resource: &'static str| {
        move |_: &_| Footprint {
            resources: vec![resource.into()],
            ..Footprint::of(Effect::ReadOnly)
        }
    };
    let serial = |_: &_| Footprint {
        serial: true,
        ..Footprint::of(Effect::ReadOnly)
    };
    let tools = [
        tool("r"),
        tool("w").with_effect(Effect::Write),
        tool("l").with_footprint(serial),
        tool("a").with_footprint(reading("a")),
        tool("b").with_footprint(reading("b")),
    ];
    let yolo = Visibility {
        mode: Mode::Yolo,
        ..Visibility::default()
    };
    (dispatcher_with(tools, yolo), log)
}

/// `batch` is `name id seconds` per call; `expected` the order of begins (`+`)
/// and ends (`-`).
#[track_caller]
fn check(batch: &[(&str, &str, u32)], expected: &str) {
    let (dispatcher, log) = timed();
    let calls: Vec<_> = batch
        .iter()
        .map(|(name, id, seconds)| call(id, name, &format!("{{\"s\":{seconds}}}")))
        .collect();
    let (outcomes, _) = run(&dispatcher, &calls);
    assert_eq!(log.lock().unwrap().join(" "), expected);
    for (outcome, call) in outcomes.iter().zip(&calls) {
        if outcome.kind.is_none() {
            assert_eq!(text(outcome), &*call.id);
        }
    }
}

#[test]
fn l14_s49_consecutive_reads_run_together_and_answer_in_call_order() {
    check(
        &[("r", "1", 3), ("r", "2", 1), ("r", "3", 2)],
        "+1 +2 +3 -2 -3 -1",
    );
}

#[test]
fn l14_s49_a_write_is_a_barrier() {
    check(
        &[
            ("r", "1", 2),
            ("r", "2", 1),
            ("w", "3", 1),
            ("r", "4", 2),
            ("r", "5", 1),
        ],
        "+1 +2 -2 -1 +3 -3 +4 +5 -5 -4",
    );
    check(&[("w", "1", 1), ("w", "2", 1)], "+1 -1 +2 -2");
}

#[test]
fn l14_s49_a_serial_read_is_a_barrier() {
    check(
        &[("r", "1", 1), ("l", "2", 1), ("r", "3", 1)],
        "+1 -1 +2 -2 +3 -3",
    );
}

#[test]
fn l14_s49_a_shared_resource_splits_the_window() {
    check(
        &[("a", "1", 2), ("b", "2", 1), ("a", "3", 1), ("r", "4", 2)],
        "+1 +2 -2 -1 +3 +4 -3 -4",
    );
}

#[test]
fn l14_a_refused_call_is_no_barrier() {
    check(
        &[
            ("r", "1", 2),
            ("nope", "2", 0),
            ("r", "3", 1),
            ("w", "4", 1),
        ],
        "+1 +3 -3 -1 +4 -4",
    );
    check(
        &[("nope", "1", 0), ("w", "2", 1), ("r", "3", 1)],
        "+2 -2 +3 -3",
    );
}

#[test]
fn l14_s49_at_most_eight_run_at_once() {
    let ids: Vec<String> = (0..10).map(|i| i.to_string()).collect();
    let batch: Vec<_> = ids
        .iter()
        .map(|id| ("r", id.as_str(), if id == "3" { 1 } else { 5 }))
        .collect();
    let (dispatcher, log) = timed();
    let calls: Vec<_> = batch
        .iter()
        .map(|(name, id, s)| call(id, name, &format!("{{\"s\":{s}}}")))
        .collect();
    run(&dispatcher, &calls);
    let log = log.lock().unwrap();
    let mut at_once = 0_i32;
    let most = log.iter().map(|line| {
        at_once += if line.starts_with('+') { 1 } else { -1 };
        at_once
    });
    assert_eq!(most.max(), Some(8));
    assert_eq!(
        log[8..10],
        ["-3", "+8"],
        "the next one starts when a place is free"
    );
}

#[test]
fn l14_threads_do_not_change_the_order_of_results() {
    let (dispatcher, _) = timed();
    let calls: Vec<_> = (0..40)
        .map(|i| {
            let name = if i % 7 == 3 { "w" } else { "r" };
            call(&i.to_string(), name, "{\"s\":0}")
        })
        .collect();
    let batch: Vec<_> = calls.iter().map(|call| dispatcher.prepare(call)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    for _ in 0..20 {
        let outcomes = runtime.block_on(async {
            let cx = Default::default();
            dispatcher.run(&batch, &cx, &mut |_| {}).await
        });
        crate::support::assert_paired(&batch, &outcomes);
        assert!(outcomes.iter().zip(&calls).all(|(o, c)| text(o) == *c.id));
    }
}
