//! Says of plain arguments that they fit a plain schema, without a validator.
//!
//! Most calls are in order and most schemas use a handful of keywords; the validator,
//! which takes megabytes, is only made where this cannot say yes.

use serde_json::Value;

/// Keywords that say nothing about what is valid.
const NOTES: [&str; 9] = [
    "title",
    "description",
    "default",
    "examples",
    "format",
    "$schema",
    "$comment",
    "deprecated",
    "readOnly",
];

/// Whether the value fits for sure. `false` says nothing.
pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    let Value::Object(schema) = schema else {
        return *schema == Value::Bool(true);
    };
    let none = serde_json::Map::new();
    let properties = match schema.get("properties") {
        None => &none,
        Some(Value::Object(properties)) => properties,
        Some(_) => return false,
    };
    schema.iter().all(|(key, rule)| match (key.as_str(), rule) {
        ("type", Value::String(kind)) => is(kind, value),
        ("type", Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .any(|kind| is(kind, value)),
        ("enum", Value::Array(options)) => options.contains(value),
        ("minimum", limit) => value.as_f64() >= limit.as_f64() && limit.is_number(),
        ("maximum", limit) => {
            value.is_number() && limit.is_number() && value.as_f64() <= limit.as_f64()
        }
        ("required", Value::Array(names)) => value.as_object().is_some_and(|members| {
            names
                .iter()
                .all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))
        }),
        ("properties", _) => value.as_object().is_some_and(|members| {
            members
                .iter()
                .all(|(name, value)| properties.get(name).is_none_or(|rule| fits(rule, value)))
        }),
        ("additionalProperties", Value::Bool(open)) => {
            *open
                || value
                    .as_object()
                    .is_some_and(|members| members.keys().all(|name| properties.contains_key(name)))
        }
        ("items", rule) => value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(rule, item))),
        (key, _) => NOTES.contains(&key),
    })
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        _ => false,
    }
}
