//! The sessions of the real binary: listed, shown, gone on with, branched,
//! exported, replayed, reported on, removed.

use serde_json::Value;

use crate::world::{Ran, World, ran};

/// A world in which one question was asked and answered.
fn asked() -> World {
    let world = World::sample();
    let ran = world.run(&["ask", "--quiet", "Where is a result truncated?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    world
}

fn good(world: &World, args: &[&str]) -> Ran {
    let ran = world.run(args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
    ran
}

fn ids(world: &World) -> Vec<String> {
    let listed = good(world, &["session", "list", "--json"]);
    let id = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        value["id"].as_str().unwrap().to_owned()
    };
    listed.stdout.lines().map(id).collect()
}

#[test]
fn a_session_is_listed_and_shown() {
    let world = asked();
    let listed = good(&world, &["session", "list"]);
    assert!(listed.stdout.contains("answered"), "{}", listed.stdout);
    assert!(listed.stdout.contains("Where is a result truncated?"));
    let shown = good(&world, &["session", "show", "last"]);
    for part in [
        "user: Where is",
        "calls search_symbols",
        "result of",
        "answered after",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let raw = good(&world, &["session", "show", "--json"]);
    for line in raw.stdout.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    let full = good(&world, &["session", "show", "--full"]);
    assert!(full.stdout.len() > shown.stdout.len());
}

#[test]
fn no_session_and_a_wrong_name_are_said_plainly() {
    let world = World::sample();
    let listed = good(&world, &["session", "list"]);
    assert!(
        listed.stdout.starts_with("no sessions in "),
        "{}",
        listed.stdout
    );
    let ran = world.run(&["session", "show"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("there is none yet"), "{}", ran.stderr);
    let world = asked();
    let ran = world.run(&["report", "zzz"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(&ids(&world)[0]), "{}", ran.stderr);
}

#[test]
fn a_session_is_gone_on_with_and_keeps_its_rows() {
    let world = asked();
    let before = good(&world, &["session", "show", "--json"]).stdout;
    let again = world.run(&["session", "resume", "last"]);
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("is answered; give a new one"),
        "{}",
        again.stderr
    );
    let resumed = good(
        &world,
        &[
            "session",
            "resume",
            "last",
            "--quiet",
            "Who calls truncate_result?",
        ],
    );
    assert!(resumed.stdout.contains("src/lib.rs"), "{}", resumed.stdout);
    let after = good(&world, &["session", "show", "--json"]).stdout;
    assert!(after.starts_with(&before), "rows were changed");
    assert_eq!(ids(&world).len(), 1);
    let report = good(&world, &["report"]).stdout;
    assert!(
        report.contains("answered: Who calls truncate_result?"),
        "{report}"
    );
    assert!(report.contains("total of 1 session\n"), "{report}");
}

/// A chat holds its session while it waits; two answers at once would share call ids.
#[test]
fn l29_a_session_in_use_is_neither_gone_on_with_nor_removed_but_read_and_branched() {
    use std::io::Write as _;
    let world = asked();
    let id = ids(&world).remove(0);
    let mut command = world.command();
    command
        .args(["chat", "-q"])
        .stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped());
    let mut chat = command.spawn().unwrap();
    let mut stdin = chat.stdin.take().unwrap();
    // It is going on with the session once it has answered in it.
    writeln!(stdin, "/resume {id}\nWho calls truncate_result?").unwrap();
    let finished = || {
        let text = good(&world, &["session", "show", &id, "--json"]).stdout;
        text.matches(r#""row":"finished""#).count()
    };
    while finished() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for args in [
        &["session", "resume", &id, "And who calls show?"][..],
        &["session", "rm", &id],
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let holder = format!("in use by process {}", chat.id());
        assert!(ran.complaint().contains(&holder), "{}", ran.stderr);
        assert!(ran.stderr.contains("session fork"), "{}", ran.stderr);
    }
    good(&world, &["session", "list"]);
    good(&world, &["report", &id]);
    let fork = good(&world, &["session", "fork", &id]).stdout;
    good(
        &world,
        &["session", "resume", fork.trim(), "Who calls show?"],
    );
    // To itself it is free.
    writeln!(stdin, "/resume {id}").unwrap();
    drop(stdin);
    assert!(chat.wait().unwrap().success());
    assert_eq!(finished(), 2);
    good(&world, &["session", "rm", &id]);
    assert_eq!(ids(&world), [fork.trim()]);
}

#[test]
fn a_session_named_twice_is_counted_once_and_a_sum_has_no_question() {
    let world = asked();
    let once = good(&world, &["report", "last"]).stdout;
    assert_eq!(good(&world, &["report", "last", "last"]).stdout, once);
    let json = good(&world, &["report", "last", &ids(&world)[0], "--json"]).stdout;
    let lines: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{json}");
    assert_eq!(lines[1]["sessions"], 1);
    assert!(lines[0]["runs"][0]["question"].is_string());
    for sum in [&lines[0]["total"], &lines[1]["total"]] {
        assert!(
            sum["question"].is_null() && sum["outcome"].is_null(),
            "{sum}"
        );
    }
}

#[test]
fn a_report_on_no_session_at_all_is_refused() {
    let ran = World::sample().run(&["report", "--newest", "0"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("--newest"), "{}", ran.stderr);
}

#[test]
fn what_a_branch_copied_is_counted_once_in_a_sum() {
    let world = asked();
    let id = ids(&world).remove(0);
    let sum = |args: &[&str]| -> Value {
        let json = good(&world, &[&["report", "--json"], args].concat()).stdout;
        serde_json::from_str(json.lines().last().unwrap()).unwrap()
    };
    let alone = sum(&[&id])["total"].clone();
    assert!(alone["replies"].as_u64() > Some(0), "{alone}");
    let fork = good(&world, &["session", "fork", &id]).stdout;
    let again = good(&world, &["session", "fork", &id, "--at", "4"]).stdout;
    let (fork, again) = (fork.trim(), again.trim());
    for order in [[id.as_str(), fork, again], [again, fork, &id]] {
        let all = sum(&order);
        assert_eq!(all["sessions"], 3);
        for key in ["replies", "calls", "readings", "usage", "tools"] {
            assert_eq!(all["total"][key], alone[key], "{key} of {order:?}");
        }
    }
    assert_eq!(sum(&[fork])["total"], alone);
}

#[test]
fn a_session_whose_model_is_gone_says_so_and_takes_another() {
    let world = World::sample();
    let model = world.script(&[r#"{"text":"Nothing."}"#]);
    good(&world, &["ask", "--model", &model, "--quiet", "What?"]);
    std::fs::remove_file(model.strip_prefix("script:").unwrap()).unwrap();
    let gone = world.run(&["session", "resume", "last", "And now?"]);
    assert_eq!(gone.code, Some(2));
    let said = gone.stderr;
    assert!(
        said.contains("the model of this session cannot be asked: ")
            && said.trim_end().ends_with("; --model asks another"),
        "{said}"
    );
    let another = "builtin:navigator";
    good(
        &world,
        &[
            "session",
            "resume",
            "last",
            "--model",
            another,
            "--quiet",
            "Who calls truncate_result?",
        ],
    );
}

#[test]
fn a_session_with_a_script_named_from_here_is_gone_on_with_from_elsewhere() {
    let world = World::sample();
    world.file("reply.jsonl", r#"{"text":"Nothing."}"#);
    let model = "script:reply.jsonl";
    good(&world, &["ask", "--model", model, "--quiet", "What?"]);
    let mut resume = world.command();
    resume.current_dir(world.repo().join("src"));
    resume.args(["session", "resume", "last", "--quiet", "And now?"]);
    let resumed = ran(resume.output().unwrap());
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(resumed.stdout.trim_end(), "Nothing.");
}

#[test]
fn a_session_that_was_cut_off_is_gone_on_with_without_a_question() {
    let world = asked();
    let id = ids(&world).remove(0);
    let lines = good(&world, &["session", "show", "--json"]).stdout;
    let call = lines
        .lines()
        .position(|line| line.contains("\"call\""))
        .unwrap()
        + 1;
    let fork = good(&world, &["session", "fork", &id, "--at", &call.to_string()]);
    let fork = fork.stdout.trim();
    let shown = good(&world, &["session", "show", fork]).stdout;
    assert!(
        shown.contains(&format!("branched off {id} at line {call}")),
        "{shown}"
    );
    let rows = good(&world, &["session", "show", fork, "--json"]).stdout;
    assert_eq!(rows.lines().count(), call);
    let resumed = good(&world, &["session", "resume", fork, "--quiet"]);
    assert!(!resumed.stdout.is_empty());
    let ran = world.run(&["session", "fork", &id, "--at", "999"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no line 999"), "{}", ran.stderr);
}

#[test]
fn l28_a_replay_reports_what_differs_today() {
    let world = asked();
    let rows = || good(&world, &["session", "show", "--json"]).stdout;
    let before = rows();
    let same = good(&world, &["session", "replay"]);
    assert!(
        same.stderr.contains(" 0 different, 0 not run again"),
        "{}",
        same.stderr
    );
    world.file("src/cut.rs", "//! Nothing is cut any more.\n");
    let ran = world.run(&["session", "replay", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let calls: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let different: Vec<&Value> = calls
        .iter()
        .filter(|call| call["state"] == "different")
        .collect();
    assert!(!different.is_empty(), "{}", ran.stdout);
    assert_ne!(different[0]["then"], different[0]["now"]);
    assert_eq!(rows(), before, "a replay writes nothing down");
}

/// What may change something is not run, which says nothing of what it would do.
#[test]
fn l28_a_replay_without_leave_to_write_counts_writers_as_not_run() {
    let world = World::sample();
    world.file(
        "tools.jsonl",
        r#"{"name":"note","description":"Notes.","command":["sh","-c","echo a >> noted; cat noted"]}"#,
    );
    let model = world.script(&[
        r#"{"calls":[{"name":"note","arguments":{}}]}"#,
        r#"{"text":"It is in src/cut.rs:4."}"#,
    ]);
    let tools = ["--tools", "tools.jsonl"];
    good(
        &world,
        &[&["ask", "--model", &model][..], &tools, &["Note it."]].concat(),
    );
    let replay = [&["session", "replay"][..], &tools].concat();
    let ran = good(&world, &replay);
    assert!(
        ran.stderr
            .contains("1 call: 0 the same, 0 different, 1 not run again"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let ran = world.run(&[&replay[..], &["--allow-writes"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 different"), "{}", ran.stderr);
}

/// What ran is not on record where it held a key, so nothing is run in its place.
#[test]
fn l28_a_replay_runs_no_call_whose_arguments_held_a_key() {
    let world = World::sample();
    world.file(
        "tools.jsonl",
        r#"{"name":"fetch","description":"Fetches.","annotations":{"readOnlyHint":true},"parameters":{"type":"object","properties":{"token":{"type":"string"}}},"command":["sh","-c","echo run >> runs; cat runs"]}"#,
    );
    let key = "sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46";
    let call = format!(r#"{{"calls":[{{"name":"fetch","arguments":{{"token":"{key}"}}}}]}}"#);
    let model = world.script(&[&call, r#"{"text":"It is in src/cut.rs:4."}"#]);
    let tools = ["--tools", "tools.jsonl"];
    good(
        &world,
        &[&["ask", "--model", &model][..], &tools, &["Fetch it."]].concat(),
    );
    let runs = || std::fs::read_to_string(world.repo().join("runs")).unwrap();
    assert_eq!(runs(), "run\n");
    let rows = good(&world, &["session", "show", "--json"]).stdout;
    assert!(rows.contains("[redacted]") && !rows.contains(key), "{rows}");
    for flags in [&[][..], &["--allow-writes"]] {
        let replay = [&["session", "replay"][..], &tools, flags].concat();
        let ran = good(&world, &replay);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        let counted = "1 call: 0 the same, 0 different, 1 not run again";
        assert!(told.contains(counted) && !told.contains(key), "{told}");
        assert!(ran.stdout.starts_with("not run    fetch"), "{told}");
    }
    assert_eq!(runs(), "run\n", "it ran again with something else");
}

/// A result that was cut is read on in a replay as it was in the run.
#[test]
fn l28_l16_a_replay_reads_on_in_what_was_cut() {
    let world = World::sample();
    let many = |n| format!("/// Truncates result {n}.\npub fn truncate_result_number_{n}() {{}}\n");
    world.file("src/many.rs", (0..900).map(many).collect::<String>());
    world.file(
        "tools.jsonl",
        r#"{"name":"dump","description":"Dumps.","annotations":{"readOnlyHint":true},"command":["cat","src/many.rs"]}"#,
    );
    let whole = std::fs::read_to_string(world.repo().join("src/many.rs")).unwrap();
    let handle = toolcrib_core::spill_handle(&whole);
    let read = format!(
        r#"{{"calls":[{{"name":"read_result","arguments":{{"id":"{handle}","grep":"number_450"}}}}]}}"#
    );
    let model = world.script(&[
        r#"{"calls":[{"name":"dump","arguments":{}}]}"#,
        &read,
        r#"{"text":"It is in src/cut.rs:4."}"#,
    ]);
    good(
        &world,
        &[
            "ask",
            "--quiet",
            "--tools",
            "tools.jsonl",
            "--model",
            &model,
            "Where?",
        ],
    );
    let rows = good(&world, &["session", "show", "--json"]).stdout;
    assert!(
        rows.contains("truncate_result_number_450") && rows.contains(&*handle),
        "{rows}"
    );
    let same = good(&world, &["session", "replay", "--tools", "tools.jsonl"]);
    assert!(
        same.stderr.contains("2 calls: 2 the same"),
        "{}{}",
        same.stdout,
        same.stderr
    );
    // What the tool gives now is read, not what it gave then, and nothing is written.
    let kept = world.sessions()[0].with_extension("results");
    let results = || std::fs::read_dir(&kept).unwrap().count();
    let before = results();
    world.file("src/many.rs", whole.replace("number_450", "number_x450"));
    let ran = world.run(&["session", "replay", "--tools", "tools.jsonl"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(results(), before);
}

/// A disk that fills in the middle of a run, played by a limit on the size of files.
#[test]
#[cfg(unix)]
fn l27_l30_a_disk_that_fills_ends_the_run_with_a_clear_error_and_an_intact_log() {
    let world = World::sample();
    let say = |n: usize| {
        format!(
            r#"{{"text":"{}","calls":[{{"name":"search_symbols","arguments":{{"query":"truncate","limit":{n}}}}}]}}"#,
            "words ".repeat(400)
        )
    };
    let replies: Vec<String> = (1..=15).map(say).collect();
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let model = world.script(&replies);
    let plain = world.command();
    let mut shell = std::process::Command::new("sh");
    // In units of 512 or 1,024 bytes, as the shell has it.
    shell.args(["-c", "ulimit -f 20 && exec \"$0\" \"$@\""]);
    shell.arg(plain.get_program());
    shell.args(["ask", "--quiet", "--model", &model, "Where?"]);
    world.dress(&mut shell);
    let ran = crate::world::ran(shell.output().unwrap());
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.complaint().contains("room"), "{}", ran.stderr);
    let shown = good(&world, &["session", "show", "--json"]).stdout;
    assert!(shown.lines().count() > 3);
    for line in shown.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    // With room again it goes on.
    let answer = world.script(&[r#"{"text":"It is in src/cut.rs:4."}"#]);
    good(
        &world,
        &[
            "session", "resume", "last", "--quiet", "--model", &answer, "And now?",
        ],
    );
}

/// Two processes go on with one session at once: no row is torn, and one that came while
/// the other was at it is refused and leaves nothing in it.
#[test]
fn l29_two_processes_on_one_session() {
    let world = asked();
    let answer = world.script(&[
        r#"{"calls":[{"name":"search_symbols","arguments":{"query":"truncate"}}]}"#,
        r#"{"text":"It is in src/cut.rs:4."}"#,
    ]);
    let children: Vec<_> = ["first", "second"]
        .into_iter()
        .map(|question| {
            world
                .command()
                .args([
                    "session", "resume", "last", "--quiet", "--model", &answer, question,
                ])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut went_on = Vec::new();
    for child in children {
        let ran = crate::world::ran(child.wait_with_output().unwrap());
        went_on.push(ran.code == Some(0));
        assert!(
            ran.code == Some(0) || ran.complaint().contains("is in use"),
            "{}",
            ran.stderr
        );
    }
    assert!(went_on.contains(&true));
    let rows = crate::world::json_lines(&world.sessions()[0]);
    let finished = rows.iter().filter(|row| row["row"] == "finished").count();
    assert_eq!(finished, 1 + went_on.iter().filter(|ran| **ran).count());
    let asked = |text: &str| {
        rows.iter()
            .any(|row| row["message"].to_string().contains(text))
    };
    assert_eq!([asked("first"), asked("second")], went_on[..]);
    good(&world, &["session", "show"]);
}

#[test]
fn a_session_is_exported_once_to_a_file() {
    let world = asked();
    let markdown = good(&world, &["session", "export"]).stdout;
    assert!(
        markdown.contains("## User\n\nWhere is a result truncated?"),
        "{markdown}"
    );
    let json = good(&world, &["session", "export", "--format", "json"]).stdout;
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rows[0]["row"], "meta");
    let file = world.home().join("out.md").display().to_string();
    good(&world, &["session", "export", "-o", &file]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), markdown);
    let ran = world.run(&["session", "export", "-o", &file]);
    assert_eq!(ran.code, Some(1), "an existing file was overwritten");
    assert!(ran.stderr.contains(&file), "{}", ran.stderr);
}

#[test]
fn sessions_are_removed_by_name_or_by_age() {
    let world = asked();
    good(&world, &["ask", "--quiet", "Who calls show?"]);
    let ran = world.run(&["session", "rm", "--older-than", "1ms"]);
    assert_eq!(ran.code, Some(2), "removed without being asked to");
    assert_eq!(ids(&world).len(), 2);
    let newest = ids(&world).remove(0);
    let removed = good(&world, &["session", "rm", "last"]);
    assert_eq!(removed.stdout.trim(), newest);
    good(&world, &["session", "rm", "--older-than", "1ms", "--yes"]);
    assert!(ids(&world).is_empty());
    let ran = world.run(&["session", "rm", "--older-than", "1d", "--yes"]);
    assert_eq!(ran.code, Some(1));
    let file = world.repo().join("Cargo.toml").display().to_string();
    let ran = world.run(&["session", "rm", &file]);
    assert_eq!(ran.code, Some(1), "a file that is no session was removed");
    assert!(world.repo().join("Cargo.toml").exists());
}

#[test]
fn a_report_sums_what_replies_said() {
    let world = World::sample();
    let model = world.script(&[
        r#"{"text":"It is cut in src/cut.rs:4.","usage":{"input":100,"output":7},"cost":0.5}"#,
    ]);
    good(&world, &["ask", "--quiet", "--model", &model, "Where?"]);
    let report = good(&world, &["report", "--json"]).stdout;
    let lines: Vec<Value> = report
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["runs"][0]["usage"]["input"], 100, "{report}");
    assert_eq!(lines[1]["total"]["cost"]["usd"], 0.5);
    let text = good(&world, &["report", "--newest", "3"]).stdout;
    assert!(text.contains("tokens   100 in"), "{text}");
    assert!(text.contains("$0.5000"), "{text}");
    let rounds = "rounds   1: 1 reply and 0 retries, ";
    assert!(text.contains(rounds), "{text}");
}
