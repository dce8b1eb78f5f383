//! JSON-RPC messages as bytes.
//!
//! Only the envelope is read; params, results and error data stay raw. What is
//! not a JSON-RPC message (log lines, log objects) is told apart here and is never
//! an error: many servers print to their standard output.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::RpcError;

/// One message from a server.
pub(crate) enum Incoming<'a> {
    /// The answer to a request of ours.
    Response {
        /// Its id as it stands in the message; `None` when missing or null.
        id: Option<&'a str>,
        result: Result<&'a RawValue, RpcError>,
    },
    /// A request to us.
    Request {
        id: &'a RawValue,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// A message that wants no answer.
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// Anything else.
    Noise,
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

/// A key that is there counts as there, `null` included.
fn present<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(reader).map(Some)
}

/// Reads one message.
pub(crate) fn parse(text: &str) -> Incoming<'_> {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        return Incoming::Noise;
    };
    if envelope.jsonrpc.is_none_or(|raw| raw.get() != "\"2.0\"") {
        return Incoming::Noise;
    }
    let id = envelope.id.filter(|raw| raw.get() != "null");
    match (envelope.method, envelope.result, envelope.error) {
        (Some(method), None, None) => match id {
            Some(id) => Incoming::Request {
                id,
                method,
                params: envelope.params,
            },
            None => Incoming::Notification {
                method,
                params: envelope.params,
            },
        },
        (None, Some(result), None) => Incoming::Response {
            id: id.map(RawValue::get),
            result: Ok(result),
        },
        (None, None, Some(error)) | (None, Some(_), Some(error)) if error.get() != "null" => {
            Incoming::Response {
                id: id.map(RawValue::get),
                result: Err(error_of(error)),
            }
        }
        (None, Some(result), Some(_)) => Incoming::Response {
            id: id.map(RawValue::get),
            result: Ok(result),
        },
        _ => Incoming::Noise,
    }
}

/// An error object in whatever shape it comes.
fn error_of(raw: &RawValue) -> RpcError {
    #[derive(Deserialize)]
    struct Shape {
        #[serde(default)]
        code: Option<serde_json::Number>,
        #[serde(default)]
        message: Option<String>,
        #[serde(default)]
        data: Option<Box<RawValue>>,
    }
    match serde_json::from_str::<Shape>(raw.get()) {
        Ok(shape) => RpcError {
            code: shape.code.and_then(|n| n.as_i64()).unwrap_or(-32603),
            message: shape.message.unwrap_or_else(|| "unknown error".to_owned()),
            data: shape.data,
        },
        Err(_) => RpcError::new(-32603, raw.get()),
    }
}

/// The bytes of a request.
pub(crate) fn request(id: u64, method: &str, params: Option<&str>) -> String {
    let method = crate::raw::quoted(method);
    match params {
        Some(params) => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
        }
        None => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}}}"#),
    }
}

/// The bytes of a notification.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    let method = crate::raw::quoted(method);
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
    }
}

/// The bytes of an answer to a server's request.
pub(crate) fn reply(id: &str, result: Result<Box<RawValue>, RpcError>) -> String {
    match result {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.get()),
        Err(error) => {
            let data = error
                .data
                .map(|data| format!(r#","data":{}"#, data.get()))
                .unwrap_or_default();
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":{}{data}}}}}"#,
                error.code,
                crate::raw::quoted(&error.message)
            )
        }
    }
}

/// The numeric id of an answer that was too long to be kept, from its first or
/// last bytes: an id stands before the result or after it.
pub(crate) fn id_of_edges(head: &[u8], tail: &[u8]) -> Option<u64> {
    let head = String::from_utf8_lossy(head);
    let tail = String::from_utf8_lossy(tail);
    let number = |text: &str| -> Option<u64> {
        let text = text.trim_start().strip_prefix(':')?.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        text[..end].parse().ok()
    };
    // Before the result only flat members may have come.
    let flat = head.get(1..).unwrap_or_default();
    let flat = flat.split(['{', '[']).next().unwrap_or_default();
    if let Some((_, rest)) = flat.split_once("\"id\"") {
        return number(rest);
    }
    let last = tail.rsplit(['{', '[', ']']).next().unwrap_or_default();
    // After the result comes its closing brace, then flat members, then the last brace.
    let last = last.trim_end().strip_suffix('}')?;
    let members = last.rsplit('}').next().unwrap_or_default();
    let (_, rest) = members.split_once("\"id\"")?;
    number(&format!("{rest} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> String {
        match parse(text) {
            Incoming::Response { id, result } => format!(
                "response {id:?} {}",
                match result {
                    Ok(raw) => raw.get().to_owned(),
                    Err(error) => format!("error {error}"),
                }
            ),
            Incoming::Request { id, method, .. } => format!("request {id} {method}"),
            Incoming::Notification { method, .. } => format!("notification {method}"),
            Incoming::Noise => "noise".to_owned(),
        }
    }

    #[test]
    fn messages_and_noise_are_told_apart() {
        for (text, want) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"a": 1.0}}"#,
                r#"response Some("1") {"a": 1.0}"#,
            ),
            (
                r#"{"result":null,"id":"1","jsonrpc":"2.0"}"#,
                r#"response Some("\"1\"") null"#,
            ),
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#,
                "response None error no (code -32600)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":0}}"#,
                "response None error unknown error (code 0)",
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"error":"boom"}"#,
                r#"response Some("3") error "boom" (code -32603)"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"result":{},"error":null}"#,
                r#"response Some("3") {}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#,
                r#"request "x" ping"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
                "notification a",
            ),
            (r#"{"level":"info","msg":"ready"}"#, "noise"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "noise"),
            (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "noise"),
            ("Server listening", "noise"),
            ("[1,2]", "noise"),
            ("", "noise"),
        ] {
            assert_eq!(kind(text), want, "{text}");
        }
    }

    #[test]
    fn the_id_of_an_answer_that_is_too_long_is_found_at_its_edges() {
        let cases: [(&str, Option<u64>); 6] = [
            (r#"{"jsonrpc":"2.0","id":12,"result":{"id":99}}"#, Some(12)),
            (r#"{"result":{"id":99},"jsonrpc":"2.0","id":7}"#, Some(7)),
            (r#"{"result":{"id":99},"id" : 7,"jsonrpc":"2.0"}"#, Some(7)),
            (r#"{"result":{"id":99}}"#, None),
            (r#"{"id":"a","result":{}}"#, None),
            ("", None),
        ];
        for (text, want) in cases {
            let (head, tail) = (text.as_bytes(), text.as_bytes());
            assert_eq!(id_of_edges(head, tail), want, "{text}");
        }
    }
}
