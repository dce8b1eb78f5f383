//! What must not be shown of what a server says.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_core::Str;

use crate::raw;

/// Values of an entry that must not be seen.
#[derive(Clone, Default)]
pub(crate) struct Redact {
    /// All of them, for logs, errors and listings.
    all: Vec<Str>,
    /// Those that are called secrets, for results too: a folder or a region of the
    /// entry may well stand in an answer.
    named: Vec<Str>,
    /// Whether JSON may write one of those in another way than it is.
    escaped: bool,
}

/// Shorter values hide nothing worth hiding and would blank out innocent text.
const SHORTEST: usize = 6;
const SHORTEST_IN_RESULTS: usize = 8;

impl Redact {
    /// The text without the values.
    pub(crate) fn apply(&self, text: &str) -> String {
        without(&self.all, text)
    }

    /// A value that stands under that name.
    pub(super) fn add(&mut self, name: &str, value: &str) {
        // `Bearer TOKEN`: the token alone is as secret.
        let token = value.split_once(' ').map(|(_, token)| token);
        let named = is_secret(name);
        // A key of several lines is printed line by line, and an address without its
        // password's user.
        let lines = value.lines().map(str::trim).filter(|line| *line != value);
        let parts = [Some(value), token, password(value)];
        for part in parts.into_iter().flatten().chain(lines) {
            if part.len() >= SHORTEST {
                self.all.push(part.into());
            }
            if named && part.len() >= SHORTEST_IN_RESULTS {
                self.named.push(part.into());
                let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.+=: ".contains(&b);
                self.escaped |= !part.bytes().all(plain);
            }
        }
        // A secret that holds another one goes first.
        for list in [&mut self.all, &mut self.named] {
            list.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// JSON without the values; the same bytes where it has none of them. Names,
    /// addresses and what a schema compares by stay as they are, since requests are
    /// made of them: short words of an environment may stand there by chance.
    pub(crate) fn apply_json<'a>(&self, json: &'a RawValue) -> Cow<'a, RawValue> {
        replaced(&self.all, json, true, KEPT)
    }

    /// A result without the secrets. The bytes of images, sounds and files stay, and
    /// so does what is handed back to the server.
    pub(crate) fn apply_result<'a>(&self, json: &'a RawValue) -> Cow<'a, RawValue> {
        replaced(&self.named, json, self.escaped, KEPT_IN_RESULTS)
    }
}

/// The password of an address such as `postgres://user:password@host/db`.
fn password(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    Some(user.split_once(':')?.1)
}

/// Whether what is called so is a secret, and nothing that a person would look for in
/// an answer.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    let ends = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "PWD",
        "AUTHORIZATION",
        "COOKIE",
        "CREDENTIALS",
        "_PAT",
        "_AUTH",
        "_PASS",
    ];
    name != "PWD" && ends.iter().any(|end| name.ends_with(end))
}

fn without(secrets: &[Str], text: &str) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if text.contains(&**secret) {
            text = text.replace(&**secret, "[redacted]");
        }
    }
    text
}

fn holds(secrets: &[Str], text: &str) -> bool {
    secrets.iter().any(|secret| text.contains(&**secret))
}

fn replaced<'a>(
    secrets: &[Str],
    json: &'a RawValue,
    escaped: bool,
    kept: &[&str],
) -> Cow<'a, RawValue> {
    let text = json.get();
    // An escape may hide a value.
    if secrets.is_empty() || !((escaped && text.contains('\\')) || holds(secrets, text)) {
        return Cow::Borrowed(json);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(text) else {
        return Cow::Borrowed(json);
    };
    match walk(secrets, &mut value, false, kept) {
        true => Cow::Owned(raw::raw(value.to_string())),
        false => Cow::Borrowed(json),
    }
}

/// Whether anything was taken out.
fn walk(secrets: &[Str], value: &mut Value, keep: bool, kept: &[&str]) -> bool {
    match value {
        Value::String(text) if !keep && holds(secrets, text) => {
            *text = without(secrets, text);
            true
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, item| walk(secrets, item, keep, kept) | any),
        Value::Object(map) => {
            let bytes = map.contains_key("mimeType");
            map.iter_mut().fold(false, |any, (key, value)| {
                let bytes = bytes && matches!(key.as_str(), "data" | "blob");
                walk(secrets, value, bytes || kept.contains(&key.as_str()), kept) | any
            })
        }
        _ => false,
    }
}

/// What of a result is handed back to its server.
const KEPT_IN_RESULTS: &[&str] = &["nextCursor", "requestState", "uri"];

/// Keys whose texts are handed back to the server or compared with.
const KEPT: &[&str] = &[
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
        redact.add("WORD", "s\u{e9}cret-1");
        redact.add("MODE", "search");
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

    #[test]
    fn lines_of_a_key_and_the_password_of_an_address_are_not_shown() {
        let mut redact = Redact::default();
        redact.add("PEM", "-----BEGIN KEY-----\nMIIEvQIBADAN\r\nBgkqhkiG9w0B\n");
        redact.add("DATABASE_URL", "postgres://me:sesame@word@h:5432/db");
        let shown = redact.apply("no key in MIIEvQIBADAN or BgkqhkiG9w0B; me with sesame@word");
        assert_eq!(
            shown,
            "no key in [redacted] or [redacted]; me with [redacted]"
        );
        assert_eq!(redact.apply("h:5432/db"), "h:5432/db");
    }

    #[test]
    fn results_lose_what_is_called_a_secret_and_nothing_else() {
        let mut redact = Redact::default();
        redact.add("PROJECT_DIR", "/srv/project");
        redact.add("Authorization", "Bearer sesame-1");
        redact.add("API_KEY", "short-1");
        let result = |redact: &Redact, text: &str| {
            let json = raw::raw(text.to_owned());
            redact.apply_result(&json).get().to_owned()
        };
        let shown = |text: &str| result(&redact, text);
        assert_eq!(
            shown(
                r#"{"content":[{"text":"sesame-1 in\n/srv/project"}],"structuredContent":{"data":"sesame-1"}}"#
            ),
            r#"{"content":[{"text":"[redacted] in\n/srv/project"}],"structuredContent":{"data":"[redacted]"}}"#
        );
        for same in [
            r#"{ "content" : [{"type":"image","mimeType":"image/png","data":"sesame-1"}] }"#,
            r#"{"contents":[{"uri":"x:sesame-1","text":"\u0041 short-1 1.0"}]}"#,
        ] {
            assert_eq!(shown(same), same);
        }
        redact.add("TOKEN", "s\u{e9}same/-2");
        assert_eq!(
            result(&redact, r#"{"t":"s\u00e9same\/-2!"}"#),
            r#"{"t":"[redacted]!"}"#
        );
    }
}
