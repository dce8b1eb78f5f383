//! Variables that a client's file carries for the gateway.
//!
//! A client starts the gateway with the variables of its own entry. Another client,
//! or a person, starts it without them; they are then read from where they are.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::entry::is_gateway_entry;
use super::json_text::{self, Kind, Node};
use super::survey::{read_text, toml_value};

/// The variables in the gateway's entries of a client's file, templates left out.
/// Nothing is said of a file that cannot be read: what is missing is named by the
/// server that needs it.
pub fn carried_variables(path: &Path) -> BTreeMap<String, String> {
    match read_text(path) {
        Ok(Some(text)) => carried_in(&text, path),
        _ => BTreeMap::new(),
    }
}

/// The same of the text that stands, or would stand, in that file.
pub(super) fn carried_in(text: &str, path: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        if let Ok(document) = text.parse::<toml_edit::DocumentMut>() {
            let mut reader = Reader {
                fills_in: false,
                all: &mut all,
            };
            reader.collect("", &toml_value(document.as_item()), 0);
        }
    } else if let Ok(root) = json_text::parse(text) {
        let mut reader = Reader {
            fills_in: fills_in(path, &root),
            all: &mut all,
        };
        reader.collect_node("", &root, 0);
    }
    all
}

/// Whether the client of that file fills anything in. Claude Desktop and Zed, like
/// Codex, hand their texts on as they stand: a `${` in them is a shell's.
fn fills_in(path: &Path, root: &Node) -> bool {
    let desktop = path.file_name() == Some("claude_desktop_config.json".as_ref());
    !desktop && root.member("context_servers").is_none()
}

struct Reader<'a> {
    fills_in: bool,
    all: &'a mut BTreeMap<String, String>,
}

impl Reader<'_> {
    /// Claude Code's file is large: only what may be an entry is made a value.
    fn collect_node(&mut self, name: &str, node: &Node, depth: usize) {
        let Kind::Object(members) = &node.kind else {
            return;
        };
        if node.member("command").is_some() {
            self.collect(name, &node.value(), depth);
        } else if depth < 4 {
            for member in members {
                self.collect_node(&member.key, &member.value, depth + 1);
            }
        }
    }

    fn collect(&mut self, name: &str, value: &Value, depth: usize) {
        let Some(map) = value.as_object() else {
            return;
        };
        if map.contains_key("command") {
            if is_gateway_entry(name, value) {
                let env = map.get("env").or_else(|| map.get("environment"));
                for (name, value) in env.and_then(Value::as_object).into_iter().flatten() {
                    if let Some(text) = value.as_str()
                        && text.strip_prefix('$') != Some(name.as_str())
                        && !(self.fills_in && is_template(text))
                    {
                        let kept = self.all.entry(name.clone());
                        kept.or_insert_with(|| text.to_owned());
                    }
                }
            }
        } else if depth < 4 {
            for (name, inner) in map {
                self.collect(name, inner, depth + 1);
            }
        }
    }
}

/// Whether a client fills something in; what is never closed is part of a password.
fn is_template(text: &str) -> bool {
    let mut behind = ["${", "{env:", "{file:"]
        .into_iter()
        .filter_map(|open| text.split_once(open));
    behind.any(|(_, behind)| behind.contains('}'))
}
