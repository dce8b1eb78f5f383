//! JSON Schemas as received.
//!
//! A schema's bytes are part of a prompt that providers cache by prefix, so they
//! are parsed for checks and never written anew. The changes made on the way out are
//! named: an object schema without `properties` gets an empty one, since some servers
//! refuse it otherwise, and a root that may be an object or something else is one,
//! since arguments always are.

mod canonical;
mod look;

use std::cell::Cell;
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
    /// An input schema whose root refers to, or chooses between, other things than
    /// objects: no call could ever be right.
    #[error("the schema's root accepts no object, and arguments are always one")]
    NoObject,
    /// Nested so deep that what reads it next would give up.
    #[error(
        "the schema is nested {0} levels deep, and at most {max} are taken; make it flatter",
        max = Schema::DEEPEST
    )]
    TooDeep(usize),
}

const EMPTY: &str = r#"{"type":"object","properties":{}}"#;

/// Keywords that describe the root by other means than its own `properties`.
const ROOT_ALTERNATIVES: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties"];

impl Schema {
    /// Objects and arrays within one another; JSON readers end at 128, and a schema lies
    /// in others' texts.
    pub const DEEPEST: usize = 120;

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
    /// [`SchemaError`] when the text is not a JSON object, says that the root is
    /// something else than an object, or is nested too deep.
    pub fn parse(text: &str) -> Result<Schema, SchemaError> {
        Schema::parse_raw(serde_json::from_str(text)?)
    }

    /// The same of a text that is known to be JSON.
    ///
    /// # Errors
    /// As [`Schema::parse`].
    pub fn parse_raw(raw: &RawValue) -> Result<Schema, SchemaError> {
        let text = raw.get();
        let look = look::look(text, &ROOT_ALTERNATIVES);
        if look.depth > Schema::DEEPEST {
            return Err(SchemaError::TooDeep(look.depth));
        }
        if look.plain {
            let received: Arc<str> = text.into();
            return Ok(Schema {
                wire: received.clone(),
                received,
            });
        }
        let mut value: Value = serde_json::from_str(text)?;
        let Some(object) = value.as_object_mut() else {
            return Err(SchemaError::NotAnObject(kind(&value)));
        };
        let mut mended = false;
        match object.get("type") {
            None => {}
            Some(Value::String(root)) if root == "object" => {}
            Some(Value::Array(roots)) if roots.iter().any(|root| root == "object") => {
                object.insert("type".to_owned(), "object".into());
                mended = true;
            }
            Some(other) => return Err(SchemaError::RootType(other.to_string())),
        }
        let has = |key: &&str| object.contains_key(*key);
        let alternatives = ROOT_ALTERNATIVES.iter().any(has);
        let described = object.contains_key("properties") && object.contains_key("type");
        if alternatives && !admits_object(&value, &value, &Cell::new(LOOKS)) {
            return Err(SchemaError::NoObject);
        }
        let received: Arc<str> = text.into();
        if described || alternatives {
            return Ok(Schema {
                wire: match mended {
                    true => value.to_string().into(),
                    false => received.clone(),
                },
                received,
            });
        }
        let Some(object) = value.as_object_mut() else {
            return Err(SchemaError::NoObject);
        };
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
        canonical::canonical(&self.wire)
    }
}

/// How many schemas are looked at before a root is taken for an object.
const LOOKS: u32 = 200;

/// Whether `node` can be right for an object; yes where that cannot be told, or not
/// within so many looks: references may go in circles.
fn admits_object(root: &Value, node: &Value, looks: &Cell<u32>) -> bool {
    let Some(left) = looks.get().checked_sub(1) else {
        return true;
    };
    looks.set(left);
    let map = match node {
        Value::Bool(anything) => return *anything,
        Value::Object(map) => map,
        _ => return true,
    };
    let admits = |inner: &Value| admits_object(root, inner, looks);
    let branches = |key: &str| map.get(key).and_then(Value::as_array);
    let by_type = match map.get("type") {
        Some(Value::String(word)) => word == "object",
        Some(Value::Array(words)) => words.iter().any(|word| word == "object"),
        _ => true,
    };
    let target = map.get("$ref").and_then(Value::as_str);
    let target = target.and_then(|path| root.pointer(path.strip_prefix('#')?));
    by_type
        && target.is_none_or(admits)
        && ["anyOf", "oneOf"]
            .iter()
            .filter_map(|key| branches(key))
            .all(|any| any.is_empty() || any.iter().any(admits))
        && branches("allOf").is_none_or(|all| all.iter().all(admits))
        && branches("enum").is_none_or(|values| values.iter().any(Value::is_object))
        && map.get("const").is_none_or(Value::is_object)
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
        Schema::parse_raw(&raw).map_err(D::Error::custom)
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
    fn a_root_that_may_be_an_object_is_one() {
        for (text, wire) in [
            (
                r#"{"type":["object","null"],"properties":{"a":{"type":"string"}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"string"}}}"#,
            ),
            (
                r#"{"type":["null","object"]}"#,
                r#"{"type":"object","properties":{}}"#,
            ),
        ] {
            let schema = Schema::parse(text).unwrap();
            assert_eq!((schema.wire(), schema.received()), (wire, text));
        }
        for text in [
            r#"{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"object"}]}"#,
            r#"{"anyOf":[{"type":"null"},{"properties":{"a":{}}}]}"#,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
            r##"{"$ref":"#/$defs/gone"}"##,
            r##"{"$ref":"https://example.org/a.json"}"##,
            r##"{"$ref":"#"}"##,
            r##"{"allOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}"##,
        ] {
            assert_eq!(Schema::parse(text).unwrap().wire(), text);
        }
    }

    #[test]
    fn a_root_that_is_never_an_object_is_refused() {
        for text in [
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":false}}"##,
            r#"{"anyOf":[{"type":"string"},{"type":["array","null"]}]}"#,
            r#"{"allOf":[{"type":"object"},{"type":"string"}]}"#,
            r#"{"oneOf":[{"enum":["a"]},{"const":1}]}"#,
        ] {
            assert!(
                matches!(Schema::parse(text), Err(SchemaError::NoObject)),
                "{text}"
            );
        }
        for text in ["true", "false", "7"] {
            assert!(matches!(
                Schema::parse(text),
                Err(SchemaError::NotAnObject(_))
            ));
        }
        assert!(matches!(
            Schema::parse(r#"{"type":["string","null"]}"#),
            Err(SchemaError::RootType(_))
        ));
    }

    #[test]
    fn a_schema_nested_beyond_reason_is_refused_by_its_depth() {
        let nested = |levels: usize| {
            let inner = r#"{"type":"object","properties":{"a":"#.repeat(levels);
            Schema::parse(&format!("{inner}{{}}{}", "}}".repeat(levels)))
        };
        assert!(nested(59).is_ok());
        assert!(matches!(nested(64), Err(SchemaError::TooDeep(129))));
        assert!(matches!(
            nested(100_000),
            Err(SchemaError::TooDeep(200_001))
        ));
        insta::assert_snapshot!(nested(60).unwrap_err(), @"the schema is nested 121 levels deep, and at most 120 are taken; make it flatter");
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
