//! The last steps to the subset of OpenAPI 3.0: one type, alternatives alone in
//! their schema, enumerations of strings, few formats.

use serde_json::{Value, json};

use super::Node;
use super::merge::types;
use super::walk::{Fitter, describe};

/// Longest list of values that a description takes over, in bytes.
const TOLD: usize = 240;

impl Fitter<'_> {
    /// One type a schema, null aside.
    pub(super) fn one_type(&mut self, node: &mut Node) {
        let Some(given) = node.get("type").cloned() else {
            return;
        };
        let mut kinds = types(&given);
        if given.is_array() {
            let all = kinds.len();
            kinds.retain(|kind| *kind != "null");
            if kinds.len() < all {
                node.insert("nullable".to_owned(), true.into());
            }
        }
        match kinds[..] {
            // Nothing but null: the dialect has no such type.
            [] | ["null"] => {
                node.insert("type".to_owned(), "string".into());
                node.insert("nullable".to_owned(), true.into());
            }
            [one] => {
                node.insert("type".to_owned(), one.into());
            }
            _ => {
                let branches: Vec<Value> = kinds.iter().map(|kind| part(node, kind)).collect();
                node.retain(|key, _| ABOUT.contains(&key.as_str()));
                node.insert("anyOf".to_owned(), branches.into());
            }
        }
    }

    /// Brings a schema into form whose inner ones are in form already.
    pub(super) fn shape(&mut self, node: &mut Node, depth: usize) {
        if node.contains_key("anyOf") {
            self.leave_alone(node);
            return;
        }
        let kind = node
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("string")
            .to_owned();
        if let Some(Value::Array(values)) = node.shift_remove("enum") {
            self.values(node, &kind, values);
        }
        if let Some(format) = node.get("format").and_then(Value::as_str) {
            let fits: &[&str] = match kind.as_str() {
                "string" => &["date-time", "enum"],
                "number" => &["float", "double"],
                "integer" => &["int32", "int64"],
                _ => &[],
            };
            if !fits.contains(&format) {
                self.note(format!("format {format} is left out"));
                node.shift_remove("format");
            }
        }
        if node.get("default") == Some(&Value::Null) {
            node.shift_remove("default");
        }
        if node.get("nullable") == Some(&Value::Bool(false)) {
            node.shift_remove("nullable");
        }
        let empty = node
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|p| p.is_empty());
        if empty && depth > 0 {
            node.shift_remove("properties");
        }
        if !node.contains_key("properties") {
            node.shift_remove("required");
        }
        // Keywords of other types are refused.
        node.retain(|key, _| ABOUT.contains(&key.as_str()) || key == "type" || fits(key, &kind));
    }

    /// Alternatives stand alone: what is beside them goes into each.
    fn leave_alone(&mut self, node: &mut Node) {
        let Some(Value::Array(given)) = node.shift_remove("anyOf") else {
            return;
        };
        let mut branches: Vec<Value> = Vec::with_capacity(given.len());
        for branch in given {
            // Alternatives among alternatives are alternatives.
            let inner = match branch {
                Value::Object(mut branch) => match branch.shift_remove("anyOf") {
                    Some(Value::Array(inner)) => inner,
                    _ => vec![Value::Object(branch)],
                },
                _ => continue,
            };
            for branch in inner {
                if !branches.contains(&branch) {
                    branches.push(branch);
                }
            }
        }
        for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
            if node.get("nullable") == Some(&Value::Bool(true)) {
                branch.insert("nullable".to_owned(), true.into());
            }
            if let Some(text) = node.get("description")
                && !branch.contains_key("description")
            {
                branch.insert("description".to_owned(), text.clone());
            }
        }
        for (key, _) in std::mem::take(node) {
            if !ABOUT.contains(&key.as_str()) {
                self.note(format!("{key} beside alternatives is left out"));
            }
        }
        match branches.len() {
            1 => node.extend(branches.remove(0).as_object().cloned().unwrap_or_default()),
            _ => {
                node.insert("anyOf".to_owned(), branches.into());
            }
        }
    }

    /// Values to choose from are strings here; others are told.
    fn values(&mut self, node: &mut Node, kind: &str, values: Vec<Value>) {
        if values.contains(&Value::Null) {
            node.insert("nullable".to_owned(), true.into());
        }
        let nameable = |value: &&Value| value.as_str().is_some_and(|text| !text.is_empty());
        let strings: Vec<Value> = values.iter().filter(nameable).cloned().collect();
        let rest = values.iter().filter(|value| !value.is_null()).count() - strings.len();
        if kind == "string" && !strings.is_empty() {
            if rest > 0 {
                self.note("values that are no text are left out of the enum".to_owned());
            }
            node.insert("enum".to_owned(), strings.into());
            return;
        }
        let told: Vec<String> = values.iter().map(Value::to_string).collect();
        let told = told.join(", ");
        self.note("an enum of other values than strings is left out".to_owned());
        if told.len() <= TOLD && !told.is_empty() {
            let sentence = match values.len() {
                1 => format!("Always {told}."),
                _ => format!("One of {told}."),
            };
            describe(node, &sentence);
        }
    }
}

/// Keywords that say something about a schema and nothing about values.
const ABOUT: [&str; 4] = ["title", "description", "nullable", "default"];

/// Whether a keyword belongs to a type.
fn fits(keyword: &str, kind: &str) -> bool {
    let kinds: &[&str] = match keyword {
        "properties" | "required" | "minProperties" | "maxProperties" => &["object"],
        "items" | "minItems" | "maxItems" => &["array"],
        "minLength" | "maxLength" | "pattern" | "enum" => &["string"],
        "minimum" | "maximum" => &["number", "integer"],
        "format" => &["string", "number", "integer"],
        _ => return false,
    };
    kinds.contains(&kind)
}

/// The part of a schema of several types that is about one of them.
fn part(node: &Node, kind: &str) -> Value {
    let mut part = Node::new();
    part.insert("type".to_owned(), kind.into());
    for (key, value) in node {
        if fits(key, kind) || (kind == "object" && key == "additionalProperties") {
            part.insert(key.clone(), value.clone());
        }
    }
    if kind == "array" && !part.contains_key("items") {
        part.insert("items".to_owned(), json!({}));
    }
    Value::Object(part)
}
