//! Tools that are loaded on the way: what a batch loaded, and the plan after it.

use std::sync::Arc;

use toolcrib_core::{Registry, Str, Tool, ToolCall, ToolError, ToolErrorKind, ToolName, TurnPlan};
use toolcrib_dispatch::{CallOutcome, Dispatcher, Prepared};
use toolcrib_session::Row;
use toolcrib_surface::{
    CALL_TOOL, CallTool, Inventory, Shelf, Surface, SurfaceState, TOOL_SEARCH, ToolSearch,
    check_unseen,
};

use super::Driver;
use crate::agent::prefix_bytes;
use crate::{Agent, RunError, words};

/// One run's part of the surface: runs of one agent load apart from each other.
pub(super) struct Loads {
    inventory: Arc<Inventory>,
    shelf: Shelf,
    /// Something was loaded that the plan does not show.
    stale: bool,
}

/// Withheld tools that a batch calls all the same, by the call.
#[derive(Default)]
pub(super) struct Direct(Vec<(Str, ToolName)>);

impl Loads {
    /// `None` where nothing is deferred.
    pub(super) fn of(agent: &Agent, state: &SurfaceState) -> Option<Loads> {
        let inventory = agent.inventory.as_ref()?;
        if inventory.inactive().is_some() {
            return None;
        }
        let shelf = Shelf::new();
        shelf.show(inventory, state);
        Some(Loads {
            inventory: inventory.clone(),
            shelf,
            stale: false,
        })
    }

    /// The agent's dispatcher with loader tools of this run's own.
    pub(super) fn dispatcher(&self, agent: &Agent) -> Dispatcher {
        let common = &agent.dispatcher;
        let mut registry = Registry::clone(common.registry());
        let own: [(&str, Arc<dyn Tool>); 2] = [
            (TOOL_SEARCH, Arc::new(ToolSearch::new(self.shelf.clone()))),
            (CALL_TOOL, Arc::new(CallTool::new(self.shelf.clone()))),
        ];
        let needed = self.inventory.loader_names();
        for (name, tool) in own {
            if needed.iter().any(|needed| needed.as_str() == name) {
                registry.remove(name);
                let _ = registry.insert(tool);
            }
        }
        Dispatcher::new(
            Arc::new(registry),
            common.visibility().clone(),
            common.limits().clone(),
        )
    }

    /// The plan that shows what is loaded.
    pub(super) fn plan(&self, agent: &Agent, state: &SurfaceState) -> Arc<TurnPlan> {
        if state.loaded().is_empty() {
            return agent.plan.clone();
        }
        Arc::new(Surface::of(&self.inventory, state).plan(agent.plan.system()))
    }
}

impl Driver<'_> {
    /// Settles a call. One of a tool that is withheld loads it, and runs if its
    /// arguments can be right and the policy does not want it seen first.
    pub(super) fn prepare(&self, call: &ToolCall, direct: &mut Direct) -> Prepared {
        let prepared = self.dispatcher.prepare(call);
        let (Some(loads), Some(tool)) = (&self.loads, prepared.tool()) else {
            return prepared;
        };
        let spec = tool.spec();
        let surface = Surface::of(&loads.inventory, self.run.surface());
        if !surface.is_deferred(spec.name.as_str()) {
            return prepared;
        }
        direct.0.push((call.id.clone(), spec.name.clone()));
        if *call.name != *spec.name.as_str() {
            // The bridge has seen to it.
            return prepared;
        }
        let error = if loads.inventory.policy().strict_loading {
            let schema = spec.input_schema.wire();
            let text = words::not_loaded(spec.name.as_str(), schema);
            Some(ToolError::new(ToolErrorKind::BadArgs, text))
        } else {
            let arguments = prepared.arguments();
            arguments.and_then(|arguments| check_unseen(spec, arguments).err())
        };
        match error {
            Some(error) => Prepared::refused(call, error),
            None => prepared,
        }
    }

    /// Takes what a batch loaded, in call order.
    pub(super) fn take_loads(
        &mut self,
        direct: &Direct,
        outcomes: &[CallOutcome],
    ) -> Result<(), RunError> {
        let Some(loads) = &mut self.loads else {
            return Ok(());
        };
        let inventory = loads.inventory.clone();
        for outcome in outcomes {
            let call_id = &outcome.result.call_id;
            let called = direct.0.iter().filter(|(id, _)| id == call_id);
            let names = called.map(|(_, name)| name).chain(&outcome.activated);
            for name in names {
                self.run.surface_mut().load(&inventory, name);
            }
            self.journal_loads(Some(call_id.clone()))?;
        }
        Ok(())
    }

    /// Writes down what was loaded since the last time.
    pub(super) fn journal_loads(&mut self, call_id: Option<Str>) -> Result<(), RunError> {
        let Some(loads) = &mut self.loads else {
            return Ok(());
        };
        let names = self.run.surface_mut().take_unlogged();
        loads.shelf.show(&loads.inventory, self.run.surface());
        if names.is_empty() {
            return Ok(());
        }
        loads.stale |= call_id.is_some();
        self.journal.append(|| Row::activation(names, call_id))?;
        Ok(())
    }

    /// Shows what was loaded, all loads of a batch at once.
    pub(super) fn renew_plan(&mut self) -> Result<(), RunError> {
        let Some(loads) = &mut self.loads else {
            return Ok(());
        };
        if !std::mem::take(&mut loads.stale) {
            return Ok(());
        }
        let plan = loads.plan(self.agent, self.run.surface());
        let before = std::mem::replace(&mut self.plan, plan);
        if before.fingerprint() == self.plan.fingerprint() {
            // On a route whose array is constant the very object stays.
            self.plan = before;
            return Ok(());
        }
        self.run.prefix_is(prefix_bytes(&self.plan));
        let reason = self.plan.fingerprint().reason(Some(before.fingerprint()));
        self.emit_surface(reason);
        self.announce_plan()
    }
}
