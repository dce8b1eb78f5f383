//! A signal at any point of a run: the session goes on afterwards, and no process is
//! left.
#![cfg(unix)]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_testkit::{Answer, ByteServer};

use crate::signals::{interrupt, until};
use crate::world::{World, ask_with_tools, json_lines, ran};

fn delta(delta: Value, finish: Option<&str>) -> String {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).to_string()
}

/// A call of a lookup, another one for each number.
fn call(n: usize) -> Answer {
    let arguments = json!({"query": "truncate", "limit": n}).to_string();
    let calls = json!([{"index": 0, "id": format!("c{n}"),
        "function": {"name": "search_symbols", "arguments": arguments}}]);
    Answer::sse([delta(json!({"tool_calls": calls}), Some("tool_calls"))]).done()
}

/// Panics unless each call of the session has its one result, in order.
fn assert_whole(session: &Path) {
    let rows = json_lines(session);
    assert_eq!(rows.last().unwrap()["row"], "finished");
    assert_eq!(rows.last().unwrap()["outcome"], "cancelled");
    let mut open = VecDeque::new();
    for row in &rows {
        if row["row"] == "tool_result" {
            assert_eq!(row["result"]["call_id"], open.pop_front().unwrap(), "{row}");
        }
        let blocks = row["message"]["assistant"]["blocks"].as_array();
        for block in blocks.into_iter().flatten() {
            if let Some(id) = block["call"].get("id") {
                open.push_back(id.clone());
            }
        }
    }
    assert!(open.is_empty(), "{open:?} has no result");
}

/// The session is shown, and gone on with by a model that sees it.
fn assert_goes_on(world: &World) {
    let sessions = world.sessions();
    let sessions: Vec<_> = sessions
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    let [session] = &sessions[..] else {
        panic!("one session, not {sessions:?}")
    };
    assert_whole(session);
    let shown = world.run(&["session", "show", "last"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let answer = world.script(&[r#"{"text":"It is in src/cut.rs:4."}"#]);
    let on = world.run(&["session", "resume", "last", "--model", &answer, "And now?"]);
    assert_eq!(on.code, Some(0), "{}", on.stderr);
    assert!(on.stdout.contains("src/cut.rs:4"), "{}", on.stdout);
}

/// Asks a server that answers like this, sends a signal once so many requests came, and
/// looks at what is left.
fn at(signal: &str, requests: usize, answers: Vec<Answer>, flags: &[&str]) {
    let world = World::sample();
    let server = ByteServer::start(answers).unwrap();
    let model = format!("{}#m", server.url("/v1"));
    let mut command = world.command();
    command.args(["ask", "--model", &model]).args(flags);
    let child = command
        .arg("Where are results truncated?")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = || {
        server
            .received()
            .iter()
            .filter(|sent| sent.method == "POST")
            .count()
    };
    until("the request never came", || asked() >= requests);
    // What was sent is under way; what follows it is not told apart by anything.
    std::thread::sleep(Duration::from_millis(50));
    interrupt(child.id(), signal);
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert_goes_on(&world);
}

#[test]
fn p14_before_the_first_reply_begins() {
    at("INT", 1, vec![Answer::silence()], &[]);
    at("HUP", 1, vec![Answer::silence()], &[]);
}

#[test]
fn p14_in_the_middle_of_text_and_of_arguments() {
    let text = delta(json!({"content": "It is "}), None);
    at("INT", 1, vec![Answer::sse([text]).stall()], &[]);
    let half = json!({"tool_calls": [{"index": 0, "id": "c",
        "function": {"name": "search_symbols", "arguments": "{\"que"}}]});
    let half = delta(half, None);
    at("TERM", 2, vec![call(1), Answer::sse([half]).stall()], &[]);
}

#[test]
fn p14_in_the_final_round() {
    at("INT", 1, vec![Answer::silence()], &["--rounds", "1"]);
    at(
        "TERM",
        2,
        vec![call(1), Answer::silence()],
        &["--rounds", "2"],
    );
}

#[test]
fn p14_while_it_waits_to_try_again() {
    let later = Answer::json(503, "{}").header("retry-after", "50");
    at("INT", 1, vec![later], &[]);
}

#[test]
fn p14_while_the_transcript_is_summarised() {
    let mut answers: Vec<Answer> = (1..=6).map(call).collect();
    let full = r#"{"error":{"type":"exceed_context_size_error","message":"too long","n_prompt_tokens":99,"n_ctx":10}}"#;
    answers.push(Answer::json(400, full));
    // The request for a summary.
    answers.push(Answer::silence());
    at("INT", 8, answers, &[]);
}

/// Twice in a row, while a command runs that would outlive it.
#[test]
#[cfg(target_os = "linux")]
fn p14_a_second_signal_ends_it_at_once_and_leaves_no_process() {
    let world = World::sample();
    let mark = format!("32{}", std::process::id());
    let script = grower(&world, &mark);
    world.file("go", "");
    let child = world.spawn(&ask_with_tools(&script, "Where?"));
    let alive = || crate::signals::alive(&mark).len();
    until("the tool's children never came", || alive() >= 3);
    interrupt(child.id(), "INT");
    let _ = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    until("children are left", || alive() == 0);
    let shown = world.run(&["session", "show", "last"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
}

/// A tool that starts a tree of commands once the file `go` is there, and a script that
/// calls it. The mark tells the tree's processes.
#[cfg(target_os = "linux")]
fn grower(world: &World, mark: &str) -> String {
    let tree = format!(
        "test -e go || exit 0; trap '' INT TERM HUP QUIT; (sleep {mark} & sleep {mark}) & sleep {mark} & wait"
    );
    let tool = json!({
        "name": "tree", "description": "Does it.", "parameters": {"type": "object"},
        "annotations": {"readOnlyHint": true}, "command": ["sh", "-c", tree],
    });
    world.file("tools.jsonl", tool.to_string());
    world.script(&[
        r#"{"calls":[{"name":"tree","arguments":{}}]}"#,
        r#"{"text":"It is in src/cut.rs:4."}"#,
    ])
}

/// Starts this, sends the signal once the tool's tree is there, and returns how it ended
/// once the tree is gone.
#[cfg(target_os = "linux")]
fn felled(world: &World, mark: &str, signal: &str, args: &[&str]) -> crate::world::Ran {
    let child = world.spawn(args);
    let alive = || crate::signals::alive(mark).len();
    until("the tool's children never came", || alive() >= 3);
    interrupt(child.id(), signal);
    let ran = ran(child.wait_with_output().unwrap());
    until("children are left", || alive() == 0);
    ran
}

#[test]
#[cfg(target_os = "linux")]
fn p14_a_replay_that_is_interrupted_leaves_no_process() {
    let world = World::sample();
    let mark = format!("33{}", std::process::id());
    let script = grower(&world, &mark);
    let ask = ask_with_tools(&script, "Where?");
    assert_eq!(world.run(&ask).code, Some(0));
    world.file("go", "");
    for signal in ["INT", "TERM"] {
        let replay = ["session", "replay", "last", "--tools", "tools.jsonl"];
        let ran = felled(&world, &mark, signal, &replay);
        assert_eq!(ran.code, Some(130), "{signal}: {}", ran.stderr);
        assert!(ran.stderr.contains("was interrupted"), "{}", ran.stderr);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn p14_quit_ends_it_at_once_and_leaves_no_process() {
    let world = World::sample();
    let mark = format!("34{}", std::process::id());
    let script = grower(&world, &mark);
    world.file("go", "");
    let ask = ask_with_tools(&script, "Where?");
    let ran = felled(&world, &mark, "QUIT", &ask);
    assert_eq!(ran.code, Some(131), "{}", ran.stderr);
}

/// Whoever reads the events goes away in the middle of the run.
#[test]
fn p14_a_run_whose_events_nobody_reads_is_cancelled() {
    use std::io::BufRead as _;
    let world = World::sample();
    world.file(
        "tools.jsonl",
        r#"{"name":"wait","description":"Waits.","annotations":{"readOnlyHint":true},"command":["sh","-c","until test -e go; do sleep 0.05; done"]}"#,
    );
    let script = world.script(&[
        r#"{"calls":[{"name":"wait","arguments":{}}]}"#,
        r#"{"text":"It is in src/cut.rs:4."}"#,
    ]);
    let args = ["ask", "--tools", "tools.jsonl", "--model", &script];
    let mut child = world
        .command()
        .args(args)
        .args(["--format", "json", "Where?"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut events = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut event = String::new();
    while !event.contains("tool_call_started") {
        event.clear();
        assert!(events.read_line(&mut event).unwrap() > 0, "no call");
    }
    drop(events);
    world.file("go", "");
    let ran = ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("standard output"), "{}", ran.stderr);
    assert_goes_on(&world);
}

/// A terminal with the program at its other end.
pub(crate) struct Terminal {
    keys: File,
    shown: Arc<Mutex<Vec<u8>>>,
    pub(crate) child: Child,
}

impl Terminal {
    pub(crate) fn of(world: &World, args: &[&str]) -> Terminal {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&main).unwrap();
        unlockpt(&main).unwrap();
        let name = ptsname(&main, Vec::new()).unwrap();
        let name = name.to_str().unwrap();
        let other = || File::options().read(true).write(true).open(name).unwrap();
        let child = world
            .command()
            .args(args)
            .env("TERM", "xterm")
            .stdin(other())
            .stdout(other())
            .stderr(other())
            .spawn()
            .unwrap();
        let keys = File::from(main);
        let mut screen = keys.try_clone().unwrap();
        let shown: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..n]);
            }
        });
        Terminal { keys, shown, child }
    }

    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    pub(crate) fn wait_for(&self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(90);
        while !self.shown().contains(text) {
            assert!(Instant::now() < deadline, "no {text:?} in {}", self.shown());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

#[test]
fn p14_l12_while_a_person_is_asked() {
    let world = World::sample();
    world.file(
        "tools.jsonl",
        r#"{"name":"wipe","description":"Wipes.","annotations":{"destructiveHint":true},"command":["sh","-c","echo wiped > wiped"]}"#,
    );
    let call = r#"{"calls":[{"name":"wipe","arguments":{}}]}"#;
    let ask = |script: &str| {
        let args = ask_with_tools(script, "Wipe it.");
        Terminal::of(&world, &args)
    };
    let wiped = || world.repo().join("wiped").exists();
    let script = world.script(&[call]);
    let mut terminal = ask(&script);
    terminal.wait_for("[y] once");
    assert!(
        terminal.shown().contains("may destroy something"),
        "{}",
        terminal.shown()
    );
    interrupt(terminal.child.id(), "INT");
    assert_eq!(terminal.code(), Some(130), "{}", terminal.shown());
    assert!(!wiped());
    assert_goes_on(&world);
    // A yes runs it; a key that means nothing asks again.
    let script = world.script(&[call, r#"{"text":"Done, see src/cut.rs:4."}"#]);
    let mut terminal = ask(&script);
    terminal.wait_for("[y] once");
    terminal.type_in("perhaps\n");
    let twice = || terminal.shown().matches("[y] once").count() == 2;
    until("it was not asked again", twice);
    terminal.type_in("y\n");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown());
    assert!(wiped());
}
