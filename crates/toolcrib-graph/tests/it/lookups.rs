//! What the five lookups say about the sample projects, read by the real
//! provider.

use std::sync::Arc;

use toolcrib_graph::{
    ExploreArea, ListFiles, Lookup, LookupCall, MAX_CHARS, NodeKind, ReadSource, SearchSymbols,
    SymbolNeighbors,
};

use crate::support::{fixture, load};

fn sample(name: &str) -> Lookup {
    Lookup::new(Arc::new(load(fixture(name)).graph))
}

/// Calls and their answers, errors included, one after the other.
fn transcript(lookup: &Lookup, calls: &[LookupCall]) -> String {
    let mut text = String::new();
    for call in calls {
        let answer = match lookup.run(call) {
            Ok(answer) => answer,
            Err(error) => format!("error: {error}\n"),
        };
        assert!(answer.chars().count() <= MAX_CHARS);
        text.push_str(&format!("> {call}\n{answer}\n"));
    }
    text
}

fn search(query: &str) -> LookupCall {
    LookupCall::SearchSymbols(SearchSymbols {
        query: query.into(),
        ..SearchSymbols::default()
    })
}

fn search_kind(query: &str, kind: &str, path: &str) -> LookupCall {
    LookupCall::SearchSymbols(SearchSymbols {
        query: query.into(),
        kind: Some(kind.into()),
        path: Some(path.into()),
        ..SearchSymbols::default()
    })
}

fn explore(query: &str) -> LookupCall {
    LookupCall::ExploreArea(ExploreArea {
        query: query.into(),
        offset: None,
    })
}

fn read(path: &str, start: u32, end: Option<u32>) -> LookupCall {
    LookupCall::ReadSource(ReadSource {
        path: path.into(),
        start: Some(start),
        end,
    })
}

fn neighbors(name: &str) -> LookupCall {
    LookupCall::SymbolNeighbors(SymbolNeighbors {
        name: name.into(),
        ..SymbolNeighbors::default()
    })
}

fn files(path: Option<&str>, glob: Option<&str>) -> LookupCall {
    LookupCall::ListFiles(ListFiles {
        path: path.map(Into::into),
        glob: glob.map(Into::into),
        offset: None,
    })
}

#[test]
fn g06_search_on_rust() {
    let lookup = sample("sample_rust");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            search("take"),
            search("Store::take"),
            search("parse weight"),
            search("empty shelf"),
            search("days an item keeps"),
            search("src/report"),
            search("shelff"),
            search_kind("new", "method", "src"),
            search_kind("new", "macro", "src"),
        ]
    ));
}

#[test]
fn g06_search_on_python() {
    let lookup = sample("sample_python");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            search("add"),
            search("Account.add"),
            search("open store"),
            search("yearly interest"),
            search("cents"),
            search("formats/text.py"),
            search("acount"),
            search_kind("render", "method", "src/ledger/formats"),
        ]
    ));
}

#[test]
fn g07_explore_on_rust() {
    let lookup = sample("sample_rust");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            explore("src/stock.rs"),
            explore("src/report"),
            explore("pantry::stock::Store"),
            explore("pantry::stock"),
            explore("main -> parse_weight"),
            explore("carry -> Shelf"),
            explore("src/nope"),
        ]
    ));
}

#[test]
fn g07_explore_on_python() {
    let lookup = sample("sample_python");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            explore("src/ledger/formats"),
            explore("ledger.accounts.Account"),
            explore("summary -> TextFormat"),
            explore("tests"),
        ]
    ));
}

#[test]
fn g08_source_of_both() {
    insta::assert_snapshot!(
        "source_on_rust",
        transcript(
            &sample("sample_rust"),
            &[
                read("src/stock.rs", 10, Some(14)),
                read("src/stock.rs", 110, None),
                read("src/stock.rs", 500, None),
                read("src", 1, None),
                read("stock.rs", 1, None),
            ]
        )
    );
    insta::assert_snapshot!(
        "source_on_python",
        transcript(
            &sample("sample_python"),
            &[
                read("src/ledger/store.py", 81, None),
                read("../store.py", 1, None),
            ]
        )
    );
}

#[test]
fn g09_neighbors_on_rust() {
    let lookup = sample("sample_rust");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            neighbors("Shelf::total"),
            neighbors("Store::take"),
            neighbors("pantry::stock::carry"),
            neighbors("parse_weight"),
            neighbors("Shelf"),
            neighbors("take"),
            neighbors("takes"),
        ]
    ));
}

#[test]
fn g09_neighbors_on_python() {
    let lookup = sample("sample_python");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            neighbors("Store.get"),
            neighbors("Account.add"),
            neighbors("ledger.store.Store"),
            neighbors("Format.render"),
            neighbors("summary"),
        ]
    ));
}

#[test]
fn lookups_on_go() {
    let lookup = sample("sample_go");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            search("Push"),
            search("Queue.Push"),
            search("queue is full"),
            search_kind("/", "route", "api"),
            explore("queue/null.go"),
            explore("example.com/relay/queue.Queue"),
            explore("main -> Priority.String"),
            neighbors("Sink.Push"),
            neighbors("Queue.Len"),
            neighbors("GET /v1/sizes/:topic"),
            neighbors("Cache.Write"),
            read("queue/queue.go", 36, Some(38)),
            files(Some("queue"), None),
        ]
    ));
}

#[test]
fn lookups_on_c() {
    let lookup = sample("sample_c");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            search("tally_add"),
            search("larger of two"),
            search_kind("tally", "function", "include"),
            explore("include/tally.h"),
            explore("tally_sink"),
            explore("main -> words_trace"),
            neighbors("tally_add"),
            neighbors("tally_sink.write"),
            neighbors("words_hash"),
            neighbors("find"),
            read("src/tally.c", 44, Some(54)),
            files(Some("src"), None),
        ]
    ));
}

#[test]
fn lookups_on_cpp() {
    let lookup = sample("sample_cpp");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            search("Stone"),
            search("Mill::add"),
            search("turns grain"),
            search_kind("Mill", "method", "include"),
            explore("include/mill/mill.h"),
            explore("mill::Stone"),
            explore("mill"),
            explore("grind_all -> Stone::Groove::deepen"),
            neighbors("mill::Stone::grind"),
            neighbors("mill::Ridged::turn"),
            neighbors("mill::Grain"),
            neighbors("Mill::run"),
        ]
    ));
}

#[test]
fn lookups_on_java() {
    let lookup = sample("sample_java");
    insta::assert_snapshot!(transcript(
        &lookup,
        &[
            search("title"),
            search("Desk.lend"),
            search("how long kept"),
            search_kind("lends", "test", "src/test"),
            explore("src/main/java/org/library/lending/Shelf.java"),
            explore("org.library.lending.Desk"),
            explore("lendsOnce -> mayLend"),
            neighbors("Item.title"),
            neighbors("Base.weight"),
            neighbors("Desk.count~2"),
            neighbors("Shelf.add"),
            files(Some("src/test"), None),
        ]
    ));
}

#[test]
fn g10_files_of_both() {
    let calls = [
        files(None, None),
        files(Some("src"), Some("**/*.toml")),
        files(Some("tests"), None),
        files(Some("nowhere"), None),
    ];
    insta::assert_snapshot!("files_of_rust", transcript(&sample("sample_rust"), &calls));
    insta::assert_snapshot!(
        "files_of_python",
        transcript(&sample("sample_python"), &calls)
    );
}

#[test]
fn g09_every_symbol_is_found_by_its_names() {
    for name in [
        "sample_rust",
        "sample_python",
        "sample_ts",
        "sample_go",
        "sample_java",
    ] {
        let lookup = sample(name);
        for node in lookup.graph().nodes() {
            if node.kind == NodeKind::Import {
                continue;
            }
            for name in [&node.qualified_name, &node.symbol] {
                let text = lookup.run(&neighbors(name)).unwrap();
                let first = format!("{} {}  ", node.kind, node.qualified_name);
                assert!(text.starts_with(&first), "{name}\n{text}");
            }
            if node.kind != NodeKind::File {
                let text = lookup.run(&search(&node.qualified_name)).unwrap();
                let first = text.lines().nth(1).unwrap();
                assert!(first.contains(&*node.qualified_name), "{text}");
            }
        }
    }
}

#[test]
fn g15_every_place_in_an_answer_is_one_that_exists() {
    for name in [
        "sample_rust",
        "sample_python",
        "sample_ts",
        "sample_go",
        "sample_java",
    ] {
        let lookup = sample(name);
        let mut places = 0;
        for node in lookup.graph().nodes() {
            for call in [
                neighbors(&node.qualified_name),
                explore(&node.qualified_name),
            ] {
                let Ok(text) = lookup.run(&call) else {
                    continue;
                };
                let check = lookup.check_answer(&text);
                assert!(
                    check.citations.iter().all(|c| c.citation.is_some()),
                    "{text}"
                );
                places += check.citations.len();
            }
        }
        assert!(places > 100, "{places}");
    }
}

#[test]
fn g06_to_g10_on_typescript() {
    let lookup = sample("sample_ts");
    insta::assert_snapshot!(
        "search_on_typescript",
        transcript(
            &lookup,
            &[
                search("price"),
                search("Basket.use"),
                search("what is to be paid"),
                search("src/catalog"),
                search("halfprice"),
                search_kind("basket", "test", "tests"),
                search_kind("get", "route", "src"),
            ]
        )
    );
    insta::assert_snapshot!(
        "explore_on_typescript",
        transcript(
            &lookup,
            &[
                explore("src/catalog/shelf.ts"),
                explore("src/pricing.rates"),
                explore("legacy"),
                explore("src/basket.dueLater -> Item.price"),
            ]
        )
    );
    insta::assert_snapshot!(
        "neighbors_on_typescript",
        transcript(
            &lookup,
            &[
                neighbors("Shelf.put"),
                neighbors("Priced.price"),
                neighbors("Item.take"),
                neighbors("src/server.GET /basket"),
                neighbors("Price"),
            ]
        )
    );
    insta::assert_snapshot!(
        "files_of_typescript",
        transcript(
            &lookup,
            &[files(None, None), read("src/broken.ts", 7, Some(9))]
        )
    );
}
