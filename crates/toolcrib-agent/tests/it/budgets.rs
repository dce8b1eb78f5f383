//! Limits other than rounds.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use toolcrib_agent::{Agent, Budget, Limit, Outcome, OutcomeKind};
use toolcrib_core::{ModelProfile, Price, ToolChoice};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

use crate::support::*;

async fn endless(turn: fn() -> Turn, budget: Budget) -> (Arc<ScriptedModel>, Outcome<String>) {
    let model = Arc::new(ScriptedModel::from_fn(move |_| turn()));
    let agent = agent(&model).budget(budget).build().unwrap();
    let outcome = agent.run("Go.").await;
    (model, outcome)
}

#[tokio::test]
async fn tokens_stop_a_run_before_the_next_request() {
    let turn = || look().using(1_000, 50, None);
    let budget = Budget {
        tokens_in: Some(2_500),
        ..Budget::default()
    };
    let (model, outcome) = endless(turn, budget).await;
    assert_eq!(outcome.limit(), Some(Limit::TokensIn));
    assert_eq!(model.requests().len(), 3);
    assert_eq!(outcome.report().usage.input, Some(3_000));
    insta::assert_snapshot!(outcome.reason().unwrap(), @"the limit of 2500 input tokens was reached before there was an answer");

    let budget = Budget {
        tokens_out: Some(100),
        ..Budget::default()
    };
    let (model, outcome) = endless(turn, budget).await;
    assert_eq!(outcome.limit(), Some(Limit::TokensOut));
    assert_eq!(model.requests().len(), 2);
    // The calls of the reply that spent the limit are answered, but not run.
    assert_eq!(outcome.report().calls, 1);
    let messages: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&messages);
    assert!(
        transcript(&messages)
            .contains("error: not run: the limit of 100 output tokens is reached.")
    );
}

#[tokio::test]
async fn an_answer_that_spends_the_limit_is_an_answer() {
    let model = model([Turn::text("It is a.").using(5_000, 5_000, Some(9.0))]);
    let budget = Budget {
        tokens_in: Some(100),
        cost: Some(1.0),
        ..Budget::default()
    };
    let outcome = agent(&model)
        .budget(budget)
        .build()
        .unwrap()
        .run("What?")
        .await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
}

#[tokio::test]
async fn l07_cost_stops_a_run_and_names_the_amount() {
    let turn = || look().using(10, 10, Some(0.2));
    let budget = Budget {
        cost: Some(0.5),
        ..Budget::default()
    };
    let (model, outcome) = endless(turn, budget).await;
    assert_eq!(model.requests().len(), 3);
    let cost = outcome.report().cost.unwrap();
    assert!((cost.usd - 0.6).abs() < 1e-9 && !cost.partial && !cost.estimated);
    insta::assert_snapshot!(outcome.reason().unwrap(), @"the limit of $0.5 was reached before there was an answer");
}

#[tokio::test]
async fn l07_unknown_cost_is_none_and_partial_cost_says_so() {
    let silent = model([look(), Turn::text("Done.")]);
    let outcome = agent(&silent).build().unwrap().run("Go.").await;
    assert_eq!(
        (outcome.report().cost, outcome.report().usage.input),
        (None, None)
    );

    let mixed = model([look().using(10, 1, Some(0.25)), Turn::text("Done.")]);
    let outcome = agent(&mixed).build().unwrap().run("Go.").await;
    let cost = outcome.report().cost.unwrap();
    assert_eq!((cost.usd, cost.partial), (0.25, true));
    assert_eq!(outcome.report().usage.input, Some(10));
}

#[tokio::test]
async fn l07_a_price_table_estimates_what_is_not_reported() {
    let mut profile = ModelProfile::new("script:memory");
    profile.price = Some(Price {
        input: 2.0,
        cached: 0.5,
        output: 10.0,
    });
    let model = ScriptedModel::new([Turn::text("Done.").using(1_000_000, 100_000, None)]);
    let model = Arc::new(model.with_profile(profile));
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    let cost = outcome.report().cost.unwrap();
    assert_eq!((cost.usd, cost.estimated, cost.partial), (3.0, true, false));
}

#[tokio::test]
async fn tool_calls_are_exact_and_then_the_round_is_the_last() {
    let fakes = fakes();
    let two = |a, b| Turn::calls([("lookup", a), ("lookup", b)]);
    let model = model([
        two("{}", r#"{"q":1}"#),
        two(r#"{"q":2}"#, "{}"),
        Turn::text("Done."),
    ]);
    let budget = Budget {
        tool_calls: Some(3),
        ..Budget::default()
    };
    let agent = Agent::builder(model.clone())
        .tools(fakes.registry)
        .budget(budget)
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.answer().unwrap(), "Done.");
    assert_eq!(
        (fakes.runs.load(Ordering::SeqCst), outcome.report().calls),
        (3, 3)
    );
    let requests = model.requests();
    assert_eq!(requests[2].tool_choice, ToolChoice::Withhold);
    assert_paired(&requests[2].messages);
    let lines = transcript(&requests[2].messages);
    insta::assert_snapshot!(&lines[lines.find("call_3").unwrap()..], @r#"
    call_3=lookup({})
    call_2: echo {"q":2}
    call_3 !: error: not run: all 3 tool calls of this run are spent.

    [round 2 of 20: that was the last lookup, all tool calls are spent. Answer now from what was gathered.]
    "#);
}

#[tokio::test]
async fn no_tool_calls_at_all_means_that_the_first_round_is_the_last() {
    let model = model([look(), look()]);
    let budget = Budget {
        tool_calls: Some(0),
        ..Budget::default()
    };
    let outcome = agent(&model)
        .budget(budget)
        .build()
        .unwrap()
        .run("Go.")
        .await;
    assert_eq!(outcome.limit(), Some(Limit::ToolCalls));
    assert_eq!((outcome.report().rounds, outcome.report().calls), (1, 0));
    insta::assert_snapshot!(outcome.reason().unwrap(), @"no valid answer after 1 round (all tool calls were spent) and an extra attempt; the last reply was not accepted: there was no text");
}

#[tokio::test]
async fn time_is_checked_before_each_request() {
    let budget = Budget {
        wall_time: Some(Duration::ZERO),
        ..Budget::default()
    };
    let (model, outcome) = endless(look, budget).await;
    assert_eq!(outcome.limit(), Some(Limit::WallTime));
    assert!(model.requests().is_empty());
    assert_eq!(outcome.report().rounds, 0);
}

#[test]
fn a_cost_that_is_no_amount_is_an_error() {
    for usd in [f64::NAN, -1.0, f64::INFINITY] {
        let budget = Budget {
            cost: Some(usd),
            ..Budget::default()
        };
        assert!(budget.check().is_err(), "{usd}");
    }
}
