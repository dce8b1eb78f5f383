//! `toolcrib graph` and `toolcrib completions`.

use std::process::Stdio;

use crate::world::World;

#[test]
fn the_lookups_print_what_a_model_would_read() {
    let world = World::sample();
    let text = |args: &[&str]| {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        ran.stdout
    };
    insta::assert_snapshot!("search", text(&["graph", "search", "truncate"]));
    insta::assert_snapshot!("explore", text(&["graph", "explore", "src"]));
    insta::assert_snapshot!(
        "neighbors",
        text(&["graph", "neighbors", "truncate_result"])
    );
    insta::assert_snapshot!("source", text(&["graph", "source", "src/cut.rs", "3", "6"]));
    insta::assert_snapshot!("files", text(&["graph", "files", "--glob", "*.rs"]));
    insta::assert_snapshot!("stats", text(&["graph", "stats"]));
}

#[cfg(unix)]
#[test]
fn g02_stats_give_the_reason_for_every_path_once() {
    use std::os::unix::fs::symlink;
    let world = World::sample();
    for (path, text) in [
        (
            "broken.py",
            b"def before(): pass\ndef broken(:\n".as_slice(),
        ),
        ("latin.rb", b"# caf\xe9\nclass Latin\nend\n"),
        ("wide.kt", b"\xff\xfef\0u\0n\0 \0f\0(\0)\0"),
        ("nul.lua", b"x = 1\0"),
        ("A.sh", b"a() { :; }\n"),
        ("a.sh", b"a() { :; }\n"),
        ("two words/line\nbreak.swift", b"func f() {}\n"),
        ("vendor/x.php", b"<?php function x() {}\n"),
        ("Gemfile.lock", b"GEM\n"),
    ] {
        world.file(path, text);
    }
    world.file("long.scala", "x".repeat(5 * 1024 * 1024));
    let at = |name: &str| world.repo().join(name);
    symlink("nowhere", at("dangling")).unwrap();
    symlink("loop", at("loop")).unwrap();
    symlink("/", at("out")).unwrap();
    symlink("A.sh", at("alias.sh")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(at("pipe.cs"))
        .status();
    assert!(pipe.unwrap().success());
    let ran = world.run(&["graph", "stats"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("hostile_stats", ran.stdout);
}

#[test]
fn nothing_found_ends_with_one() {
    let world = World::sample();
    for args in [
        &["graph", "search", "zzzzzz"][..],
        &["graph", "explore", "no/such/place"],
        &["graph", "neighbors", "zzzzzz"],
        &["graph", "source", "src/none.rs"],
        &["graph", "source", "../outside.txt"],
        &["graph", "files", "--glob", "*.zig"],
    ] {
        assert_eq!(world.run(args).code, Some(1), "{args:?}");
    }
}

#[test]
fn wrong_words_end_with_two() {
    let world = World::sample();
    for args in [
        &["graph", "search", "cut", "--kind", "gizmo"][..],
        &["graph", "neighbors", "show", "--direction", "sideways"],
        &["graph", "files", "--glob", "["],
        &["graph", "source", "src/cut.rs", "5", "2"],
    ] {
        assert_eq!(world.run(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_printed_follow_up_can_be_made_on_the_command_line() {
    let world = World::sample();
    let first = world
        .run(&["graph", "search", "cut", "--limit", "1"])
        .stdout;
    let (_, command) = first.split_once("next: toolcrib ").unwrap();
    let args: Vec<&str> = command.split_whitespace().collect();
    let next = world.run(&args).stdout;
    assert!(next.contains("2-2 shown"), "{next}");
}

#[test]
fn hints_for_people_are_commands_for_the_same_directory() {
    let world = World::sample();
    let said = |args: &[&str]| {
        let ran = world.run(args);
        ran.stdout + &ran.stderr
    };
    let text = said(&["graph", "neighbors", "zzzzzz"]);
    assert!(text.contains("use `toolcrib graph search` first"), "{text}");
    let dir = world.repo().display().to_string();
    let text = said(&["graph", "-C", &dir, "search", "cut", "--limit", "1"]);
    let next = format!("next: toolcrib graph -C '{dir}' search --limit 1 --offset 1 cut");
    assert!(text.contains(&next), "{text}");
    let text = said(&["graph", "neighbors", "show", "--direction", "up"]);
    assert!(
        text.contains("use one of incoming, outgoing, both"),
        "{text}"
    );
    let help = said(&["graph", "neighbors", "--help"]);
    assert!(help.contains("incoming, outgoing or both"), "{help}");
    let text = said(&["graph", "search", "cut", "--limit", "51"]);
    assert!(
        text.contains("limit takes 1 to 50, so 51 is read as 50"),
        "{text}"
    );
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let world = World::empty();
    for i in 0..400 {
        world.file(&format!("src/file_{i}.rs"), format!("pub fn f{i}() {{}}\n"));
    }
    let mut child = world
        .command()
        .args(["graph", "files"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(output.status.code().is_some(), "killed by a signal");
}

#[test]
fn completions_exist_for_the_usual_shells() {
    let world = World::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = world.run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.contains("toolcrib"), "{shell}");
    }
}
