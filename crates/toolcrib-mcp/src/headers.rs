//! Arguments that travel as HTTP headers too (`x-mcp-header`), and how texts are
//! put into headers.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

const KEYWORD: &str = "x-mcp-header";

/// The arguments of an input schema that go into headers: their path through
/// `properties` and the header's name.
///
/// # Errors
/// Why the schema marks them in a way that cannot be followed; such a tool must not
/// be offered.
pub(crate) fn params(schema: &Value) -> Result<Vec<(Vec<String>, String)>, String> {
    if !mentions(schema) {
        return Ok(Vec::new());
    }
    let mut out: Vec<(Vec<String>, String)> = Vec::new();
    let mut on_chain = 0;
    chain(schema, &mut Vec::new(), &mut |path, property, name| {
        on_chain += 1;
        let shown = path.join(".");
        let Some(name) = name.as_str().filter(|name| !name.is_empty()) else {
            return Err(format!("`{KEYWORD}` of `{shown}` must be a header name"));
        };
        if !name.bytes().all(token) {
            return Err(format!(
                "`{KEYWORD}` of `{shown}` is no valid header name: {name:?}"
            ));
        }
        if out
            .iter()
            .any(|(_, known)| known.eq_ignore_ascii_case(name))
        {
            return Err(format!("two properties have the `{KEYWORD}` {name:?}"));
        }
        if !matches!(
            property.get("type").and_then(Value::as_str),
            Some("string" | "integer" | "boolean")
        ) {
            return Err(format!(
                "`{KEYWORD}` of `{shown}` needs a property of type string, integer or boolean"
            ));
        }
        out.push((path.to_vec(), name.to_owned()));
        Ok(())
    })?;
    if marks(schema) > on_chain {
        return Err(format!(
            "`{KEYWORD}` must stand in a property that is reached through `properties` alone"
        ));
    }
    Ok(out)
}

type Found<'a> = dyn FnMut(&[String], &Value, &Value) -> Result<(), String> + 'a;

fn chain(schema: &Value, path: &mut Vec<String>, found: &mut Found<'_>) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(header) = property.get(KEYWORD) {
            found(path, property, header)?;
        }
        chain(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn mentions(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key(KEYWORD) || map.values().any(mentions),
        Value::Array(items) => items.iter().any(mentions),
        _ => false,
    }
}

/// How often a schema uses the keyword as one: a property of that name is none, and
/// neither is an instance value.
fn marks(schema: &Value) -> usize {
    let Value::Object(map) = schema else {
        return match schema {
            Value::Array(items) => items.iter().map(marks).sum(),
            _ => 0,
        };
    };
    map.iter()
        .map(|(key, value)| match key.as_str() {
            KEYWORD => 1,
            "properties" | "$defs" | "definitions" | "dependencies" | "dependentSchemas"
            | "patternProperties" => match value {
                Value::Object(schemas) => schemas.values().map(marks).sum(),
                _ => 0,
            },
            "default" | "const" | "enum" | "examples" | "dependentRequired" | "required" => 0,
            _ => marks(value),
        })
        .sum()
}

fn token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The text of an argument in a header; `None` for what has no plain text.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(encode(text)),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The text as a header value: as it is where that is possible, in base64 within
/// `=?base64?` and `?=` otherwise.
pub(crate) fn encode(text: &str) -> String {
    let printable = text.chars().all(|c| (' '..='~').contains(&c));
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    let plain = printable && text.trim() == text && !looks_encoded;
    if plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn marked_properties_are_found_along_properties() {
        let schema = json!({"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "in":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
            "x-mcp-header":{"type":"string"}
        },"default":{"x-mcp-header":1}});
        let found = params(&schema).unwrap();
        assert_eq!(
            found,
            [
                (vec!["region".to_owned()], "Region".to_owned()),
                (vec!["in".to_owned(), "n".to_owned()], "N".to_owned())
            ]
        );
    }

    #[test]
    fn marks_that_cannot_be_followed_are_refused() {
        let one = |property: Value| json!({"type":"object","properties":{"a":property}});
        for schema in [
            one(json!({"type":"string","x-mcp-header":""})),
            one(json!({"type":"string","x-mcp-header":"a b"})),
            one(json!({"type":"string","x-mcp-header":1})),
            one(json!({"type":"object","x-mcp-header":"A"})),
            one(json!({"type":"number","x-mcp-header":"A"})),
            one(json!({"type":"array","items":{"type":"string","x-mcp-header":"A"}})),
            json!({"type":"object","x-mcp-header":"A"}),
            json!({"type":"object","properties":{
                "a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}),
        ] {
            assert!(params(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn texts_outside_ascii_go_as_base64() {
        for (text, want) in [
            ("us-west1", "us-west1"),
            ("", ""),
            (" a", "=?base64?IGE=?="),
            ("Ä", "=?base64?w4Q=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(encode(text), want);
        }
        assert_eq!(scalar(&json!(3)).as_deref(), Some("3"));
        assert_eq!(scalar(&json!(true)).as_deref(), Some("true"));
        assert_eq!(scalar(&json!([1])), None);
    }
}
