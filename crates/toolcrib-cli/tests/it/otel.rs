//! Spans at a collector.
#![cfg(feature = "otel")]

use std::process::Command;

use serde_json::Value;
use toolcrib_testkit::{Answer, ByteServer};

use crate::world::{Ran, World, ran};

const KEY: &str = "a-key-that-nobody-may-see-4711";

fn collector() -> ByteServer {
    ByteServer::serve(|_| Answer::json(200, "{}")).unwrap()
}

/// Asks a question that holds a key, of a model that looks something up.
fn ask(world: &World, set: impl FnOnce(&mut Command)) -> Ran {
    let model = world.script(&[
        r#"{"calls":[{"name":"search_symbols","arguments":{"query":"truncate_result"}},{"name":"search_symbols","arguments":{"limit":0}}],"usage":{"input":100,"output":7}}"#,
        r#"{"text":"A result is cut in src/cut.rs:4.","usage":{"input":50,"output":9}}"#,
    ]);
    let mut command = world.command();
    command
        .args(["ask", "--model", &model])
        .arg(format!("Where is a result truncated with {KEY}?"))
        .env("OPENAI_API_KEY", KEY);
    set(&mut command);
    ran(command.output().unwrap())
}

/// An attribute of a span, without its type.
fn attribute(span: &Value, name: &str) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name);
    found.map_or(Value::Null, |one| one["value"].clone())
}

#[test]
fn p36_p37_a_collector_gets_the_spans_of_a_run_and_no_content() {
    let world = World::sample();
    let collector = collector();
    let ran = ask(&world, |command| {
        command
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
            .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
            .env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=me")
            .env("TOOLCRIB_LOG", "info");
    });
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let received = collector.received();
    let [sent] = &received[..] else {
        panic!("one request, not {}", received.len())
    };
    assert_eq!(sent.target, "/v1/traces");
    assert_eq!(sent.header("content-type"), Some("application/json"));
    assert_eq!(sent.header("x-tenant"), Some("me"));
    let body = sent.json();
    let resource = &body["resourceSpans"][0];
    let about = attribute(&resource["resource"], "service.name");
    assert_eq!(about["stringValue"], "toolcrib");
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    let mut spans: Vec<&Value> = spans.iter().collect();
    let began = |span: &Value| -> u128 {
        let text = span["startTimeUnixNano"].as_str().unwrap();
        text.parse().unwrap()
    };
    spans.sort_by_key(|span| began(span));
    let names: Vec<&str> = spans
        .iter()
        .map(|span| span["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "invoke_agent toolcrib");
    assert!(names[1].starts_with("chat "), "{names:?}");
    assert_eq!(names[2], "execute_tool search_symbols");
    assert!(names.last().unwrap().starts_with("chat "), "{names:?}");
    // One trace; all below the run.
    let top = &spans[0]["spanId"];
    for span in &spans[1..] {
        assert_eq!(&span["parentSpanId"], top);
        assert_eq!(span["traceId"], spans[0]["traceId"]);
    }
    let run = spans[0];
    assert_eq!(
        attribute(run, "gen_ai.operation.name")["stringValue"],
        "invoke_agent"
    );
    assert_eq!(
        attribute(run, "gen_ai.agent.name")["stringValue"],
        "toolcrib"
    );
    let number = |span: &Value, name: &str| match &attribute(span, name)["intValue"] {
        Value::String(text) => text.parse().unwrap(),
        other => other.as_i64().unwrap(),
    };
    assert_eq!(number(run, "gen_ai.usage.input_tokens"), 150);
    assert_eq!(number(run, "gen_ai.usage.output_tokens"), 16);
    let chat = spans[1];
    assert_eq!(
        attribute(chat, "gen_ai.operation.name")["stringValue"],
        "chat"
    );
    assert_eq!(
        attribute(chat, "gen_ai.provider.name")["stringValue"],
        "script"
    );
    assert_eq!(chat["kind"], 3, "a client's span");
    assert_eq!(
        attribute(chat, "gen_ai.response.finish_reasons")["arrayValue"]["values"][0]["stringValue"],
        "tool_calls"
    );
    assert_eq!(number(chat, "gen_ai.usage.input_tokens"), 100);
    let tool = spans[2];
    assert_eq!(
        attribute(tool, "gen_ai.tool.name")["stringValue"],
        "search_symbols"
    );
    assert!(attribute(tool, "gen_ai.tool.call.id")["stringValue"].is_string());
    // Neither what was said nor found, nor a key, is at the collector or in the log.
    let all = sent.text();
    for content in [
        KEY,
        "Where is",
        "truncate_result",
        "src/cut.rs",
        "is cut in",
    ] {
        assert!(!all.contains(content), "{content}: {all}");
    }
    assert!(ran.stderr.contains("tool call"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(KEY), "{}", ran.stderr);
    let session = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(
        session.contains("[redacted]") && !session.contains(KEY),
        "{session}"
    );
}

#[test]
fn p37_the_usual_protocol_is_protobuf_and_a_user_may_configure_the_collector() {
    let world = World::sample();
    let collector = collector();
    let config = world.home().join(".config/toolcrib");
    std::fs::create_dir_all(&config).unwrap();
    let endpoint = format!("otlp_endpoint = '{}'\n", collector.url(""));
    std::fs::write(config.join("config.toml"), endpoint).unwrap();
    let ran = ask(&world, |_| ());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let received = collector.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].target, "/v1/traces");
    assert_eq!(
        received[0].header("content-type"),
        Some("application/x-protobuf")
    );
    let body = received[0].text();
    assert!(body.contains("invoke_agent toolcrib") && !body.contains(KEY));
    // The environment goes first, and switches it off.
    let ran = ask(&world, |command| {
        command.env("OTEL_SDK_DISABLED", "true");
    });
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(collector.received().len(), 1);
}

#[test]
fn a_repository_does_not_choose_a_collector() {
    let world = World::sample();
    let collector = collector();
    world.file(
        "toolcrib.toml",
        format!("otlp_endpoint = '{}'\n", collector.url("")),
    );
    let ran = ask(&world, |_| ());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("`otlp_endpoint` in toolcrib.toml is left aside"),
        "{}",
        ran.stderr
    );
    assert!(collector.received().is_empty());
}

#[test]
fn p37_a_collector_that_is_gone_silent_or_broken_fails_no_run() {
    let world = World::sample();
    let answer = ask(&world, |_| ()).stdout;
    let silent = ByteServer::serve(|_| Answer::silence()).unwrap();
    let broken = ByteServer::serve(|_| Answer::json(500, "{")).unwrap();
    let gone = format!("http://{}", ByteServer::unused_address().unwrap());
    for endpoint in [
        gone,
        silent.url(""),
        broken.url(""),
        "no address".to_owned(),
    ] {
        let ran = ask(&world, |command| {
            command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint);
        });
        assert_eq!(ran.code, Some(0), "{endpoint}: {}", ran.stderr);
        assert_eq!(ran.stdout, answer, "{endpoint}");
    }
}
