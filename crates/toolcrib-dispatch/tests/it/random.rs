//! Any batch of odd calls has exactly one bounded result per call, in order.

use std::sync::LazyLock;

use proptest::prelude::*;
use toolcrib_core::{Content, Effect, Exposure, Permission, ResultForm, ToolCall};
use toolcrib_dispatch::{Dispatcher, Prepared, RunContext};
use toolcrib_testkit::tools::FakeTool;

use crate::support::{SECOND, assert_paired, dispatcher, on_paused_clock};

static DISPATCHER: LazyLock<Dispatcher> = LazyLock::new(|| {
    dispatcher([
        FakeTool::echo("echo"),
        FakeTool::echo("list").with_spec(|s| s.result_form(ResultForm::Lookup)),
        FakeTool::big("big", 3_000, 30),
        FakeTool::failing("fail", "no"),
        FakeTool::panicking("panic", "payload"),
        FakeTool::slow("slow", SECOND),
        FakeTool::slow("late", 1_000 * SECOND),
        FakeTool::cancellable("wait"),
        FakeTool::echo("write").with_effect(Effect::Write),
        FakeTool::echo("hidden").with_spec(|s| s.exposure(Exposure::Hidden)),
        FakeTool::echo("denied").with_spec(|s| s.permission(Permission::Deny)),
        FakeTool::echo("touchy").with_footprint(|_| panic!("payload")),
    ])
});

fn names() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 12] = [
        "echo", "list", "big", "fail", "panic", "slow", "late", "wait", "write", "hidden",
        "denied", "touchy",
    ];
    prop_oneof![4 => prop::sample::select(&KNOWN[..]).prop_map(str::to_owned), 1 => "\\PC{0,80}"]
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("{}".to_owned()),
        "\\{\"a\":\"[a-z\\\\n]{0,20}\"\\}",
        "\\{\"a\":\\{?[0-9]{1,400}\\}{0,3}",
        "(\\{\\}){1,4}z?",
        "\"[{}\\\\\":a]{0,12}\"?",
        "\\PC{0,200}",
        prop::sample::select(vec!["null", "[]", "1", "\"{}\"", "{", "}"]).prop_map(str::to_owned),
        (1..50_000_usize).prop_map(|n| format!("{{\"a\":\"{}\"}}", "é\\n".repeat(n))),
        (1..50_000_usize).prop_map(|n| "[".repeat(n)),
    ]
}

fn batch() -> impl Strategy<Value = Vec<(ToolCall, bool)>> {
    let call = ("[a-c]?", names(), arguments(), prop::bool::weighted(0.05));
    let call = call.prop_map(|(id, name, arguments, cut)| {
        let call = ToolCall {
            id: id.as_str().into(),
            name: name.as_str().into(),
            arguments: arguments.as_str().into(),
            extra: None,
        };
        (call, cut)
    });
    proptest::collection::vec(call, 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn l08_any_batch_has_exactly_one_capped_result_per_call(
        batch in batch(),
        cancel in prop::option::weighted(0.3, 0_u64..200_000),
        halt in prop::option::weighted(0.2, 0_u64..200_000),
    ) {
        let batch: Vec<Prepared> = batch
            .iter()
            .map(|(call, cut)| if *cut { Prepared::cut_off(call) } else { DISPATCHER.prepare(call) })
            .collect();
        let mut steps = vec![Vec::new(); batch.len()];
        let outcomes = on_paused_clock(async {
            let cx = RunContext::default();
            let fire = |after: Option<u64>, token: toolcrib_core::CancellationToken| {
                tokio::spawn(async move {
                    if let Some(after) = after {
                        tokio::time::sleep(std::time::Duration::from_millis(after)).await;
                        token.cancel();
                    }
                })
            };
            fire(cancel, cx.cancel.clone());
            fire(halt, cx.halt.clone());
            let mut on = |event: toolcrib_dispatch::DispatchEvent<'_>| {
                use toolcrib_dispatch::DispatchEvent::*;
                match event {
                    Started { index, .. } => steps[index].push('s'),
                    Finished { index, .. } => steps[index].push('f'),
                    _ => {}
                }
            };
            DISPATCHER.run(&batch, &cx, &mut on).await
        });
        assert_paired(&batch, &outcomes);
        for ((prepared, outcome), steps) in batch.iter().zip(&outcomes).zip(&steps) {
            let steps: String = steps.iter().collect();
            prop_assert!(steps == "f" || steps == "sf", "{}", steps);
            let sent_back: serde_json::Value = serde_json::from_str(&prepared.call.arguments).unwrap();
            prop_assert!(sent_back.is_object());
            prop_assert!(toolcrib_core::ToolName::parse(&prepared.call.name).is_ok());
            let mut bytes = 0;
            for piece in &outcome.result.content {
                let Content::Text(text) = piece else { continue };
                prop_assert!(!text.trim().is_empty());
                prop_assert!(!text.contains("payload"));
                bytes += text.len();
            }
            prop_assert!(bytes > 0 && bytes < 33 * 1024, "{} bytes", bytes);
            prop_assert_eq!(outcome.kind.is_some(), outcome.result.is_error);
            prop_assert!(steps == "sf" || outcome.elapsed.is_zero());
        }
    }
}
