//! JSON objects as entries of raw bytes.
//!
//! What passes through is read one level deep and put together again from the
//! received bytes, so that numbers, key order, unknown keys and white space of
//! everything that is not ours stay as they are.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The entries of a JSON object in their order; `None` for anything else.
pub(crate) fn entries(json: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let entries = reader.deserialize_map(Entries).ok()?;
    reader.end().ok()?;
    Some(entries)
}

/// The value of one key of a JSON object, the last one where it stands twice.
pub(crate) fn get<'a>(json: &'a str, key: &str) -> Option<&'a RawValue> {
    let (_, value) = entries(json)?.into_iter().rfind(|(name, _)| name == key)?;
    Some(value)
}

/// The text of one key of a JSON object, where it is a string.
pub(crate) fn text(json: &str, key: &str) -> Option<String> {
    serde_json::from_str(get(json, key)?.get()).ok()
}

/// The text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Makes raw JSON of text that is known to be JSON; `null` where it is not.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    RawValue::from_string(json).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// `params` with these keys set in its `_meta`, and with `without` taken out of it.
/// Other keys keep their bytes; a key that stands in both takes the new value. With
/// nothing to change, `params` stay as they are.
pub(crate) fn with_meta(
    params: Option<&RawValue>,
    meta: &[(&str, String)],
    without: Option<&str>,
) -> Option<String> {
    let unwanted = || {
        let old = params.and_then(|raw| get(raw.get(), "_meta"));
        without.is_some_and(|key| old.is_some_and(|old| get(old.get(), key).is_some()))
    };
    if meta.is_empty() && !unwanted() {
        return params.map(|raw| raw.get().to_owned());
    }
    let params = params
        .and_then(|raw| entries(raw.get()))
        .unwrap_or_default();
    let mut out = String::from("{\"_meta\":{");
    let mut first = true;
    let old = params.iter().find(|(key, _)| key == "_meta");
    for (key, value) in old
        .and_then(|(_, raw)| entries(raw.get()))
        .unwrap_or_default()
    {
        if !meta.iter().any(|(ours, _)| *ours == key) && without != Some(&*key) {
            push(&mut out, &mut first, &key, value.get());
        }
    }
    for (key, value) in meta {
        push(&mut out, &mut first, key, value);
    }
    out.push('}');
    let mut first = false;
    for (key, value) in params.iter().filter(|(key, _)| key != "_meta") {
        push(&mut out, &mut first, key, value.get());
    }
    out.push('}');
    Some(out)
}

fn push(out: &mut String, first: &mut bool, key: &str, value: &str) {
    if !*first {
        out.push(',');
    }
    *first = false;
    out.push_str(&quoted(key));
    out.push(':');
    out.push_str(value);
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut out = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            out.push((key, map.next_value()?));
        }
        Ok(out)
    }
}

/// `Cow` alone is read as an owned string; this one borrows where it can.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_set_and_everything_else_keeps_its_bytes() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let params = raw(r#"{"n": 1.00, "_meta":{"a":{"x" :1},"p":2}, "b":[ 1 ]}"#);
        let meta = [("p", "7".to_owned())];
        assert_eq!(
            with_meta(Some(&params), &meta, None).unwrap(),
            r#"{"_meta":{"a":{"x" :1},"p":7},"n":1.00,"b":[ 1 ]}"#
        );
        assert_eq!(
            with_meta(None, &meta, None).unwrap(),
            r#"{"_meta":{"p":7}}"#
        );
        assert_eq!(with_meta(None, &[], Some("p")), None);
        assert_eq!(with_meta(Some(&params), &[], None).unwrap(), params.get());
        assert_eq!(
            with_meta(Some(&params), &[], Some("q")).unwrap(),
            params.get()
        );
        assert_eq!(
            with_meta(Some(&params), &[], Some("p")).unwrap(),
            r#"{"_meta":{"a":{"x" :1}},"n":1.00,"b":[ 1 ]}"#
        );
    }

    #[test]
    fn only_objects_have_entries() {
        assert!(entries("[1]").is_none());
        assert!(entries("{").is_none());
        assert!(entries("{} x").is_none());
        assert_eq!(get(r#"{"a\n":1,"b":2}"#, "a\n").unwrap().get(), "1");
        assert_eq!(text(r#"{"a":"x"}"#, "a").as_deref(), Some("x"));
        assert_eq!(text(r#"{"a":1}"#, "a"), None);
    }
}
