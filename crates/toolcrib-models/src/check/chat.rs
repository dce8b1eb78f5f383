//! Chat completions.

use serde_json::{Map, Value};
use toolcrib_core::{LoadRoute, ModelProfile, ToolDialect};

use super::{Pairing, Report, is_arguments, list, schema, text};

/// A router's own search among deferred tools.
const SEARCH: &str = "openrouter:tool_search";

const KNOWN: [&str; 38] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "user",
    "metadata",
    "store",
    "response_format",
    "reasoning_effort",
    "frequency_penalty",
    "presence_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "service_tier",
    "modalities",
    "audio",
    "prediction",
    "verbosity",
    "prompt_cache_key",
    "prompt_cache_options",
    "safety_identifier",
    "web_search_options",
    "provider",
    "models",
    "reasoning",
    "transforms",
    "usage",
];

pub(super) fn check(profile: &ModelProfile, body: &Map<String, Value>, report: &mut Report) {
    let own = profile.dialect != ToolDialect::Local && profile.dialect != ToolDialect::Plain;
    if own {
        report.unknown(body, &KNOWN);
    }
    if body.get("model").and_then(Value::as_str).is_none() {
        report.add("model", "is missing");
    }
    report.number(body, "temperature", 2.0);
    let names = tools(profile, body, report);
    choice(body, &names, report);
    messages(body, report);
}

fn tools(
    profile: &ModelProfile,
    body: &Map<String, Value>,
    report: &mut Report,
) -> Vec<(String, String)> {
    let tools = list(body, "tools");
    if body.contains_key("tools") && tools.is_empty() {
        report.add("tools", "is empty; leave it out");
    }
    let mut names = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let at = format!("tools[{at}]");
        if text(tool, "type") == Some(SEARCH) {
            if profile.load_route != LoadRoute::Native || tool.get("defer_loading").is_some() {
                report.add(at.as_str(), "this search is not taken so");
            }
            continue;
        }
        if text(tool, "type") != Some("function") {
            report.add(at.as_str(), "has no type function");
        }
        let function = tool.get("function").unwrap_or(&Value::Null);
        match text(function, "name") {
            Some(name) => names.push((at.clone(), name.to_owned())),
            None => report.add(at.as_str(), "has no name"),
        }
        let deferred = tool.get("defer_loading").is_some();
        let searched = tools.iter().any(|tool| text(tool, "type") == Some(SEARCH));
        if deferred && !(profile.load_route == LoadRoute::Native && searched) {
            report.add(at.as_str(), "defer_loading is not taken here");
        }
        if let Some(parameters) = function.get("parameters") {
            schema::object(&at, parameters, report);
            if function.get("strict") == Some(&Value::Bool(true)) {
                schema::strict(&at, parameters, report);
            }
        }
    }
    report.names(profile, &names, 64);
    names
}

fn choice(body: &Map<String, Value>, names: &[(String, String)], report: &mut Report) {
    let Some(choice) = body.get("tool_choice") else {
        return;
    };
    if names.is_empty() {
        report.add("tool_choice", "is only taken with tools");
        return;
    }
    let known = match choice {
        Value::String(word) => ["auto", "none", "required"].contains(&word.as_str()),
        Value::Object(_) => {
            let function = choice.get("function").unwrap_or(&Value::Null);
            text(function, "name").is_some_and(|name| names.iter().any(|(_, known)| known == name))
        }
        _ => false,
    };
    if !known {
        report.add(
            "tool_choice",
            format!("{choice} is no choice among the tools"),
        );
    }
}

fn messages(body: &Map<String, Value>, report: &mut Report) {
    let messages = list(body, "messages");
    if messages.is_empty() {
        report.add("messages", "is empty");
    }
    let mut pairing = Pairing::default();
    for (at, message) in messages.iter().enumerate() {
        let at = format!("messages[{at}]");
        let role = text(message, "role").unwrap_or_default();
        if role == "tool" {
            pairing.result(&at, text(message, "tool_call_id"), report);
        } else {
            pairing.settle(&at, report);
        }
        content(&at, role, message, report);
        match role {
            "assistant" => {
                for call in calls(&at, message, report) {
                    pairing.call(&at, text(call, "id"), report);
                    let function = call.get("function").unwrap_or(&Value::Null);
                    if !is_arguments(function.get("arguments")) {
                        report.add(at.as_str(), "arguments are no text that holds an object");
                    }
                }
            }
            "system" | "developer" | "user" | "tool" => {}
            other => report.add(at.as_str(), format!("there is no role {other:?}")),
        }
    }
    pairing.settle("messages", report);
}

fn calls<'a>(at: &str, message: &'a Value, report: &mut Report) -> &'a [Value] {
    match message.get("tool_calls") {
        None => &[],
        Some(Value::Array(calls)) if !calls.is_empty() => calls,
        Some(_) => {
            report.add(at, "tool_calls is empty; leave it out");
            &[]
        }
    }
}

fn content(at: &str, role: &str, message: &Value, report: &mut Report) {
    match message.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) => {
            let pictures = parts
                .iter()
                .any(|part| text(part, "type") == Some("image_url"));
            if pictures && role != "user" {
                report.add(at, "images are taken from the user alone");
            }
        }
        // A declaration of tools in the transcript has no content.
        None if message.get("tools").is_some() => {}
        None | Some(Value::Null) if role == "assistant" && message.get("tool_calls").is_some() => {}
        _ => report.add(at, "has no content"),
    }
}
