//! L19, L34: a model that runs in circles is told, and then stopped.

use std::sync::Arc;

use toolcrib_agent::{Budget, Limit, Outcome, Unanswered};
use toolcrib_core::{Effect, Message, Registry, Schema, ToolChoice};
use toolcrib_surface::SurfacePolicy;
use toolcrib_testkit::scripted::{ScriptedModel, Turn};
use toolcrib_testkit::tools::FakeTool;

use crate::support::*;

fn always(mut turn: impl FnMut() -> Turn + Send + 'static) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::from_fn(move |request| {
        match request.tool_choice {
            ToolChoice::Auto => turn(),
            _ => Turn::text("7"),
        }
    }))
}

#[tokio::test]
async fn l19_s45_the_same_failure_gets_a_hint_and_at_the_sixth_the_run_ends() {
    let model = always(|| Turn::calls([("fail", "{}")]));
    let agent = agent(&model).budget(Budget::rounds(50)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(
        outcome.reason().unwrap(),
        "`fail` failed 6 times in the same way: error: no such file"
    );
    assert_eq!((outcome.report().rounds, outcome.report().calls), (6, 6));
    let Outcome::Unanswered {
        reason: Unanswered::Stuck { tool, .. },
        report,
    } = outcome
    else {
        panic!("{outcome:?}")
    };
    assert_eq!(&*tool, "fail");
    let said: Vec<_> = report.history.messages().cloned().collect();
    assert_paired(&said);
    let told = |text: &str| -> Vec<usize> {
        let results = said.iter().filter(|m| matches!(m, Message::Tool(_)));
        let results = results.enumerate();
        results
            .filter(|(_, message)| transcript([*message]).contains(text))
            .map(|(at, _)| at)
            .collect()
    };
    assert_eq!(told("failed with the same error before"), [1]);
    // A tool without arguments has no schema to repeat.
    assert_eq!(told("Its schema"), [0; 0]);
}

#[tokio::test]
async fn l19_arguments_that_always_end_in_the_middle_get_a_hint_and_then_end_the_run() {
    let model = always(|| Turn::calls([("echo", r#"{"q":"#)]));
    let agent = agent(&model).budget(Budget::rounds(50)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.report().rounds, 6, "{outcome:?}");
    assert!(matches!(
        outcome,
        Outcome::Unanswered {
            reason: Unanswered::Stuck { .. },
            ..
        }
    ));
    let requests = model.requests();
    let last = |at: usize| transcript(requests[at].messages.last());
    assert!(!last(1).contains("failed with the same error before"));
    assert!(last(2).contains("failed with the same error before"));
    assert_paired(&requests[5].messages);
}

/// Calls of one reply that one cut took are one failure, whatever their number.
#[tokio::test]
async fn l19_calls_that_are_always_cut_end_the_run_at_the_sixth_reply() {
    let model = always(|| cut(["1", "2", "3"].map(|id| call(id, "lookup", r#"{"q":"#))));
    let agent = agent(&model).budget(Budget::rounds(50)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!((outcome.report().rounds, outcome.report().calls), (6, 0));
    assert!(matches!(
        outcome,
        Outcome::Unanswered {
            reason: Unanswered::Stuck { .. },
            ..
        }
    ));
    let all = transcript(outcome.report().history.messages());
    assert_eq!(all.matches("failed with the same error before").count(), 1);
}

#[tokio::test]
async fn l19_a_hint_says_what_the_tool_wants() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let tool = FakeTool::echo("count").with_spec(|mut spec| {
        spec.input_schema = Schema::parse(schema).unwrap();
        spec
    });
    let mut registry = Registry::new();
    registry.insert(Arc::new(tool)).unwrap();
    let model = model([
        Turn::calls([("count", r#"{"n":"x"}"#)]),
        Turn::calls([("count", r#"{"n":"x"}"#)]),
        Turn::text("7"),
    ]);
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(registry)
        .build()
        .unwrap();
    agent.run("Go.").await.into_answer().unwrap();
    let last = transcript(model.requests()[2].messages.last());
    assert!(last.contains(&format!("Its schema: {schema}]")), "{last}");
}

#[tokio::test]
async fn l19_s45_in_one_batch_the_calls_behind_the_sixth_failure_do_not_run() {
    let failing = FakeTool::failing("fail", "no").with_effect(Effect::Write);
    let ran = failing.record();
    let mut registry = Registry::new();
    registry.insert(Arc::new(failing)).unwrap();
    let model = model([Turn::calls([("fail", "{}"); 10]), Turn::text("7")]);
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(registry)
        .visibility(toolcrib_core::Visibility {
            mode: toolcrib_core::Mode::Yolo,
            ..Default::default()
        })
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert!(matches!(
        outcome,
        Outcome::Unanswered {
            reason: Unanswered::Stuck { .. },
            ..
        }
    ));
    assert_eq!(ran.all().len(), 6);
    let said: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&said);
    let placeholders = said[8..].iter();
    for message in placeholders {
        let text = transcript([message]);
        assert!(text.contains("it did not run"), "{text}");
    }
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn l34_p06_the_same_call_with_the_same_result_is_told_and_then_ends_in_an_answer() {
    let model = always(look);
    let agent = agent(&model).budget(Budget::rounds(50)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.answer().unwrap(), "7");
    assert_eq!((outcome.report().rounds, outcome.report().calls), (4, 3));
    let requests = model.requests();
    assert_prefixes(&requests);
    let last = |at: usize| transcript(requests[at].messages.last());
    assert!(!last(1).contains("made before"));
    assert!(last(2).contains("[This call was made before and gave the same result."));
    insta::assert_snapshot!(last(3), @r#"
    call_2: echo {"q":"a"}

    [This call was made before and gave the same result. Making it again will not change it.]

    [round 3 of 50: that was the last lookup, since the same call was made again and again. Answer now from what was gathered.]
    "#);
    assert_eq!(requests[3].tool_choice, ToolChoice::Withhold);
}

#[tokio::test]
async fn l34_a_circle_without_an_answer_is_named() {
    let model = Arc::new(ScriptedModel::from_fn(|request| {
        match request.tool_choice {
            ToolChoice::Auto => look(),
            _ => Turn::text("<tool_call>"),
        }
    }));
    let agent = agent(&model).budget(Budget::rounds(50)).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.limit(), Some(Limit::Repeats));
    let reason = outcome.reason().unwrap();
    assert!(
        reason.contains("(the same call was made again and again)"),
        "{reason}"
    );
}

#[tokio::test]
async fn s41_a_search_that_keeps_missing_ends_in_the_guard() {
    let mut registry = Registry::new();
    for name in ["a", "b", "c", "d"] {
        let tool =
            FakeTool::echo(name).with_spec(|spec| spec.exposure(toolcrib_core::Exposure::Deferred));
        registry.insert(Arc::new(tool)).unwrap();
    }
    let model = always(|| Turn::calls([("tool_search", r#"{"query":"zzz qqq"}"#)]));
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(registry)
        .surface(SurfacePolicy::default())
        .budget(Budget::rounds(50))
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.report().rounds, 6, "{outcome:?}");
    let all = transcript(outcome.report().history.messages());
    assert!(all.contains("made before"), "{all}");
    // Twice an answer, from the third time on an error.
    let errors: Vec<bool> = outcome
        .report()
        .history
        .messages()
        .filter_map(|message| match message {
            Message::Tool(result) => Some(result.is_error),
            _ => None,
        })
        .collect();
    assert_eq!(errors[..3], [false, false, true], "{all}");
    assert!(errors[2..].iter().all(|is_error| *is_error), "{all}");
    assert_eq!(
        all.matches("failed with the same error before").count(),
        1,
        "{all}"
    );
}

#[tokio::test]
async fn s45_an_unknown_name_again_and_again_gets_a_hint_and_then_ends_the_run() {
    let mut registry = Registry::new();
    let lookup = FakeTool::echo("weather_lookup");
    registry.insert(Arc::new(lookup)).unwrap();
    // Two of the calls come in one batch with the sixth.
    let mut asked = 0;
    let model = always(move || {
        asked += 1;
        match asked {
            5 => Turn::calls([("weather_lokup", "{}"); 4]),
            _ => Turn::calls([("weather_lokup", "{}")]),
        }
    });
    let agent = toolcrib_agent::Agent::builder(model.clone())
        .tools(registry)
        .budget(Budget::rounds(50))
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.report().rounds, 5, "{outcome:?}");
    assert!(matches!(
        outcome,
        Outcome::Unanswered {
            reason: Unanswered::Stuck { .. },
            ..
        }
    ));
    let said: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&said);
    let results = said.iter().filter(|m| matches!(m, Message::Tool(_)));
    let results: Vec<String> = results.map(|message| transcript([message])).collect();
    assert_eq!(results.len(), 8);
    assert!(results[0].contains("Did you mean `weather_lookup`?"));
    assert!(results[1].contains("failed with the same error before"));
    // A tool that is not there has no schema to show.
    assert!(results.iter().all(|text| !text.contains("schema")));
    // Those behind the sixth have a result each all the same.
    for text in &results[6..] {
        assert!(text.contains("there is no tool `weather_lokup`"), "{text}");
    }
}
