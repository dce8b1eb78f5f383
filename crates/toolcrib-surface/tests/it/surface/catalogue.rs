//! The list of deferred tools and how it is shortened.

use toolcrib_core::{Exposure, SourceId};
use toolcrib_surface::CatalogueStep;

use super::{Desk, described, eager, many};

fn text(desk: &Desk) -> String {
    desk.inventory().catalogue().text.to_string()
}

#[test]
fn s65_it_holds_names_and_first_sentences_alone() {
    let schema = r#"{"type":"object","properties":{"marker":{"type":"string"}}}"#;
    let tools = [
        described("zeta", "Does z. And more of it.", schema),
        described("alpha", "No stop\nSecond line. x", schema),
        described("beta", "", schema),
        eager("own"),
    ];
    let mut desk = Desk::new(tools.clone());
    insta::assert_snapshot!(text(&desk), @r"
    Tools to load:
    - alpha — No stop
    - beta
    - zeta — Does z.
    ");
    let before = text(&desk);
    let mut reversed = tools;
    reversed.reverse();
    assert_eq!(text(&Desk::new(reversed)), before);
    desk.turn("does z");
    assert_eq!(desk.listed(), ["own", "tool_search", "zeta"]);
    assert_eq!(text(&desk), before);
    // Nothing to defer, nothing to list.
    let desk = Desk::new([eager("a"), eager("b")]);
    assert_eq!(text(&desk), "");
    assert_eq!(desk.inventory().catalogue().step, CatalogueStep::Empty);
}

#[test]
fn s67_the_steps_come_in_order() {
    let tools = (0..12).map(|n| {
        let source = SourceId::new(format!("source{}", n % 3));
        described(&format!("tool_{n:02}"), "Does one thing of many.", "{}")
            .with_spec(|spec| spec.source(source))
    });
    let mut desk = Desk::new(tools.chain(many(1)));
    let mut seen = Vec::new();
    for budget in (0..=220).rev() {
        desk.policy.catalogue_budget = budget;
        let inventory = desk.inventory();
        let catalogue = inventory.catalogue();
        assert_eq!(catalogue.tools, 13);
        if seen.last() != Some(&catalogue.step) {
            seen.push(catalogue.step);
        }
        if budget == 80 {
            insta::assert_snapshot!(catalogue.text, @"Names of tools to load: d0, tool_00, tool_01, tool_02, tool_03, tool_04, tool_05, tool_06, tool_07, tool_08, tool_09, tool_10, tool_11");
        }
    }
    insta::assert_debug_snapshot!(seen);
    desk.policy.catalogue_budget = 36;
    insta::assert_snapshot!(text(&desk));
    desk.policy.catalogue_budget = 30;
    insta::assert_snapshot!(text(&desk));
}

#[test]
fn s67_thousands_of_tools_fit_and_every_count_adds_up() {
    let tools = (0..5_181).map(|n| {
        let source = n % 748;
        described(&format!("server_{source}__tool_{n}"), "Does it.", "{}")
            .with_spec(|spec| spec.source(SourceId::new(format!("server_{source}"))))
    });
    let desk = Desk::new(tools);
    let inventory = desk.inventory();
    let catalogue = inventory.catalogue();
    let CatalogueStep::LargestSources {
        sources_left,
        tools_left,
    } = catalogue.step
    else {
        panic!("{:?}", catalogue.step);
    };
    assert!(catalogue.text.len() <= 400 * 4, "{}", catalogue.text.len());
    let listed = catalogue.text.split(": ").nth(1).unwrap();
    let named: Vec<(&str, usize)> = listed
        .split(", ")
        .filter(|item| !item.starts_with("and "))
        .map(|item| item.rsplit_once(' ').unwrap())
        .map(|(name, count)| (name, count.parse().unwrap()))
        .collect();
    assert_eq!(named.len() + sources_left, 748);
    let tools: usize = named.iter().map(|(_, count)| count).sum();
    assert_eq!(tools + tools_left, 5_181);
    // The largest come first.
    assert!(named.is_sorted_by(|a, b| a.1 >= b.1));
}

#[test]
fn names_from_elsewhere_cannot_break_a_line() {
    let odd = described("odd", "Does\u{7} it\tall. More", "{}").with_spec(|spec| {
        spec.source(SourceId::new(format!("a\nb{}", "c".repeat(200))))
            .exposure(Exposure::Deferred)
    });
    let mut desk = Desk::new([many(3), vec![odd]].concat());
    assert!(
        text(&desk).contains("- odd — Does  it all."),
        "{}",
        text(&desk)
    );
    desk.policy.catalogue_budget = 30;
    assert_eq!(text(&desk).lines().count(), 1);
}
