//! A whole agent out of this crate alone, as a program outside would write it.

use std::sync::{Arc, Mutex};

use toolcrib::graph::{GraphTools, Lookup, ScanOptions, Snapshot};
use toolcrib::mcp::{Fleet, FleetOptions};
use toolcrib::models::{
    AcpModel, ChatModel, ChatOptions, Key, LoadRoute, Model, ModelSpec, RemoteModel, RemoteOptions,
    ScriptModel, TextTools, Vendor, Wire,
};
use toolcrib::session::{DiskSpill, Meta, Session, SessionLog};
use toolcrib::surface::SurfacePolicy;
use toolcrib::{
    Agent, Arguments, BoxFuture, Budget, Effect, Event, Exposure, PolicyApprover, Registry, Schema,
    Selector, Tool, ToolContext, ToolError, ToolName, ToolOutput, ToolSpec, answer_of, argument,
    tool,
};

/// What is wanted to know.
#[argument]
#[derive(Debug, PartialEq)]
struct Found {
    /// Where it stands.
    file: String,
    sum: i64,
}

/// Adds two numbers and keeps the sum.
#[tool(effect = "write")]
async fn keep_sum(#[state] kept: &Arc<Mutex<i64>>, a: i64, b: i64) -> i64 {
    *kept.lock().unwrap() = a + b;
    a + b
}

/// One of thousands, written by hand.
struct Filler(Arc<ToolSpec>);

impl Tool for Filler {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(std::future::ready(Ok(ToolOutput::text("done"))))
    }
}

fn filler(n: usize) -> Arc<dyn Tool> {
    let name = ToolName::parse(&format!("ledger_{n}")).unwrap();
    let spec = ToolSpec::new(name, format!("Reads ledger {n}."), Schema::empty());
    Arc::new(Filler(Arc::new(
        spec.effect(Effect::ReadOnly).exposure(Exposure::Deferred),
    )))
}

const SCRIPT: &str = concat!(
    r#"{"calls":[{"name":"search_symbols","arguments":{"query":"add"}},"#,
    r#"{"name":"keep_sum","arguments":{"a":2,"b":3}}]}"#,
    "\n",
    r#"{"text":"{\"file\":\"lib.rs\",\"sum\":5}"}"#,
    "\n",
);

#[tokio::test(flavor = "current_thread")]
async fn a_program_needs_no_other_crate_for_an_agent_with_all_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let repo = dir.path().join("repo");
    std::fs::create_dir(&repo).unwrap();
    std::fs::write(repo.join("lib.rs"), "pub fn add() {}\n").unwrap();
    let script = dir.path().join("script.jsonl");
    std::fs::write(&script, SCRIPT).unwrap();

    let kept = Arc::new(Mutex::new(0));
    let mut tools = Registry::new();
    tools.insert(keep_sum::tool(Arc::clone(&kept))).unwrap();
    let snapshot = Snapshot::load(&repo, &ScanOptions::default()).unwrap();
    let lookup = Arc::new(Lookup::new(Arc::new(snapshot.graph)));
    tools.extend(&GraphTools::new(lookup).unwrap()).unwrap();
    let fleet = Fleet::new(Vec::new(), FleetOptions::default());
    tools.extend(&toolcrib::mcp::tools(&fleet)).unwrap();
    for n in 0..2000 {
        tools.insert(filler(n)).unwrap();
    }

    let model: Arc<dyn Model> = Arc::new(ScriptModel::open(script.to_str().unwrap()).unwrap());
    let meta = Meta::new(model.profile().id.clone());
    let log = SessionLog::create(&dir.path().join("sessions"), meta).unwrap();
    let written = log.path().to_owned();
    let events = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&events);
    let agent = Agent::builder(model)
        .tools(tools)
        .surface(SurfacePolicy::default())
        .approver(Arc::new(PolicyApprover::allowing([Selector(
            "keep_sum".into(),
        )])))
        .budget(Budget::rounds(4))
        .spill(Arc::new(DiskSpill::beside(log.path())))
        .session(log)
        .sink(Arc::new(move |_: &Event| *counted.lock().unwrap() += 1))
        .build()
        .unwrap();
    assert!(agent.plan().tools().len() < 50);
    let outcome = agent
        .run_typed("Where is add, and what is 2 + 3?", &answer_of::<Found>())
        .await;
    let expected = Found {
        file: "lib.rs".to_owned(),
        sum: 5,
    };
    assert_eq!(outcome.into_answer(), Some(expected));
    assert_eq!(*kept.lock().unwrap(), 5);
    assert!(*events.lock().unwrap() > 5);
    let session = Session::read(&written).unwrap();
    let text = format!("{:?}", session.history());
    assert!(text.contains("lib.rs") && text.contains("2 + 3"), "{text}");
}

#[test]
fn each_wire_is_in_reach() {
    let mut ids: Vec<String> = Vec::new();
    let mut add = |model: &dyn Model| ids.push(model.profile().id.to_string());
    for wire in [Wire::Messages, Wire::Responses, Wire::Gemini] {
        let mut options = RemoteOptions::new(wire, "m").key(Key::new("k"));
        options.load_route = LoadRoute::Append;
        add(&RemoteModel::new(options).unwrap());
    }
    let chat = ChatOptions::new(Vendor::Ollama, "m");
    add(&TextTools::new(Arc::new(ChatModel::new(chat).unwrap())));
    add(&AcpModel::new("some-agent acp").unwrap());
    add(&*ModelSpec::parse("builtin:navigator")
        .unwrap()
        .build(&|_| None)
        .unwrap());
    assert_eq!(
        ids,
        [
            "anthropic:m",
            "openai:m",
            "gemini:m",
            "ollama:m",
            "acp:some-agent acp",
            "builtin:navigator"
        ]
    );
}
