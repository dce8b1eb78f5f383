//! `toolcrib ask` on small repositories.

use crate::world::{World, json_lines};

#[test]
fn a_question_is_answered_offline_with_places_that_exist() {
    let world = World::sample();
    let ran = world.run(&["ask", "Where are tool results truncated?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("src/cut.rs:4-10"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("Truncates the result of a tool at cap characters."),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("unverified"), "{}", ran.stdout);
    assert!(
        !ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'),
        "a pipe got escapes"
    );
}

#[test]
fn the_question_can_come_from_standard_input() {
    let world = World::sample();
    let question = world.home().join("question.txt");
    std::fs::write(&question, "Who calls truncate_result?\n").unwrap();
    for args in [&["ask"][..], &["ask", "-"]] {
        let output = world
            .command()
            .args(args)
            .stdin(std::fs::File::open(&question).unwrap())
            .output()
            .unwrap();
        let ran = crate::world::ran(output);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(
            ran.stdout
                .contains("called by `demo::show` at src/lib.rs:7"),
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn quiet_leaves_the_answer_alone() {
    let world = World::sample();
    let ran = world.run(&["ask", "--quiet", "Where are results truncated?"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(!ran.stdout.is_empty());
}

#[test]
fn the_answer_is_the_same_every_time() {
    let world = World::sample();
    let first = world.run(&["ask", "How are results truncated?"]).stdout;
    assert_eq!(
        first,
        world.run(&["ask", "How are results truncated?"]).stdout
    );
}

#[test]
fn a_script_is_a_model_like_any_other() {
    let world = World::sample();
    let model = world.script(&[
        r#"{"calls":[{"name":"search_symbols","arguments":{"query":"truncate"}}]}"#,
        r#"{"text":"It is `truncate_result` at src/cut.rs:4-10."}"#,
    ]);
    let ran = world.run(&["ask", "--model", &model, "Where?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout, "It is `truncate_result` at src/cut.rs:4-10.\n");
}

#[test]
fn g15_a_wrong_citation_goes_back_and_what_stays_wrong_is_marked() {
    let world = World::sample();
    let model = world.script(&[
        r#"{"text":"It is at src/nowhere.rs:7."}"#,
        r#"{"text":"It is `truncate_result` at src/cut.rs:4-10."}"#,
    ]);
    let ran = world.run(&["ask", "--format", "json", "--model", &model, "Where?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("answer_rejected"), "{}", ran.stdout);
    assert!(ran.stdout.contains("src/nowhere.rs"), "{}", ran.stdout);

    let model = world.script(&[
        r#"{"text":"It is at src/nowhere.rs:7."}"#,
        r#"{"text":"It really is at src/nowhere.rs:7."}"#,
    ]);
    let ran = world.run(&["ask", "--model", &model, "Where?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("It really is at src/nowhere.rs:7"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("unverified"), "{}", ran.stdout);
}

#[test]
fn json_is_one_event_a_line_and_the_end_comes_last() {
    let world = World::sample();
    let ran = world.run(&["ask", "--format", "json", "Where are results truncated?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let events: Vec<serde_json::Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds.first(), Some(&"run_started"));
    assert_eq!(kinds.last(), Some(&"run_finished"));
    let started = kinds
        .iter()
        .filter(|kind| **kind == "tool_call_started")
        .count();
    let finished = kinds
        .iter()
        .filter(|kind| **kind == "tool_call_finished")
        .count();
    assert!(started > 0 && started == finished);
    let citations = events
        .iter()
        .find(|event| event["type"] == "citations")
        .unwrap();
    assert_eq!(citations["citations"][0]["path"], "src/cut.rs");
    assert!(
        events.last().unwrap()["answer"]
            .as_str()
            .unwrap()
            .contains("src/cut.rs:4-10")
    );
}

#[test]
fn a_budget_without_an_answer_ends_with_three() {
    let world = World::sample();
    let call = r#"{"calls":[{"name":"list_files","arguments":{}}]}"#;
    let model = world.script(&[call, call, call]);
    let ran = world.run(&["ask", "--rounds", "2", "--model", &model, "Where?"]);
    assert_eq!(ran.code, Some(3), "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("2 rounds"), "{}", ran.stderr);
}

#[test]
fn a_session_is_kept_and_can_be_declined() {
    let world = World::sample();
    world.run(&["ask", "--no-session", "Where are results truncated?"]);
    assert_eq!(world.sessions().len(), 0);
    let ran = world.run(&["ask", "Where are results truncated?"]);
    let [session] = &world.sessions()[..] else {
        panic!("one session")
    };
    assert!(
        ran.stderr.contains(&session.display().to_string()),
        "{}",
        ran.stderr
    );
    let rows = json_lines(session);
    assert_eq!(rows.first().unwrap()["row"], "meta");
    assert_eq!(rows.last().unwrap()["row"], "finished");
    assert!(rows.iter().any(|row| row["row"] == "tool_result"));
}

#[test]
fn two_at_once_in_one_directory_do_not_meet() {
    let world = World::sample();
    let children: Vec<_> = (0..2)
        .map(|_| {
            let mut command = world.command();
            command.args(["ask", "Where are results truncated?"]);
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children {
        let ran = crate::world::ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    assert_eq!(world.sessions().len(), 2);
    for session in world.sessions() {
        assert_eq!(json_lines(&session).last().unwrap()["row"], "finished");
    }
}

#[test]
fn configuration_is_read_and_its_mistakes_are_named() {
    let world = World::sample();
    world.file("toolcrib.toml", "rouns = 3\n");
    let ran = world.run(&["ask", "Where?"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.complaint()
            .ends_with("unknown key `rouns`; did you mean `rounds`?"),
        "{}",
        ran.stderr
    );

    let call = r#"{"calls":[{"name":"list_files","arguments":{}}]}"#;
    let model = world.script(&[call, call, call, call]);
    world.file("toolcrib.toml", "rounds = 2\n");
    assert_eq!(
        world.run(&["ask", "--model", &model, "Where?"]).code,
        Some(3)
    );
}

#[test]
fn a_model_named_by_the_repository_counts_only_when_trusted() {
    let world = World::sample();
    let model = world.script(&[r#"{"text":"scripted"}"#]);
    world.file("toolcrib.toml", format!("model = {model:?}\n"));
    let ran = world.run(&["ask", "Where are results truncated?"]);
    assert!(ran.stdout.contains("src/cut.rs"), "{}", ran.stdout);
    assert!(ran.stderr.contains("toolcrib trust"), "{}", ran.stderr);

    assert_eq!(world.run(&["trust"]).code, Some(2), "no terminal to ask on");
    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(
        world.run(&["ask", "Where are results truncated?"]).stdout,
        "scripted\n"
    );

    world.file("toolcrib.toml", format!("model = {model:?} # edited\n"));
    let ran = world.run(&["ask", "Where are results truncated?"]);
    assert!(ran.stdout.contains("src/cut.rs"), "{}", ran.stdout);
}

#[test]
fn a_key_in_the_environment_is_hinted_at_and_never_shown_or_used() {
    let world = World::sample();
    let output = world
        .command()
        .env("OPENAI_API_KEY", "sk-very-secret")
        .args(["ask", "Where are results truncated?"])
        .output()
        .unwrap();
    let ran = crate::world::ran(output);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.contains("OPENAI_API_KEY"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("sk-very-secret") && !ran.stdout.contains("sk-very-secret"));
    for session in world.sessions() {
        assert!(
            !std::fs::read_to_string(session)
                .unwrap()
                .contains("sk-very-secret")
        );
    }
}

#[test]
fn nothing_worth_citing_is_said_plainly() {
    let world = World::sample();
    let question = "Where is the flux capacitor charged?";
    let ran = world.run(&["ask", question]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Nothing found: "), "{}", ran.stdout);
    let found = |question: &str| {
        let ran = world.run(&["ask", "--format", "json", question]);
        let lines = ran.stdout.lines();
        let events = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut cited = events.filter(|event| event["type"] == "citations");
        (ran.code, cited.next().unwrap()["found"].clone())
    };
    assert_eq!(found(question), (Some(4), false.into()));
    let known = found("Where is a result truncated?");
    assert_eq!(known, (Some(0), true.into()));
}

#[test]
fn g15_names_that_look_like_files_and_overloads_hold() {
    let world = World::empty();
    world.file(
        "shop.py",
        "class Response:\n    def json(self):\n        return 1\n\n\nif True:\n    def pick():\n        return 1\nelse:\n    def pick():\n        return 2\n",
    );
    let model = world.script(&[
        r#"{"text":"`shop.Response.json` is at shop.py:2-3, and `shop.pick` at shop.py:10-11."}"#,
    ]);
    let ran = world.run(&["ask", "--model", &model, "Where?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stdout.contains("unverified"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("1 round "),
        "it went back: {}",
        ran.stderr
    );
}

#[test]
fn the_directory_may_stand_anywhere_on_the_line() {
    let world = World::sample();
    let dir = world.repo().display().to_string();
    for args in [
        &["graph", "-C", &dir, "files"][..],
        &["graph", "files", "-C", &dir],
    ] {
        let output = world
            .command()
            .current_dir(world.home())
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn callers_of_what_does_not_exist_are_not_those_of_something_else() {
    let world = World::sample();
    for (question, said) in [
        ("Who calls truncate_everything?", "no symbol is named "),
        ("Who calls push_back?", "is worth citing"),
    ] {
        let ran = world.run(&["ask", "--no-session", "--quiet", question]);
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
        assert!(!ran.stdout.contains("called by"), "{}", ran.stdout);
    }
}
