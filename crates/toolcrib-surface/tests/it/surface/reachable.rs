//! Whatever happens to a registry, a mode or a session: what may be seen can be
//! reached, and what can be reached may be seen.

use std::sync::Arc;

use proptest::prelude::*;
use toolcrib_core::{
    Effect, Exposure, Mode, Permission, SourceId, ToolCall, ToolErrorKind, Visibility,
};
use toolcrib_dispatch::{DispatchLimits, Dispatcher, Verdict};
use toolcrib_surface::Defer;
use toolcrib_testkit::tools::FakeTool;

use super::{Desk, selectors};

#[derive(Clone, Debug)]
struct Made {
    number: usize,
    effect: Effect,
    permission: Permission,
    exposure: Exposure,
    domain: Option<&'static str>,
    source: &'static str,
}

impl Made {
    fn name(&self) -> String {
        format!("tool_{}", self.number)
    }

    fn tool(&self) -> FakeTool {
        FakeTool::echo(&self.name()).with_spec(|spec| {
            spec.effect(self.effect)
                .permission(self.permission)
                .exposure(self.exposure)
                .domains(self.domain)
                .source(SourceId::new(self.source))
        })
    }
}

fn made(number: usize) -> impl Strategy<Value = Made> {
    (
        prop_oneof![3 => Just(Effect::ReadOnly), 1 => Just(Effect::Write), 1 => Just(Effect::Destructive)],
        prop_oneof![5 => Just(Permission::Allow), 1 => Just(Permission::Ask), 1 => Just(Permission::Deny)],
        prop_oneof![
            4 => Just(Exposure::Deferred),
            2 => Just(Exposure::Direct),
            1 => Just(Exposure::Presentation),
            1 => Just(Exposure::Hidden),
            1 => Just(Exposure::Always),
        ],
        prop_oneof![Just(None), Just(Some("web")), Just(Some("fs"))],
        prop_oneof![Just("builtin"), Just("github"), Just("files")],
    )
        .prop_map(move |(effect, permission, exposure, domain, source)| Made {
            number,
            effect,
            permission,
            exposure,
            domain,
            source,
        })
}

fn visibility() -> impl Strategy<Value = Visibility> {
    let list = || {
        prop_oneof![
            3 => Just(Vec::new()),
            1 => proptest::sample::subsequence(
                vec!["tool_1", "tool_?", "tool_2", "source:github", "*", "tool_search"], 1..3
            ),
        ]
    };
    let mode = prop_oneof![
        Just(Mode::Plan),
        Just(Mode::Ask),
        Just(Mode::Auto),
        Just(Mode::Yolo)
    ];
    (mode, list(), list()).prop_map(|(mode, enabled, disabled)| Visibility {
        mode,
        enabled: selectors(&enabled),
        disabled: selectors(&disabled),
    })
}

#[derive(Clone, Debug)]
enum Event {
    Register(Made),
    Unregister(usize),
    Pin(usize),
    Unpin,
    Source(Defer),
    Threshold(u32),
    See(Visibility),
    Search(usize),
    Call(usize),
    Turn(&'static str),
    Resume,
}

fn event() -> impl Strategy<Value = Event> {
    let any = || 0usize..12;
    prop_oneof![
        6 => any().prop_flat_map(made).prop_map(Event::Register),
        2 => any().prop_map(Event::Unregister),
        1 => any().prop_map(Event::Pin),
        1 => Just(Event::Unpin),
        1 => prop_oneof![Just(Defer::Never), Just(Defer::Auto), Just(Defer::Always)].prop_map(Event::Source),
        1 => (0u32..5).prop_map(Event::Threshold),
        2 => visibility().prop_map(Event::See),
        3 => any().prop_map(Event::Search),
        2 => any().prop_map(Event::Call),
        2 => prop_oneof![Just("tool 3"), Just("fetch from the web"), Just("")].prop_map(Event::Turn),
        1 => Just(Event::Resume),
    ]
}

fn apply(desk: &mut Desk, event: Event) {
    match event {
        Event::Register(made) => _ = desk.registry.insert(Arc::new(made.tool())),
        Event::Unregister(number) => _ = desk.registry.remove(&format!("tool_{number}")),
        Event::Pin(number) => desk.policy.always_load = selectors(&[&format!("tool_{number}")]),
        Event::Unpin => desk.policy.always_load.clear(),
        Event::Source(defer) => desk.policy.defer = [("github".to_owned(), defer)].into(),
        Event::Threshold(count) => desk.policy.defer_threshold = count,
        Event::See(visibility) => desk.visibility = visibility,
        Event::Search(number) => {
            desk.ask(&format!("select:tool_{number}"));
        }
        Event::Call(number) => {
            let inventory = desk.inventory();
            desk.state
                .load(&inventory, &super::name(&format!("tool_{number}")));
        }
        Event::Turn(prompt) => desk.turn(prompt),
        Event::Resume => {
            let stored = serde_json::to_string(&desk.state).unwrap();
            desk.state = serde_json::from_str(&stored).unwrap();
        }
    }
}

fn refused(desk: &Desk, name: &str) -> bool {
    let dispatcher = Dispatcher::new(
        desk.registry.clone().into(),
        desk.visibility.clone(),
        DispatchLimits::default(),
    );
    let prepared = dispatcher.prepare(&ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments: "{}".into(),
        extra: None,
    });
    match prepared.verdict() {
        Verdict::Refuse(error) => matches!(
            error.kind,
            ToolErrorKind::Denied | ToolErrorKind::UnknownTool
        ),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 120,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn s38_what_search_can_load_is_listed_next_and_not_refused(
        tools in (1usize..12).prop_flat_map(|count| (0..count).map(made).collect::<Vec<_>>()),
        visibility in visibility(),
    ) {
        let mut desk = Desk::new(tools.iter().map(Made::tool));
        desk.visibility = visibility;
        for tool in &tools {
            let name = tool.name();
            let before = desk.listed().contains(&name);
            let loaded = !before && {
                let loader = desk.plan().loader_tools().len() == 1;
                loader && desk.ask(&format!("select:{name}")).loaded == [name.clone()]
            };
            let after = desk.listed().contains(&name);
            prop_assert_eq!(before || loaded, after, "{}", &name);
            prop_assert_eq!(after, !refused(&desk, &name), "{}", &name);
        }
    }

    #[test]
    fn s60_every_visible_tool_stays_reachable(events in proptest::collection::vec(event(), 1..40)) {
        let mut desk = Desk::new([]);
        for event in events {
            apply(&mut desk, event);
            let surface = desk.surface();
            let plan = surface.plan("s");
            let listed: Vec<_> = plan.tools().iter().map(|t| &t.name).collect();
            let deferred: Vec<_> = surface.deferred().map(|t| &t.name).collect();
            let loader = plan.loader_tools().len() == 1;
            prop_assert!(loader || deferred.is_empty());
            let mut once = listed.clone();
            once.sort();
            once.dedup();
            prop_assert_eq!(once.len(), listed.len());
            for tool in desk.registry.iter() {
                let spec = tool.spec();
                if spec.name.as_str() == "tool_search" {
                    continue;
                }
                let shown = listed.contains(&&spec.name);
                let withheld = deferred.contains(&&spec.name);
                prop_assert_eq!(desk.visibility.visible(spec), shown || withheld);
                prop_assert!(!(shown && withheld));
            }
            // The first that is withheld can be had by name.
            if let Some(name) = deferred.first() {
                let mut other = Desk { registry: desk.registry.clone(), visibility: desk.visibility.clone(), policy: desk.policy.clone(), state: desk.state.clone(), shelf: desk.shelf.clone(), ..desk };
                let answer = other.ask(&format!("select:{name}"));
                prop_assert_eq!(answer.loaded, [name.to_string()]);
                desk = other;
            }
        }
    }
}
