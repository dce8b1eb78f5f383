//! Agents as plain models, against one that plays each scenario.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolcrib_core::{
    Finish, History, Message, Model, ModelError, ModelErrorKind as Kind, Reply, ReplyEvent,
    Request, ToolChoice, ToolResult, TurnPlan,
};
use toolcrib_models::{AcpModel, ModelSpec, TextTools};

use crate::fake_agent::command;
use crate::support::{runtime, spec};

struct World {
    dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn new() -> World {
        World {
            dir: tempfile::tempdir().unwrap(),
            runtime: runtime(),
        }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn agent(&self, scenario: &str) -> AcpModel {
        AcpModel::new(&command(scenario, &self.log())).unwrap()
    }

    fn messages(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log()).unwrap();
        let lines = text.lines();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    fn ask(&self, model: &dyn Model, history: &History) -> (Result<Reply, ModelError>, String) {
        let plan = TurnPlan::new("Be brief.", Vec::new());
        let mut shown = String::new();
        let request = Request {
            plan: &plan,
            history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        };
        let result = self.runtime.block_on(model.stream(request, &mut |event| {
            if let ReplyEvent::Text(text) = event {
                shown.push_str(text);
            }
        }));
        (result, shown)
    }

    fn first(&self, model: &dyn Model) -> Result<Reply, ModelError> {
        self.ask(model, &hello()).0
    }

    fn error(&self, scenario: &str) -> ModelError {
        let error = self.first(&self.agent(scenario)).unwrap_err();
        assert!(!error.retryable, "{error}");
        assert!(!error.message.contains('\n'), "{error}");
        error
    }
}

fn hello() -> History {
    [Message::user("Hello?")].into_iter().collect()
}

#[test]
fn p35_an_agent_answers_and_its_session_is_gone_on_with() {
    let world = World::new();
    let model = world.agent("plain");
    let (reply, shown) = world.ask(&model, &hello());
    let reply = reply.unwrap();
    assert_eq!(reply.message.text(), "Hello number 1.");
    assert_eq!(
        (shown.as_str(), &reply.finish),
        ("Hello number 1.", &Finish::Stop)
    );
    assert_eq!((reply.usage.input, reply.cost), (None, None));

    let mut history = hello();
    history.push(Message::Assistant(reply.message));
    history.push(Message::user("And now?"));
    let (reply, _) = world.ask(&model, &history);
    assert_eq!(reply.unwrap().message.text(), "Hello number 2.");
    // Another conversation is another session.
    world.first(&model).unwrap();
    let prompts: Vec<(Value, usize)> = world
        .messages()
        .iter()
        .filter(|message| message["method"] == "session/prompt")
        .map(|message| {
            let blocks = message["params"]["prompt"].as_array().unwrap();
            (message["params"]["sessionId"].clone(), blocks.len())
        })
        .collect();
    let expected = [("s1", 2), ("s1", 1), ("s2", 2)];
    assert_eq!(prompts, expected.map(|(session, n)| (session.into(), n)));
    let init = &world.messages()[0];
    let none = serde_json::json!({"readTextFile": false, "writeTextFile": false});
    assert_eq!(init["params"]["clientCapabilities"]["fs"], none);
}

#[test]
fn p35_a_tool_call_comes_out_of_plain_text_and_its_result_goes_back() {
    let world = World::new();
    let model = TextTools::new(Arc::new(world.agent("call")));
    let plan = TurnPlan::new("", vec![spec("read")]);
    let ask = |history: &History| {
        let request = Request {
            plan: &plan,
            history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        };
        let mut ignore = |_: ReplyEvent<'_>| {};
        let asked = model.stream(request, &mut ignore);
        world.runtime.block_on(asked).unwrap()
    };
    let reply = ask(&hello());
    let call = reply.message.calls().next().unwrap().clone();
    assert_eq!((&*call.name, &*call.arguments), ("read", r#"{"path":"a"}"#));
    assert_eq!(reply.finish, Finish::ToolCalls);
    let mut history = hello();
    history.push(Message::Assistant(reply.message));
    history.push(Message::Tool(ToolResult::text(&call, "hi", false)));
    assert_eq!(ask(&history).message.text(), "It says hi.");
    let sessions = world.messages();
    let sessions = sessions.iter().filter(|m| m["method"] == "session/new");
    assert_eq!(sessions.count(), 1);
}

#[test]
fn p35_noise_unknown_updates_and_unknown_reasons_do_not_hang() {
    let world = World::new();
    let model = world.agent("noise");
    let reply = world.first(&model).unwrap();
    assert_eq!(reply.message.text(), "fine");
    assert_eq!(reply.finish, Finish::Other("end_of_mood".into()));
    assert_eq!(reply.cost.unwrap().usd, 0.25);
    let mut history = hello();
    history.push(Message::Assistant(reply.message));
    history.push(Message::user("More?"));
    // What the session costs in all is not what this turn does.
    let reply = world.ask(&model, &history).0.unwrap();
    assert_eq!(reply.cost.unwrap().usd, 0.25);
}

#[test]
fn p35_permission_is_refused_at_once() {
    let world = World::new();
    let reply = world.first(&world.agent("permission")).unwrap();
    let said: Value = serde_json::from_str(&reply.message.text()).unwrap();
    let expected = serde_json::json!({"outcome": {"outcome": "selected", "optionId": "no"}});
    assert_eq!(said, expected);
    let log = std::fs::read_to_string(world.log()).unwrap();
    let waited = log.split("answered after ").nth(1).unwrap();
    let waited: u64 = waited.split(' ').next().unwrap().parse().unwrap();
    assert!(waited < 1000, "{waited} ms");

    let error = world.error("silent");
    assert_eq!(error.kind, Kind::ModelFault);
    assert_eq!(
        error.message,
        "the agent env wanted to use \"rm -rf /\", which was refused, and said nothing; configure it without tools of its own"
    );
}

#[test]
fn p35_requests_of_the_agent_may_carry_our_own_ids() {
    let world = World::new();
    let reply = world.first(&world.agent("collide")).unwrap();
    assert_eq!(reply.message.text(), "fine");
}

#[test]
fn p35_an_agent_that_exits_mid_turn_is_an_error_and_started_again() {
    let world = World::new();
    let model = world.agent("exit");
    for _ in 0..2 {
        let error = world.first(&model).unwrap_err();
        assert_eq!(error.kind, Kind::Interrupted);
        assert_eq!(
            error.message,
            "the agent env failed the prompt: it ended with exit status: 3: fatal: out of luck; ask again"
        );
    }
}

#[test]
fn p35_an_error_that_came_as_a_chunk_is_no_answer() {
    let world = World::new();
    let error = world.error("error");
    assert!(
        error.message.starts_with(
            "the agent env failed the prompt: Internal error: API Error: 422 the request is odd; "
        ),
        "{error}"
    );
}

#[test]
fn p35_what_keeps_an_agent_from_starting_is_told() {
    let world = World::new();
    let error = world.error("auth");
    assert_eq!(error.kind, Kind::Auth);
    assert_eq!(
        error.message,
        "the agent env wants a login; start it by itself and log in (A key of Example), or set its key"
    );
    let error = world.error("version");
    assert_eq!(error.kind, Kind::Unsupported);
    assert!(error.message.contains("protocol version 7"), "{error}");
    assert!(error.message.ends_with("; use another version of it"));
    let error = world.error("gone");
    assert_eq!(error.kind, Kind::Interrupted);
    let model = AcpModel::new("no-such-agent-anywhere acp").unwrap();
    let error = world.first(&model).unwrap_err();
    assert_eq!(error.kind, Kind::Connect);
    assert!(
        error
            .message
            .starts_with("the agent no-such-agent-anywhere cannot be started: ")
    );
    assert!(
        error
            .message
            .ends_with("; is it installed and on the PATH?")
    );
    // A program that is no agent at all.
    let error = world.first(&AcpModel::new("true").unwrap()).unwrap_err();
    assert_eq!(
        error.message,
        "the agent true refused to start: it ended with exit status: 0; start it by itself to see why"
    );
    let error = world.first(&AcpModel::new("cat").unwrap()).unwrap_err();
    assert_eq!(
        error.message,
        "the agent cat refused to start: Method not found: initialize; start it by itself to see why"
    );
}

/// Drops the request when the first text comes.
fn cancelled(world: &World, model: &AcpModel) {
    let plan = TurnPlan::new("", Vec::new());
    let history = hello();
    let request = Request {
        plan: &plan,
        history: &history,
        tool_choice: &ToolChoice::Auto,
        max_output_tokens: None,
    };
    let (seen, wait) = tokio::sync::oneshot::channel();
    let mut seen = Some(seen);
    let mut on_event = |event: ReplyEvent<'_>| {
        if let (ReplyEvent::Text(_), Some(seen)) = (event, seen.take()) {
            let _ = seen.send(());
        }
    };
    world.runtime.block_on(async {
        tokio::select! {
            reply = model.stream(request, &mut on_event) => panic!("{reply:?}"),
            _ = wait => {}
        }
    });
}

#[test]
fn p35_p14_a_cancelled_turn_is_given_up_and_the_next_prompt_answered() {
    let world = World::new();
    let model = world.agent("hang");
    cancelled(&world, &model);
    let reply = world.first(&model).unwrap();
    assert_eq!(reply.message.text(), "Here I am.");
    let messages = world.messages();
    let of = |method: &str| {
        let found = messages.iter().filter(|m| m["method"] == method);
        found.count()
    };
    assert_eq!(
        (of("session/cancel"), of("session/new"), of("initialize")),
        (1, 2, 1)
    );

    // One that does not listen is ended and started anew.
    let world = World::new();
    let model = world.agent("deaf");
    cancelled(&world, &model);
    let error = world
        .ask(&model.idle(Duration::from_millis(200)), &hello())
        .0;
    let error = error.unwrap_err();
    assert_eq!(error.kind, Kind::Idle, "{error}");
    assert!(error.message.contains("gave no sign of life for 0.2 s"));
}

#[cfg(target_os = "linux")]
#[test]
fn p35_p14_whatever_an_agent_started_ends_with_it() {
    let world = World::new();
    let model = world.agent("fork");
    world.first(&model).unwrap();
    let log = std::fs::read_to_string(world.log()).unwrap();
    let child = log.split("child ").nth(1).unwrap();
    let child = child.lines().next().unwrap();
    let alive = || {
        let stat = std::fs::read_to_string(Path::new("/proc").join(child).join("stat"));
        // A zombie waits for its new parent and does nothing more.
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    assert!(alive());
    drop(model);
    assert!((0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !alive()
    }));
}

#[test]
fn p35_an_agent_is_named_on_the_command_line() {
    let world = World::new();
    let text = format!("acp:{}", command("plain", &world.log()));
    let spec = ModelSpec::parse(&text).unwrap();
    assert_eq!(spec.to_string(), text);
    let model = spec.build(&|_| None).unwrap();
    assert!(model.profile().native_tools);
    assert_eq!(&*model.profile().id, text);
    assert_eq!(
        world.first(&*model).unwrap().message.text(),
        "Hello number 1."
    );
}
