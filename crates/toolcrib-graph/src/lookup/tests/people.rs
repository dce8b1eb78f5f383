//! What a person reads: the same facts, with commands for what to do next.

use insta::assert_snapshot;

use super::*;

const COMMAND: &str = "toolcrib graph";

fn said(call: &LookupCall) -> String {
    match sample().lookup().for_commands(COMMAND).run(call) {
        Ok(text) => text,
        Err(error) => error.for_commands(COMMAND),
    }
}

fn neighbors_of(name: &str) -> LookupCall {
    LookupCall::SymbolNeighbors(SymbolNeighbors {
        name: name.into(),
        ..SymbolNeighbors::default()
    })
}

fn explore_at(query: &str) -> LookupCall {
    LookupCall::ExploreArea(ExploreArea {
        query: query.into(),
        offset: None,
    })
}

#[test]
fn follow_ups_and_notes_for_people_are_commands() {
    let search = |kind: Option<&str>, limit: Option<usize>| {
        LookupCall::SearchSymbols(SearchSymbols {
            query: "cap".into(),
            kind: kind.map(Into::into),
            limit,
            ..SearchSymbols::default()
        })
    };
    assert_snapshot!(said(&search(None, Some(1))), @r#"
    3 results for "cap"; 1-1 shown:
    method Tool.cap  lib/tool.rb:2-3  def cap
    note: Ruby is read for definitions only: its calls and references are not in the graph
    2 more; next: toolcrib graph search --limit 1 --offset 1 cap
    "#);
    assert_snapshot!(said(&search(Some("enum"), None)), @r#"
    0 results for "cap"
    note: 3 without kind and path: toolcrib graph search cap
    "#);
    assert_snapshot!(said(&neighbors_of("main_loop")), @r"
    function crate::run::main_loop  src/run.rs:23-27  pub fn main_loop()
    0 callers
    5 call sites in it: 2 resolved, 1 ambiguous, 1 external, 1 unresolved
    4 edges; 1-4 shown:
    -> calls function crate::run::run  src/run.rs:16-21  at src/run.rs:24
    -> calls method crate::run::Report::report  src/run.rs:5  at src/run.rs:26  [ambiguous: one of 2]
    -> calls method crate::run::Plain::report  src/run.rs:11-13  at src/run.rs:26  [ambiguous: one of 2]
    <- contains file src/run.rs
    note: 1 guessed edge hidden: toolcrib graph neighbors --kinds guess main_loop
    ");
    let read = LookupCall::ReadSource(ReadSource {
        path: "src/cut.rs".into(),
        start: Some(20),
        end: Some(22),
    });
    assert_snapshot!(said(&read), @r"
    src/cut.rs:20-22 of 26 lines (Rust)
    20	pub fn cap(text: &str, limit: usize) -> String {
    21	    text.chars().take(limit).collect()
    22	}
    4 more; next: toolcrib graph source src/cut.rs 23
    ");
}

#[test]
fn errors_for_people_speak_of_commands() {
    let directory = LookupCall::ReadSource(ReadSource {
        path: "src".into(),
        start: None,
        end: None,
    });
    assert_snapshot!(said(&directory), @r"`src` is a directory: use `toolcrib graph files src` to see its 3 files, then read one of them");
    assert_snapshot!(said(&neighbors_of("search_symbols")), @r"no symbol is named `search_symbols`: use `toolcrib graph search` first");
    assert_snapshot!(said(&explore_at("src/cut.py")), @r"
    nothing is at `src/cut.py`: `toolcrib graph explore` takes a qualified name, a file, a directory, or `A -> B`; use `toolcrib graph search` for words
    near paths:
      src/cut.rs
      src/empty.rs
      src/run.rs
    ");
    for call in [
        directory,
        neighbors_of("capp"),
        neighbors_of("cap"),
        explore_at("nope"),
        explore_at("nope -> cap"),
    ] {
        let text = said(&call);
        for tool in [
            "explore_area",
            "list_files",
            "read_source",
            "search_symbols",
            "symbol_neighbors",
        ] {
            assert!(!text.contains(tool), "{text}");
        }
    }
}
