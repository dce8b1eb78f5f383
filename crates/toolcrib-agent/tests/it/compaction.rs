//! L23, L24, L26, s17, s18: transcripts that grow too large, are out of order, or get
//! messages while a run is busy.

use std::sync::Arc;

use toolcrib_agent::{Agent, AgentBuilder, Answer, Budget, Event, Inbox, OutcomeKind, Run};
use toolcrib_core::{
    Exposure, History, Message, ModelErrorKind, ModelProfile, Registry, ToolChoice,
};
use toolcrib_session::{Meta, Row, Session, SessionLog};
use toolcrib_surface::{SurfacePolicy, SurfaceState};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};
use toolcrib_testkit::tools::FakeTool;

use crate::support::*;

fn overflow() -> Turn {
    let kind = ModelErrorKind::ContextOverflow {
        needed: Some(9_000),
        allowed: Some(8_000),
    };
    Turn::fail(kind, "the prompt is too long")
}

/// What was said before: twelve exchanges of 4,000 bytes each.
fn long_ago() -> History {
    (0..12)
        .flat_map(|n| {
            let answer = toolcrib_core::AssistantMessage {
                blocks: vec![text(&format!("answer {n} {}", "a".repeat(4_000)))],
                model: "script:memory".into(),
            };
            [
                Message::user(format!("question {n}")),
                Message::Assistant(answer),
            ]
        })
        .collect()
}

fn deferring(model: &Arc<ScriptedModel>) -> AgentBuilder {
    let mut registry = Registry::new();
    for name in ["a", "b", "c", "d"] {
        let tool = FakeTool::echo(name).with_spec(|spec| spec.exposure(Exposure::Deferred));
        registry.insert(Arc::new(tool)).unwrap();
    }
    Agent::builder(model.clone())
        .tools(registry)
        .surface(SurfacePolicy::default())
}

#[tokio::test]
async fn l23_s17_after_an_overflow_a_shorter_transcript_goes_on_with_what_was_loaded() {
    assert_goes_on_after(overflow()).await;
}

#[tokio::test]
async fn l23_s18_an_overflow_in_the_stream_is_the_same_while_nothing_was_shown() {
    let Turn::Fail(error) = overflow() else {
        unreachable!()
    };
    assert_goes_on_after(Turn::Break("".into(), error)).await;
}

async fn assert_goes_on_after(overflow: Turn) {
    let model = model([
        Turn::calls([("tool_search", r#"{"query":"select:a"}"#)]),
        overflow,
        Turn::text("They spoke of twelve things."),
        Turn::text("7"),
    ]);
    let kept = Kept::default();
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let agent = deferring(&model)
        .session(log.clone())
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    let answer = Answer::<u32>::from_text("a whole number");
    let run = agent.begin_from(
        long_ago(),
        SurfaceState::default(),
        "Sum it up.",
        answer.format(),
    );
    let outcome = agent.drive(run, &answer).await;
    assert_eq!(outcome.answer(), Some(&7));
    assert_eq!(outcome.report().rounds, 2, "a summary is no round");
    let requests = model.requests();
    assert_eq!(requests.len(), 4);
    // The refused request and the one in its place have one plan: `a` whole, no `b`.
    let tools = |at: usize| {
        requests[at]
            .tools
            .iter()
            .map(|t| t.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(tools(1), ["read_result", "tool_search", "a"]);
    assert_eq!(
        (tools(3), &requests[3].fingerprint),
        (tools(1), &requests[1].fingerprint)
    );
    assert!(requests[2].same_plan && requests[3].same_plan);
    assert_eq!(requests[2].tool_choice, ToolChoice::Withhold);
    let sent = &requests[3].messages;
    assert_paired(sent);
    let first = transcript(&sent[..1]);
    assert!(first.contains("They spoke of twelve things."), "{first}");
    // The question, its format with it, is in the kept part or beside the summary.
    let all = transcript(sent);
    assert!(
        all.contains("Sum it up.") && all.contains("a whole number"),
        "{all}"
    );
    assert!(!all.contains("answer 0") && sent.len() >= 6);
    assert!(kept.all().iter().any(|event| matches!(event, Event::Compacted { summarised: true, reason, .. } if &**reason == "overflow")));
    // A reopened session goes on from the shorter transcript, with what was loaded.
    let session = Session::read(log.path()).unwrap();
    assert!(
        session
            .entries()
            .iter()
            .any(|e| matches!(e.row, Row::Compaction(_)))
    );
    let reread: Vec<_> = session.history().messages().cloned().collect();
    let ended: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_eq!(reread, ended);
    assert_eq!(session.activated().len(), 1);
}

#[tokio::test]
async fn l23_s18_an_overflow_after_shown_text_is_an_error_and_nothing_is_said_twice() {
    let Turn::Fail(error) = overflow() else {
        unreachable!()
    };
    let model = model([Turn::Break("It is".into(), error), Turn::text("It is 7.")]);
    let kept = Kept::default();
    let agent = agent(&model).sink(Arc::new(kept.clone())).build().unwrap();
    let run = agent.begin(long_ago(), "Go on.", None);
    let outcome = agent.drive(run, &Answer::text()).await;
    assert_eq!(outcome.reason().unwrap(), "the prompt is too long");
    assert_eq!(outcome.report().partial.as_deref(), Some("It is"));
    assert_eq!(model.requests().len(), 1);
    let shown: String = kept
        .all()
        .iter()
        .filter_map(|event| match event {
            Event::Text { text } => Some(text.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, "It is");
}

#[tokio::test]
async fn l23_a_failed_summary_keeps_the_history() {
    let model = model([overflow(), overflow(), Turn::text("never")]);
    let agent = agent(&model).build().unwrap();
    let run = agent.begin(long_ago(), "Go on.", None);
    let outcome = agent.drive(run, &Answer::text()).await;
    // The summary could not be made either: nothing shorter, so the error stands.
    assert_eq!(outcome.kind(), OutcomeKind::Failed);
    assert_eq!(outcome.reason().unwrap(), "the prompt is too long");
    assert_eq!(model.requests().len(), 2);
    assert_eq!(
        outcome.report().history.len(),
        25,
        "a failed summary keeps everything"
    );
}

#[tokio::test]
async fn l23_l08_what_a_summary_spends_is_not_spent_once_more_on_the_request() {
    let model = model([
        overflow(),
        Turn::text("They spoke of twelve things."),
        Turn::text("never"),
    ]);
    let budget = Budget {
        tokens_in: Some(100),
        ..Budget::default()
    };
    let agent = agent(&model).budget(budget).build().unwrap();
    let run = agent.begin(long_ago(), "Go on.", None);
    let outcome = agent.drive(run, &Answer::text()).await;
    assert_eq!(outcome.kind(), OutcomeKind::Stopped);
    assert!(outcome.reason().unwrap().contains("100 input tokens"));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn l23_the_limit_of_the_input_counts_where_it_is_less_than_the_window() {
    let history = long_ago();
    let bytes: usize = history.messages().map(|m| format!("{m:?}").len()).sum();
    let tokens = bytes as u64 / 4;
    let first = async |input_limit| {
        let mut profile = ModelProfile::new("script:memory");
        profile.window = Some(tokens * 10);
        profile.input_limit = input_limit;
        let turns = [Turn::text("Short."), Turn::text("Done.")];
        let model = Arc::new(ScriptedModel::new(turns).with_profile(profile));
        let kept = Kept::default();
        let agent = Agent::builder(model).sink(Arc::new(kept.clone()));
        let agent = agent.build().unwrap();
        let run = agent.begin(history.clone(), "Go on.", None);
        assert!(agent.drive(run, &Answer::text()).await.answer().is_some());
        let compacted = |event: &Event| matches!(event, Event::Compacted { .. });
        kept.all().iter().any(compacted)
    };
    assert!(!first(None).await, "a tenth of the window");
    assert!(first(Some(tokens / 2)).await, "twice what may be sent");
}

#[tokio::test]
async fn l23_a_second_overflow_of_one_request_ends_the_run() {
    let model = model([
        overflow(),
        Turn::text("Short."),
        overflow(),
        Turn::text("never"),
    ]);
    let agent = agent(&model).build().unwrap();
    let run = agent.begin(long_ago(), "Go on.", None);
    let outcome = agent.drive(run, &Answer::text()).await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed);
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn l23_before_the_window_is_full_old_results_make_room_and_can_still_be_read() {
    let mut profile = ModelProfile::new("script:memory");
    profile.window = Some(10_000);
    let turns = (0..8).map(|n| Turn::calls([("dump", format!(r#"{{"n":{n}}}"#).as_str())]));
    let model =
        Arc::new(ScriptedModel::new(turns.chain([Turn::text("Done.")])).with_profile(profile));
    let dump = FakeTool::new("dump", |arguments, _| async move {
        let text = format!("{}{}", arguments.as_str(), "x".repeat(6_000));
        Ok(toolcrib_core::ToolOutput::text(text))
    });
    let mut registry = Registry::new();
    registry.insert(Arc::new(dump)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let kept = Kept::default();
    let agent = Agent::builder(model.clone())
        .tools(registry)
        .session(log)
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    let outcome = agent.run("Dump it all.").await;
    assert_eq!(outcome.answer().unwrap(), "Done.");
    assert_eq!((outcome.report().rounds, outcome.report().calls), (9, 8));
    let compacted: Vec<_> = kept
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::Compacted {
                reason,
                summarised,
                bytes_before,
                bytes_after,
                ..
            } => {
                assert!(bytes_after < bytes_before);
                Some((reason.to_string(), summarised))
            }
            _ => None,
        })
        .collect();
    assert!(
        !compacted.is_empty() && compacted.iter().all(|c| *c == ("full".to_owned(), false)),
        "{compacted:?}"
    );
    for request in model.requests() {
        assert_paired(&request.messages);
        let bytes: usize = transcript(&request.messages).len();
        assert!(bytes < 4 * 8_000, "{bytes}");
    }
    let last = transcript(&model.requests()[8].messages);
    assert!(
        last.contains("bytes left out to save room; read_result {\"id\":\"r"),
        "{last}"
    );
    assert!(last.contains("Dump it all."));
}

#[tokio::test]
async fn l23_a_full_window_is_summarised_when_results_are_not_what_fills_it() {
    let mut profile = ModelProfile::new("script:memory");
    profile.window = Some(12_000);
    let model = Arc::new(
        ScriptedModel::new([
            Turn::text("It was long.").using(11_000, 10, Some(0.5)),
            Turn::text("7").using(100, 1, Some(0.25)),
        ])
        .with_profile(profile),
    );
    let agent = agent(&model).budget(Budget::rounds(1)).build().unwrap();
    let run = agent.begin(long_ago(), "Go on.", None);
    let outcome = agent.drive(run, &Answer::text()).await;
    assert_eq!(outcome.answer().unwrap(), "7");
    let report = outcome.report();
    assert_eq!((report.rounds, report.cost.unwrap().usd), (1, 0.75));
    assert_eq!(report.usage.input, Some(11_100));
    let asked = &model.requests()[0].messages;
    let last = transcript(asked.last());
    assert!(last.contains("Reply with the summary alone."), "{last}");
}

#[tokio::test]
async fn l24_a_transcript_out_of_order_is_put_right_before_every_request() {
    let model = model([Turn::text("7")]);
    let agent = agent(&model).build().unwrap();
    let run = agent.begin(History::new(), "Go.", None);
    let mut stored = serde_json::to_value(&run).unwrap();
    let history = stored["history"].as_array_mut().unwrap();
    let stray = toolcrib_core::ToolResult::text(
        &toolcrib_core::ToolCall {
            id: "gone".into(),
            name: "lookup".into(),
            arguments: "{}".into(),
            extra: None,
        },
        "orphan",
        false,
    );
    history.insert(0, serde_json::to_value(Message::Tool(stray)).unwrap());
    let open = toolcrib_core::AssistantMessage {
        blocks: vec![call("open", "lookup", "{}")],
        model: "m".into(),
    };
    history.insert(1, serde_json::to_value(Message::Assistant(open)).unwrap());
    let run: Run = serde_json::from_value(stored).unwrap();
    let outcome = agent.drive(run, &Answer::text()).await;
    assert_eq!(outcome.answer().unwrap(), "7");
    let sent = &model.requests()[0].messages;
    assert_paired(sent);
    let sent = transcript(sent);
    assert!(
        sent.contains("broke off") && !sent.contains("orphan"),
        "{sent}"
    );
}

#[tokio::test]
async fn l26_messages_that_come_while_a_run_is_busy_enter_before_the_next_request() {
    let inbox = Inbox::new();
    let queue = inbox.clone();
    let mut at = 0;
    let model = Arc::new(ScriptedModel::from_fn(move |_| {
        at += 1;
        match at {
            1 => {
                queue.push("And mind the tests.");
                queue.push("Quickly.");
                look_at(1)
            }
            2 => {
                queue.push("Too late for this one.");
                Turn::text("Done.")
            }
            _ => Turn::text("never"),
        }
    }));
    let kept = Kept::default();
    let agent = agent(&model)
        .inbox(inbox.clone())
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    assert_eq!(agent.run("Go.").await.answer().unwrap(), "Done.");
    let sent = &model.requests()[1].messages;
    assert_paired(sent);
    insta::assert_snapshot!(transcript(&sent[3..]), @r"
    user: And mind the tests.
    user: Quickly.
    ");
    assert_prefixes(&model.requests());
    let taken = kept
        .all()
        .iter()
        .filter(|e| matches!(e, Event::MessageTaken { .. }))
        .count();
    assert_eq!(taken, 2);
    // It waits for the next run.
    assert_eq!(inbox.take(), ["Too late for this one.".into()]);
}
