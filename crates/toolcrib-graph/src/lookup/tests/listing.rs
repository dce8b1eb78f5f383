//! Limits and paging: nothing over the limit, no gap, no overlap.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::lookup::sample::RUST;
use crate::model::NodeKind;

/// `count` functions in files of ten, each called by the one after it and by
/// `hub`.
fn large(count: u32, long: usize) -> Sample {
    let mut sample = Sample::default();
    let name = |i: u32| format!("crate::m{}::item_{i}_{}", i / 10, "é".repeat(long));
    for file in 0..count.div_ceil(10) {
        let path = format!("src/m{file:03}.rs");
        let in_file = (file * 10..count.min(file * 10 + 10)).collect::<Vec<_>>();
        let text: String = in_file
            .iter()
            .map(|i| format!("fn item_{i}() {{}}\n"))
            .collect();
        sample = sample.file(&path, RUST, &text);
        for (line, i) in in_file.iter().enumerate() {
            let line = line as u32 + 1;
            sample = sample.symbol(NodeKind::Function, &name(*i), &path, line..=line);
        }
    }
    sample = sample.file("hub.rs", RUST, "fn hub() {}\n").symbol(
        NodeKind::Function,
        "hub",
        "hub.rs",
        1..=1,
    );
    for i in 0..count {
        sample = sample.call("hub", &name(i), 1);
        if i > 0 {
            sample = sample.call(&name(i - 1), &name(i), 1);
        }
    }
    sample
}

/// Makes a call and all its follow-ups of one lookup, and returns the records.
fn pages(lookup: &Lookup, first: LookupCall, is_record: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut next = Some(first);
    while let Some(call) = next {
        let text = lookup.run(&call).unwrap();
        assert!(
            text.chars().count() <= MAX_CHARS,
            "{}",
            text.chars().count()
        );
        assert!(text.ends_with('\n'));
        pages.push(
            text.lines()
                .filter(|l| is_record(l))
                .map(String::from)
                .collect(),
        );
        next = text
            .lines()
            .filter_map(|l| l.split_once(" more; next: "))
            .map(|(_, call)| parse(call))
            .next();
        assert!(pages.len() < 500, "paging does not end");
    }
    pages
}

/// A printed follow-up as a call.
fn parse(call: &str) -> LookupCall {
    let (tool, arguments) = call.split_once(' ').unwrap();
    let json = format!(r#"{{"tool":"{tool}","arguments":{arguments}}}"#);
    serde_json::from_str(&json).unwrap()
}

fn assert_whole(pages: &[Vec<String>], total: usize) {
    let all: Vec<&String> = pages.iter().flatten().collect();
    let distinct: BTreeSet<&String> = all.iter().copied().collect();
    assert_eq!(all.len(), total, "a gap or an overlap");
    assert_eq!(distinct.len(), total, "an overlap");
}

#[test]
fn g06_twenty_results_at_most_fifty_and_the_rest_by_offset() {
    let lookup = large(120, 0).lookup();
    let call = |limit| {
        LookupCall::SearchSymbols(SearchSymbols {
            query: "item".into(),
            limit,
            ..SearchSymbols::default()
        })
    };
    let record = |l: &str| l.starts_with("function ");
    for (limit, expected) in [(None, 20), (Some(7), 7), (Some(500), 50), (Some(0), 1)] {
        let pages = pages(&lookup, call(limit), record);
        assert_eq!(pages[0].len(), expected);
        assert_whole(&pages, 120);
    }
}

#[test]
fn g05_long_records_are_cut_between_records_and_marked() {
    let lookup = large(120, 250).lookup();
    let call = LookupCall::SearchSymbols(SearchSymbols {
        query: "item".into(),
        limit: Some(50),
        ..SearchSymbols::default()
    });
    let text = lookup.run(&call).unwrap();
    assert!(text.contains("\n(truncated) "), "{text}");
    assert!(text.chars().count() > MAX_CHARS - 600);
    assert_whole(&pages(&lookup, call, |l| l.starts_with("function ")), 120);
}

#[test]
fn g07_an_area_pages_through_symbols_then_edges() {
    let lookup = large(200, 0).lookup();
    let call = LookupCall::ExploreArea(ExploreArea {
        query: "src".into(),
        offset: None,
    });
    let first = lookup.run(&call).unwrap();
    let edges: Vec<&str> = first.lines().filter(|l| l.contains(" -calls-> ")).collect();
    let room: usize = edges.iter().map(|l| l.chars().count() + 1).sum();
    assert!(
        room >= 1_500 && edges.len() <= 30,
        "{room} in {}",
        edges.len()
    );
    assert!(first.contains("(truncated) "));
    let nodes = pages(&lookup, call, |l| {
        l.starts_with("function ") || l.starts_with("file ")
    });
    assert_whole(&nodes, 220);
    let edge_call = first
        .lines()
        .rev()
        .find_map(|l| l.split_once(" more; next: "))
        .unwrap()
        .1;
    let mut all = pages(&lookup, parse(edge_call), |l| l.contains(" -calls-> "));
    assert!(all.iter().all(|p| p.len() <= 30));
    all.push(edges.into_iter().map(String::from).collect());
    assert_whole(&all, 199);
}

#[test]
fn g07_a_symbol_view_pages_members_and_hands_edges_on() {
    let mut sample = large(60, 0).file("big.rs", RUST, &"x\n".repeat(302));
    sample = sample.symbol(NodeKind::Struct, "Big", "big.rs", 1..=301);
    for i in 2..=300 {
        sample = sample.symbol(
            NodeKind::Method,
            &format!("Big::method_{i}"),
            "big.rs",
            i..=i,
        );
    }
    let lookup = sample.lookup();
    let call = |query: &str| {
        LookupCall::ExploreArea(ExploreArea {
            query: query.into(),
            offset: None,
        })
    };
    assert_whole(
        &pages(&lookup, call("Big"), |l| l.starts_with("method ")),
        299,
    );
    let edges = pages(&lookup, call("hub"), |l| l.starts_with("-> calls "));
    assert_eq!(edges[0].len(), 30);
    assert_whole(&edges, 60);
}

#[test]
fn g09_forty_edges_at_most() {
    let lookup = large(100, 0).lookup();
    let call = LookupCall::SymbolNeighbors(SymbolNeighbors {
        name: "hub".into(),
        ..SymbolNeighbors::default()
    });
    let pages = pages(&lookup, call, |l| l.starts_with("-> "));
    assert_eq!(pages[0].len(), 40);
    assert_whole(&pages, 100);
}

#[test]
fn g10_a_long_listing_names_directories_and_goes_on() {
    let mut sample = Sample::default();
    for i in 0..400 {
        sample = sample.file(&format!("d{}/file_{i:04}.txt", i % 3), None, "x");
    }
    let lookup = sample.lookup();
    let call = LookupCall::ListFiles(ListFiles::default());
    let first = lookup.run(&call).unwrap();
    assert!(
        first.contains("by directory: d0/ 134, d1/ 133, d2/ 133"),
        "{first}"
    );
    assert_whole(&pages(&lookup, call, |l| l.ends_with(" bytes")), 400);
}

#[test]
fn g08_forty_one_lines_by_default_two_hundred_at_most() {
    let text: String = (1..=500).map(|i| format!("line {i}\n")).collect();
    let long = "é".repeat(50_000) + "\nshort\n";
    let lookup = Sample::default()
        .file("a.txt", None, &text)
        .file("long.txt", None, &long.repeat(20))
        .lookup();
    let call = |path: &str, start, end| {
        LookupCall::ReadSource(ReadSource {
            path: path.into(),
            start,
            end,
        })
    };
    let record = |l: &str| l.starts_with(|c: char| c.is_ascii_digit()) && l.contains('\t');
    let default = pages(&lookup, call("a.txt", None, None), record);
    assert_eq!(default[0].len(), 41);
    assert_whole(&default, 500);
    let clamped = pages(&lookup, call("a.txt", Some(11), Some(450)), record);
    assert_eq!(
        (clamped[0].len(), clamped[1].len(), clamped[2].len()),
        (200, 200, 40)
    );
    assert_whole(&clamped, 490);
    assert_eq!(
        pages(&lookup, call("a.txt", Some(490), Some(9_999)), record)[0].len(),
        11
    );
    let long = pages(&lookup, call("long.txt", None, Some(40)), record);
    assert!(long[0].len() > 10 && long.len() > 1);
    assert_whole(&long, 40);
    assert!(long[0][0].ends_with(" characters)"));
}

#[test]
fn g06_names_in_any_script_are_found() {
    let lookup = Sample::default()
        .file(
            "src/größe.rs",
            RUST,
            "fn größe_ändern() {}\nfn 検索する() {}\n// Ärger\n",
        )
        .symbol(NodeKind::Function, "größe_ändern", "src/größe.rs", 1..=1)
        .symbol(NodeKind::Function, "検索する", "src/größe.rs", 2..=2)
        .lookup();
    assert_eq!(names(&lookup, "GRÖßE_ÄNDERN"), ["größe_ändern"]);
    assert_eq!(names(&lookup, "ändern größe")[0], "größe_ändern");
    assert_eq!(names(&lookup, "検索"), ["検索する"]);
    assert!(
        search(&lookup, "ärger")
            .text
            .contains("text src/größe.rs  src/größe.rs:3  // Ärger")
    );
}

#[test]
fn g05_answers_do_not_depend_on_the_order_of_building() {
    let ask = |lookup: &Lookup| {
        ["cap", "tool result", "src", "crate::cut::Cut"].map(|q| {
            (
                search(lookup, q).text,
                lookup
                    .explore_area(&ExploreArea {
                        query: q.into(),
                        offset: None,
                    })
                    .map(|a| a.text),
            )
        })
    };
    let (one, two) = (sample().lookup(), sample().lookup());
    assert_eq!(ask(&one), ask(&two));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No argument, however odd, panics or goes over the limit.
    #[test]
    fn g05_no_argument_panics_or_overflows(
        text in "\\PC{0,40}|[a-z:./>\\-*\\[{ ]{0,12}|[\\x00-\\x1f]{1,4}",
        start in proptest::option::of(0u32..40),
        end in proptest::option::of(0u32..4_000_000_000),
        offset in proptest::option::of(0usize..100),
    ) {
        thread_local!(static LOOKUP: Lookup = sample().lookup());
        LOOKUP.with(|lookup| {
            let some = Some(text.clone());
            let calls = [
                LookupCall::SearchSymbols(SearchSymbols { query: text.clone(), offset, ..Default::default() }),
                LookupCall::SearchSymbols(SearchSymbols { query: "cap".into(), path: some.clone(), ..Default::default() }),
                LookupCall::ExploreArea(ExploreArea { query: text.clone(), offset }),
                LookupCall::ExploreArea(ExploreArea { query: "src".into(), offset }),
                LookupCall::ReadSource(ReadSource { path: text.clone(), start, end }),
                LookupCall::ReadSource(ReadSource { path: "src/cut.rs".into(), start, end }),
                LookupCall::SymbolNeighbors(SymbolNeighbors { name: text.clone(), offset, ..Default::default() }),
                LookupCall::ListFiles(ListFiles { path: some.clone(), glob: None, offset }),
                LookupCall::ListFiles(ListFiles { path: None, glob: some, offset }),
            ];
            for call in calls {
                let text = lookup.run(&call).unwrap_or_else(|e| e.to_string());
                assert!(text.chars().count() <= MAX_CHARS);
            }
        });
    }
}
