//! What the loader may look at: shared between it and whoever plans the turns.

use std::sync::{Arc, Mutex, PoisonError};

use toolcrib_core::ToolName;

use crate::{Inventory, SurfaceState};

/// A handle that clones share. The loader reads it; the owner of the session's
/// state puts the newest there by [`Shelf::show`], at least after each load.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<Shown>>);

#[derive(Debug, Default)]
struct Shown {
    inventory: Option<Arc<Inventory>>,
    loaded: Vec<ToolName>,
}

impl Shelf {
    /// A shelf on which nothing is yet.
    pub fn new() -> Shelf {
        Shelf::default()
    }

    /// Shows this from now on.
    pub fn show(&self, inventory: &Arc<Inventory>, state: &SurfaceState) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.inventory = Some(inventory.clone());
        shown.loaded = state.loaded().to_vec();
    }

    pub(crate) fn inventory(&self) -> Option<Arc<Inventory>> {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.inventory.clone()
    }

    /// Takes note that these are on their way, so that a second search of the same
    /// batch does not call them new; returns the ones that were not loaded before.
    pub(crate) fn take(&self, names: &[ToolName]) -> Vec<ToolName> {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = names.iter().filter(|name| !shown.loaded.contains(name));
        let new: Vec<ToolName> = new.cloned().collect();
        shown.loaded.extend(new.iter().cloned());
        new
    }

    pub(crate) fn is_loaded(&self, name: &ToolName) -> bool {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shown.loaded.contains(name)
    }
}
