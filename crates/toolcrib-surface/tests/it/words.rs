//! Ranking by words.

use super::{index, names, ranked, tool};
use toolcrib_surface::{Search, ToolDoc, ToolIndex};

#[test]
fn s30_a_name_match_comes_before_a_description_match() {
    assert_eq!(
        ranked("weather")[..2],
        ["weather__weather_lookup", "forecast_report"]
    );
}

#[test]
fn s31_equal_matches_come_by_name_and_again() {
    let docs: Vec<ToolDoc> = (0..15)
        .rev()
        .map(|n| ToolDoc::new(format!("probe_{n:02}"), "Measure the pressure."))
        .collect();
    let index = ToolIndex::build(&docs);
    let first = names(&index, &index.rank("pressure", 5));
    assert_eq!(
        first,
        ["probe_00", "probe_01", "probe_02", "probe_03", "probe_04"]
    );
    assert_eq!(names(&index, &index.rank("pressure", 5)), first);
}

#[test]
fn s31_the_order_of_registration_changes_nothing() {
    let mut docs = super::corpus();
    let by = |docs: &[ToolDoc], query: &str| {
        let index = ToolIndex::build(docs);
        names(&index, &index.rank(query, 10))
    };
    let queries = [
        "search",
        "create an issue",
        "find a repository",
        "select:search",
    ];
    let before = queries.map(|query| by(&docs, query));
    docs.reverse();
    assert_eq!(queries.map(|query| by(&docs, query)), before);
    docs.swap(1, 7);
    assert_eq!(queries.map(|query| by(&docs, query)), before);
}

#[test]
fn a_misspelt_word_and_another_form_of_a_russian_one_find_their_tool() {
    let docs = [
        ToolDoc::new("weather_forecast", "Weather forecast for a city."),
        ToolDoc::new("text_translate", "Translate text into other languages."),
        ToolDoc::new("pogoda", "Прогноз погоды для города."),
        ToolDoc::new("pismo", "Отправить электронное письмо."),
        ToolDoc::new("audio_transcribe", "Write down what is said."),
    ];
    let index = ToolIndex::build(&docs);
    for (query, tool) in [
        ("wether forcast", "weather_forecast"),
        ("trasnlate", "text_translate"),
        ("погода", "pogoda"),
        ("какая погода в городе", "pogoda"),
        ("отправь письма", "pismo"),
    ] {
        let found = index.search(query, &Search::default());
        let first = found.hits.first().map(|hit| &*docs[hit.doc].name);
        assert_eq!(first, Some(tool), "{query}");
    }
}

#[test]
fn s32_separators_alone_find_nothing() {
    for query in ["-", "--", ".", "_", "+", ":", "source:"] {
        assert_eq!(ranked(query), [] as [&str; 0], "{query}");
    }
}

#[test]
fn s33_both_words_beat_one_in_the_name() {
    let docs = [
        tool("", "find_user", "Look a user up."),
        tool("", "find", "Find."),
        tool(
            "",
            "catalog",
            "Find a repository in the catalog of the company.",
        ),
        tool("", "repository_stats", "Numbers."),
    ];
    let index = ToolIndex::build(&docs);
    assert_eq!(
        names(&index, &index.rank("find repository", 4))[0],
        "catalog"
    );
}

#[test]
fn s34_a_word_of_a_parameter_finds_the_tool() {
    for query in ["isolation", "placeholders", "serializable"] {
        assert_eq!(ranked(query)[0], "db__run", "{query}");
    }
}

#[test]
fn forms_of_a_word_meet() {
    assert_eq!(ranked("fetching pages")[0], "web__web_fetch");
    assert_eq!(ranked("issue listing")[0], "github__list_issues");
}

#[test]
fn server_words_do_not_decide() {
    let docs = [
        tool("github", "list_gists", "List gists."),
        tool(
            "github",
            "star",
            "Star a thing on GitHub, the GitHub way, for GitHub.",
        ),
        tool("tracker", "create_issue", "Create an issue."),
    ];
    let index = ToolIndex::build(&docs);
    assert_eq!(
        names(&index, &index.rank("create_issue github", 3))[0],
        "tracker__create_issue"
    );
    assert_eq!(
        names(&index, &index.rank("github create issue", 3))[0],
        "tracker__create_issue"
    );
}

#[test]
fn a_named_source_decides_between_twins() {
    assert_eq!(
        ranked("create an issue on gitlab")[0],
        "gitlab__create_issue"
    );
    assert_eq!(ranked("search through my notes")[0], "notes__search");
}

#[test]
fn a_source_narrows_and_a_plus_demands() {
    assert_eq!(ranked("source:gitlab issue"), ["gitlab__create_issue"]);
    assert_eq!(
        ranked("source:GITLAB create_issue")[0],
        "gitlab__create_issue"
    );
    assert_eq!(ranked("source:nowhere issue"), [] as [&str; 0]);
    assert!(
        ranked("+project issue")
            .iter()
            .all(|name| name == "gitlab__create_issue")
    );
    assert_eq!(ranked("+zzz issue"), [] as [&str; 0]);
    // The source is part of the name.
    let docs = ["slack", "discord", "teams"]
        .map(|source| tool(source, "send_message", "Send a message to a channel."));
    let index = ToolIndex::build(&docs);
    let found = index.search("+discord send", &Search::default());
    let found: Vec<usize> = found.hits.iter().map(|hit| hit.doc).collect();
    assert_eq!(found, [1]);
}

#[test]
fn other_scripts_are_searched() {
    let docs = [
        tool("", "a", "查询城市的天气预报"),
        tool("", "b", "Envoyer un courrier électronique"),
        tool("", "c", "발송 이메일"),
    ];
    let index = ToolIndex::build(&docs);
    for (query, name) in [("天气", "a"), ("Électronique", "b"), ("이메일", "c")] {
        assert_eq!(names(&index, &index.rank(query, 3)), [name], "{query}");
    }
    assert_eq!(index.rank("股票", 3).hits, []);
}

#[test]
fn an_empty_index_answers() {
    let empty = ToolIndex::build(&[]);
    assert!(empty.rank("anything", 5).nothing_fits);
    assert_eq!(empty.search("anything", &Search::default()).left_out, 0);
    assert!(!index().rank("issue", 5).nothing_fits);
}

#[test]
fn a_spec_is_read_with_its_schema_and_source() {
    use toolcrib_core::{Schema, SourceId, ToolName, ToolSpec};
    let schema = Schema::parse(r#"{"type":"object","properties":{"altitude":{"type":"number"}}}"#);
    let spec = ToolSpec::new(
        ToolName::parse("sky__look").unwrap(),
        "Look up.",
        schema.unwrap(),
    )
    .source(SourceId::new("sky"))
    .title("Sky view");
    let doc = ToolDoc::from(&spec);
    assert_eq!(doc.local_name(), "look");
    let index = ToolIndex::build(&[doc, tool("", "other", "Else.")]);
    for query in ["altitude", "view", "look", "source:sky look"] {
        assert_eq!(
            names(&index, &index.rank(query, 1)),
            ["sky__look"],
            "{query}"
        );
    }
}
