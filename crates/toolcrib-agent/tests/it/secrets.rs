//! L16, L18 through a whole run: the session keeps whole results and no secrets.

use std::sync::Arc;

use toolcrib_agent::{Agent, AgentBuilder, Event, OutcomeKind};
use toolcrib_core::{Block, Finish, ModelErrorKind, ModelProfile, RawJson, Registry, ToolDialect};
use toolcrib_dispatch::Redactor;
use toolcrib_models::{Key, RemoteModel, RemoteOptions, Wire, check_request};
use toolcrib_session::{DiskSpill, Meta, Row, Session, SessionLog};
use toolcrib_testkit::scripted::{ScriptedModel, Turn};
use toolcrib_testkit::tools::FakeTool;
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

const KEY: &str = "s3cr3t-value-of-a-key";

/// An agent that knows the key, and keeps rows and events.
fn guarded(model: &Arc<ScriptedModel>, log: &SessionLog, kept: &Kept) -> AgentBuilder {
    agent(model)
        .redact(Redactor::standard().with_secret(KEY))
        .session(log.clone())
        .sink(Arc::new(kept.clone()))
}

#[tokio::test]
async fn l18_p36_a_server_that_echoes_the_key_gets_it_into_nothing() {
    let (front, back) = KEY.split_at(9);
    let model = model([
        Turn::blocks(
            [
                text("the key is "),
                text(front),
                text(back),
                text(" indeed"),
                Block::Reasoning {
                    text: format!("hm {KEY}").into(),
                    raw: Some(RawJson(format!("{{\"thought\":\"{KEY}\"}}").into())),
                },
                call("a", "lookup", &format!("{{\"q\":\"{KEY}\"}}")),
            ],
            Finish::ToolCalls,
        ),
        Turn::text(format!("It is {KEY}.")),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let kept = Kept::default();
    let agent = guarded(&model, &log, &kept).build().unwrap();
    let outcome = agent.run("What is the key?").await;
    assert_eq!(outcome.answer().unwrap(), "It is [redacted].");
    let session = std::fs::read_to_string(log.path()).unwrap();
    let events: String = kept.all().iter().map(Event::to_json).collect();
    let requests = format!("{:?}", model.requests());
    for place in [&session, &events, &requests] {
        assert!(place.contains("[redacted]"), "{place}");
        assert!(!place.contains(KEY), "{place}");
    }
    let shown: String = kept
        .all()
        .iter()
        .filter_map(|event| match event {
            Event::Text { text } => Some(text.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, "the key is [redacted] indeedIt is [redacted].");
}

#[tokio::test]
async fn l18_p36_what_a_provider_repeats_beside_its_reply_has_no_key_in_it() {
    let pasted = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let model = model([
        Turn::blocks(
            [call(pasted, "lookup", "{}"), call(KEY, "lookup", "{}")],
            Finish::Other(format!("stopped at {KEY}").into()),
        ),
        Turn::fail(
            ModelErrorKind::ModelFault,
            &format!("bad markup near {pasted}"),
        ),
        Turn::fail(ModelErrorKind::Auth, &format!("the key {KEY} is no key")),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let kept = Kept::default();
    let agent = guarded(&model, &log, &kept).build().unwrap();
    let outcome = agent.run("Where?").await;
    let session = std::fs::read_to_string(log.path()).unwrap();
    let all = kept.all();
    let events: String = all.iter().map(Event::to_json).collect();
    let retried = all.iter().any(|event| match event {
        Event::Retrying { reason, .. } => reason.starts_with("bad markup near [redacted]"),
        _ => false,
    });
    assert!(retried, "{events}");
    assert!(events.contains("stopped at [redacted]"), "{events}");
    let ended = format!("{outcome:?}");
    assert!(ended.contains("the key [redacted] is no key"), "{ended}");
    let results = session.matches(r#""row":"tool_result""#).count();
    assert_eq!(results, 2, "{session}");
    for place in [&session, &events, &ended] {
        assert!(!place.contains(pasted) && !place.contains(KEY), "{place}");
    }
}

/// Whoever pastes a key into a question does not mean it to be kept or passed on.
#[tokio::test]
async fn l18_p36_a_key_in_a_question_reaches_neither_model_nor_session_nor_events() {
    let pasted = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let model = model([look(), Turn::text("Use the new one.")]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let kept = Kept::default();
    let inbox = toolcrib_agent::Inbox::new();
    inbox.push(format!("And {pasted} or {KEY}?"));
    let agent = guarded(&model, &log, &kept).inbox(inbox).build().unwrap();
    let question = format!("Why is {pasted} refused, and {KEY} not?");
    let outcome = agent.run(&question).await;
    assert!(outcome.answer().is_some());
    let requests = model.requests();
    let asked = transcript(&requests[0].messages);
    assert_eq!(
        asked,
        "user: Why is [redacted] refused, and [redacted] not?\nuser: And [redacted] or [redacted]?"
    );
    let session = std::fs::read_to_string(log.path()).unwrap();
    let events: String = kept.all().iter().map(Event::to_json).collect();
    let history = format!("{:?}", outcome.report().history);
    for place in [&session, &events, &history, &format!("{requests:?}")] {
        assert!(place.contains("[redacted]"), "{place}");
        assert!(!place.contains(pasted) && !place.contains(KEY), "{place}");
    }
}

#[tokio::test]
async fn l16_a_cut_result_is_kept_beside_the_session_and_the_model_reads_on() {
    let whole: String = (0..9_000).map(|n| format!("line {n}\n")).collect();
    let mut registry = Registry::new();
    registry
        .insert(Arc::new(FakeTool::fixed("dump", &whole)))
        .unwrap();
    let handle = toolcrib_core::spill_handle(&whole);
    let read = format!(r#"{{"id":"{handle}","grep":"line 5000"}}"#);
    let model = model([
        Turn::calls([("dump", "{}")]),
        Turn::calls([("read_result", read.as_str())]),
        Turn::text("found"),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let agent = Agent::builder(model.clone())
        .tools(registry)
        .session(log.clone())
        .build()
        .unwrap();
    assert!(agent.run("Go.").await.answer().is_some());
    let requests = model.requests();
    let names: Vec<_> = requests[0].tools.iter().map(|name| &**name).collect();
    assert_eq!(names, ["dump", "read_result"]);
    let cut = joined(match &requests[1].messages[2] {
        toolcrib_core::Message::Tool(result) => &result.content,
        other => panic!("{other:?}"),
    });
    assert!(
        cut.contains(&format!(r#"read_result {{"id":"{handle}","offset":"#)),
        "{cut}"
    );
    let found = transcript(&requests[2].messages[4..5]);
    assert!(found.contains(": line 5000\n[1 match"), "{found}");
    // The session says where the whole of it is.
    let session = Session::read(log.path()).unwrap();
    let spilled: Vec<_> = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::ToolResult(row) => row.spill.clone(),
            _ => None,
        })
        .collect();
    assert_eq!(spilled, std::slice::from_ref(&handle));
    let file = DiskSpill::beside(log.path()).dir().join(&*handle);
    assert_eq!(std::fs::read_to_string(file).unwrap(), whole);
}

#[tokio::test]
async fn a_run_without_tools_has_no_reader_of_results() {
    let model = model([Turn::text("7")]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let agent = Agent::builder(model.clone()).session(log).build().unwrap();
    assert!(agent.run("Go.").await.answer().is_some());
    assert!(model.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn l18_a_key_in_a_call_runs_as_written_and_is_kept_nowhere() {
    let key = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let arguments = format!(r#"{{"q":"{key}"}}"#);
    let tool = FakeTool::echo("echo");
    let ran = tool.record();
    let mut registry = Registry::new();
    registry.insert(Arc::new(tool)).unwrap();
    let model = model([
        Turn::calls([("echo", arguments.as_str()), (key, "{}")]),
        Turn::text("Done."),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("m")).unwrap();
    let kept = Kept::default();
    let agent = Agent::builder(model)
        .tools(registry)
        .session(log.clone())
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    agent.run("Go.").await.into_answer().unwrap();
    assert!(format!("{:?}", ran.all()).contains(key));
    let session = std::fs::read_to_string(log.path()).unwrap();
    let events: String = kept.all().iter().map(Event::to_json).collect();
    for place in [&session, &events] {
        assert!(
            place.contains("[redacted]") && !place.contains(key),
            "{place}"
        );
    }
    let read = Session::read(log.path()).unwrap();
    let said: Vec<_> = read.history().messages().cloned().collect();
    assert_paired(&said);
    // Gone on with on every wire, what is left of the calls is sent as it must be.
    drop(agent);
    drop(log);
    for (wire, dialect) in [
        (Wire::Responses, ToolDialect::OpenAi),
        (Wire::Messages, ToolDialect::Anthropic),
        (Wire::Gemini, ToolDialect::Gemini),
    ] {
        let server = ByteServer::start([Answer::json(400, r#"{"error":{"message":"no"}}"#)]);
        let server = server.unwrap();
        let options = RemoteOptions::new(wire, "m").base_url(server.url(""));
        let model = RemoteModel::new(options.key(Key::new("sk-of-the-wire"))).unwrap();
        let log = SessionLog::open(read.path()).unwrap();
        let agent = Agent::builder(Arc::new(model)).tools(echo()).session(log);
        let agent = agent.build().unwrap();
        let run = agent.begin(
            Session::read(read.path()).unwrap().history(),
            "Again.",
            None,
        );
        let outcome = agent.drive(run, &toolcrib_agent::Answer::text()).await;
        assert_eq!(outcome.kind(), OutcomeKind::Failed, "the server says no");
        let mut profile = ModelProfile::new("test:m");
        profile.dialect = dialect;
        let sent = server.received().remove(0);
        assert_eq!(check_request(&profile, &sent.body), [], "{}", sent.text());
        assert!(sent.text().contains("[redacted]") && !sent.text().contains(key));
    }
}

fn echo() -> Registry {
    let mut registry = Registry::new();
    registry.insert(Arc::new(FakeTool::echo("echo"))).unwrap();
    registry
}
