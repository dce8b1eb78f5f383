//! What servers ask of their clients, in both eras.

use serde_json::{Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;

use super::kit::{Gate, entry, text};
use crate::world::World;

const ASK: &str = "elicitation/create";

fn ask(gate: &mut Gate, method: &str) -> u64 {
    gate.ask(
        "tools/call",
        json!({"name": "call_tool", "arguments": {"name": "f__ask", "arguments": {"method": method}}}),
    )
}

#[test]
fn m23_a_server_is_told_its_callers_capabilities_and_its_questions_arrive() {
    let world = World::empty();
    let log = world.home().join("log");
    let mut fake = entry(&FakeMcp::new().with("log", log.to_string_lossy()));
    fake["env"]["KEY"] = "sesame-8f2a61".into();
    let mut gate = Gate::silent(&world, &[("f", fake)], &[]);
    gate.initialize(json!({"elicitation": {}, "roots": {"listChanged": true}}));
    gate.until_found("select:f__ask", "f__ask");
    let id = ask(&mut gate, ASK);
    let question: Value = serde_json::from_str(&gate.line()).unwrap();
    assert_eq!(question["method"], ASK, "{question}");
    gate.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"a": 1}}}));
    let answer = gate.wait(id);
    let inner: Value = serde_json::from_str(&text(&answer["result"])).unwrap();
    assert_eq!(inner["result"]["content"]["a"], 1);
    // What it asks has no secret of its entry in it.
    let asked = json!({"method": ASK, "params": {"message": "Is sesame-8f2a61 right?"}});
    let id = gate.ask("tools/call", json!({"name": "f__ask", "arguments": asked}));
    let question: Value = serde_json::from_str(&gate.line()).unwrap();
    assert_eq!(
        question["params"]["message"], "Is [redacted] right?",
        "{question}"
    );
    gate.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}));
    gate.wait(id);
    // Sampling was not offered, so it is refused, and not dropped.
    let id = ask(&mut gate, "sampling/createMessage");
    let answer = gate.wait(id);
    assert!(text(&answer["result"]).contains("-32601"), "{answer}");
    let told = std::fs::read_to_string(&log).unwrap();
    let told: Vec<Value> = told
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["method"] == "initialize")
        .map(|message| message["params"]["capabilities"].clone())
        .collect();
    assert!(!told.is_empty());
    for capabilities in told {
        assert_eq!(
            capabilities,
            json!({"elicitation": {}, "roots": {"listChanged": true}})
        );
    }
}

#[test]
fn m23_a_client_without_capabilities_is_never_asked() {
    let world = World::empty();
    let mut gate = Gate::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    gate.until_found("select:f__ask", "f__ask");
    let id = ask(&mut gate, ASK);
    let answer = gate.wait(id);
    assert!(text(&answer["result"]).contains("-32601"), "{answer}");
    assert!(gate.heard.iter().all(|message| message["method"] != ASK));
}

#[test]
fn m23_an_older_servers_question_is_an_input_for_the_newest_client() {
    let world = World::empty();
    let mut gate = Gate::silent(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    let can = json!({"elicitation": {}});
    let found = gate.modern("server/discover", json!({}), can.clone());
    assert_eq!(
        found["result"]["supportedVersions"],
        json!(["2026-07-28"]),
        "{found}"
    );
    let call =
        json!({"name": "call_tool", "arguments": {"name": "f__ask", "arguments": {"method": ASK}}});
    let question = loop {
        let answer = gate.modern("tools/call", call.clone(), can.clone());
        if answer["result"]["resultType"] == "input_required" {
            break answer["result"].clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    let requests = question["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], ASK);
    let mut again = call.clone();
    again["requestState"] = question["requestState"].clone();
    again["inputResponses"] = json!({key: {"action": "decline"}});
    let answer = gate.modern("tools/call", again.clone(), can.clone());
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let inner: Value = serde_json::from_str(&text(&answer["result"])).unwrap();
    assert_eq!(inner["result"]["action"], "decline");
    // A state is good once.
    let answer = gate.modern("tools/call", again, can);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

/// A server of the newest revision: what it asks for, and the state that it wants back,
/// pass between it and a client of the newest revision as they are.
#[test]
fn m23_what_a_newest_server_asks_for_passes_through_with_its_state() {
    let world = World::empty();
    let log = world.home().join("log");
    let state = "opaque é+/== 1";
    let asked = json!({"resultType": "input_required", "requestState": state, "inputRequests": {
        "who": {"method": ASK, "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}}});
    let fake = FakeMcp::new()
        .with("discover", "modern")
        .with("log", log.to_string_lossy())
        .with("replies", json!({ "tools/call pid": asked }));
    let mut gate = Gate::silent(&world, &[("f", entry(&fake))], &[]);
    let can = json!({"elicitation": {}});
    let mut call = json!({"name": "call_tool", "arguments": {"name": "f__pid", "arguments": {}}});
    let answer = gate.modern("tools/call", call.clone(), can.clone());
    assert_eq!(answer["result"], asked, "{answer}");
    let given = json!({"who": {"action": "accept", "content": {"name": "n"}}});
    call["requestState"] = state.into();
    call["inputResponses"] = given.clone();
    gate.modern("tools/call", call, can);
    let sent = std::fs::read_to_string(&log).unwrap();
    let calls: Vec<Value> = sent
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["method"] == "tools/call")
        .collect();
    assert_eq!(calls.len(), 2, "{sent}");
    assert!(calls[0]["params"].get("requestState").is_none());
    assert_eq!(calls[1]["params"]["requestState"], state);
    assert_eq!(calls[1]["params"]["inputResponses"], given);
    assert_ne!(calls[0]["id"], calls[1]["id"]);
}

#[test]
fn m25_a_call_that_asks_first_waits_for_a_yes_in_both_eras() {
    let world = World::empty();
    let fake = entry(&FakeMcp::new());
    let config = world.home().join("gate.toml");
    let text_of = format!(
        "[mcp.servers.f]\ncommand = {}\nargs = {}\nenv = {{ TOOLCRIB_FAKE_MCP = '{{}}' }}\n[mcp.policy]\nask = ['f__echo']\n",
        fake["command"], fake["args"]
    );
    std::fs::write(&config, text_of).unwrap();
    let config = config.to_string_lossy().into_owned();
    let mut gate = Gate::spawn(&world, &["serve", "--config", &config]);
    gate.initialize(json!({"elicitation": {}}));
    gate.until_found("select:f__echo", "asks first");
    let call =
        json!({"name": "call_tool", "arguments": {"name": "f__echo", "arguments": {"text": "hi"}}});
    for (action, said) in [("accept", "hi"), ("decline", "did not allow")] {
        let id = gate.ask("tools/call", call.clone());
        let question: Value = serde_json::from_str(&gate.line()).unwrap();
        assert_eq!(question["method"], ASK);
        assert!(
            question["params"]["message"]
                .as_str()
                .unwrap()
                .contains("f__echo")
        );
        gate.say(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}}));
        let answer = gate.wait(id);
        assert!(text(&answer["result"]).contains(said), "{answer}");
    }
    let can = json!({"elicitation": {}});
    let question = gate.modern("tools/call", call.clone(), can.clone())["result"].clone();
    assert_eq!(question["resultType"], "input_required");
    let mut again = call;
    again["requestState"] = question["requestState"].clone();
    again["inputResponses"] = json!({"approve": {"action": "accept"}});
    let answer = gate.modern("tools/call", again.clone(), can.clone());
    assert_eq!(text(&answer["result"]), "hi");
    // The yes was for those arguments alone.
    again["arguments"]["arguments"]["text"] = "other".into();
    let answer = gate.modern("tools/call", again, can);
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
}
