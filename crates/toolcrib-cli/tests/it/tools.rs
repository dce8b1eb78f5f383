//! Tools from files: reported on, searched, deferred, found and run.

use crate::world::{Ran, World};

/// A few tools of every kind among 300.
fn with_tools(world: &World) -> String {
    among(world, 300)
}

/// A few tools of every kind among so many others.
fn among(world: &World, others: usize) -> String {
    let mut lines = vec![
        r#"{"name":"weather_lookup","description":"Current weather of a town.","parameters":{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]},"command":["sh","-c","cat; echo ' sunny'"]}"#.to_owned(),
        r#"{"name":"break_it","description":"Ends badly.","command":["sh","-c","echo no >&2; exit 3"]}"#.to_owned(),
        r#"{"name":"just_words","description":"Only described."}"#.to_owned(),
        r#"{"name":"odd_schema","description":"Cannot be offered.","parameters":{"type":"array"}}"#.to_owned(),
    ];
    for i in 0..others {
        lines.push(format!(
            r#"{{"name":"ledger_{i}","server":"ledger{}","description":"Books entry {i} into the ledger.","parameters":{{"type":"object","properties":{{"amount":{{"type":"number"}}}}}}}}"#,
            i / 50
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
fn one_of_5000_tools_is_found_by_search_called_and_its_output_comes_back() {
    let world = World::sample();
    let tools = among(&world, 5_000);
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
fn the_answer_and_rounds_of_the_navigator_do_not_change_with_5000_more_tools() {
    let world = World::sample();
    let tools = among(&world, 5_000);
    let question = "Where are tool results truncated?";
    let alone = world.run(&["ask", "--quiet", "--format", "json", question]);
    let among = world.run(&[
        "ask", "--quiet", "--format", "json", "--tools", &tools, question,
    ]);
    assert_eq!(among.code, Some(0), "{}", among.stderr);
    let ended = |ran: &Ran| {
        let last = ran.stdout.lines().last().unwrap();
        let event: serde_json::Value = serde_json::from_str(last).unwrap();
        assert_eq!(event["type"], "run_finished", "{last}");
        let of = |key: &str| event[key].to_string();
        ["answer", "rounds", "calls", "outcome"].map(of)
    };
    assert_eq!(ended(&among), ended(&alone));
    assert!(ended(&alone)[0].contains("src/cut.rs:"));
    assert_eq!(results(&among), results(&alone));
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

/// What `toolcrib tools` makes of one definition's schema.
fn offered(world: &World, parameters: &str) -> Result<serde_json::Value, String> {
    let path = world.home().join("one.jsonl");
    let line = format!(r#"{{"name":"odd","description":"Odd.","parameters":{parameters}}}"#);
    let good = r#"{"name":"good","description":"Good."}"#;
    std::fs::write(&path, format!("{good}\n{line}\n")).unwrap();
    let path = path.display().to_string();
    let ran = world.run(&["tools", "--tools", &path, "--render", "open_ai"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["tool"], "good", "the others are not kept from it");
    let odd = &lines[1];
    if odd["left_out"] == "odd" {
        // The report says so too, on one line.
        let ran = world.run(&["tools", "--tools", &path]);
        let reason = odd["reason"].as_str().unwrap();
        assert!(
            ran.stdout.contains(&format!("left out: odd: {reason}\n")),
            "{}",
            ran.stdout
        );
        return Err(reason.to_owned());
    }
    Ok(odd["schema"].clone())
}

#[test]
fn odd_roots_of_schemas_are_mended_or_left_out_with_a_reason() {
    let world = World::empty();
    for parameters in [
        r#"{"type":["object","null"],"properties":{"a":{"type":"string"}}}"#,
        r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"integer"}}}]}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"a":{"type":"string"}}}}}"##,
        r##"{"$ref":"#"}"##,
        "{}",
        "null",
    ] {
        let schema = offered(&world, parameters).unwrap();
        assert_eq!(schema["type"], "object", "{parameters}: {schema}");
    }
    let deep = r#"{"type":"object","properties":{"a":"#.repeat(64) + "{}" + &"}}".repeat(64);
    for (parameters, reason) in [
        (r#"{"type":"array"}"#, "root type"),
        (r#"{"type":["string","null"]}"#, "root type"),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
            "accepts no object",
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            "accepts no object",
        ),
        ("true", "a boolean"),
        ("false", "a boolean"),
        ("[]", "an array"),
        (r#""object""#, "a string"),
        (&deep, "nested 129 levels deep"),
    ] {
        let said = offered(&world, parameters).unwrap_err();
        assert!(said.contains(reason), "{parameters}: {said}");
    }
    // 10,000 tokens: it is offered, and costs nothing until it is loaded.
    let properties: Vec<String> = (0..700)
        .map(|n| format!(r#""field_{n}":{{"type":"string","description":"What field {n} of the form is to hold."}}"#))
        .collect();
    let large = format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        properties.join(",")
    );
    let schema = offered(&world, &large).unwrap();
    assert_eq!(schema["properties"].as_object().unwrap().len(), 700);
    let path = world.home().join("large.jsonl");
    let lines: Vec<String> = (0..3)
        .map(|n| {
            format!(r#"{{"name":"large_{n}","description":"Fills a form.","parameters":{large}}}"#)
        })
        .collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let tools = path.display().to_string();
    let ran = world.run(&["tools", "--tools", &tools, "--json", "--cost"]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(report["costliest"][0]["tokens"].as_u64().unwrap() > 10_000);
    assert!(report["first_turn_tokens"].as_u64().unwrap() < 600);
}

#[test]
fn a_tool_with_a_name_of_the_loops_own_switches_nothing_off() {
    let world = World::sample();
    let tools = with_tools(&world);
    let more = world.home().join("own.jsonl");
    let own = ["tool_search", "call_tool", "read_result"];
    let lines = own.map(|name| format!(r#"{{"name":"{name}","description":"Mine."}}"#));
    std::fs::write(&more, lines.join("\n")).unwrap();
    let more = more.display().to_string();
    let ran = world.run(&["tools", "--json", "--tools", &tools, &more]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["active"], true, "{report}");
    for name in own {
        let left = report["quarantined"].as_array().unwrap().iter();
        let mut of = left.filter(|tool| tool["name"] == name);
        let reason = of.next().unwrap()["reason"].as_str().unwrap();
        assert!(reason.contains("the loop's own"), "{reason}");
    }
}

#[test]
fn what_one_model_would_see_and_what_it_costs() {
    let world = World::sample();
    let tools = with_tools(&world);
    let report = |more: &[&str]| -> serde_json::Value {
        let ran = world.run(&[&["tools", "--json", "--tools", &tools], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    // No key is needed to ask what a model would see.
    let native = report(&["--model", "anthropic:claude-sonnet-4-5", "--cost"]);
    assert_eq!(native["model"], "anthropic:claude-sonnet-4-5");
    assert_eq!(native["route"], "native");
    assert!(native["active"].as_bool().unwrap(), "{native}");
    assert_eq!(native["costliest"].as_array().unwrap().len(), 10);
    let usd = native["eager_usd"].as_f64().unwrap();
    let tokens = native["eager_tokens"].as_f64().unwrap();
    // A few dollars a million tokens.
    assert!((1.0..10.0).contains(&(usd * 1e6 / tokens)), "{native}");
    let plain = report(&["--cost"]);
    assert_eq!(plain["route"], "append");
    assert!(plain["eager_usd"].is_null() && plain.get("model").is_none());
    assert_eq!(
        report(&["--model", "builtin:navigator"])["active"],
        plain["active"]
    );
    let text = world.run(&["tools", "--tools", &tools, "--cost"]);
    assert!(
        text.stdout.contains("the largest definitions:"),
        "{}",
        text.stdout
    );
    for (args, hint) in [
        (&["--model", "gizmo:x"][..], "gizmo"),
        (&["--cost", "--search", "x"], "--search"),
        (&["--model", "ollama:x", "--render", "plain"], "--render"),
        (&["--search", "x", "--limit", "0"], "--limit"),
        (&["--search", "x", "--limit", "5000"], "--limit"),
        (&["--limit", "5"], "--search"),
        (&["--render", "morse"], "open_ai"),
    ] {
        let ran = world.run(&[&["tools", "--tools", &tools], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn odd_texts_and_queries_are_answered_plainly() {
    let world = World::empty();
    let path = world.home().join("odd.jsonl");
    let lines = [
        r#"{"name":"empty"}"#,
        r#"{"name":"天气预报","description":"查询一个城市的天气。"}"#,
        r#"{"name":"escape","description":"\u001b[31mRed\u001b[0m \u0007 and \u202e turned.","server":"\u001b[2Jsource"}"#,
        r#"{"name":"plain","description":"Reads a file."}"#,
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let tools = path.display().to_string();
    let long = "read a file ".repeat(8_500);
    for query in [
        "天气",
        "",
        "   ",
        ".*(a+)+$[^]{9999}\\",
        "\u{1b}[31m\u{202e}read",
        &long,
        "select:empty,plain",
        "source:",
    ] {
        let run = || world.run(&["tools", "--tools", &tools, "--search", query]);
        let ran = run();
        assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
        assert!(!ran.stdout.is_empty());
        assert!(
            !ran.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{}",
            ran.stdout
        );
        assert_eq!(run().stdout, ran.stdout);
    }
    let found = world.run(&["tools", "--tools", &tools, "--search", "天气"]);
    assert!(
        found.stdout.lines().next().unwrap().contains("查询"),
        "{}",
        found.stdout
    );
    for more in [&[][..], &["--cost"], &["--render", "gemini"]] {
        let ran = world.run(&[&["tools", "--tools", &tools], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    }
}

#[test]
fn files_that_are_no_tools_are_named() {
    let world = World::empty();
    let path = world.home().join("odd.jsonl");
    for (text, hint) in [
        (&b"\xff\xfe{\"name\":\"a\"}"[..], "odd.jsonl:1"),
        (b"{\"name\":\"a\"}\n{\"name\":\"\xe9\"}", "odd.jsonl:2"),
        (
            b"{\"error\":{\"code\":-32001,\"message\":\"Session not found\"}}",
            "\"Session not found\" (code -32001)",
        ),
        (b"[]", "odd.jsonl"),
        (
            b"{\"tools\":[{\"title\":\"no name\"}]}",
            "tool 1 of the list",
        ),
        (b"{\"name\":\"\"}", "odd.jsonl:1"),
        (b"\n\n{\"name\":7}", "odd.jsonl:3"),
        (b"7", "odd.jsonl:1"),
        (b"{\"name\":\"a\",\"command\":\"ls\"}", "odd.jsonl:1"),
    ] {
        std::fs::write(&path, text).unwrap();
        let ran = world.run(&["tools", "--tools", &path.display().to_string()]);
        assert_eq!(ran.code, Some(1), "{}", String::from_utf8_lossy(text));
        assert!(ran.complaint().contains(hint), "{}", ran.stderr);
    }
    for path in [world.home().join("gone"), world.home()] {
        let path = path.display().to_string();
        let ran = world.run(&["tools", "--tools", &path]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.complaint().contains(&path), "{}", ran.stderr);
    }
}

#[test]
fn a_tool_is_found_searched_for_and_called_by_what_its_source_calls_it() {
    let world = World::sample();
    let path = world.home().join("foreign.jsonl");
    let long = "очень_длинное_имя_".repeat(20);
    let originals = ["погода", "get.x", "☂", &long];
    let mut lines = vec![r#"{"name":"get_x","description":"Another one."}"#.to_owned()];
    for name in originals {
        lines.push(format!(
            r#"{{"name":"{name}","description":"Does it.","command":["sh","-c","echo did it"]}}"#
        ));
    }
    std::fs::write(&path, lines.join("\n")).unwrap();
    let tools = path.display().to_string();
    for name in originals {
        let ran = world.run(&["tools", "--tools", &tools, "--search", name]);
        let first = ran.stdout.lines().next().unwrap_or_default();
        assert!(first.ends_with("Does it."), "{name}: {}", ran.stdout);
        let shown: String = name.chars().take(20).collect();
        assert!(first.contains(&format!("({shown}")), "{name}: {first}");
        let search = format!(
            r#"{{"calls":[{{"name":"tool_search","arguments":{{"query":"select:{name}"}}}}]}}"#
        );
        let direct = format!(r#"{{"calls":[{{"name":"{name}","arguments":{{}}}}]}}"#);
        let ran = ask(&world, &tools, &[&search, &direct, r#"{"text":"Done."}"#]);
        let results = results(&ran);
        assert!(results[0].2.starts_with("Loaded"), "{name}: {results:?}");
        assert_eq!(results[1].2.trim(), "did it", "{name}: {results:?}");
        assert!(results[1].0.is_ascii(), "{results:?}");
    }
}

#[test]
fn a_search_says_which_names_there_are_not_and_names_nothing_near_where_nothing_is() {
    let world = World::sample();
    let tools = with_tools(&world);
    let search = |query: &str| world.run(&["tools", "--tools", &tools, "--search", query]);
    let ran = search("select:weather_lookup,wether_lookup,nope");
    assert_eq!(ran.code, Some(0));
    insta::assert_snapshot!(ran.stdout, @r"
    weather_lookup  Current weather of a town.
    There is no tool wether_lookup; near it: weather_lookup.
    There is no tool nope.
    ");
    let ran = search("§§ ☃☃");
    assert_eq!((ran.code, &*ran.stdout), (Some(1), "Nothing fits.\n"));
    let ran = search("天气预报");
    assert_eq!(
        (ran.code, &*ran.stdout),
        (
            Some(1),
            "Nothing fits: no tool has any of these words. Ask in the language of the descriptions.\n"
        )
    );
}

#[test]
fn a_list_that_goes_on_at_the_server_is_said_to() {
    let world = World::empty();
    let path = world.home().join("dump.json");
    let page = r#"{"tools":[{"name":"a","description":"A."}],"nextCursor":"p2"}"#;
    std::fs::write(&path, page).unwrap();
    let ran = world.run(&["tools", "--tools", &path.display().to_string()]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stderr.contains(r#"has the nextCursor "p2""#),
        "{}",
        ran.stderr
    );
}

/// Without the feature the flag says how to get it; with it, the file that is wrong.
#[test]
fn an_encoder_that_cannot_be_used_says_why() {
    let world = World::sample();
    let tools = with_tools(&world);
    let nowhere = world.home().join("no-weights").display().to_string();
    let search = [
        "tools",
        "--tools",
        &tools,
        "--search",
        "weather",
        "--encoder",
    ];
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
