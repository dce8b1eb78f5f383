//! Gemini `generateContent`.

use serde_json::{Map, Value};
use toolcrib_core::ModelProfile;

use super::{Report, list, schema, text};

const KNOWN: [&str; 10] = [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "labels",
    "model",
    "store",
];

pub(super) fn check(profile: &ModelProfile, body: &Map<String, Value>, report: &mut Report) {
    report.unknown(body, &KNOWN);
    let mut names = Vec::new();
    for tool in list(body, "tools") {
        let Some(declarations) = tool.get("functionDeclarations") else {
            continue;
        };
        let declarations = declarations
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if declarations.is_empty() {
            report.add("tools", "an empty list of declarations is refused");
        }
        for (at, declaration) in declarations.iter().enumerate() {
            let at = format!("functionDeclarations[{at}]");
            match text(declaration, "name") {
                Some(name) => names.push((at.clone(), name.to_owned())),
                None => report.add(at.as_str(), "has no name"),
            }
            if let Some(parameters) = declaration.get("parameters") {
                let described = parameters.get("properties").and_then(Value::as_object);
                if described.is_some_and(Map::is_empty) {
                    report.add(at.as_str(), "an object without properties is refused");
                }
                schema::open_api(&at, parameters, report);
            }
        }
    }
    report.names(profile, &names, 128);
    choice(body, &names, report);
    contents(body, report);
}

fn choice(body: &Map<String, Value>, names: &[(String, String)], report: &mut Report) {
    let config = body.get("toolConfig");
    let Some(config) = config.and_then(|config| config.get("functionCallingConfig")) else {
        return;
    };
    let mode = text(config, "mode").unwrap_or_default();
    if !["AUTO", "ANY", "NONE", "VALIDATED"].contains(&mode) {
        report.add("toolConfig", format!("there is no mode {mode:?}"));
    }
    let allowed = config.get("allowedFunctionNames").and_then(Value::as_array);
    for name in allowed.into_iter().flatten().filter_map(Value::as_str) {
        if !names.iter().any(|(_, known)| known == name) {
            report.add("toolConfig", format!("{name} is not declared"));
        }
    }
}

fn contents(body: &Map<String, Value>, report: &mut Report) {
    let contents = list(body, "contents");
    if contents.first().and_then(|first| text(first, "role")) != Some("user") {
        report.add("contents", "must begin with the user");
    }
    let mut called: Vec<String> = Vec::new();
    let mut before = "";
    for (at, content) in contents.iter().enumerate() {
        let at = format!("contents[{at}]");
        let role = text(content, "role").unwrap_or_default();
        if !["user", "model"].contains(&role) {
            report.add(at.as_str(), format!("there is no role {role:?}"));
        }
        if role == before {
            report.add(at.as_str(), format!("two turns of the {role} in a row"));
        }
        before = role;
        let parts = content.get("parts").and_then(Value::as_array);
        let parts = parts.map(Vec::as_slice).unwrap_or_default();
        if parts.is_empty() {
            report.add(at.as_str(), "has no parts");
        }
        let name = |part: &Value, kind: &str| {
            let inner = part.get(kind)?;
            Some(text(inner, "name").unwrap_or_default().to_owned())
        };
        let answers: Vec<String> = parts
            .iter()
            .filter_map(|part| name(part, "functionResponse"))
            .collect();
        if role == "user" && answers != called {
            let what = format!("answers {answers:?} where {called:?} were called");
            report.add(at.as_str(), what);
        }
        called = parts
            .iter()
            .filter_map(|part| name(part, "functionCall"))
            .collect();
        for part in parts {
            let known = part.as_object().is_some_and(|part| !part.is_empty());
            if !known {
                report.add(at.as_str(), "holds an empty part");
            }
        }
    }
    if !called.is_empty() {
        report.add("contents", "the last calls have no answers");
    }
}
