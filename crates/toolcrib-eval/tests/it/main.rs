//! The evaluation from files to reports.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use tempfile::TempDir;
use toolcrib_eval::{
    EvalError, RankerKind, Report, SearchEval, evaluate, load_negatives, load_queries, load_tools,
    render_json, render_text,
};

const TOOLS: &str = r#"{"name": "web__fetch_page", "description": "Fetch a page.", "server": "web"}
{"name": "mail__send", "description": "Send a letter.", "server": "mail", "parameters": {"type": "object", "properties": {"recipient": {"type": "string"}}}}

{"name": "clock", "description": null}
"#;
const QUERIES: &str = r#"{"id": "a", "query": "fetch_page", "gold": ["web__fetch_page"]}
{"id": "b", "query": "send a letter to a recipient", "gold": ["mail__send", "clock"], "alternatives": [["clock", "mail__send", "gone"]]}
"#;

struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(TempDir::new().unwrap())
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The message of an error, its directory left out.
fn told<T: std::fmt::Debug>(files: &Files, result: Result<T, EvalError>) -> String {
    let dir = format!("{}/", files.0.path().display());
    result.unwrap_err().to_string().replace(&dir, "")
}

fn reports(rankers: Vec<RankerKind>, half: Option<u8>) -> Result<Vec<Report>, EvalError> {
    let files = Files::new();
    let tools = load_tools(&[files.put("tools.jsonl", TOOLS)])?.tools;
    let queries = load_queries(&files.put("queries.jsonl", QUERIES), &tools)?;
    let negatives = load_negatives(&files.put("n.jsonl", r#"{"id": "n", "query": "qqq zzz"}"#))?;
    Ok(evaluate(&SearchEval {
        tools: &tools,
        queries: &queries,
        negatives: Some(&negatives),
        half,
        rankers,
        encoder: None,
    }))
}

#[test]
fn every_ranker_reports_what_it_found() {
    let reports = reports(RankerKind::ALL.to_vec(), None).unwrap();
    let names: Vec<_> = reports.iter().map(|report| report.ranker).collect();
    assert_eq!(names, ["toolcrib", "substring", "bm25", "bm25-stem"]);
    for report in &reports {
        assert_eq!(report.queries, 2, "{}", report.ranker);
        assert_eq!(report.refused, Some(1.0), "{}", report.ranker);
        assert_eq!(report.false_refused, 0.0, "{}", report.ranker);
        assert!(report.index_bytes > 0 && report.p50 <= report.p99);
    }
    let own = &reports[0].scores;
    assert_eq!(own.hit, [1.0, 1.0]);
    // The second query's one useful tool meets one of its two needs.
    assert_eq!(own.recall[3], 0.75);
}

#[test]
fn json_has_one_object_a_ranker() {
    let mut reports = reports(vec![RankerKind::Bm25], None).unwrap();
    reports[0].p50 = std::time::Duration::from_nanos(1_250);
    reports[0].p99 = std::time::Duration::from_micros(9);
    reports[0].build = std::time::Duration::from_millis(2);
    reports[0].index_bytes = 777;
    insta::assert_snapshot!(render_json(&reports).trim(), @r#"{"ranker":"bm25","queries":2,"recall@1":0.75,"recall@3":0.75,"recall@5":0.75,"recall@10":0.75,"hit@1":1.0,"hit@5":1.0,"mrr@10":1.0,"ndcg@5":0.8066,"refused":1.0,"false_refused":0.0,"p50_us":1.3,"p99_us":9.0,"index_bytes":777}"#);
    insta::assert_snapshot!(render_text(&reports), @r"
    ranker     queries    R@1    R@3    R@5   R@10  Hit@1  Hit@5 MRR@10 nDCG@5 refused   false   p50 us   p99 us    index build ms
    bm25             2 0.7500 0.7500 0.7500 0.7500 1.0000 1.0000 1.0000 0.8066   1.000   0.000      1.3      9.0    777 B      2.0
    ");
}

#[test]
fn halves_are_disjoint_and_complete() {
    let count = |half| reports(vec![RankerKind::Bm25], Some(half)).unwrap()[0].queries;
    assert_eq!(count(0) + count(1), 2);
}

#[test]
fn the_half_of_a_query_is_that_of_its_task() {
    let files = Files::new();
    let tools = load_tools(&[files.put("t", TOOLS)]).unwrap().tools;
    let line =
        |id: &str| format!(r#"{{"id": "{id}", "query": "x", "gold": ["clock"], "task": "t"}}"#);
    let text: Vec<_> = ["1", "2", "3", "4", "5"].map(line).to_vec();
    let queries = load_queries(&files.put("q", &text.join("\n")), &tools).unwrap();
    assert!(queries.iter().all(|query| query.half == queries[0].half));
    let alone = r#"{"id": "t", "query": "x", "gold": ["clock"]}"#;
    let alone = load_queries(&files.put("q1", alone), &tools).unwrap();
    assert_eq!(alone[0].half, queries[0].half);
}

#[test]
fn a_tools_list_answer_is_read_bare_and_in_its_envelope() {
    let files = Files::new();
    let list = r#"{"tools": [{"name": "go", "description": "Go.", "inputSchema": {"properties": {"speed": {}}}}]}"#;
    let enveloped = format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {list}}}"#);
    for (name, text) in [("fast.json", list), ("fast.json", &enveloped)] {
        let tools = load_tools(&[files.put(name, text)]).unwrap().tools;
        assert_eq!(tools[0].source, "fast");
        assert_eq!(&*tools[0].doc().arguments, "speed");
    }
    let array = files.put("a.json", r#"[{"name": "x"}, {"name": "y", "server": "s"}]"#);
    let tools = load_tools(&[array]).unwrap().tools;
    assert_eq!((&*tools[0].source, &*tools[1].source), ("a", "s"));
}

#[test]
fn pages_of_tools_are_read_one_after_another_in_an_array_and_in_envelopes() {
    let files = Files::new();
    let page = |names: &[&str], cursor: &str| {
        let tools: Vec<String> = names
            .iter()
            .map(|n| format!(r#"{{"name": "{n}"}}"#))
            .collect();
        format!(r#"{{"tools": [{}]{cursor}}}"#, tools.join(", "))
    };
    let (first, last) = (
        page(&["a", "b"], r#", "nextCursor": "2""#),
        page(&["c"], ""),
    );
    let rpc = |page: &str| format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {page}}}"#);
    let pretty = first.replace(", ", ",\n  ");
    for text in [
        format!("{first}\n{last}\n"),
        format!("{first}{last}"),
        format!("[{first}, {last}]"),
        format!("\u{feff}[\n{first},\n{}\n]\n", rpc(&last)),
        format!("{}\r\n{}", rpc(&first), rpc(&last)),
        format!("\u{feff}{pretty}\n\n{last}"),
    ] {
        let read = load_tools(&[files.put("dump.json", &text)]).unwrap();
        let names: Vec<_> = read.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "b", "c"], "{text}");
        assert!(
            read.tools.iter().all(|tool| tool.source == "dump"),
            "{text}"
        );
        assert_eq!(read.warnings, [""; 0], "{text}");
    }
    let read = load_tools(&[files.put("dump.json", &rpc(&first))]).unwrap();
    let warning = read.warnings.concat();
    assert!(
        warning.ends_with(
            r#"dump.json: the list of tools is not whole: its last page has the nextCursor "2""#
        ),
        "{warning}"
    );
    for none in [r#", "nextCursor": null"#, r#", "nextCursor": """#] {
        let read = load_tools(&[files.put("dump.json", &page(&["a"], none))]).unwrap();
        assert_eq!(read.warnings, [""; 0]);
    }
}

/// JSON readers end at 128 levels, and the others are in the same text.
#[test]
fn a_schema_nested_beyond_reason_costs_no_other_tool() {
    let files = Files::new();
    let deep = r#"{"properties": {"a": "#.repeat(100_000) + "{}" + &"}}".repeat(100_000);
    let tools = [
        format!(r#"{{"name": "deep", "parameters": {deep}}}"#),
        r#"{"name": "flat", "parameters": {"properties": {"speed": {}}}}"#.to_owned(),
    ];
    for text in [
        tools.join("\n"),
        format!(r#"{{"tools": [{}]}}"#, tools.join(", ")),
    ] {
        let read = load_tools(&[files.put("t", &text)]).unwrap().tools;
        assert_eq!((read.len(), &*read[1].doc().arguments), (2, "speed"));
        assert_eq!(&*read[0].doc().arguments, "");
    }
}

#[test]
fn bad_tool_files_say_where() {
    let files = Files::new();
    let load = |text: &str| told(&files, load_tools(&[files.put("t.jsonl", text)]));
    insta::assert_snapshot!(load("{\"name\": \"a\"}\n\n{\"name\": \n"), @"t.jsonl:3: EOF while parsing a value at line 1 column 9");
    insta::assert_snapshot!(load("{\"name\": \"a\"}\n{\"description\": \"x\"}"), @"t.jsonl:2: missing field `name`");
    insta::assert_snapshot!(load("{\"name\": \"a\"}\n{\"name\": \"a\"}"), @r#"t.jsonl:2: tool "a" was already given at t.jsonl:1"#);
    insta::assert_snapshot!(load("{\"name\": \" \"}\n{\"name\": \"b\"}"), @r#"t.jsonl:1: a tool's "name" must not be empty"#);
    insta::assert_snapshot!(load(""), @"t.jsonl holds no tools; expected one JSON object a line");
    insta::assert_snapshot!(load("{\"tools\": [{\"name\": \"a\"}, {\"nam\": 1}]}"), @"t.jsonl:1: tool 2 of the list: missing field `name`");
    insta::assert_snapshot!(load("[\n{\"name\": \"a\"},\n{\"name\": b}]"), @"t.jsonl:3: expected value at line 3 column 10");
    insta::assert_snapshot!(load("{\"name\": \"a\"} {\"name\": \"b\"} x"), @"t.jsonl:1: expected one JSON object a line");
    insta::assert_snapshot!(load("{\"name\": \"a\"}\n{\"tools\": 1}"), @r#"t.jsonl:2: "tools" must be a list"#);
    insta::assert_snapshot!(load("{\"name\": \"a\"}\n{\"jsonrpc\": \"2.0\", \"id\": 1, \"error\": {\"code\": -32601, \"message\": \"Method not found\"}}"), @r#"t.jsonl:2: it is a server's error and no list of tools: "Method not found" (code -32601)"#);
    insta::assert_snapshot!(load(&("[".repeat(100_000) + &"]".repeat(100_000))), @"t.jsonl:1: entry 1 of the list: entry 1 of the list: entry 1 of the list: entry 1 of the list: entry 1 of the list: lists lie too deep in lists");
    let latin = files.put("latin.jsonl", "");
    std::fs::write(&latin, b"{\"name\": \"a\"}\n{\"name\": \"caf\xe9\"}\n").unwrap();
    insta::assert_snapshot!(told(&files, load_tools(&[latin])), @"latin.jsonl:2: not UTF-8; save the file in that encoding");
    let missing = load_tools(&[files.0.path().join("none")]);
    assert!(told(&files, missing).starts_with("cannot read none: "));
}

#[test]
fn bad_query_files_say_where() {
    let files = Files::new();
    let tools = load_tools(&[files.put("t.jsonl", TOOLS)]).unwrap().tools;
    let load = |text: &str| told(&files, load_queries(&files.put("q.jsonl", text), &tools));
    insta::assert_snapshot!(load(r#"{"id": "a", "query": "x", "gold": ["nobody"]}"#), @r#"q.jsonl:1: gold "nobody" is not among the tools"#);
    insta::assert_snapshot!(load(r#"{"id": "a", "query": "x"}"#), @r#"q.jsonl:1: "gold" must name at least one tool"#);
    insta::assert_snapshot!(load(&QUERIES.replace("\"b\"", "\"a\"")), @r#"q.jsonl:2: query id "a" is used twice"#);
    insta::assert_snapshot!(load("\n\n[]"), @"q.jsonl:3: expected one JSON object a line");
    insta::assert_snapshot!(load(" \n"), @"q.jsonl holds no queries; expected one JSON object a line");
}

#[test]
fn an_unknown_ranker_is_told_the_names() {
    insta::assert_snapshot!(RankerKind::parse("tfidf").unwrap_err(), @r#"no ranker is called "tfidf"; choose toolcrib, substring, bm25, bm25-stem or all"#);
    assert_eq!(RankerKind::parse("all").unwrap(), RankerKind::ALL);
}

#[test]
fn the_negatives_kept_here_are_sixty_and_distinct() {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/negatives_mcp_real.jsonl");
    let negatives = load_negatives(&path).unwrap();
    let mut texts: Vec<_> = negatives.iter().map(|query| &query.query).collect();
    texts.sort();
    texts.dedup();
    assert_eq!((negatives.len(), texts.len()), (60, 60));
}

#[test]
fn a_small_collection_refuses_less_than_half_of_what_it_serves() {
    let data = |name: &str| {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(name)
    };
    let tools = load_tools(&[data("small_tools.jsonl")]).unwrap().tools;
    let queries = load_queries(&data("small_queries.jsonl"), &tools).unwrap();
    let negatives = load_negatives(&data("small_negatives.jsonl")).unwrap();
    let reports = evaluate(&SearchEval {
        tools: &tools,
        queries: &queries,
        negatives: Some(&negatives),
        half: None,
        rankers: vec![RankerKind::Toolcrib],
        encoder: None,
    });
    let report = &reports[0];
    assert!(report.false_refused <= 0.45, "{report:?}");
    assert!(report.refused.unwrap() >= 0.55, "{report:?}");
    assert!(report.scores.recall[2] >= 0.9, "{report:?}");
}
