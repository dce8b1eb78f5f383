//! A light check of arguments that were written without having seen the schema.
//!
//! Only what is beyond doubt at the outermost level: a required argument that is
//! missing, one that the schema does not know, a value of another type. It is no
//! validator: nested values and keywords that combine schemas are not looked at.

use serde_json::{Map, Value};
use toolcrib_core::{Arguments, ToolError, ToolErrorKind, ToolSpec};

use crate::signature::signature;

/// Most bytes of a schema that an error repeats; a larger one is told by signature.
const SCHEMA: usize = 8 * 1024;
/// Most mistakes that one error tells.
const MISTAKES: usize = 5;

/// Checks the arguments of a call that was written without the tool's definition.
///
/// # Errors
/// `BadArgs` that names the arguments at fault and repeats the schema.
pub fn check_unseen(spec: &ToolSpec, arguments: &Arguments) -> Result<(), ToolError> {
    let schema: Value = serde_json::from_str(spec.input_schema.wire()).unwrap_or(Value::Null);
    let Value::Object(arguments) = arguments.value() else {
        return Ok(());
    };
    let mistakes = mistakes(&schema, &arguments);
    if mistakes.is_empty() {
        return Ok(());
    }
    let text = format!(
        "bad arguments of `{}`: {}; it did not run. {}",
        spec.name,
        mistakes.join("; "),
        schema_line(spec)
    );
    Err(ToolError::new(ToolErrorKind::BadArgs, text))
}

/// What an error says of the arguments that are wanted. A schema is repeated whole or
/// not at all.
pub(crate) fn schema_line(spec: &ToolSpec) -> String {
    let schema = spec.input_schema.wire();
    if schema.len() <= SCHEMA {
        format!("Its schema: {schema}")
    } else {
        format!("Its arguments: {}", signature(spec))
    }
}

fn mistakes(schema: &Value, arguments: &Map<String, Value>) -> Vec<String> {
    let mut mistakes = Vec::new();
    let Some(schema) = schema.as_object() else {
        return mistakes;
    };
    let empty = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for name in &required {
        if !arguments.contains_key(*name) {
            mistakes.push(format!("`{name}` is missing"));
        }
    }
    for (name, value) in arguments {
        match properties.get(name) {
            // Models write null for what they leave out.
            Some(_) if value.is_null() && !required.contains(&name.as_str()) => {}
            Some(property) => mistakes.extend(mistyped(name, property, value)),
            None if !properties.is_empty() && closed(schema) => {
                let name = crate::catalogue::plain(name, 64);
                mistakes.push(format!("there is no argument `{name}`"));
            }
            None => {}
        }
    }
    mistakes.truncate(MISTAKES);
    mistakes
}

/// Whether an argument without a property is a mistake. The standard allows it where
/// nothing is said; beside known names, one that was guessed is a mistake all the same.
fn closed(schema: &Map<String, Value>) -> bool {
    const OPEN: [&str; 7] = [
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "if",
        "patternProperties",
        "unevaluatedProperties",
    ];
    let more = schema.get("additionalProperties");
    !OPEN.iter().any(|key| schema.contains_key(*key))
        && more.is_none_or(|more| *more == Value::Bool(false))
}

fn mistyped(name: &str, property: &Value, value: &Value) -> Option<String> {
    let kinds: Vec<&str> = match property.get("type")? {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let is = |kind: &str| match (kind, value) {
        ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("object", Value::Object(_))
        | ("array", Value::Array(_))
        | ("number", Value::Number(_))
        | ("null", Value::Null) => true,
        ("integer", Value::Number(number)) => number.as_f64().is_some_and(|n| n.fract() == 0.0),
        ("string" | "boolean" | "object" | "array" | "number" | "null" | "integer", _) => false,
        // A type that the standard does not know forbids nothing.
        _ => true,
    };
    if kinds.is_empty() || kinds.iter().any(|kind| is(kind)) {
        return None;
    }
    Some(format!("`{name}` must be of type {}", kinds.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib_core::{Schema, ToolName};

    fn check(schema: &str, arguments: &str) -> String {
        let name = ToolName::parse("do").unwrap();
        let spec = ToolSpec::new(name, "", Schema::parse(schema).unwrap());
        match check_unseen(&spec, &Arguments::parse(arguments).unwrap()) {
            Ok(()) => "fine".to_owned(),
            Err(error) => error
                .model
                .split("; it did not run")
                .next()
                .unwrap()
                .to_owned(),
        }
    }

    #[test]
    fn mistakes_beyond_doubt_are_told_together() {
        let schema = r#"{"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":["array","null"]},"name":{"type":"string"}},"required":["id"]}"#;
        assert_eq!(check(schema, r#"{"id":1,"tags":null}"#), "fine");
        assert_eq!(check(schema, r#"{"id":2.0,"name":null}"#), "fine");
        assert_eq!(
            check(schema, r#"{"Id":1,"tags":"a"}"#),
            "bad arguments of `do`: `id` is missing; there is no argument `Id`; `tags` must be of type array or null"
        );
        assert_eq!(
            check(schema, r#"{"id":"1"}"#),
            "bad arguments of `do`: `id` must be of type integer"
        );
    }

    #[test]
    fn what_a_schema_leaves_open_is_left_to_the_tool() {
        for schema in [
            r#"{"type":"object","properties":{},"additionalProperties":true}"#,
            "{}",
            r##"{"$ref":"#/$defs/a"}"##,
            r#"{"anyOf":[{"required":["a"]}]}"#,
            r#"{"type":"object","properties":{"z":{"type":"thing"}},"patternProperties":{"^z":{}}}"#,
        ] {
            assert_eq!(check(schema, r#"{"z":1}"#), "fine", "{schema}");
        }
    }

    #[test]
    fn a_large_schema_is_told_by_signature() {
        let long = "x".repeat(SCHEMA);
        let schema = format!(
            r#"{{"type":"object","properties":{{"a":{{"type":"string","description":"{long}"}}}},"required":["a"]}}"#
        );
        let name = ToolName::parse("do").unwrap();
        let spec = ToolSpec::new(name, "", Schema::parse(&schema).unwrap());
        let error = check_unseen(&spec, &Arguments::empty()).unwrap_err();
        insta::assert_snapshot!(error.model, @"bad arguments of `do`: `a` is missing; it did not run. Its arguments: do(a)");
    }
}
