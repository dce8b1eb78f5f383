//! Unknown, hidden and denied tools.

use toolcrib_core::{
    Effect, Exposure, Mode, Permission, Selector, ToolErrorKind, ToolName, Visibility,
};
use toolcrib_dispatch::Repair;
use toolcrib_testkit::tools::FakeTool;

use crate::support::{call, dispatcher, dispatcher_with, run, text};

#[test]
fn s45_an_unknown_name_gets_the_nearest_visible_ones() {
    let dispatcher = dispatcher([
        FakeTool::echo("weather_lookup"),
        FakeTool::echo("forecast"),
        FakeTool::echo("weather_lokup2").with_spec(|s| s.exposure(Exposure::Hidden)),
        FakeTool::echo("weather_lokupp").with_spec(|s| s.permission(Permission::Deny)),
    ]);
    let (outcomes, events) = run(&dispatcher, &[call("1", "weather_lokup", "{}")]);
    insta::assert_snapshot!(text(&outcomes[0]), @"error: there is no tool `weather_lokup`. Did you mean `weather_lookup`?");
    assert_eq!(outcomes[0].kind, Some(ToolErrorKind::UnknownTool));
    assert_eq!(events, ["finished 1"]);
}

#[test]
fn s45_with_nothing_near_few_tools_are_listed_and_many_are_not() {
    let few = dispatcher([FakeTool::echo("read"), FakeTool::echo("write")]);
    let (outcomes, _) = run(&few, &[call("1", "zzzzzz", "{}")]);
    insta::assert_snapshot!(text(&outcomes[0]), @"error: there is no tool `zzzzzz`. There is `read` and `write`.");
    let many: [FakeTool; 9] = std::array::from_fn(|i| FakeTool::echo(&format!("tool_{i}")));
    let (outcomes, _) = run(&dispatcher(many), &[call("1", "zzzzzz", "{}")]);
    insta::assert_snapshot!(text(&outcomes[0]), @"error: there is no tool `zzzzzz`. Call only tools that you were given.");
    let (outcomes, _) = run(&dispatcher([]), &[call("1", "zzzzzz", "{}")]);
    insta::assert_snapshot!(text(&outcomes[0]), @"error: there is no tool `zzzzzz`. There are no tools in this run.");
}

#[test]
fn a_tool_hidden_from_models_is_as_unknown_as_one_that_is_not_there() {
    let hidden = FakeTool::echo("secret").with_spec(|s| s.exposure(Exposure::Hidden));
    let (with, _) = run(&dispatcher([hidden]), &[call("1", "secret", "{}")]);
    let (without, _) = run(&dispatcher([]), &[call("1", "secret", "{}")]);
    assert_eq!(text(&with[0]), text(&without[0]));
}

#[test]
fn a_tool_called_as_its_source_calls_it_runs_under_the_name_that_stands_for_that() {
    let long = "ж".repeat(300);
    for original in ["погода", "get.x", &long] {
        let name = ToolName::from_foreign(original);
        let dispatcher = dispatcher([FakeTool::echo(name.as_str())]);
        let prepared = dispatcher.prepare(&call("1", original, r#"{"a":1}"#));
        assert_eq!(*prepared.call.name, *name.as_str());
        assert_eq!(prepared.repairs, [Repair::UnsafeName]);
        let (outcomes, _) = run(&dispatcher, &[call("1", original, r#"{"a":1}"#)]);
        assert_eq!(outcomes[0].kind, None, "{}", text(&outcomes[0]));
        let hidden = FakeTool::echo(name.as_str()).with_spec(|s| s.exposure(Exposure::Hidden));
        let (with, _) = run(
            &crate::support::dispatcher([hidden]),
            &[call("1", original, "{}")],
        );
        let (without, _) = run(
            &crate::support::dispatcher([]),
            &[call("1", original, "{}")],
        );
        assert_eq!(text(&with[0]), text(&without[0]));
    }
}

#[test]
fn a_made_up_name_is_made_safe_for_later_requests_and_repeated_in_part() {
    let dispatcher = dispatcher([FakeTool::echo("read")]);
    let huge = "no such tool ".repeat(100_000);
    let prepared = dispatcher.prepare(&call("1", &huge, "{}"));
    assert!(toolcrib_core::ToolName::parse(&prepared.call.name).is_ok());
    let (outcomes, _) = run(&dispatcher, &[call("1", &huge, "{}"), call("2", "", "{}")]);
    assert!(text(&outcomes[0]).len() < 400, "{}", text(&outcomes[0]));
    assert_eq!(outcomes[1].kind, Some(ToolErrorKind::UnknownTool));
}

#[test]
fn denials_are_typed_and_say_why() {
    let visibility = Visibility {
        mode: Mode::Plan,
        disabled: vec![Selector("shell".into())],
        ..Visibility::default()
    };
    let tools = [
        FakeTool::echo("shell"),
        FakeTool::echo("write").with_effect(Effect::Write),
        FakeTool::echo("never").with_spec(|s| s.permission(Permission::Deny)),
    ];
    let records = tools.each_ref().map(FakeTool::record);
    let dispatcher = dispatcher_with(tools, visibility);
    let (outcomes, events) = run(
        &dispatcher,
        &crate::support::calls(&["shell", "write", "never"]),
    );
    let texts: Vec<_> = outcomes.iter().map(text).collect();
    insta::assert_snapshot!(texts.join("\n"), @r#"
    error: `shell` is filtered out for this run; do without it.
    error: `write` is not permitted in this mode, where nothing may be changed; do without it.
    error: `never` is denied; do without it.
    "#);
    assert!(
        outcomes
            .iter()
            .all(|o| o.kind == Some(ToolErrorKind::Denied))
    );
    assert!(records.iter().all(|record| record.all().is_empty()));
    assert_eq!(events, ["finished 0", "finished 1", "finished 2"]);
}

#[test]
fn s50_what_needs_a_yes_does_not_run_when_nobody_can_be_asked() {
    let tools = [
        FakeTool::echo("write").with_effect(Effect::Write),
        FakeTool::echo("wipe").with_effect(Effect::Destructive),
        FakeTool::echo("peek").with_spec(|s| s.permission(Permission::Ask)),
        FakeTool::echo("read"),
    ];
    let records = tools.each_ref().map(FakeTool::record);
    let (outcomes, events) = run(
        &dispatcher(tools),
        &crate::support::calls(&["write", "wipe", "peek", "read"]),
    );
    let texts: Vec<_> = outcomes.iter().map(text).collect();
    insta::assert_snapshot!(texts.join("\n"), @r#"
    error: `write` changes something and needs a confirmation, and nobody can be asked in this run; it did not run. Do without it, or say what should be done.
    error: `wipe` may destroy something and needs a confirmation, and nobody can be asked in this run; it did not run. Do without it, or say what should be done.
    error: `peek` needs a confirmation, and nobody can be asked in this run; it did not run. Do without it, or say what should be done.
    {}
    "#);
    assert_eq!(records.map(|record| record.all().len()), [0, 0, 0, 1]);
    assert_eq!(
        events
            .iter()
            .filter(|e| e.starts_with("started"))
            .collect::<Vec<_>>(),
        ["started 3"]
    );
}
