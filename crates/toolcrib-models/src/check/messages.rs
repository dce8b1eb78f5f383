//! Anthropic Messages.

use serde_json::{Map, Value};
use toolcrib_core::ModelProfile;

use super::{Pairing, Report, list, schema, text};

const KNOWN: [&str; 21] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "cache_control",
    "container",
    "service_tier",
    "inference_geo",
    "output_config",
    "mcp_servers",
    "context_management",
    "betas",
];
const MARKS: usize = 4;

pub(super) fn check(profile: &ModelProfile, body: &Map<String, Value>, report: &mut Report) {
    report.unknown(body, &KNOWN);
    if body.get("model").and_then(Value::as_str).is_none() {
        report.add("model", "is missing");
    }
    if body.get("max_tokens").and_then(Value::as_u64).is_none() {
        report.add("max_tokens", "is missing");
    }
    report.number(body, "temperature", 1.0);
    let marks = marks(&Value::Object(body.clone()));
    if marks > MARKS {
        report.add(
            "cache_control",
            format!("{marks} marks, at most {MARKS} are taken"),
        );
    }
    let names = tools(profile, body, report);
    choice(body, &names, report);
    messages(body, &names, report);
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(object) => {
            let own = usize::from(object.contains_key("cache_control"));
            own + object.values().map(marks).sum::<usize>()
        }
        Value::Array(list) => list.iter().map(marks).sum(),
        _ => 0,
    }
}

fn tools(
    profile: &ModelProfile,
    body: &Map<String, Value>,
    report: &mut Report,
) -> Vec<(String, String)> {
    let tools = list(body, "tools");
    let deferred = |tool: &Value| tool.get("defer_loading") == Some(&Value::Bool(true));
    if !tools.is_empty() && tools.iter().all(deferred) {
        report.add("tools", "at least one tool must not be deferred");
    }
    let mut names = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let at = format!("tools[{at}]");
        match text(tool, "name") {
            Some(name) => names.push((at.clone(), name.to_owned())),
            None => report.add(at.as_str(), "has no name"),
        }
        if deferred(tool) && tool.get("cache_control").is_some() {
            report.add(at.as_str(), "a deferred tool takes no mark");
        }
        match tool.get("input_schema") {
            Some(input) => schema::object(&at, input, report),
            None => report.add(at.as_str(), "has no input_schema"),
        }
    }
    report.names(profile, &names, 128);
    names
}

fn choice(body: &Map<String, Value>, names: &[(String, String)], report: &mut Report) {
    let Some(choice) = body.get("tool_choice") else {
        return;
    };
    if names.is_empty() {
        report.add("tool_choice", "is only taken with tools");
    }
    let name = text(choice, "name");
    let known = match text(choice, "type") {
        Some("auto" | "any" | "none") => true,
        Some("tool") => name.is_some_and(|name| names.iter().any(|(_, known)| known == name)),
        _ => false,
    };
    if !known {
        report.add(
            "tool_choice",
            format!("{choice} is no choice among the tools"),
        );
    }
}

fn messages(body: &Map<String, Value>, names: &[(String, String)], report: &mut Report) {
    let messages = list(body, "messages");
    if messages.first().and_then(|first| text(first, "role")) != Some("user") {
        report.add("messages", "must begin with the user");
    }
    let mut pairing = Pairing::default();
    let mut calls_before = false;
    for (at, message) in messages.iter().enumerate() {
        let at = format!("messages[{at}]");
        let role = text(message, "role").unwrap_or_default();
        if !["user", "assistant", "system"].contains(&role) {
            report.add(at.as_str(), format!("there is no role {role:?}"));
        }
        let plain;
        let content = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.as_slice(),
            Some(Value::String(said)) => {
                plain = [serde_json::json!({"type": "text", "text": said})];
                &plain
            }
            _ => &[],
        };
        if content.is_empty() {
            report.add(at.as_str(), "has no content");
        }
        let mut others = false;
        for block in content {
            match text(block, "type") {
                Some("tool_result") => {
                    if others {
                        report.add(at.as_str(), "results must come before all else");
                    }
                    calls_before = true;
                    pairing.result(&at, text(block, "tool_use_id"), report);
                    references(&at, block, names, report);
                    continue;
                }
                Some("text") if text(block, "text").is_none_or(|t| t.trim().is_empty()) => {
                    report.add(at.as_str(), "holds a blank text");
                }
                Some("tool_use") => {
                    calls_before = true;
                    call(&at, block, report);
                    pairing.call(&at, text(block, "id"), report);
                }
                Some(_) => {}
                None => report.add(at.as_str(), "holds a block without a type"),
            }
            others = true;
        }
        if role == "user" {
            pairing.settle(&at, report);
        } else if !pairing.open.is_empty() && at.ends_with(&format!("[{}]", messages.len() - 1)) {
            pairing.settle(&at, report);
        }
    }
    if calls_before && names.is_empty() {
        report.add("tools", "a transcript with calls needs tools");
    }
}

fn call(at: &str, block: &Value, report: &mut Report) {
    if !block.get("input").is_some_and(Value::is_object) {
        report.add(at, "the input of a call is no object");
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !text(block, "id").is_some_and(|id| id.chars().all(fits)) {
        report.add(
            at,
            "the id of a call holds other characters than letters, digits, _ and -",
        );
    }
}

fn references(at: &str, block: &Value, names: &[(String, String)], report: &mut Report) {
    let content = block.get("content").and_then(Value::as_array);
    for piece in content.into_iter().flatten() {
        match text(piece, "type") {
            Some("text") if text(piece, "text").is_none_or(|t| t.trim().is_empty()) => {
                report.add(at, "a result holds a blank text");
            }
            Some("tool_reference") => {
                let name = text(piece, "tool_name").unwrap_or_default();
                if !names.iter().any(|(_, known)| known == name) {
                    report.add(at, format!("refers to {name:?}, which is no tool"));
                }
            }
            _ => {}
        }
    }
}
