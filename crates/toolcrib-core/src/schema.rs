//! JSON Schemas as received.
//!
//! A schema's bytes are part of a prompt that providers cache by prefix, so they
//! are parsed for checks and never written anew. The one change made on the way
//! out is named: an object schema without `properties` gets an empty one, since
//! some servers refuse it otherwise.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON Schema whose root is an object, byte for byte as its author wrote it.
#[derive(Clone)]
pub struct Schema {
    received: Arc<str>,
    wire: Arc<str>,
}

/// Why a text is not a usable schema.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// Not JSON at all.
    #[error("the schema is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but not an object (`true`, an array, a string).
    #[error("the schema must be a JSON object, not {0}")]
    NotAnObject(&'static str),
    /// An input schema whose root type is something else than an object.
    #[error("the schema's root type must be \"object\", not {0}")]
    RootType(String),
}

const EMPTY: &str = r#"{"type":"object","properties":{}}"#;

/// Keywords that describe the root by other means than its own `properties`.
const ROOT_ALTERNATIVES: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties"];

impl Schema {
    /// The schema of a tool without arguments.
    pub fn empty() -> Schema {
        Schema {
            received: EMPTY.into(),
            wire: EMPTY.into(),
        }
    }

    /// Accepts an input schema, keeping its bytes.
    ///
    /// # Errors
    /// [`SchemaError`] when the text is not a JSON object or says that the root is
    /// something else than an object.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        let mut value: Value = serde_json::from_str(text)?;
        let Some(object) = value.as_object_mut() else {
            return Err(SchemaError::NotAnObject(kind(&value)));
        };
        match object.get("type") {
            None => {}
            Some(Value::String(root)) if root == "object" => {}
            Some(other) => return Err(SchemaError::RootType(other.to_string())),
        }
        let received: Arc<str> = text.trim().into();
        let described = object.contains_key("properties") && object.contains_key("type");
        if described
            || ROOT_ALTERNATIVES
                .iter()
                .any(|key| object.contains_key(*key))
        {
            return Ok(Schema {
                wire: received.clone(),
                received,
            });
        }
        object.entry("type").or_insert_with(|| "object".into());
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Default::default()));
        Ok(Schema {
            received,
            wire: value.to_string().into(),
        })
    }

    /// The text as its author wrote it.
    pub fn received(&self) -> &str {
        &self.received
    }

    /// The text to send: the received bytes, or, for an object schema without
    /// `type` or `properties`, the same schema with them.
    pub fn wire(&self) -> &str {
        &self.wire
    }

    pub(crate) fn wire_shared(&self) -> Arc<str> {
        self.wire.clone()
    }

    /// The schema with all object keys sorted and no white space: two schemas that
    /// mean the same bytes apart from order and layout have equal canonical forms.
    pub fn canonical(&self) -> String {
        let value: Value = serde_json::from_str(&self.wire).unwrap_or(Value::Null);
        let mut out = String::with_capacity(self.wire.len());
        canonical(&value, &mut out);
        out
    }
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (i, (key, value)) in entries.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                canonical(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.received == other.received
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.received)
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue =
            serde_json::from_str(&self.received).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Schema::parse(raw.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_kept_as_received() {
        let text =
            r#"{ "type":"object", "properties": {"b":{"type":"number","default":1.0}, "a":{}} }"#;
        let schema = Schema::parse(text).unwrap();
        assert_eq!(schema.wire(), text);
        assert_eq!(serde_json::to_string(&schema).unwrap(), text);
        let back: Schema = serde_json::from_str(text).unwrap();
        assert_eq!(back.received(), text);
    }

    #[test]
    fn a_tool_without_arguments_is_an_object_with_empty_properties() {
        for text in ["{}", r#"{"type":"object"}"#, r#"{"$schema":"x"}"#] {
            let wire = Schema::parse(text).unwrap().wire().to_owned();
            let value: Value = serde_json::from_str(&wire).unwrap();
            assert_eq!(value["type"], "object", "{text}");
            assert_eq!(
                value["properties"],
                Value::Object(Default::default()),
                "{text}"
            );
        }
        assert_eq!(Schema::empty().wire(), EMPTY);
        assert_eq!(
            Schema::parse(r##"{"$ref":"#/$defs/a"}"##).unwrap().wire(),
            r##"{"$ref":"#/$defs/a"}"##
        );
    }

    #[test]
    fn refuses_what_is_not_an_object_schema() {
        assert!(matches!(Schema::parse("{"), Err(SchemaError::Json(_))));
        assert!(matches!(
            Schema::parse("[1]"),
            Err(SchemaError::NotAnObject("an array"))
        ));
        assert!(matches!(
            Schema::parse(r#"{"type":"array"}"#),
            Err(SchemaError::RootType(_))
        ));
    }

    #[test]
    fn canonical_form_ignores_key_order_and_layout() {
        let a =
            Schema::parse(r#"{"type":"object","properties":{"a":{"enum":[2,1]},"b":{}}}"#).unwrap();
        let b = Schema::parse(r#"{ "properties":{"b":{},"a":{"enum":[2,1]}}, "type":"object"}"#)
            .unwrap();
        let c =
            Schema::parse(r#"{"type":"object","properties":{"a":{"enum":[1,2]},"b":{}}}"#).unwrap();
        assert_eq!(a.canonical(), b.canonical());
        assert_ne!(a.canonical(), c.canonical());
    }
}
