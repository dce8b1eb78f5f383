//! Ranking by meaning, with a table of a dozen words.

use std::sync::OnceLock;

use super::{names, tool};
use toolcrib_surface::{Search, ToolIndex, Weights};
use toolcrib_vectors::{DIMS, Table};

/// A table in which the words of one group mean the same.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(made)
}

fn made() -> Table {
    let groups = [
        &["shut", "close", "end"][..],
        &["stale", "old", "state"],
        &["pr", "pull", "request"],
        &["rain", "weather", "forecast"],
        &["pizza", "dough"],
        &["list", "show"],
        &["issue", "ticket"],
    ];
    let mut list = String::new();
    let mut rows = Vec::new();
    for (group, words) in groups.iter().enumerate() {
        for word in *words {
            list.push_str(word);
            list.push('\n');
            rows.extend((0..DIMS).map(|at| if at == group { 127u8 } else { 0 }));
        }
    }
    let count = list.lines().count();
    let mut bytes = b"TCVEC1\0\0".to_vec();
    for number in [DIMS, count, list.len(), 0] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend((0..count).flat_map(|_| 500u16.to_le_bytes()));
    bytes.extend(list.bytes());
    bytes.extend(rows);
    Table::from_bytes(bytes).unwrap()
}

fn index() -> ToolIndex {
    let docs = [
        tool(
            "github",
            "update_pull_request",
            "Change the state of a pull request.",
        ),
        tool("github", "list_issues", "List the issue after issue."),
        tool("sky", "forecast", "Weather for a town."),
        tool("sky", "moon", "Phase tonight."),
    ];
    ToolIndex::build_with(&docs, Weights::default(), Some(table()))
}

#[test]
fn meaning_finds_what_words_do_not() {
    let index = index();
    let words = ToolIndex::build_with(index.docs(), Weights::default(), None);
    let query = "shut the stale pr";
    assert_eq!(words.rank(query, 1).hits, []);
    assert_eq!(
        names(&index, &index.rank(query, 1)),
        ["github__update_pull_request"]
    );
    assert_eq!(names(&index, &index.rank("rain", 1)), ["sky__forecast"]);
}

#[test]
fn names_stay_certain() {
    let index = index();
    assert_eq!(names(&index, &index.rank("moon", 1)), ["sky__moon"]);
}

#[test]
fn each_need_of_a_long_query_is_met() {
    let index = index();
    let query = "I am planning the week, so show me every ticket there is in the old project. \
                 Then tell me about rain in the town where the office of the company is. \
                 Finally shut the stale pr that nobody wants to look at.";
    let mut found = names(&index, &index.rank(query, 3));
    found.sort();
    assert_eq!(
        found,
        [
            "github__list_issues",
            "github__update_pull_request",
            "sky__forecast"
        ]
    );
}

#[test]
fn nothing_fits_what_no_tool_means() {
    let index = index();
    let found = index.search("knead the pizza dough", &Search::default());
    assert!(
        found.nothing_fits,
        "{:?}",
        index.rank("knead the pizza dough", 5).evidence
    );
    assert_eq!(found.hits, []);
    assert!(
        !index
            .search("weather forecast for a town", &Search::default())
            .nothing_fits
    );
}
