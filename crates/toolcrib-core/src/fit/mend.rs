//! What is no JSON Schema, made one: whatever the API, a validator stands there.

use std::collections::HashSet;

use serde_json::{Number, Value, json};

use super::Node;
use super::regex::is_portable;
use super::walk::Fitter;

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];
const NUMBERS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];
const COUNTS: [&str; 6] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

impl Fitter<'_> {
    /// Mends one schema, its inner ones left as they are.
    pub(super) fn mend(&mut self, node: &mut Node) {
        self.mend_type(node);
        self.mend_values(node);
        self.mend_bounds(node);
        self.mend_shape(node);
        mend_texts(node);
    }

    fn mend_type(&mut self, node: &mut Node) {
        match node.get("type") {
            None => {}
            Some(Value::String(one)) if TYPES.contains(&one.as_str()) => {}
            Some(given) => {
                let words = super::merge::types(given);
                let mut known: Vec<&str> = Vec::new();
                let mut open = words.is_empty();
                for word in &words {
                    match standard(word) {
                        Some(kind) if !known.contains(&kind) => known.push(kind),
                        Some(_) => {}
                        None => open = true,
                    }
                }
                let same = given.as_array().is_some() && known.len() > 1 && known == words;
                if !open && same {
                    // As it should be.
                } else if open || known.is_empty() {
                    if !matches!(words[..], ["any"]) {
                        self.note(format!("type {given} is unknown"));
                    }
                    node.shift_remove("type");
                } else {
                    let kinds = match known[..] {
                        [one] => json!(one),
                        _ => json!(known),
                    };
                    node.insert("type".to_owned(), kinds);
                }
            }
        }
        if self.limits.open_api {
            return;
        }
        // The word of OpenAPI in that of JSON Schema.
        if let Some(nullable) = node.shift_remove("nullable")
            && nullable == Value::Bool(true)
        {
            allow_null(node);
        }
    }

    fn mend_values(&mut self, node: &mut Node) {
        match node.get_mut("enum") {
            None => {}
            Some(Value::Array(values)) if !values.is_empty() => {
                each_once(values);
            }
            Some(_) => {
                node.shift_remove("enum");
                self.note("an enum without values is left out".to_owned());
            }
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            if let Some(value) = node.get(key)
                && value.as_array().is_none_or(|list| list.is_empty())
            {
                node.shift_remove(key);
            }
        }
    }

    fn mend_bounds(&mut self, node: &mut Node) {
        for (exclusive, plain) in [
            ("exclusiveMinimum", "minimum"),
            ("exclusiveMaximum", "maximum"),
        ] {
            if let Some(Value::Bool(yes)) = node.get(exclusive) {
                let yes = *yes;
                node.shift_remove(exclusive);
                if yes && let Some(bound) = node.shift_remove(plain) {
                    node.insert(exclusive.to_owned(), bound);
                }
            }
        }
        for key in NUMBERS.iter().chain(&COUNTS) {
            let count = COUNTS.contains(key);
            let fits = |value: &Value| match value {
                Value::Number(number) if count => number.is_u64(),
                Value::Number(_) => true,
                _ => false,
            };
            if node.get(*key).is_some_and(|value| !fits(value)) {
                let number = node.get(*key).and_then(|value| whole(value, count));
                match number {
                    Some(number) => {
                        node.insert((*key).to_owned(), Value::Number(number));
                    }
                    None => {
                        node.shift_remove(*key);
                        self.note(format!("{key} is no number and left out"));
                    }
                }
            }
        }
        self.mend_patterns(node);
        if node.get("format").is_some_and(|value| !value.is_string()) {
            node.shift_remove("format");
        }
    }

    /// What is no regular expression everywhere is none; the tool's own schema still
    /// holds what it says.
    fn mend_patterns(&mut self, node: &mut Node) {
        if let Some(pattern) = node.get("pattern")
            && !pattern.as_str().is_some_and(is_portable)
        {
            let said = shortened(pattern);
            node.shift_remove("pattern");
            if self.keeps("pattern") {
                self.note(format!(
                    "pattern {said} is left out: not every API reads it"
                ));
            }
        }
        if let Some(Value::Object(patterns)) = node.get_mut("patternProperties")
            && !patterns.keys().all(|pattern| is_portable(pattern))
        {
            let odd: Vec<String> = patterns
                .keys()
                .filter(|pattern| !is_portable(pattern))
                .cloned()
                .collect();
            patterns.retain(|pattern, _| is_portable(pattern));
            if patterns.is_empty() {
                node.shift_remove("patternProperties");
            }
            if self.keeps("patternProperties") {
                for pattern in odd {
                    let said = shortened(&Value::from(pattern));
                    self.note(format!(
                        "patternProperties {said} is left out: not every API reads it"
                    ));
                }
            }
            // What the pattern let in must not be refused for want of it.
            if node.get("additionalProperties") == Some(&Value::Bool(false)) {
                node.shift_remove("additionalProperties");
            }
        }
    }

    fn mend_shape(&mut self, node: &mut Node) {
        for key in ["properties", "patternProperties", "$defs", "definitions"] {
            if node.get(key).is_some_and(|value| !value.is_object()) {
                node.shift_remove(key);
                self.note(format!("{key} is no object and left out"));
            }
        }
        match node.get_mut("required") {
            None => {}
            Some(Value::Array(names)) => {
                names.retain(Value::is_string);
                each_once(names);
            }
            Some(_) => {
                node.shift_remove("required");
            }
        }
        // As older drafts have it: asked for in the property itself.
        let mut asked = Vec::new();
        if let Some(Value::Object(properties)) = node.get("properties") {
            for (name, schema) in properties {
                if schema.get("required") == Some(&Value::Bool(true)) {
                    asked.push(Value::from(name.as_str()));
                }
            }
        }
        if !asked.is_empty() {
            let required = node.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(required) = required {
                required.append(&mut asked);
                each_once(required);
            }
        }
        if let Some(Value::Array(items)) = node.get_mut("items") {
            let items = std::mem::take(items);
            node.shift_remove("items");
            let rest = node.shift_remove("additionalItems");
            if !items.is_empty() {
                node.insert("prefixItems".to_owned(), items.into());
            }
            if let Some(rest @ Value::Object(_)) = rest {
                node.insert("items".to_owned(), rest);
            }
        }
        for key in ["items", "additionalProperties"] {
            let fits = |value: &Value| value.is_object() || value.is_boolean();
            if node.get(key).is_some_and(|value| !fits(value)) {
                node.shift_remove(key);
            }
        }
        // In a list of types, one without items is a list of anything to grammars.
        let kinds = node
            .get("type")
            .map(super::merge::types)
            .unwrap_or_default();
        let list = kinds == ["array"] || (!self.limits.typed && kinds.contains(&"array"));
        if list && !node.contains_key("items") && !node.contains_key("prefixItems") {
            node.insert("items".to_owned(), json!({}));
        }
    }
}

/// The beginning of a pattern, as JSON.
fn shortened(pattern: &Value) -> String {
    const SHOWN: usize = 60;
    let text = pattern.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Keeps the first of equal values, also of a hundred thousand.
fn each_once(values: &mut Vec<Value>) {
    let mut seen: HashSet<&Value> = HashSet::with_capacity(values.len());
    let first: Vec<bool> = values.iter().map(|value| seen.insert(value)).collect();
    let mut first = first.into_iter();
    values.retain(|_| first.next().unwrap_or(true));
}

/// Descriptions that are no text are refused; numbers as titles happen.
fn mend_texts(node: &mut Node) {
    for key in ["title", "description"] {
        match node.get(key) {
            None | Some(Value::String(_)) => {}
            Some(Value::Null | Value::Object(_) | Value::Array(_)) => {
                node.shift_remove(key);
            }
            Some(other) => {
                let text = other.to_string();
                node.insert(key.to_owned(), text.into());
            }
        }
    }
}

/// The standard's word for a type, by the names that other languages give it.
pub(super) fn standard(word: &str) -> Option<&'static str> {
    if let Some(kind) = TYPES.iter().find(|kind| **kind == word) {
        return Some(kind);
    }
    Some(match word.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" | "char" | "file" | "date" | "datetime" | "uuid" => "string",
        "integer" | "int" | "int32" | "int64" | "long" | "short" => "integer",
        "number" | "float" | "double" | "decimal" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "set" => "array",
        "object" | "dict" | "map" | "hash" | "record" => "object",
        "null" | "none" | "nil" => "null",
        _ => return None,
    })
}

/// Makes null one of the values.
pub(super) fn allow_null(node: &mut Node) {
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    if let Some(constant) = node.shift_remove("const") {
        node.insert("enum".to_owned(), json!([constant, null]));
    }
    match node.get_mut("type") {
        Some(Value::String(kind)) if kind == "null" => {}
        Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => kinds.push("null".into()),
        _ => {}
    }
    if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
        let null = json!({"type": "null"});
        if !branches.contains(&null) {
            branches.push(null);
        }
    }
}

/// The number that a text or a whole float means.
fn whole(value: &Value, count: bool) -> Option<Number> {
    let number: Number = match value {
        Value::Number(number) => number.clone(),
        Value::String(text) => serde_json::from_str(text.trim()).ok()?,
        _ => return None,
    };
    if !count || number.is_u64() {
        return Some(number);
    }
    let whole = number
        .as_f64()
        .filter(|n| n.fract() == 0.0 && (0.0..1e15).contains(n))?;
    Some(Number::from(whole as u64))
}
