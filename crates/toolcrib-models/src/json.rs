//! JSON whose values stay as received: objects as lists of members, strings as bytes.
//!
//! Parsing into trees and writing anew changes numbers, escapes and key order, which
//! signatures and caches do not forgive.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A member's name, borrowed unless it holds an escape.
#[derive(Deserialize)]
pub(crate) struct Name<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some((Name(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// Calls `take` with each member in the order received; never where `object` is
/// not a JSON object.
pub(crate) fn for_each_member(object: &str, mut take: impl FnMut(&str, &str)) {
    if let Ok(Members(members)) = serde_json::from_str(object) {
        for (key, value) in members {
            take(&key, value.get());
        }
    }
}

/// An object of these members, in this order.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (key, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&serde_json::Value::from(key).to_string());
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// The bytes of a JSON string, surrogates without a partner included.
#[derive(Debug)]
pub(crate) struct Bytes<'a>(pub(crate) Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Bytes<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Bytes(Cow::Borrowed(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Bytes(Cow::Owned(bytes.to_vec())))
            }
        }
        deserializer.deserialize_bytes(Any)
    }
}

/// The text of a value that is a string, or a list of parts with text in them;
/// nothing for anything else.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<Cow<'_, [u8]>> {
    let raw = raw?.get();
    match raw.as_bytes().first()? {
        b'"' => string(raw),
        b'[' => {
            #[derive(Deserialize)]
            struct Part<'a> {
                #[serde(borrow, default)]
                text: Option<&'a RawValue>,
            }
            let parts: Vec<Part<'_>> = serde_json::from_str(raw).ok()?;
            let mut joined = Vec::new();
            for part in &parts {
                if let Some(text) = part.text.and_then(|text| string(text.get())) {
                    joined.extend_from_slice(&text);
                }
            }
            Some(Cow::Owned(joined))
        }
        _ => None,
    }
}

/// The bytes of a raw value that is a string.
pub(crate) fn string(raw: &str) -> Option<Cow<'_, [u8]>> {
    // Most pieces hold no escape; looking for one is cheaper than parsing.
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner.as_bytes()));
    }
    let Bytes(bytes) = serde_json::from_str(raw).ok()?;
    Some(bytes)
}

/// A label: a string or a number, as text; nothing where it is null or empty.
pub(crate) fn label(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let raw = raw?.get();
    let text = if raw.starts_with('"') {
        match string(raw)? {
            Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
        }
    } else {
        Cow::Borrowed(raw)
    };
    (!text.is_empty()).then_some(text)
}

/// Appends a JSON string.
pub(crate) fn quote(out: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Whether a text is one JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Appends the members of a JSON object that `keep` accepts, each after a comma,
/// their values byte for byte.
pub(crate) fn members(out: &mut Vec<u8>, object: &str, keep: impl Fn(&str) -> bool) {
    for_each_member(object, |key, value| {
        if keep(key) {
            out.push(b',');
            quote(out, key);
            out.push(b':');
            out.extend_from_slice(value.as_bytes());
        }
    });
}

/// The raw value of one member of a JSON object.
pub(crate) fn member(object: &str, name: &str) -> Option<String> {
    let mut found = None;
    for_each_member(object, |key, value| {
        if key == name {
            found = Some(value.to_owned());
        }
    });
    found
}
