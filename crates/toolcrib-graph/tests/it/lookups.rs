//! What the five lookups say about the sample projects, read by the real
//! provider.

use std::sync::Arc;

use toolcrib_graph::{
    ExploreArea, ListFiles, Lookup, LookupCall, MAX_CHARS, NodeKind, ReadSource, SearchSymbols,
    SymbolNeighbors,
};

use crate::support::{fixture, load, tree};

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

fn search_in(kind: &str, path: &str, query: &str) -> LookupCall {
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

fn neighbors(name: &str) -> LookupCall {
    LookupCall::SymbolNeighbors(SymbolNeighbors {
        name: name.into(),
        ..SymbolNeighbors::default()
    })
}

/// A lookup a line: `search`, `search_in KIND PATH`, `explore`, `neighbors`,
/// `read PATH START [END]`, `files [PATH [GLOB]]` with `.` for the root.
const SCRIPTS: &[(&str, &str)] = &[
    (
        "rust",
        "\
search take
search Store::take
search parse weight
search empty shelf
search days an item keeps
search src/report
search shelff
search_in method src new
search_in macro src new
explore src/stock.rs
explore src/report
explore pantry::stock::Store
explore pantry::stock
explore main -> parse_weight
explore carry -> Shelf
explore src/nope
read src/stock.rs 10 14
read src/stock.rs 110
read src/stock.rs 500
read src 1
read stock.rs 1
neighbors Shelf::total
neighbors Store::take
neighbors pantry::stock::carry
neighbors parse_weight
neighbors Shelf
neighbors take
neighbors takes
files
files src **/*.toml
files tests
files nowhere
",
    ),
    (
        "python",
        "\
search add
search Account.add
search open store
search yearly interest
search cents
search formats/text.py
search acount
search_in method src/ledger/formats render
explore src/ledger/formats
explore ledger.accounts.Account
explore summary -> TextFormat
explore tests
read src/ledger/store.py 81
read ../store.py 1
neighbors Store.get
neighbors Account.add
neighbors ledger.store.Store
neighbors Format.render
neighbors summary
files
files src **/*.toml
files tests
files nowhere
",
    ),
    (
        "ts",
        "\
search price
search Basket.use
search what is to be paid
search src/catalog
search halfprice
search_in test tests basket
search_in route src get
explore src/catalog/shelf.ts
explore src/pricing.rates
explore legacy
explore src/basket.dueLater -> Item.price
neighbors Shelf.put
neighbors Priced.price
neighbors Item.take
neighbors src/server.GET /basket
neighbors Price
files
read src/broken.ts 7 9
",
    ),
    (
        "go",
        "\
search Push
search Queue.Push
search queue is full
search_in route api /
explore queue/null.go
explore example.com/relay/queue.Queue
explore main -> Priority.String
neighbors Sink.Push
neighbors Queue.Len
neighbors GET /v1/sizes/:topic
neighbors Cache.Write
read queue/queue.go 36 38
files queue
",
    ),
    (
        "c",
        "\
search tally_add
search larger of two
search_in function include tally
explore include/tally.h
explore tally_sink
explore main -> words_trace
neighbors tally_add
neighbors tally_sink.write
neighbors words_hash
neighbors find
read src/tally.c 44 54
files src
",
    ),
    (
        "cpp",
        "\
search Stone
search Mill::add
search turns grain
search_in method include Mill
explore include/mill/mill.h
explore mill::Stone
explore mill
explore grind_all -> Stone::Groove::deepen
neighbors mill::Stone::grind
neighbors mill::Ridged::turn
neighbors mill::Grain
neighbors Mill::run
",
    ),
    (
        "java",
        "\
search title
search Desk.lend
search how long kept
search_in test src/test lends
explore src/main/java/org/library/lending/Shelf.java
explore org.library.lending.Desk
explore lendsOnce -> mayLend
neighbors Item.title
neighbors Base.weight
neighbors Desk.count~2
neighbors Shelf.add
files src/test
",
    ),
];

fn call(line: &str) -> LookupCall {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
    let number = |at: usize| words.get(at).map(|word| word.parse().unwrap());
    match verb {
        "search" => search(rest),
        "search_in" => search_in(words[0], words[1], &words[2..].join(" ")),
        "explore" => explore(rest),
        "neighbors" => neighbors(rest),
        "read" => LookupCall::ReadSource(ReadSource {
            path: words[0].into(),
            start: number(1),
            end: number(2),
        }),
        "files" => LookupCall::ListFiles(ListFiles {
            path: words.first().map(|path| (*path).into()),
            glob: words.get(1).map(|glob| (*glob).into()),
            offset: None,
        }),
        other => panic!("no lookup {other}"),
    }
}

#[test]
fn g06_to_g10_every_lookup_on_every_language() {
    for (language, script) in SCRIPTS {
        let lookup = sample(&format!("sample_{language}"));
        let calls: Vec<LookupCall> = script.lines().map(call).collect();
        insta::assert_snapshot!(format!("on_{language}"), transcript(&lookup, &calls));
    }
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
fn what_a_build_wrote_comes_after_its_sources() {
    let retry = "export function retry() {}\n";
    let dir = tree(&[
        ("app/dist/cjs/retry.js", retry),
        ("app/src/retry.ts", retry),
        ("build/retry.ts", retry),
    ]);
    let lookup = Lookup::new(Arc::new(load(dir.path()).graph));
    let LookupCall::SearchSymbols(args) = search("retry") else {
        unreachable!()
    };
    let hits = lookup.search_symbols(&args).unwrap().data.hits;
    let graph = lookup.graph();
    let paths: Vec<&str> = hits
        .iter()
        .map(|hit| &*graph.file(graph.node(hit.node).file).path)
        .collect();
    // A `build` that has no sources beside it holds sources.
    let expected = [
        "app/src/retry.ts",
        "build/retry.ts",
        "app/dist/cjs/retry.js",
    ];
    assert_eq!(paths, expected);
}
