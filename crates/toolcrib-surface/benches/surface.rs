//! What a turn's plan costs beside thousands of tools.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use divan::{Bencher, black_box};
use toolcrib_core::{
    Arguments, BoxFuture, Exposure, LoadRoute, Registry, Schema, SourceId, Str, Tool, ToolContext,
    ToolError, ToolName, ToolOutput, ToolSpec, Visibility,
};
use toolcrib_surface::{
    Inventory, Planner, Shelf, Surface, SurfacePolicy, SurfaceState, ToolSearch,
};

const TOOLS: usize = 5_000;

fn main() {
    divan::main();
}

struct Idle(Arc<ToolSpec>);

impl Tool for Idle {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }
    fn call<'a>(
        &'a self,
        _: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok(ToolOutput::default()) })
    }
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    for n in 0..TOOLS {
        let name = ToolName::parse(&format!("server{}__action_{n}", n / 8)).unwrap();
        let schema = r#"{"type":"object","properties":{"id":{"type":"string","description":"Which one."},"limit":{"type":"integer"}},"required":["id"]}"#;
        let spec = ToolSpec::new(
            name,
            "Does one thing of many.",
            Schema::parse(schema).unwrap(),
        )
        .source(SourceId::new(format!("server{}", n / 8)))
        .exposure(Exposure::Deferred);
        registry.insert(Arc::new(Idle(Arc::new(spec)))).unwrap();
    }
    registry
        .insert(Arc::new(ToolSearch::new(Shelf::new())))
        .unwrap();
    registry
}

fn planner() -> Planner {
    Planner::new(SurfacePolicy::default(), None, LoadRoute::Append)
}

/// What stands for a turn that is like the one before.
#[divan::bench]
fn plan_unchanged(bencher: Bencher<'_, '_>) {
    let (registry, seen) = (registry(), Visibility::default());
    let (mut planner, system): (_, Str) = (planner(), "You help.".into());
    let state = SurfaceState::default();
    bencher.bench_local(|| planner.plan(&registry, &seen, &state, black_box(&system)));
}

/// A turn after a load: split, concatenate, fingerprint.
#[divan::bench]
fn plan_after_a_load(bencher: Bencher<'_, '_>) {
    let (registry, seen) = (registry(), Visibility::default());
    let inventory = planner().inventory(&registry, &seen);
    let mut state = SurfaceState::default();
    for n in 0..10 {
        let name = ToolName::parse(&format!("server{n}__action_{}", n * 8)).unwrap();
        state.load(&inventory, &name);
    }
    bencher.bench_local(|| Surface::of(&inventory, black_box(&state)).plan("You help."));
}

/// A registry that changed, its index not counted.
#[divan::bench]
fn take_stock(bencher: Bencher<'_, '_>) {
    let (registry, seen) = (registry(), Visibility::default());
    let policy = SurfacePolicy::default();
    bencher.bench_local(|| {
        Inventory::build(
            black_box(&registry),
            &seen,
            &policy,
            None,
            LoadRoute::Append,
        )
    });
}
