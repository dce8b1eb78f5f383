//! One turn's split of the tools: always sent, loader, loaded, deferred.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_core::{Str, ToolName, ToolSpec, TurnPlan};

use crate::inventory::{Entry, Inventory, Place};
use crate::report::{SourceReport, SurfaceReport};
use crate::tokens::definition_tokens;
use crate::{Domains, Reading, Search, SurfaceState};

/// What a model is shown of its tools in one turn, as follows from an inventory
/// and a session's state.
#[derive(Clone, Debug)]
pub struct Surface {
    inventory: Arc<Inventory>,
    /// Places of loaded entries, in the order of loading.
    loaded: Vec<usize>,
}

impl Surface {
    /// The split as it is now.
    pub fn of(inventory: &Arc<Inventory>, state: &SurfaceState) -> Surface {
        let names = state.loaded().iter();
        let places = names.filter_map(|name| inventory.find(name.as_str()));
        let loaded = places.filter(|&at| inventory.entries[at].place != Place::Eager);
        Surface {
            loaded: loaded.collect(),
            inventory: inventory.clone(),
        }
    }

    /// What it is a split of.
    pub fn inventory(&self) -> &Arc<Inventory> {
        &self.inventory
    }

    /// Tools that are sent in every turn, in name order.
    pub fn eager(&self) -> &[Arc<ToolSpec>] {
        &self.inventory.eager
    }

    /// The loader and what belongs to it; empty when nothing can be deferred.
    pub fn loader(&self) -> &[Arc<ToolSpec>] {
        &self.inventory.loader
    }

    /// Loaded tools, in the order of loading.
    pub fn loaded(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        let entries = &self.inventory.entries;
        self.loaded.iter().map(|&at| entries[at].spec())
    }

    /// Tools that are withheld now, in name order.
    pub fn deferred(&self) -> impl Iterator<Item = &Arc<ToolSpec>> {
        self.withheld().map(|(_, entry)| entry.spec())
    }

    /// Whether the tool of this name is withheld now.
    pub fn is_deferred(&self, name: &str) -> bool {
        self.inventory.find(name).is_some_and(|at| {
            self.inventory.entries[at].place != Place::Eager && !self.loaded.contains(&at)
        })
    }

    /// Withheld tools of which a need would show that the reading was wrong.
    pub fn unpredicted<'a>(
        &'a self,
        state: &'a SurfaceState,
    ) -> impl Iterator<Item = &'a Arc<ToolSpec>> {
        self.withheld()
            .filter(|(_, entry)| state.unpredicted(entry.place))
            .map(|(_, entry)| entry.spec())
    }

    fn withheld(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let entries = self.inventory.entries.iter().enumerate();
        entries.filter(|(at, entry)| entry.place != Place::Eager && !self.loaded.contains(at))
    }

    /// The plan of this turn's requests. On routes where a load does not change the
    /// tool array, loaded tools are not in it.
    pub fn plan(&self, system: impl Into<Str>) -> TurnPlan {
        self.plan_within(system, usize::MAX)
    }

    /// [`Surface::plan`] for a model that takes at most so many tools. Of more loaded
    /// ones the first stay, since the array must not change before its end; the rest
    /// can be called all the same.
    pub fn plan_within(&self, system: impl Into<Str>, most: usize) -> TurnPlan {
        let fixed = self.eager().len() + self.loader().len();
        let room = match self.inventory.route.grows() {
            true => most.saturating_sub(fixed),
            false => 0,
        };
        let loaded = self.loaded().take(room).cloned().collect();
        let plan = TurnPlan::with_loader(
            system,
            self.eager().to_vec(),
            self.loader().to_vec(),
            loaded,
            self.inventory.deferrable.clone(),
        );
        match self.inventory.held() {
            Some(digest) => plan.sending_deferred(digest),
            None => plan,
        }
    }

    /// What this surface costs, by source, and why it is as it is.
    pub fn report(&self) -> SurfaceReport {
        self.report_by(&definition_tokens)
    }

    /// [`Surface::report`] with another count of a definition's tokens.
    pub fn report_by(&self, count: &dyn Fn(&ToolSpec) -> usize) -> SurfaceReport {
        let inventory = &self.inventory;
        let mut sources: BTreeMap<&str, SourceReport> = BTreeMap::new();
        for (at, entry) in inventory.entries.iter().enumerate() {
            let name = &*entry.spec().source.0;
            let source = sources.entry(name).or_insert_with(|| SourceReport {
                source: name.to_owned(),
                ..SourceReport::default()
            });
            source.tools += 1;
            source.eligible += usize::from(entry.eligible);
            let tokens = count(entry.spec());
            source.eager_tokens += tokens;
            if entry.place == Place::Eager || self.loaded.contains(&at) {
                source.sent += 1;
                source.sent_tokens += tokens;
            } else {
                source.deferred += 1;
            }
        }
        let sources: Vec<SourceReport> = sources.into_values().collect();
        let loader_tokens = self.loader().iter().map(|spec| count(spec));
        let loader_tokens: usize = loader_tokens.sum();
        let sent: usize = sources.iter().map(|source| source.sent_tokens).sum();
        SurfaceReport {
            tools: inventory.entries.len(),
            eager_tokens: sources.iter().map(|source| source.eager_tokens).sum(),
            first_turn_tokens: sent + loader_tokens,
            loader_tokens,
            catalogue: inventory.catalogue().step,
            active: inventory.inactive.is_none(),
            reason: inventory.inactive.as_ref().map(ToString::to_string),
            route: inventory.route,
            sources,
        }
    }
}

impl Inventory {
    /// Reads a prompt by looking for the tools that fit it: they are what it needs,
    /// and their domains what it is about. `Reading::default()` when nothing can be
    /// withheld, the policy turns reading off, or the array must not grow.
    pub fn read(&self, prompt: &str) -> Reading {
        if self.inactive.is_some() || !self.policy.reading || !self.route.grows() {
            return Reading::default();
        }
        let how = Search {
            limit: self.policy.search_limit,
            ..Search::default()
        };
        let mut reading = Reading::default();
        let mut words: Vec<Str> = Vec::new();
        for hit in self.index().search(prompt, &how).hits {
            let entry = &self.entries[hit.doc];
            words.extend(entry.spec().domains.iter().cloned());
            let name: &ToolName = &entry.spec().name;
            match entry.place {
                Place::Card => _ = reading.cards.insert(name.clone()),
                Place::Deferred => reading.tools.push(name.clone()),
                Place::Eager | Place::Domains => {}
            }
        }
        reading.domains = Domains::of(words.iter().map(|word| &**word));
        reading
    }
}
