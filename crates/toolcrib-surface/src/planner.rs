//! Plans turn after turn over a registry that may change between them.

use std::sync::Arc;

use toolcrib_core::{LoadRoute, Registry, Str, ToolName, TurnPlan, Visibility};

use crate::{Inventory, Surface, SurfacePolicy, SurfaceState};

/// Keeps what did not change: the inventory while registry and visibility stay, the
/// plan while the loaded set stays too. One planner belongs to one registry.
#[derive(Debug)]
pub struct Planner {
    policy: SurfacePolicy,
    window: Option<u64>,
    route: LoadRoute,
    stock: Option<(Visibility, Arc<Inventory>)>,
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    inventory: Arc<Inventory>,
    loaded: Vec<ToolName>,
    plan: Arc<TurnPlan>,
}

impl Planner {
    /// A planner for a model with this window, in tokens, that gets loaded tools so,
    /// where the policy says nothing else.
    pub fn new(policy: SurfacePolicy, window: Option<u64>, route: LoadRoute) -> Planner {
        Planner {
            policy,
            window,
            route,
            stock: None,
            last: None,
        }
    }

    /// The inventory of the registry as it is now.
    pub fn inventory(&mut self, registry: &Registry, visibility: &Visibility) -> Arc<Inventory> {
        if let Some((seen, inventory)) = &self.stock
            && inventory.generation() == registry.generation()
            && seen == visibility
        {
            return inventory.clone();
        }
        let inventory =
            Inventory::build(registry, visibility, &self.policy, self.window, self.route);
        let inventory = Arc::new(inventory);
        self.stock = Some((visibility.clone(), inventory.clone()));
        inventory
    }

    /// The plan of the next turn: the very object of the last one when nothing that
    /// it shows has changed.
    pub fn plan(
        &mut self,
        registry: &Registry,
        visibility: &Visibility,
        state: &SurfaceState,
        system: &Str,
    ) -> Arc<TurnPlan> {
        let inventory = self.inventory(registry, visibility);
        if let Some(last) = &self.last
            && Arc::ptr_eq(&last.inventory, &inventory)
            && last.loaded == state.loaded()
            && last.plan.system() == &**system
        {
            return last.plan.clone();
        }
        let plan = Arc::new(Surface::of(&inventory, state).plan(system.clone()));
        self.last = Some(Last {
            inventory,
            loaded: state.loaded().to_vec(),
            plan: plan.clone(),
        });
        plan
    }
}
