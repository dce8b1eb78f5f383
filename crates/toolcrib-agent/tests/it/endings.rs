//! Endings of replies other than the usual two, failures and cancellation.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use toolcrib_agent::{Budget, Limit, Outcome, OutcomeKind, RunError, Unanswered};
use toolcrib_core::{CancellationToken, Finish, ModelErrorKind};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

use crate::support::*;

#[tokio::test]
async fn a_call_cut_at_the_output_limit_is_never_run() {
    let fakes = fakes();
    let model = model([
        cut([
            call("1", "lookup", r#"{"whole":1}"#),
            call("2", "lookup", r#"{"broken":"#),
            call("3", "lookup", r#"{"n":12}"#),
        ]),
        Turn::text("Done."),
    ]);
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(fakes.registry)
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(fakes.runs.load(Ordering::SeqCst), 1);
    assert_eq!(outcome.report().calls, 1);
    assert_paired(&model.requests()[1].messages);
    insta::assert_snapshot!(transcript(&model.requests()[1].messages), @r#"
    user: Go.
    model: 1=lookup({"whole":1}) | 2=lookup({}) | 3=lookup({"n":12})
    1: echo {"whole":1}
    2 !: error: the reply was cut off before this call was complete, so it was not run. Send it again in smaller parts: fewer calls in one reply, shorter arguments.
    3 !: error: the reply was cut off before this call was complete, so it was not run. Send it again in smaller parts: fewer calls in one reply, shorter arguments.

    [round 1 of 20: 18 lookup rounds left. Batch independent lookups into one turn.]
    "#);
}

#[tokio::test]
async fn a_cut_call_whose_ending_lies_is_not_run_either() {
    let fakes = fakes();
    let model = model([
        Turn::calls([("lookup", r#"{"text":"and so"#)]),
        Turn::text("Done."),
    ]);
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(fakes.registry)
        .build()
        .unwrap();
    let _ = agent.run("Go.").await;
    assert_eq!(fakes.runs.load(Ordering::SeqCst), 0);
    assert!(transcript(&model.requests()[1].messages).contains(
        "error: the arguments end in the middle of the JSON, so the call was not run. Send it again with complete and shorter arguments."
    ));
}

#[tokio::test]
async fn a_cut_text_is_asked_for_again_and_taken_at_the_last_chance() {
    let half = || Turn::blocks([text("It is a, because")], Finish::Length);
    let once = model([half(), Turn::text("It is a.")]);
    let outcome = agent(&once).build().unwrap().run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "It is a.");
    assert_eq!(outcome.report().finish, Some(Finish::Stop));

    let always = Arc::new(ScriptedModel::from_fn(move |_| half()));
    let agent = agent(&always).budget(Budget::rounds(2)).build().unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "It is a, because");
    assert_eq!(outcome.report().finish, Some(Finish::Length));
    assert_eq!(always.requests().len(), 3);
}

#[tokio::test]
async fn a_refusal_ends_the_run_and_runs_nothing() {
    let fakes = fakes();
    let model = model([Turn::blocks(
        [text("I will not."), call("1", "lookup", "{}")],
        Finish::Refusal,
    )]);
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(fakes.registry)
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(fakes.runs.load(Ordering::SeqCst), 0);
    assert_eq!(outcome.reason().unwrap(), "the model declined: I will not.");
    assert_eq!(outcome.report().finish, Some(Finish::Refusal));
    assert_paired(
        &outcome
            .report()
            .history
            .messages()
            .cloned()
            .collect::<Vec<_>>(),
    );
}

#[tokio::test]
async fn a_filtered_reply_ends_the_run_with_what_there_is() {
    let model = model([Turn::blocks([text("First,")], Finish::ContentFilter)]);
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    assert_eq!(outcome.report().partial.as_deref(), Some("First,"));
    assert!(matches!(
        outcome,
        Outcome::Unanswered {
            reason: Unanswered::Filtered,
            ..
        }
    ));
}

#[tokio::test]
async fn a_paused_reply_goes_back_as_it_is_and_costs_a_round() {
    let model = model([
        Turn::blocks([text("Searching the web")], Finish::Paused),
        Turn::text("It is a."),
    ]);
    let outcome = agent(&model).build().unwrap().run("What?").await;
    assert_eq!(outcome.report().rounds, 2);
    assert_eq!(outcome.answer().unwrap(), "It is a.");
    insta::assert_snapshot!(transcript(&model.requests()[1].messages), @r"
    user: What?
    model: Searching the web
    ");
}

#[tokio::test]
async fn a_reply_that_pauses_for_ever_ends_within_the_rounds() {
    let model = Arc::new(ScriptedModel::from_fn(|_| {
        Turn::blocks([text("…")], Finish::Paused)
    }));
    let agent = agent(&model).budget(Budget::rounds(3)).build().unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(model.requests().len(), 4);
    insta::assert_snapshot!(outcome.reason().unwrap(), @"no valid answer after 3 rounds and an extra attempt; the last reply was not accepted: the provider paused it and never finished it");
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run_with_its_own_words() {
    let model = model([
        look(),
        Turn::fail(ModelErrorKind::Quota, "out of credit: buy more"),
    ]);
    let outcome = agent(&model).build().unwrap().run("What?").await;
    assert_eq!(outcome.reason().unwrap(), "out of credit: buy more");
    assert_eq!((outcome.report().rounds, outcome.report().calls), (2, 1));
    let Outcome::Failed {
        error: RunError::Model(error),
        report,
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(error.kind, ModelErrorKind::Quota);
    assert_paired(&report.history.messages().cloned().collect::<Vec<_>>());
}

#[tokio::test]
async fn cancelling_mid_stream_drops_the_request_and_keeps_what_was_shown() {
    let model = model([look(), Turn::Stall("The answer begins".into())]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let sink = move |event: &toolcrib_agent::Event| {
        if matches!(event, toolcrib_agent::Event::Text { .. }) {
            stop.cancel();
        }
    };
    let agent = agent(&model)
        .cancel(cancel)
        .sink(Arc::new(sink))
        .build()
        .unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(outcome.kind(), OutcomeKind::Cancelled);
    assert_eq!(model.dropped(), 1);
    assert_eq!(
        outcome.report().partial.as_deref(),
        Some("The answer begins")
    );
    assert_paired(
        &outcome
            .report()
            .history
            .messages()
            .cloned()
            .collect::<Vec<_>>(),
    );
}

#[tokio::test]
async fn cancelling_in_a_tool_gives_every_call_its_result() {
    let model = model([Turn::calls([
        ("lookup", "{}"),
        ("wait", "{}"),
        ("lookup", "{}"),
    ])]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let sink = move |event: &toolcrib_agent::Event| {
        if let toolcrib_agent::Event::ToolCallFinished { .. } = event {
            stop.cancel();
        }
    };
    let agent = agent(&model)
        .cancel(cancel)
        .sink(Arc::new(sink))
        .build()
        .unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(outcome.kind(), OutcomeKind::Cancelled);
    assert_eq!(model.requests().len(), 1);
    let messages: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&messages);
    assert!(
        transcript(&messages).contains("c0: echo {}"),
        "{}",
        transcript(&messages)
    );
}

#[tokio::test]
async fn a_run_cancelled_before_it_began_asks_nothing() {
    let model = model([Turn::text("Hi.")]);
    let agent = agent(&model).build().unwrap();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let other = crate::support::agent(&model)
        .cancel(cancelled)
        .build()
        .unwrap();
    assert_eq!(other.run("What?").await.kind(), OutcomeKind::Cancelled);
    assert!(model.requests().is_empty());
    assert_eq!(agent.run("What?").await.kind(), OutcomeKind::Answered);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_outlives_the_time_limit_is_dropped() {
    let model = model([Turn::Stall("So far".into())]);
    let budget = Budget {
        wall_time: Some(Duration::from_secs(40)),
        ..Budget::default()
    };
    let outcome = agent(&model)
        .budget(budget)
        .build()
        .unwrap()
        .run("What?")
        .await;
    assert_eq!(outcome.limit(), Some(Limit::WallTime));
    assert_eq!(outcome.report().partial.as_deref(), Some("So far"));
    assert_eq!(model.dropped(), 1);
    assert_eq!(
        outcome.reason().unwrap(),
        "the limit of 40 s was reached before there was an answer"
    );
}

#[tokio::test(start_paused = true)]
async fn tools_that_outlive_the_time_limit_are_cancelled() {
    let model = model([Turn::calls([("wait", "{}")])]);
    let budget = Budget {
        wall_time: Some(Duration::from_secs(8)),
        ..Budget::default()
    };
    let outcome = agent(&model)
        .budget(budget)
        .build()
        .unwrap()
        .run("What?")
        .await;
    assert_eq!(outcome.limit(), Some(Limit::WallTime));
    assert_paired(
        &outcome
            .report()
            .history
            .messages()
            .cloned()
            .collect::<Vec<_>>(),
    );
}

#[tokio::test]
async fn an_answer_that_is_complete_outlives_a_cancellation() {
    let model = model([Turn::text("It is a.")]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let sink = move |event: &toolcrib_agent::Event| {
        if let toolcrib_agent::Event::TurnFinished { .. } = event {
            stop.cancel();
        }
    };
    let agent = agent(&model).sink(Arc::new(sink)).build().unwrap();
    let run = agent.begin(Default::default(), "What?", None);
    let outcome = agent
        .drive_until(run, &toolcrib_agent::Answer::text(), &cancel)
        .await;
    assert_eq!(outcome.answer().unwrap(), "It is a.");
}
