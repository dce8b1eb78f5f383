//! Rounds, the countdown and the final round.

use std::sync::atomic::Ordering;

use toolcrib_agent::{AgentError, Budget, BudgetError, Limit, Outcome, OutcomeKind, Unanswered};
use toolcrib_core::{FinalRound, Finish, Message, ModelErrorKind, ModelProfile, ToolChoice};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};

use crate::support::*;

#[tokio::test]
async fn a_lookup_then_an_answer() {
    let model = model([look(), Turn::text("It is a.")]);
    let outcome = agent(&model).build().unwrap().run("What is it?").await;
    assert_eq!(outcome.answer().unwrap(), "It is a.");
    let report = outcome.report();
    assert_eq!(
        (report.rounds, report.extra_attempts, report.calls),
        (2, 0, 1)
    );
    insta::assert_snapshot!(transcript(report.history.messages()), @r#"
    user: What is it?
    model: c0=lookup({"q":"a"})
    c0: echo {"q":"a"}

    [round 1 of 20: 18 lookup rounds left. Batch independent lookups into one turn.]
    model: It is a.
    "#);
}

#[tokio::test]
async fn l01_the_last_result_of_each_batch_counts_down() {
    let two = |q| Turn::calls([("lookup", q), ("progress", q)]);
    let model = model([
        two(r#"{"q":1}"#),
        two(r#"{"q":2}"#),
        two(r#"{"q":3}"#),
        Turn::text("Done."),
    ]);
    let agent = agent(&model).budget(Budget::rounds(4)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
    insta::assert_snapshot!(transcript(outcome.report().history.messages()), @r#"
    user: Go.
    model: c0=lookup({"q":1}) | c1=progress({"q":1})
    c0: echo {"q":1}
    c1: done

    [round 1 of 4: 2 lookup rounds left. Batch independent lookups into one turn.]
    model: call_2=lookup({"q":2}) | call_3=progress({"q":2})
    call_2: echo {"q":2}
    call_3: done

    [round 2 of 4: 1 lookup round left. Batch independent lookups into one turn.]
    model: call_4=lookup({"q":3}) | call_5=progress({"q":3})
    call_4: echo {"q":3}
    call_5: done

    [round 3 of 4: that was the last lookup. Answer now from what was gathered.]
    model: Done.
    "#);
    assert_prefixes(&model.requests());
}

async fn final_choice(rule: FinalRound, rounds: u32) -> Vec<ToolChoice> {
    let mut profile = ModelProfile::new("script:memory");
    profile.final_round = rule;
    let model = std::sync::Arc::new(
        ScriptedModel::from_fn(|request| match request.tool_choice {
            ToolChoice::Auto => look(),
            _ => Turn::text("Done."),
        })
        .with_profile(profile),
    );
    let agent = agent(&model)
        .budget(Budget::rounds(rounds))
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.report().rounds, rounds);
    assert_eq!(outcome.into_answer().unwrap(), "Done.");
    assert_prefixes(&model.requests());
    model
        .requests()
        .into_iter()
        .map(|r| r.tool_choice)
        .collect()
}

#[tokio::test]
async fn l02_the_final_round_withholds_or_keeps_the_tools_as_the_profile_says() {
    use ToolChoice::*;
    assert_eq!(
        final_choice(FinalRound::Withhold, 3).await,
        [Auto, Auto, Withhold]
    );
    assert_eq!(final_choice(FinalRound::Keep, 3).await, [Auto, Auto, None]);
    assert_eq!(final_choice(FinalRound::Keep, 1).await, [None]);
}

#[tokio::test]
async fn l02_a_refused_final_round_is_asked_for_once_the_other_way() {
    let refuse = || Turn::fail(ModelErrorKind::BadRequest, "tools must be sent");
    let model = model([look(), refuse(), Turn::text("Done.")]);
    let dir = tempfile::tempdir().unwrap();
    let meta = toolcrib_session::Meta::new("m");
    let log = toolcrib_session::SessionLog::create(dir.path(), meta).unwrap();
    let agent = agent(&model)
        .budget(Budget::rounds(2))
        .session(log.clone())
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.report().rounds, 2);
    assert_eq!(outcome.into_answer().unwrap(), "Done.");
    let session = toolcrib_session::Session::read(log.path()).unwrap();
    assert_eq!(session.summary().total.retries, 1);
    let choices: Vec<_> = model
        .requests()
        .into_iter()
        .map(|r| r.tool_choice)
        .collect();
    assert_eq!(
        choices,
        [ToolChoice::Auto, ToolChoice::Withhold, ToolChoice::None]
    );
}

#[tokio::test]
async fn l02_a_final_round_refused_both_ways_fails() {
    let refuse = || Turn::fail(ModelErrorKind::BadRequest, "no");
    let model = model([look(), refuse(), refuse(), refuse()]);
    let agent = agent(&model).budget(Budget::rounds(2)).build().unwrap();
    assert_eq!(agent.run("Go.").await.kind(), OutcomeKind::Failed);
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn s20_the_final_request_reuses_the_plan() {
    for rule in [FinalRound::Withhold, FinalRound::Keep] {
        let mut profile = ModelProfile::new("script:memory");
        profile.final_round = rule;
        let model = std::sync::Arc::new(
            ScriptedModel::new([look(), look(), Turn::text("Done.")]).with_profile(profile),
        );
        let agent = agent(&model).budget(Budget::rounds(3)).build().unwrap();
        let outcome = agent.run("Go.").await;
        assert_eq!(outcome.kind(), OutcomeKind::Answered);
        let requests = model.requests();
        assert_eq!(requests.len(), 3);
        assert_prefixes(&requests);
        assert_eq!(requests[2].tools, requests[0].tools);
    }
}

#[tokio::test]
async fn l03_calls_in_the_final_round_are_neither_run_nor_recorded() {
    let fakes = fakes();
    let model = model([Turn::blocks(
        [text("Forty-two."), call("x", "lookup", "{}")],
        Finish::ToolCalls,
    )]);
    let kept = Kept::default();
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(fakes.registry)
        .budget(Budget::rounds(1))
        .sink(std::sync::Arc::new(kept.clone()))
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.answer().unwrap(), "Forty-two.");
    assert_eq!(fakes.runs.load(Ordering::SeqCst), 0);
    assert_eq!(outcome.report().calls, 0);
    insta::assert_snapshot!(transcript(outcome.report().history.messages()), @r"
    user: Go.
    model: Forty-two.
    ");
    let ignored: Vec<_> = kept
        .all()
        .into_iter()
        .filter(|event| matches!(event, toolcrib_agent::Event::CallsIgnored { .. }))
        .collect();
    insta::assert_debug_snapshot!(ignored, @r#"
    [
        CallsIgnored {
            round: 1,
            names: [
                "lookup",
            ],
        },
    ]
    "#);
}

#[tokio::test]
async fn l03_nothing_but_calls_in_the_final_round_is_an_empty_answer() {
    let model = model([look(), look(), Turn::text("Done.")]);
    let agent = agent(&model).budget(Budget::rounds(2)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(
        (outcome.report().rounds, outcome.report().extra_attempts),
        (2, 1)
    );
    assert_eq!(outcome.answer().unwrap(), "Done.");
    insta::assert_snapshot!(transcript(outcome.report().history.messages()), @r#"
    user: Go.
    model: c0=lookup({"q":"a"})
    c0: echo {"q":"a"}

    [round 1 of 2: that was the last lookup. Answer now from what was gathered.]
    user: That was not accepted as the answer: there was no text. No tools can be called any more; answer from what was gathered. Reply with the answer as plain text.
    model: Done.
    "#);
}

#[tokio::test]
async fn l06_when_all_is_spent_the_rounds_and_the_last_rejection_are_told() {
    let model = model([
        look(),
        Turn::text("<tool_call>"),
        Turn::text("[TOOL_CALLS] []"),
    ]);
    let agent = agent(&model).budget(Budget::rounds(2)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(model.requests().len(), 3);
    assert_eq!(
        (outcome.report().rounds, outcome.report().extra_attempts),
        (2, 1)
    );
    assert_eq!(outcome.limit(), Some(Limit::Rounds));
    insta::assert_snapshot!(outcome.reason().unwrap(), @"no valid answer after 2 rounds and an extra attempt; the last reply was not accepted: `[TOOL_CALLS]` is tool markup written as text; it calls no tool (to show it, put it into a code span)");
    let Outcome::Unanswered {
        reason: Unanswered::Spent { rounds, extra, .. },
        report,
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!((rounds, extra), (2, 1));
    assert_eq!(report.partial.as_deref(), Some("[TOOL_CALLS] []"));
    assert!(matches!(
        report.history.items().last().map(|i| (***i).clone()),
        Some(Message::Assistant(_))
    ));
}

#[tokio::test]
async fn rounds_are_exact() {
    for rounds in 1..6 {
        let mut n = 0;
        let model = std::sync::Arc::new(ScriptedModel::from_fn(move |_| {
            n += 1;
            look_at(n)
        }));
        let agent = agent(&model)
            .budget(Budget::rounds(rounds))
            .build()
            .unwrap();
        let outcome = agent.run("Go.").await;
        assert_eq!(outcome.kind(), OutcomeKind::Unanswered);
        assert_eq!(outcome.report().rounds, rounds);
        assert_eq!(outcome.report().calls, u64::from(rounds) - 1);
        assert_eq!(model.requests().len() as u32, rounds + 1);
    }
}

#[tokio::test]
async fn no_rounds_at_all_is_an_error_at_once() {
    let model = model([]);
    let error = agent(&model)
        .budget(Budget::rounds(0))
        .build()
        .err()
        .unwrap();
    assert_eq!(error, AgentError::Budget(BudgetError::NoRounds));
    insta::assert_snapshot!(error, @"a budget of 0 rounds allows no request; give at least 1 round");
}

#[tokio::test]
async fn l33_tools_and_a_model_that_cannot_call_them_fail_at_once() {
    let mut profile = ModelProfile::new("acp:some-agent");
    profile.native_tools = false;
    let model = std::sync::Arc::new(ScriptedModel::new([]).with_profile(profile.clone()));
    let error = agent(&model).build().err().unwrap();
    insta::assert_snapshot!(error, @"the model `acp:some-agent` cannot call tools, and 5 would be offered to it; choose a model with tool calls, or run without tools");
    assert!(model.requests().is_empty());

    let plain = std::sync::Arc::new(ScriptedModel::new([Turn::text("Hi.")]).with_profile(profile));
    let agent = toolcrib_agent::Agent::builder(plain).build().unwrap();
    assert_eq!(agent.run("Hello?").await.into_answer().unwrap(), "Hi.");
}

#[tokio::test]
async fn more_tools_than_the_model_takes_fail_at_once() {
    let mut profile = ModelProfile::new("script:small");
    profile.max_tools = Some(3);
    let model = std::sync::Arc::new(ScriptedModel::new([]).with_profile(profile));
    let error = agent(&model).build().err().unwrap();
    insta::assert_snapshot!(error, @"the model `script:small` takes at most 3 tools, and 5 are visible; disable some of them");
}

#[tokio::test]
async fn a_window_that_holds_no_more_than_the_tools_fails_at_once() {
    let mut profile = ModelProfile::new("script:small");
    profile.window = Some(8_000);
    profile.input_limit = Some(20);
    let model = std::sync::Arc::new(ScriptedModel::new([]).with_profile(profile.clone()));
    let error = agent(&model).build().err().unwrap();
    insta::assert_snapshot!(error, @"the model `script:small` takes 20 tokens, and the instructions with 5 tools alone take about 151; choose a model with a larger window, say so in models.toml if its window is larger, or disable some tools");
    assert!(model.requests().is_empty());

    profile.input_limit = None;
    let model = std::sync::Arc::new(ScriptedModel::new([]).with_profile(profile));
    assert!(agent(&model).build().is_ok());
}
