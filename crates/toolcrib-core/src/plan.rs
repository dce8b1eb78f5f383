//! What is settled about a turn's requests before the first one is sent.
//!
//! Every request of the turn (rounds, retries, the final one) reuses the same
//! plan object, so none of them can differ in what providers cache by prefix.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Registry, RenderCache, Str, ToolSpec, Visibility};

/// System prompt and tools of one turn, in the order they are sent.
///
/// The tools stand in three regions: those always sent, in name order; the loader
/// and what belongs to it; those loaded, in the order of loading. A load adds at
/// the end and changes nothing before it.
#[derive(Debug)]
pub struct TurnPlan {
    system: Str,
    tools: Vec<Arc<ToolSpec>>,
    /// Where the loader's region begins and ends.
    loader: Range<usize>,
    deferred: Arc<[Arc<ToolSpec>]>,
    fingerprint: Fingerprint,
    /// Bytes that wires made of the whole plan, such as the tool array.
    pub rendered: RenderCache,
}

impl TurnPlan {
    /// A plan that sends exactly these tools in this order.
    pub fn new(system: impl Into<Str>, tools: Vec<Arc<ToolSpec>>) -> TurnPlan {
        TurnPlan::with_loader(system, tools, Vec::new(), Vec::new(), Arc::default())
    }

    /// A plan with a loader. `deferred` lists in name order what the loader can
    /// load, whether loaded or not; only a wire with deferral of its own sends it.
    pub fn with_loader(
        system: impl Into<Str>,
        eager: Vec<Arc<ToolSpec>>,
        loader: Vec<Arc<ToolSpec>>,
        loaded: Vec<Arc<ToolSpec>>,
        deferred: Arc<[Arc<ToolSpec>]>,
    ) -> TurnPlan {
        let system = system.into();
        let region = eager.len()..eager.len() + loader.len();
        let mut tools = eager;
        tools.extend(loader);
        tools.extend(loaded);
        let fingerprint = Fingerprint::of(&system, &tools);
        TurnPlan {
            system,
            tools,
            loader: region,
            deferred,
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

    /// The same plan for a wire that sends the deferred tools too: their digest, as
    /// [`Fingerprint::of_deferred`] makes it, is part of the fingerprint.
    pub fn sending_deferred(mut self, digest: Str) -> TurnPlan {
        self.fingerprint.deferred = Some(digest);
        self
    }

    /// The system prompt.
    pub fn system(&self) -> &str {
        &self.system
    }

    /// The tools in the order they are sent.
    pub fn tools(&self) -> &[Arc<ToolSpec>] {
        &self.tools
    }

    /// The tools that are always sent, in name order.
    pub fn eager_tools(&self) -> &[Arc<ToolSpec>] {
        &self.tools[..self.loader.start]
    }

    /// The loader and what belongs to it; empty when nothing is deferred.
    pub fn loader_tools(&self) -> &[Arc<ToolSpec>] {
        &self.tools[self.loader.clone()]
    }

    /// The loaded tools, in the order of loading.
    pub fn loaded_tools(&self) -> &[Arc<ToolSpec>] {
        &self.tools[self.loader.end..]
    }

    /// What the loader can load, in name order, whether loaded or not. A wire with
    /// deferral of its own sends these in place of [`TurnPlan::loaded_tools`]; all
    /// others leave them out.
    pub fn deferred_tools(&self) -> &[Arc<ToolSpec>] {
        &self.deferred
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
    /// Of the deferred tools, where the provider holds them itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred: Option<Str>,
}

impl Fingerprint {
    fn of(system: &str, tools: &[Arc<ToolSpec>]) -> Fingerprint {
        Fingerprint {
            system: digest([system]),
            tools: digest(tools.iter().flat_map(|t| [t.name.as_str(), &t.description])),
            schemas: digest(tools.iter().map(|t| &**t.canonical_schema())),
            deferred: None,
        }
    }

    /// What stands for deferred tools that a provider holds itself. Reads every
    /// schema, so it is to be made once for a set of tools.
    pub fn of_deferred(tools: &[Arc<ToolSpec>]) -> Str {
        digest(tools.iter().flat_map(|t| {
            let schema: &str = t.canonical_schema();
            [t.name.as_str(), &t.description, schema]
        }))
    }

    /// Names the sections that differ: `system`, `tools`, `schemas`, `deferred`.
    pub fn changed(&self, earlier: &Fingerprint) -> Vec<&'static str> {
        let sections = [
            ("system", self.system == earlier.system),
            ("tools", self.tools == earlier.tools),
            ("schemas", self.schemas == earlier.schemas),
            ("deferred", self.deferred == earlier.deferred),
        ];
        sections
            .into_iter()
            .filter(|(_, same)| !same)
            .map(|(name, _)| name)
            .collect()
    }
}

impl Fingerprint {
    /// Why requests from now on have this fingerprint: `initial` without an earlier
    /// one, `unchanged`, or the sections that changed, joined by `, `.
    pub fn reason(&self, earlier: Option<&Fingerprint>) -> String {
        match earlier.map(|earlier| self.changed(earlier)) {
            None => "initial".to_owned(),
            Some(changed) if changed.is_empty() => "unchanged".to_owned(),
            Some(changed) => changed.join(", "),
        }
    }
}

/// How a model gets the definition of a tool that was loaded on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoadRoute {
    /// It is appended to the tool array of the next request.
    #[default]
    Append,
    /// Never: a constant `call_tool` calls it by name.
    Bridge,
    /// The provider holds deferred definitions itself; the array is constant.
    Native,
    /// It is declared once in the transcript, behind the result that loaded it.
    Positional,
    /// Nothing is deferred: the model never calls a loader.
    Off,
}

impl LoadRoute {
    /// Whether a load changes the tool array.
    pub fn grows(self) -> bool {
        self == LoadRoute::Append
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.system, self.tools, self.schemas)?;
        match &self.deferred {
            Some(deferred) => write!(f, "/{deferred}"),
            None => Ok(()),
        }
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
    fn s52_the_fingerprint_says_which_section_changed() {
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
        let reason = |other: TurnPlan| other.fingerprint().reason(Some(base.fingerprint()));
        assert_eq!(base.fingerprint().reason(None), "initial");
        assert_eq!(reason(plan("s", &[&a, &b])), "unchanged");
        assert_eq!(reason(plan("t", &[&b, &a])), "system, tools, schemas");
        // What a provider holds itself is part of it, whether loaded or not.
        let held = |tool: &Arc<ToolSpec>| {
            let digest = Fingerprint::of_deferred(std::slice::from_ref(tool));
            plan("s", &[&a, &b]).sending_deferred(digest)
        };
        let of_b = held(&b).fingerprint().clone();
        assert_eq!(reason(held(&a)), "deferred");
        assert_eq!(held(&b).fingerprint(), &of_b);
        assert_eq!(held(&a).fingerprint().reason(Some(&of_b)), "deferred");
    }

    #[test]
    fn regions_follow_each_other_and_deferred_tools_are_apart() {
        let [a, b, l, z] = ["a", "b", "l", "z"].map(|name| spec(name, "", "{}"));
        let plan = TurnPlan::with_loader(
            "s",
            vec![a.clone()],
            vec![l.clone()],
            vec![z.clone()],
            [b.clone(), z.clone()].into(),
        );
        let names = |tools: &[Arc<ToolSpec>]| -> Vec<String> {
            tools.iter().map(|t| t.name.to_string()).collect()
        };
        assert_eq!(names(plan.tools()), ["a", "l", "z"]);
        assert_eq!(names(plan.eager_tools()), ["a"]);
        assert_eq!(names(plan.loader_tools()), ["l"]);
        assert_eq!(names(plan.loaded_tools()), ["z"]);
        assert_eq!(names(plan.deferred_tools()), ["b", "z"]);
        let bare = TurnPlan::new("s", vec![a, l, z]);
        assert_eq!(bare.fingerprint(), plan.fingerprint());
        assert_eq!(bare.loader_tools().len() + bare.loaded_tools().len(), 0);
    }
}
