//! Answers: cut, refused, interleaved, within a budget.

use super::{corpus, index, shown, tool};
use toolcrib_surface::{Search, ToolDoc, ToolIndex};

#[test]
fn s39_no_match_names_the_nearest_and_counts_the_rest() {
    let docs: Vec<ToolDoc> = (0..500)
        .map(|n| {
            tool(
                &format!("source{}", n % 7),
                &format!("tool_{n}"),
                "Does one thing.",
            )
        })
        .collect();
    let index = ToolIndex::build(&docs);
    let found = index.search("zzz qqq", &Search::default());
    assert!(found.nothing_fits);
    assert_eq!(found.hits, []);
    assert!(found.nearest.len() <= 5 && found.nearest_sources.len() <= 3);
    assert_eq!(found.left_out + found.nearest.len(), 500);
}

#[test]
fn s40_a_budget_drops_whole_entries() {
    let index = index();
    let cost = |doc: usize| if doc == 0 { 90 } else { 30 };
    let how = Search {
        cost: &cost,
        budget: 100,
        ..Search::default()
    };
    let found = index.search(
        "select:list_issues,github__create_issue,web_fetch,run",
        &how,
    );
    assert_eq!(
        shown(&index, &found),
        ["github__list_issues", "web__web_fetch", "db__run"]
    );
}

#[test]
fn s42_the_limit_is_kept() {
    let index = index();
    for limit in [1, 2, 5, 20] {
        let how = Search {
            limit,
            ..Search::default()
        };
        assert!(index.search("search create find list", &how).hits.len() <= limit);
    }
}

#[test]
fn s72_several_queries_are_interleaved_without_repeats() {
    let index = index();
    let found = index.search_all(
        &[
            "create an issue",
            "fetch a page",
            "open a new issue in a repository",
        ],
        &Search {
            limit: 6,
            ..Search::default()
        },
    );
    let names = shown(&index, &found);
    let best: Vec<_> = ["create an issue", "fetch a page"]
        .map(|query| {
            index.docs()[index.rank(query, 1).hits[0].doc]
                .name
                .to_string()
        })
        .to_vec();
    assert_eq!(names[..2], best[..]);
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), names.len());
}

#[test]
fn s72_one_query_that_fits_nothing_does_not_refuse_the_others() {
    let index = index();
    let found = index.search_all(&["zzz", "fetch a page"], &Search::default());
    assert!(!found.nothing_fits);
    assert_eq!(shown(&index, &found)[0], "web__web_fetch");
}

#[test]
fn poor_matches_are_cut_away() {
    let index = index();
    let found = index.search("fetch the content of a page", &Search::default());
    assert_eq!(shown(&index, &found), ["web__web_fetch"]);
}

#[test]
fn a_name_brings_no_company() {
    let index = index();
    assert_eq!(
        shown(&index, &index.search("web_fetch", &Search::default())),
        ["web__web_fetch"]
    );
}

#[test]
fn what_is_left_out_adds_up() {
    let index = index();
    let admit = |doc: usize| doc.is_multiple_of(2);
    let how = Search {
        admit: &admit,
        ..Search::default()
    };
    let found = index.search("issue", &how);
    let admitted = corpus().len().div_ceil(2);
    assert_eq!(found.left_out, admitted - found.hits.len());
}

#[test]
fn s39_where_nothing_of_a_source_fits_its_own_tools_are_named() {
    let index = index();
    for query in ["source:gitlab zzz", "source:gitlab send a parcel"] {
        let found = index.search(query, &Search::default());
        assert!(found.nothing_fits, "{query}");
        let mut named: Vec<&str> = found
            .nearest
            .iter()
            .map(|&doc| &*index.docs()[doc].name)
            .collect();
        named.sort_unstable();
        assert_eq!(
            named,
            ["gitlab__create_issue", "gitlab__find_member"],
            "{query}"
        );
        assert_eq!(found.nearest_sources, ["gitlab".into()], "{query}");
    }
}
