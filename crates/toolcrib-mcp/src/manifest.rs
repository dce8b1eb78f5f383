//! What a server offers, as it said so.
//!
//! Every definition keeps its bytes. A tool is read on its own, so one that cannot
//! be used is set aside with a reason and costs the others nothing. A definition
//! that comes again and means the same keeps its old bytes: prompts are cached by
//! them.

mod list;
mod store;
mod tool;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use toolcrib_core::Str;

pub(crate) use list::list;
pub(crate) use store::Store;
pub use tool::{Annotations, ManifestTool};
pub(crate) use tool::{canonical, hex};

/// All that one server offers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Manifest {
    /// `serverInfo` as received; `null` when it sent none.
    pub server_info: Box<RawValue>,
    /// The protocol revision that was agreed on.
    pub protocol_version: Str,
    /// Its instructions for models. Text from a server: data, not orders.
    pub instructions: Option<String>,
    /// Its capabilities as received.
    pub capabilities: Box<RawValue>,
    /// Its usable tools, in the server's order.
    pub tools: Vec<Arc<ManifestTool>>,
    /// Its prompts as received.
    pub prompts: Vec<Box<RawValue>>,
    /// Its resources as received.
    pub resources: Vec<Box<RawValue>>,
    /// Its resource templates as received.
    pub resource_templates: Vec<Box<RawValue>>,
    /// Tools set aside.
    pub quarantined: Vec<Quarantined>,
    /// What was incomplete when it was fetched: a page that failed, a list that was
    /// refused.
    pub problems: Vec<String>,
    /// How long the server says its lists stay true, and to whom.
    pub freshness: Freshness,
    /// SHA-256 in hexadecimal over the meaning of all definitions: equal when
    /// nothing changed but layout and key order.
    pub fingerprint: String,
}

/// A tool that cannot be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Quarantined {
    /// Its name, or what can be said in place of it.
    pub name: String,
    /// Why.
    pub reason: String,
    /// The definition as received.
    pub raw: Box<RawValue>,
}

/// How long a fetched list may be used without asking again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// From the fetch on; zero when the server said nothing.
    pub ttl: Duration,
    /// Whether it is the same whoever asks.
    pub public: bool,
}

/// What was read before it is made sense of.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) server_info: Option<Box<RawValue>>,
    pub(crate) protocol_version: Str,
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: Option<Box<RawValue>>,
    pub(crate) tools: Vec<Box<RawValue>>,
    pub(crate) prompts: Vec<Box<RawValue>>,
    pub(crate) resources: Vec<Box<RawValue>>,
    pub(crate) resource_templates: Vec<Box<RawValue>>,
    pub(crate) problems: Vec<String>,
    pub(crate) freshness: Freshness,
}

impl Manifest {
    /// Makes a manifest; definitions that mean the same as in `old` keep its bytes.
    pub(crate) fn build(parts: Parts, old: Option<&Manifest>) -> Manifest {
        let mut tools: Vec<Arc<ManifestTool>> = Vec::new();
        let mut quarantined = Vec::new();
        let mut names = HashSet::new();
        for raw in parts.tools {
            match ManifestTool::parse(raw) {
                Ok(tool) if !names.insert(tool.name.clone()) => quarantined.push(Quarantined {
                    name: tool.name.to_string(),
                    reason: "the server lists two tools of this name; the first is used".into(),
                    raw: tool.raw,
                }),
                Ok(tool) => {
                    let same = old.and_then(|old| {
                        let known = old.tool(&tool.name)?;
                        (known.fingerprint == tool.fingerprint).then(|| known.clone())
                    });
                    tools.push(same.unwrap_or_else(|| Arc::new(tool)));
                }
                Err(reason) => quarantined.push(reason),
            }
        }
        let null = || RawValue::NULL.to_owned();
        let mut manifest = Manifest {
            server_info: parts.server_info.unwrap_or_else(null),
            protocol_version: parts.protocol_version,
            instructions: parts.instructions,
            capabilities: parts.capabilities.unwrap_or_else(null),
            tools,
            prompts: parts.prompts,
            resources: parts.resources,
            resource_templates: parts.resource_templates,
            quarantined,
            problems: parts.problems,
            freshness: parts.freshness,
            fingerprint: String::new(),
        };
        manifest.fingerprint = manifest.hash();
        manifest
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ManifestTool>> {
        self.tools.iter().find(|tool| &*tool.name == name)
    }

    fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let mut section = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        section(self.instructions.as_deref().unwrap_or_default());
        for tool in &self.tools {
            section(&tool.fingerprint);
        }
        for list in [&self.prompts, &self.resources, &self.resource_templates] {
            section("list");
            for raw in list {
                section(&canonical(raw.get()));
            }
        }
        for tool in &self.quarantined {
            section(&tool.name);
        }
        hex(&hash.finalize())
    }
}

#[cfg(test)]
mod tests;
