//! What is settled about a turn's requests before the first one is sent.
//!
//! Every request of the turn (rounds, retries, the final one) reuses the same
//! plan object, so none of them can differ in what providers cache by prefix.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Registry, RenderCache, Str, ToolSpec, Visibility};

/// System prompt and tools of one turn, in the order they are sent.
#[derive(Debug)]
pub struct TurnPlan {
    system: Str,
    tools: Vec<Arc<ToolSpec>>,
    fingerprint: Fingerprint,
    /// Bytes that wires made of the whole plan, such as the tool array.
    pub rendered: RenderCache,
}

impl TurnPlan {
    /// A plan that sends exactly these tools in this order.
    pub fn new(system: impl Into<Str>, tools: Vec<Arc<ToolSpec>>) -> TurnPlan {
        let system = system.into();
        let fingerprint = Fingerprint::of(&system, &tools);
        TurnPlan {
            system,
            tools,
            fingerprint,
            rendered: RenderCache::default(),
        }
    }

    /// A plan that sends every visible tool, in name order.
    pub fn eager(system: impl Into<Str>, registry: &Registry, visibility: &Visibility) -> TurnPlan {
        let visible = registry
            .iter()
            .map(|tool| tool.spec())
            .filter(|spec| visibility.visible(spec));
        TurnPlan::new(system, visible.cloned().collect())
    }

    /// The system prompt.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The tools in the order they are sent.
    pub fn tools(&self) -> &[Arc<ToolSpec>] {
        &self.tools
    }

    /// What two requests must share to share a provider's cache.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
}

/// SHA-256 of each section of a request's stable prefix, over length-prefixed
/// parts, so that no two different lists give the same bytes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Of the system prompt.
    pub system: Str,
    /// Of tool names and descriptions in emitted order.
    pub tools: Str,
    /// Of the canonical schemas in emitted order.
    pub schemas: Str,
}

impl Fingerprint {
    fn of(system: &str, tools: &[Arc<ToolSpec>]) -> Fingerprint {
        Fingerprint {
            system: digest([system]),
            tools: digest(tools.iter().flat_map(|t| [t.name.as_str(), &t.description])),
            schemas: digest(tools.iter().map(|t| &**t.canonical_schema())),
        }
    }

    /// Names the sections that differ: `system`, `tools`, `schemas`.
    pub fn changed(&self, earlier: &Fingerprint) -> Vec<&'static str> {
        let sections = [
            ("system", self.system == earlier.system),
            ("tools", self.tools == earlier.tools),
            ("schemas", self.schemas == earlier.schemas),
        ];
        sections
            .into_iter()
            .filter(|(_, same)| !same)
            .map(|(name, _)| name)
            .collect()
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.system, self.tools, self.schemas)
    }
}

fn digest<'a>(parts: impl IntoIterator<Item = &'a str>) -> Str {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let hex: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    hex.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Schema, ToolName};

    fn spec(name: &str, description: &str, schema: &str) -> Arc<ToolSpec> {
        Arc::new(ToolSpec::new(
            ToolName::parse(name).unwrap(),
            description,
            Schema::parse(schema).unwrap(),
        ))
    }

    #[test]
    fn the_fingerprint_says_which_section_changed() {
        let schema = r#"{"type":"object","properties":{"a":{},"b":{}}}"#;
        let reordered = r#"{"properties":{"b":{},"a":{}},"type":"object"}"#;
        let plan = |system: &str, tools: &[&Arc<ToolSpec>]| {
            TurnPlan::new(system, tools.iter().map(|t| Arc::clone(t)).collect())
        };
        let (a, b) = (spec("a", "A.", schema), spec("b", "B.", "{}"));
        let base = plan("s", &[&a, &b]);
        let changed = |other: TurnPlan| other.fingerprint().changed(base.fingerprint());
        assert_eq!(changed(plan("s", &[&a, &b])), [""; 0]);
        assert_eq!(changed(plan("t", &[&a, &b])), ["system"]);
        assert_eq!(changed(plan("s", &[&b, &a])), ["tools", "schemas"]);
        assert_eq!(
            changed(plan("s", &[&spec("a", "Other.", schema), &b])),
            ["tools"]
        );
        assert_eq!(
            changed(plan("s", &[&spec("a", "A.", "{}"), &b])),
            ["schemas"]
        );
        assert_eq!(
            changed(plan("s", &[&spec("a", "A.", reordered), &b])),
            [""; 0]
        );
    }
}
