//! A chat over a plain pipe.

use std::io::Write as _;
use std::process::{Child, Stdio};

use crate::world::{Ran, World, ran};

/// A chat that waits for what is typed.
fn begun(world: &World, args: &[&str]) -> Child {
    let mut command = world.command();
    command.arg("chat").args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn chat(world: &World, args: &[&str], typed: &str) -> Ran {
    let mut child = begun(world, args);
    let mut stdin = child.stdin.take().unwrap();
    // Whoever refuses a line may be gone before all of it is written.
    let _ = stdin.write_all(typed.as_bytes());
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

#[test]
fn a_transcript_is_made_shorter_on_demand() {
    let world = World::sample();
    // Enough of it that a listing is worth leaving out.
    let many = |n| format!("/// Truncates result {n}.\npub fn truncate_result_number_{n}() {{}}\n");
    world.file("src/many.rs", (0..40).map(many).collect::<String>());
    let typed = "/compact\nWhere is a result truncated?\nWho calls truncate_result?\n/compact\nWho calls show?\n";
    let ran = chat(&world, &[], typed);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("nothing to leave out yet"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(" bytes, now "), "{}", ran.stderr);
    let shown = world.run(&["session", "show"]).stdout;
    assert!(shown.contains("made shorter (asked)"), "{shown}");
    let resumed = world.run(&["session", "resume", "last", "Who calls show?"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
}

/// What is said of itself and its state, command by command.
#[test]
fn each_command_does_what_it_says() {
    let world = World::sample();
    let model = world.script(&[
        r#"{"calls":[{"name":"search_symbols","arguments":{"query":"truncate_result"}}],"usage":{"input":1000,"output":20},"cost":0.25}"#,
        r#"{"text":"It is in src/cut.rs:4.","usage":{"input":200,"output":14},"cost":0.25}"#,
    ]);
    let ran = chat(
        &world,
        &["--model", &model],
        "/help\n/cost\n/calls\n/tools\n/model\n/compact\n//where is it?\n/cost\n/calls\n/quit\n",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for command in [
        "/help", "/tools", "/model", "/cost", "/compact", "/calls", "/fork", "/resume", "/quit",
    ] {
        assert!(ran.stderr.contains(command), "{command}: {}", ran.stderr);
    }
    for said in [
        "no reply reported tokens or money",
        "script:",
        "nothing to leave out yet",
        "1,234 tokens · $0.5000",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert!(ran.stdout.contains("search_symbols  "), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("It is in src/cut.rs:4."),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("  search_symbols {\"query\""),
        "{}",
        ran.stdout
    );
    let rows = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(
        rows.contains("/where is it?"),
        "two slashes are one: {rows}"
    );
    assert!(
        !rows.contains("/compact"),
        "a command is no message: {rows}"
    );
}

/// A secret that is pasted reaches neither model nor session, and the person is told.
#[test]
fn l18_a_pasted_key_is_not_kept() {
    let world = World::sample();
    let key = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let model = world.script(&[r#"{"text":"One."}"#]);
    let ran = chat(
        &world,
        &["--model", &model],
        &format!("Why is {key} refused?\n"),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("replaced by [redacted]"),
        "{}",
        ran.stderr
    );
    let rows = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(rows.contains("[redacted]") && !rows.contains(key), "{rows}");
}

#[test]
fn long_lines_are_read_whole_and_too_long_ones_refused() {
    let world = World::sample();
    let model = world.script(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
    let many: String = (0..300).map(|n| format!("line {n}\\\n")).collect();
    let long = "x".repeat(100_000);
    let ran = chat(
        &world,
        &["--quiet", "--model", &model],
        &format!("{long}\n{many}end\n"),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout, "One.\nTwo.\n");
    let rows = std::fs::read_to_string(&world.sessions()[0]).unwrap();
    assert!(rows.contains(&long) && rows.contains(r"line 298\nline 299\nend"));
    // What such a line goes on in is refused with it; the lines after it are read.
    let over = "x".repeat(200_000);
    let typed = format!("{over}\\\nmore\nshort\n{over}");
    let ran = chat(&world, &["--quiet", "--model", &model], &typed);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(ran.stdout, "One.\n");
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    let most = chat(&world, &["--model", &model], &"x".repeat(128 * 1024));
    assert_eq!(most.code, Some(0), "{}", most.stderr);
    assert!(
        ran.stderr.contains("put long material into a file"),
        "{}",
        ran.stderr
    );
}

#[cfg(unix)]
mod signals {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Child, ChildStdin};

    use super::begun;
    use toolcrib_testkit::{Answer, ByteServer};

    use crate::interrupts::Terminal;
    use crate::signals::{interrupt, until};
    use crate::world::World;

    fn said(text: &str, finish: &str) -> String {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}]}}"#
        )
    }

    fn asked(server: &ByteServer) -> usize {
        let received = server.received();
        received.iter().filter(|sent| sent.method == "POST").count()
    }

    /// A chat whose first answer has begun and goes no further; a second one would come.
    fn busy(world: &World, typed: &[u8]) -> (ByteServer, Child, ChildStdin) {
        let server = ByteServer::start([
            Answer::sse([said("It is ", "null")]).stall(),
            Answer::sse([said("Here.", "\"stop\"")]).done(),
        ])
        .unwrap();
        let model = format!("{}#m", server.url("/v1"));
        let mut child = begun(world, &["--quiet", "--model", &model]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(typed).unwrap();
        until("the request never came", || asked(&server) == 1);
        std::thread::sleep(std::time::Duration::from_millis(50));
        (server, child, stdin)
    }

    /// An answer under way is cancelled; a chat that waits ends.
    #[test]
    fn p14_a_signal_cancels_an_answer_and_ends_a_chat_that_waits() {
        let world = World::sample();
        let (_server, mut child, mut stdin) = busy(&world, b"Where?\n");
        interrupt(child.id(), "INT");
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(line.contains("the run was cancelled"), "{line}");
        stdin.write_all(b"And now?\n").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        until("no answer after it", || {
            lines.next().unwrap().unwrap() == "Here."
        });
        // The turn is over once its last row is there.
        until("the answer is not on record", || {
            let rows = std::fs::read_to_string(&world.sessions()[0]).unwrap();
            rows.matches(r#""row":"finished""#).count() == 2
        });
        std::thread::sleep(std::time::Duration::from_millis(100));
        interrupt(child.id(), "TERM");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let shown = world.run(&["session", "show", "last"]);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    }

    /// A request to end that comes while an answer is made: the answer is cancelled, its
    /// row is written, and no further line is read.
    #[test]
    fn p14_a_request_to_end_ends_a_chat_that_is_busy() {
        for signal in ["TERM", "HUP"] {
            let world = World::sample();
            let (server, mut child, stdin) = busy(&world, b"Where?\nAnd now?\n");
            interrupt(child.id(), signal);
            assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
            assert_eq!(asked(&server), 1, "{signal}");
            let rows = crate::world::json_lines(&world.sessions()[0]);
            assert_eq!(rows.last().unwrap()["outcome"], "cancelled", "{signal}");
            drop(stdin);
        }
    }

    /// At a terminal: editing, what is pasted, a cancelled line, the end of input.
    #[test]
    fn a_chat_at_a_terminal() {
        let world = World::sample();
        let model = world.script(&[r#"{"text":"One."}"#, r#"{"text":"Two."}"#]);
        let key = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
        let mut terminal = Terminal::of(&world, &["chat", "--model", &model]);
        terminal.wait_for("/help shows the commands");
        terminal.wait_for("> ");
        // Half a line is given up.
        terminal.type_in("half\u{3}");
        terminal.wait_for("/quit leaves");
        // A mistake is mended: `fist` becomes `first`.
        terminal.type_in(&format!("fist {key}\u{1}\u{6}\u{6}r\r"));
        terminal.wait_for("One.");
        // Several lines pasted are several messages.
        terminal.type_in("second\r/cost\r");
        terminal.wait_for("Two.");
        terminal.wait_for("no reply reported");
        terminal.type_in("\u{4}");
        assert_eq!(terminal.code(), Some(0), "{}", terminal.shown());
        let rows = std::fs::read_to_string(&world.sessions()[0]).unwrap();
        assert!(
            rows.contains("first [redacted]") && rows.contains("second"),
            "{rows}"
        );
        let history = world.home().join(".local/state/toolcrib/chat_history");
        let history = std::fs::read_to_string(history).unwrap();
        assert!(
            history.contains("second") && !history.contains(key),
            "{history}"
        );
    }
}
