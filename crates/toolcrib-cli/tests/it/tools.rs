//! Tools from files: reported on, searched, deferred, found and run.

use crate::world::{Ran, World};

fn with_tools(world: &World) -> String {
    let mut lines = vec![
        r#"{"name":"weather_lookup","description":"Current weather of a town.","parameters":{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]},"command":["sh","-c","cat; echo ' sunny'"]}"#.to_owned(),
        r#"{"name":"break_it","description":"Ends badly.","command":["sh","-c","echo no >&2; exit 3"]}"#.to_owned(),
        r#"{"name":"just_words","description":"Only described."}"#.to_owned(),
        r#"{"name":"odd_schema","description":"Cannot be offered.","parameters":{"type":"array"}}"#.to_owned(),
    ];
    for i in 0..300 {
        lines.push(format!(
            r#"{{"name":"ledger_{i}","server":"ledger","description":"Books entry {i} into the ledger.","parameters":{{"type":"object","properties":{{"amount":{{"type":"number"}}}}}}}}"#
        ));
    }
    let path = world.home().join("tools.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path.display().to_string()
}

fn ask(world: &World, tools: &str, replies: &[&str]) -> Ran {
    let model = world.script(replies);
    world.run(&[
        "ask",
        "--format",
        "json",
        "--tools",
        tools,
        "--model",
        &model,
        "Is it sunny?",
    ])
}

fn results(ran: &Ran) -> Vec<(String, bool, String)> {
    let events = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let finished = events.filter(|event| event["type"] == "tool_call_finished");
    let field = |event: &serde_json::Value, key: &str| event[key].as_str().unwrap().to_owned();
    finished
        .map(|event| {
            (
                field(&event, "name"),
                event["is_error"] == true,
                field(&event, "excerpt"),
            )
        })
        .collect()
}

#[test]
fn a_deferred_tool_is_found_by_search_called_and_its_output_comes_back() {
    let world = World::sample();
    let tools = with_tools(&world);
    let ran = ask(
        &world,
        &tools,
        &[
            r#"{"calls":[{"name":"tool_search","arguments":{"query":"weather of a town"}}]}"#,
            r#"{"calls":[{"name":"weather_lookup","arguments":{"town":"Oslo"}}]}"#,
            r#"{"text":"Sunny."}"#,
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("odd_schema is left out"),
        "{}",
        ran.stderr
    );
    let results = results(&ran);
    assert_eq!(results[0].0, "tool_search");
    assert!(results[0].2.contains("weather_lookup(town)"), "{results:?}");
    assert_eq!(results[1].2.trim(), r#"{"town":"Oslo"} sunny"#);
    let surfaces: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains("surface_changed"))
        .collect();
    assert!(
        !surfaces[0].contains("ledger_7\""),
        "a deferred tool was sent whole"
    );
}

#[test]
fn failures_of_commands_are_results_a_model_can_read() {
    let world = World::sample();
    let tools = with_tools(&world);
    let ran = ask(
        &world,
        &tools,
        &[
            r#"{"calls":[{"name":"break_it","arguments":{}},{"name":"just_words","arguments":{}},{"name":"wether_lookup","arguments":{}}]}"#,
            r#"{"text":"It failed."}"#,
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let results = results(&ran);
    assert!(
        results.iter().all(|(_, is_error, _)| *is_error),
        "{results:?}"
    );
    assert!(
        results[0].2.contains("ended with exit status: 3: no"),
        "{results:?}"
    );
    assert!(results[1].2.contains("nothing runs it here"), "{results:?}");
    assert!(results[2].2.contains("weather_lookup"), "{results:?}");
}

#[test]
fn the_answer_of_the_navigator_does_not_change_with_more_tools() {
    let world = World::sample();
    let tools = with_tools(&world);
    let question = "Where are tool results truncated?";
    let alone = world.run(&["ask", "--quiet", question]);
    let among = world.run(&["ask", "--quiet", "--tools", &tools, question]);
    assert_eq!((among.code, &among.stdout), (Some(0), &alone.stdout));
}

#[test]
fn the_report_counts_what_is_sent_and_what_waits() {
    let world = World::sample();
    let tools = with_tools(&world);
    let ran = world.run(&["tools", "--json", "--tools", &tools]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["tools"], 303);
    assert_eq!(report["quarantined"][0]["name"], "odd_schema");
    let (eager, first) = (&report["eager_tokens"], &report["first_turn_tokens"]);
    assert!(
        first.as_u64().unwrap() < 600 && eager.as_u64().unwrap() > 9_000,
        "{first} of {eager}"
    );
    let sources = report["sources"].as_array().unwrap();
    assert_eq!(
        sources
            .iter()
            .map(|s| s["deferred"].as_u64().unwrap())
            .sum::<u64>(),
        303
    );

    let ran = world.run(&[
        "tools",
        "--tools",
        &tools,
        "--search",
        "will it rain in town?",
    ]);
    assert!(ran.stdout.starts_with("weather_lookup  "), "{}", ran.stdout);
}

#[test]
fn malformed_tool_files_name_the_line() {
    let world = World::sample();
    let path = world.home().join("bad.jsonl");
    for (text, expected) in [
        (
            "{\"name\":\"a\",\"description\":\"x\"}\nnot json\n",
            "bad.jsonl:2",
        ),
        ("{\"name\":\"a\"}\n{\"name\":\"a\"}\n", "already given"),
        ("", "bad.jsonl"),
    ] {
        std::fs::write(&path, text).unwrap();
        let ran = world.run(&["tools", "--tools", &path.display().to_string()]);
        assert_eq!(ran.code, Some(1), "{text}");
        assert!(ran.complaint().contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn the_evaluation_scores_the_product_beside_its_baselines() {
    let world = World::sample();
    let tools = with_tools(&world);
    let queries = world.home().join("queries.jsonl");
    std::fs::write(
        &queries,
        "{\"id\":\"q1\",\"query\":\"will it rain in the town\",\"gold\":[\"weather_lookup\"]}\n",
    )
    .unwrap();
    let queries = queries.display().to_string();
    let ran = world.run(&[
        "eval",
        "search",
        "--tools",
        &tools,
        "--queries",
        &queries,
        "--ranker",
        "all",
        "--json",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let reports: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(reports.len(), 4);
    assert_eq!(
        (&reports[0]["ranker"], &reports[0]["recall@5"]),
        (&"toolcrib".into(), &1.0.into())
    );
}

/// Without the feature the flag says how to get it; with it, the file that is wrong.
#[test]
fn an_encoder_that_cannot_be_used_says_why() {
    let world = World::sample();
    let tools = with_tools(&world);
    let nowhere = world.home().join("no-weights").display().to_string();
    let search = ["tools", "--tools", &tools, "--search", "rain", "--encoder"];
    let ran = world.run(&[&search[..], &[&nowhere]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let wanted = if cfg!(feature = "encoder") {
        "no-weights/config.json"
    } else {
        "--features encoder"
    };
    assert!(ran.complaint().contains(wanted), "{}", ran.stderr);
    // An empty name switches a configured one off.
    let ran = world.run(&[&search[..], &[""]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
