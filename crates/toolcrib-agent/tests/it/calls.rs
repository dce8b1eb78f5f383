//! Batches of calls: one result each, in order, whatever happens.

use std::sync::Arc;

use toolcrib_agent::{Event, OutcomeKind};
use toolcrib_core::{Content, Finish, Message};
use toolcrib_testkit::scripted::Turn;

use crate::support::*;

#[tokio::test]
async fn l08_every_call_gets_exactly_one_result_in_call_order() {
    let model = model([
        Turn::calls([
            ("lookup", "{}"),
            ("nowhere", "{}"),
            ("fail", "{}"),
            ("panic", "{}"),
            ("lookup", "not json"),
        ]),
        Turn::text("Done."),
    ]);
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
    let messages = &model.requests()[1].messages;
    assert_paired(messages);
    let errors: Vec<_> = messages
        .iter()
        .filter_map(|message| match message {
            Message::Tool(result) => Some((&*result.call_id, result.is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(
        errors,
        [
            ("c0", false),
            ("c1", true),
            ("c2", true),
            ("c3", true),
            ("c4", true)
        ]
    );
}

#[tokio::test]
async fn l09_a_panic_says_nothing_of_its_payload() {
    let model = model([Turn::calls([("panic", "{}")]), Turn::text("Done.")]);
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    let transcript = transcript(outcome.report().history.messages());
    assert!(transcript.contains("c0 !: error:"), "{transcript}");
    assert!(!transcript.contains("secret"), "{transcript}");
}

#[tokio::test]
async fn l10_the_history_stores_what_ran() {
    let model = model([
        Turn::calls([
            ("lookup", ""),
            ("lookup", r#"{"a":1}{"b":2}"#),
            ("lookup", r#""{\"c\":3}""#),
            ("lookup", "[1]"),
        ]),
        Turn::text("Done."),
    ]);
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    let messages = &model.requests()[1].messages;
    assert_paired(messages);
    let lines = transcript(messages);
    let line = lines.lines().nth(1).unwrap();
    insta::assert_snapshot!(line, @r#"model: c0=lookup({}) | c1=lookup({"a":1}) | c2=lookup({"c":3}) | c3=lookup({})"#);
    assert!(lines.contains("c1: echo {\"a\":1}\n"), "{lines}");
    assert!(lines.contains("c3 !: error:"), "{lines}");
    assert_eq!(outcome.report().calls, 4);
}

#[tokio::test]
async fn l15_progress_goes_to_events_and_never_to_the_model() {
    let model = model([Turn::calls([("progress", "{}")]), Turn::text("Done.")]);
    let kept = Kept::default();
    let agent = agent(&model).sink(Arc::new(kept.clone())).build().unwrap();
    let outcome = agent.run("Go.").await;
    let transcript = transcript(outcome.report().history.messages());
    assert!(!transcript.contains("half way"), "{transcript}");
    let told: Vec<_> = kept
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::ToolProgress { text, .. } => Some(text.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["half way", "nearly there"]);
}

#[tokio::test]
async fn l17_results_once_sent_stay_as_they_were() {
    let turns = (0..12).map(look_at).chain([Turn::text("Done.")]);
    let model = model(turns);
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    assert_eq!(outcome.kind(), OutcomeKind::Answered);
    assert_prefixes(&model.requests());
}

#[tokio::test]
async fn missing_and_repeated_ids_become_unique_before_they_enter_the_history() {
    let same = |q: &str| {
        Turn::blocks(
            [
                call("", "lookup", &format!("{q}1}}")),
                call("x", "lookup", &format!("{q}2}}")),
                call("x", "lookup", &format!("{q}3}}")),
            ],
            Finish::ToolCalls,
        )
    };
    let model = model([same(r#"{"a":"#), same(r#"{"b":"#), Turn::text("Done.")]);
    let outcome = agent(&model).build().unwrap().run("Go.").await;
    assert_eq!(outcome.report().calls, 6);
    assert_paired(&model.requests()[2].messages);
}

#[tokio::test]
async fn a_countdown_after_an_image_stands_on_its_own() {
    use toolcrib_agent::{Budget, Rules, Run, Step};
    use toolcrib_core::{AssistantMessage, History, Reply, ToolResult, Usage};
    let rules = Rules {
        tools: true,
        ..Rules::default()
    };
    let question = Message::user("Go.");
    let mut run = Run::new(History::new(), question, Budget::default(), rules).unwrap();
    assert!(matches!(run.step(), Step::CallModel(_)));
    let message = AssistantMessage {
        blocks: vec![call("1", "shot", "{}")],
        model: "m".into(),
    };
    run.model_replied(Reply {
        message,
        finish: Finish::ToolCalls,
        usage: Usage::default(),
        cost: None,
    })
    .unwrap();
    let Step::RunCalls(calls) = run.step() else {
        panic!()
    };
    let mut result = ToolResult::text(&calls[0].call, "", false);
    result.content = vec![Content::Image {
        media_type: "image/png".into(),
        data: "AAAA".into(),
    }];
    run.calls_done(vec![result]).unwrap();
    let Some(Message::Tool(result)) = run.history().messages().last() else {
        panic!()
    };
    assert!(
        matches!(&result.content[..], [Content::Image { .. }, Content::Text(text)] if text.starts_with("[round 1 of 20"))
    );
}
