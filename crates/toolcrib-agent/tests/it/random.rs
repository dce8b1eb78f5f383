//! Invariants under any behaviour of a model.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use toolcrib_agent::{Answer, Budget, Event, OutcomeKind};
use toolcrib_core::{
    CancellationToken, Effect, Message, ModelProfile, Registry, ToolChoice, ToolErrorKind,
};
use toolcrib_dispatch::Decision;
use toolcrib_surface::SurfacePolicy;
use toolcrib_testkit::random::{self, INPUT, OUTPUT, USD};
use toolcrib_testkit::scripted::{Recorded, ScriptedModel, Turn};
use toolcrib_testkit::tools::FakeTool;

use crate::approvals::Always;
use crate::support::*;
use crate::surface::deferred;

const TOOLS: &[&str] = &[
    "lookup",
    "fail",
    "panic",
    "progress",
    "big",
    "asks",
    "tool_search",
    "far_a",
    "far_b",
];

/// Part of the message that asks for a summary.
const SUMMARY: &str = "is about to be replaced by a summary";

/// The usual fakes, one with large results, one that needs a yes, and three that may be
/// deferred.
fn tools() -> Registry {
    let mut registry = fakes().registry;
    for tool in [
        FakeTool::big("big", 2_000, 30),
        FakeTool::echo("asks").with_effect(Effect::Destructive),
        deferred("far_a"),
        deferred("far_b"),
        deferred("far_c"),
    ] {
        registry.insert(Arc::new(tool)).unwrap();
    }
    registry
}

/// Requests begin with all of the one before, but where the transcript was made
/// shorter; the plan is the same, or what was loaded stands behind all it had.
fn assert_grows(requests: &[Recorded], shortened: bool, loads: bool) {
    for pair in requests.windows(2) {
        if loads {
            assert_eq!(pair[0].system, pair[1].system);
            assert!(pair[1].tools.starts_with(&pair[0].tools));
        } else {
            assert!(pair[1].same_plan);
        }
    }
    match (shortened, loads) {
        (true, _) => {}
        (false, true) => assert_messages_grow(requests),
        (false, false) => assert_prefixes(requests),
    }
}

fn asks_for_summary(messages: &[Message]) -> bool {
    messages.last().is_some_and(|message| match message {
        Message::User(content) => format!("{content:?}").contains(SUMMARY),
        _ => false,
    })
}

/// What whoever is asked says to everything, if anybody is.
fn decision() -> impl Strategy<Value = Option<Decision>> {
    let says = vec![
        Decision::Once,
        Decision::Session,
        Decision::Always,
        Decision::Deny(None),
        Decision::CancelRun,
    ];
    proptest::option::of(prop::sample::select(says))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn l08_l17_p16_whatever_the_model_does_the_run_ends_in_order(
        turns in proptest::collection::vec(random::turn(TOOLS), 1..14),
        rounds in 1u32..9,
        tool_calls in proptest::option::of(0u64..6),
        tokens in proptest::option::weighted(0.2, 1u64..800),
        tokens_in in proptest::option::weighted(0.2, 1u64..600),
        tokens_out in proptest::option::weighted(0.2, 1u64..60),
        no_time in proptest::bool::weighted(0.05),
        cost in proptest::option::weighted(0.2, 0u8..8),
        window in proptest::option::weighted(0.3, 500u64..20_000),
        cancel_after in proptest::option::weighted(0.3, 0usize..40),
        (strict, decision) in (proptest::option::of(any::<bool>()), decision()),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let mut profile = ModelProfile::new("script:memory");
        profile.window = window;
        let mut script = turns.into_iter().cycle();
        let model = ScriptedModel::from_fn(move |_| {
            script.next().unwrap_or_else(|| Turn::text("7"))
        });
        let model = Arc::new(model.with_profile(profile));
        let cost = cost.map(|quarters| f64::from(quarters) * USD);
        let budget = Budget {
            rounds,
            tool_calls,
            tokens,
            tokens_in,
            tokens_out,
            cost,
            wall_time: no_time.then_some(Duration::ZERO),
        };
        let cancel = CancellationToken::new();
        let (stop, seen) = (cancel.clone(), AtomicUsize::new(0));
        let events = Arc::new(Mutex::new(Vec::new()));
        let kept = events.clone();
        let sink = move |event: &Event| {
            kept.lock().unwrap().push(event.clone());
            if Some(seen.fetch_add(1, Ordering::Relaxed)) == cancel_after {
                stop.cancel();
            }
        };
        let mut agent = toolcrib_agent::Agent::builder(model.clone())
            .tools(tools())
            .budget(budget)
            .cancel(cancel)
            .sink(Arc::new(sink));
        if let Some(strict) = strict {
            agent = agent.surface(SurfacePolicy {
                strict_loading: strict,
                ..SurfacePolicy::default()
            });
        }
        let yes = matches!(decision, Some(Decision::Once | Decision::Session | Decision::Always));
        if decision.is_some() {
            agent = agent.approver(Arc::new(Always(decision)));
        }
        let agent = agent.build().unwrap();
        let answer = Answer::<u8>::from_text("a whole number");
        let outcome = runtime.block_on(agent.run_typed("Go.", &answer));

        let report = outcome.report();
        let events = events.lock().unwrap().clone();
        // Rounds and calls are exact.
        prop_assert!(report.rounds <= rounds);
        prop_assert!(report.extra_attempts <= 1);
        if let Some(most) = tool_calls {
            prop_assert!(report.calls <= most);
        }
        // Tokens and money overshoot by the request in flight at most.
        let replies = report.usage.input.unwrap_or(0) / INPUT;
        if let (Some(most), Some(before)) = (tokens, replies.checked_sub(1)) {
            prop_assert!(before * (INPUT + OUTPUT) < most, "{} of {}", replies, most);
        }
        if let (Some(most), Some(before)) = (cost, replies.checked_sub(1)) {
            prop_assert!(before as f64 * USD < most.max(f64::EPSILON), "{} of {}", replies, most);
        }
        for (most, each) in [(tokens_in, INPUT), (tokens_out, OUTPUT)] {
            if let (Some(most), Some(before)) = (most, replies.checked_sub(1)) {
                prop_assert!(before * each < most, "{} of {}", replies, most);
            }
        }
        // Without time nothing is sent at all.
        prop_assert!(!no_time || model.requests().is_empty());
        let compacted = events.iter().filter(|e| matches!(e, Event::Compacted { .. })).count();
        let overflows = events.iter().filter(|e| matches!(e, Event::TurnStarted { .. })).count();
        let requests = model.requests();
        // One more where a final round was asked for the other way, and two for each time
        // that the transcript was too long: a summary, and the request again.
        let most = report.rounds as usize + report.extra_attempts as usize + 1;
        prop_assert!(requests.len() <= most + 2 * overflows, "{} of {most}", requests.len());
        for request in &requests {
            assert_paired(&request.messages);
        }
        // A run that is cancelled while it asks for a summary shortens nothing, and its
        // last request is that for the summary.
        let summary = requests.last().is_some_and(|request| asks_for_summary(&request.messages));
        let shortened = compacted > 0 || window.is_some() || requests.len() > most || summary;
        assert_grows(&requests, shortened, strict.is_some());
        let loaded: HashSet<_> = report.surface.loaded().iter().collect();
        prop_assert_eq!(loaded.len(), report.surface.loaded().len());
        prop_assert!(loaded.iter().all(|name| name.as_str().starts_with("far_")));
        prop_assert!(strict.is_some() || loaded.is_empty());
        let last = report.history.messages().cloned().collect::<Vec<_>>();
        assert_paired(&last);
        // Once calls are no longer taken, they are never taken again.
        let finals = requests.iter().skip_while(|r| r.tool_choice == ToolChoice::Auto);
        let summaries = finals.clone().filter(|r| r.tool_choice == ToolChoice::Auto).count();
        prop_assert!(summaries == 0 || window.is_some() || requests.len() > most);
        // Each call that was announced as finished has one end, and what was denied or
        // refused never began.
        let mut begun = HashSet::new();
        let mut ended = HashSet::new();
        for event in &events {
            match event {
                Event::ToolCallStarted { call_id, name, .. } => {
                    prop_assert!(begun.insert(call_id.clone()));
                    prop_assert!(yes || &**name != "asks");
                }
                Event::ToolCallFinished { call_id, error, .. } => {
                    prop_assert!(ended.insert(call_id.clone()));
                    let refused = matches!(
                        error,
                        Some(ToolErrorKind::Denied | ToolErrorKind::BadJson | ToolErrorKind::UnknownTool)
                    );
                    prop_assert!(!refused || !begun.contains(call_id));
                }
                _ => {}
            }
        }
        prop_assert!(begun.is_subset(&ended));
        // Nothing in the transcript is larger than its cap.
        for message in &last {
            if let Message::Tool(result) = message {
                prop_assert!(joined(&result.content).len() < 34 * 1024);
            }
        }
        let over = matches!(events.last(), Some(Event::RunFinished { .. }));
        prop_assert!(over);
        if outcome.kind() == OutcomeKind::Answered {
            prop_assert!(outcome.answer().is_some_and(|answer| answer % 7 == 0));
        } else {
            prop_assert!(outcome.reason().is_some());
        }
    }
}
