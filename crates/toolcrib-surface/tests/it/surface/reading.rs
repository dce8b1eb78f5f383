//! What the prompt was taken to need, and how wrong that was.

use std::collections::BTreeSet;

use toolcrib_core::Exposure;
use toolcrib_surface::{Domains, Reading};
use toolcrib_testkit::tools::FakeTool;

use super::{Desk, described, eager, many, name};

fn about(tool: &str, domains: &[&str]) -> FakeTool {
    let domains: Vec<String> = domains.iter().map(|d| (*d).to_owned()).collect();
    eager(tool).with_spec(|spec| spec.domains(domains))
}

/// The tools of the table in the checks.
fn workshop() -> Desk {
    let always = eager("read").with_spec(|spec| spec.exposure(Exposure::Always));
    let card = eager("chart").with_spec(|spec| spec.exposure(Exposure::Presentation));
    Desk::new([
        always,
        about("bash", &["code-exec"]),
        about("webfetch", &["web", "live_data"]),
        eager("plugin"),
        card,
    ])
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.retain(|name| name != "tool_search");
    names
}

fn unpredicted(desk: &Desk) -> Vec<String> {
    let surface = desk.surface();
    let names = surface.unpredicted(&desk.state);
    names.map(|spec| spec.name.to_string()).collect()
}

fn read(desk: &mut Desk, reading: Reading) {
    desk.state.begin_turn(&desk.inventory(), reading);
}

#[test]
fn s61_without_a_reading_every_direct_tool_and_card_is_sent() {
    let mut desk = workshop();
    read(&mut desk, Reading::default());
    assert_eq!(
        sorted(desk.listed()),
        ["bash", "chart", "plugin", "read", "webfetch"]
    );
    assert_eq!(unpredicted(&desk), [""; 0]);
    assert_eq!(desk.state.misreads().turns, 0);
}

#[test]
fn s62_a_reading_withholds_what_is_about_something_else() {
    let mut desk = workshop();
    let reading = Reading {
        domains: Domains::of(["web"]),
        ..Reading::default()
    };
    read(&mut desk, reading);
    assert_eq!(sorted(desk.listed()), ["plugin", "read", "webfetch"]);
    assert_eq!(desk.deferred(), ["bash", "chart"]);
    assert_eq!(unpredicted(&desk), ["bash"]);
}

#[test]
fn s63_an_empty_reading_with_a_card() {
    let mut desk = workshop();
    let reading = Reading {
        domains: Domains::of([]),
        cards: BTreeSet::from([name("chart")]),
        ..Reading::default()
    };
    read(&mut desk, reading);
    assert_eq!(sorted(desk.listed()), ["chart", "plugin", "read"]);
    assert_eq!(desk.deferred(), ["bash", "webfetch"]);
}

#[test]
fn a_later_reading_adds_and_never_takes_away() {
    let mut desk = workshop();
    for word in ["web", "code_exec", "memory"] {
        let reading = Reading {
            domains: Domains::of([word]),
            ..Reading::default()
        };
        read(&mut desk, reading);
    }
    assert_eq!(
        desk.listed(),
        ["plugin", "read", "tool_search", "webfetch", "bash"]
    );
}

#[test]
fn without_readings_tools_with_domains_are_plainly_sent() {
    let mut desk = workshop();
    desk.policy.reading = false;
    assert_eq!(
        desk.listed(),
        ["bash", "chart", "plugin", "read", "webfetch"]
    );
    assert!(desk.inventory().inactive().is_some());
}

fn foreign() -> Vec<FakeTool> {
    let mut tools = many(4);
    tools.push(described(
        "rain_forecast",
        "Forecast of rain for a town.",
        "{}",
    ));
    tools.push(described(
        "paint_fence",
        "Paints a fence in a colour.",
        "{}",
    ));
    tools
}

#[test]
fn s68_a_prompt_preloads_what_it_names_and_the_next_turn_begins_with_it() {
    let mut desk = Desk::new(foreign());
    desk.turn("What is the forecast of rain for Ulm, the town?");
    let first = desk.listed();
    assert_eq!(first.last().unwrap(), "rain_forecast");
    let plan = desk.plan();
    desk.turn("Paint the fence in a colour, please.");
    assert_eq!(desk.listed()[..first.len()], first[..]);
    assert_eq!(desk.listed().last().unwrap(), "paint_fence");
    let next = desk.plan();
    for (old, new) in plan.tools().iter().zip(next.tools()) {
        assert_eq!(old.description, new.description);
    }
    // Nothing is preloaded beyond the budget.
    let mut desk = Desk::new(foreign());
    desk.policy.preload_budget = 0;
    desk.turn("What is the forecast of rain for Ulm, the town?");
    assert_eq!(desk.listed(), ["tool_search"]);
}

#[test]
fn s69_a_misread_counts_once_and_only_for_what_was_not_predicted() {
    let mut desk = Desk::new([foreign(), vec![eager("e")]].concat());
    desk.turn("What is the forecast of rain for Ulm, the town?");
    assert_eq!(desk.state.misreads().turns, 1);
    let inventory = desk.inventory();
    // Predicted, always sent, unknown: no misread.
    for tool in ["rain_forecast", "e", "zzz"] {
        desk.state.load(&inventory, &name(tool));
    }
    assert_eq!(desk.state.misreads().misreads, 0);
    for _ in 0..3 {
        desk.ask("select:paint_fence");
    }
    assert_eq!(desk.state.misreads().misreads, 1);
    assert_eq!(desk.state.misreads().wanted[&name("paint_fence")], 1);

    let mut desk = workshop();
    let reading = Reading {
        domains: Domains::of(["web"]),
        ..Reading::default()
    };
    read(&mut desk, reading);
    let inventory = desk.inventory();
    desk.state.load(&inventory, &name("chart"));
    assert_eq!(desk.state.misreads().misreads, 0);
    desk.state.load(&inventory, &name("bash"));
    assert_eq!(desk.state.misreads().misreads, 1);
}

#[test]
fn the_default_reading_takes_the_domains_of_what_fits() {
    let shell = FakeTool::echo("bash").with_spec(|spec| {
        let mut spec = spec.domains(["code-exec"]);
        spec.description = "Run a shell command.".into();
        spec
    });
    let desk = Desk::new([many(3), vec![shell, about("page", &["web"])]].concat());
    let reading = desk.inventory().read("run a shell command");
    assert_eq!(reading.domains, Domains::of(["code-exec"]));
    assert_eq!(reading.tools, []);
    // A model's words are no commands: nothing is read where nothing can be withheld.
    let desk = Desk::new([about("page", &["web"])]);
    assert_eq!(desk.inventory().read("a page"), Reading::default());
}
