//! The constant tool that calls others.

use std::sync::Arc;

use toolcrib_core::{Effect, LoadRoute, Mode, Permission, ToolCall};
use toolcrib_dispatch::{DispatchLimits, Dispatcher, Prepared, RunContext, Verdict};
use toolcrib_surface::CallTool;

use super::{Desk, described, many};

const SCHEMA: &str =
    r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;

fn bridged() -> Desk {
    let mut tools = many(3);
    tools.push(described("weather", "Forecast for a town.", SCHEMA));
    tools.push(described("paint", "Paints.", SCHEMA).with_effect(Effect::Write));
    let mut desk = Desk::new(tools);
    let bridge = CallTool::new(desk.shelf.clone());
    desk.registry.insert(Arc::new(bridge)).unwrap();
    desk.route = LoadRoute::Bridge;
    desk
}

fn dispatcher(desk: &Desk) -> Dispatcher {
    desk.shelf.show(&desk.inventory(), &desk.state);
    Dispatcher::new(
        desk.registry.clone().into(),
        desk.visibility.clone(),
        DispatchLimits::default(),
    )
}

fn prepare(desk: &Desk, arguments: &str) -> Prepared {
    dispatcher(desk).prepare(&ToolCall {
        id: "c".into(),
        name: "call_tool".into(),
        arguments: arguments.into(),
        extra: None,
    })
}

#[track_caller]
fn refusal(desk: &Desk, arguments: &str) -> String {
    match prepare(desk, arguments).verdict() {
        Verdict::Refuse(error) => error.for_model(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn s73_the_array_is_constant_over_loads() {
    let mut desk = bridged();
    assert_eq!(desk.listed(), ["tool_search", "call_tool"]);
    let before = desk.plan();
    let answer = desk.ask("forecast for a town");
    insta::assert_snapshot!(answer.text, @"
    Found; run them with `call_tool`:
    - weather(town) — Forecast for a town.
    ");
    assert_eq!(desk.plan().fingerprint(), before.fingerprint());
    // By name the whole schema is shown, as often as it is asked for.
    for _ in 0..2 {
        let answer = desk.ask("select:weather");
        assert!(answer.text.ends_with(SCHEMA), "{}", answer.text);
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
    insta::assert_snapshot!(refusal(&desk, r#"{"name":"weather","arguments":{"city":"Ulm"}}"#), @r#"error: bad arguments of `weather`: `town` is missing; there is no argument `city`; it did not run. Its schema: {"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#);
    insta::assert_snapshot!(refusal(&desk, r#"{"name":"weather","arguments":7}"#), @r#"error: `arguments` must be an object with the arguments of `weather`; it did not run. Its schema: {"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#);
    insta::assert_snapshot!(refusal(&desk, r#"{"arguments":{}}"#), @"error: `name` must be the name of a tool");
    insta::assert_snapshot!(refusal(&desk, r#"{"name":"wether","arguments":{}}"#), @"error: there is no tool `wether`. Near it: `weather`. Find tools with `tool_search`.");
    insta::assert_snapshot!(refusal(&desk, r#"{"name":"call_tool","arguments":{}}"#), @"error: `call_tool` is in your list: call it directly");
}

#[test]
fn s73_permission_and_mode_are_those_of_the_tool_inside() {
    let paint = r#"{"name":"paint","arguments":{"town":"Ulm"}}"#;
    let mut desk = bridged();
    assert!(matches!(prepare(&desk, paint).verdict(), Verdict::Ask));
    desk.visibility.mode = Mode::Auto;
    assert!(matches!(prepare(&desk, paint).verdict(), Verdict::Run));
    desk.visibility.mode = Mode::Plan;
    assert!(refusal(&desk, paint).contains("there is no tool `paint`"));
    let denied = described("vault", "Opens it.", SCHEMA);
    let denied = denied.with_spec(|spec| spec.permission(Permission::Deny));
    desk.registry.insert(Arc::new(denied)).unwrap();
    let error = refusal(&desk, r#"{"name":"vault","arguments":{"town":"a"}}"#);
    assert!(error.contains("there is no tool `vault`"), "{error}");
}
