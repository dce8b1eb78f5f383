//! Languages that are read for their definitions only.

use std::fmt::Write;

use toolcrib_graph::{
    CodeGraph, ExploreArea, Lookup, NodeKind, SearchSymbols, SiteState, SymbolNeighbors,
    SymbolTier, TextKind,
};

use crate::support::{fixture, load, nodes, tree};

/// The sample programs, by their directory.
pub(crate) const SAMPLES: [&str; 8] = [
    "sample_csharp",
    "sample_kotlin",
    "sample_lua",
    "sample_php",
    "sample_ruby",
    "sample_scala",
    "sample_shell",
    "sample_swift",
];

/// Nodes with what is said of them, then the texts.
fn read(graph: &CodeGraph) -> String {
    let mut out = nodes(graph);
    out.push('\n');
    for node in graph.nodes() {
        if let Some(signature) = &node.signature {
            writeln!(out, "{} = {signature}", node.qualified_name).unwrap();
        }
        if let Some(doc) = &node.doc {
            writeln!(out, "    {}", doc.replace('\n', "\n    ")).unwrap();
        }
    }
    out.push('\n');
    for text in graph.texts() {
        let file = graph.file(text.file);
        let words = &file.text[text.span.start_byte as usize..text.span.end_byte as usize];
        let kind = match text.kind {
            TextKind::Doc => "doc",
            TextKind::Comment => "comment",
            TextKind::StringLiteral => "string",
        };
        writeln!(
            out,
            "{}:{}-{} {kind} of {}: {:?}",
            file.path,
            text.span.start_line,
            text.span.end_line,
            graph.node(text.node).qualified_name,
            words
        )
        .unwrap();
    }
    out
}

#[test]
fn a_script_known_by_its_first_line_is_read_as_its_language() {
    let dir = tree(&[
        (
            "bin/serve",
            "#!/usr/bin/env python3\ndef serve(): stop()\ndef stop(): pass\n",
        ),
        ("bin/deploy", "#!/bin/bash -e\nrelease() { :; }\n"),
        (
            "bin/build",
            "#!/usr/bin/env node\nfunction build() { return clean(); }\nfunction clean() {}\n",
        ),
        (
            "bin/check",
            "#!/usr/bin/env -S deno run\nfunction check(of: string): void {}\n",
        ),
        ("bin/rake", "#!/usr/bin/env ruby\ndef rake; end\n"),
        ("bin/play", "#!/usr/bin/lua\nfunction play() end\n"),
        ("bin/page", "#!/usr/bin/env php\n<?php function page() {}\n"),
        ("bin/old", "#!/usr/bin/perl\nsub old {}\n"),
        ("LICENSE", "def no(): pass\n"),
    ]);
    let snapshot = load(dir.path());
    assert_eq!(snapshot.report.problems, []);
    let graph = &snapshot.graph;
    let languages: Vec<&str> = graph
        .files()
        .iter()
        .map(|f| f.language.map_or("", |l| l.name))
        .collect();
    assert_eq!(
        languages,
        [
            "",
            "JavaScript",
            "TypeScript",
            "Shell",
            "Perl",
            "PHP",
            "Lua",
            "Ruby",
            "Python"
        ]
    );
    for name in [
        "serve", "stop", "release", "build", "clean", "check", "rake", "play", "page",
    ] {
        assert!(
            graph
                .nodes()
                .iter()
                .any(|n| &*n.name == name && n.kind == NodeKind::Function),
            "{name}\n{}",
            nodes(graph)
        );
    }
    for callee in ["stop", "clean"] {
        let site = graph.sites().iter().find(|s| &*s.callee == callee).unwrap();
        assert!(matches!(site.state, SiteState::Resolved { .. }), "{callee}");
    }
}

macro_rules! golden {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            insta::assert_snapshot!(read(&load(fixture(stringify!($name))).graph));
        }
    )*};
}

golden!(
    sample_csharp,
    sample_kotlin,
    sample_lua,
    sample_php,
    sample_ruby,
    sample_scala,
    sample_shell,
    sample_swift,
);

/// What a person or model is told about each: found by words, shown with its
/// members, and never said to have no callers.
fn told(sample: &str, word: &str, name: &str) -> String {
    let lookup = Lookup::new(load(fixture(sample)).graph.into());
    let search = |query: &str| {
        let query = query.to_owned();
        let args = SearchSymbols {
            query,
            limit: Some(5),
            ..SearchSymbols::default()
        };
        lookup.search_symbols(&args).unwrap().text
    };
    let name = name.to_owned();
    let explored = lookup.explore_area(&ExploreArea {
        query: name.clone(),
        ..ExploreArea::default()
    });
    let neighbors = lookup.symbol_neighbors(&SymbolNeighbors {
        name,
        ..SymbolNeighbors::default()
    });
    [
        search(word),
        search("keep order full inside"),
        explored.unwrap().text,
        neighbors.unwrap().text,
    ]
    .join("\n")
}

#[test]
fn lookups_say_that_calls_are_not_read() {
    let mut all = String::new();
    for (sample, word, name) in [
        ("sample_csharp", "Add", "Shop.Orders.Cart.Audit"),
        ("sample_kotlin", "total", "shop.orders.Cart.add"),
        ("sample_lua", "deposit", "Account:deposit"),
        ("sample_php", "limit", "Shop\\Orders\\Cart::add"),
        ("sample_ruby", "summary", "Store::Cart#add"),
        ("sample_scala", "State", "shop.orders.Cart.add"),
        ("sample_shell", "main", "bin/deploy.deploy"),
        ("sample_swift", "report", "Bed.report"),
    ] {
        let text = told(sample, word, name);
        assert!(
            text.contains("its callers are not known"),
            "{sample}: {text}"
        );
        assert!(!text.contains("0 callers"), "{sample}: {text}");
        writeln!(all, "== {sample}\n{text}").unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn every_definition_is_marked_found_and_inside_what_contains_it() {
    for sample in SAMPLES {
        let graph = load(fixture(sample)).graph;
        crate::states::check_invariants(&graph);
        assert!(graph.sites().is_empty(), "{sample}");
        for node in graph.nodes() {
            let tier = graph.file(node.file).language.unwrap().tier;
            assert_eq!(tier, SymbolTier::Definitions, "{sample}");
            let id = graph.by_qualified_name(&node.qualified_name).unwrap();
            assert_eq!(graph.node(id).symbol, node.symbol);
        }
        let lookup = Lookup::new(graph.into());
        for node in lookup.graph().nodes().iter().filter(|n| n.parent.is_some()) {
            let args = SymbolNeighbors {
                name: node.qualified_name.to_string(),
                ..SymbolNeighbors::default()
            };
            let found = lookup.symbol_neighbors(&args).unwrap().data.node;
            assert_eq!(
                lookup.graph().node(found).qualified_name,
                node.qualified_name,
                "{sample}"
            );
        }
    }
}
