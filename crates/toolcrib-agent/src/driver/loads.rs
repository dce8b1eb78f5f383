//! Tools that are loaded on the way: what a batch loaded, and the plan after it.

use std::sync::Arc;

use toolcrib_core::{Registry, Str, Tool, ToolCall, ToolError, ToolErrorKind, ToolName, TurnPlan};
use toolcrib_dispatch::{CallOutcome, Dispatcher, Prepared, Verdict};
use toolcrib_session::Row;
use toolcrib_surface::{
    CALL_TOOL, CallTool, Inventory, Loading, Shelf, Surface, SurfaceState, TOOL_SEARCH, ToolSearch,
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
    /// Of this batch's loads, those that the prompt's reading should have predicted.
    misread: Vec<ToolName>,
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
            misread: Vec::new(),
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
        common.clone().with_registry(Arc::new(registry))
    }

    /// The plan that shows what is loaded.
    pub(super) fn plan(&self, agent: &Agent, state: &SurfaceState) -> Arc<TurnPlan> {
        if state.loaded().is_empty() {
            return agent.plan.clone();
        }
        let most = agent.model.profile().max_tools.unwrap_or(usize::MAX);
        let surface = Surface::of(&self.inventory, state);
        Arc::new(surface.plan_within(agent.plan.system(), most))
    }
}

impl Driver<'_> {
    /// Settles a call. One of a tool that is withheld loads it, and runs if its
    /// arguments can be right and the policy does not want it seen first.
    pub(super) fn prepare(&self, call: &ToolCall, direct: &mut Direct) -> Prepared {
        let prepared = self.dispatcher.prepare(call);
        let (Some(loads), Some(spec)) = (&self.loads, prepared.spec()) else {
            return prepared;
        };
        let spec = spec.clone();
        let surface = Surface::of(&loads.inventory, self.run.surface());
        if !surface.is_deferred(spec.name.as_str()) {
            return prepared;
        }
        // The bridge has seen to it that the schema is shown where it is needed.
        let bridged = *call.name != *spec.name.as_str();
        let error = match prepared.verdict() {
            Verdict::Refuse(error) if error.kind == ToolErrorKind::BadArgs && !bridged => {
                let text = format!("{} {}", error.model, prepared.wanted());
                Some(ToolError::bad_args(text.trim_end()))
            }
            Verdict::Refuse(_) => return prepared,
            _ if bridged => None,
            _ if loads.inventory.policy().strict_loading => {
                let schema = spec.input_schema.wire();
                let text = words::not_loaded(spec.name.as_str(), schema);
                Some(ToolError::bad_args(text))
            }
            _ => {
                let arguments = prepared.arguments();
                arguments.and_then(|arguments| check_unseen(&spec, arguments).err())
            }
        };
        direct.0.push((call.id.clone(), spec.name.clone()));
        match error {
            Some(error) => prepared.refuse(error),
            None => prepared,
        }
    }

    /// Takes what a batch loaded, in call order, and notes it at the results.
    pub(super) fn take_loads(&mut self, direct: &Direct, outcomes: &mut [CallOutcome]) {
        let Some(loads) = &mut self.loads else {
            return;
        };
        let state = self.run.surface_mut();
        loads.misread.clear();
        for outcome in outcomes {
            let call_id = outcome.result.call_id.clone();
            let called = direct.0.iter().filter(|(id, _)| *id == call_id);
            for name in called.map(|(_, name)| name).chain(&outcome.activated) {
                let misreads = state.misreads().misreads;
                if state.load(&loads.inventory, name) == Loading::Now {
                    outcome.result.loaded.push(name.clone());
                    loads.stale = true;
                }
                if state.misreads().misreads > misreads {
                    loads.misread.push(name.clone());
                }
            }
        }
        loads.shelf.show(&loads.inventory, state);
    }

    /// Writes down how the prompt was read and what was loaded before the first
    /// request.
    pub(super) fn journal_preloads(&mut self) -> Result<(), RunError> {
        let state = self.run.surface_mut();
        if let Some(reading) = state.take_reading() {
            let domains = reading.domains.words();
            let domains = domains.map(|words| words.cloned().collect());
            let row = Row::reading(reading.tools.clone(), domains);
            self.journal.append(|| row)?;
        }
        let names = state.take_unlogged();
        if self.loads.is_some() && !names.is_empty() {
            let row = || Row::activation(names, None, Vec::new());
            self.journal.append(row)?;
        }
        Ok(())
    }

    /// Writes down what a batch loaded, by call.
    pub(super) fn journal_batch(&mut self, outcomes: &[CallOutcome]) -> Result<(), RunError> {
        self.run.surface_mut().take_unlogged();
        let misread = self.loads.as_ref().map_or(&[][..], |loads| &loads.misread);
        for outcome in outcomes {
            let result = &outcome.result;
            if !result.loaded.is_empty() {
                let loaded = result.loaded.clone();
                let of_these = misread.iter().filter(|name| loaded.contains(name));
                let of_these = of_these.cloned().collect();
                let row = || Row::activation(loaded, Some(result.call_id.clone()), of_these);
                self.journal.append(row)?;
            }
        }
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
