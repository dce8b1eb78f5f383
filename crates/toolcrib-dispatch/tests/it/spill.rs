//! L16, L18: what is cut is kept whole and can be read; what is secret is neither
//! shown nor kept.

use std::sync::Arc;

use toolcrib_core::{Content, Registry, ResultForm, ToolError, ToolOutput, Visibility};
use toolcrib_dispatch::{
    CallOutcome, DispatchLimits, Dispatcher, READ_RESULT, ReadResult, Redactor,
};
use toolcrib_testkit::spill::MemorySpill;
use toolcrib_testkit::tools::FakeTool;

use crate::support::{call, logged, run, text};

fn keeping<const N: usize>(tools: [FakeTool; N]) -> (Dispatcher, Arc<MemorySpill>) {
    let store = Arc::new(MemorySpill::default());
    let mut registry = Registry::new();
    for tool in tools {
        registry.insert(Arc::new(tool)).unwrap();
    }
    registry
        .insert(Arc::new(ReadResult::new(store.clone()).unwrap()))
        .unwrap();
    let dispatcher = Dispatcher::new(
        Arc::new(registry),
        Visibility::default(),
        DispatchLimits::default(),
    );
    (dispatcher.with_spill(store.clone()), store)
}

fn one(dispatcher: &Dispatcher, name: &str, arguments: &str) -> CallOutcome {
    run(dispatcher, &[call("1", name, arguments)]).0.remove(0)
}

fn read(dispatcher: &Dispatcher, arguments: String) -> String {
    text(&one(dispatcher, READ_RESULT, &arguments))
}

#[test]
fn l16_s54_what_is_over_the_cap_is_kept_whole_and_what_fits_is_not() {
    let cap = 32 * 1024;
    let (dispatcher, store) = keeping([
        FakeTool::fixed("fits", &"x".repeat(cap)),
        FakeTool::fixed("over", &"x".repeat(cap + 1)),
    ]);
    let fits = one(&dispatcher, "fits", "{}");
    assert!(fits.cut.is_none() && store.all().is_empty());
    let over = one(&dispatcher, "over", "{}");
    let handle = over.cut.unwrap().spill.unwrap();
    assert_eq!(store.all()[&handle].len(), cap + 1);
    let shown = match &over.result.content[0] {
        Content::Text(text) => text.lines().nth(1).unwrap().to_owned(),
        _ => unreachable!(),
    };
    assert_eq!(
        shown,
        format!(
            "[cut: 32769 bytes in all; the first 16384 and the last 16384 are shown. read_result {{\"id\":\"{handle}\",\"offset\":16384}} reads the rest.]"
        )
    );
}

#[test]
fn l16_page_by_page_the_whole_result_is_read_back() {
    let whole: String = (0..30_000).map(|n| format!("line {n} ü\n")).collect();
    let (dispatcher, _) = keeping([FakeTool::fixed("big", &whole)]);
    let handle = one(&dispatcher, "big", "{}").cut.unwrap().spill.unwrap();
    let mut seen = String::new();
    let mut offset = 0;
    while offset < whole.len() {
        let page = read(
            &dispatcher,
            format!(r#"{{"id":"{handle}","offset":{offset},"limit":24576}}"#),
        );
        let (body, marker) = page.rsplit_once("[bytes ").unwrap();
        seen.push_str(body);
        let end = marker.split_whitespace().nth(2).unwrap();
        offset = end.parse().unwrap();
    }
    assert_eq!(seen, whole);
}

#[test]
fn l16_a_search_finds_lines_and_says_where_they_are() {
    let mut whole: String = (0..5_000).map(|n| format!("line {n}\n")).collect();
    whole.push_str(&format!("{}needle{}", "ü".repeat(9_000), "y".repeat(9_000)));
    let (dispatcher, _) = keeping([FakeTool::fixed("big", &whole)]);
    let handle = one(&dispatcher, "big", "{}").cut.unwrap().spill.unwrap();
    let grep = |pattern: &str, more: &str| {
        read(
            &dispatcher,
            format!(r#"{{"id":"{handle}","grep":"{pattern}"{more}}}"#),
        )
    };
    assert_eq!(
        grep("line 499[89]$", ""),
        format!(
            "{}: line 4998\n{}: line 4999\n[2 matches; each with its offset]",
            whole.find("line 4998").unwrap(),
            whole.find("line 4999").unwrap()
        )
    );
    let found = grep("needle", "");
    assert!(
        found.contains("needle") && found.chars().count() < 600,
        "{found}"
    );
    let offset: usize = found.split(':').next().unwrap().parse().unwrap();
    assert!(whole.is_char_boundary(offset));
    assert_eq!(grep("nowhere", ""), "no line matches");
    assert_eq!(grep("[", ""), "no line matches");
    let first = grep("line", "");
    let next = first
        .rsplit_once("offset ")
        .unwrap()
        .1
        .trim_end_matches(']')
        .to_owned();
    assert!(first.lines().count() == 51);
    assert!(
        grep("line", &format!(",\"offset\":{next}")).starts_with(&format!("{next}: line 50\n"))
    );
}

#[test]
fn l16_bad_reads_say_what_to_do() {
    let (dispatcher, _) = keeping([FakeTool::big("big", 5_000, 20)]);
    let handle = one(&dispatcher, "big", "{}").cut.unwrap().spill.unwrap();
    let of = |arguments: String| read(&dispatcher, arguments);
    insta::assert_snapshot!(of(r#"{"id":"../secret"}"#.into()), @"error: no cut result has the id `../secret`; copy it from the result that was cut");
    insta::assert_snapshot!(of(format!(r#"{{"id":"{handle}","offset":1000000}}"#)), @"error: `offset` must be less than 100000, the size of the result");
    insta::assert_snapshot!(of("{}".into()), @"error: bad arguments of `read_result`: `id` is missing; it did not run.");
}

#[test]
fn l16_a_listing_without_a_follow_up_of_its_own_names_the_reader() {
    let listing: String = (0..2_000).map(|n| format!("record {n}\n")).collect();
    let lookup =
        FakeTool::fixed("find", &listing).with_spec(|spec| spec.result_form(ResultForm::Lookup));
    let (dispatcher, store) = keeping([lookup]);
    let outcome = one(&dispatcher, "find", "{}");
    let cut = outcome.cut.clone().unwrap();
    let handle = cut.spill.unwrap();
    let last = text(&outcome).lines().last().unwrap().to_owned();
    assert_eq!(
        last,
        format!(
            r#"(truncated) read_result {{"id":"{handle}","offset":{}}}"#,
            cut.shown_bytes
        )
    );
    assert_eq!(store.all()[&handle], listing);
}

#[test]
fn l16_where_nobody_can_read_it_nothing_is_kept_or_promised() {
    let store = Arc::new(MemorySpill::default());
    let registry = toolcrib_testkit::tools::registry([FakeTool::big("big", 5_000, 20)]).unwrap();
    let dispatcher = Dispatcher::new(registry, Visibility::default(), DispatchLimits::default())
        .with_spill(store.clone());
    let outcome = one(&dispatcher, "big", "{}");
    assert!(outcome.cut.unwrap().spill.is_none() && store.all().is_empty());
}

#[test]
fn l18_s54_secrets_are_gone_before_spill_log_and_model() {
    const KEY: &str = "s3cr3t-value-of-a-key";
    let body = format!("{KEY}\n{}\n{KEY}", "x".repeat(40_000));
    let (dispatcher, store) = keeping([
        FakeTool::fixed("leak", &body),
        FakeTool::failing("fail", &format!("bad token {KEY}")),
        FakeTool::panicking("panic", &format!("panic {KEY}")),
        FakeTool::new("detail", |_, cx| async move {
            cx.progress.report(&format!("with {KEY}"));
            Ok(ToolOutput::text("fine").with_details(serde_json::json!({"token": KEY})))
        }),
        FakeTool::new("cause", |_, _| async move {
            Err(ToolError::failed("no").with_operator(format!("header {KEY}")))
        }),
    ]);
    let dispatcher = dispatcher.with_redactor(Redactor::none().with_secret(KEY));
    let calls: Vec<_> = ["leak", "fail", "panic", "detail", "cause", "gone"]
        .iter()
        .enumerate()
        .map(|(at, name)| call(&at.to_string(), name, &format!(r#"{{"k":"{KEY}"}}"#)))
        .collect();
    let mut seen = String::new();
    let lines = logged(|| {
        let (outcomes, events) = run(&dispatcher, &calls);
        seen = format!(
            "{:?} {events:?}",
            outcomes
                .iter()
                .map(|o| (&o.result.content, &o.details))
                .collect::<Vec<_>>()
        );
    });
    assert!(seen.contains("[redacted]") && !seen.contains(KEY), "{seen}");
    assert!(
        store
            .all()
            .values()
            .all(|text| text.contains("[redacted]") && !text.contains(KEY))
    );
    assert_eq!(store.all().len(), 1);
    let log = lines.join("\n");
    assert!(log.contains("[redacted]"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}
