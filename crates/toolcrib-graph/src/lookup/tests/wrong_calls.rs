//! Wrong calls teach.

use insta::assert_snapshot;

use super::*;

fn error(call: LookupCall) -> String {
    sample().lookup().run(&call).unwrap_err().to_string()
}

fn read(path: &str, start: Option<u32>, end: Option<u32>) -> LookupCall {
    LookupCall::ReadSource(ReadSource {
        path: path.into(),
        start,
        end,
    })
}

fn neighbor_call(name: &str, direction: Option<&str>, kinds: &[&str]) -> LookupCall {
    LookupCall::SymbolNeighbors(SymbolNeighbors {
        name: name.into(),
        direction: direction.map(Into::into),
        kinds: Some(kinds.iter().map(|k| k.to_string()).collect()),
        offset: None,
    })
}

#[test]
fn g08_a_path_that_cannot_be_read_names_near_ones() {
    assert_snapshot!(error(read("/home/x/src/cut.rs", None, None)), @r"
    `/home/x/src/cut.rs` is outside the repository: paths are relative to its root, without a leading `/` or `..`
    near paths:
      src/cut.rs
      src/run.rs
      src/empty.rs
    ");
    assert_snapshot!(error(read("../src/cut.rs", None, None)), @r"
    `../src/cut.rs` is outside the repository: paths are relative to its root, without a leading `/` or `..`
    near paths:
      src/cut.rs
      src/run.rs
      src/empty.rs
    ");
    assert_snapshot!(error(read("src/cutt.rs", None, None)), @r"
    `src/cutt.rs` is not in the snapshot (no such path, or binary, ignored, generated or too large)
    near paths:
      src/cut.rs
      src/empty.rs
      src/run.rs
    ");
    assert_snapshot!(error(read("src", None, None)), @r#"`src` is a directory: use list_files {"path":"src"} to see its 3 files, then read one of them"#);
    assert_snapshot!(error(read("src/cut.rs", Some(90), None)), @r"lines 90-130 are not in `src/cut.rs`: it has 26 lines, counted from 1, and start must not be after end");
    assert_snapshot!(error(read("src/cut.rs", Some(9), Some(3))), @r"lines 9-3 are not in `src/cut.rs`: it has 26 lines, counted from 1, and start must not be after end");
    assert_snapshot!(error(read("src/cut.rs", Some(0), None)), @r"lines 0-40 are not in `src/cut.rs`: it has 26 lines, counted from 1, and start must not be after end");
    assert_snapshot!(error(read("", None, None)), @r"path is empty: give a file");
    for outside in ["C:\\x.rs", "~/x", "a/../../b", "\\x"] {
        assert!(
            error(read(outside, None, None)).contains("outside the repository"),
            "{outside}"
        );
    }
}

#[test]
fn g09_an_unknown_or_ambiguous_name_is_explained() {
    assert_snapshot!(error(neighbor_call("crate::cut::capp", None, &[])), @r"
    no symbol is named `crate::cut::capp`: use search_symbols first
    nearest names:
      function crate::cut::cap  src/cut.rs:20-22
      method Tool.cap  lib/tool.rb:2-3
    ");
    assert_snapshot!(error(neighbor_call("cap", None, &[])), @r"
    `cap` names 2 symbols: call again with one of these qualified names
    candidates:
      method Tool.cap  lib/tool.rb:2-3
      function crate::cut::cap  src/cut.rs:20-22
    ");
    assert_snapshot!(error(neighbor_call("run", None, &["callz"])), @r"unknown kinds `callz`: use one of contains, imports, calls, references, implements, extends, overrides, routes_to, tests, guess");
    assert_snapshot!(error(neighbor_call("run", Some("up"), &[])), @r"unknown direction `up`: use one of incoming, outgoing, both");
}

#[test]
fn g07_nothing_at_a_query_offers_names_and_paths() {
    let explore = |query: &str| {
        LookupCall::ExploreArea(ExploreArea {
            query: query.into(),
            offset: None,
        })
    };
    assert_snapshot!(error(explore("src/cut.py")), @r"
    nothing is at `src/cut.py`: explore_area takes a qualified name, a file, a directory, or `A -> B`; use search_symbols for words
    near paths:
      src/cut.rs
      src/empty.rs
      src/run.rs
    ");
    assert_snapshot!(error(explore("cap")), @r"
    `cap` names 2 symbols: call again with one of these qualified names
    candidates:
      method Tool.cap  lib/tool.rb:2-3
      function crate::cut::cap  src/cut.rs:20-22
    ");
    assert_snapshot!(error(explore("../x")), @r"`../x` is outside the repository: paths are relative to its root, without a leading `/` or `..`");
    assert_snapshot!(error(explore("nope -> cap")), @r"no symbol is named `nope`: use search_symbols first");
}

#[test]
fn g06_a_wrong_kind_or_size_is_explained() {
    let call = |query: &str, kind: Option<&str>, path: Option<&str>| {
        LookupCall::SearchSymbols(SearchSymbols {
            query: query.into(),
            kind: kind.map(Into::into),
            path: path.map(Into::into),
            ..SearchSymbols::default()
        })
    };
    assert_snapshot!(error(call("x", Some("klass"), None)), @r"unknown kind `klass`: use one of module, function, method, struct, class, enum, enum_member, interface, type_alias, constant, variable, field, macro, route, test");
    assert_snapshot!(error(call("  ", None, None)), @r"query is empty: give a name or a few words");
    assert_snapshot!(error(call(&"x".repeat(1_000_000), None, None)), @r"query has 1000000 characters; at most 1000 are searched: give a name, a path or a few words");
    assert_snapshot!(error(call("x", None, Some("nowhere"))), @r"`nowhere` is not in the snapshot (no such path, or binary, ignored, generated or too large)");
    assert_snapshot!(error(call("x", None, Some("[a"))), @r"`[a` is not a glob: unclosed character class; missing ']'; write for example `*.rs` or `src/**/*.py`");
}
