//! What a provider would say about a request, before it is sent.
//!
//! No library checks what providers refuse: calls without results, names, counts,
//! duplicates, marks, schemas. A session that once sent such a request fails at every
//! later one, so each body that a test or a debug build sends is looked at here. It
//! knows the rules that providers document or were seen to hold, and no others.

mod chat;
mod gemini;
mod messages;
mod responses;
mod schema;

use std::fmt;

use serde_json::{Map, Value};
use toolcrib_core::{ModelProfile, ToolDialect};

/// One thing that a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Where in the body, such as `messages[3]`.
    pub at: String,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}

/// Looks at a request's body by the rules of the wire and provider that the profile
/// stands for. Empty when nothing is known against it.
pub fn check_request(profile: &ModelProfile, body: &[u8]) -> Vec<Finding> {
    let mut report = Report::default();
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(body)) => match profile.dialect {
            ToolDialect::Anthropic => messages::check(profile, &body, &mut report),
            ToolDialect::Gemini => gemini::check(profile, &body, &mut report),
            _ if body.contains_key("input") => responses::check(profile, &body, &mut report),
            _ => chat::check(profile, &body, &mut report),
        },
        Ok(_) => report.add("body", "is no object"),
        Err(error) => report.add("body", format!("is no JSON: {error}")),
    }
    report.0
}

#[derive(Debug, Default)]
struct Report(Vec<Finding>);

impl Report {
    fn add(&mut self, at: impl Into<String>, what: impl Into<String>) {
        self.0.push(Finding {
            at: at.into(),
            what: what.into(),
        });
    }

    /// Members of the body that the provider does not know.
    fn unknown(&mut self, body: &Map<String, Value>, known: &[&str]) {
        for key in body.keys().filter(|key| !known.contains(&key.as_str())) {
            self.add(key.as_str(), "is not a member of a request");
        }
    }

    fn number(&mut self, body: &Map<String, Value>, key: &str, most: f64) {
        let value = body.get(key).and_then(Value::as_f64);
        if value.is_some_and(|n| !(0.0..=most).contains(&n)) {
            self.add(key, format!("must lie between 0 and {most}"));
        }
    }

    /// Names, duplicates and the number of tools.
    fn names(&mut self, profile: &ModelProfile, names: &[(String, String)], longest: usize) {
        if let Some(most) = profile.max_tools.filter(|most| names.len() > *most) {
            let what = format!("has {} entries, at most {most} are taken", names.len());
            self.add("tools", what);
        }
        let mut seen: Vec<&str> = Vec::new();
        for (at, name) in names {
            if seen.contains(&name.as_str()) {
                self.add(at.as_str(), format!("the name {name} occurs twice"));
            }
            seen.push(name);
            let fits = |c: char| match profile.dialect {
                ToolDialect::Gemini => c.is_ascii_alphanumeric() || "_.:-".contains(c),
                _ => c.is_ascii_alphanumeric() || "_-".contains(c),
            };
            let begins = profile.dialect != ToolDialect::Gemini
                || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let length = (1..=longest).contains(&name.len());
            if !length || !begins || !name.chars().all(fits) {
                self.add(at.as_str(), format!("the name {name:?} is refused"));
            }
        }
    }
}

/// Whether each call got its one result at the right time.
#[derive(Debug, Default)]
struct Pairing {
    open: Vec<String>,
    seen: Vec<String>,
}

impl Pairing {
    fn call(&mut self, at: &str, id: Option<&str>, report: &mut Report) {
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            report.add(at, "a call has no id");
            return;
        };
        if self.seen.iter().any(|known| known == id) {
            report.add(at, format!("the call id {id} was given before"));
        }
        self.seen.push(id.to_owned());
        self.open.push(id.to_owned());
    }

    fn result(&mut self, at: &str, id: Option<&str>, report: &mut Report) {
        let Some(id) = id else {
            report.add(at, "a result names no call");
            return;
        };
        match self.open.iter().position(|open| open == id) {
            Some(open) => {
                self.open.remove(open);
            }
            None if self.seen.iter().any(|known| known == id) => {
                report.add(at, format!("the call {id} has its result already"));
            }
            None => report.add(at, format!("there is no call {id}")),
        }
    }

    /// Something else comes: nothing may be open.
    fn settle(&mut self, at: &str, report: &mut Report) {
        for id in self.open.drain(..) {
            report.add(at, format!("the call {id} has no result before this"));
        }
    }
}

fn list<'a>(body: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    body.get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Whether arguments are a text that holds an object.
fn is_arguments(value: Option<&Value>) -> bool {
    let text = value.and_then(Value::as_str);
    text.is_some_and(crate::json::is_object)
}

#[cfg(test)]
mod tests;
