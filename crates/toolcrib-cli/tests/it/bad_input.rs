//! Wrong usage, odd repositories and endpoints that misbehave: each with a clear
//! message, and nothing lost.

use std::process::Command;
use std::time::Duration;

use toolcrib_testkit::{Answer, ByteServer};

use crate::world::{World, json_lines, ran};

const QUESTION: &str = "Where are results truncated?";

#[test]
fn wrong_usage_ends_with_two_and_says_what_is_right() {
    let world = World::sample();
    for (args, hint) in [
        (&["ask", "--roundz", "3", "q"][..], "--rounds"),
        (&["ask", "--rounds", "many", "q"], "--rounds"),
        (&["ask", "--rounds", "0", "q"], "rounds"),
        (&["ask", "--max-time", "soon", "q"], "90s"),
        (&["ask", "--max-cost", "-1", "q"], "--max-cost"),
        (&["ask", "   "], "the question is empty"),
        (&["ask", "--model", "gizmo:x", "q"], "gizmo"),
        (
            &["ask", "--model", "script:/no/such/file", "q"],
            "/no/such/file",
        ),
        (&["ask", "--dir", "/no/such/dir", "q"], "/no/such/dir"),
        (&["ask", "--model", "openai:gpt-x", "q"], "OPENAI_API_KEY"),
        (&["gizmo"], "gizmo"),
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    assert_eq!(world.run(&["--help"]).code, Some(0));
    assert_eq!(world.run(&["ask", "--help"]).code, Some(0));
    assert_eq!(world.run(&["--version"]).code, Some(0));
    assert_eq!(world.run(&[]).code, Some(2));
}

/// It would be the `last` one from then on.
#[test]
fn an_ask_that_never_begins_leaves_no_session() {
    let world = World::sample();
    assert_eq!(world.run(&["ask", "-q", QUESTION]).code, Some(0));
    let kept = world.sessions();
    world.file("bad.jsonl", "{}");
    for tools in ["missing.jsonl", "bad.jsonl"] {
        let ran = world.run(&["ask", "--tools", tools, QUESTION]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(world.sessions(), kept, "{tools}");
        let ran = world.run(&["session", "resume", "last", "--tools", tools, QUESTION]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(world.sessions(), kept, "{tools}");
    }
    let dir = kept[0].parent().unwrap();
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 1, "a lock is left");
}

/// Nobody takes what is lost for what was wanted: not where there is no standard output,
/// nor where it takes nothing.
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_printed_is_an_error() {
    let world = World::sample();
    assert_eq!(world.run(&["ask", "-q", QUESTION]).code, Some(0));
    let kept = world.sessions();
    let shell = |script: &str, args: &[&str]| {
        let mut command = Command::new("sh");
        world.dress(&mut command);
        let binary = env!("CARGO_BIN_EXE_toolcrib");
        ran(command
            .args(["-c", script, binary])
            .args(args)
            .output()
            .unwrap())
    };
    // So that `last` stays the same session.
    let forget_new = || {
        let sessions = world.sessions();
        let new = sessions.iter().filter(|path| !kept.contains(path));
        new.for_each(|path| std::fs::remove_file(path).unwrap());
    };
    for args in [
        &["ask", QUESTION][..],
        &["ask", "--format", "json", QUESTION],
        &["chat", QUESTION],
        &["session", "resume", "last", QUESTION],
        &["session", "list"],
        &["session", "show", "last"],
        &["session", "export", "last"],
        &["report"],
        &["graph", "stats"],
        &["--help"],
    ] {
        let lost = shell(r#""$0" "$@" >&-"#, args);
        assert_eq!(lost.code, Some(1), "{args:?}: {}", lost.stderr);
        assert!(lost.stderr.contains("closed"), "{args:?}: {}", lost.stderr);
        // Nobody pays for an answer that cannot be read.
        assert_eq!(world.sessions(), kept, "{args:?}");
        let unwanted = shell(r#""$0" "$@" >/dev/null 2>&1 </dev/null"#, args);
        assert_eq!(unwanted.code, Some(0), "{args:?}");
        forget_new();
        let full = shell(r#""$0" "$@" >/dev/full </dev/null"#, args);
        assert_eq!(full.code, Some(1), "{args:?}: {}", full.stderr);
        assert!(
            full.stderr.contains("cannot write to standard output"),
            "{args:?}"
        );
        forget_new();
    }
}

#[test]
fn a_question_of_a_megabyte_is_refused_with_a_way_out() {
    let world = World::sample();
    let file = world.home().join("big.txt");
    std::fs::write(&file, "why ".repeat(1 << 18)).unwrap();
    let mut command = world.command();
    command.arg("ask").stdin(std::fs::File::open(file).unwrap());
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.complaint().contains("put long material into a file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_directory_without_readable_files_is_named() {
    let world = World::empty();
    let ran = world.run(&["ask", QUESTION]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.complaint().contains("no readable file"),
        "{}",
        ran.stderr
    );

    world.file("image.bin", b"\0\0\0\0");
    let ran = world.run(&["graph", "stats"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.complaint().contains("no readable file"),
        "{}",
        ran.stderr
    );
}

#[test]
fn outside_a_repository_it_says_so_and_goes_on() {
    let world = World::sample();
    std::fs::remove_dir_all(world.repo().join(".git")).unwrap();
    let ran = world.run(&["ask", QUESTION]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("not in a git repository"),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.contains("src/cut.rs:4-10"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn odd_links_and_files_cost_nothing_else() {
    use std::os::unix::fs::symlink;
    let world = World::sample();
    symlink("/no/such/target", world.repo().join("dangling.rs")).unwrap();
    symlink(world.repo(), world.repo().join("loop")).unwrap();
    symlink("ring.rs", world.repo().join("ring.rs")).unwrap();
    symlink("/etc", world.repo().join("outside")).unwrap();
    world.file("src/latin.rs", b"// caf\xe9\npub fn latin() {}\n");
    world.file("src/broken.rs", "pub fn broken( {{{ \n pub fn after() {}\n");
    world.file("src/empty.rs", "");
    let ran = world.run(&["ask", QUESTION]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("src/cut.rs:4-10"), "{}", ran.stdout);
    let stats = world.run(&["graph", "stats"]).stdout;
    for odd in ["dangling.rs", "loop", "ring.rs", "outside", "src/latin.rs"] {
        assert_eq!(stats.matches(odd).count(), 1, "{odd} in:\n{stats}");
    }
    assert_eq!(
        world.run(&["graph", "source", "src/latin.rs"]).code,
        Some(0)
    );
    assert_eq!(world.run(&["graph", "search", "latin"]).code, Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn an_unreadable_directory_is_reported_and_the_rest_is_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::sample();
    world.file("secret/key.rs", "pub fn key() {}\n");
    let closed = world.repo().join("secret");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything, so the run drops its privileges where it has them.
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|o| o.stdout == b"0\n");
    let mut command = if root {
        open_to_all(&world);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_toolcrib"));
        world.dress(&mut command);
        command
    } else {
        world.command()
    };
    // The binary itself may lie where another user cannot reach it.
    let ran = match command.args(["graph", "stats"]).output() {
        Ok(output) if output.status.code() != Some(127) && output.status.code() != Some(126) => {
            ran(output)
        }
        _ => {
            let copy = world.home().join("toolcrib");
            std::fs::copy(env!("CARGO_BIN_EXE_toolcrib"), &copy).unwrap();
            open_to_all(&world);
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(copy);
            world.dress(&mut command);
            ran(command.args(["graph", "stats"]).output().unwrap())
        }
    };
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("secret"), "{}", ran.stdout);
}

#[cfg(target_os = "linux")]
fn open_to_all(world: &World) {
    let dir = world.repo().parent().unwrap().to_path_buf();
    let script = "chmod a+rx \"$0\" && chmod -R a+rX \"$0/home\" && find \"$0/repo\" -path '*/secret' -prune -o -exec chmod a+rX {} +";
    assert!(
        Command::new("sh")
            .args(["-c", script])
            .arg(dir)
            .status()
            .unwrap()
            .success()
    );
}

fn endpoint(world: &World, server: &ByteServer) -> crate::world::Ran {
    let model = format!("{}#m", server.url("/v1"));
    world.run(&["ask", "--no-session", "--model", &model, QUESTION])
}

#[test]
fn endpoints_that_misbehave_are_named_in_one_line() {
    let world = World::sample();
    let down = world.run(&[
        "ask",
        "--no-session",
        "--model",
        "http://127.0.0.1:9/v1#m",
        QUESTION,
    ]);
    assert_eq!(down.code, Some(1), "{}", down.stderr);
    let first = down.stderr.lines().next().unwrap();
    assert!(first.contains("127.0.0.1:9"), "{}", down.stderr);

    for answer in [
        Answer::whole(200, "text/html", "<html><body>Sign in</body></html>"),
        Answer::whole(200, "text/event-stream", ""),
        Answer::json(200, "{}"),
        Answer::json(401, r#"{"error":{"message":"bad key"}}"#),
        Answer::sse([r#"{"choices":[{"index":0,"delta":{"content":"It is"}}]}"#]),
    ] {
        let server = ByteServer::start([answer]).unwrap();
        let ran = endpoint(&world, &server);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains("127.0.0.1"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn an_endpoint_that_never_answers_is_ended_by_the_time_limit() {
    let world = World::sample();
    let server =
        ByteServer::start(
            [Answer::stream(200, "text/event-stream").wait(Duration::from_secs(600))],
        )
        .unwrap();
    let model = format!("{}#m", server.url("/v1"));
    let ran = world.run(&["ask", "--max-time", "1s", "--model", &model, QUESTION]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let [session] = &world.sessions()[..] else {
        panic!("one session")
    };
    assert_eq!(json_lines(session).last().unwrap()["row"], "finished");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_and_leaves_whole_rows() {
    let world = World::sample();
    // The size limit of a file stands in for a full disk: both fail in the write.
    for blocks in ["0", "1", "4"] {
        let mut command = Command::new("sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args([
            "-c",
            &script,
            env!("CARGO_BIN_EXE_toolcrib"),
            "ask",
            QUESTION,
        ]);
        world.dress(&mut command);
        let ran = ran(command.output().unwrap());
        assert_eq!(ran.code, Some(1), "{blocks}: {}", ran.stderr);
        assert!(ran.stderr.contains("session"), "{blocks}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{blocks}: {}", ran.stderr);
    }
    for session in world.sessions() {
        // Every complete line is a row; a torn tail may follow the last one.
        let text = std::fs::read_to_string(session).unwrap();
        for line in text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
        {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }
    assert_eq!(world.run(&["ask", "--no-session", QUESTION]).code, Some(0));
}

/// Whatever the command, a limit on files is an error with a message or costs only what
/// would have been kept for the next time.
#[cfg(target_os = "linux")]
#[test]
fn a_limit_on_files_ends_no_command_by_a_signal() {
    let world = World::sample();
    let servers = crate::gateway::kit::configure(
        &world,
        &[(
            "f",
            crate::gateway::kit::entry(&toolcrib_testkit::fake_mcp::FakeMcp::new()),
        )],
    );
    let servers = servers.to_string_lossy().into_owned();
    for args in [
        &["mcp", "--config", &servers, "tools"][..],
        &["mcp", "--config", &servers, "check"],
        &["graph", "stats"],
        &["tools"],
        &["trust"],
        &["doctor"],
    ] {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""]);
        command.arg(env!("CARGO_BIN_EXE_toolcrib")).args(args);
        world.dress(&mut command);
        let ran = ran(command.output().unwrap());
        assert!(ran.code.is_some(), "{args:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
        if args[0] == "mcp" {
            assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn names_that_no_language_would_write_are_still_cited() {
    let world = World::empty();
    world.file(
        "my-lib/co re.py",
        "class A:\n    def frobnicate(self):\n        return 1\n",
    );
    world.file(
        "Cargo.toml",
        "[package]\nname = \"r\"\nversion = \"0.1.0\"\n",
    );
    world.file("src/lib.rs", "trait Frob { fn zapper(&self); }\nimpl<T: Clone> Frob for Vec<T> {\n    fn zapper(&self) {}\n}\nimpl Gone {\n    fn zapped() {}\n}\n");
    for (question, place) in [
        ("frobnicate", "my-lib/co re.py:2-3"),
        ("zapper", "src/lib.rs:3"),
        ("zapped", "src/lib.rs:6"),
    ] {
        let ran = world.run(&["ask", question]);
        assert_eq!(ran.code, Some(0), "{question}: {}", ran.stderr);
        assert!(ran.stdout.contains(place), "{question}:\n{}", ran.stdout);
        assert!(
            !ran.stdout.contains("unverified"),
            "{question}:\n{}",
            ran.stdout
        );
    }
}

#[test]
fn g15_places_that_cannot_exist_are_marked() {
    let world = World::sample();
    for text in [
        "See src/lib.rs:1-2 defines `truncate_result`.",
        "It is at src/cut.rs:99999999999999999999999.",
        "It is at ../../../etc/passwd:1.",
        "It is at /etc/passwd:1.",
    ] {
        let reply = serde_json::json!({ "text": text }).to_string();
        let model = world.script(&[&reply, &reply]);
        let ran = world.run(&["ask", "--model", &model, "Where?"]);
        assert!(ran.stdout.contains("unverified"), "{text}:\n{}", ran.stdout);
    }
}

#[test]
fn an_answer_cannot_steer_the_terminal() {
    let world = World::sample();
    let model = world.script(&[r#"{"text":"Escape \u001b]52;c;cm0=\u0007 \u001b[2J done"}"#]);
    let ran = world.run(&["ask", "--model", &model, "Where?"]);
    assert_eq!(ran.code, Some(0));
    assert!(
        !ran.stdout.contains(['\u{1b}', '\u{7}']),
        "{:?}",
        ran.stdout
    );
}

#[test]
fn without_a_round_to_look_the_navigator_claims_nothing() {
    let world = World::sample();
    let ran = world.run(&["ask", "--rounds", "1", QUESTION]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(3), ""));
}

#[cfg(unix)]
#[test]
fn a_configuration_that_never_ends_is_refused() {
    let world = World::sample();
    let path = world.repo().join("toolcrib.toml");
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let ran = world.run(&["ask", QUESTION]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.complaint().contains("not a regular file"),
        "{}",
        ran.stderr
    );
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "#".repeat(300_000)).unwrap();
    assert_eq!(world.run(&["ask", QUESTION]).code, Some(2));
}

#[test]
fn excluded_directories_and_files_are_not_read() {
    let world = World::sample();
    world.file("toolcrib.toml", "exclude = ['src/cut.rs']\n");
    let files = world.run(&["graph", "files"]).stdout;
    assert!(
        files.contains("src/lib.rs") && !files.contains("src/cut.rs"),
        "{files}"
    );
    world.file("toolcrib.toml", "exclude = ['*.rs']\n");
    assert_eq!(world.run(&["graph", "files"]).code, Some(2));
}
