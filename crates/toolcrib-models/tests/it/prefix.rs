//! What a provider's cache sees over 20 turns in which tools are loaded.
//!
//! A cache keeps what one request shares with the next from its first byte, in the
//! provider's own order: tools, system prompt, messages. Marks that say where to
//! cache move along and are no part of what is cached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_core::{
    AssistantMessage, Block, History, LoadRoute, Message, Model, Request, ToolCall, ToolChoice,
    ToolName, ToolResult, ToolSpec, TurnPlan,
};
use toolcrib_models::{
    ChatModel, ChatOptions, Key, RemoteModel, RemoteOptions, RetryPolicy, Vendor, Wire,
};
use toolcrib_testkit::{Answer, ByteServer};

use crate::support::*;

const TURNS: usize = 20;

/// Bodies of 20 requests; after every third a search has loaded one more tool.
fn bodies(model: &dyn Model, server: &ByteServer, route: LoadRoute) -> Vec<Vec<u8>> {
    let deferred: Arc<[Arc<ToolSpec>]> = (10..40).map(|n| spec(&format!("hub__d{n}"))).collect();
    let mut loader = vec![spec("tool_search")];
    if route == LoadRoute::Bridge {
        loader.push(spec("call_tool"));
    }
    let mut loaded: Vec<Arc<ToolSpec>> = Vec::new();
    let mut history = History::default();
    let runtime = runtime();
    for turn in 0..TURNS {
        history.push(Message::user(format!("Question {turn}?")));
        // What the surface does on this route.
        let shown = match route {
            LoadRoute::Append => loaded.clone(),
            _ => Vec::new(),
        };
        let plan = TurnPlan::with_loader(
            "Be brief.",
            vec![spec("list"), spec("read")],
            loader.clone(),
            shown,
            deferred.clone(),
        );
        let request = Request {
            plan: &plan,
            history: &history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        };
        runtime
            .block_on(model.stream(request, &mut |_| {}))
            .unwrap();
        let call = ToolCall {
            id: format!("c{turn}").into(),
            name: "tool_search".into(),
            arguments: r#"{"path":"d"}"#.into(),
            extra: None,
        };
        let mut result = ToolResult::text(&call, "Found.", false);
        if turn % 3 == 2 {
            // Not in name order: the order of loading counts.
            let spec = &deferred[29 - turn];
            result.loaded = [spec.name.clone()].into();
            loaded.push(spec.clone());
        }
        history.push(Message::Assistant(AssistantMessage {
            blocks: vec![Block::Call(call)],
            model: model.profile().id.clone(),
        }));
        history.push(Message::Tool(result));
    }
    assert!(loaded.len() > 5);
    server
        .received()
        .into_iter()
        .map(|seen| seen.body)
        .collect()
}

/// One member of a body as it was sent, marks left out.
fn member(body: &[u8], key: &str) -> String {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body).unwrap();
    let text = members.get(key).map_or("", |raw| raw.get());
    text.replace(r#","cache_control":{"type":"ephemeral"}"#, "")
}

/// All that a body says besides its tools and messages.
fn rest(body: &[u8], messages: &str) -> String {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body).unwrap();
    let other = members
        .iter()
        .filter(|(key, _)| *key != "tools" && *key != messages);
    other
        .map(|(key, raw)| format!("{key} {}\n", raw.get()))
        .collect()
}

/// Holds each body against the one before; `grows` if tools may be appended.
fn check(bodies: &[Vec<u8>], messages: &str, grows: bool) {
    assert_eq!(bodies.len(), TURNS);
    let mut changes = 0;
    for pair in bodies.windows(2) {
        let [before, after] = [0, 1].map(|at| member(&pair[at], "tools"));
        if grows {
            let prefix = before.trim_end_matches([']', '}']);
            assert!(after.starts_with(prefix), "{before}\n{after}");
        } else {
            assert_eq!(before, after);
        }
        changes += usize::from(before != after);
        assert_eq!(rest(&pair[0], messages), rest(&pair[1], messages));
        let [before, after] = [0, 1].map(|at| member(&pair[at], messages));
        let prefix = before.strip_suffix(']').unwrap();
        assert!(prefix.len() > 10, "{messages}: {before}");
        assert!(after.starts_with(prefix), "{before}\n{after}");
        assert!(after.len() > before.len());
    }
    assert_eq!(changes > 5, grows, "the array changed {changes} times");
}

fn retry() -> RetryPolicy {
    RetryPolicy {
        base: Duration::from_millis(1),
        ..RetryPolicy::default()
    }
}

fn chat(route: LoadRoute) -> Vec<Vec<u8>> {
    let server = ByteServer::start((0..TURNS).map(|_| good())).unwrap();
    let mut options = ChatOptions::new(Vendor::Generic, "m").base_url(server.url("/v1"));
    options.retry = retry();
    options.load_route = route;
    let model = ChatModel::new(options).unwrap();
    bodies(&model, &server, route)
}

fn remote(wire: Wire, route: LoadRoute) -> Vec<Vec<u8>> {
    let answer = || -> Answer { crate::remote::text(wire) };
    let server = ByteServer::start((0..TURNS).map(|_| answer())).unwrap();
    let base = match wire {
        Wire::Responses => server.url("/v1"),
        _ => server.url(""),
    };
    let mut options = RemoteOptions::new(wire, "m")
        .base_url(base)
        .key(Key::new("k"));
    options.retry = retry();
    options.load_route = route;
    let model = RemoteModel::new(options).unwrap();
    bodies(&model, &server, route)
}

#[test]
fn p25_a_load_changes_no_byte_of_the_prefix_on_the_native_route() {
    check(
        &remote(Wire::Messages, LoadRoute::Native),
        "messages",
        false,
    );
    check(&remote(Wire::Responses, LoadRoute::Native), "input", false);
}

#[test]
fn p25_nor_on_the_positional_route_where_each_tool_is_declared_once() {
    let bodies = chat(LoadRoute::Positional);
    check(&bodies, "messages", false);
    let last = member(bodies.last().unwrap(), "messages");
    for n in 10..40 {
        let declared = last.matches(&format!("Does hub__d{n}.")).count();
        let loaded = (0..TURNS - 1).any(|turn| turn % 3 == 2 && 39 - turn == n);
        assert_eq!(declared, usize::from(loaded), "d{n}");
    }
}

#[test]
fn p25_nor_where_a_load_is_an_item_of_its_own_on_other_wires() {
    let messages = remote(Wire::Messages, LoadRoute::Positional);
    check(&messages, "messages", false);
    let responses = remote(Wire::Responses, LoadRoute::Positional);
    check(&responses, "input", false);
    for (body, key) in [(&messages, "messages"), (&responses, "input")] {
        let last = member(body.last().unwrap(), key);
        // By name or whole, as the wire has it, and once.
        assert_eq!(last.matches("\"hub__d37\"").count(), 1, "{key}: {last}");
        assert!(!last.contains("\"hub__d38\""), "{key}");
    }
}

/// The definition of a tool, wherever a body has it.
fn declared<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let inner: Vec<&Value> = match value {
        Value::Object(map) => {
            if map.get("name").is_some_and(|found| found == name) {
                return Some(value);
            }
            map.values().collect()
        }
        Value::Array(list) => list.iter().collect(),
        _ => return None,
    };
    inner.into_iter().find_map(|inner| declared(inner, name))
}

#[test]
fn s71_a_tool_without_arguments_is_an_object_without_properties_on_every_wire() {
    let bare = |schema: &str| {
        let name = ToolName::parse("bare").unwrap();
        let schema = toolcrib_core::Schema::parse(schema).unwrap();
        Arc::new(ToolSpec::new(name, "Takes nothing.", schema))
    };
    let seen = |model: &dyn Model, server: &ByteServer, schema: &str| -> Value {
        let plan = TurnPlan::new("Be brief.", vec![bare(schema)]);
        let history: History = [Message::user("Go.")].into_iter().collect();
        let request = Request {
            plan: &plan,
            history: &history,
            tool_choice: &ToolChoice::Auto,
            max_output_tokens: None,
        };
        runtime()
            .block_on(model.stream(request, &mut |_| {}))
            .unwrap();
        serde_json::from_slice(&server.received().pop().unwrap().body).unwrap()
    };
    for schema in [
        "{}",
        r#"{"type":"object"}"#,
        r#"{"type":["object","null"]}"#,
    ] {
        let server = ByteServer::start([good()]).unwrap();
        let chat = ChatModel::new(options(&server)).unwrap();
        let mut bodies = vec![(seen(&chat, &server, schema), "parameters")];
        for (wire, key) in [
            (Wire::Messages, "input_schema"),
            (Wire::Responses, "parameters"),
            (Wire::Gemini, "parameters"),
        ] {
            let server = ByteServer::start([crate::remote::text(wire)]).unwrap();
            let base = match wire {
                Wire::Responses => server.url("/v1"),
                _ => server.url(""),
            };
            let options = RemoteOptions::new(wire, "m")
                .base_url(base)
                .key(Key::new("k"));
            let model = RemoteModel::new(options).unwrap();
            bodies.push((seen(&model, &server, schema), key));
        }
        for (body, key) in bodies {
            let tool = declared(&body, "bare").unwrap();
            if body.get("contents").is_some() {
                // Gemini refuses an object without properties and takes none at all.
                assert!(tool.get(key).is_none(), "{tool}");
                continue;
            }
            let kind = tool[key]["type"].as_str().unwrap().to_lowercase();
            assert_eq!(kind, "object", "{tool}");
            assert_eq!(tool[key]["properties"], serde_json::json!({}), "{tool}");
        }
    }
}

#[test]
fn p25_nor_on_the_bridge() {
    check(&chat(LoadRoute::Bridge), "messages", false);
    for (wire, messages) in [
        (Wire::Messages, "messages"),
        (Wire::Responses, "input"),
        (Wire::Gemini, "contents"),
    ] {
        check(&remote(wire, LoadRoute::Bridge), messages, false);
    }
}

#[test]
fn p25_on_the_append_route_the_array_is_a_prefix_of_the_next() {
    check(&chat(LoadRoute::Append), "messages", true);
    for (wire, messages) in [
        (Wire::Messages, "messages"),
        (Wire::Responses, "input"),
        (Wire::Gemini, "contents"),
    ] {
        check(&remote(wire, LoadRoute::Append), messages, true);
    }
}
