//! The loop over a real wire and a server whose every byte is decided here.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_agent::{Agent, AgentBuilder, Answer as Wanted, Budget, Event, Limit, OutcomeKind};
use toolcrib_core::{CancellationToken, SpillStore as _, ToolSource as _};
use toolcrib_mcp::{Fleet, FleetOptions, ServerConfig, Transport};
use toolcrib_models::{
    ChatModel, ChatOptions, Key, RemoteModel, RemoteOptions, RetryPolicy, Vendor, Wire,
};
use toolcrib_session::{DiskSpill, Meta, Session, SessionLog};
use toolcrib_testkit::fake_mcp::FakeMcp;
use toolcrib_testkit::tools::FakeTool;
use toolcrib_testkit::{Answer, ByteServer, Received};

use crate::support::*;

fn chat(server: &ByteServer) -> Arc<ChatModel> {
    let mut options = ChatOptions::new(Vendor::Generic, "m").base_url(server.url("/v1"));
    options.retry = quick();
    Arc::new(ChatModel::new(options).unwrap())
}

/// The same, giving up a stream that stalls.
fn impatient(server: &ByteServer) -> AgentBuilder {
    let mut options = ChatOptions::new(Vendor::Generic, "m").base_url(server.url("/v1"));
    options.idle = Duration::from_secs(2);
    Agent::builder(Arc::new(ChatModel::new(options).unwrap()))
}

fn quick() -> RetryPolicy {
    RetryPolicy {
        base: Duration::from_millis(1),
        ..RetryPolicy::default()
    }
}

fn over(server: &ByteServer) -> AgentBuilder {
    Agent::builder(chat(server))
        .tools(fakes().registry)
        .system("You answer questions.")
}

fn delta(delta: Value, finish: Option<&str>) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).to_string()
}

fn says(text: &str) -> Answer {
    Answer::sse([delta(json!({"content": text}), Some("stop"))]).done()
}

/// Calls with their arguments as the server writes them.
fn calls(calls: &[(&str, Value)], finish: &str) -> Answer {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            json!({
                "index": index, "id": format!("call_{index}"), "type": "function",
                "function": {"name": name, "arguments": arguments},
            })
        })
        .collect();
    Answer::sse([delta(json!({"tool_calls": calls}), Some(finish))]).done()
}

/// Panics unless what was sent is in order: each call answered once, right after, with
/// arguments that are an object.
#[track_caller]
fn assert_in_order(sent: &Received) {
    let body = sent.json();
    let mut open: Vec<String> = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            assert!(!open.is_empty(), "an orphan in {body}");
            assert_eq!(message["tool_call_id"].as_str().unwrap(), open.remove(0));
            continue;
        }
        assert!(open.is_empty(), "{open:?} has no result in {body}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            assert!(arguments.is_object(), "{arguments}");
            open.push(call["id"].as_str().unwrap().to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?} has no result in {body}");
}

/// The last result that a request carries.
fn last_result(sent: &Received) -> String {
    let body = sent.json();
    let messages = body["messages"].as_array().unwrap();
    let tool = messages.iter().rev().find(|m| m["role"] == "tool").unwrap();
    tool["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn p03_two_calls_run_side_by_side_and_their_results_go_back_in_call_order() {
    let asked = |city: &str| ("weather", json!(json!({"city": city}).to_string()));
    let both = [asked("Rome"), asked("Oslo")];
    let server = ByteServer::serve(move |sent| match sent.text().contains("tool_call_id") {
        false => calls(&both, "tool_calls"),
        true => says("Rome is warmer."),
    })
    .unwrap();
    // The first one ends only once the second one has.
    let second = CancellationToken::new();
    let weather = FakeTool::new("weather", move |arguments, _| {
        let second = second.clone();
        async move {
            let text = if arguments.as_str().contains("Rome") {
                second.cancelled().await;
                "Rome 21 C"
            } else {
                second.cancel();
                "Oslo 9 C"
            };
            Ok(toolcrib_core::ToolOutput::text(text))
        }
    });
    let tools = toolcrib_testkit::tools::registry([weather]).unwrap();
    let agent = Agent::builder(chat(&server)).tools(tools).build().unwrap();
    let outcome = agent.run("Rome or Oslo?").await;
    assert_eq!(outcome.answer().unwrap(), "Rome is warmer.");
    let sent = server.received();
    sent.iter().for_each(assert_in_order);
    let body = sent[1].json();
    let messages = body["messages"].as_array().unwrap().iter();
    let results: Vec<_> = messages
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            (
                message["tool_call_id"].as_str().unwrap(),
                &message["content"],
            )
        })
        .collect();
    let is = |at: usize, id: &str, text: &str| {
        results[at].0 == id && results[at].1.as_str().unwrap().starts_with(text)
    };
    assert!(
        is(0, "call_0", "Rome 21 C") && is(1, "call_1", "Oslo 9 C"),
        "{results:?}"
    );
    assert_eq!(results.len(), 2);
}

#[tokio::test]
async fn p06_a_server_that_calls_for_ever_is_stopped_by_each_limit_exactly() {
    let again = || {
        let body = json!({
            "choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {"tool_calls": [
                {"index": 0, "id": "c", "function": {"name": "lookup", "arguments": "{\"q\":1}"}}
            ]}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        });
        Answer::sse([body.to_string()]).done()
    };
    let tools = |sent: &Received| sent.json().get("tools").is_some();
    // The guard: told at the second, the final round at the third.
    let server = ByteServer::serve(move |sent| match tools(sent) {
        true => again(),
        false => says("It is 1."),
    })
    .unwrap();
    let outcome = over(&server).build().unwrap().run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "It is 1.");
    assert_eq!((outcome.report().rounds, outcome.report().calls), (4, 3));
    let sent = server.received();
    assert!(
        last_result(&sent[2]).contains("same"),
        "{}",
        last_result(&sent[2])
    );
    assert!(sent[2].json().get("tools").is_some() && sent[3].json().get("tools").is_none());
    sent.iter().for_each(assert_in_order);
    // A server that calls whatever it is offered.
    let budgets = [
        (Budget::rounds(2), Limit::Rounds, 2, 1),
        (
            Budget {
                tool_calls: Some(1),
                ..Budget::default()
            },
            Limit::ToolCalls,
            2,
            1,
        ),
        (
            Budget {
                tokens: Some(150),
                ..Budget::default()
            },
            Limit::Tokens,
            2,
            1,
        ),
        (
            Budget {
                wall_time: Some(Duration::ZERO),
                ..Budget::default()
            },
            Limit::WallTime,
            0,
            0,
        ),
    ];
    for (budget, limit, rounds, ran) in budgets {
        let server = ByteServer::serve(move |_| again()).unwrap();
        let agent = over(&server).budget(budget).build().unwrap();
        let outcome = agent.run("What?").await;
        assert_eq!(outcome.limit(), Some(limit), "{:?}", outcome.reason());
        assert!(outcome.reason().is_some());
        let report = outcome.report();
        assert_eq!((report.rounds, report.calls), (rounds, ran), "{limit:?}");
    }
}

#[tokio::test]
async fn p10_p11_arguments_that_cannot_run_do_not_and_the_next_request_is_in_order() {
    let big = format!("[\"{}\"]", "é".repeat(20_000));
    for bad in [
        json!(r#"{"city": ""#),
        json!("[1]"),
        json!("null"),
        json!("7"),
        json!("{\"q\":1}zz"),
        json!(big),
    ] {
        let server = ByteServer::start([
            calls(&[("lookup", bad.clone())], "tool_calls"),
            says("Well."),
        ])
        .unwrap();
        let fakes = fakes();
        let agent = Agent::builder(chat(&server)).tools(fakes.registry);
        let outcome = agent.build().unwrap().run("What?").await;
        assert_eq!(outcome.answer().unwrap(), "Well.", "{bad}");
        assert_eq!(fakes.runs.load(Ordering::SeqCst), 0, "{bad} ran");
        let sent = server.received();
        sent.iter().for_each(assert_in_order);
        let result = last_result(&sent[1]);
        assert!(result.starts_with("error: "), "{result}");
        assert!(result.chars().count() < 1_300, "{}", result.chars().count());
    }
    // What can be read is, and the events say how.
    for (odd, runs_as, repaired) in [
        (json!(""), "{}", false),
        (json!({"q": 1}), r#"{"q":1}"#, false),
        (json!(r#""{\"q\":1}""#), r#"{"q":1}"#, true),
    ] {
        let server = ByteServer::start([
            calls(&[("lookup", odd.clone())], "tool_calls"),
            says("Well."),
        ])
        .unwrap();
        let kept = Kept::default();
        let agent = over(&server).sink(Arc::new(kept.clone())).build().unwrap();
        assert!(agent.run("What?").await.answer().is_some());
        let sent = server.received();
        sent.iter().for_each(assert_in_order);
        let result = last_result(&sent[1]);
        assert!(
            result.starts_with(&format!("echo {runs_as}")),
            "{odd}: {result}"
        );
        let repairs = kept.all().iter().any(
            |event| matches!(event, Event::ToolCallFinished { repairs, .. } if !repairs.is_empty()),
        );
        assert!(repairs || !repaired, "{odd} was mended without a word");
    }
}

#[tokio::test]
async fn p12_a_call_that_was_cut_never_runs_whatever_the_server_says_of_it() {
    for finish in ["length", "tool_calls"] {
        let cut = calls(&[("lookup", json!("{\"q\": \"half of a"))], finish);
        let server = ByteServer::start([cut, says("Well.")]).unwrap();
        let fakes = fakes();
        let agent = Agent::builder(chat(&server)).tools(fakes.registry);
        let outcome = agent.build().unwrap().run("What?").await;
        assert_eq!(outcome.answer().unwrap(), "Well.");
        assert_eq!(fakes.runs.load(Ordering::SeqCst), 0);
        assert_in_order(&server.received()[1]);
    }
}

#[tokio::test]
async fn p13_an_unknown_tool_is_answered_with_near_names_and_the_run_goes_on() {
    let server = ByteServer::start([
        calls(
            &[("lookupp", json!("{}")), ("lookup", json!("{}"))],
            "tool_calls",
        ),
        says("Well."),
    ])
    .unwrap();
    let outcome = over(&server).build().unwrap().run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "Well.");
    let sent = server.received();
    assert_in_order(&sent[1]);
    let all = sent[1].text();
    assert!(
        all.contains("there is no tool `lookupp`. Did you mean `lookup`"),
        "{all}"
    );
}

/// Drives a run that is cancelled at an event, and the next one after it.
async fn cancelled_at(
    answer: Answer,
    at: impl Fn(&Event) -> bool + Send + Sync + 'static,
) -> Vec<toolcrib_core::Message> {
    let server = Arc::new(ByteServer::start([answer, says("And on.")]).unwrap());
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let asked = Arc::clone(&server);
    let sink = move |event: &Event| {
        if matches!(event, Event::TurnStarted { .. }) && at(event) {
            // Not before the request is there.
            let (stop, asked) = (stop.clone(), Arc::clone(&asked));
            tokio::spawn(async move {
                while asked.received().is_empty() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                stop.cancel();
            });
        } else if at(event) {
            stop.cancel();
        }
    };
    let agent = over(&server).sink(Arc::new(sink)).build().unwrap();
    let run = agent.begin(Default::default(), "What?", None);
    let outcome = agent.drive_until(run, &Wanted::text(), &cancel).await;
    assert_eq!(outcome.kind(), OutcomeKind::Cancelled);
    let before: Vec<_> = outcome.report().history.messages().cloned().collect();
    assert_paired(&before);
    let run = agent.begin(outcome.report().history.clone(), "And now?", None);
    let on = agent.drive(run, &Wanted::text()).await;
    let why = on.reason();
    assert_eq!(on.answer().map(String::as_str), Some("And on."), "{why:?}");
    let sent = server.received();
    assert_in_order(sent.last().unwrap());
    before
}

#[tokio::test]
async fn p14_cancelled_at_any_point_the_transcript_is_whole_and_the_next_prompt_works() {
    let begun = |event: &Event| matches!(event, Event::TurnStarted { .. });
    cancelled_at(Answer::silence(), begun).await;
    let text = Answer::sse([delta(json!({"content": "It is "}), None)]).stall();
    cancelled_at(text, |event| matches!(event, Event::Text { .. })).await;
    let half = json!({"tool_calls": [
        {"index": 0, "id": "c", "function": {"name": "lookup", "arguments": "{\"q"}}
    ]});
    let arguments = Answer::sse([delta(half, None)]).stall();
    cancelled_at(arguments, |event| {
        matches!(event, Event::CallAnnounced { .. })
    })
    .await;
    let two = || {
        calls(
            &[("lookup", json!("{}")), ("wait", json!("{}"))],
            "tool_calls",
        )
    };
    let starts =
        |event: &Event| matches!(event, Event::ToolCallStarted { name, .. } if &**name == "wait");
    cancelled_at(two(), starts).await;
    let between = |event: &Event| matches!(event, Event::ToolCallFinished { name, .. } if &**name == "lookup");
    let before = cancelled_at(two(), between).await;
    let results: Vec<_> = before
        .iter()
        .filter_map(|message| match message {
            toolcrib_core::Message::Tool(result) => Some((&*result.name, result.is_error)),
            _ => None,
        })
        .collect();
    let kept = [("lookup", false), ("wait", true)];
    assert_eq!(results, kept, "a finished sibling keeps its result");
}

/// A process that died after any row of its session.
#[tokio::test]
async fn p15_s57_resumed_from_any_row_the_history_is_whole_and_no_tool_runs_twice() {
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let server = ByteServer::start([
        calls(
            &[("lookup", json!("{\"q\":1}")), ("progress", json!("{}"))],
            "tool_calls",
        ),
        calls(&[("lookup", json!("{\"q\":2}"))], "tool_calls"),
        says("Done."),
    ])
    .unwrap();
    let agent = over(&server).session(log.clone()).build().unwrap();
    assert!(agent.run("What?").await.answer().is_some());
    let whole = std::fs::read_to_string(log.path()).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 9);
    for rows in 1..=lines.len() {
        let path = dir.path().join(format!("cut{rows}.jsonl"));
        std::fs::write(&path, lines[..rows].concat()).unwrap();
        let server = ByteServer::start([says("On.")]).unwrap();
        let fakes = fakes();
        let log = SessionLog::open(&path).unwrap();
        let history = Session::read(&path).unwrap().history();
        let agent = Agent::builder(chat(&server)).tools(fakes.registry);
        let agent = agent.session(log).build().unwrap();
        let run = agent.begin(history, "Go on.", None);
        let outcome = agent.drive(run, &Wanted::text()).await;
        assert_eq!(outcome.answer().unwrap(), "On.", "{rows} rows");
        assert_eq!(fakes.runs.load(Ordering::SeqCst), 0, "a call ran twice");
        assert_in_order(&server.received()[0]);
        // And it can be read and gone on with once more.
        let after: Vec<_> = Session::read(&path)
            .unwrap()
            .history()
            .messages()
            .cloned()
            .collect();
        assert_paired(&after);
    }
}

/// The second request is small, its result says where the rest is, and there it is whole.
fn assert_cut(server: &ByteServer, log: &SessionLog, whole: &str) {
    let sent = server.received();
    let result = last_result(&sent[1]);
    assert!(result.len() < 34 * 1024, "{}", result.len());
    assert!(sent[1].body.len() < 256 * 1024, "{}", sent[1].body.len());
    let handle = toolcrib_core::spill_handle(whole);
    assert!(
        result.contains(&*handle),
        "the marker names where the rest is: {result}"
    );
    let kept = DiskSpill::beside(log.path()).get(&handle).unwrap();
    assert!(kept == whole);
}

#[tokio::test]
async fn p24_whatever_a_tool_gives_the_request_stays_small_and_the_rest_can_be_read() {
    let megabytes = 5 * 1024 * 1024;
    let binary: Vec<u8> = (0..megabytes).map(|n: usize| (n % 251) as u8).collect();
    let outputs = [
        "é".repeat(megabytes / 2),
        String::from_utf8_lossy(&binary).into_owned(),
        "\u{1b}[31mred\u{1b}[0m\n".repeat(200_000),
    ];
    for whole in outputs {
        let dir = tempfile::tempdir().unwrap();
        let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
        let server =
            ByteServer::start([calls(&[("dump", json!("{}"))], "tool_calls"), says("Well.")])
                .unwrap();
        let mut registry = toolcrib_core::Registry::new();
        registry
            .insert(Arc::new(FakeTool::fixed("dump", &whole)))
            .unwrap();
        let agent = Agent::builder(chat(&server))
            .tools(registry)
            .session(log.clone());
        assert!(agent.build().unwrap().run("What?").await.answer().is_some());
        assert_cut(&server, &log, &whole);
    }
}

#[tokio::test]
async fn p24_what_an_mcp_server_gives_is_cut_in_the_same_place() {
    let big = json!([{
        "name": "big",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": true}
    }]);
    let (program, args, env) = FakeMcp::new().with("tools", big).command();
    let mut config = ServerConfig::stdio("fake", program, args);
    if let Transport::Stdio { env: own, .. } = &mut config.transport {
        own.extend(env);
    }
    let fleet = Fleet::new(vec![config], FleetOptions::default());
    fleet.refresh("fake").await.unwrap();
    let mut registry = toolcrib_core::Registry::new();
    for tool in toolcrib_mcp::tools(&fleet).tools() {
        registry.insert(tool).unwrap();
    }
    let whole = "b".repeat(5 * 1024 * 1024);
    let wanted = json!({"bytes": whole.len()}).to_string();
    let server = ByteServer::start([
        calls(&[("fake__big", json!(wanted))], "tool_calls"),
        says("Well."),
    ])
    .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let agent = Agent::builder(chat(&server))
        .tools(registry)
        .session(log.clone());
    assert!(agent.build().unwrap().run("What?").await.answer().is_some());
    fleet.shutdown().await;
    assert_cut(&server, &log, &whole);
}

#[tokio::test]
async fn l21_what_passes_is_waited_for_and_what_does_not_is_told_at_once() {
    let state = |status: u16| Answer::json(status, r#"{"error":{"message":"later"}}"#);
    let server = ByteServer::start([
        state(429).header("retry-after", "0"),
        state(529),
        Answer::hang_up(),
        says("fine"),
    ])
    .unwrap();
    let kept = Kept::default();
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let agent = over(&server)
        .session(log.clone())
        .sink(Arc::new(kept.clone()));
    let outcome = agent.build().unwrap().run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "fine");
    assert_eq!(outcome.report().rounds, 1, "a retry is no round");
    let took = Session::read(log.path()).unwrap().summary().total;
    assert_eq!((took.rounds, took.replies, took.retries), (1, 1, 3));
    let bodies: Vec<_> = server
        .received()
        .into_iter()
        .map(|sent| sent.body)
        .collect();
    assert_eq!(bodies.len(), 4);
    assert!(
        bodies.windows(2).all(|pair| pair[0] == pair[1]),
        "the same request"
    );
    let attempts: Vec<u32> = kept
        .all()
        .iter()
        .filter_map(|event| match event {
            Event::Retrying { attempt, .. } => Some(*attempt),
            _ => None,
        })
        .collect();
    assert_eq!(attempts, [2, 3, 4]);
    // A stream may be silent for this long unless another limit is set.
    let limit = ChatOptions::new(Vendor::Generic, "m").idle;
    assert_eq!(limit, Duration::from_secs(300));
    // Money does not come back by waiting.
    let quota = r#"{"error":{"code":"insufficient_quota","message":"no credit"}}"#;
    let server = ByteServer::start([Answer::json(429, quota), says("never")]).unwrap();
    let outcome = over(&server).build().unwrap().run("What?").await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed);
    assert_eq!(server.received().len(), 1);
    // A server that cannot use what its model wrote is asked once more, otherwise.
    let fault = r#"{"error":{"message":"The model produced output that does not match the expected peg-native format"}}"#;
    let server = ByteServer::start([Answer::json(500, fault), says("fine")]).unwrap();
    let outcome = over(&server).build().unwrap().run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "fine");
    let sent = server.received();
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0].body, sent[1].body, "a changed request");
}

#[tokio::test]
async fn l21_s19_after_a_stall_only_what_nobody_saw_is_asked_for_again() {
    let half = json!({"tool_calls": [
        {"index": 0, "id": "c", "function": {"name": "lookup", "arguments": "{\"q"}}
    ]});
    for (hidden, sent) in [
        (json!({"reasoning_content": "hm "}), "reasoning"),
        (half, "half a call"),
    ] {
        let stalled = Answer::sse([delta(hidden, None)]).stall();
        let server = ByteServer::start([stalled, says("It is 7.")]).unwrap();
        let fakes = fakes();
        let agent = impatient(&server).tools(fakes.registry);
        let outcome = agent.build().unwrap().run("What?").await;
        assert_eq!(outcome.answer().unwrap(), "It is 7.", "{sent}");
        let received = server.received();
        assert_eq!(received.len(), 2, "{sent}");
        let tools = |at: usize| received[at].json()["tools"].to_string();
        assert_eq!(tools(0), tools(1), "the same list");
        assert_eq!(
            fakes.runs.load(Ordering::SeqCst),
            0,
            "half a call is no call"
        );
    }
    let stalled = Answer::sse([delta(json!({"content": "It is "}), None)]).stall();
    let server = ByteServer::start([stalled, says("It is 7.")]).unwrap();
    let kept = Kept::default();
    let agent = impatient(&server)
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed);
    assert_eq!(server.received().len(), 1, "prose was shown");
    assert_eq!(outcome.report().partial.as_deref(), Some("It is"));
}

#[tokio::test]
async fn l22_an_error_in_a_good_status_or_in_the_stream_is_an_error() {
    let error = json!({"error": {"code": 502, "message": "upstream broke"}}).to_string();
    let quiet = [
        Answer::json(200, error.clone()),
        Answer::sse([error.clone()]),
        Answer::sse([delta(json!({}), Some("error"))]),
        // No end at all.
        Answer::sse([delta(json!({"role": "assistant"}), None)]),
    ];
    for (at, answer) in quiet.into_iter().enumerate() {
        let server = ByteServer::start([answer, says("fine")]).unwrap();
        let outcome = over(&server).build().unwrap().run("What?").await;
        assert_eq!(outcome.answer().unwrap(), "fine", "answer {at}");
        assert_eq!(server.received().len(), 2, "answer {at}");
    }
    // After text there is no way but to say so.
    let text = delta(json!({"content": "It is "}), None);
    let server = ByteServer::start([Answer::sse([text, error]), says("never")]).unwrap();
    let outcome = over(&server).build().unwrap().run("What?").await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed);
    assert!(
        outcome.reason().unwrap().contains("upstream broke"),
        "{:?}",
        outcome.reason()
    );
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn l25_signed_thoughts_go_back_to_who_made_them_and_to_nobody_else() {
    let thinking = Answer::sse([
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIGNED"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"lookup","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let fine = Answer::sse([
        r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"fine"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let server = ByteServer::start([thinking, fine]).unwrap();
    let mut options = RemoteOptions::new(Wire::Messages, "m")
        .base_url(server.url(""))
        .key(Key::new("sk-very-secret"));
    options.retry = quick();
    let model = Arc::new(RemoteModel::new(options).unwrap());
    let agent = Agent::builder(model)
        .tools(fakes().registry)
        .build()
        .unwrap();
    let outcome = agent.run("What?").await;
    assert_eq!(outcome.answer().unwrap(), "fine");
    let back = &server.received()[1].json()["messages"][1]["content"];
    assert_eq!(back[0]["type"], "thinking", "{back}");
    assert_eq!(back[0]["signature"], "SIGNED");
    assert_eq!(back[1]["type"], "tool_use");
    let other = ByteServer::start([says("fine, too")]).unwrap();
    let agent = over(&other).build().unwrap();
    let run = agent.begin(outcome.report().history.clone(), "And now?", None);
    assert!(agent.drive(run, &Wanted::text()).await.answer().is_some());
    let sent = &other.received()[0];
    assert!(!sent.text().contains("SIGNED"), "{}", sent.text());
    assert_in_order(sent);
}

/// What fifty runs at once may hold open, both ends counted and connections that were
/// opened while another one came free.
const MOST_SOCKETS: usize = 4 * 50;

/// Fifty at once against a server of which every twentieth answer fails in each way.
#[test]
fn p38_fifty_runs_at_once_end_right_and_leave_nothing_behind() {
    // What the process holds can only be told where no other test runs in it.
    if std::env::var_os("TOOLCRIB_TEST_ALONE").is_none() {
        let name = "wire::p38_fifty_runs_at_once_end_right_and_leave_nothing_behind";
        let alone = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name])
            .env("TOOLCRIB_TEST_ALONE", "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&alone.stdout);
        assert!(
            alone.status.success() && told.contains("1 passed"),
            "{told}"
        );
        return;
    }
    let seen: Mutex<std::collections::BTreeSet<(String, usize)>> = Mutex::default();
    let server = ByteServer::serve(move |sent| {
        let body = sent.json();
        let messages = body["messages"].as_array().unwrap();
        let asked = messages.iter().find(|m| m["role"] == "user").unwrap();
        let asked = asked["content"].as_str().unwrap().to_owned();
        let number: u32 = asked.rsplit(' ').next().unwrap().parse().unwrap();
        // Each fault once, so that no run is unlucky twice.
        if seen.lock().unwrap().insert((asked, messages.len())) {
            match number % 20 {
                3 => return Answer::json(503, r#"{"error":{"message":"later"}}"#),
                8 => return Answer::hang_up(),
                13 => {
                    return Answer::sse([delta(json!({"reasoning_content": "hm"}), None)]).close();
                }
                18 => return Answer::json(429, "{}").header("retry-after", "0"),
                _ => {}
            }
        }
        let body = sent.json();
        let messages = body["messages"].as_array().unwrap();
        match messages.last().unwrap()["role"].as_str() {
            Some("tool") => {
                let asked = messages.iter().find(|m| m["role"] == "user").unwrap();
                says(&format!("answer to {}", asked["content"].as_str().unwrap()))
            }
            _ => calls(&[("lookup", json!("{}"))], "tool_calls"),
        }
    })
    .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let fakes = fakes();
    let agent = Agent::builder(chat(&server)).tools(fakes.registry);
    let agent = Arc::new(agent.build().unwrap());
    let batch = |from: u32| {
        runtime.block_on(async {
            let runs: Vec<_> = (from..from + 50)
                .map(|n| {
                    let agent = Arc::clone(&agent);
                    tokio::spawn(async move { (n, agent.run(&format!("question {n}")).await) })
                })
                .collect();
            for run in runs {
                let (n, outcome) = run.await.unwrap();
                let answer = outcome.answer().map(String::as_str);
                assert_eq!(answer, Some(&*format!("answer to question {n}")));
                assert_eq!(outcome.report().calls, 1);
            }
        });
    };
    batch(0);
    let before = resident();
    (1..4).for_each(|n| batch(n * 50));
    assert_eq!(fakes.runs.load(Ordering::SeqCst), 200, "each call ran once");
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 16 * 1024,
        "{grown} KiB more after three times as many"
    );
    let held = sockets(server.address().port());
    assert!(held <= MOST_SOCKETS, "{held} sockets for fifty runs");
    let port = server.address().port();
    drop(agent);
    // Connections that wait for another request have a task each until they are closed.
    let until = std::time::Instant::now() + Duration::from_secs(60);
    drop(server);
    while runtime.metrics().num_alive_tasks() > 0 || sockets(port) > 0 {
        let left = (runtime.metrics().num_alive_tasks(), sockets(port));
        assert!(
            std::time::Instant::now() < until,
            "tasks and sockets are left: {left:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Descriptors of this process that are sockets with this port at one of their ends;
/// 0 where that is not known. Both ends of a connection are here, and other tests
/// have descriptors of their own.
fn sockets(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").unwrap_or_default();
    let port = format!(":{port:04X}");
    let of_port: std::collections::BTreeSet<String> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row.len() > 9 && (row[1].ends_with(&port) || row[2].ends_with(&port)))
        .map(|row| format!("socket:[{}]", row[9]))
        .collect();
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|link| of_port.contains(&*link.to_string_lossy()))
        .count()
}

/// Memory in use, in KiB; 0 where it is not known.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}
