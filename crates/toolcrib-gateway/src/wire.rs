//! JSON-RPC as bytes: only the envelope and the first level are read.
//!
//! Ids, params and results keep their bytes, whatever form they have. Two clients
//! may use one id, and `1` is another id than `"1"`; so an id is its text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolcrib_mcp::RpcError;

pub(crate) const PARSE: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const UNKNOWN_METHOD: i64 = -32601;
pub(crate) const BAD_PARAMS: i64 = -32602;
pub(crate) const INTERNAL: i64 = -32603;
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
pub(crate) const HEADER_MISMATCH: i64 = -32020;

/// One message from a client.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request(Request<'a>),
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// An answer to a request of ours.
    Answer {
        id: &'a RawValue,
        result: Result<&'a RawValue, RpcError>,
    },
}

/// A request from a client.
#[derive(Clone, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) id: &'a RawValue,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorShape {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Box<RawValue>>,
}

fn present<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(reader).map(Some)
}

/// Reads one message.
///
/// # Errors
/// The answer that is owed for what is none: the id, where it can be told, and why.
pub(crate) fn parse(text: &str) -> Result<Message<'_>, (Option<&RawValue>, RpcError)> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        let code = match error.classify() {
            serde_json::error::Category::Data => INVALID_REQUEST,
            _ => PARSE,
        };
        (None, RpcError::new(code, format!("not a message: {error}")))
    })?;
    let invalid = |why: &str| (envelope.id, RpcError::new(INVALID_REQUEST, why));
    if envelope.jsonrpc.is_none_or(|raw| raw.get() != "\"2.0\"") {
        return Err(invalid("`jsonrpc` must be \"2.0\""));
    }
    let id_fits = |raw: &RawValue| {
        let first = raw.get().as_bytes().first();
        first.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'"' | b'-'))
    };
    match (envelope.method, envelope.id) {
        (Some(method), Some(id)) if id_fits(id) => Ok(Message::Request(Request {
            id,
            method,
            params: envelope.params,
        })),
        (Some(_), Some(_)) => Err((
            None,
            RpcError::new(INVALID_REQUEST, "`id` must be a text or a number"),
        )),
        (Some(method), None) => Ok(Message::Notification {
            method,
            params: envelope.params,
        }),
        (None, Some(id)) => match (envelope.result, envelope.error) {
            (Some(result), None) => Ok(Message::Answer {
                id,
                result: Ok(result),
            }),
            (None, Some(error)) => {
                let shape: Option<ErrorShape> = serde_json::from_str(error.get()).ok();
                let error = match shape {
                    Some(shape) => RpcError {
                        code: shape.code,
                        message: shape.message,
                        data: shape.data,
                    },
                    None => RpcError::new(INTERNAL, error.get()),
                };
                Ok(Message::Answer {
                    id,
                    result: Err(error),
                })
            }
            _ => Err(invalid(
                "a message has a `method`, a `result` or an `error`",
            )),
        },
        (None, None) => Err(invalid("a message has a `method` or an `id`")),
    }
}

/// The messages of a batch, as one older revision has them; none for a single one.
pub(crate) fn batch(text: &str) -> Option<Vec<&RawValue>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    serde_json::from_str(text)
        .ok()
        .filter(|all: &Vec<_>| !all.is_empty())
}

/// The bytes of an answer.
pub(crate) fn answer(id: Option<&str>, result: &Result<Box<RawValue>, RpcError>) -> String {
    let id = id.unwrap_or("null");
    match result {
        Ok(result) => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.get())
        }
        Err(error) => {
            let data = match &error.data {
                Some(data) => format!(r#","data":{}"#, data.get()),
                None => String::new(),
            };
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":{}{data}}}}}"#,
                error.code,
                quoted(&error.message)
            )
        }
    }
}

/// The bytes of a notification.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    match params {
        Some(params) => {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
        }
        None => format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#),
    }
}

/// The bytes of a request of ours.
pub(crate) fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let params = params.unwrap_or("{}");
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":{},"params":{params}}}"#,
        quoted(id),
        quoted(method)
    )
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Raw JSON of text that is JSON; `null` where it is not.
pub(crate) fn raw(text: String) -> Box<RawValue> {
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The entries of a JSON object in their order; none for anything else.
pub(crate) fn entries(json: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let entries = reader.deserialize_map(Entries).ok()?;
    reader.end().ok()?;
    Some(entries)
}

/// The value of one key of a JSON object.
pub(crate) fn get<'a>(json: &'a str, key: &str) -> Option<&'a RawValue> {
    let (_, value) = entries(json)?.into_iter().rfind(|(name, _)| name == key)?;
    Some(value)
}

/// The value at the end of a path of keys.
pub(crate) fn at<'a>(json: &'a str, path: &[&str]) -> Option<&'a RawValue> {
    let (first, rest) = path.split_first()?;
    let mut value = get(json, first)?;
    for key in rest {
        value = get(value.get(), key)?;
    }
    Some(value)
}

/// The text of one key of a JSON object, where it is a string.
pub(crate) fn text(json: &str, key: &str) -> Option<String> {
    serde_json::from_str(get(json, key)?.get()).ok()
}

/// A JSON object with some keys set and others taken out; everything else keeps its
/// bytes and its order. What is no object becomes one of the set keys alone.
pub(crate) fn with(json: &str, set: &[(&str, &str)], out: &[&str]) -> Box<RawValue> {
    let old = entries(json).unwrap_or_default();
    let mut text = String::with_capacity(json.len() + 64);
    let mut put = |key: &str, value: &str| {
        text.push(if text.is_empty() { '{' } else { ',' });
        text.push_str(&quoted(key));
        text.push(':');
        text.push_str(value);
    };
    for (key, value) in &old {
        if out.contains(&key.as_ref()) {
            continue;
        }
        let new = set.iter().find(|(name, _)| name == key);
        put(key, new.map_or(value.get(), |(_, value)| value));
    }
    for (key, value) in set {
        if !old.iter().any(|(name, _)| name == key) {
            put(key, value);
        }
    }
    if text.is_empty() {
        text.push('{');
    }
    text.push('}');
    raw(text)
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &RawValue>()? {
            entries.push((key, value));
        }
        Ok(entries)
    }
}

/// A key that is borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_form() {
        for id in [
            "1",
            "\"1\"",
            "-7",
            "9007199254740993",
            "\"a\\u00e9\"",
            "1.0",
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let Ok(Message::Request(request)) = parse(&text) else {
                panic!("{text}");
            };
            assert_eq!(request.id.get(), id);
            let out = answer(Some(request.id.get()), &Ok(raw("{}".to_owned())));
            assert_eq!(
                out,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
            );
        }
    }

    #[test]
    fn what_is_no_message_is_answered_with_the_reason() {
        let code = |text: &str| parse(text).unwrap_err().1.code;
        assert_eq!(code("{"), PARSE);
        assert_eq!(code("hello"), PARSE);
        assert_eq!(code("7"), INVALID_REQUEST);
        assert_eq!(code(r#"{"id":1,"method":"ping"}"#), INVALID_REQUEST);
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#),
            INVALID_REQUEST
        );
        assert_eq!(
            code(r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#),
            INVALID_REQUEST
        );
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1}"#), INVALID_REQUEST);
    }

    #[test]
    fn edits_keep_the_bytes_of_the_rest() {
        let json = r#"{ "a": 1.0, "b" : {"x":[ 1 ]}, "c":null }"#;
        assert_eq!(
            with(json, &[("b", "2"), ("d", "\"e\"")], &["c"]).get(),
            r#"{"a":1.0,"b":2,"d":"e"}"#
        );
        assert_eq!(with("[]", &[], &[]).get(), "{}");
        assert_eq!(at(json, &["b", "x"]).unwrap().get(), "[ 1 ]");
        assert!(at(json, &["a", "x"]).is_none());
    }
}
