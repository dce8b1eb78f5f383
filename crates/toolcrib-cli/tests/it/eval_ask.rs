//! Questions with known places, asked of the real binary.

use serde_json::Value;

use crate::world::{Ran, World};

fn evaluate(world: &World, questions: &str) -> Ran {
    let path = world.home().join("questions.jsonl");
    std::fs::write(&path, questions).unwrap();
    let repos = world.repo().parent().unwrap().display().to_string();
    let questions = path.display().to_string();
    world.run(&[
        "eval",
        "ask",
        "--repos",
        &repos,
        "--questions",
        &questions,
        "--json",
    ])
}

#[test]
fn right_places_among_the_first_citations_are_counted() {
    let world = World::sample();
    let question = |text: &str, path: &str| {
        format!(
            "{{\"repo\":\"repo\",\"kind\":\"where\",\"question\":\"{text}\",\"places\":[{{\"path\":\"{path}\",\"start\":3,\"end\":10}}]}}\n"
        )
    };
    let text = question("Where is a result truncated?", "src/cut.rs")
        + &question("Where is a result truncated?", "src/nowhere.rs");
    let ran = evaluate(&world, &text);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["hit"], true, "{}", ran.stdout);
    assert_eq!(lines[0]["rank"], 1);
    assert_eq!(lines[1]["hit"], false);
    assert_eq!(lines[1]["rank"], Value::Null);
    assert_eq!(lines[2]["hits"], 1);
    assert_eq!(lines[2]["questions"], 2);
}

#[test]
fn a_missing_repository_is_named_before_anything_is_asked() {
    let world = World::sample();
    let ran = evaluate(
        &world,
        r#"{"repo":"elsewhere","question":"q","places":[{"path":"a","start":1,"end":2}]}"#,
    );
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("elsewhere"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn saying_that_there_is_nothing_is_right_where_there_is_nothing() {
    let world = World::sample();
    let question =
        |text: &str| format!("{{\"repo\":\"repo\",\"question\":\"{text}\",\"places\":[]}}\n");
    let text = question("Where is the flux capacitor charged?")
        + &question("Where is a result truncated?");
    let ran = evaluate(&world, &text);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |line: &Value| (line["hit"].clone(), line["found"].clone());
    assert_eq!(of(&lines[0]), (Value::Bool(true), Value::Bool(false)));
    assert_eq!(of(&lines[1]), (Value::Bool(false), Value::Bool(true)));
    assert_eq!(lines[2]["hits"], 1);
}
