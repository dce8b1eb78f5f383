//! What a session remembers of its surface: what was loaded, and how well its
//! prompts were read.
//!
//! The loaded set is ordered and only grows: one that followed each turn would
//! change the request part that providers cache from its first byte on. A name
//! that is registered no longer stays in it, is not shown, and comes back to its
//! old position when it is registered again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toolcrib_core::ToolName;

use crate::Reading;
use crate::inventory::{Inventory, Place};

/// See the module's head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SurfaceState {
    loaded: Vec<ToolName>,
    /// How many of `loaded` were handed out for a log.
    logged: usize,
    /// What the turn under way was taken to need.
    reading: Reading,
    /// The reading was not handed out for a log yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unlogged: bool,
    misreads: Misreads,
}

/// How often a reading withheld what was needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Misreads {
    /// Turns whose prompt was read.
    pub turns: u64,
    /// Tools that were needed although the reading had not predicted them.
    pub misreads: u64,
    /// The same by tool.
    pub wanted: BTreeMap<ToolName, u64>,
}

/// What became of a request to load a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    /// It is loaded from now on.
    Now,
    /// It was loaded before.
    Already,
    /// Its definition is always sent.
    Listed,
    /// No such tool may be seen.
    Unknown,
}

impl SurfaceState {
    /// The state of a session that loaded these tools, in this order, as its log
    /// tells.
    pub fn restored(loaded: impl IntoIterator<Item = ToolName>) -> SurfaceState {
        let mut state = SurfaceState::default();
        for name in loaded {
            if !state.loaded.contains(&name) {
                state.loaded.push(name);
            }
        }
        state.logged = state.loaded.len();
        state
    }

    /// All names loaded so far, in the order of loading, registered or not.
    pub fn loaded(&self) -> &[ToolName] {
        &self.loaded
    }

    /// What the turn under way was taken to need.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// How well prompts were read so far.
    pub fn misreads(&self) -> &Misreads {
        &self.misreads
    }

    /// The names loaded since this was last asked, for whoever keeps a log.
    pub fn take_unlogged(&mut self) -> Vec<ToolName> {
        let new = self.loaded[self.logged..].to_vec();
        self.logged = self.loaded.len();
        new
    }

    /// What this turn's prompt was taken to need, once for whoever keeps a log; `None`
    /// where nothing was predicted.
    pub fn take_reading(&mut self) -> Option<&Reading> {
        std::mem::take(&mut self.unlogged).then_some(&self.reading)
    }

    /// Begins a turn whose prompt was read so, and loads what the reading asks for:
    /// direct tools in name order, then predicted ones within the policy's budget.
    /// What earlier turns loaded stays. On a route whose array must not grow nothing
    /// is loaded beforehand.
    pub fn begin_turn(&mut self, inventory: &Inventory, reading: Reading) {
        if inventory.inactive().is_some() || !inventory.route().grows() {
            self.reading = Reading::default();
            self.unlogged = false;
            return;
        }
        self.reading = reading;
        self.unlogged = self.reading.predicts();
        self.misreads.turns += u64::from(self.reading.predicts());
        let reading = &self.reading;
        let all = reading.domains == crate::Domains::All;
        let asked = inventory.read.iter().map(|&at| &inventory.entries[at]);
        let asked = asked.filter(|entry| match entry.place {
            Place::Card => all || reading.cards.contains(&entry.spec().name),
            _ => reading.domains.meet(&entry.spec().domains),
        });
        let mut left = inventory.policy.preload_budget;
        let predicted = reading.tools.iter().filter_map(|name| {
            let entry = &inventory.entries[inventory.find(name.as_str())?];
            if entry.place != Place::Deferred || self.loaded.contains(name) {
                return None;
            }
            // One too large does not keep the next from fitting.
            left = left.checked_sub(entry.tokens)?;
            Some(entry)
        });
        let names: Vec<ToolName> = asked
            .chain(predicted)
            .map(|entry| entry.spec().name.clone())
            .collect();
        for name in names {
            if !self.loaded.contains(&name) {
                self.loaded.push(name);
            }
        }
    }

    /// Loads a tool for the rest of the session and counts a misread if the turn's
    /// reading should have predicted it.
    pub fn load(&mut self, inventory: &Inventory, name: &ToolName) -> Loading {
        let Some(at) = inventory.find(name.as_str()) else {
            return Loading::Unknown;
        };
        let entry = &inventory.entries[at];
        if entry.place == Place::Eager {
            return Loading::Listed;
        }
        if self.loaded.contains(name) {
            return Loading::Already;
        }
        if self.unpredicted(entry.place) {
            self.misreads.misreads += 1;
            *self.misreads.wanted.entry(name.clone()).or_default() += 1;
        }
        self.loaded.push(name.clone());
        Loading::Now
    }

    /// Whether needing a tool of this place that is not loaded is a misread. A card
    /// is a choice of output, not a need.
    pub(crate) fn unpredicted(&self, place: Place) -> bool {
        self.reading.predicts() && matches!(place, Place::Domains | Place::Deferred)
    }
}
