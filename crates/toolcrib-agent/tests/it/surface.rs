//! Tools that are deferred, found and loaded in the course of runs.

use std::sync::Arc;

use toolcrib_agent::{Agent, AgentBuilder, Budget, Event};
use toolcrib_core::{
    CancellationToken, Exposure, FinalRound, LoadRoute, Message, ModelProfile, Registry, SourceId,
    ToolChoice, ToolName, ToolOutput,
};
use toolcrib_session::{Meta, Row, Session, SessionLog, SessionStore};
use toolcrib_surface::{Reading, SurfacePolicy, SurfaceState};
use toolcrib_testkit::scripted::{Recorded, ScriptedModel, Turn};
use toolcrib_testkit::tools::{FakeTool, Record};

use crate::support::*;

fn name(name: &str) -> ToolName {
    ToolName::parse(name).unwrap()
}

pub(crate) fn deferred(name: &str) -> FakeTool {
    FakeTool::echo(name).with_spec(|spec| {
        spec.exposure(Exposure::Deferred)
            .source(SourceId::new("server"))
    })
}

fn registry(tools: impl IntoIterator<Item = FakeTool>) -> Registry {
    let mut registry = Registry::new();
    for tool in tools {
        registry.insert(Arc::new(tool)).unwrap();
    }
    registry
}

/// `e`, always sent, and the deferred `a`, `b` and `c`.
fn tools() -> Registry {
    registry(
        ["a", "b", "c"]
            .map(deferred)
            .into_iter()
            .chain([FakeTool::echo("e")]),
    )
}

/// No prompt is read, so that nothing is loaded but by the model.
fn policy() -> SurfacePolicy {
    SurfacePolicy {
        reading: false,
        ..SurfacePolicy::default()
    }
}

fn agent_with(model: &Arc<ScriptedModel>, tools: Registry) -> AgentBuilder {
    Agent::builder(model.clone()).tools(tools).surface(policy())
}

fn select(names: &str) -> Turn {
    Turn::calls([("tool_search", &*format!(r#"{{"query":"select:{names}"}}"#))])
}

fn listed(request: &Recorded) -> Vec<&str> {
    request.tools.iter().map(|name| &**name).collect()
}

fn results(messages: &[Message]) -> Vec<(String, bool)> {
    let results = messages.iter().filter_map(|message| match message {
        Message::Tool(result) => Some((joined(&result.content), result.is_error)),
        _ => None,
    });
    results.collect()
}

#[tokio::test]
async fn s13_a_found_tool_is_sent_from_the_next_request_on() {
    let model = model([select("a"), Turn::calls([("a", "{}")]), Turn::text("Done.")]);
    let agent = agent_with(&model, tools()).build().unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(outcome.answer().unwrap(), "Done.");
    let requests = model.requests();
    assert_eq!(listed(&requests[0]), ["e", "tool_search"]);
    assert_eq!(listed(&requests[1]), ["e", "tool_search", "a"]);
    // A request after a batch that loads nothing has the very same plan.
    assert_eq!(listed(&requests[2]), listed(&requests[1]));
    assert!(!requests[1].same_plan && requests[2].same_plan);
    assert_eq!(outcome.report().surface.loaded(), [name("a")]);
}

#[tokio::test]
async fn s14_later_loads_are_appended_and_earlier_messages_stay() {
    let both = Turn::calls([
        ("tool_search", r#"{"query":"select:c"}"#),
        ("tool_search", r#"{"query":"select:a"}"#),
    ]);
    let model = model([select("b"), both, Turn::text("Done.")]);
    let kept = Kept::default();
    let agent = agent_with(&model, tools())
        .sink(Arc::new(kept.clone()))
        .build()
        .unwrap();
    let _ = agent.run("Go.").await;
    let requests = model.requests();
    assert_eq!(listed(&requests[1]), ["e", "tool_search", "b"]);
    assert_eq!(listed(&requests[2]), ["e", "tool_search", "b", "c", "a"]);
    for pair in requests.windows(2) {
        assert_eq!(pair[0].system, pair[1].system);
        let count = pair[0].messages.len();
        assert_eq!(pair[0].messages[..], pair[1].messages[..count]);
    }
    // Loads of one batch are one change.
    let changes: Vec<String> = kept
        .all()
        .iter()
        .filter_map(|event| match event {
            Event::SurfaceChanged { reason, .. } => Some(reason.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(changes, ["initial", "tools, schemas", "tools, schemas"]);
}

#[tokio::test]
async fn s16_the_catalogue_is_in_no_message() {
    let model = model([select("a"), Turn::text("Done.")]);
    let agent = agent_with(&model, tools()).build().unwrap();
    let catalogue = agent.plan().loader_tools()[0].description.clone();
    assert!(catalogue.contains("Tools to load"));
    let outcome = agent.run("Go.").await;
    let last = model.requests().pop().unwrap();
    let history: Vec<Message> = outcome.report().history.messages().cloned().collect();
    for message in last.messages.iter().chain(&history) {
        let text = serde_json::to_string(message).unwrap();
        assert!(!text.contains("Tools to load"), "{text}");
        if matches!(message, Message::User(_)) {
            assert!(!text.contains("A fake tool"), "{text}");
        }
    }
}

#[tokio::test]
async fn s20_the_final_request_reuses_the_plan_of_the_turn_before() {
    for (rule, choice) in [
        (FinalRound::Keep, ToolChoice::None),
        (FinalRound::Withhold, ToolChoice::Withhold),
    ] {
        let mut profile = ModelProfile::new("script:memory");
        profile.final_round = rule;
        let model = ScriptedModel::new([select("a"), select("b"), Turn::text("Done.")]);
        let model = Arc::new(model.with_profile(profile));
        let agent = agent_with(&model, tools())
            .budget(Budget::rounds(3))
            .build()
            .unwrap();
        let outcome = agent.run("Go.").await;
        let requests = model.requests();
        assert_eq!(requests[2].tool_choice, choice);
        assert!(requests[2].same_plan);
        assert_eq!(listed(&requests[2]), ["e", "tool_search", "a"]);
        // What could not be used any more is loaded all the same.
        assert_eq!(outcome.report().surface.loaded(), ["a", "b"].map(name));
    }
}

#[tokio::test]
async fn s21_a_load_beside_a_call_that_ends_the_run_is_recorded() {
    let token = CancellationToken::new();
    let stop = token.clone();
    let halt = FakeTool::new("halt", move |_, _| {
        stop.cancel();
        async { Ok(ToolOutput::text("halted")) }
    });
    let batch = Turn::calls([("tool_search", r#"{"query":"select:b"}"#), ("halt", "{}")]);
    let model = model([batch, Turn::text("never")]);
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    let tools = registry(["a", "b", "c"].map(deferred).into_iter().chain([halt]));
    let agent = agent_with(&model, tools)
        .session(log.clone())
        .cancel(token)
        .build()
        .unwrap();
    let outcome = agent.run("Go.").await;
    assert_eq!(model.requests().len(), 1);
    assert_eq!(outcome.report().surface.loaded(), [name("b")]);
    let session = Session::read(log.path()).unwrap();
    assert_eq!(session.activated(), [name("b")]);
}

#[tokio::test]
async fn s22_a_reopened_session_goes_on_with_what_it_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    let first = model([select("c"), select("a"), Turn::text("Done.")]);
    let agent = agent_with(&first, tools()).session(log.clone()).build();
    let _ = agent.unwrap().run("Go.").await;

    let session = Session::read(log.path()).unwrap();
    let reasons: Vec<&str> = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::Plan(row) => Some(&*row.reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, ["initial", "tools, schemas", "tools, schemas"]);
    let calls = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::Activation(row) => row.call_id.clone(),
            _ => None,
        });
    assert_eq!(calls.count(), 2);

    let next = model([Turn::text("Again.")]);
    let agent = agent_with(&next, tools()).build().unwrap();
    let state = SurfaceState::restored(session.activated());
    let run = agent.begin_from(session.history(), state, "And?", None);
    // A run that is stored on the way keeps it too.
    let run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    let _ = agent.drive(run, &toolcrib_agent::Answer::text()).await;
    assert_eq!(listed(&next.requests()[0]), ["e", "tool_search", "c", "a"]);
}

#[tokio::test]
async fn s22_a_fork_has_what_was_loaded_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    let model = model([select("c"), select("a"), Turn::text("Done.")]);
    let agent = agent_with(&model, tools()).session(log.clone()).build();
    let _ = agent.unwrap().run("Go.").await;
    let session = Session::read(log.path()).unwrap();
    let loads = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::Activation(_) => Some(entry.line),
            _ => None,
        });
    let loads: Vec<u64> = loads.collect();
    let store = SessionStore::new(dir.path());
    for (line, loaded) in [
        (loads[0] - 1, vec![]),
        (loads[0], vec!["c"]),
        (loads[1], vec!["c", "a"]),
    ] {
        let fork = store.fork(&session, Some(line)).unwrap();
        let fork = Session::read(fork.path()).unwrap();
        let next = self::model([Turn::text("Again.")]);
        let agent = agent_with(&next, tools()).build().unwrap();
        let state = SurfaceState::restored(fork.activated());
        let run = agent.begin_from(fork.history(), state, "And?", None);
        let _ = agent.drive(run, &toolcrib_agent::Answer::text()).await;
        let listed = listed(&next.requests()[0]).join(" ");
        assert_eq!(
            listed,
            ["e", "tool_search"]
                .into_iter()
                .chain(loaded)
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
}

#[tokio::test]
async fn s23_a_second_prompt_begins_with_what_the_first_one_loaded() {
    let model = model([
        select("b"),
        Turn::text("One."),
        Turn::text("Two."),
        Turn::text("Apart."),
    ]);
    let agent = agent_with(&model, tools()).build().unwrap();
    let first = agent.run("Go.").await;
    let report = first.report();
    let run = agent.begin_from(report.history.clone(), report.surface.clone(), "And?", None);
    let _ = agent.drive(run, &toolcrib_agent::Answer::text()).await;
    assert_eq!(listed(&model.requests()[2]), ["e", "tool_search", "b"]);
    // A run of its own does not have it.
    let _ = agent.run("Go.").await;
    assert_eq!(listed(&model.requests()[3]), ["e", "tool_search"]);
}

#[tokio::test]
async fn s25_every_later_request_lists_what_was_loaded() {
    let look = || Turn::calls([("e", "{}")]);
    let model = model([select("b"), look(), look(), Turn::text("Done.")]);
    let agent = agent_with(&model, tools()).build().unwrap();
    let _ = agent.run("Go.").await;
    for request in &model.requests()[1..] {
        assert_eq!(listed(request), ["e", "tool_search", "b"]);
    }
}

#[tokio::test]
async fn s43_a_withheld_tool_that_is_called_runs_and_is_loaded() {
    let model = model([Turn::calls([("a", r#"{"q":1}"#)]), Turn::text("Done.")]);
    let agent = agent_with(&model, tools()).build().unwrap();
    let _ = agent.run("Go.").await;
    let requests = model.requests();
    let ran = results(&requests[1].messages);
    assert_eq!(ran.len(), 1);
    assert!(ran[0].0.starts_with(r#"{"q":1}"#) && !ran[0].1, "{ran:?}");
    assert_eq!(listed(&requests[1]), ["e", "tool_search", "a"]);
}

fn strict_town() -> (Registry, Record) {
    let schema = r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;
    let town = deferred("town").with_spec(|mut spec| {
        spec.input_schema = toolcrib_core::Schema::parse(schema).unwrap();
        spec
    });
    let record = town.record();
    let tools = registry(["a", "b"].map(deferred).into_iter().chain([town]));
    (tools, record)
}

#[tokio::test]
async fn s43_in_strict_mode_it_is_shown_first() {
    let (tools, record) = strict_town();
    let ask = || Turn::calls([("town", r#"{"town":"Ulm"}"#)]);
    let model = model([ask(), ask(), Turn::text("Done.")]);
    let strict = SurfacePolicy {
        strict_loading: true,
        ..policy()
    };
    let agent = Agent::builder(model.clone()).tools(tools).surface(strict);
    let _ = agent.build().unwrap().run("Go.").await;
    let requests = model.requests();
    let (first, is_error) = &results(&requests[1].messages)[0];
    assert!(is_error);
    insta::assert_snapshot!(first.split("\n\n[").next().unwrap());
    assert_eq!(listed(&requests[1]), ["tool_search", "town"]);
    assert_eq!(record.all(), [r#"{"town":"Ulm"}"#]);
}

#[tokio::test]
async fn s43_guessed_arguments_that_cannot_be_right_return_the_schema() {
    let (tools, record) = strict_town();
    let model = model([
        Turn::calls([("town", r#"{"city":"Ulm"}"#)]),
        Turn::text("Done."),
    ]);
    let agent = agent_with(&model, tools).build().unwrap();
    let _ = agent.run("Go.").await;
    let requests = model.requests();
    let (text, is_error) = &results(&requests[1].messages)[0];
    assert!(*is_error && text.contains("Its schema: {"), "{text}");
    assert_eq!(record.all(), [""; 0]);
    assert_eq!(listed(&requests[1]), ["tool_search", "town"]);
}

#[tokio::test]
async fn s44_a_search_and_a_call_of_what_it_finds_in_one_batch() {
    let batch = Turn::calls([("tool_search", r#"{"query":"select:a"}"#), ("a", "{}")]);
    let model = model([batch, Turn::text("Done.")]);
    let agent = agent_with(&model, tools()).build().unwrap();
    let outcome = agent.run("Go.").await;
    let requests = model.requests();
    let both = results(&requests[1].messages);
    assert_eq!(both.len(), 2);
    assert!(
        both[0].0.starts_with("Loaded") && !both[0].1 && !both[1].1,
        "{both:?}"
    );
    assert_eq!(listed(&requests[1]), ["e", "tool_search", "a"]);
    assert_eq!(outcome.report().surface.loaded(), [name("a")]);
}

#[tokio::test]
async fn s45_an_unknown_name_gets_near_ones_and_the_way_to_search() {
    let mut tools = tools();
    tools.insert(Arc::new(deferred("weather_lookup"))).unwrap();
    let model = model([Turn::calls([("weather_lokup", "{}")]), Turn::text("Done.")]);
    let agent = agent_with(&model, tools).build().unwrap();
    let _ = agent.run("Go.").await;
    let (text, is_error) = &results(&model.requests()[1].messages)[0];
    assert!(is_error);
    let text = text.split("\n\n[").next().unwrap();
    insta::assert_snapshot!(text, @"error: there is no tool `weather_lokup`. Did you mean `weather_lookup`? Other tools are found with `tool_search`.");
}

#[tokio::test]
async fn s70_names_that_cannot_be_activated_are_ignored_and_noted() {
    let activating = |tool: &str, declared: bool| {
        let fake = FakeTool::new(tool, |_, _| async {
            Ok(ToolOutput::text("ok").activating(["a", "gone"].map(name)))
        });
        match declared {
            true => fake.with_spec(|spec| spec.activating()),
            false => fake,
        }
    };
    for (declared, shown, ignored) in [
        (true, vec!["open", "tool_search", "a"], vec!["gone"]),
        (false, vec!["open", "tool_search"], vec!["a", "gone"]),
    ] {
        let open = activating("open", declared);
        let tools = registry(["a", "b", "c"].map(deferred).into_iter().chain([open]));
        let model = model([Turn::calls([("open", "{}")]), Turn::text("Done.")]);
        let kept = Kept::default();
        let agent = agent_with(&model, tools)
            .sink(Arc::new(kept.clone()))
            .build()
            .unwrap();
        let outcome = agent.run("Go.").await;
        assert_eq!(outcome.answer().unwrap(), "Done.");
        assert_eq!(listed(&model.requests()[1]), shown);
        let noted = kept.all().into_iter().find_map(|event| match event {
            Event::ToolCallFinished { ignored, .. } => Some(ignored),
            _ => None,
        });
        let ignored: Vec<ToolName> = ignored.into_iter().map(name).collect();
        assert_eq!(noted.unwrap(), ignored);
    }
}

#[tokio::test]
async fn s01_too_few_tools_are_sent_as_if_there_were_no_surface() {
    let few = || registry(["a", "b"].map(deferred));
    let model = model([Turn::text("One."), Turn::text("Two.")]);
    let with = agent_with(&model, few()).build().unwrap();
    let without = Agent::builder(model.clone()).tools(few()).build().unwrap();
    let _ = with.run("Go.").await;
    let _ = without.run("Go.").await;
    let requests = model.requests();
    assert_eq!(requests[0].fingerprint, requests[1].fingerprint);
    assert_eq!(requests[0].system, requests[1].system);
    assert_eq!(requests[0].messages, requests[1].messages);
    let report = with.surface_report().unwrap();
    assert!(!report.active && report.reason.is_some());
    assert!(without.surface_report().is_none());
}

#[tokio::test]
async fn s68_what_the_prompt_needs_is_there_in_the_first_request() {
    let rain = deferred("rain_forecast");
    let tools = || {
        let mut tools = tools();
        tools.insert(Arc::new(rain.clone())).unwrap();
        tools
    };
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    let model = model([select("a"), Turn::text("Wet."), Turn::text("Other.")]);
    let agent = Agent::builder(model.clone())
        .tools(tools())
        .surface(SurfacePolicy::default())
        .session(log.clone())
        .build()
        .unwrap();
    let outcome = agent.run("What is the rain forecast?").await;
    let first = &model.requests()[0];
    assert_eq!(
        listed(first),
        ["e", "read_result", "tool_search", "rain_forecast"]
    );
    let misreads = outcome.report().surface.misreads();
    assert_eq!((misreads.turns, misreads.misreads), (1, 1));
    let session = Session::read(log.path()).unwrap();
    assert_eq!(session.activated(), ["rain_forecast", "a"].map(name));

    // A caller can read prompts another way.
    let agent = Agent::builder(model.clone())
        .tools(tools())
        .surface(SurfacePolicy::default())
        .reader(|_| Reading {
            tools: vec![name("c")],
            ..Reading::default()
        })
        .build()
        .unwrap();
    let _ = agent.run("What is the rain forecast?").await;
    assert_eq!(listed(&model.requests()[2]), ["e", "tool_search", "c"]);
}

#[tokio::test]
async fn s69_a_misread_is_kept_in_the_session_and_summed_up() {
    let mut tools = tools();
    tools.insert(Arc::new(deferred("rain_forecast"))).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    // One that was predicted, one by a search, twice, one by a call, one that is always sent.
    let model = model([
        Turn::calls([("rain_forecast", "{}"), ("e", "{}")]),
        select("a"),
        Turn::calls([("a", "{}"), ("b", r#"{"q":1}"#)]),
        select("a"),
        Turn::text("Wet."),
        Turn::text("Nothing."),
    ]);
    let agent = Agent::builder(model)
        .tools(tools)
        .surface(SurfacePolicy::default())
        .session(log.clone())
        .build()
        .unwrap();
    let _ = agent.run("What is the rain forecast?").await;
    let _ = agent.run("zzz qqq").await;
    let session = Session::read(log.path()).unwrap();
    let readings = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::Reading(row) => Some(row.tools.clone()),
            _ => None,
        });
    let readings: Vec<_> = readings.collect();
    assert_eq!(readings, [vec![name("rain_forecast")], Vec::new()]);
    let misread = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::Activation(row) => Some((row.tools.clone(), row.misread.clone())),
            _ => None,
        });
    let alone = |tool: &str| vec![name(tool)];
    assert_eq!(
        misread.collect::<Vec<_>>(),
        [
            (alone("rain_forecast"), Vec::new()),
            (alone("a"), alone("a")),
            (alone("b"), alone("b")),
        ]
    );
    let summary = session.summary();
    let total = &summary.total;
    assert_eq!((total.readings, total.misreads), (2, 2));
    let wanted: Vec<(&str, u64)> = total.wanted.iter().map(|(t, n)| (&**t, *n)).collect();
    assert_eq!(wanted, [("a", 1), ("b", 1)]);
    assert_eq!(summary.runs[1].misreads, 0);
}

#[tokio::test]
async fn s52_where_the_provider_holds_deferred_tools_the_session_tells_when_they_change() {
    let dir = tempfile::tempdir().unwrap();
    let log = SessionLog::create(dir.path(), Meta::new("script:memory")).unwrap();
    let native = SurfacePolicy {
        route: Some(LoadRoute::Native),
        ..policy()
    };
    let other = deferred("a").with_spec(|mut spec| {
        spec.input_schema =
            toolcrib_core::Schema::parse(r#"{"type":"object","properties":{"new":{}}}"#).unwrap();
        spec
    });
    let changed = registry(
        ["b", "c"]
            .map(deferred)
            .into_iter()
            .chain([other, FakeTool::echo("e")]),
    );
    for tools in [tools(), tools(), changed] {
        let model = model([select("a"), Turn::text("Done.")]);
        let log = SessionLog::open(log.path()).unwrap();
        let agent = Agent::builder(model.clone())
            .tools(tools)
            .surface(native.clone())
            .session(log);
        let _ = agent.build().unwrap().run("Go.").await;
        // A load changes nothing that is cached.
        let requests = model.requests();
        assert_eq!(requests[0].fingerprint, requests[1].fingerprint);
    }
    let session = Session::read(log.path()).unwrap();
    let plans = session
        .entries()
        .iter()
        .filter_map(|entry| match &entry.row {
            Row::Plan(row) => Some(&row.fingerprint),
            _ => None,
        });
    let plans: Vec<_> = plans.collect();
    assert_eq!(plans[0].reason(None), "initial");
    assert_eq!(plans[1].reason(Some(plans[0])), "unchanged");
    assert_eq!(plans[2].reason(Some(plans[1])), "deferred");
}

#[tokio::test]
async fn s73_on_the_bridge_the_plan_never_changes() {
    let through = Turn::calls([("call_tool", r#"{"name":"a","arguments":{"q":1}}"#)]);
    let model = model([select("a"), through, Turn::text("Done.")]);
    let bridge = SurfacePolicy {
        route: Some(LoadRoute::Bridge),
        ..policy()
    };
    let agent = Agent::builder(model.clone()).tools(tools()).surface(bridge);
    let _ = agent.build().unwrap().run("Go.").await;
    let requests = model.requests();
    assert_prefixes(&requests);
    assert_eq!(listed(&requests[0]), ["e", "tool_search", "call_tool"]);
    let (text, is_error) = &results(&requests[2].messages)[1];
    assert!(text.starts_with(r#"{"q":1}"#) && !is_error, "{text}");
}

#[tokio::test]
async fn runs_of_one_agent_load_apart_from_each_other() {
    let model = Arc::new(ScriptedModel::from_fn(|request| {
        let first = joined(match &request.messages[0] {
            Message::User(content) => content,
            _ => &[],
        });
        if request.messages.len() == 1 {
            select(&first)
        } else {
            Turn::text(request.tools.last().unwrap().to_string())
        }
    }));
    let agent = agent_with(&model, tools()).build().unwrap();
    let (a, b, c) = tokio::join!(agent.run("a"), agent.run("b"), agent.run("c"));
    let answers = [a, b, c].map(|outcome| outcome.answer().unwrap().clone());
    assert_eq!(answers, ["a", "b", "c"]);
}
