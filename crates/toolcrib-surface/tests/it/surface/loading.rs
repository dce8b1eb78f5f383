//! What a load changes, and what it leaves alone.

use std::sync::Arc;

use serde_json::json;
use toolcrib_core::LoadRoute;
use toolcrib_surface::{Loading, SurfaceState};

use super::{Desk, deferred, described, eager, many, name};

const SCHEMA: &str =
    r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;

#[test]
fn s13_a_loaded_tool_is_sent_with_its_whole_schema() {
    let mut desk = Desk::new([described("a", "A.", SCHEMA), deferred("b"), deferred("c")]);
    assert_eq!(desk.listed(), ["tool_search"]);
    let answer = desk.ask("select:a");
    assert_eq!(answer.loaded, ["a"]);
    let plan = desk.plan();
    assert_eq!(desk.listed(), ["tool_search", "a"]);
    assert_eq!(plan.loaded_tools()[0].input_schema.wire(), SCHEMA);
}

#[test]
fn s14_loads_are_appended_and_change_nothing_before() {
    let mut desk = Desk::new([many(4), vec![eager("e")]].concat());
    let inventory = desk.inventory();
    desk.state.load(&inventory, &name("d2"));
    let before = desk.plan();
    desk.state.load(&inventory, &name("d0"));
    let after = desk.plan();
    assert_eq!(desk.listed(), ["e", "tool_search", "d2", "d0"]);
    let count = before.tools().len();
    for (old, new) in before.tools().iter().zip(&after.tools()[..count]) {
        assert_eq!(old.name, new.name);
        assert_eq!(old.description, new.description);
        assert_eq!(old.input_schema.wire(), new.input_schema.wire());
    }
    // With one inventory they are the same objects, so no wire renders them anew.
    let surface = |state: &SurfaceState| toolcrib_surface::Surface::of(&inventory, state).plan("s");
    let (one, two) = (surface(&desk.state), surface(&desk.state));
    let pairs = one.tools().iter().zip(two.tools());
    assert!(pairs.clone().all(|(a, b)| Arc::ptr_eq(a, b)));
}

#[test]
fn s15_loads_do_not_move_the_loaders_description() {
    let mut desk = Desk::new(many(6));
    let description = |desk: &Desk| desk.plan().loader_tools()[0].description.clone();
    let before = description(&desk);
    assert!(before.contains("d3"));
    desk.ask("select:d3");
    assert_eq!(description(&desk), before);
    desk.ask("select:d0,d1,d2,d4,d5");
    assert_eq!(desk.deferred(), [""; 0]);
    assert_eq!(description(&desk), before);
}

#[test]
fn s23_loads_outlive_the_turn() {
    let mut desk = Desk::new(many(4));
    desk.turn("nothing in particular");
    desk.ask("select:d1");
    desk.turn("something else");
    assert_eq!(desk.listed(), ["tool_search", "d1"]);
}

#[test]
fn s22_a_stored_state_goes_on_as_it_was() {
    let mut desk = Desk::new(many(4));
    desk.ask("select:d3,d1");
    let stored = serde_json::to_string(&desk.state).unwrap();
    desk.state = serde_json::from_str(&stored).unwrap();
    assert_eq!(desk.listed(), ["tool_search", "d3", "d1"]);
    assert_eq!(desk.state.take_unlogged(), [name("d3"), name("d1")]);
    assert_eq!(desk.state.take_unlogged(), []);
    // From the rows of a log, repeated ones included.
    desk.state = SurfaceState::restored(["d1", "d2", "d1"].map(name));
    assert_eq!(desk.listed(), ["tool_search", "d1", "d2"]);
    assert_eq!(desk.state.take_unlogged(), []);
}

#[test]
fn s24_a_tool_that_comes_back_takes_its_old_position() {
    let mut desk = Desk::new(many(5));
    desk.ask("select:d3,d1");
    let gone = desk.registry.remove("d3").unwrap();
    assert_eq!(desk.listed(), ["tool_search", "d1"]);
    desk.registry.insert(gone).unwrap();
    assert_eq!(desk.listed(), ["tool_search", "d3", "d1"]);
}

#[test]
fn s26_loading_again_adds_nothing_and_says_so_briefly() {
    let mut desk = Desk::new(many(4));
    desk.ask("select:d1");
    let plan = desk.plan();
    let again = desk.ask("select:d1");
    assert_eq!(again.loaded, [""; 0]);
    assert!(again.text.len() < 200);
    insta::assert_snapshot!(again.text, @"Already loaded: `d1`.");
    assert_eq!(desk.plan().fingerprint(), plan.fingerprint());
    let inventory = desk.inventory();
    assert_eq!(desk.state.load(&inventory, &name("d1")), Loading::Already);
    assert_eq!(desk.state.loaded(), [name("d1")]);
}

#[test]
fn s70_a_name_that_nobody_knows_is_not_loaded() {
    let mut desk = Desk::new([many(3), vec![eager("e")]].concat());
    let inventory = desk.inventory();
    assert_eq!(desk.state.load(&inventory, &name("zzz")), Loading::Unknown);
    assert_eq!(desk.state.load(&inventory, &name("e")), Loading::Listed);
    assert_eq!(
        desk.state.load(&inventory, &name("tool_search")),
        Loading::Unknown
    );
    assert_eq!(desk.state.loaded(), []);
}

#[test]
fn constant_routes_keep_their_array() {
    for route in [LoadRoute::Native, LoadRoute::Positional] {
        let mut desk = Desk::new([many(4), vec![eager("e")]].concat());
        desk.route = route;
        let before = desk.plan();
        desk.search(json!({"query": "select:d1"}));
        let after = desk.plan();
        assert_eq!(before.fingerprint(), after.fingerprint());
        assert_eq!(desk.listed(), ["e", "tool_search"]);
        let sent_deferred: Vec<_> = after.deferred_tools().iter().map(|t| &t.name).collect();
        assert_eq!(sent_deferred, ["d0", "d1", "d2", "d3"].map(name).each_ref());
        assert_eq!(desk.deferred(), ["d0", "d2", "d3"]);
    }
}
