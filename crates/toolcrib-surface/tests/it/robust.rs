//! Whatever is typed, an answer comes, the same one twice.

use super::index;
use proptest::prelude::*;
use std::sync::OnceLock;
use toolcrib_surface::{Search, ToolDoc, ToolIndex};

fn shared() -> &'static ToolIndex {
    static INDEX: OnceLock<ToolIndex> = OnceLock::new();
    INDEX.get_or_init(index)
}

fn check(query: &str) {
    let index = shared();
    let ranking = index.rank(query, 10);
    let found = index.search(query, &Search::default());
    assert_eq!(ranking, index.rank(query, 10));
    assert_eq!(found, index.search(query, &Search::default()));
    let mut docs: Vec<_> = ranking.hits.iter().map(|hit| hit.doc).collect();
    assert!(ranking.hits.iter().all(|hit| hit.score.is_finite()));
    assert!(docs.len() <= 10);
    docs.sort_unstable();
    docs.dedup();
    assert_eq!(docs.len(), ranking.hits.len());
}

#[test]
fn odd_queries_are_answered() {
    let hundred_kb = "create an issue, ".repeat(6000);
    let one_word = "é".repeat(50_000);
    let names = "web_fetch,".repeat(10_000);
    for query in [
        &*hundred_kb,
        &one_word,
        &names,
        &format!("select:{names}"),
        ".*(a+)+$[^]{9999}\\",
        "\u{0}\u{1b}[31m\u{202e}issue\u{feff}",
        "+",
        "+ +",
        "source:",
        "select:select:",
        "mcp__",
        "__",
        "a__",
        "'",
        "'s",
        "\u{2019}",
        "+create_issue",
        "👩‍👩‍👧 issue",
        "İstanbul ﬁnd ß",
    ] {
        check(query);
    }
}

/// More by `TOOLCRIB_FUZZ_CASES`, for long runs by hand.
fn cases() -> u32 {
    let asked = std::env::var("TOOLCRIB_FUZZ_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(192)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_text_is_answered(query in "\\PC{0,120}") {
        check(&query);
    }

    #[test]
    fn any_mixture_of_operators_is_answered(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "select:", "source:", "+", "issue", "web_fetch", ",", " ", "\n", "mcp__", "github",
                "__", "-", "create", "天", "'", "and", "?",
            ]),
            0..24,
        )
    ) {
        check(&parts.concat());
    }

    #[test]
    fn every_tool_is_found_by_its_name(
        names in prop::collection::hash_set("[a-zA-Z0-9_-]{1,20}", 1..12),
        source in "[a-z]{0,6}",
    ) {
        let docs: Vec<ToolDoc> = names
            .iter()
            .map(|name| ToolDoc::new(format!("{source}__{name}"), "x").source(&*source))
            .collect();
        let index = ToolIndex::build(&docs);
        for doc in &docs {
            let squashed: String = doc.name.chars().filter(|c| c.is_alphanumeric()).collect();
            if squashed.is_empty() {
                continue;
            }
            let hits = index.rank(&doc.name, 1).hits;
            prop_assert_eq!(&index.docs()[hits[0].doc].name, &doc.name);
            let select = index.search(&format!("select:{}", doc.name), &Search::default());
            prop_assert_eq!(&index.docs()[select.hits[0].doc].name, &doc.name);
        }
    }
}
