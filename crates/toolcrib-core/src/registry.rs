//! All tools of a process, in an order that never depends on chance.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{SourceId, Tool, ToolName, ToolSource};

/// Tools by name. Iteration is in name order whatever the order of
/// registration, since providers cache prompts by prefix.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Arc<dyn Tool>>,
    generation: u64,
}

/// Why a tool was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is taken.
    #[error(
        "tool `{name}` of source `{second}` is already registered by source `{first}`; rename or prefix one of them"
    )]
    Duplicate {
        /// The name both carry.
        name: ToolName,
        /// Where the registered one comes from.
        first: SourceId,
        /// Where the refused one comes from.
        second: SourceId,
    },
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Registers one tool.
    ///
    /// # Errors
    /// [`RegistryError::Duplicate`] when the name is taken; nothing changes then.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let spec = tool.spec();
        if let Some(first) = self.tools.get(&spec.name) {
            return Err(RegistryError::Duplicate {
                name: spec.name.clone(),
                first: first.spec().source.clone(),
                second: spec.source.clone(),
            });
        }
        self.tools.insert(spec.name.clone(), tool);
        self.generation += 1;
        Ok(())
    }

    /// Registers all tools of a source, or none of them.
    ///
    /// # Errors
    /// [`RegistryError::Duplicate`] when one name is taken; nothing changes then.
    pub fn extend(&mut self, source: &dyn ToolSource) -> Result<(), RegistryError> {
        let mut next = self.clone();
        for tool in source.tools() {
            next.insert(tool)?;
        }
        *self = next;
        Ok(())
    }

    /// Removes a tool and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Arc<dyn Tool>> {
        let removed = self.tools.remove(name);
        self.generation += u64::from(removed.is_some());
        removed
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All tools in name order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Moves with every change; what depends only on the registry is computed once
    /// per generation.
    pub fn generation(&self) -> u64 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::{fixed, source};
    use proptest::prelude::*;

    #[test]
    fn a_duplicate_names_both_sources_and_changes_nothing() {
        let mut registry = Registry::new();
        registry
            .extend(&source("files", ["read", "write"]))
            .unwrap();
        let error = registry
            .extend(&source("git", ["log", "read"]))
            .unwrap_err();
        insta::assert_snapshot!(error, @"tool `read` of source `git` is already registered by source `files`; rename or prefix one of them");
        assert_eq!(registry.len(), 2);
        assert!(registry.get("log").is_none());
    }

    #[test]
    fn the_generation_moves_with_each_change_and_only_then() {
        let mut registry = Registry::new();
        let before = registry.generation();
        registry.insert(fixed("a")).unwrap();
        let inserted = registry.generation();
        assert_ne!(before, inserted);
        assert!(registry.insert(fixed("a")).is_err());
        assert!(registry.remove("zzz").is_none());
        assert_eq!(registry.generation(), inserted);
        registry.remove("a");
        assert_ne!(registry.generation(), inserted);
    }

    proptest! {
        #[test]
        fn order_never_depends_on_registration(
            names in proptest::collection::btree_set("[a-zA-Z_-]{1,8}", 1..20)
                .prop_flat_map(|set| Just(set.into_iter().collect::<Vec<_>>()).prop_shuffle())
        ) {
            let mut registry = Registry::new();
            for name in &names {
                registry.insert(fixed(name)).unwrap();
            }
            let listed: Vec<_> = registry.iter().map(|t| t.spec().name.to_string()).collect();
            let mut sorted = names.clone();
            sorted.sort();
            prop_assert_eq!(listed, sorted);
        }
    }
}
