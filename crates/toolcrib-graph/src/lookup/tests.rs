//! The five lookups on graphs assembled by hand.

mod listing;
mod people;
mod wrong_calls;

use insta::assert_snapshot;

use super::sample::{Sample, Site, sample};
use super::*;
use crate::model::Direction;

fn search(lookup: &Lookup, query: &str) -> Answer<SearchResults> {
    lookup
        .search_symbols(&SearchSymbols {
            query: query.into(),
            ..SearchSymbols::default()
        })
        .unwrap()
}

fn names(lookup: &Lookup, query: &str) -> Vec<String> {
    search(lookup, query)
        .data
        .hits
        .iter()
        .map(|h| lookup.graph().node(h.node).qualified_name.to_string())
        .collect()
}

fn explore(lookup: &Lookup, query: &str) -> String {
    let args = ExploreArea {
        query: query.into(),
        offset: None,
    };
    lookup.explore_area(&args).unwrap().text
}

fn neighbors(lookup: &Lookup, name: &str) -> String {
    let args = SymbolNeighbors {
        name: name.into(),
        ..SymbolNeighbors::default()
    };
    lookup.symbol_neighbors(&args).unwrap().text
}

#[test]
fn g06_results_come_in_tiers_with_ties_by_place() {
    let lookup = sample().lookup();
    assert_snapshot!(search(&lookup, "CAP").text, @r#"
    3 results for "CAP"; 1-3 shown:
    method Tool.cap  lib/tool.rb:2-3  def cap
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
        Keeps the first characters of a text, never splitting one.
    function crate::cut::capacity_hint  src/cut.rs:24-26  fn capacity_hint() -> usize
    note: Ruby is read for definitions only: its calls and references are not in the graph
    "#);
    assert_snapshot!(search(&lookup, "tool results").text, @r#"
    5 results for "tool results"; 1-5 shown:
    text src/cut.rs  src/cut.rs:1  //! Cutting tool results.
    text crate::run::Plain::report  src/run.rs:12  cap("tool result was truncated here", 10)
    class Tool  lib/tool.rb:1-4  class Tool
    method Tool.cap  lib/tool.rb:2-3  def cap
    constant crate::cut::MAX_CHARS  src/cut.rs:4  pub const MAX_CHARS: usize = 8_000;
        The most characters a result keeps.
    note: Ruby is read for definitions only: its calls and references are not in the graph
    "#);
    assert_eq!(names(&lookup, "Cut::apply"), ["crate::cut::Cut::apply"]);
    assert_eq!(names(&lookup, "cut.apply()"), ["crate::cut::Cut::apply"]);
    assert_eq!(
        names(&lookup, "hint capacity"),
        ["crate::cut::capacity_hint"]
    );
    assert_eq!(names(&lookup, "acity"), ["crate::cut::capacity_hint"]);
    assert_eq!(names(&lookup, "lib/tool.rb"), ["Tool", "Tool.cap"]);
}

#[test]
fn g06_kind_and_path_narrow_and_say_what_they_hide() {
    let lookup = sample().lookup();
    let only = |kind: Option<&str>, path: Option<&str>| {
        let args = SearchSymbols {
            query: "cap".into(),
            kind: kind.map(Into::into),
            path: path.map(Into::into),
            ..SearchSymbols::default()
        };
        lookup.search_symbols(&args).unwrap()
    };
    assert_eq!(only(Some("fn"), None).data.total, 2);
    assert_eq!(only(None, Some("lib")).data.total, 1);
    assert_eq!(only(None, Some("*.rb")).data.total, 1);
    assert_eq!(
        only(None, Some("./src/")).data.total,
        only(None, Some("src")).data.total
    );
    assert_snapshot!(only(Some("enum"), None).text, @r#"
    0 results for "cap"
    note: 3 without kind and path: search_symbols {"query":"cap"}
    "#);
}

#[test]
fn g06_no_result_is_an_answer_with_near_names() {
    let lookup = sample().lookup();
    assert_snapshot!(search(&lookup, "capasity_hint").text, @r#"
    1 result for "capasity_hint"; 1-1 shown:
    function crate::cut::capacity_hint  src/cut.rs:24-26  fn capacity_hint() -> usize
    "#);
    assert_snapshot!(search(&lookup, "zzz qqq").text, @r#"
    0 results for "zzz qqq"
    note: no name, path, comment or string has these words; try fewer or other words
    "#);
}

#[test]
fn g07_an_exact_name_shows_members_and_edges() {
    let lookup = sample().lookup();
    assert_snapshot!(explore(&lookup, "crate::cut::Cut"), @r"
    struct crate::cut::Cut  src/cut.rs:7-17  pub struct Cut
        A text and what was cut from it.
    2 members; 1-2 shown:
    field crate::cut::Cut::kept  src/cut.rs:8  kept: String,
    method crate::cut::Cut::apply  src/cut.rs:13-16  pub fn apply(text: &str) -> Cut
    ");
    assert_snapshot!(explore(&lookup, "apply"), @r"
    method crate::cut::Cut::apply  src/cut.rs:13-16  pub fn apply(text: &str) -> Cut
        Applies the limit.
    1 caller
    1 call site in it: 1 resolved
    3 edges; 1-3 shown:
    <- calls function crate::run::run  src/run.rs:16-21  at src/run.rs:18
    -> calls function crate::cut::cap  src/cut.rs:20-22  at src/cut.rs:14
    -> references constant crate::cut::MAX_CHARS  src/cut.rs:4  at src/cut.rs:14
    ");
}

#[test]
fn g07_an_area_shows_its_nodes_and_the_edges_among_them() {
    let lookup = sample().lookup();
    assert_snapshot!(explore(&lookup, "src"), @r"
    area src: 15 nodes in 3 files; 1-15 shown:
    file src/cut.rs  Rust, 26 lines
    constant crate::cut::MAX_CHARS  src/cut.rs:4  pub const MAX_CHARS: usize = 8_000;
    struct crate::cut::Cut  src/cut.rs:7-17  pub struct Cut
    field crate::cut::Cut::kept  src/cut.rs:8  kept: String,
    method crate::cut::Cut::apply  src/cut.rs:13-16  pub fn apply(text: &str) -> Cut
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
    function crate::cut::capacity_hint  src/cut.rs:24-26  fn capacity_hint() -> usize
    file src/empty.rs  Rust, 0 lines
    file src/run.rs  Rust, 27 lines
    interface crate::run::Report  src/run.rs:4-6  pub trait Report
    method crate::run::Report::report  src/run.rs:5  fn report(&self) -> String;
    struct crate::run::Plain  src/run.rs:8  pub struct Plain;
    method crate::run::Plain::report  src/run.rs:11-13  fn report(&self) -> String
    function crate::run::run  src/run.rs:16-21  pub fn run(report: &dyn Report) -> String
    function crate::run::main_loop  src/run.rs:23-27  pub fn main_loop()
    9 edges; 1-9 shown:
    crate::cut::Cut::apply -calls-> crate::cut::cap  src/cut.rs:14
    crate::run::run -calls-> crate::cut::Cut::apply  src/run.rs:18
    crate::run::run -calls-> crate::cut::cap  src/run.rs:19
    crate::cut::Cut::apply -references-> crate::cut::MAX_CHARS  src/cut.rs:14
    crate::run::Plain::report -calls-> crate::cut::cap  src/run.rs:12
    crate::run::main_loop -calls-> crate::run::run  src/run.rs:24
    crate::cut::capacity_hint -references-> crate::cut::MAX_CHARS  src/cut.rs:25
    crate::run::Plain::report -overrides-> crate::run::Report::report  src/run.rs:11
    crate::run::Plain -implements-> crate::run::Report  src/run.rs:10
    ");
    assert_snapshot!(explore(&lookup, "lib"), @r"
    area lib: 3 nodes in 1 file; 1-3 shown:
    file lib/tool.rb  Ruby, 4 lines
    class Tool  lib/tool.rb:1-4  class Tool
    method Tool.cap  lib/tool.rb:2-3  def cap
    note: Ruby is read for definitions only: its calls and references are not in the graph
    ");
    assert_eq!(
        explore(&lookup, "src/ru"),
        explore(&lookup, "src/run.rs").replacen("area src/run.rs", "area src/ru", 1)
    );
}

#[test]
fn g07_an_arrow_asks_for_the_way() {
    let lookup = sample().lookup();
    assert_snapshot!(explore(&lookup, "main_loop -> crate::cut::cap"), @r"
    1 shortest path of 2 calls from crate::run::main_loop to crate::cut::cap:
    function crate::run::main_loop  src/run.rs:23-27  pub fn main_loop()
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
    path 1:
    crate::run::main_loop -calls-> crate::run::run  src/run.rs:24
    crate::run::run -calls-> crate::cut::cap  src/run.rs:19
    ");
    assert_snapshot!(explore(&lookup, "crate::cut::cap -> main_loop"), @r"
    no call path from crate::cut::cap to crate::run::main_loop, but 1 shortest path of 2 calls the other way:
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
    function crate::run::main_loop  src/run.rs:23-27  pub fn main_loop()
    path 1:
    crate::run::main_loop -calls-> crate::run::run  src/run.rs:24
    crate::run::run -calls-> crate::cut::cap  src/run.rs:19
    note: proven calls from crate::cut::cap reach 0 definitions; 0 call sites there could not be resolved
    ");
    assert_snapshot!(explore(&lookup, "run::run -> Plain"), @r"
    no call path from crate::run::run to crate::run::Plain:
    function crate::run::run  src/run.rs:16-21  pub fn run(report: &dyn Report) -> String
    struct crate::run::Plain  src/run.rs:8  pub struct Plain;
    note: proven calls from crate::run::run reach 4 definitions; 0 call sites there could not be resolved
    ");
}

#[test]
fn g07_a_way_between_one_symbol_and_itself_or_its_owner_is_told_apart() {
    let lookup = sample().lookup();
    assert_snapshot!(explore(&lookup, "crate::cut::cap -> crate::cut::cap"), @r"
    crate::cut::cap is both ends, and no proven call leads from it back to it:
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
    ");
    assert_snapshot!(explore(&lookup, "crate::cut::Cut::apply -> crate::cut::Cut"), @r"
    crate::cut::Cut contains crate::cut::Cut::apply: no call path is needed:
    method crate::cut::Cut::apply  src/cut.rs:13-16  pub fn apply(text: &str) -> Cut
    struct crate::cut::Cut  src/cut.rs:7-17  pub struct Cut
    ");
    let circle = sample().call("crate::cut::cap", "crate::run::main_loop", 21);
    assert_snapshot!(explore(&circle.lookup(), "run::run -> run::run"), @r"
    1 shortest path of 3 calls from crate::run::run to crate::run::run:
    function crate::run::run  src/run.rs:16-21  pub fn run(report: &dyn Report) -> String
    path 1:
    crate::run::run -calls-> crate::cut::cap  src/run.rs:19
    crate::cut::cap -calls-> crate::run::main_loop  src/cut.rs:21
    crate::run::main_loop -calls-> crate::run::run  src/run.rs:24
    ");
    let itself = sample().call("crate::cut::cap", "crate::cut::cap", 21);
    assert_snapshot!(explore(&itself.lookup(), "cut::cap -> cut::cap"), @r"
    1 shortest path of 1 call from crate::cut::cap to crate::cut::cap:
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
    path 1:
    crate::cut::cap -calls-> crate::cut::cap  src/cut.rs:21
    ");
}

#[test]
fn g06_a_limit_out_of_range_is_said_and_clamped() {
    let lookup = sample().lookup();
    let limited = |limit: usize| {
        let args = SearchSymbols {
            query: "cap".into(),
            limit: Some(limit),
            ..SearchSymbols::default()
        };
        lookup.search_symbols(&args).unwrap()
    };
    for (limit, read, shown) in [(0, 1, 1), (51, 50, 3)] {
        let answer = limited(limit);
        let note = format!("note: limit takes 1 to 50, so {limit} is read as {read}\n");
        assert!(answer.text.contains(&note), "{}", answer.text);
        assert_eq!(answer.data.hits.len(), shown);
    }
    for limit in [1, 50] {
        assert!(!limited(limit).text.contains("limit takes"));
    }
}

#[test]
fn g09_an_open_call_is_listed_with_the_number_of_its_candidates() {
    let lookup = sample().lookup();
    let of = |name: &str, direction: Direction| {
        let args = SymbolNeighbors {
            name: name.into(),
            ..SymbolNeighbors::default()
        };
        let edges = lookup.symbol_neighbors(&args).unwrap().data.edges;
        let open = edges.into_iter().filter(move |e| e.ambiguous == Some(2));
        let these = open.filter(move |e| e.direction == direction);
        let graph = lookup.graph();
        let name = |id| graph.node(id).qualified_name.to_string();
        these.map(|e| (name(e.node), e.lines)).collect::<Vec<_>>()
    };
    let caller = [("crate::run::main_loop".to_owned(), vec![26])];
    for candidate in ["crate::run::Plain::report", "crate::run::Report::report"] {
        assert_eq!(of(candidate, Direction::Incoming), caller, "{candidate}");
        assert_eq!(of(candidate, Direction::Outgoing), []);
    }
    let candidates = of("main_loop", Direction::Outgoing);
    assert_eq!(candidates.len(), 2);
    assert_eq!(of("main_loop", Direction::Incoming), []);
}

#[test]
fn g09_a_method_that_does_its_work_where_it_is_declared_needs_no_other() {
    use crate::model::NodeKind::{Function, Interface, Method};
    let path = "src/a.rs";
    let text = "trait Shape {\n    fn area(&self) -> u8 {\n        1\n    }\n    fn side(&self) -> u8;\n}\n\nfn show(s: &dyn Shape) {\n    s.area();\n    s.side();\n}\n";
    let lookup = Sample::default()
        .file(path, super::sample::RUST, text)
        .symbol(Interface, "a::Shape", path, 1..=6)
        .symbol(Method, "a::Shape::area", path, 2..=4)
        .symbol(Method, "a::Shape::side", path, 5..=5)
        .symbol(Function, "a::show", path, 8..=11)
        .site(
            "a::show",
            9,
            "s.area",
            Site::Dynamic("a::Shape::area", vec![]),
        )
        .site(
            "a::show",
            10,
            "s.side",
            Site::Dynamic("a::Shape::side", vec![]),
        )
        .lookup();
    let text = neighbors(&lookup, "a::show");
    assert!(
        text.contains("a.rs:9  [dynamic: no other implementation]"),
        "{text}"
    );
    assert!(
        text.contains("a.rs:10  [dynamic: 0 implementations]"),
        "{text}"
    );
}

#[test]
fn g08_source_is_numbered_and_defaults_to_forty_more_lines() {
    let lookup = sample().lookup();
    let read = |path: &str, start, end| {
        let args = ReadSource {
            path: path.into(),
            start,
            end,
        };
        lookup.read_source(&args).unwrap().text
    };
    assert_snapshot!(read("src/cut.rs", Some(20), Some(22)), @r#"
    src/cut.rs:20-22 of 26 lines (Rust)
    20	pub fn cap(text: &str, limit: usize) -> String {
    21	    text.chars().take(limit).collect()
    22	}
    4 more; next: read_source {"path":"src/cut.rs","start":23}
    "#);
    assert_eq!(
        read("./src/cut.rs:20-22", None, None),
        read("src/cut.rs", Some(20), Some(22))
    );
    assert_eq!(
        read("src/empty.rs", None, None),
        "src/empty.rs is empty (0 lines, Rust)\n"
    );
}

#[test]
fn g09_neighbors_have_places_and_denominators() {
    let lookup = sample().lookup();
    assert_snapshot!(neighbors(&lookup, "crate::cut::cap"), @r"
    function crate::cut::cap  src/cut.rs:20-22  pub fn cap(text: &str, limit: usize) -> String
        Keeps the first characters of a text, never splitting one.
    3 callers (4 sites); 1 more site uses this name on receivers that could not be typed; 1 is external (libc)
    4 edges; 1-4 shown:
    <- calls method crate::cut::Cut::apply  src/cut.rs:13-16  at src/cut.rs:14
    <- calls method crate::run::Plain::report  src/run.rs:11-13  at src/run.rs:12
    <- calls function crate::run::run  src/run.rs:16-21  at src/run.rs:19 (also 20)
    <- contains file src/cut.rs
    ");
    assert_snapshot!(neighbors(&lookup, "crate::run::run"), @r"
    function crate::run::run  src/run.rs:16-21  pub fn run(report: &dyn Report) -> String
    1 caller
    4 call sites in it: 3 resolved, 1 dynamic
    5 edges; 1-5 shown:
    <- calls function crate::run::main_loop  src/run.rs:23-27  at src/run.rs:24
    -> calls method crate::cut::Cut::apply  src/cut.rs:13-16  at src/run.rs:18
    -> calls function crate::cut::cap  src/cut.rs:20-22  at src/run.rs:19 (also 20)
    -> calls method crate::run::Report::report  src/run.rs:5  at src/run.rs:18  [dynamic: 1 implementation]
    <- contains file src/run.rs
    ");
    assert_snapshot!(neighbors(&lookup, "crate::run::Plain::report"), @r"
    method crate::run::Plain::report  src/run.rs:11-13  fn report(&self) -> String
    0 callers; 1 site may reach it by dynamic dispatch; 1 site may mean it or another definition
    1 call site in it: 1 resolved
    5 edges; 1-5 shown:
    <- calls function crate::run::run  src/run.rs:16-21  at src/run.rs:18  [dynamic via crate::run::Report::report]
    <- calls function crate::run::main_loop  src/run.rs:23-27  at src/run.rs:26  [ambiguous: one of 2]
    -> calls function crate::cut::cap  src/cut.rs:20-22  at src/run.rs:12
    -> overrides method crate::run::Report::report  src/run.rs:5  at src/run.rs:11
    <- contains file src/run.rs
    ");
    assert_snapshot!(neighbors(&lookup, "Report::report"), @r"
    method crate::run::Report::report  src/run.rs:5  fn report(&self) -> String;
    0 callers; 1 site may reach it by dynamic dispatch; 1 site may mean it or another definition
    4 edges; 1-4 shown:
    <- calls function crate::run::run  src/run.rs:16-21  at src/run.rs:18  [dynamic: 1 implementation]
    <- calls function crate::run::main_loop  src/run.rs:23-27  at src/run.rs:26  [ambiguous: one of 2]
    <- overrides method crate::run::Plain::report  src/run.rs:11-13  at src/run.rs:11
    <- contains interface crate::run::Report  src/run.rs:4-6
    ");
    assert_snapshot!(neighbors(&lookup, "main_loop"), @r#"
    function crate::run::main_loop  src/run.rs:23-27  pub fn main_loop()
    0 callers
    5 call sites in it: 2 resolved, 1 ambiguous, 1 external, 1 unresolved
    4 edges; 1-4 shown:
    -> calls function crate::run::run  src/run.rs:16-21  at src/run.rs:24
    -> calls method crate::run::Report::report  src/run.rs:5  at src/run.rs:26  [ambiguous: one of 2]
    -> calls method crate::run::Plain::report  src/run.rs:11-13  at src/run.rs:26  [ambiguous: one of 2]
    <- contains file src/run.rs
    note: 1 guessed edge hidden: symbol_neighbors {"name":"main_loop","kinds":["guess"]}
    "#);
    assert_snapshot!(neighbors(&lookup, "Tool.cap"), @r#"
    method Tool.cap  lib/tool.rb:2-3  def cap
    its callers are not known: calls in Ruby are not read
    1 edge; 1-1 shown:
    <- contains class Tool  lib/tool.rb:1-4
    note: 1 guessed edge hidden: symbol_neighbors {"name":"Tool.cap","kinds":["guess"]}
    note: Ruby is read for definitions only: its calls and references are not in the graph
    "#);
}

#[test]
fn g09_guesses_and_directions_are_shown_when_asked_for() {
    let lookup = sample().lookup();
    let ask = |direction: Option<&str>, kinds: &[&str]| {
        let args = SymbolNeighbors {
            name: "main_loop".into(),
            direction: direction.map(Into::into),
            kinds: Some(kinds.iter().map(|k| k.to_string()).collect()),
            offset: None,
        };
        lookup.symbol_neighbors(&args).unwrap()
    };
    assert_snapshot!(ask(Some("outgoing"), &["calls", "guess"]).text, @r"
    function crate::run::main_loop  src/run.rs:23-27  pub fn main_loop()
    5 call sites in it: 2 resolved, 1 ambiguous, 1 external, 1 unresolved
    4 edges; 1-4 shown:
    -> calls method Tool.cap  lib/tool.rb:2-3  at src/run.rs:25  [guess]
    -> calls function crate::run::run  src/run.rs:16-21  at src/run.rs:24
    -> calls method crate::run::Report::report  src/run.rs:5  at src/run.rs:26  [ambiguous: one of 2]
    -> calls method crate::run::Plain::report  src/run.rs:11-13  at src/run.rs:26  [ambiguous: one of 2]
    ");
    assert_eq!(ask(None, &["call"]).data.total, 3);
    assert_eq!(ask(Some("callers"), &["calls"]).data.total, 0);
    assert_eq!(ask(None, &["imports"]).data.guesses_hidden, 0);
}

#[test]
fn g10_files_have_language_and_size() {
    let lookup = sample().lookup();
    let list = |path: Option<&str>, glob: Option<&str>| {
        let args = ListFiles {
            path: path.map(Into::into),
            glob: glob.map(Into::into),
            offset: None,
        };
        lookup.list_files(&args).unwrap().text
    };
    assert_snapshot!(list(None, None), @r"
    5 files:
    README.md  unknown  29 bytes
    lib/tool.rb  Ruby  31 bytes
    src/cut.rs  Rust  546 bytes
    src/empty.rs  Rust  0 bytes
    src/run.rs  Rust  471 bytes
    ");
    assert_snapshot!(list(Some("src"), Some("*u*.rs")), @r"
    2 files under src:
    src/cut.rs  Rust  546 bytes
    src/run.rs  Rust  471 bytes
    ");
    assert_snapshot!(list(None, Some("**/*.py")), @r"
    0 files
    note: no file matches; a glob without `/` matches file names, one with `/` matches paths
    ");
    assert_eq!(
        list(Some("src"), Some("src/c*.rs")),
        list(Some("src"), Some("c*.rs"))
    );
}

#[test]
fn facts_agree_with_the_listings() {
    let lookup = sample().lookup();
    let cap = lookup.graph().by_qualified_name("crate::cut::cap").unwrap();
    let callers = lookup.callers(cap);
    assert_eq!(callers.len(), 3);
    assert_eq!(callers[2].lines, [19, 20]);
    assert_eq!(lookup.callees(cap), []);
    assert_eq!(lookup.degree(cap), 3);
    assert_eq!(lookup.body(cap).len(), 3);
    let all = (0..lookup.graph().nodes().len() as u32).map(|i| lookup.centrality(crate::NodeId(i)));
    let (best, sum) = all.fold((0.0, 0.0), |(m, s), r: f64| (r.max(m), s + r));
    assert_eq!(lookup.centrality(cap), best);
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn a_call_reads_back_as_it_was_written() {
    let call = LookupCall::SearchSymbols(SearchSymbols {
        query: "a \"b\"".into(),
        offset: Some(20),
        ..SearchSymbols::default()
    });
    assert_eq!(
        call.to_string(),
        r#"search_symbols {"query":"a \"b\"","offset":20}"#
    );
    let json = serde_json::to_string(&call).unwrap();
    assert_eq!(serde_json::from_str::<LookupCall>(&json).unwrap(), call);
    assert_eq!(
        serde_json::from_str::<ListFiles>("{}").unwrap(),
        ListFiles::default()
    );
}
