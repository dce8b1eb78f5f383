//! What a provider's cache sees over 20 turns in which tools are loaded.
//!
//! A cache keeps what one request shares with the next from its first byte, in the
//! provider's own order: tools, system prompt, messages. Marks that say where to
//! cache move along and are no part of what is cached.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use toolcrib_core::{
    AssistantMessage, Block, History, LoadRoute, Message, Model, Request, ToolCall, ToolChoice,
    ToolResult, ToolSpec, TurnPlan,
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
        for key in ["system", "instructions", "systemInstruction"] {
            assert_eq!(member(&pair[0], key), member(&pair[1], key), "{key}");
        }
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
