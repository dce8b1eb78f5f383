//! Taking what an import added out of a configuration of ours that was edited since.
//!
//! Each server's lines are known as they were written. Where they still stand so they
//! are cut out of the text, and everything around them keeps its bytes; where they do
//! not, a person has made them theirs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::HEAD;
use super::survey::toml_value;

/// What an import added to a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Added {
    /// Names of servers and their lines.
    servers: Vec<(String, String)>,
    /// Entries of `variables_from`.
    variables_from: Vec<String>,
}

impl Added {
    /// What `after` has and `before` has not.
    pub(super) fn between(before: &str, after: &str) -> Added {
        let (Some(before), Some(now)) = (read(before), read(after)) else {
            return Added::default();
        };
        let here = now["mcp"]["servers"].as_object();
        let names = here.into_iter().flatten().map(|(name, _)| name);
        let new = names.filter(|name| before["mcp"]["servers"].get(name).is_none());
        let list = now["mcp"]["variables_from"].as_array();
        let old = &before["mcp"]["variables_from"];
        let paths = list.into_iter().flatten().filter(|path| {
            let known = old.as_array().is_some_and(|old| old.contains(path));
            !known
        });
        Added {
            servers: new
                .filter_map(|name| Some((name.clone(), lines(after, name)?.to_owned())))
                .collect(),
            variables_from: paths
                .filter_map(|path| path.as_str().map(str::to_owned))
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Added::default()
    }

    /// `now` without all of it, and the servers that were edited and stay; `None` when
    /// `now` cannot be read.
    pub(super) fn taken_from(&self, now: &str) -> Option<(String, Vec<&str>)> {
        read(now)?;
        let mut text = now.replacen(HEAD, "", 1);
        let mut edited = Vec::new();
        for (name, written) in &self.servers {
            let there = read(&text)?["mcp"]["servers"].get(name).is_some();
            match cut(&text, name, written) {
                Some(rest) => text = rest,
                None if there => edited.push(name.as_str()),
                None => {}
            }
        }
        // What was edited may still need them.
        if edited.is_empty() {
            text = self.without_paths(&text)?;
        }
        Some((text, edited))
    }

    fn without_paths(&self, text: &str) -> Option<String> {
        let mut document: toml_edit::DocumentMut = text.parse().ok()?;
        let Some(mcp) = document
            .get_mut("mcp")
            .and_then(toml_edit::Item::as_table_mut)
        else {
            return Some(text.to_owned());
        };
        let Some(list) = mcp
            .get_mut("variables_from")
            .and_then(toml_edit::Item::as_array_mut)
        else {
            return Some(text.to_owned());
        };
        let added = |path: &toml_edit::Value| {
            let path = path.as_str().unwrap_or("");
            self.variables_from.iter().any(|added| added == path)
        };
        list.retain(|path| !added(path));
        if list.is_empty() {
            mcp.remove("variables_from");
            if mcp.is_empty() {
                document.remove("mcp");
            } else if mcp.iter().all(|(_, item)| item.is_table()) {
                mcp.set_implicit(true);
            }
        }
        Some(document.to_string())
    }
}

fn read(text: &str) -> Option<Value> {
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    Some(toml_value(document.as_item()))
}

/// The lines of a server's table.
fn lines<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let head = format!("[mcp.servers.{name}]\n");
    let start = match text.starts_with(&head) {
        true => 0,
        false => text.find(&format!("\n{head}"))? + 1,
    };
    let rest = &text[start..];
    let end = rest
        .find("\n\n")
        .or_else(|| rest.find("\n["))
        .map(|at| at + 1);
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// The text without these lines, where nothing but them makes the server.
fn cut(text: &str, name: &str, written: &str) -> Option<String> {
    let start = match text.starts_with(written) {
        true => 0,
        false => text.find(&format!("\n{written}"))? + 1,
    };
    let (before, rest) = (&text[..start], &text[start + written.len()..]);
    let before = match before.strip_suffix("\n\n") {
        Some(before) if rest.is_empty() || rest.starts_with('\n') => format!("{before}\n"),
        _ => before.to_owned(),
    };
    let rest = match before.is_empty() {
        true => rest.trim_start_matches('\n'),
        false => rest,
    };
    let out = format!("{before}{rest}");
    let mut want = read(text)?;
    let gone = want["mcp"]["servers"].as_object_mut()?.remove(name);
    gone?;
    let same = |a: &Value, b: &Value| bare(a) == bare(b);
    same(&read(&out)?, &want).then_some(out)
}

/// The value without tables that hold nothing: they go with the last server.
fn bare(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(mcp) = value.get_mut("mcp").and_then(Value::as_object_mut) {
        let empty = |value: &Value| value.as_object().is_some_and(serde_json::Map::is_empty);
        mcp.retain(|_, inner| !empty(inner));
        if mcp.is_empty() {
            value.as_object_mut().map(|map| map.remove("mcp"));
        }
    }
    value
}
