//! Schemas of arguments: types that exist, and the subsets that providers take.

use serde_json::Value;

use super::Report;

const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// What Gemini's `parameters` may hold.
const OPEN_API: [&str; 23] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "default",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "anyOf",
    "propertyOrdering",
    "example",
    "prefixItems",
];

/// A schema of ordinary JSON Schema whose root describes an object.
pub(super) fn object(at: &str, schema: &Value, report: &mut Report) {
    let Some(root) = schema.as_object() else {
        report.add(at, "the schema is no object");
        return;
    };
    let described = ["$ref", "anyOf", "oneOf", "allOf"];
    let typed = root.get("type").and_then(Value::as_str) == Some("object");
    if !typed && !described.iter().any(|key| root.contains_key(*key)) {
        report.add(at, "the schema's root type must be object");
    }
    types(at, schema, report);
}

/// A schema that says strict.
pub(super) fn strict(at: &str, schema: &Value, report: &mut Report) {
    let object = schema.get("type").and_then(Value::as_str) == Some("object");
    if object && schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        report.add(at, "a strict schema must set additionalProperties to false");
    }
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, property) in properties(schema) {
        if !required.contains(&name.as_str()) {
            report.add(at, format!("a strict schema must require {name}"));
        }
        strict(&format!("{at}.{name}"), property, report);
    }
    if let Some(items) = schema.get("items") {
        strict(at, items, report);
    }
}

/// A schema of the OpenAPI subset.
pub(super) fn open_api(at: &str, schema: &Value, report: &mut Report) {
    let Some(object) = schema.as_object() else {
        report.add(at, "a schema is no object");
        return;
    };
    for key in object.keys() {
        if !OPEN_API.contains(&key.as_str()) {
            report.add(at, format!("{key} is not taken in a schema"));
        }
    }
    if object.get("type").is_some_and(|kind| !kind.is_string()) {
        report.add(at, "a schema has one type");
    }
    for value in object
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !value.is_string() {
            report.add(at, "only strings can be listed");
        }
    }
    types(at, schema, report);
    for (name, property) in properties(schema) {
        open_api(&format!("{at}.{name}"), property, report);
    }
    if let Some(items) = object.get("items") {
        open_api(&format!("{at}[]"), items, report);
    }
    for part in object
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        open_api(at, part, report);
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten()
}

fn types(at: &str, schema: &Value, report: &mut Report) {
    let Some(object) = schema.as_object() else {
        return;
    };
    let words: Vec<&Value> = match object.get("type") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(one) => vec![one],
        None => Vec::new(),
    };
    for word in words {
        let known = word
            .as_str()
            .is_some_and(|word| TYPES.contains(&word.to_ascii_lowercase().as_str()));
        if !known {
            report.add(at, format!("there is no type {word}"));
        }
    }
    for (name, property) in properties(schema) {
        types(&format!("{at}.{name}"), property, report);
    }
    if let Some(items) = object.get("items") {
        types(at, items, report);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for part in object
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            types(at, part, report);
        }
    }
}
