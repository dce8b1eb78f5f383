//! What Claude Code has switched off elsewhere than in the entries.
//!
//! Its `/mcp` notes in `~/.claude.json`, beside the project, which servers are off
//! there (`disabledMcpServers`), and its settings reject servers of `.mcp.json` by
//! name (`disabledMcpjsonServers`), whichever of its files says so and whatever
//! `enabledMcpjsonServers` lists. Both count for one project and one person. An entry
//! that has the same reach is taken over switched off; any other is left to Claude
//! Code, since here it would be on, or off, for more than was meant. A server that is
//! merely not approved yet is taken over: who imports has been shown it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::{Client, Places, Scope, Source};
use super::json_text::{self, Node};
use super::survey::{Problem, read_text};

/// Names of servers that are off in this project.
#[derive(Clone, Debug, Default)]
pub(super) struct SwitchedOff {
    /// Of whichever scope.
    here: BTreeSet<String>,
    /// Of the project's own file, with the file that rejects them.
    rejected: Vec<(String, PathBuf)>,
}

/// What that means for one entry.
pub(super) enum Off {
    No,
    /// It counts here alone and is off here.
    Here,
    /// It counts elsewhere or for others too, and is off only here: why it is left.
    HereAlone(String),
}

impl SwitchedOff {
    /// Reads what is noted of this project. A file that cannot be read is a problem.
    pub(super) fn read(places: &Places, problems: &mut Vec<Problem>) -> SwitchedOff {
        let mut off = SwitchedOff::default();
        let project = &places.project;
        let noted = places.home.join(".claude.json");
        // That it cannot be read is said where its servers are looked for.
        if let Ok(Some(root)) = parsed(&noted) {
            let here = project.to_string_lossy().into_owned();
            if let Some(node) = root.at(&["projects".to_owned(), here]) {
                off.here.extend(names(node, "disabledMcpServers"));
                off.reject(node, &noted);
            }
        }
        for file in [
            places.home.join(".claude").join("settings.json"),
            project.join(".claude").join("settings.json"),
            project.join(".claude").join("settings.local.json"),
        ] {
            match parsed(&file) {
                Ok(Some(root)) => off.reject(&root, &file),
                Ok(None) => {}
                Err(why) => problems.push(Problem {
                    file,
                    key: String::new(),
                    why,
                }),
            }
        }
        off
    }

    fn reject(&mut self, node: &Node, file: &Path) {
        let names = names(node, "disabledMcpjsonServers");
        self.rejected
            .extend(names.map(|name| (name, file.to_owned())));
    }

    /// Whether the entry of that name is off.
    pub(super) fn of(&self, source: &Source, name: &str) -> Off {
        if source.client != Client::ClaudeCode {
            return Off::No;
        }
        let off = self.here.contains(name);
        if off && source.keys.len() > 1 {
            return Off::Here;
        }
        let rejected = self.rejected.iter().find(|(rejected, _)| rejected == name);
        match (source.scope, rejected) {
            (Scope::Project, Some((_, file))) => Off::HereAlone(format!(
                "it is rejected by `disabledMcpjsonServers` of {}",
                file.display()
            )),
            _ if off => Off::HereAlone(
                "it is switched off in this project alone (`disabledMcpServers`)".to_owned(),
            ),
            _ => Off::No,
        }
    }
}

fn parsed(path: &Path) -> Result<Option<Node>, String> {
    match read_text(path)? {
        Some(text) if !text.trim().is_empty() => json_text::parse(&text)
            .map(Some)
            .map_err(|error| error.to_string()),
        _ => Ok(None),
    }
}

fn names(node: &Node, key: &str) -> impl Iterator<Item = String> {
    let list = node.member(key).map(|member| member.value.value());
    let items = match list {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    items
        .into_iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
}
