//! The certain path.

use super::{index, ranked, search};
use toolcrib_surface::Search;

#[test]
fn s28_select_loads_in_order_and_reports_the_rest() {
    let index = index();
    let found = index.search(
        "select:web_fetch,update_pull_request,,web_fetch, zzz",
        &Search::default(),
    );
    let names = super::shown(&index, &found);
    assert_eq!(names, ["web__web_fetch", "github__update_pull_request"]);
    assert_eq!(found.unknown.len(), 1);
    assert_eq!(found.unknown[0].name, "zzz");
    assert!(!found.nothing_fits);
}

#[test]
fn s28_select_forgives_case_separators_and_prefixes() {
    for (list, expected) in [
        ("SELECT: Web-Fetch", vec!["web__web_fetch"]),
        (
            "select:mcp__gitlab__create_issue",
            vec!["gitlab__create_issue"],
        ),
        (
            "select:gitlab.create_issue web.search",
            vec!["gitlab__create_issue", "web__search"],
        ),
        (
            "select:\"webfetch\", `run`",
            vec!["web__web_fetch", "db__run"],
        ),
    ] {
        assert_eq!(search(list), expected, "{list}");
    }
}

#[test]
fn s28_a_name_that_several_tools_have_is_asked_back() {
    let index = index();
    let found = index.search("select:search,run,search", &Search::default());
    assert_eq!(super::shown(&index, &found), ["db__run"]);
    assert_eq!(found.shared.len(), 1);
    assert_eq!(found.shared[0].name, "search");
    let tools = found.shared[0].tools.iter();
    let tools: Vec<&str> = tools.map(|&doc| &*index.docs()[doc].name).collect();
    assert_eq!(tools, ["notes__search", "web__search"]);
    // Where one alone may be seen there is no choice, nor with a whole name.
    let notes = found.shared[0].tools[0];
    let how = Search {
        admit: &|doc| doc != notes,
        ..Search::default()
    };
    let found = index.search("select:search", &how);
    assert_eq!(super::shown(&index, &found), ["web__search"]);
    assert_eq!(found.shared, []);
    assert_eq!(search("select:notes__search"), ["notes__search"]);
}

#[test]
fn a_list_of_more_names_than_the_limit_is_taken_whole() {
    let list = "list_issues web_fetch run weather_lookup forecast_report find_member";
    assert_eq!(search(list).len(), 6);
}

#[test]
fn a_names_words_in_another_order_are_that_name() {
    for query in ["issue create gitlab", "gitlab issue create"] {
        assert_eq!(ranked(query)[0], "gitlab__create_issue", "{query}");
    }
    assert_eq!(
        ranked("issue create")[..2],
        ["github__create_issue", "gitlab__create_issue"]
    );
}

#[test]
fn a_source_and_last_words_of_names_find_a_tool_of_each() {
    let found = ranked("github request repositories");
    let expected = ["github__update_pull_request", "github__search_repositories"];
    assert_eq!(found[..2], expected);
    assert_eq!(
        ranked("repositories git hub request")[..2],
        [expected[1], expected[0]]
    );
}

#[test]
fn s28_select_takes_at_most_32_names_whatever_the_limit() {
    let docs: Vec<_> = (0..40)
        .map(|n| toolcrib_surface::ToolDoc::new(format!("tool_{n}"), ""))
        .collect();
    let index = toolcrib_surface::ToolIndex::build(&docs);
    let list: Vec<_> = (0..40).map(|n| format!("tool_{n}")).collect();
    let query = format!("select:{}", list.join(","));
    let how = Search {
        limit: 1,
        ..Search::default()
    };
    assert_eq!(index.search(&query, &how).hits.len(), 32);
}

#[test]
fn s29_white_space_and_an_empty_list_find_nothing() {
    let index = index();
    for query in ["", "   ", "select:", "select: , ,", "\n\t"] {
        let found = index.search(query, &Search::default());
        assert_eq!(found.hits, [], "{query:?}");
        assert_eq!(found.unknown, [], "{query:?}");
        assert!(!found.nothing_fits, "{query:?}");
    }
}

#[test]
fn s30_squashed_hyphenated_and_camel_names() {
    for query in [
        "webfetch",
        "web-fetch",
        "WebFetch",
        "web.fetch",
        "WEB_FETCH",
        "web fetch",
        "`web_fetch`",
    ] {
        assert_eq!(ranked(query)[0], "web__web_fetch", "{query}");
    }
}

#[test]
fn s30_a_name_needs_no_source_and_bears_one() {
    assert_eq!(
        ranked("create_issue")[..2],
        ["github__create_issue", "gitlab__create_issue"]
    );
    assert_eq!(ranked("gitlab create_issue")[0], "gitlab__create_issue");
    assert_eq!(ranked("gitlab__create_issue")[0], "gitlab__create_issue");
    assert_eq!(
        ranked("mcp__gitlab__create_issue")[0],
        "gitlab__create_issue"
    );
}

#[test]
fn every_name_of_a_list_is_found() {
    let expected = ["web__web_fetch", "db__run", "github__list_issues"];
    for query in [
        "web_fetch run list_issues",
        "web_fetch, run, list_issues",
        "web_fetch\nrun\nlist issues",
        "web_fetch; run and list_issues",
    ] {
        assert_eq!(ranked(query)[..3], expected, "{query}");
    }
    assert_eq!(search("web_fetch, run, list_issues"), expected);
}

#[test]
fn a_listed_source_chooses_among_equal_names() {
    assert_eq!(
        ranked("find_member create_issue gitlab")[..2],
        ["gitlab__find_member", "gitlab__create_issue"]
    );
    assert_eq!(
        ranked("search web_fetch notes")[..2],
        ["notes__search", "web__web_fetch"]
    );
}

#[test]
fn a_name_inside_a_sentence_is_pulled_up() {
    assert_eq!(
        ranked("please use update_pull_request to close the stale one")[0],
        "github__update_pull_request"
    );
    assert_eq!(
        ranked("is there anything like `webFetch`?")[0],
        "web__web_fetch"
    );
}

#[test]
fn a_one_word_name_inside_a_sentence_is_a_word() {
    assert_eq!(
        ranked("search for repositories about parsers")[0],
        "github__search_repositories"
    );
}

#[test]
fn s36_a_hidden_name_is_unknown() {
    let index = index();
    let hidden = |doc: usize| doc != 6;
    let how = Search {
        admit: &hidden,
        ..Search::default()
    };
    let found = index.search("select:web_fetch,run", &how);
    assert_eq!(super::shown(&index, &found), ["db__run"]);
    assert_eq!(found.unknown[0].name, "web_fetch");
    assert!(!found.unknown[0].near.contains(&6));
    for query in ["web_fetch", "fetch the content of a page", "+page"] {
        let found = index.search(query, &how);
        assert!(found.hits.iter().all(|hit| hit.doc != 6), "{query}");
        assert!(!found.nearest.contains(&6), "{query}");
    }
    assert_eq!(
        index
            .near_names("web_fetch", 5, &hidden)
            .iter()
            .find(|doc| **doc == 6),
        None
    );
}

#[test]
fn s45_near_names_for_a_mistyped_one() {
    let index = index();
    let near = index.near_names("weather_lokup", 2, &|_| true);
    assert_eq!(&*index.docs()[near[0]].name, "weather__weather_lookup");
    assert_eq!(index.near_names("qqqq", 5, &|_| true), [] as [usize; 0]);
}

#[test]
fn a_foreign_name_is_found_by_what_it_was() {
    use toolcrib_core::ToolName;
    let shown = |name: &str| ToolName::from_foreign(name).as_str().to_owned();
    let docs = [
        toolcrib_surface::ToolDoc::new(shown("disk__fs.read file"), "").source("disk"),
        toolcrib_surface::ToolDoc::new(shown("disk__fs.read"), "").source("disk"),
    ];
    let index = toolcrib_surface::ToolIndex::build(&docs);
    for (query, expected) in [("fs.read", 1), ("disk__fs.read", 1), ("fs.read file", 0)] {
        assert_eq!(index.rank(query, 1).hits[0].doc, expected, "{query}");
        assert!(index.rank(query, 1).hits[0].named, "{query}");
    }
}
