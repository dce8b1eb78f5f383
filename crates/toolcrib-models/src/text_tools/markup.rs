//! Calls read out of text: the markups that models were trained to write.
//!
//! Four families: JSON in `<tool_call>`, `<function=NAME>` with `<parameter=KEY>`,
//! `<invoke name="NAME">` with `<parameter name="KEY">`, and the same inside a
//! vendor's own wrapper. Beside them fenced or bare JSON, which counts only where it
//! names a tool on offer and stands alone. What is inside a code fence is an example
//! and no call.

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcrib_core::TurnPlan;

use crate::json;

/// What begins something other than text.
pub(super) const OPENERS: [&str; 12] = [
    "<tool_call",
    "<tool_response",
    "<function=",
    "<function_calls",
    "<invoke",
    "<minimax:tool_call",
    "<|tool_call|>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "<think",
    "```",
    "<tools>",
];

/// A reply taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parsed {
    pub(super) text: String,
    pub(super) thinking: String,
    /// Names and argument texts, in order.
    pub(super) calls: Vec<(String, String)>,
}

/// Takes a reply apart.
pub(super) fn parse(text: &str, plan: &TurnPlan) -> Parsed {
    let mut parsed = Parsed::default();
    let whole = think(text, &mut parsed);
    if let Some(calls) = alone(whole, plan) {
        parsed.calls = calls;
        return parsed;
    }
    let mut rest = whole;
    while let Some((at, opener)) = next(rest) {
        let (before, from) = rest.split_at(at);
        parsed.text.push_str(before);
        rest = match opener {
            // A result that the model made up, and all that follows from it.
            "<tool_response" => "",
            "```" => fence(from, plan, &mut parsed),
            "<think" => think(from, &mut parsed),
            _ => markup(from, opener, plan, &mut parsed),
        };
    }
    parsed.text.push_str(rest);
    if !parsed.calls.is_empty() {
        parsed.text.truncate(parsed.text.trim_end().len());
    }
    parsed
}

fn next(text: &str) -> Option<(usize, &'static str)> {
    let found = OPENERS
        .iter()
        .filter_map(|opener| text.find(opener).map(|at| (at, *opener)));
    // Of two that begin at one place the longer one is meant.
    found.min_by_key(|(at, opener)| (*at, usize::MAX - opener.len()))
}

/// Takes a leading `<think>` block, closed or not, into the thoughts.
fn think<'a>(text: &'a str, parsed: &mut Parsed) -> &'a str {
    let start = text.trim_start();
    for word in ["think", "thinking"] {
        let Some(inside) = start.strip_prefix(&format!("<{word}>")) else {
            continue;
        };
        let (thought, rest) = inside
            .split_once(&format!("</{word}>"))
            .unwrap_or((inside, ""));
        if !parsed.thinking.is_empty() {
            parsed.thinking.push('\n');
        }
        parsed.thinking.push_str(thought.trim());
        return rest.trim_start();
    }
    // No block: at least one character must go, or the search finds it again.
    match text.strip_prefix("<think") {
        Some(rest) if !parsed.text.is_empty() || start.len() == text.len() => {
            parsed.text.push_str("<think");
            rest
        }
        _ => text,
    }
}

/// Calls of a text that is nothing but JSON naming tools on offer.
fn alone(text: &str, plan: &TurnPlan) -> Option<Vec<(String, String)>> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let calls = objects(text)?;
    let offered = calls.iter().all(|(name, _)| is_offered(plan, name));
    (offered && !calls.is_empty()).then_some(calls)
}

fn is_offered(plan: &TurnPlan, name: &str) -> bool {
    plan.tools().iter().any(|spec| spec.name.as_str() == name)
}

/// A code fence: a call where it holds one and nothing else, else text.
fn fence<'a>(from: &'a str, plan: &TurnPlan, parsed: &mut Parsed) -> &'a str {
    let inside = &from[3..];
    let (body, rest) = match inside.find("```") {
        Some(end) => (&inside[..end], &inside[end + 3..]),
        None => (inside, ""),
    };
    let (word, json) = body.split_once('\n').unwrap_or(("", body));
    let tagged = ["tool_call", "tool_calls", "tool_code", "json", ""].contains(&word.trim());
    if let (true, Some(calls)) = (tagged, alone(json, plan)) {
        parsed.calls.extend(calls);
        return rest;
    }
    let length = from.len() - rest.len();
    parsed.text.push_str(&from[..length]);
    rest
}

/// Text after the end of a block, and the block without it; a block that never ends
/// goes on to the end.
fn block<'a>(from: &'a str, end: &str) -> (&'a str, &'a str) {
    match from.find(end) {
        Some(at) => (&from[..at], &from[at + end.len()..]),
        None => (from, ""),
    }
}

fn markup<'a>(from: &'a str, opener: &str, plan: &TurnPlan, parsed: &mut Parsed) -> &'a str {
    let before = parsed.calls.len();
    let rest = match opener {
        "<function=" => {
            let (inside, rest) = block(from, "</function>");
            function(inside, plan, parsed);
            rest
        }
        "<invoke" => {
            let (inside, rest) = block(from, "</invoke>");
            invoke(inside, plan, parsed);
            rest
        }
        "<tool_call" | "<function_calls" | "<minimax:tool_call" | "<tools>" => {
            let name = opener.trim_start_matches('<').trim_end_matches('>');
            let (inside, rest) = block(from, &format!("</{name}>"));
            let inside = inside.split_once('>').map_or("", |(_, inside)| inside);
            body(inside, plan, parsed);
            rest
        }
        _ => {
            let inside = &from[opener.len()..];
            let (inside, rest) = match prefix(inside) {
                Some(at) => inside.split_at(at),
                None => (inside, ""),
            };
            body(inside, plan, parsed);
            rest
        }
    };
    if parsed.calls.len() == before {
        // Nothing in it can be read as a call: it stays as it is.
        parsed.text.push_str(&from[..from.len() - rest.len()]);
    }
    rest
}

/// Where the JSON at the beginning of a text ends.
fn prefix(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// What stands inside a wrapper: other markup, or JSON.
fn body(inside: &str, plan: &TurnPlan, parsed: &mut Parsed) {
    if inside.contains("<function=") {
        for part in inside.split("<function=").skip(1) {
            let (part, _) = block(part, "</function>");
            function(&format!("<function={part}"), plan, parsed);
        }
    } else if inside.contains("<invoke") {
        for part in inside.split("<invoke").skip(1) {
            let (part, _) = block(part, "</invoke>");
            invoke(&format!("<invoke{part}"), plan, parsed);
        }
    } else if let Some(calls) = objects(inside.trim()) {
        parsed.calls.extend(calls);
    } else if let Some(call) = damaged(inside) {
        parsed.calls.push(call);
    }
}

/// Calls in one or several JSON objects, or a list of them. None where any of it is
/// no call.
fn objects(text: &str) -> Option<Vec<(String, String)>> {
    let mut calls = Vec::new();
    let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    for value in values {
        let value = value.ok()?.get();
        if value.starts_with('[') {
            let list: Vec<&RawValue> = serde_json::from_str(value).ok()?;
            for value in list {
                calls.push(object(value.get())?);
            }
        } else {
            calls.push(object(value)?);
        }
    }
    Some(calls)
}

fn object(value: &str) -> Option<(String, String)> {
    if !value.starts_with('{') {
        return None;
    }
    if let Some(inner) = json::member(value, "function")
        && inner.starts_with('{')
    {
        return object(&inner);
    }
    let names = ["name", "tool", "function", "tool_name"];
    let name = names
        .iter()
        .find_map(|key| string(&json::member(value, key)?))?;
    let keys = ["arguments", "parameters", "args", "input"];
    let arguments = keys.iter().find_map(|key| json::member(value, key));
    let arguments = match arguments {
        Some(raw) if raw.starts_with('"') => string(&raw)?,
        Some(raw) => raw,
        None => "{}".to_owned(),
    };
    Some((name, arguments))
}

fn string(raw: &str) -> Option<String> {
    let bytes = json::string(raw)?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A call that was cut or is no valid JSON, as far as its name can be read: refused
/// later with a word on what is wrong, never run.
fn damaged(text: &str) -> Option<(String, String)> {
    let after = &text[text.find("\"name\"")? + 6..];
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    let name = after.strip_prefix('"')?;
    let (name, rest) = name.split_once('"')?;
    let arguments = rest.find('{').map_or("{", |at| &rest[at..]);
    Some((name.to_owned(), arguments.trim_end().to_owned()))
}

/// `<function=NAME>` and what follows it.
fn function(inside: &str, plan: &TurnPlan, parsed: &mut Parsed) {
    let Some((head, body)) = inside.split_once('>') else {
        return;
    };
    let name = head.trim_start_matches("<function=").trim().to_owned();
    let mut arguments = Map::new();
    if body.trim_start().starts_with('{') {
        parsed.calls.push((name, body.trim().to_owned()));
        return;
    }
    for part in body.split("<parameter=").skip(1) {
        let Some((key, value)) = part.split_once('>') else {
            continue;
        };
        let (value, _) = block(value, "</parameter>");
        let key = key.trim().to_owned();
        arguments.insert(key.clone(), typed(plan, &name, &key, value));
    }
    parsed
        .calls
        .push((name, Value::from(arguments).to_string()));
}

/// `<invoke name="NAME">` and what follows it.
fn invoke(inside: &str, plan: &TurnPlan, parsed: &mut Parsed) {
    let Some((head, body)) = inside.split_once('>') else {
        return;
    };
    let Some(name) = attribute(head) else {
        return;
    };
    let mut arguments = Map::new();
    for part in body.split("<parameter ").skip(1) {
        let Some((head, value)) = part.split_once('>') else {
            continue;
        };
        let (value, _) = block(value, "</parameter>");
        if let Some(key) = attribute(head) {
            let value = typed(plan, &name, &key, value);
            arguments.insert(key, value);
        }
    }
    parsed
        .calls
        .push((name, Value::from(arguments).to_string()));
}

fn attribute(head: &str) -> Option<String> {
    let after = &head[head.find("name=")? + 5..];
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let value = after[1..].split(quote).next()?;
    Some(value.trim().to_owned())
}

/// A value written as text: text where the schema wants it, else JSON where it is.
fn typed(plan: &TurnPlan, tool: &str, key: &str, value: &str) -> Value {
    let value = value.strip_prefix('\n').unwrap_or(value);
    let value = value.strip_suffix('\n').unwrap_or(value);
    let spec = plan.tools().iter().find(|spec| spec.name.as_str() == tool);
    let wanted = spec.and_then(|spec| {
        let schema: Value = serde_json::from_str(spec.input_schema.wire()).ok()?;
        let kind = schema["properties"][key]["type"].as_str()?;
        Some(kind.to_owned())
    });
    if wanted.as_deref() == Some("string") {
        return value.into();
    }
    match serde_json::from_str::<Value>(value.trim()) {
        Ok(parsed) if !parsed.is_string() || wanted.is_some() => parsed,
        _ => value.into(),
    }
}
