//! Who calls whom, by which way, and which of several namesakes is meant.

use super::*;

#[test]
fn a_way_is_shown_call_by_call() {
    let (text, _) = run_all("How does `serve` reach `write`?", |call| {
        match &*call.name {
            "explore_area" => "\
1 shortest path of 2 calls from a::serve to b::write:
function a::serve  src/a.rs:1-9
function b::write  src/b.rs:3-6
path 1:
a::serve -calls-> a::handle  src/a.rs:4
a::handle -calls-> b::write  src/a.rs:14  [dynamic]
"
            .into(),
            "read_source" if call.arguments.contains("14") => {
                "src/a.rs:14 of 20 lines (Rust)\n14\t    sink.write(x);\n".into()
            }
            _ => "0 results for \"q\"\n".into(),
        }
    });
    insta::assert_snapshot!(text);
}

#[test]
fn a_way_is_asked_again_with_the_symbols_found() {
    let (text, _) = run_all("from serve to `write_all`", |call| match &*call.name {
        "search_symbols" => "\
2 results for \"q\"; 1-2 shown:
function a::serve  src/a.rs:1-9
function b::write_all  src/b.rs:3-6
"
        .into(),
        "explore_area" if call.arguments.contains("a::serve -> b::write_all") => "\
no call path from a::serve to b::write_all:
function a::serve  src/a.rs:1-9
function b::write_all  src/b.rs:3-6
note: proven calls from a::serve reach 7 definitions; 2 call sites there could not be resolved
"
        .into(),
        _ => "error: ambiguous".into(),
    });
    assert!(
        text.starts_with("No chain of proven calls connects `a::serve` src/a.rs:1-9"),
        "{text}"
    );
    assert!(
        text.contains("reach 7 definitions; 2 call sites there could not be resolved."),
        "{text}"
    );
}

#[test]
fn all_pages_of_callers_are_listed() {
    let (text, _) = run("Who calls `cap`?", |call| match &*call.name {
        "search_symbols" => {
            "1 result for \"cap\"; 1-1 shown:\nfunction a::cap  src/a.rs:3-9\n".into()
        }
        "symbol_neighbors" => {
            let second = call.arguments.contains("\"offset\":1");
            let third = call.arguments.contains("\"offset\":2");
            let (file, more) = match (second, third) {
                (true, _) => (
                    "src/b.rs",
                    "1 more; next: symbol_neighbors {\"name\":\"a::cap\",\"offset\":2}\n",
                ),
                (_, true) => ("tests/c.rs", ""),
                _ => (
                    "tests/d.rs",
                    "2 more; next: symbol_neighbors {\"name\":\"a::cap\",\"offset\":1}\n",
                ),
            };
            format!(
                "function a::cap  src/a.rs:3-9\n3 callers; 2 more sites use this name on receivers that could not be typed\n3 edges; 1-1 shown:\n<- calls function x::f  {file}:1-5  at {file}:2\n{more}"
            )
        }
        _ => String::new(),
    });
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(text.contains("2 more sites use this name"), "{text}");
    // The product's own callers come first.
    assert!(at("src/b.rs:2") < at("tests/d.rs:2") && at("tests/d.rs:2") < at("tests/c.rs:2"));
    assert!(!text.contains("more\n"), "{text}");
}

#[test]
fn callers_that_are_not_certain_are_said_to_be_so() {
    let (text, _) = run("Who calls `cap`?", |call| match &*call.name {
        "search_symbols" => {
            "1 result for \"cap\"; 1-1 shown:\nmethod a::T::cap  src/a.rs:3\n".into()
        }
        "symbol_neighbors" => "\
method a::T::cap  src/a.rs:3
1 caller; 1 site may reach it by dynamic dispatch
3 edges; 1-3 shown:
<- calls function x::sure  src/b.rs:1-5  at src/b.rs:2
<- calls function x::open  src/b.rs:6-9  at src/b.rs:7  [ambiguous: one of 1]
<- calls function x::sent  src/b.rs:10-14  at src/b.rs:12  [x2; dynamic: 2 implementations]
"
        .into(),
        _ => String::new(),
    });
    for line in [
        "- called by `x::sure` at src/b.rs:2\n",
        "- may be called by `x::open` at src/b.rs:7 (whether another is meant is left open)\n",
        "- may be called by `x::sent` at src/b.rs:12 (by dynamic dispatch)\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn callers_of_a_name_that_nothing_has_are_those_of_no_other() {
    for question in ["Who calls cut_everything?", "What calls `Store.truncat`?"] {
        let (text, _) = run(question, |call| match &*call.name {
            "search_symbols" => small_repository(&ToolCall {
                arguments: "truncat".into(),
                ..call.clone()
            }),
            _ => small_repository(call),
        });
        assert!(text.starts_with("Nothing found"), "{text}");
        assert!(text.contains("o symbol is named "), "{text}");
        assert!(
            !text.contains("called by") && !text.contains("callers"),
            "{text}"
        );
    }
    let (text, _) = run("Who calls TruncateResult?", small_repository);
    assert!(text.contains("truncate_result"), "{text}");
}

#[test]
fn languages_read_for_definitions_only_claim_no_callers() {
    let (text, _) = run("Who calls `deploy`?", |call| {
        match &*call.name {
        "search_symbols" => "1 result for \"q\"; 1-1 shown:\nfunction deploy  run.sh:3-9\n".into(),
        "symbol_neighbors" => "function deploy  run.sh:3-9\n0 callers\n0 edges\nnote: Bash is read for definitions only: its calls and references are not in the graph\n".into(),
        _ => String::new(),
    }
    });
    assert!(text.contains("who calls what cannot be told"), "{text}");
    assert!(
        !text.contains("0 callers") && !text.contains("No use"),
        "{text}"
    );
}

/// Two overloads, a function of the same name elsewhere, and who calls each.
fn namesakes(call: &ToolCall) -> String {
    let query = &*call.arguments;
    match &*call.name {
        "search_symbols" => "\
3 results for \"slug\"; 1-3 shown:
method app.Text.slug  src/Text.java:3-5  String slug(int n)
method app.Text.slug~2  src/Text.java:7-9  String slug(String s)
function web.slug  src/web.js:1-4  function slug(text)
"
        .into(),
        "symbol_neighbors" if query.contains("slug~2") => "\
method app.Text.slug~2  src/Text.java:7-9
1 caller; 1 site may mean it or another definition
2 edges; 1-2 shown:
<- calls method app.Page.title  src/Page.java:3-9  at src/Page.java:4
<- calls method app.Page.link  src/Page.java:20-29  at src/Page.java:21  [ambiguous: one of 2]
"
        .into(),
        "symbol_neighbors" if query.contains("app.Text.slug") => "\
method app.Text.slug  src/Text.java:3-5
0 callers; 1 site may mean it or another definition
1 edge; 1-1 shown:
<- calls method app.Page.link  src/Page.java:20-29  at src/Page.java:21  [ambiguous: one of 2]
"
        .into(),
        "symbol_neighbors" => "\
function web.slug  src/web.js:1-4
1 caller
1 edge; 1-1 shown:
<- calls function web.show  src/web.js:6-9  at src/web.js:7
"
        .into(),
        _ => String::new(),
    }
}

#[test]
fn callers_of_every_namesake_are_listed_and_open_calls_are_marked() {
    let (text, _) = run("Who calls slug?", namesakes);
    insta::assert_snapshot!(text);
    for place in ["src/Text.java:3-5", "src/Text.java:7-9", "src/web.js:1-4"] {
        assert!(text.contains(place), "{text}");
    }
    assert!(
        text.contains("called by `app.Page.title` at src/Page.java:4\n"),
        "{text}"
    );
    assert!(text.contains("may be called by `app.Page.link`"), "{text}");
    assert!(text.contains("called by `web.show`"), "{text}");
}

#[test]
fn who_implements_lists_no_callers_and_types_before_functions() {
    let (text, _) = run("Who implements Shape?", |call| match &*call.name {
        "search_symbols" => "\
2 results for \"shape\"; 1-2 shown:
method draw.Canvas.Shape  src/canvas.go:3-5
interface draw.Shape  src/shape.go:3-9
"
        .into(),
        "symbol_neighbors" if call.arguments.contains("Canvas") => "\
method draw.Canvas.Shape  src/canvas.go:3-5
1 caller
1 edge; 1-1 shown:
<- calls function draw.main  src/main.go:3-9  at src/main.go:4
"
        .into(),
        "symbol_neighbors" => "\
interface draw.Shape  src/shape.go:3-9
3 callers
2 edges; 1-2 shown:
<- references function draw.show  src/main.go:20-29  at src/main.go:21
<- implements struct draw.Circle  src/circle.go:3-5  at src/circle.go:3
"
        .into(),
        _ => String::new(),
    });
    assert!(
        text.starts_with(
            "interface `draw.Shape`, src/shape.go:3-9\n- implemented by `draw.Circle`"
        ),
        "{text}"
    );
    assert!(
        !text.contains("caller") && !text.contains("draw.show"),
        "{text}"
    );
}

#[test]
fn a_way_from_what_does_not_exist_is_none() {
    let (text, _) = run_all(
        "How does run_nowhere reach `truncate_result`?",
        small_repository,
    );
    assert!(
        text.starts_with("Nothing found: no symbol is named run_nowhere,"),
        "{text}"
    );
}

#[test]
fn both_halves_of_a_question_about_calls_are_answered() {
    let (text, _) = run(
        "who calls grow and what does it call?",
        |call| match &*call.name {
            "search_symbols" => {
                "1 result for \"q\"; 1-1 shown:\nfunction a.grow  a.rs:5-9  fn grow()\n".into()
            }
            "symbol_neighbors" => {
                assert!(call.arguments.contains("\"both\""), "{}", call.arguments);
                "function a.grow  a.rs:5-9\n1 caller\n2 edges; 1-2 shown:\n\
             <- calls function a.main  a.rs:20-30  at a.rs:21\n\
             -> calls function a.alloc  a.rs:40-50  at a.rs:6\n"
                    .into()
            }
            _ => String::new(),
        },
    );
    assert!(text.contains("called by `a.main` at a.rs:21"), "{text}");
    assert!(text.contains("calls `a.alloc` on a.rs:6"), "{text}");
}

#[test]
fn how_a_named_type_does_something_goes_on_to_what_it_calls() {
    let (text, _) = run("How does `StoreBuilder` evict entries?", |call| {
        let asked = &*call.arguments;
        match &*call.name {
            "search_symbols" => "\
1 result for \"q\"; 1-1 shown:
class store.StoreBuilder  store.py:3-90  class StoreBuilder
    Builds a store that may evict entries.
"
            .into(),
            "symbol_neighbors" if asked.contains("store.StoreBuilder\"") => "\
class store.StoreBuilder  store.py:3-90  class StoreBuilder
2 edges; 1-2 shown:
-> calls method segment.Segment.evict_entries  segment.py:40-52  at store.py:60
-> calls function segment.close  segment.py:70-72  at store.py:61
"
            .into(),
            "symbol_neighbors" if asked.contains("evict_entries") => "\
method segment.Segment.evict_entries  segment.py:40-52  def evict_entries(self)
    Drops the oldest entries.
1 caller
1 edge; 1-1 shown:
<- calls class store.StoreBuilder  store.py:3-90  at store.py:60
"
            .into(),
            _ => String::new(),
        }
    });
    assert!(
        text.contains("method `segment.Segment.evict_entries`, segment.py:40-52"),
        "{text}"
    );
    assert!(text.contains("> Drops the oldest entries."), "{text}");
    assert!(!text.contains("`segment.close`, "), "{text}");
}
