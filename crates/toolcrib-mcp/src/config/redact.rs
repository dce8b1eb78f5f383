//! What must not be shown of what a server says.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_core::Str;

use crate::raw;

/// Values of an entry that must not be seen in a log or an error.
#[derive(Clone, Default)]
pub(crate) struct Redact(Vec<Str>);

/// Shorter values hide nothing worth hiding and would blank out innocent text.
const SHORTEST_SECRET: usize = 6;

impl Redact {
    /// The text without the values.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            if text.contains(&**secret) {
                text = text.replace(&**secret, "[redacted]");
            }
        }
        text
    }

    pub(super) fn add(&mut self, value: &str) {
        if value.len() >= SHORTEST_SECRET {
            self.0.push(value.into());
        }
        // `Bearer TOKEN`: the token alone is as secret.
        if let Some((_, token)) = value.split_once(' ')
            && token.len() >= SHORTEST_SECRET
        {
            self.0.push(token.into());
        }
        // A secret that holds another one goes first.
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    fn holds(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(&**secret))
    }

    /// JSON without the values; the same bytes where it has none of them. Names,
    /// addresses and what a schema compares by stay as they are, since requests are
    /// made of them: short words of an environment may stand there by chance.
    pub(crate) fn apply_json<'a>(&self, json: &'a RawValue) -> Cow<'a, RawValue> {
        let text = json.get();
        // An escape may hide a value.
        if self.0.is_empty() || !(text.contains('\\') || self.holds(text)) {
            return Cow::Borrowed(json);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(text) else {
            return Cow::Borrowed(json);
        };
        match self.walk(&mut value, false) {
            true => Cow::Owned(raw::raw(value.to_string())),
            false => Cow::Borrowed(json),
        }
    }

    /// Whether anything was taken out.
    fn walk(&self, value: &mut Value, kept: bool) -> bool {
        match value {
            Value::String(text) if !kept && self.holds(text) => {
                *text = self.apply(text);
                true
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |any, item| self.walk(item, kept) | any),
            Value::Object(map) => map.iter_mut().fold(false, |any, (key, value)| {
                self.walk(value, KEPT.contains(&key.as_str())) | any
            }),
            _ => false,
        }
    }
}

/// Keys whose texts are handed back to the server or compared with.
const KEPT: [&str; 20] = [
    "$id",
    "$ref",
    "$schema",
    "cacheScope",
    "const",
    "elicitationId",
    "enum",
    "format",
    "mimeType",
    "name",
    "nextCursor",
    "pattern",
    "protocolVersion",
    "required",
    "supported",
    "supportedVersions",
    "type",
    "uri",
    "uriTemplate",
    "url",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_leave_texts_but_neither_names_nor_bytes() {
        let mut redact = Redact::default();
        redact.add("s\u{e9}cret-1");
        redact.add("search");
        let shown = |text: &str| {
            let json = raw::raw(text.to_owned());
            redact.apply_json(&json).get().to_owned()
        };
        assert_eq!(
            shown(
                r#"{"name":"search","description":"s\u00e9cret-1 \n","inputSchema":{"properties":{"name":{"enum":["search"],"description":"search it"}}}}"#
            ),
            r#"{"name":"search","description":"[redacted] \n","inputSchema":{"properties":{"name":{"enum":["search"],"description":"[redacted] it"}}}}"#
        );
        let innocent = r#"{ "a" : "b\n\u0041", "name":"search" }"#;
        assert_eq!(shown(innocent), innocent);
    }
}
