//! A JSON Schema in the part of it that Gemini takes for arguments.
//!
//! References are put in place, since no route of the provider can be trusted to
//! follow them; what has no counterpart is left out and checked on our side all the
//! same, when the call comes.

use serde_json::{Map, Value};

/// Deepest nesting that is followed; a schema that refers to itself goes on for ever.
const DEEPEST: usize = 24;

const KEPT: [&str; 12] = [
    "title",
    "description",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "pattern",
];

/// The `parameters` of a declaration; none for a tool without arguments, whose empty
/// object would be refused.
pub(crate) fn parameters(schema: &str) -> Option<String> {
    let root: Value = serde_json::from_str(schema).ok()?;
    let reduced = reduce(&root, &root, 0);
    let properties = reduced.get("properties").and_then(Value::as_object);
    if properties.is_none_or(Map::is_empty) && reduced.get("anyOf").is_none() {
        return None;
    }
    Some(reduced.to_string())
}

fn reduce(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(object) = schema.as_object() else {
        return Value::Object(Map::from_iter([("type".to_owned(), "string".into())]));
    };
    if depth > DEEPEST {
        return Value::Object(Map::from_iter([("type".to_owned(), "object".into())]));
    }
    if let Some(target) = object.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|at| root.pointer(at));
        let mut reduced = reduce(found.unwrap_or(&Value::Null), root, depth + 1);
        if let (Some(text), Some(reduced)) = (object.get("description"), reduced.as_object_mut()) {
            reduced.insert("description".to_owned(), text.clone());
        }
        return reduced;
    }
    let mut out = Map::new();
    kind(object, &mut out);
    for key in KEPT {
        if let Some(value) = object.get(key) {
            out.insert(key.to_owned(), value.clone());
        }
    }
    enumeration(object, &mut out);
    if let Some(properties) = object.get("properties").and_then(Value::as_object) {
        let reduced = properties
            .iter()
            .map(|(name, property)| (name.clone(), reduce(property, root, depth + 1)))
            .collect::<Map<_, _>>();
        // Only what is there may be required.
        if let Some(required) = object.get("required").and_then(Value::as_array) {
            let known = required
                .iter()
                .filter(|name| name.as_str().is_some_and(|name| reduced.contains_key(name)));
            let known: Vec<Value> = known.cloned().collect();
            if !known.is_empty() {
                out.insert("required".to_owned(), known.into());
            }
        }
        out.insert("properties".to_owned(), reduced.into());
    }
    if let Some(items) = object.get("items") {
        out.insert("items".to_owned(), reduce(items, root, depth + 1));
    } else if out.get("type").and_then(Value::as_str) == Some("array") {
        out.insert("items".to_owned(), reduce(&Value::Null, root, depth + 1));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(list) = object.get(key).and_then(Value::as_array) {
            alternatives(list, root, depth, &mut out);
        }
    }
    if let Some(list) = object.get("allOf").and_then(Value::as_array) {
        for part in list {
            merge(reduce(part, root, depth + 1), &mut out);
        }
    }
    if out.contains_key("properties") && !out.contains_key("type") {
        out.insert("type".to_owned(), "object".into());
    }
    if !["type", "anyOf"].iter().any(|key| out.contains_key(*key)) {
        out.insert("type".to_owned(), "string".into());
    }
    Value::Object(out)
}

/// One type, and `nullable` where null was among several.
fn kind(object: &Map<String, Value>, out: &mut Map<String, Value>) {
    match object.get("type") {
        Some(Value::String(one)) if one != "null" => {
            out.insert("type".to_owned(), one.as_str().into());
        }
        Some(Value::Array(several)) => {
            let words: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            let rest: Vec<&str> = words.iter().copied().filter(|w| *w != "null").collect();
            match rest.as_slice() {
                [] => {}
                [one] => {
                    out.insert("type".to_owned(), (*one).into());
                }
                more => {
                    let list = more.iter().map(|word| {
                        let mut one = Map::from_iter([("type".to_owned(), Value::from(*word))]);
                        if *word == "array" {
                            let item = Map::from_iter([("type".to_owned(), "string".into())]);
                            one.insert("items".to_owned(), item.into());
                        }
                        Value::Object(one)
                    });
                    out.insert("anyOf".to_owned(), list.collect());
                }
            }
            if words.contains(&"null") {
                out.insert("nullable".to_owned(), true.into());
            }
        }
        _ => {}
    }
    if object.get("nullable") == Some(&Value::Bool(true)) {
        out.insert("nullable".to_owned(), true.into());
    }
}

/// Only strings can be listed; what else was listed is described.
fn enumeration(object: &Map<String, Value>, out: &mut Map<String, Value>) {
    let one = object.get("const").map(std::slice::from_ref);
    let listed = object.get("enum").and_then(Value::as_array);
    let Some(values) = listed.map(Vec::as_slice).or(one) else {
        return;
    };
    let words: Vec<&Value> = values.iter().filter(|v| !v.is_null()).collect();
    if words.len() < values.len() {
        out.insert("nullable".to_owned(), true.into());
    }
    if !words.is_empty() && words.iter().all(|value| value.is_string()) {
        out.insert("type".to_owned(), "string".into());
        out.insert("enum".to_owned(), words.into_iter().cloned().collect());
        return;
    }
    let listed = words.iter().map(|value| value.to_string());
    let text = format!("One of: {}.", listed.collect::<Vec<_>>().join(", "));
    let described = match out.get("description").and_then(Value::as_str) {
        Some(old) => format!("{old} {text}"),
        None => text,
    };
    out.insert("description".to_owned(), described.into());
    if !out.contains_key("type") {
        let kind = match words.first() {
            Some(Value::Bool(_)) => "boolean",
            Some(Value::Number(n)) if n.is_f64() => "number",
            Some(Value::Number(_)) => "integer",
            _ => "string",
        };
        out.insert("type".to_owned(), kind.into());
    }
}

fn alternatives(list: &[Value], root: &Value, depth: usize, out: &mut Map<String, Value>) {
    let is_null = |value: &&Value| value.get("type").and_then(Value::as_str) == Some("null");
    if list.iter().any(|value| is_null(&value)) {
        out.insert("nullable".to_owned(), true.into());
    }
    let mut rest: Vec<Value> = list
        .iter()
        .filter(|value| !is_null(value))
        .map(|value| reduce(value, root, depth + 1))
        .collect();
    match rest.len() {
        0 => {}
        1 => merge(rest.remove(0), out),
        _ => {
            out.insert("anyOf".to_owned(), rest.into());
        }
    }
}

fn merge(part: Value, out: &mut Map<String, Value>) {
    let Value::Object(part) = part else {
        return;
    };
    for (key, value) in part {
        match (key.as_str(), out.get_mut(&key), value) {
            ("properties", Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            ("required", Some(Value::Array(old)), Value::Array(new)) => {
                let new: Vec<Value> = new.into_iter().filter(|n| !old.contains(n)).collect();
                old.extend(new);
            }
            (_, Some(_), _) => {}
            (_, None, value) => {
                out.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, expected: Option<&str>) {
        assert_eq!(parameters(schema).as_deref(), expected, "{schema}");
    }

    #[test]
    fn p29_schemas_are_reduced_to_what_the_provider_takes() {
        check(r#"{"type":"object","properties":{}}"#, None);
        check(
            r##"{"$schema":"x","type":"object","additionalProperties":false,"required":["a","gone"],
              "properties":{"a":{"$ref":"#/$defs/A","description":"An A."},"n":{"type":["integer","null"],"default":3}},
              "$defs":{"A":{"type":"string","const":"x"}}}"##,
            Some(
                r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string","enum":["x"],"description":"An A."},"n":{"type":"integer","nullable":true}}}"#,
            ),
        );
        check(
            r#"{"type":"object","properties":{"v":{"oneOf":[{"type":"string"},{"type":"null"}]},"w":{"enum":[1,2]},"l":{"type":"array"}}}"#,
            Some(
                r#"{"type":"object","properties":{"v":{"nullable":true,"type":"string"},"w":{"description":"One of: 1, 2.","type":"integer"},"l":{"type":"array","items":{"type":"string"}}}}"#,
            ),
        );
    }

    #[test]
    fn p29_a_schema_that_refers_to_itself_ends() {
        let text = parameters(
            r##"{"type":"object","properties":{"n":{"$ref":"#/properties/n"},"t":{"type":"array","items":{"$ref":"#"}}}}"##,
        );
        assert!(text.is_some_and(|text| text.len() < 1 << 20));
    }
}
