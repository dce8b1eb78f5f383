//! OpenAI Responses.

use serde_json::{Map, Value};
use toolcrib_core::{ModelProfile, ToolDialect};

use super::{Pairing, Report, is_arguments, list, schema, text};

const KNOWN: [&str; 32] = [
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "store",
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "reasoning",
    "text",
    "metadata",
    "previous_response_id",
    "conversation",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "context_management",
    "truncation",
    "user",
    "safety_identifier",
    "service_tier",
    "background",
    "top_logprobs",
    "moderation",
    "betas",
];

pub(super) fn check(profile: &ModelProfile, body: &Map<String, Value>, report: &mut Report) {
    if !matches!(profile.dialect, ToolDialect::Local | ToolDialect::Plain) {
        report.unknown(body, &KNOWN);
    }
    if body.get("model").and_then(Value::as_str).is_none() {
        report.add("model", "is missing");
    }
    report.number(body, "temperature", 2.0);
    let names = tools(profile, body, report);
    choice(body, &names, report);
    input(body, report);
}

fn tools(
    profile: &ModelProfile,
    body: &Map<String, Value>,
    report: &mut Report,
) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let mut searches = false;
    let mut deferred = false;
    for (at, tool) in list(body, "tools").iter().enumerate() {
        let at = format!("tools[{at}]");
        match text(tool, "type") {
            Some("function") => function(&at, tool, &mut names, report),
            Some("namespace") => {
                let inner = tool.get("tools").and_then(Value::as_array);
                let inner = inner.map(Vec::as_slice).unwrap_or_default();
                if inner.is_empty() {
                    report.add(at.as_str(), "a namespace holds no tools");
                }
                if text(tool, "name").is_none_or(str::is_empty)
                    || text(tool, "description").is_none()
                {
                    report.add(at.as_str(), "a namespace needs a name and a description");
                }
                for tool in inner {
                    deferred |= tool.get("defer_loading") == Some(&Value::Bool(true));
                    function(&at, tool, &mut names, report);
                }
            }
            Some("tool_search") if searches => report.add(at.as_str(), "a second tool_search"),
            Some("tool_search") => searches = true,
            Some(_) => {}
            None => report.add(at.as_str(), "has no type"),
        }
        deferred |= tool.get("defer_loading") == Some(&Value::Bool(true));
    }
    if deferred && !searches {
        report.add("tools", "deferred tools need a tool_search");
    }
    // Deferred functions are not counted: they are not shown.
    if !deferred {
        report.names(profile, &names, 64);
    }
    names
}

fn function(at: &str, tool: &Value, names: &mut Vec<(String, String)>, report: &mut Report) {
    if tool.get("function").is_some() {
        report.add(
            at,
            "is a tool of another wire: its members stand side by side here",
        );
    }
    match text(tool, "name") {
        Some(name) => names.push((at.to_owned(), name.to_owned())),
        None => report.add(at, "has no name"),
    }
    match tool.get("parameters") {
        Some(Value::Null) | None => {}
        Some(parameters) => {
            schema::object(at, parameters, report);
            if tool.get("strict") == Some(&Value::Bool(true)) {
                schema::strict(at, parameters, report);
            }
        }
    }
    if tool.get("strict").is_none() {
        report.add(at, "does not say whether it is strict");
    }
}

fn choice(body: &Map<String, Value>, names: &[(String, String)], report: &mut Report) {
    let known = match body.get("tool_choice") {
        None => return,
        Some(Value::String(word)) => ["auto", "none", "required"].contains(&word.as_str()),
        Some(choice) => {
            text(choice, "name").is_none_or(|name| names.iter().any(|(_, known)| known == name))
        }
    };
    if !known {
        report.add("tool_choice", "is no choice among the tools");
    }
    if list(body, "tools").is_empty() {
        report.add("tool_choice", "is only taken with tools");
    }
}

fn input(body: &Map<String, Value>, report: &mut Report) {
    let items = match body.get("input") {
        Some(Value::String(_)) => return,
        Some(Value::Array(items)) if !items.is_empty() => items,
        _ => {
            report.add("input", "is empty");
            return;
        }
    };
    let mut pairing = Pairing::default();
    for (at, item) in items.iter().enumerate() {
        let at = format!("input[{at}]");
        match text(item, "type") {
            Some("function_call") => {
                pairing.call(&at, text(item, "call_id"), report);
                if !is_arguments(item.get("arguments")) {
                    report.add(at.as_str(), "arguments are no text that holds an object");
                }
            }
            Some("tool_search_call") => pairing.call(&at, text(item, "call_id"), report),
            Some("function_call_output") => {
                pairing.result(&at, text(item, "call_id"), report);
                if !item
                    .get("output")
                    .is_some_and(|o| o.is_string() || o.is_array())
                {
                    report.add(at.as_str(), "has no output");
                }
            }
            Some("tool_search_output") => pairing.result(&at, text(item, "call_id"), report),
            Some("reasoning") => {
                let next = items.get(at_of(&at) + 1);
                let led = next.is_some_and(|next| {
                    text(next, "role") == Some("assistant")
                        || !matches!(text(next, "type"), Some("message") | None)
                });
                if !led {
                    report.add(at.as_str(), "reasoning stands without what it led to");
                }
            }
            Some("message") | None => message(&at, item, report),
            Some(_) => {}
        }
    }
    pairing.settle("input", report);
}

fn at_of(at: &str) -> usize {
    let number = at.trim_start_matches("input[").trim_end_matches(']');
    number.parse().unwrap_or(usize::MAX - 1)
}

fn message(at: &str, item: &Value, report: &mut Report) {
    let role = text(item, "role").unwrap_or_default();
    if !["user", "assistant", "system", "developer"].contains(&role) {
        report.add(at, format!("there is no role {role:?}"));
    }
    match item.get("content") {
        Some(Value::String(_)) => {}
        Some(Value::Array(parts)) if !parts.is_empty() => {}
        _ => report.add(at, "has no content"),
    }
}
