//! A chat over a plain pipe.

use std::io::Write as _;
use std::process::Stdio;

use crate::world::{Ran, World, ran};

fn chat(world: &World, args: &[&str], typed: &str) -> Ran {
    let mut child = world
        .command()
        .arg("chat")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(typed.as_bytes()).unwrap();
    drop(stdin);
    ran(child.wait_with_output().unwrap())
}

#[test]
fn two_questions_are_answered_in_one_session() {
    let world = World::sample();
    let ran = chat(
        &world,
        &[],
        "Where is a result truncated?\n/calls\n\nWho calls truncate_result?\n/cost\n/quit\nnever read\n",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("src/cut.rs:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("src/lib.rs"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  search_symbols {"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("round 1: search_symbols ×"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.sessions().len(), 1);
    let report = world.run(&["report"]).stdout;
    assert_eq!(report.matches("answered: ").count(), 2, "{report}");
    assert!(!report.contains("never read"));
}

#[test]
fn what_was_said_before_is_sent_again_and_models_can_be_changed() {
    let world = World::sample();
    let model = world.script(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let ran = chat(
        &world,
        &["--quiet", "--model", &model],
        "first\nsecond\\\nand more\n/model builtin:navigator\n/model\n/tools\n",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("One.\nTwo.\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("search_symbols  "), "{}", ran.stdout);
    assert!(ran.stderr.contains("builtin:navigator"), "{}", ran.stderr);
    let rows = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(rows.contains(r"second\nand more"), "{rows}");
}

#[test]
fn a_chat_branches_off_and_goes_on_with_another_session() {
    let world = World::sample();
    let first = chat(
        &world,
        &[],
        "Where is a result truncated?\n/fork\nWho calls show?\n",
    );
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert_eq!(world.sessions().len(), 2);
    let counts: Vec<usize> = world
        .sessions()
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            text.matches(r#""row":"finished""#).count()
        })
        .collect();
    assert_eq!(counts, [1, 2]);
    let second = chat(&world, &[], "/resume last\nWho calls truncate_result?\n");
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(
        second.stderr.contains("going on with "),
        "{}",
        second.stderr
    );
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn a_wrong_command_or_session_ends_nothing() {
    let world = World::sample();
    let ran = chat(
        &world,
        &[],
        "/tol\n/resume\n/resume nowhere\n/fork\nWho calls show?\n",
    );
    for part in [
        "did you mean /tools",
        "write /resume",
        "no session is called",
        "nothing was said yet",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    // The last thing that was asked decides how a pipe ends.
    assert!(!ran.stdout.is_empty());
    let ran = world.run(&["chat", "--format", "json"]);
    assert_eq!(ran.code, Some(2));
}
