//! What a model gets for what it asks the loader.

use serde_json::json;
use toolcrib_core::{Effect, Mode, Permission};

use super::{Desk, deferred, described, eager, many, selectors};

const OPEN_ISSUE: &str = r#"{"type":"object","properties":{"title":{"type":"string"},"body":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}},"required":["title"]}"#;

fn forge() -> Desk {
    Desk::new([
        described(
            "create_issue",
            "Open a new issue. It needs a title.",
            OPEN_ISSUE,
        ),
        described("close_issue", "Close an issue.", "{}"),
        described("weather_lookup", "Current conditions for a town.", "{}"),
        described(
            "forecast_report",
            "Report with the weather of the coming days.",
            "{}",
        ),
        described("web_fetch", "Fetch a page.", "{}"),
        eager("read"),
    ])
}

#[test]
fn s28_select_keeps_order_and_reports_the_unknown() {
    let mut desk = Desk::new(["a", "b", "c", "d"].map(deferred));
    let answer = desk.ask("select:b,a,,b, zzz");
    assert_eq!(answer.loaded, ["b", "a"]);
    assert!(!answer.is_error);
    insta::assert_snapshot!(answer.text, @r"
    Loaded; call them directly:
    - b() — A fake tool.
    - a() — A fake tool.
    There is no tool `zzz`.
    ");
}

#[test]
fn s29_bad_queries_name_the_argument() {
    let mut desk = forge();
    for bad in [
        json!({}),
        json!({"query": null}),
        json!({"query": ""}),
        json!({"query": 7}),
        json!({"query": []}),
        json!({"query": ["a", 7]}),
        json!({"query": ["a", "b", "c", "d", "e", "f"]}),
    ] {
        let answer = desk.search(bad.clone());
        assert!(answer.is_error, "{bad}");
        assert!(answer.text.contains("`query`"), "{}", answer.text);
        assert_eq!(answer.loaded, [""; 0]);
    }
    insta::assert_snapshot!(desk.search(json!({"query": ["a", 7]})).text, @"error: `query` must be a text that says what is needed, or up to 5 such texts; `query[1]` is no text");
    for blank in ["   ", "select:"] {
        let answer = desk.ask(blank);
        assert!(!answer.is_error, "{blank}: {}", answer.text);
        assert_eq!(answer.loaded, [""; 0]);
    }
}

#[test]
fn s30_names_come_before_descriptions() {
    let answer = forge().ask("weather");
    assert_eq!(answer.loaded, ["weather_lookup", "forecast_report"]);
    for form in ["webfetch", "web-fetch", "select:Web.Fetch"] {
        assert_eq!(forge().ask(form).loaded, ["web_fetch"], "{form}");
    }
}

#[test]
fn s31_equal_matches_go_by_name_and_stay_so() {
    let tools = (0..15).map(|n| described(&format!("tool_{n:02}"), "Paints a fence.", "{}"));
    let tools: Vec<_> = tools.collect();
    let first = Desk::new(tools.clone()).ask("paint fence");
    let expected: Vec<String> = (0..5).map(|n| format!("tool_{n:02}")).collect();
    assert_eq!(first.loaded, expected);
    assert_eq!(Desk::new(tools).ask("paint fence").text, first.text);
}

#[test]
fn s32_punctuation_loads_nothing() {
    for query in ["-", "--", ".", "_"] {
        let answer = forge().ask(query);
        assert_eq!(answer.loaded, [""; 0], "{query}");
        assert!(!answer.is_error);
    }
}

#[test]
fn s35_what_is_listed_already_is_said_to_be() {
    let mut desk = forge();
    let answer = desk.ask("select:read");
    assert_eq!(answer.loaded, [""; 0]);
    insta::assert_snapshot!(answer.text, @"Already in your list, call directly: `read`.");
    let answer = desk.ask("select:web_fetch,read");
    assert_eq!(answer.loaded, ["web_fetch"]);
    insta::assert_snapshot!(answer.text, @r"
    Loaded; call them directly:
    - web_fetch() — Fetch a page.
    Already in your list, call directly: `read`.
    ");
    let answer = desk.ask("select:qqqq");
    assert_eq!(answer.loaded, [""; 0]);
    assert!(
        answer.text.contains("There is no tool `qqqq`"),
        "{}",
        answer.text
    );
}

#[test]
fn s36_hidden_tools_leave_no_trace() {
    let secret = r#"{"type":"object","properties":{"marker_property":{"type":"string"}}}"#;
    let hidden = || described("secret_thing", "Opens the vault.", secret);
    let setups: [(&str, Desk); 3] = [
        ("denied", {
            let mut desk = Desk::new([many(4), vec![hidden()]].concat());
            desk.visibility.disabled = selectors(&["secret_thing"]);
            desk
        }),
        ("by mode", {
            let writes = hidden().with_effect(Effect::Write);
            let mut desk = Desk::new([many(4), vec![writes]].concat());
            desk.visibility.mode = Mode::Plan;
            desk
        }),
        ("by permission", {
            let denied = hidden().with_spec(|spec| spec.permission(Permission::Deny));
            Desk::new([many(4), vec![denied]].concat())
        }),
    ];
    for (how, mut desk) in setups {
        for query in [
            "select:secret_thing",
            "opens the vault",
            "secret thing",
            "marker property",
            "select:secret_thin",
        ] {
            let answer = desk.ask(query);
            assert_eq!(answer.loaded, [""; 0], "{how}: {query}");
            for trace in ["vault", "marker_property", "Opens"] {
                assert!(!answer.text.contains(trace), "{how}: {}", answer.text);
            }
            // Only what was asked for is repeated.
            let answered = answer.text.replace("`secret_thing`", "");
            let answered = answered.replace("`secret_thin`", "");
            assert!(!answered.contains("secret_thing"), "{how}: {}", answer.text);
        }
        let listed = desk.inventory().catalogue().text.to_string();
        assert!(!listed.contains("secret_thing"));
        assert!(!desk.listed().contains(&"secret_thing".to_owned()));
    }
}

#[test]
fn s39_no_match_over_many_tools_is_short_and_counts() {
    let tools = (0..500).map(|n| described(&format!("tool_{n}"), "Does one thing.", "{}"));
    let mut desk = Desk::new(tools);
    let answer = desk.ask("zzz qqq");
    assert!(!answer.is_error);
    assert_eq!(answer.loaded, [""; 0]);
    assert!(answer.text.len() <= 4096);
    assert!(
        answer.text.contains("more tools were left out"),
        "{}",
        answer.text
    );
    // Many long names that nobody knows do not make it long either.
    let long: Vec<String> = (0..40)
        .map(|n| format!("no_{n}_{}", "x".repeat(200)))
        .collect();
    let answer = desk.ask(&format!("select:{}", long.join(",")));
    assert!(answer.text.len() <= 4096, "{}", answer.text.len());
}

#[test]
fn s39_words_that_no_tool_has_are_said_to_be_so() {
    let mut desk = forge();
    let answer = desk.ask("погода в Москве");
    assert!(
        answer.text.contains("ask in the language of the tools"),
        "{}",
        answer.text
    );
    // Nor does a word that only looks alike hide that.
    for query in [
        "comprar un zapato para mi madre",
        "schreibe das auf eine Karte",
    ] {
        let answer = desk.ask(query);
        assert!(
            answer.text.contains("ask in the language of the tools"),
            "{query}: {}",
            answer.text
        );
    }
    for query in [
        "knit me a sweater",
        "weather source:nowhere",
        "+zzz weather",
    ] {
        let answer = desk.ask(query);
        assert!(!answer.text.contains("language"), "{}", answer.text);
        let no_source = answer.text.contains("There is no source `nowhere`.");
        assert_eq!(no_source, query.contains("nowhere"), "{}", answer.text);
    }
}

#[test]
fn s40_what_does_not_fit_is_dropped_whole_and_not_loaded() {
    let text = "Paints a fence in one of many colours, and says at length which ones there are";
    let tools = (0..10).map(|n| described(&format!("paint_{n}"), text, OPEN_ISSUE));
    let mut desk = Desk::new(tools);
    desk.policy.result_budget = 280;
    let answer = desk.search(json!({"query": "paint fence", "limit": 10}));
    let shown: Vec<&str> = answer
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("- ")?.split('(').next())
        .collect();
    assert!(!shown.is_empty() && shown.len() < 10, "{}", answer.text);
    assert_eq!(answer.loaded, shown);
    let dropped = 10 - shown.len();
    assert!(
        answer.text.contains(&format!("{dropped} more matched")),
        "{}",
        answer.text
    );
    for line in answer.text.lines().filter(|line| line.starts_with("- ")) {
        assert!(line.ends_with("there are"), "{line}");
    }
    assert_eq!(desk.state.loaded().len(), shown.len());
}

#[test]
fn s42_the_limit_is_honoured_or_refused() {
    let tools: Vec<_> = (0..30)
        .map(|n| described(&format!("tool_{n:02}"), "Paints a fence.", "{}"))
        .collect();
    let ask = |limit: serde_json::Value| {
        Desk::new(tools.clone()).search(json!({"query": "paint fence", "limit": limit}))
    };
    for (limit, count) in [(0, 5), (1, 1), (7, 7), (20, 20)] {
        assert_eq!(ask(json!(limit)).loaded.len(), count, "{limit}");
    }
    assert_eq!(ask(json!(null)).loaded.len(), 5);
    for limit in [json!(21), json!(-1), json!("5"), json!(1.5), json!(1e300)] {
        let answer = ask(limit.clone());
        assert!(answer.is_error && answer.loaded.is_empty(), "{limit}");
        assert!(answer.text.contains("`limit`"), "{}", answer.text);
    }
}

#[test]
fn s72_several_needs_are_answered_in_turn() {
    let mut desk = forge();
    let answer = desk.search(json!({"query": ["close an issue", "fetch a page"]}));
    assert_eq!(answer.loaded[..2], ["close_issue", "web_fetch"]);
    let mut once = answer.loaded.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), answer.loaded.len());
}

#[test]
fn an_answer_reads_so() {
    insta::assert_snapshot!(forge().ask("open a new issue").text, @"
    Loaded; call them directly:
    - create_issue(title, body?, labels?: string[]) — Open a new issue.
    ");
}

#[test]
fn two_searches_of_one_batch_load_a_tool_once() {
    use super::call;
    let desk = forge();
    desk.shelf.show(&desk.inventory(), &desk.state);
    let loader = desk.registry.get("tool_search").unwrap();
    let (_, first, _) = call(&**loader, r#"{"query":"select:web_fetch"}"#);
    let (text, second, _) = call(&**loader, r#"{"query":"select:web_fetch"}"#);
    assert_eq!((first.len(), second.len()), (1, 0));
    assert_eq!(text, "Already loaded: `web_fetch`.");
}

#[test]
fn s41_the_same_miss_for_the_third_time_is_an_error() {
    let loader = |desk: &Desk, query: &str| {
        use toolcrib_core::{Arguments, ToolContext};
        desk.shelf.show(&desk.inventory(), &desk.state);
        let tool = desk.registry.get("tool_search").unwrap();
        let arguments = Arguments::parse(json!({"query": query}).to_string()).unwrap();
        let cx = ToolContext::detached("c");
        let mut future = tool.call(&arguments, &cx);
        let mut waiting = std::task::Context::from_waker(std::task::Waker::noop());
        match future.as_mut().poll(&mut waiting) {
            std::task::Poll::Ready(Ok(output)) => output.is_error,
            other => panic!("{other:?}"),
        }
    };
    let desk = forge();
    let asked = [
        "select:zzz",
        "select:zzz",
        "select:qqq",
        "select:zzz",
        "select:zzz",
    ];
    assert_eq!(asked.map(|query| loader(&desk, query)), [false; 5]);
    assert!(loader(&desk, "select:zzz"));
    assert!(loader(&desk, "select:zzz"));
    assert!(!loader(&desk, "select:read"));
}

#[test]
fn odd_queries_are_answered_briefly_and_the_same_every_time() {
    for query in [
        "x".repeat(100_000),
        "weather ".repeat(20_000),
        "(a+)+$ [unclosed ** ?{".to_owned(),
        "\u{0}\u{1b}[31m\u{202e}weather".to_owned(),
        "天气 预报".to_owned(),
        format!("select:{}", "a,".repeat(50_000)),
        "source: +".to_owned(),
        "+weather source:nowhere".to_owned(),
    ] {
        let answer = forge().ask(&query);
        assert!(answer.text.len() <= 8 * 1024, "{}", answer.text.len());
        assert!(!answer.text.contains('\u{1b}') && !answer.text.contains('\0'));
        assert_eq!(answer.text, forge().ask(&query).text);
    }
}

#[test]
fn a_model_that_takes_few_tools_gets_the_first_loaded_ones() {
    let mut desk = Desk::new(many(9));
    desk.ask("select:d3,d4,d5,d6");
    let plan = desk.surface().plan_within("s", 3);
    let names: Vec<_> = plan.tools().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["tool_search", "d3", "d4"]);
    assert!(!desk.surface().is_deferred("d6"));
}
