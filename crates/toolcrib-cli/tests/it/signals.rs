//! Ctrl-C: the run ends with 130, the session stays whole.
#![cfg(unix)]

use std::process::Command;
use std::time::{Duration, Instant};

use toolcrib_testkit::{Answer, ByteServer};

use crate::world::{World, json_lines, ran};

pub(crate) fn interrupt(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn an_interrupt_ends_the_run_and_keeps_the_session() {
    for signal in ["INT", "TERM"] {
        let world = World::sample();
        let server = ByteServer::start([Answer::sse([
            r#"{"choices":[{"index":0,"delta":{"content":"It"}}]}"#,
        ])
        .wait(Duration::from_secs(600))])
        .unwrap();
        let model = format!("{}#m", server.url("/v1"));
        let child = world.spawn(&["ask", "--model", &model, "Where are results truncated?"]);
        let deadline = Instant::now() + Duration::from_secs(60);
        while server.received().is_empty() {
            assert!(Instant::now() < deadline, "the request never came");
            std::thread::sleep(Duration::from_millis(10));
        }
        interrupt(child.id(), signal);
        let ran = ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{signal}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let [session] = &world.sessions()[..] else {
            panic!("one session")
        };
        let rows = json_lines(session);
        assert_eq!(rows.last().unwrap()["row"], "finished");
        assert_eq!(rows.last().unwrap()["outcome"], "cancelled");
    }
}

/// Processes whose command line holds a mark.
#[cfg(target_os = "linux")]
pub(crate) fn alive(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The run was cancelled, and each of its calls has its result.
#[cfg(target_os = "linux")]
fn assert_cancelled(world: &World) {
    let [session] = &world.sessions()[..] else {
        panic!("one session")
    };
    let rows = json_lines(session);
    assert_eq!(rows.last().unwrap()["outcome"], "cancelled");
    let results: Vec<_> = rows
        .iter()
        .filter(|row| row["row"] == "tool_result")
        .collect();
    assert_eq!(results.len(), 3, "each call has its result");
    assert_eq!(results[1]["kind"], "cancelled");
    let said = results[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        said.contains("done quickly"),
        "a sibling keeps its result: {said}"
    );
}

/// A tool that starts a child and a grandchild, which outlive it if nobody ends them;
/// another one that ends at once, called beside it; and one that ignores the request to
/// end.
#[test]
#[cfg(target_os = "linux")]
fn p14_l15_an_end_while_tools_run_leaves_no_process_and_a_session_that_goes_on() {
    let ends = [("INT", false), ("TERM", true), ("KILL", true)];
    for (nth, (at, deaf)) in ends.into_iter().enumerate() {
        let world = World::sample();
        let mark = format!("31{}{nth}", std::process::id());
        let trap = if deaf { "trap '' TERM INT HUP; " } else { "" };
        let tree = format!("{trap}(sleep {mark} & sleep {mark}) & sleep {mark} & wait");
        let describe = |name: &str, script: &str| {
            serde_json::json!({
                "name": name, "description": "Does it.", "parameters": {"type": "object"},
                "annotations": {"readOnlyHint": true}, "command": ["sh", "-c", script],
            })
            .to_string()
        };
        world.file(
            "tools.jsonl",
            [
                describe("tree", &tree),
                describe("quick", "echo done quickly"),
            ]
            .join("\n"),
        );
        let script = world.script(&[
            r#"{"calls":[{"name":"quick","arguments":{}},{"name":"tree","arguments":{}},{"name":"quick","arguments":{"n":2}}]}"#,
            r#"{"text":"It is in src/cut.rs:4."}"#,
        ]);
        let child = world.spawn(&crate::world::ask_with_tools(&script, "Where?"));
        until("the tool's children never came", || alive(&mark).len() >= 3);
        let killed = at == "KILL";
        if killed {
            // The guard is told right after the start.
            std::thread::sleep(Duration::from_millis(500));
        }
        interrupt(child.id(), at);
        let ran = ran(child.wait_with_output().unwrap());
        let code = (!killed).then_some(130);
        assert_eq!(ran.code, code, "{at}: {}", ran.stderr);
        until("children are left", || alive(&mark).is_empty());
        if !killed {
            assert_cancelled(&world);
        }
        // It goes on where it was.
        let answer = world.script(&[r#"{"text":"It is in src/cut.rs:4."}"#]);
        let resumed = world.run(&["session", "resume", "last", "--model", &answer, "And now?"]);
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        assert!(
            resumed.stdout.contains("src/cut.rs:4"),
            "{}",
            resumed.stdout
        );
    }
}

/// What needs a yes does not wait where nobody can give one, and runs where the command
/// line allows it.
#[test]
fn l12_without_a_terminal_only_what_is_allowed_runs() {
    let world = World::sample();
    world.file(
        "tools.jsonl",
        r#"{"name":"wipe","description":"Wipes.","annotations":{"destructiveHint":true},"command":["sh","-c","echo wiped > wiped"]}"#,
    );
    let run = |more: &[&str]| {
        let script = world.script(&[
            r#"{"calls":[{"name":"wipe","arguments":{}}]}"#,
            r#"{"text":"Done, see src/cut.rs:4."}"#,
        ]);
        let mut args = vec!["ask", "--tools", "tools.jsonl", "--model", &script];
        args.extend(more);
        args.push("Wipe it.");
        world.run(&args)
    };
    let wiped = || world.repo().join("wiped").exists();
    for (flags, runs) in [
        (&[][..], false),
        (&["--mode", "ask"], false),
        (&["--mode", "plan", "--allow", "wipe"], false),
        (&["--allow", "wi*"], true),
        (&["--mode", "yolo"], true),
    ] {
        let ran = run(flags);
        assert_eq!(ran.code, Some(0), "{flags:?}: {}", ran.stderr);
        assert_eq!(wiped(), runs, "{flags:?}");
        let _ = std::fs::remove_file(world.repo().join("wiped"));
    }
    let ran = run(&["--allow", "wip"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.complaint().contains("--allow names the tool `wip`"),
        "{}",
        ran.stderr
    );
}
