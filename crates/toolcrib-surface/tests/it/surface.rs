//! What a model is shown of its tools, turn by turn.

#![allow(clippy::panic)]

mod activation;
mod bridging;
mod catalogue;
mod loading;
mod reachable;
mod reading;
mod searching;

use std::sync::Arc;

use toolcrib_core::{Arguments, Content};
use toolcrib_core::{
    Effect, Exposure, LoadRoute, Registry, Schema, Selector, SourceId, Tool, ToolContext, ToolName,
    ToolSpec, TurnPlan, Visibility,
};
use toolcrib_surface::{Inventory, Shelf, Surface, SurfacePolicy, SurfaceState, ToolSearch};
use toolcrib_testkit::tools::FakeTool;

pub(crate) fn name(name: &str) -> ToolName {
    ToolName::parse(name).unwrap()
}

/// A read-only tool that is always sent.
pub(crate) fn eager(name: &str) -> FakeTool {
    FakeTool::echo(name)
}

/// A read-only tool of `server` that can be deferred.
pub(crate) fn deferred(name: &str) -> FakeTool {
    FakeTool::echo(name).with_spec(|spec| {
        spec.exposure(Exposure::Deferred)
            .source(SourceId::new("server"))
    })
}

/// The same with a description and a schema.
pub(crate) fn described(name: &str, description: &str, schema: &str) -> FakeTool {
    deferred(name).with_spec(|spec| {
        let mut new = ToolSpec::new(spec.name, description, Schema::parse(schema).unwrap())
            .effect(Effect::ReadOnly)
            .exposure(Exposure::Deferred)
            .source(spec.source);
        new.permission = spec.permission;
        new
    })
}

/// `count` deferred tools, `d0` and on.
pub(crate) fn many(count: usize) -> Vec<FakeTool> {
    (0..count).map(|n| deferred(&format!("d{n}"))).collect()
}

pub(crate) fn selectors(list: &[&str]) -> Vec<Selector> {
    list.iter().map(|s| Selector((*s).to_owned())).collect()
}

/// One session over some tools, as whoever runs the loop keeps it.
pub(crate) struct Desk {
    pub(crate) registry: Registry,
    pub(crate) visibility: Visibility,
    pub(crate) policy: SurfacePolicy,
    pub(crate) window: Option<u64>,
    pub(crate) route: LoadRoute,
    pub(crate) state: SurfaceState,
    pub(crate) shelf: Shelf,
}

impl Desk {
    /// These tools and a loader.
    pub(crate) fn new(tools: impl IntoIterator<Item = FakeTool>) -> Desk {
        let mut desk = Desk::without_loader(tools);
        let loader = ToolSearch::new(desk.shelf.clone());
        desk.registry.insert(Arc::new(loader)).unwrap();
        desk
    }

    pub(crate) fn without_loader(tools: impl IntoIterator<Item = FakeTool>) -> Desk {
        let mut registry = Registry::new();
        for tool in tools {
            registry.insert(Arc::new(tool)).unwrap();
        }
        Desk {
            registry,
            visibility: Visibility::default(),
            policy: SurfacePolicy::default(),
            window: None,
            route: LoadRoute::Append,
            state: SurfaceState::default(),
            shelf: Shelf::new(),
        }
    }

    pub(crate) fn inventory(&self) -> Arc<Inventory> {
        Arc::new(Inventory::build(
            &self.registry,
            &self.visibility,
            &self.policy,
            self.window,
            self.route,
        ))
    }

    pub(crate) fn surface(&self) -> Surface {
        Surface::of(&self.inventory(), &self.state)
    }

    pub(crate) fn plan(&self) -> TurnPlan {
        self.surface().plan("s")
    }

    /// Names of the tools sent, in order.
    pub(crate) fn listed(&self) -> Vec<String> {
        let plan = self.plan();
        plan.tools().iter().map(|t| t.name.to_string()).collect()
    }

    pub(crate) fn deferred(&self) -> Vec<String> {
        let surface = self.surface();
        surface.deferred().map(|t| t.name.to_string()).collect()
    }

    /// Begins a turn with this prompt.
    pub(crate) fn turn(&mut self, prompt: &str) {
        let inventory = self.inventory();
        let reading = inventory.read(prompt);
        self.state.begin_turn(&inventory, reading);
    }

    /// Calls the loader as the loop does, and takes what it loads.
    pub(crate) fn search(&mut self, arguments: serde_json::Value) -> Answer {
        let inventory = self.inventory();
        self.shelf.show(&inventory, &self.state);
        let loader = self.registry.get("tool_search").unwrap().clone();
        let (text, activate, is_error) = call(&*loader, &arguments.to_string());
        for tool in &activate {
            self.state.load(&inventory, tool);
        }
        self.shelf.show(&inventory, &self.state);
        Answer {
            text,
            is_error,
            loaded: activate.iter().map(ToString::to_string).collect(),
        }
    }

    pub(crate) fn ask(&mut self, query: &str) -> Answer {
        self.search(serde_json::json!({"query": query}))
    }
}

pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    pub(crate) loaded: Vec<String>,
}

/// Runs a tool that never waits.
pub(crate) fn call(tool: &dyn Tool, arguments: &str) -> (String, Vec<ToolName>, bool) {
    let arguments = Arguments::parse(arguments).unwrap();
    let cx = ToolContext::detached("c");
    let mut future = tool.call(&arguments, &cx);
    let waker = std::task::Waker::noop();
    let polled = future
        .as_mut()
        .poll(&mut std::task::Context::from_waker(waker));
    match polled {
        std::task::Poll::Ready(Ok(output)) => {
            let text = output.content.iter().map(|piece| match piece {
                Content::Text(text) => text.to_string(),
                other => format!("{other:?}"),
            });
            (text.collect(), output.activate.clone(), false)
        }
        std::task::Poll::Ready(Err(error)) => (error.for_model(), Vec::new(), true),
        std::task::Poll::Pending => panic!("it waits"),
    }
}
