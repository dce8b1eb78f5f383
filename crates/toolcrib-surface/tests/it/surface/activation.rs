//! When anything is deferred, and what is sent then.

use toolcrib_core::{Effect, Hidden, LoadRoute, Mode, Registry, TurnPlan};
use toolcrib_surface::{Defer, Inactive, Planner, SurfacePolicy, definition_tokens};
use toolcrib_testkit::tools::FakeTool;

use super::{Desk, deferred, eager, many, selectors};

/// Identical to what a program without a surface sends.
#[track_caller]
fn assert_plain(desk: &Desk) {
    let mut bare: Registry = desk.registry.clone();
    bare.remove("tool_search");
    let plain = TurnPlan::eager("s", &bare, &desk.visibility);
    let plan = desk.plan();
    assert_eq!(plan.fingerprint(), plain.fingerprint());
    let same = plan.tools().iter().zip(plain.tools());
    assert!(same.clone().all(|(a, b)| std::sync::Arc::ptr_eq(a, b)));
    assert_eq!(plan.tools().len(), plain.tools().len());
    assert!(plan.deferred_tools().is_empty());
}

#[test]
fn s01_below_the_threshold_the_list_is_the_plain_one() {
    let desk = Desk::new([many(2), vec![eager("e")]].concat());
    assert_eq!(desk.listed(), ["d0", "d1", "e"]);
    assert_plain(&desk);
    assert!(matches!(
        desk.inventory().inactive(),
        Some(Inactive::Few { eligible: 2, .. })
    ));
}

#[test]
fn s02_from_the_threshold_on_only_eager_tools_and_the_loader_are_sent() {
    let desk = Desk::new([many(3), vec![eager("z"), eager("a")]].concat());
    assert_eq!(desk.listed(), ["a", "z", "tool_search"]);
    assert_eq!(desk.deferred(), ["d0", "d1", "d2"]);
    assert_eq!(desk.inventory().inactive(), None);
}

#[test]
fn s03_a_threshold_of_zero_never_defers() {
    let mut desk = Desk::new(many(50));
    desk.policy.defer_threshold = 0;
    assert_eq!(desk.listed().len(), 50);
    assert_plain(&desk);
    let why = desk.inventory().inactive().unwrap().to_string();
    insta::assert_snapshot!(why, @"tools.defer_threshold is 0");
}

#[test]
fn s05_a_denied_tool_does_not_count() {
    let mut desk = Desk::new(many(3));
    desk.visibility.disabled = selectors(&["d1"]);
    assert_eq!(desk.listed(), ["d0", "d2"]);
    assert_plain(&desk);
    assert!(!desk.inventory().catalogue().text.contains("d1"));
}

#[test]
fn s06_an_allow_list_need_not_name_the_loader() {
    let mut desk = Desk::new([many(3), vec![eager("e")]].concat());
    desk.visibility.enabled = selectors(&["d*"]);
    assert_eq!(desk.listed(), ["tool_search"]);
    assert!(!desk.ask("select:d1").is_error);
    assert_eq!(desk.listed(), ["tool_search", "d1"]);
    let loader = desk.registry.get("tool_search").unwrap().spec();
    assert_eq!(desk.visibility.check(loader), Ok(()));
}

#[test]
fn s07_without_a_loader_everything_is_sent_and_its_call_is_denied() {
    let mut desk = Desk::new(many(5));
    desk.visibility.disabled = selectors(&["tool_search"]);
    assert_eq!(desk.listed(), ["d0", "d1", "d2", "d3", "d4"]);
    let why = desk.inventory().inactive().unwrap().to_string();
    insta::assert_snapshot!(why, @"`tool_search` is filtered out");
    let check = |name: &str| {
        let spec = desk.registry.get(name).unwrap().spec();
        desk.visibility.check(spec)
    };
    assert_eq!(check("tool_search"), Err(Hidden::ByFilter));
    assert_eq!(check("d3"), Ok(()));
}

#[test]
fn s08_a_missing_or_hidden_loader_falls_back_to_everything() {
    let desk = Desk::without_loader(many(5));
    assert_eq!(desk.listed().len(), 5);
    assert_eq!(
        desk.inventory().inactive(),
        Some(&Inactive::Missing("tool_search"))
    );
    let mut desk = Desk::new(many(5));
    desk.route = LoadRoute::Bridge;
    assert_eq!(desk.listed().len(), 5);
    assert_eq!(
        desk.inventory().inactive(),
        Some(&Inactive::Missing("call_tool"))
    );
    desk.route = LoadRoute::Off;
    assert_eq!(desk.inventory().inactive(), Some(&Inactive::Route));
    assert_plain(&desk);
}

#[test]
fn s09_an_eligible_tool_that_is_not_deferred_keeps_the_count() {
    let mut desk = Desk::new(many(3));
    desk.policy.always_load = selectors(&["d1"]);
    assert_eq!(desk.listed(), ["d1", "tool_search"]);
    assert_eq!(desk.deferred(), ["d0", "d2"]);
    // A loaded tool keeps it too.
    assert_eq!(desk.ask("select:d0").loaded, ["d0"]);
    assert_eq!(desk.listed(), ["d1", "tool_search", "d0"]);
}

#[test]
fn s10_the_order_of_registration_changes_nothing() {
    let mut tools = [many(9), vec![eager("a"), eager("z")]].concat();
    let first = Desk::new(tools.clone());
    let plan = first.plan();
    for round in 0..100 {
        let by = round % tools.len();
        tools.rotate_left(by);
        tools.swap(0, by);
        let desk = Desk::new(tools.clone());
        assert_eq!(desk.plan().fingerprint(), plan.fingerprint());
        assert_eq!(
            desk.inventory().catalogue().text,
            first.inventory().catalogue().text
        );
    }
}

#[test]
fn s11_a_second_plan_reads_nothing_again() {
    let desk = Desk::new(many(20));
    let mut planner = Planner::new(SurfacePolicy::default(), None, LoadRoute::Append);
    let system = "s".into();
    let mut plan = |registry: &Registry| {
        let inventory = planner.inventory(registry, &desk.visibility);
        let plan = planner.plan(registry, &desk.visibility, &desk.state, &system);
        (inventory, plan)
    };
    let (stock, first) = plan(&desk.registry);
    let (again, second) = plan(&desk.registry);
    assert!(std::sync::Arc::ptr_eq(&stock, &again));
    assert!(std::sync::Arc::ptr_eq(&first, &second));
    assert_eq!(first.fingerprint(), desk.plan().fingerprint());
    let mut more = desk.registry.clone();
    more.insert(std::sync::Arc::new(eager("new"))).unwrap();
    let (moved, third) = plan(&more);
    assert!(!std::sync::Arc::ptr_eq(&stock, &moved));
    assert_eq!(third.fingerprint().changed(first.fingerprint()).len(), 2);
}

#[test]
fn s12_the_report_equals_what_is_sent() {
    let mut desk = Desk::new([many(40), vec![eager("e"), eager("f")]].concat());
    for prepare in [
        (|_: &mut Desk| {}) as fn(&mut Desk),
        |desk| desk.visibility.disabled = selectors(&["d1*"]),
        |desk| desk.visibility.mode = Mode::Plan,
        |desk| _ = desk.ask("select:d2,d3"),
        |desk| desk.policy.defer_threshold = 0,
    ] {
        prepare(&mut desk);
        let sent = desk.plan();
        let tokens: usize = sent
            .tools()
            .iter()
            .map(|spec| definition_tokens(spec))
            .sum();
        let report = desk.surface().report();
        assert_eq!(report.first_turn_tokens, tokens);
        assert_eq!(report.active, desk.inventory().inactive().is_none());
        let by_source: usize = report.sources.iter().map(|s| s.sent + s.deferred).sum();
        assert_eq!(by_source, report.tools);
        assert_eq!(report.reason.is_none(), report.active);
    }
}

#[test]
fn the_share_of_the_window_defers_few_but_large_tools() {
    let large = "Long. ".repeat(2_000);
    let tool = super::described("large", &large, "{}");
    let mut desk = Desk::new([tool]);
    assert_eq!(desk.listed(), ["large"]);
    desk.window = Some(1_000_000);
    assert_eq!(desk.listed(), ["large"]);
    desk.window = Some(20_000);
    assert_eq!(desk.listed(), ["tool_search"]);
}

#[test]
fn a_source_can_always_or_never_be_deferred() {
    let other = |name: &str| {
        deferred(name).with_spec(|spec| spec.source(toolcrib_core::SourceId::new("other")))
    };
    let mut desk = Desk::new([deferred("a"), other("b")]);
    let say = |defer| [("other".to_owned(), defer)].into();
    desk.policy.defer = say(Defer::Always);
    assert_eq!(desk.listed(), ["a", "tool_search"]);
    let mut desk = Desk::new([many(3), vec![other("b")]].concat());
    desk.policy.defer = say(Defer::Never);
    assert_eq!(desk.listed(), ["b", "tool_search"]);
    // Tools that a program registers itself are direct, and yet can be deferred.
    let mut desk = Desk::new([eager("e")]);
    desk.policy.defer = [("builtin".to_owned(), Defer::Always)].into();
    assert_eq!(desk.listed(), ["tool_search"]);
}

#[test]
fn s37_a_tool_with_the_loaders_name_is_not_taken_for_it() {
    let spoof = FakeTool::echo("tool_search").with_effect(Effect::Destructive);
    let desk = Desk::without_loader([many(3), vec![spoof]].concat());
    assert_eq!(desk.plan().loader_tools().len(), 0);
    assert_eq!(desk.deferred(), [""; 0]);
    let why = desk.inventory().inactive().unwrap().to_string();
    insta::assert_snapshot!(why, @"the name `tool_search` is taken by a tool of source `builtin`");
}

/// Six search tools of eight parameters each, as long as those of the known measurement:
/// some 8,100 bytes of definitions in all. Half is the limit, 15 % the aim.
#[test]
fn s51_a_deferred_surface_is_a_fraction_of_the_eager_one() {
    let properties: Vec<String> = (0..8)
        .map(|n| {
            format!(r#""parameter_{n}":{{"type":"string","description":"What parameter {n} of the search is for, which values it takes, and what is taken without it."}}"#)
        })
        .collect();
    let schema = format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        properties.join(",")
    );
    let tools = (0..6).map(|n| {
        super::described(
            &format!("search_{n}"),
            "Searches one index. It takes many parameters and returns ranked results.",
            &schema,
        )
    });
    let report = Desk::new(tools).surface().report();
    let (first, eager) = (report.first_turn_tokens, report.eager_tokens);
    assert!((7_800..8_500).contains(&(eager * 4)), "{eager}");
    assert!(first * 100 <= eager * 15, "{first} of {eager}");
}

#[test]
fn s71_a_tool_without_arguments_is_an_object_without_properties() {
    let desk = Desk::new(many(3));
    let inventory = desk.inventory();
    for spec in inventory
        .catalogue()
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("- "))
        .filter_map(|line| desk.registry.get(line.split(' ').next()?))
    {
        let wire: serde_json::Value =
            serde_json::from_str(spec.spec().input_schema.wire()).unwrap();
        assert_eq!(
            wire,
            serde_json::json!({"type": "object", "properties": {}})
        );
    }
}
