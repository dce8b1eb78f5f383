//! Invariants under any behaviour of a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use toolcrib_agent::{Answer, Budget, Event, OutcomeKind};
use toolcrib_core::{Block, CancellationToken, Finish, ModelErrorKind, ToolChoice};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

use crate::support::*;

fn a_call() -> impl Strategy<Value = Block> {
    let id = prop_oneof![
        Just(""),
        Just("a"),
        Just("b"),
        Just("call_1"),
        Just("call_3")
    ];
    let name = prop_oneof![
        3 => Just("lookup"),
        1 => Just("fail"),
        1 => Just("panic"),
        1 => Just("progress"),
        1 => Just("nowhere"),
        1 => Just(""),
        1 => Just("not a name!"),
    ];
    let arguments = prop_oneof![
        3 => Just("{}"),
        1 => Just(r#"{"q":"x"}"#),
        1 => Just(""),
        1 => Just("{"),
        1 => Just(r#"{"q":"x"#),
        1 => Just("[]"),
        1 => Just("null"),
        1 => Just(r#""{\"q\":1}""#),
        1 => Just("{}{}"),
        1 => Just("nonsense"),
    ];
    (id, name, arguments).prop_map(|(id, name, arguments)| call(id, name, arguments))
}

fn a_block() -> impl Strategy<Value = Block> {
    prop_oneof![
        4 => a_call(),
        1 => Just(text("7")),
        1 => Just(text("some words")),
        1 => Just(text("")),
        1 => Just(text(" \n")),
        1 => Just(text("<tool_call>{}</tool_call>")),
        1 => Just(Block::Reasoning { text: "hm".into(), raw: None }),
    ]
}

fn a_turn() -> impl Strategy<Value = Turn> {
    let finish = prop_oneof![
        4 => Just(Finish::Stop),
        4 => Just(Finish::ToolCalls),
        2 => Just(Finish::Length),
        1 => Just(Finish::Paused),
        1 => Just(Finish::Other("odd".into())),
    ];
    let kind = prop_oneof![
        Just(ModelErrorKind::BadRequest),
        Just(ModelErrorKind::Interrupted)
    ];
    prop_oneof![
        20 => (proptest::collection::vec(a_block(), 0..5), finish)
            .prop_map(|(blocks, finish)| Turn::blocks(blocks, finish)),
        1 => Just(Turn::blocks([text("no")], Finish::Refusal)),
        1 => Just(Turn::blocks([text("no"), call("z", "lookup", "{}")], Finish::ContentFilter)),
        1 => kind.prop_map(|kind| Turn::fail(kind, "failed")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_the_model_does_the_run_ends_in_order(
        turns in proptest::collection::vec(a_turn(), 1..14),
        rounds in 1u32..8,
        tool_calls in proptest::option::of(0u64..6),
        cancel_after in proptest::option::weighted(0.3, 0usize..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let mut script = turns.into_iter().cycle();
        let model = Arc::new(ScriptedModel::from_fn(move |_| {
            script.next().unwrap_or_else(|| Turn::text("7"))
        }));
        let budget = Budget { rounds, tool_calls, ..Budget::default() };
        let cancel = CancellationToken::new();
        let (stop, seen) = (cancel.clone(), AtomicUsize::new(0));
        let sink = move |_: &Event| {
            if Some(seen.fetch_add(1, Ordering::Relaxed)) == cancel_after {
                stop.cancel();
            }
        };
        let agent = agent(&model)
            .budget(budget)
            .cancel(cancel)
            .sink(Arc::new(sink))
            .build()
            .unwrap();
        let answer = Answer::<u8>::from_text("a whole number");
        let outcome = runtime.block_on(agent.run_typed("Go.", &answer));

        let report = outcome.report();
        prop_assert!(report.rounds <= rounds);
        prop_assert!(report.extra_attempts <= 1);
        if let Some(most) = tool_calls {
            prop_assert!(report.calls <= most);
        }
        let requests = model.requests();
        // One more where a final round was refused and asked for the other way.
        let most = report.rounds as usize + report.extra_attempts as usize + 1;
        prop_assert!(requests.len() <= most, "{} of {most}", requests.len());
        for request in &requests {
            assert_paired(&request.messages);
        }
        assert_prefixes(&requests);
        let last = report.history.messages().cloned().collect::<Vec<_>>();
        assert_paired(&last);
        let finals = requests.iter().skip_while(|r| r.tool_choice == ToolChoice::Auto);
        prop_assert!(finals.clone().all(|r| r.tool_choice != ToolChoice::Auto));
        if outcome.kind() == OutcomeKind::Answered {
            prop_assert!(outcome.answer().is_some_and(|answer| answer % 7 == 0));
        } else {
            prop_assert!(outcome.reason().is_some());
        }
    }
}
