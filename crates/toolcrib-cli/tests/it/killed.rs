//! The real binary killed at many points: what it had written stays readable,
//! and no more than the turn in flight is lost.

use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::World;

/// Rows without what differs between two runs of the same script.
fn rows(text: &str) -> Vec<Value> {
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            let fields = row.as_object_mut().unwrap();
            for volatile in ["at", "ms", "id", "created"] {
                fields.remove(volatile);
            }
            row
        })
        .collect()
}

#[test]
fn l30_killed_at_200_points_a_session_loses_at_most_the_turn_in_flight() {
    let world = World::sample();
    // Each another one: the same call again and again would end the run.
    let call = |n: u32| {
        format!(
            r#"{{"calls":[{{"name":"search_symbols","arguments":{{"query":"truncate","limit":{n}}}}}]}}"#
        )
    };
    let calls: Vec<String> = (1..=12).map(call).collect();
    let mut replies: Vec<&str> = calls.iter().map(String::as_str).collect();
    replies.push(r#"{"text":"It is cut in src/cut.rs:4."}"#);
    let model = world.script(&replies);
    let ask = || {
        let mut command = world.command();
        command
            .args(["ask", "--format", "json", "--model", &model, "Where?"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    };
    let start = Instant::now();
    assert!(ask().output().unwrap().status.success());
    let mut whole_time = start.elapsed();
    let whole = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    let whole = rows(&whole);
    std::fs::remove_file(&world.sessions()[0]).unwrap();

    let mut cut_short = 0;
    for point in 0..200u32 {
        let mut child = ask().spawn().unwrap();
        // Spread over somewhat more than one run, so that the end is hit as well.
        std::thread::sleep(whole_time * point / 180 + Duration::from_micros(200));
        child.kill().unwrap();
        let mut events = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut events)
            .unwrap();
        child.wait().unwrap();
        let sessions = world.sessions();
        let Some(path) = sessions.first() else {
            assert!(events.is_empty(), "events without a session: {events}");
            continue;
        };
        let text = std::fs::read_to_string(path).unwrap();
        let found = rows(&text);
        assert_eq!(found[..], whole[..found.len()], "killed at point {point}");
        // A turn that was announced has all earlier ones behind it on disk.
        let announced = events.matches("\"turn_started\"").count();
        let replies = found
            .iter()
            .filter(|row| row["message"].get("assistant").is_some())
            .count();
        assert!(
            replies + 1 >= announced,
            "{replies} replies of {announced} turns"
        );
        let complete = found.len() == whole.len();
        cut_short += u32::from(!complete);
        if complete {
            // The run that was timed was a slow one.
            whole_time = whole_time * 19 / 20;
        }
        if point % 50 == 25 {
            let shown = world.run(&["session", "show", "last"]);
            assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        }
        std::fs::remove_file(path).unwrap();
    }
    assert!(cut_short > 20, "only {cut_short} runs were cut short");
}

/// An agent that ignores being asked to end, and what it started.
#[cfg(all(target_os = "linux", feature = "acp"))]
#[test]
fn p35_when_an_ask_is_killed_its_agent_and_the_agents_children_end() {
    let world = World::sample();
    let pids = world.home().join("pids");
    let script = world.home().join("agent.sh");
    let text = format!(
        "trap '' TERM\nsleep 100 &\necho $$ $! > '{}'\nwait\n",
        pids.display()
    );
    std::fs::write(&script, text).unwrap();
    let model = format!("acp:sh '{}'", script.display());
    let mut child = world
        .command()
        .args(["ask", "--model", &model, "Where?"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let limit = Duration::from_secs(60);
    let started = loop {
        let text = std::fs::read_to_string(&pids).unwrap_or_default();
        if text.ends_with('\n') {
            break text;
        }
        assert!(begun.elapsed() < limit, "no agent was started");
        std::thread::sleep(Duration::from_millis(10));
    };
    // The guard is told right after the start.
    std::thread::sleep(Duration::from_millis(200));
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in started.split_whitespace() {
        while crate::gateway::faults::runs(pid) {
            assert!(begun.elapsed() < limit, "{pid} runs on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// An agent and a command of a tool that run side by side have one guard between them.
#[cfg(all(target_os = "linux", feature = "acp"))]
#[test]
fn all_that_an_ask_starts_has_one_guard() {
    let world = World::sample();
    let agent = world.home().join("agent.sh");
    let text = r#"
update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | grep -o '"id":[^,}]*' | head -n 1)
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"session/new"'*) result='{"sessionId":"s"}' ;;
    *'"session/prompt"'*)
      if [ -e asked ]; then update 'It is in src/cut.rs:4.'; else
        update '<tool_call>{\"name\":\"guards\",\"arguments\":{}}</tool_call>'; fi
      : > asked
      result='{"stopReason":"end_turn"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0",%s,"result":%s}\n' "$id" "$result"
done
"#;
    std::fs::write(&agent, text).unwrap();
    // The guard is told right after the start.
    let count = "sleep 0.3; for p in $(cat /proc/$PPID/task/*/children); do \
        tr '\\0' ' ' < /proc/$p/cmdline; done | grep -o 'guard-of-server[s]' | wc -l";
    let tool = serde_json::json!({
        "name": "guards", "description": "Counts guards.", "parameters": {"type": "object"},
        "annotations": {"readOnlyHint": true}, "command": ["sh", "-c", count],
    });
    world.file("tools.jsonl", tool.to_string());
    let model = format!("acp:sh '{}'", agent.display());
    let asked = world.run(&crate::world::ask_with_tools(&model, "Where?"));
    let shown = world.run(&["session", "show", "last"]).stdout;
    assert!(shown.contains("2 bytes: 1 ["), "{shown}{}", asked.stderr);
}
