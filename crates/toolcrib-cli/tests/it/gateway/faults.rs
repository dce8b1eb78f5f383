//! Servers that are dead, slow or broken, and clients that leave.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;

use super::kit::{Gate, configure, entry, text};
use crate::world::World;

#[test]
fn m20_bad_servers_cost_the_others_nothing_and_are_named() {
    let world = World::empty();
    let servers = [
        ("dead", json!({"command": "/nowhere/dead"})),
        ("good", entry(&FakeMcp::new())),
        (
            "refusing",
            entry(&FakeMcp::new().with("list_error", -32603)),
        ),
        ("slow", entry(&FakeMcp::new().with("start_ms", 8_000))),
    ];
    let mut gate = Gate::start(&world, &servers, &[]);
    // Answered while the slow one is far from ready.
    gate.ok("tools/list", json!({}));
    gate.until_found("select:good__echo", "good__echo");
    assert_eq!(text(&gate.call("good__echo", json!({"text": "hi"}))), "hi");
    let status = |gate: &mut Gate| -> String {
        let read = gate.ok("resources/read", json!({"uri": "toolcrib://status"}));
        read["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    let told = loop {
        let told = status(&mut gate);
        if told.contains("dead: failed") && told.contains("fetch failed") {
            break told;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(told.contains("good: "), "{told}");
    assert!(told.contains("slow: "), "{told}");
    assert!(
        told.contains("/nowhere/dead") || told.contains("No such file"),
        "{told}"
    );
    // They come later, in the same session.
    gate.until_found("select:slow__echo", "slow__echo");
    let changed = |gate: &Gate| {
        let method = "notifications/tools/list_changed";
        gate.heard.iter().filter(|m| m["method"] == method).count()
    };
    while changed(&gate) == 0 {
        let line = gate.line();
        gate.heard.push(serde_json::from_str(&line).unwrap());
    }
    assert!((1..=2).contains(&changed(&gate)), "{:?}", gate.heard);
}

#[test]
fn a_call_of_a_tool_not_yet_listed_waits_for_its_server_or_says_what_it_lacks() {
    let world = World::empty();
    let slow = FakeMcp::new().with("start_ms", 1_500);
    let servers = [
        ("dead", json!({"command": "/nowhere/dead"})),
        ("slow", entry(&slow)),
    ];
    let mut gate = Gate::start(&world, &servers, &[]);
    let answer = gate.call("slow__echo", json!({"text": "hi"}));
    assert_eq!(text(&answer), "hi", "{answer}");
    let answer = text(&gate.call("dead__echo", json!({})));
    assert!(answer.contains("/nowhere/dead"), "{answer}");
    let answer = text(&gate.call("slow__nothing", json!({})));
    assert!(answer.contains("there is no tool"), "{answer}");
}

#[test]
fn secrets_of_a_servers_entry_are_in_nothing_that_it_says() {
    let world = World::empty();
    let secret = "sesame-8f2a61";
    let tools = json!([super::kit::tool(
        "echo",
        &format!("Echoes {secret}."),
        json!({})
    )]);
    let mut fake = entry(
        &FakeMcp::new()
            .with("instructions", format!("Use {secret}."))
            .with("tools", tools),
    );
    fake["env"]["KEY"] = secret.into();
    let mut echoing = entry(&FakeMcp::new());
    echoing["env"]["KEY"] = secret.into();
    let mut refusing = entry(&FakeMcp::new().with("list_error", -32603));
    refusing["env"]["KEY"] = "fetch failed".into();
    let mut gate = Gate::start(
        &world,
        &[("e", echoing), ("f", fake), ("refusing", refusing)],
        &[],
    );
    gate.until_found("select:f__echo", "Echoes [redacted].");
    gate.until_found("select:e__env", "e__env");
    // A result that succeeds shows it no more than a description.
    let answer = gate.call("e__echo", json!({"text": format!("it is {secret}")}));
    assert_eq!(text(&answer), "it is [redacted]");
    let refused = text(&gate.call("refusing__echo", json!({})));
    assert!(refused.contains("[redacted] (code -32603)"), "{refused}");
    let status = gate.ok("resources/read", json!({"uri": "toolcrib://status"}));
    assert!(!status.to_string().contains("fetch failed"), "{status}");
    let said = gate.ok(
        "resources/read",
        json!({"uri": "toolcrib://instructions/f"}),
    );
    assert!(said.to_string().contains("Use [redacted]."), "{said}");
    let kept = std::fs::read_dir(world.home().join(".cache/toolcrib/mcp")).unwrap();
    let mut count = 0;
    for file in kept
        .map(|file| file.unwrap().path())
        .filter(|path| path.is_file())
    {
        count += 1;
        assert!(!std::fs::read_to_string(&file).unwrap().contains(secret));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }
    assert_eq!(count, 2);
}

#[test]
fn a_server_that_dies_in_a_call_says_so_and_works_again() {
    let world = World::empty();
    let mut gate = Gate::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    gate.until_found("select:f__die", "f__die");
    let refused = gate.call("f__die", json!({}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("`f`"), "{refused}");
    let mut tries = 0;
    loop {
        let answer = gate.call("f__echo", json!({"text": "again"}));
        if text(&answer) == "again" {
            break;
        }
        tries += 1;
        assert!(tries < 200, "{answer}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let world = World::empty();
    let mut gate = Gate::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    gate.until_found("select:f__sleep", "f__sleep");
    let call =
        json!({"name": "call_tool", "arguments": {"name": "f__sleep", "arguments": {"ms": 50}}});
    let (list, slow) = (
        gate.ask("tools/list", json!({})),
        gate.ask("tools/call", call),
    );
    gate.close();
    assert!(gate.wait(list)["result"]["tools"].is_array());
    assert!(gate.wait(slow)["result"]["content"].is_array());
}

#[test]
fn nothing_is_left_when_the_client_closes_its_end() {
    let world = World::empty();
    let starts = world.home().join("starts");
    let fake = FakeMcp::new().with("starts", starts.to_string_lossy());
    let mut gate = Gate::start(&world, &[("f", entry(&fake))], &[]);
    gate.until_found("select:f__sleep", "f__sleep");
    gate.ask(
        "tools/call",
        json!({"name": "call_tool", "arguments": {"name": "f__sleep", "arguments": {"ms": 600_000}}}),
    );
    assert_eq!(gate.finish(), Some(0));
    let started = std::fs::read_to_string(&starts).unwrap();
    for pid in started.lines() {
        assert!(!runs(pid), "{pid} runs on");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_the_status_that_a_shell_expects() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let world = World::empty();
        let starts = world.home().join("starts");
        let fake = FakeMcp::new().with("starts", starts.to_string_lossy());
        let mut gate = Gate::start(&world, &[("f", entry(&fake))], &[]);
        gate.until_found("select:f__echo", "f__echo");
        assert_eq!(gate.signalled(signal), Some(code), "{signal}");
        let started = std::fs::read_to_string(&starts).unwrap();
        for pid in started.lines() {
            assert!(!runs(pid), "{pid} runs on after {signal}");
        }
    }
}

/// An answer that cannot be written is an error, though the client never ends its input.
#[cfg(target_os = "linux")]
#[test]
fn an_output_that_takes_nothing_is_an_error() {
    let world = World::empty();
    let config = configure(&world, &[("f", entry(&FakeMcp::new()))]);
    let full = || {
        let options = std::fs::OpenOptions::new().write(true).open("/dev/full");
        std::process::Stdio::from(options.unwrap())
    };
    let mut child = world
        .command()
        .args(["serve", "--config"])
        .arg(&config)
        .stdin(std::process::Stdio::piped())
        .stdout(full())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(
        &mut stdin,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    )
    .unwrap();
    let ran = crate::world::ran(child.wait_with_output().unwrap());
    drop(stdin);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.complaint().contains("an answer cannot be written"),
        "{}",
        ran.stderr
    );
    let script = "exec \"$0\" serve --config \"$1\" >&-";
    let mut closed = std::process::Command::new("sh");
    closed.args(["-c", script, env!("CARGO_BIN_EXE_toolcrib")]);
    closed.arg(&config);
    world.dress(&mut closed);
    let ran = crate::world::ran(closed.output().unwrap());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.complaint().contains("standard output is closed"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_is_no_message_is_answered_and_the_session_goes_on() {
    let world = World::empty();
    let mut gate = Gate::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    for (line, code) in [
        ("hello", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
        ("[]", -32600),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
            -32600,
        ),
    ] {
        gate.say_raw(line);
        let answer: Value = serde_json::from_str(&gate.line()).unwrap();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    gate.say_raw("");
    let answer = gate.request("tools/list", json!([1]));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(gate.ok("ping", json!({})), json!({}));
    // A batch, as one older revision has it.
    gate.say_raw(r#"[{"jsonrpc":"2.0","id":"x","method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"y","method":"nope"}]"#);
    let answers: Value = serde_json::from_str(&gate.line()).unwrap();
    assert_eq!(answers[0]["id"], "x");
    assert_eq!(answers[1]["error"]["code"], -32601);
}

#[test]
fn m20_a_client_that_begins_with_the_list_has_the_servers_asked() {
    let world = World::empty();
    let mut gate = Gate::silent(&world, &[("good", entry(&FakeMcp::new()))], &[]);
    gate.modern("tools/list", json!({}), json!({}));
    gate.heard.clear();
    let mut tries = 0;
    loop {
        let listed = gate.modern("tools/list", json!({}), json!({}));
        let told = listed["result"]["tools"][0]["description"]
            .as_str()
            .unwrap();
        if !told.contains("Not read yet") {
            break;
        }
        tries += 1;
        assert!(tries < 400, "{told}");
        std::thread::sleep(Duration::from_millis(25));
    }
}

#[test]
fn what_cannot_be_served_is_refused_with_the_reason() {
    let world = World::empty();
    let servers = [("f", entry(&FakeMcp::new()))];
    let config = configure(&world, &servers).to_string_lossy().into_owned();
    world.file("empty.json", "{}");
    world.file("token", "short");
    let empty = world
        .repo()
        .join("empty.json")
        .to_string_lossy()
        .into_owned();
    let token = world.repo().join("token").to_string_lossy().into_owned();
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for (args, said) in [
        (vec!["--config", &empty], "names no MCP server"),
        (
            vec!["--config", &config, "--approve", "g"],
            "--approve: no server \"g\"; there are f",
        ),
        (
            vec!["--config", &config, "--http", "0.0.0.0:0"],
            "can be reached from other machines",
        ),
        (
            vec!["--config", &config, "--http", "0", "--token-file", &token],
            "at least 16 visible characters",
        ),
        (vec!["--config", "/dev/zero"], "not a regular file"),
        (
            vec!["--config", "nowhere.json"],
            "nowhere.json does not exist",
        ),
        (
            vec![
                "--config",
                &config,
                "--http",
                "0",
                "--token-file",
                "/dev/zero",
            ],
            "not a regular file",
        ),
        (vec!["--config", &config, "--http", &taken], "in use"),
        (
            vec!["--config", &config, "--max-result", "10"],
            "'--max-result <BYTES>'",
        ),
    ] {
        let mut all = vec!["serve"];
        all.extend(&args);
        let ran = world.run(&all);
        let code = if said == "in use" { 1 } else { 2 };
        assert_eq!(ran.code, Some(code), "{args:?}");
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
        // Nothing says that it serves.
        assert!(!ran.stderr.contains("serving"), "{args:?}");
    }
}

/// SIGKILL leaves no time to tidy up: the kernel ends the server, and the guard what
/// the server started.
#[cfg(target_os = "linux")]
#[test]
fn m06_when_the_gateway_is_killed_its_servers_and_their_children_end() {
    let world = World::empty();
    let starts = world.home().join("starts");
    let fake = FakeMcp::new()
        .with("starts", starts.to_string_lossy())
        .with("ignore_term", true)
        .with("fork", true);
    let mut gate = Gate::start(&world, &[("f", entry(&fake))], &[]);
    gate.until_found("select:f__echo", "f__echo");
    assert_eq!(text(&gate.call("f__echo", json!({"text": "hi"}))), "hi");
    let started = std::fs::read_to_string(&starts).unwrap();
    let pids: Vec<&str> = started.lines().collect();
    assert_eq!(pids.len(), 2, "the server and its child");
    assert!(pids.iter().all(|pid| runs(pid)));
    gate.kill();
    let begun = std::time::Instant::now();
    while let Some(pid) = pids.iter().find(|pid| runs(pid)) {
        assert!(begun.elapsed() < super::kit::LONG, "{pid} runs on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A zombie does not run.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !matches!(state.chars().next(), None | Some('Z'))
}

#[test]
fn m20_a_client_that_begins_with_a_search_or_the_status_has_the_servers_asked() {
    let search = json!({"name": "tool_search", "arguments": {"query": "select:good__echo"}});
    let status = json!({"uri": "toolcrib://status"});
    for (method, params, holds) in [
        ("tools/call", search, "- good__echo("),
        ("resources/read", status, ", 13 tools"),
    ] {
        let world = World::empty();
        let mut gate = Gate::silent(&world, &[("good", entry(&FakeMcp::new()))], &[]);
        let begun = std::time::Instant::now();
        loop {
            let answer = gate.modern(method, params.clone(), json!({}));
            if answer.to_string().contains(holds) {
                break;
            }
            assert!(begun.elapsed() < super::kit::LONG, "{answer}");
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}
