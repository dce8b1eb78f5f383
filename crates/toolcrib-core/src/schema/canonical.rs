//! A schema's canonical form, written from a tree that borrows its text.
//!
//! Wherever a provider holds deferred tools, every process reads the schemas of all of
//! them once for their fingerprint. What costs is copying keys and strings, so none is
//! copied that has no escapes. Not a writer of JSON for others: values that cannot be
//! told apart by their meaning give the same bytes, and nothing more is promised.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

enum Node<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// In the order of the text, repeated keys included.
    Map(Vec<(Key<'a>, Node<'a>)>),
}

struct Key<'a>(Cow<'a, str>);

/// `text`, which is JSON, with all object keys sorted and no white space; of a repeated
/// key the last.
pub(super) fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    match serde_json::from_str(text) {
        Ok(mut node) => write(&mut node, &mut out),
        Err(_) => out.push_str("null"),
    }
    out
}

fn write(node: &mut Node<'_>, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(true) => out.push_str("true"),
        Node::Bool(false) => out.push_str("false"),
        Node::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Node::Text(text) => quote(text, out),
        Node::List(items) => {
            out.push('[');
            for (at, item) in items.iter_mut().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Node::Map(entries) => {
            entries.sort_by(|a, b| a.0.0.cmp(&b.0.0));
            out.push('{');
            let start = out.len();
            for at in 0..entries.len() {
                let repeated = entries.get(at + 1);
                if repeated.is_some_and(|next| next.0.0 == entries[at].0.0) {
                    continue;
                }
                if out.len() > start {
                    out.push(',');
                }
                quote(&entries[at].0.0, out);
                out.push(':');
                write(&mut entries[at].1, out);
            }
            out.push('}');
        }
    }
}

fn quote(text: &str, out: &mut String) {
    if text.bytes().any(|b| b < b' ' || matches!(b, b'"' | b'\\')) {
        out.push_str(&Value::from(text).to_string());
        return;
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

impl<'de: 'a, 'a> Deserialize<'de> for Node<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfNode)
    }
}

struct OfNode;

impl<'de> Visitor<'de> for OfNode {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node<'de>, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node<'de>, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node<'de>, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node<'de>, E> {
        Ok(Number::from_f64(value).map_or(Node::Null, Node::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node<'de>, E> {
        Ok(Node::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node<'de>, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(OfKey)
    }
}

struct OfKey;

impl<'de> Visitor<'de> for OfKey {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(value.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By way of values, whose keys are sorted one object at a time.
    fn by_values(value: &Value) -> String {
        let joined = |parts: Vec<String>| parts.join(",");
        match value {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                let entry = |(key, value): (&String, _)| {
                    format!("{}:{}", Value::from(&**key), by_values(value))
                };
                format!("{{{}}}", joined(entries.into_iter().map(entry).collect()))
            }
            Value::Array(items) => format!("[{}]", joined(items.iter().map(by_values).collect())),
            other => other.to_string(),
        }
    }

    #[test]
    fn it_is_what_values_with_sorted_keys_are_written_as() {
        for text in [
            r#"{"type":"object","properties":{"b":{"enum":[2,1,null]},"a":{}}}"#,
            r#" { "b" : [ true , false, {"d":1,"c":-2.50} ] , "a" : 1e3 } "#,
            r#"{"a\u0062":"\u00e9\n\"\\","é":"\u0001 / \u2028","":"\ud83d\ude00"}"#,
            r#"{"a":1,"b":2,"a":{"x":3,"x":4}}"#,
            r#"{"n":[18446744073709551615,-9223372036854775808,0.1,1.0,-0.0,1e300]}"#,
            "{}",
            "[]",
            "\"x\"",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(canonical(text), by_values(&value), "{text}");
        }
        assert_eq!(canonical("{"), "null");
    }
}
