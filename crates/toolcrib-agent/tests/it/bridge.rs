//! The constant tool that calls others, and what dispatch makes of it.

use std::sync::Arc;

use toolcrib_core::{
    Effect, Exposure, LoadRoute, Mode, Permission, Registry, Schema, Selector, SourceId, Tool,
    ToolCall, ToolErrorKind, Visibility,
};
use toolcrib_dispatch::{DispatchLimits, Dispatcher, Prepared, RunContext, Verdict};
use toolcrib_surface::{
    CallTool, Inventory, Shelf, Surface, SurfacePolicy, SurfaceState, ToolSearch,
};
use toolcrib_testkit::tools::FakeTool;

const SCHEMA: &str =
    r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;

fn described(name: &str, description: &str) -> FakeTool {
    FakeTool::echo(name).with_spec(|mut spec| {
        spec.description = description.into();
        spec.input_schema = Schema::parse(SCHEMA).unwrap();
        spec.exposure(Exposure::Deferred)
            .source(SourceId::new("server"))
    })
}

struct Desk {
    registry: Registry,
    visibility: Visibility,
    shelf: Shelf,
}

fn bridged() -> Desk {
    let shelf = Shelf::new();
    let mut registry = Registry::new();
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ToolSearch::new(shelf.clone())),
        Arc::new(CallTool::new(shelf.clone())),
        Arc::new(described("weather", "Forecast for a town.")),
        Arc::new(described("paint", "Paints.").with_effect(Effect::Write)),
    ];
    tools.extend((0..3).map(|n| -> Arc<dyn Tool> { Arc::new(described(&format!("d{n}"), "A.")) }));
    for tool in tools {
        registry.insert(tool).unwrap();
    }
    Desk {
        registry,
        visibility: Visibility::default(),
        shelf,
    }
}

fn inventory(registry: &Registry, visibility: &Visibility, route: LoadRoute) -> Arc<Inventory> {
    let policy = SurfacePolicy::default();
    Arc::new(Inventory::build(registry, visibility, &policy, None, route))
}

fn dispatcher(desk: &Desk) -> Dispatcher {
    let inventory = inventory(&desk.registry, &desk.visibility, LoadRoute::Bridge);
    desk.shelf.show(&inventory, &SurfaceState::default());
    Dispatcher::new(
        desk.registry.clone().into(),
        desk.visibility.clone(),
        DispatchLimits::default(),
    )
}

fn prepare(desk: &Desk, arguments: &str) -> Prepared {
    dispatcher(desk).prepare(&call("call_tool", arguments))
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: None,
    }
}

#[track_caller]
fn refusal(prepared: &Prepared) -> String {
    match prepared.verdict() {
        Verdict::Refuse(error) => error.for_model(),
        other => panic!("{other:?}"),
    }
}

async fn answer(desk: &Desk, name: &str, arguments: &str) -> String {
    let dispatcher = dispatcher(desk);
    let prepared = dispatcher.prepare(&call(name, arguments));
    let cx = RunContext::default();
    let outcomes = dispatcher.run(&[prepared], &cx, &mut |_| {}).await;
    crate::support::joined(&outcomes[0].result.content)
}

#[tokio::test]
async fn s73_a_search_shows_signatures_and_a_selection_schemas() {
    let desk = bridged();
    let inventory = inventory(&desk.registry, &desk.visibility, LoadRoute::Bridge);
    let plan = Surface::of(&inventory, &SurfaceState::default()).plan("s");
    let names: Vec<_> = plan.tools().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["tool_search", "call_tool"]);
    insta::assert_snapshot!(answer(&desk, "tool_search", r#"{"query":"forecast for a town"}"#).await, @"
    Found; run them with `call_tool`:
    - weather(town) — Forecast for a town.
    ");
    for _ in 0..2 {
        let text = answer(&desk, "tool_search", r#"{"query":"select:weather"}"#).await;
        assert!(text.ends_with(SCHEMA), "{text}");
    }
}

#[tokio::test]
async fn s73_arguments_may_be_an_object_or_its_text() {
    let desk = bridged();
    for arguments in [
        r#"{"name":"weather","arguments":{"town":"Ulm"}}"#,
        r#"{"name":"weather","arguments":"{\"town\":\"Ulm\"}"}"#,
        r#"{"name":"Weather","arguments":{"town":"Ulm"}}"#,
    ] {
        let prepared = prepare(&desk, arguments);
        assert_eq!(prepared.tool().unwrap().spec().name.as_str(), "weather");
        // The transcript keeps the call as it was made.
        assert_eq!(&*prepared.call.arguments, arguments);
        assert_eq!(&*prepared.call.name, "call_tool");
        let cx = RunContext::default();
        let outcomes = dispatcher(&desk).run(&[prepared], &cx, &mut |_| {}).await;
        assert!(!outcomes[0].result.is_error);
        assert_eq!(
            outcomes[0].result.content,
            [toolcrib_core::Content::text(r#"{"town":"Ulm"}"#)]
        );
    }
}

#[test]
fn s73_wrong_arguments_return_the_schema() {
    let desk = bridged();
    insta::assert_snapshot!(refusal(&prepare(&desk, r#"{"name":"weather","arguments":{"city":"Ulm"}}"#)), @r#"error: bad arguments of `weather`: `town` is missing; there is no argument `city`; it did not run. Its schema: {"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#);
    insta::assert_snapshot!(refusal(&prepare(&desk, r#"{"name":"weather","arguments":7}"#)), @r#"error: `arguments` must be an object with the arguments of `weather`; it did not run. Its schema: {"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#);
    insta::assert_snapshot!(refusal(&prepare(&desk, r#"{"arguments":{}}"#)), @"error: `name` must be the name of a tool");
    insta::assert_snapshot!(refusal(&prepare(&desk, r#"{"name":"wether","arguments":{}}"#)), @"error: there is no tool `wether`. Near it: `weather`. Find tools with `tool_search`.");
    insta::assert_snapshot!(refusal(&prepare(&desk, r#"{"name":"call_tool","arguments":{}}"#)), @"error: `call_tool` is in your list: call it directly");
}

#[test]
fn s73_permission_and_mode_are_those_of_the_tool_inside() {
    let paint = r#"{"name":"paint","arguments":{"town":"Ulm"}}"#;
    let mut desk = bridged();
    assert!(matches!(prepare(&desk, paint).verdict(), Verdict::Ask));
    desk.visibility.mode = Mode::Auto;
    assert!(matches!(prepare(&desk, paint).verdict(), Verdict::Run));
    desk.visibility.mode = Mode::Plan;
    assert!(refusal(&prepare(&desk, paint)).contains("there is no tool `paint`"));
    let denied = described("vault", "Opens it.");
    let denied = denied.with_spec(|spec| spec.permission(Permission::Deny));
    desk.registry.insert(Arc::new(denied)).unwrap();
    let error = refusal(&prepare(
        &desk,
        r#"{"name":"vault","arguments":{"town":"a"}}"#,
    ));
    assert!(error.contains("there is no tool `vault`"), "{error}");
}

/// A tool of each kind beside enough others that something is deferred.
fn kinds() -> Vec<FakeTool> {
    let mut tools: Vec<FakeTool> = (0..3).map(|n| described(&format!("d{n}"), "A.")).collect();
    for effect in [Effect::ReadOnly, Effect::Write, Effect::Destructive] {
        for permission in [Permission::Allow, Permission::Ask, Permission::Deny] {
            for exposure in [
                Exposure::Direct,
                Exposure::Deferred,
                Exposure::Presentation,
                Exposure::Hidden,
                Exposure::Always,
            ] {
                let name = format!("t{}", tools.len());
                tools.push(described(&name, "One of many.").with_spec(|spec| {
                    spec.effect(effect)
                        .permission(permission)
                        .exposure(exposure)
                }));
            }
        }
    }
    tools
}

#[tokio::test]
async fn s38_listed_or_loadable_means_not_refused_in_every_mode() {
    for mode in [Mode::Plan, Mode::Ask, Mode::Auto, Mode::Yolo] {
        let shelf = Shelf::new();
        let mut registry = Registry::new();
        registry
            .insert(Arc::new(ToolSearch::new(shelf.clone())))
            .unwrap();
        for tool in kinds() {
            registry.insert(Arc::new(tool)).unwrap();
        }
        let visibility = Visibility {
            mode,
            ..Visibility::default()
        };
        let inventory = inventory(&registry, &visibility, LoadRoute::Append);
        let desk = Desk {
            registry,
            visibility,
            shelf,
        };
        for tool in desk.registry.iter() {
            let name = tool.spec().name.as_str();
            let mut state = SurfaceState::default();
            let listed = |state: &SurfaceState| {
                let plan = Surface::of(&inventory, state).plan("s");
                plan.tools().iter().any(|t| t.name.as_str() == name)
            };
            let before = listed(&state);
            if !before {
                let dispatcher = append_dispatcher(&desk, &inventory);
                let query = format!(r#"{{"query":"select:{name}"}}"#);
                let search = dispatcher.prepare(&call("tool_search", &query));
                let cx = RunContext::default();
                let outcomes = dispatcher.run(&[search], &cx, &mut |_| {}).await;
                for name in &outcomes[0].activated {
                    state.load(&inventory, name);
                }
            }
            let prepared = append_dispatcher(&desk, &inventory).prepare(&call(name, "{}"));
            let refused = match prepared.verdict() {
                Verdict::Refuse(error) => matches!(
                    error.kind,
                    ToolErrorKind::Denied | ToolErrorKind::UnknownTool
                ),
                _ => false,
            };
            assert_eq!(listed(&state), !refused, "{name} in {mode:?}");
        }
    }
}

fn append_dispatcher(desk: &Desk, inventory: &Arc<Inventory>) -> Dispatcher {
    desk.shelf.show(inventory, &SurfaceState::default());
    Dispatcher::new(
        desk.registry.clone().into(),
        desk.visibility.clone(),
        DispatchLimits::default(),
    )
}

#[test]
fn s37_a_refused_loader_names_no_hidden_tool() {
    let mut desk = bridged();
    let hide = |name: &str| Selector(name.to_owned());
    desk.visibility.disabled = vec![hide("tool_search"), hide("d1")];
    let prepared = dispatcher(&desk).prepare(&call("tool_search", r#"{"query":"d"}"#));
    insta::assert_snapshot!(refusal(&prepared), @"error: `tool_search` is filtered out for this run; do without it.");
}
