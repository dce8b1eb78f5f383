//! Calls: in whatever form the arguments come, the results as the server gave them.

use serde_json::{Map, Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;
use toolcrib_testkit::{Answer, ByteServer};

use super::kit::{Gate, entry, text, tool};
use crate::world::World;

fn echoing(world: &World, args: &[&str]) -> Gate {
    let mut gate = Gate::start(world, &[("f", entry(&FakeMcp::new()))], args);
    if !args.contains(&"eager") && !args.contains(&"transparent") {
        gate.until_found("select:f__echo", "f__echo");
    }
    gate
}

#[test]
fn m19_arguments_come_in_three_forms_and_anything_else_is_refused() {
    let world = World::empty();
    let log = world.home().join("log");
    let tools = json!([
        tool(
            "create",
            "Creates it.",
            json!({"title": {"type": "string"}, "count_": {"type": "integer"}})
        ),
        tool("open", "Takes anything.", json!({})),
    ]);
    let fake = FakeMcp::new()
        .with("log", log.to_string_lossy())
        .with("tools", tools);
    let mut gate = Gate::start(&world, &[("f", entry(&fake))], &[]);
    gate.until_found("select:f__create", "f__create");
    let call = |gate: &mut Gate, outer: Value| {
        gate.ok(
            "tools/call",
            json!({"name": "call_tool", "arguments": outer}),
        )
    };
    let ran = || -> Vec<Value> {
        std::fs::read_to_string(&log)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["method"] == "tools/call")
            .map(|message| message["params"].clone())
            .collect()
    };
    for outer in [
        json!({"name": "f__create", "arguments": {"title": "x"}}),
        json!({"name": "f__create", "arguments": "{\"title\": \"x\"}"}),
        json!({"name": "f__create", "title": "x"}),
        json!({"name": "f__create", "arguments": {}, "title": "x"}),
        json!({"name": "F-Create", "arguments": {"title": "x"}}),
        json!({"name": "create", "arguments": {"title": "x"}}),
    ] {
        let before = ran().len();
        call(&mut gate, outer.clone());
        let ran = ran();
        assert_eq!(ran.len(), before + 1, "{outer}");
        let last = ran.last().unwrap();
        assert_eq!(last["name"], "create", "{outer}");
        assert_eq!(last["arguments"], json!({"title": "x"}), "{outer}");
    }
    let before = ran().len();
    for outer in [
        json!({"name": "f__create"}),
        json!({"name": "f__create", "arguments": {}}),
        json!({"name": "f__create", "arguments": null}),
        json!({"name": "f__create", "arguments": ""}),
        json!({"name": "f__create", "arguments": [1]}),
        json!({"name": "f__create", "arguments": 7}),
        json!({"name": "f__create", "arguments": "title: x"}),
        json!({"name": "f__create", "args": {"title": "x"}}),
        json!({"name": "f__create", "arguments": {"title": "x"}, "count_": 1}),
        json!({"name": "f__create", "arguments": {"titel": "x"}}),
        json!({"name": "f__create", "arguments": {"title": 7}}),
        json!({"name": "f__open", "input": {"title": "x"}}),
    ] {
        let refused = call(&mut gate, outer.clone());
        assert_eq!(refused["isError"], true, "{outer}");
        let said = text(&refused);
        assert!(said.contains("did not run"), "{outer}: {said}");
        if outer["name"] == "f__create" {
            assert!(said.contains("\"required\":[\"title\"]"), "{outer}: {said}");
        }
    }
    for outer in [
        json!({}),
        json!({"arguments": {}}),
        json!([]),
        json!({"name": 1}),
    ] {
        let answer = gate.request(
            "tools/call",
            json!({"name": "call_tool", "arguments": outer}),
        );
        let refused = answer["result"]["isError"] == true || answer.get("error").is_some();
        assert!(refused, "{answer}");
    }
    assert_eq!(ran().len(), before, "something ran that should not have");
}

#[test]
fn m16_results_and_definitions_are_the_servers_bytes() {
    let world = World::empty();
    let mut gate = echoing(&world, &[]);
    // As the fake server writes them, key order and numbers included.
    let bytes = [
        (
            "structured",
            json!({}),
            r#"{"content":[],"structuredContent":{"n":1.5,"s":"x"},"_meta":{"k":"v"},"extra":true}"#,
        ),
        (
            "image",
            json!({}),
            r#"{"content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#,
        ),
        (
            "echo",
            json!({"text": "é \"q\""}),
            r#"{"content":[{"type":"text","text":"é \"q\""}]}"#,
        ),
    ];
    for (name, arguments, want) in &bytes {
        gate.call(&format!("f__{name}"), arguments.clone());
        let want = format!(r#""result":{want}}}"#);
        assert!(gate.raw.ends_with(&want), "{name}: {}", gate.raw);
    }
    drop(gate);
    let mut gate = echoing(&world, &["--mode", "transparent"]);
    let list = gate.ok("tools/list", json!({}));
    let echo = &list["tools"][0];
    assert_eq!(echo["name"], "echo");
    assert_eq!(echo["execution"]["taskSupport"], "forbidden");
    assert_eq!(echo["x-unknown"], 1);
    assert_eq!(echo["annotations"]["readOnlyHint"], true);
    for (name, arguments, want) in &bytes {
        gate.ok("tools/call", json!({"name": name, "arguments": arguments}));
        let want = format!(r#""result":{want}}}"#);
        assert!(gate.raw.ends_with(&want), "{name}: {}", gate.raw);
    }
    // An error of the server passes with its code and data.
    let answer = gate.request("no/such/method", json!({}));
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(answer["error"]["data"]["n"], 1);
}

#[test]
fn m16_in_eager_mode_names_are_prefixed_and_the_rest_stays() {
    let world = World::empty();
    let mut gate = echoing(&world, &["--mode", "eager"]);
    let list = gate.ok("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "f__echo").unwrap();
    assert_eq!(echo["x-unknown"], 1);
    assert_eq!(echo["execution"]["taskSupport"], "forbidden");
    let result = gate.ok(
        "tools/call",
        json!({"name": "f__echo", "arguments": {"text": "x"}}),
    );
    assert_eq!(text(&result), "x");
}

#[test]
fn m11_a_long_result_is_cut_and_can_be_read_to_its_end() {
    let world = World::empty();
    let mut gate = echoing(&world, &["--max-result", "2000"]);
    let result = gate.call("f__big", json!({"bytes": 5000}));
    let first = text(&result);
    assert!(
        first.contains("[cut at byte 2000 of 5000; read on with `read_result`"),
        "{first}"
    );
    let mut bytes = first.matches('b').count() - first.matches("byte").count();
    for offset in [2000, 4000] {
        let result = gate.call("read_result", json!({"id": "r1", "offset": offset}));
        let piece = text(&result);
        bytes += piece.matches('b').count() - piece.matches("byte").count();
    }
    assert_eq!(bytes, 5000);
}

#[test]
fn m22_ids_of_any_form_never_cross() {
    let world = World::empty();
    let mut gate = echoing(&world, &[]);
    let line = |id: &str, word: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"call_tool","arguments":{{"name":"f__echo","arguments":{{"text":"{word}"}}}}}}}}"#
        )
    };
    // Numbers and texts that look alike, all under way at once.
    let mut wanted = std::collections::BTreeMap::new();
    for n in 0..334 {
        for id in [
            format!("{}", 1000 + n),
            format!("\"{}\"", 1000 + n),
            format!("\"a{n}\""),
        ] {
            let word = format!("w{}", wanted.len());
            gate.say_raw(&line(&id, &word));
            wanted.insert(id, word);
        }
    }
    while !wanted.is_empty() {
        let line = gate.line();
        let value: Value = serde_json::from_str(&line).unwrap();
        let word = wanted.remove(&value["id"].to_string());
        let word = word.unwrap_or_else(|| panic!("an answer nobody asked for: {line}"));
        assert_eq!(
            value["result"]["content"][0]["text"],
            word.as_str(),
            "{line}"
        );
    }
}

#[test]
fn progress_and_cancellation_reach_the_other_side() {
    let world = World::empty();
    let mut gate = echoing(&world, &[]);
    let id = gate.ask(
        "tools/call",
        json!({"name": "call_tool", "arguments": {"name": "f__sleep", "arguments": {"ms": 60, "every_ms": 20}}, "_meta": {"progressToken": "mine"}}),
    );
    gate.wait(id);
    let progress: Vec<&Value> = gate
        .heard
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .collect();
    assert_eq!(progress.len(), 3, "{:?}", gate.heard);
    assert!(
        progress
            .iter()
            .all(|m| m["params"]["progressToken"] == "mine")
    );
    let id = gate.ask(
        "tools/call",
        json!({"name": "call_tool", "arguments": {"name": "f__sleep", "arguments": {"ms": 60_000, "every_ms": 20}}, "_meta": {"progressToken": "other"}}),
    );
    // Taken back before it was sent on, it would never be heard of there.
    while gate
        .heard
        .last()
        .is_none_or(|m| m["params"]["progressToken"] != "other")
    {
        let line = gate.line();
        gate.heard.push(serde_json::from_str(&line).unwrap());
    }
    gate.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // No answer is owed for what was taken back; the next one is answered.
    let seen = loop {
        let seen = text(&gate.call("f__cancelled", json!({})));
        if seen != "[]" {
            break seen;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen.as_array().unwrap().len(), 1);
    assert!(gate.heard.iter().all(|message| message["id"] != id));
}

#[test]
fn an_unknown_tool_is_an_error_whatever_its_server_says() {
    let world = World::empty();
    let mut gate = echoing(&world, &[]);
    let refused = gate.call("f__ecko", json!({}));
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("`f__echo`"), "{refused}");
    let answer = gate.request("tools/call", json!({"name": "nothing", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn the_code_graph_is_found_beside_the_servers_tools() {
    let world = World::sample();
    let mut gate = Gate::start(&world, &[("f", entry(&FakeMcp::new()))], &["--graph"]);
    let found = gate.search("find functions and other symbols by name");
    assert!(found.contains("graph__search_symbols("), "{found}");
    let answer = gate.call("graph__search_symbols", json!({"query": "truncate_result"}));
    assert!(text(&answer).contains("src/cut.rs"), "{answer}");
}

#[test]
fn m10_property_names_that_apis_refuse_are_listed_under_others_and_reach_their_server() {
    let world = World::empty();
    let log = world.home().join("log");
    let list = tool(
        "list_calls",
        "Lists calls.",
        json!({"StartTime<": {"type": "string"}, "StartTime>_": {"type": "string"}, "To_": {"type": "string"}}),
    );
    let fake = FakeMcp::new().with("log", log.to_string_lossy()).with(
        "tools",
        json!([list, tool("plain", "Plain.", json!({"a": {}}))]),
    );
    let servers = [("f", entry(&fake))];
    let mut gate = Gate::start(&world, &servers, &["--mode", "eager"]);
    let listed = gate.ok("tools/list", json!({}));
    let schema = &listed["tools"][0]["inputSchema"];
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 3, "{listed}");
    for name in &names {
        let fine = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        assert!(name.len() <= 64 && name.chars().all(fine), "{name}");
    }
    assert_eq!(
        listed["tools"][1]["inputSchema"]["properties"],
        json!({"a": {}})
    );
    let arguments: Map<String, Value> = names
        .iter()
        .map(|name| ((*name).clone(), json!(format!("for {name}"))))
        .collect();
    gate.request(
        "tools/call",
        json!({"name": "f__list_calls", "arguments": arguments}),
    );
    let log = std::fs::read_to_string(&log).unwrap();
    let sent = log
        .lines()
        .find(|line| line.contains("tools/call"))
        .unwrap();
    let sent: Value = serde_json::from_str(sent).unwrap();
    let sent = sent["params"]["arguments"].as_object().unwrap();
    let names: Vec<&String> = sent.keys().collect();
    assert_eq!(names, ["StartTime<", "StartTime>_", "To_"]);
    drop(gate);
    // Untouched where nothing is to be put right.
    let mut gate = Gate::start(&world, &servers, &["--mode", "transparent"]);
    let listed = gate.ok("tools/list", json!({}));
    assert_eq!(listed["tools"][0], list_of(&fake));
}

/// The first tool that a fake server was given.
fn list_of(fake: &FakeMcp) -> Value {
    let (_, _, env) = fake.command();
    let config: Value = serde_json::from_str(&env[0].1).unwrap();
    config["tools"][0].clone()
}

#[test]
fn m09_no_schema_however_odd_stands_in_the_way_of_a_call_that_it_allows() {
    let world = World::empty();
    let elsewhere = ByteServer::serve(|_| Answer::json(200, "{}")).unwrap();
    let draft_7 = "http://json-schema.org/draft-07/schema#";
    let draft_2020 = "https://json-schema.org/draft/2020-12/schema";
    // A schema, and arguments that are fine by it.
    let cases = [
        (
            json!({"$schema": draft_7, "type": "object", "definitions": {"p": {"type": "integer", "exclusiveMinimum": 1}},
                "properties": {"a": {"$ref": "#/definitions/p"}}}),
            json!({"a": 2}),
        ),
        (
            json!({"$schema": draft_7, "type": "object",
                "properties": {"a": {"items": [{"type": "string"}, {"type": "integer"}]}}}),
            json!({"a": ["x", 1]}),
        ),
        (
            json!({"$schema": draft_2020, "type": "object", "$defs": {"q": {"type": "string", "minLength": 2}},
                "properties": {"a": {"prefixItems": [{"$ref": "#/$defs/q"}]}}}),
            json!({"a": ["xy"]}),
        ),
        (
            json!({"type": "object", "properties": {
                "m": {"anyOf": [{"type": "object", "properties": {"c": {"type": "array"}}}]},
                "n": {"$ref": "#/properties/m/anyOf/0/properties/c"}}}),
            json!({"n": []}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
                "if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}}),
            json!({"a": 1, "b": "x"}),
        ),
        // Nothing is fetched, so nothing can be said of it.
        (
            json!({"type": "object", "properties": {"a": {"$ref": elsewhere.url("/s.json")}, "b": {"type": "integer"}}}),
            json!({"a": {"any": "thing"}}),
        ),
    ];
    let tools: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(n, (schema, _))| json!({"name": format!("t{n}"), "inputSchema": schema}))
        .collect();
    let fake = FakeMcp::new().with("tools", tools);
    let mut gate = Gate::start(&world, &[("f", entry(&fake))], &[]);
    gate.until_found("select:f__t0", "f__t0");
    for (n, (schema, good)) in cases.iter().enumerate() {
        // The fake knows none of them by name, and says so: it was asked.
        let said = text(&gate.call(&format!("f__t{n}"), good.clone()));
        assert_eq!(said, format!("Unknown tool: t{n}"), "{schema}");
    }
    assert!(elsewhere.received().is_empty());
}
