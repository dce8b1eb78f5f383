//! `toolcrib import` from outside.

use serde_json::json;
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::gateway::kit::entry;
use crate::world::World;

fn cursor(world: &World, text: &str) -> std::path::PathBuf {
    let path = world.home().join(".cursor/mcp.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

const CONFIG: &str = r#"{
  "mcpServers": {
    "notes": { "command": "notes-mcp", "env": { "NOTES_TOKEN": "tok-1234567" } }
  }
}
"#;

#[test]
fn what_is_found_is_shown_taken_over_and_given_back() {
    let world = World::empty();
    let path = cursor(&world, CONFIG);
    let dry = world.run(&["import", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    insta::assert_snapshot!(dry.stdout, @r"
    notes: tokens not known yet (Cursor)
    1 not counted; --check starts each of them once
    ");
    assert!(!world.home().join(".config").exists());
    let plain = world.run(&["import"]);
    assert!(
        plain.stderr.contains("notes needs NOTES_TOKEN"),
        "{}",
        plain.stderr
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), CONFIG);
    let applied = world.run(&["import", "--apply"]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    let now = std::fs::read_to_string(&path).unwrap();
    assert!(
        now.contains("\"serve\"") && now.contains("tok-1234567"),
        "{now}"
    );
    let own = world.home().join(".config/toolcrib/config.toml");
    let text = std::fs::read_to_string(&own).unwrap();
    assert!(
        text.contains("[mcp.servers.notes]") && !text.contains("tok-1234567"),
        "{text}"
    );
    assert_eq!(world.run(&["import", "--undo"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), CONFIG);
    assert_eq!(world.run(&["import", "--undo"]).code, Some(0));
    assert!(!own.exists());
    let none = world.run(&["import", "--undo"]);
    assert_eq!(none.code, Some(1));
    assert!(none.complaint().contains("nothing to undo"));
}

#[test]
fn a_client_that_is_not_known_is_answered_with_those_that_are() {
    let world = World::empty();
    let ran = world.run(&["import", "--client", "cursro"]);
    assert_eq!(ran.code, Some(2));
    insta::assert_snapshot!(ran.complaint(), @r#"toolcrib: --client: no client "cursro"; known are claude-code, claude-desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed"#);
}

#[test]
fn servers_are_checked_with_what_their_clients_give_them() {
    let world = World::empty();
    let mut with_token = entry(&FakeMcp::new());
    with_token["env"]["NOTES_TOKEN"] = "tok-1234567".into();
    let dead = json!({"command": "/nowhere/dead"});
    let path = cursor(
        &world,
        &json!({"mcpServers": {"notes": with_token, "dead": dead}}).to_string(),
    );
    let before = std::fs::read_to_string(&path).unwrap();
    let ran = world.run(&["import", "--check", "--dry-run"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let notes = ran.stdout.lines().find(|line| line.starts_with("notes: "));
    assert!(notes.unwrap().contains(" tools, "), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("dead: does not work: "),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("1 not counted, since they do not work"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("tok-1234567"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

/// Every file and directory below, with what is in it.
#[cfg(target_os = "linux")]
fn tree(dir: &std::path::Path) -> std::collections::BTreeMap<std::path::PathBuf, String> {
    let mut all = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let text = match path.is_dir() {
            true => {
                all.extend(tree(&path));
                String::new()
            }
            false => std::fs::read_to_string(&path).unwrap(),
        };
        all.insert(path, text);
    }
    all
}

/// The size limit of a file stands in for a full disk, met at each file in turn.
#[cfg(target_os = "linux")]
#[test]
fn an_import_onto_a_full_disk_leaves_everything_as_it_was() {
    let world = World::empty();
    let servers: serde_json::Map<_, _> = (0..12)
        .map(|n| {
            let entry =
                json!({"command": format!("server-{n}"), "env": {"A_TOKEN": format!("tok-{n}")}});
            (format!("server-{n}"), entry)
        })
        .collect();
    let text = json!({ "mcpServers": servers }).to_string();
    cursor(&world, &text);
    let before = tree(&world.home());
    let mut refused = 0;
    for blocks in 0.. {
        let mut shell = std::process::Command::new("sh");
        let script = format!("ulimit -f {blocks}; exec \"$0\" import --apply");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_toolcrib")]);
        world.dress(&mut shell);
        let ran = crate::world::ran(shell.output().unwrap());
        if ran.code == Some(0) {
            break;
        }
        refused += 1;
        assert_eq!(ran.code, Some(1), "{blocks}: {}", ran.stderr);
        assert!(ran.complaint().contains("cannot write"), "{}", ran.stderr);
        assert_eq!(before, tree(&world.home()), "{blocks}");
        assert!(blocks < 100, "it is never written");
    }
    assert!(refused >= 2, "{refused}");
}

/// What the entry of Claude Desktop says to a shell means the same behind the gateway,
/// by whomever that is started.
#[cfg(unix)]
#[test]
fn a_shells_own_variables_are_left_to_it() {
    let world = World::empty();
    let mut server = entry(&FakeMcp::new());
    let mut args = vec![
        json!("-c"),
        json!("WORD=right; test \"$1 ${WORD}\" = '${WORD} right' && shift && exec \"$@\""),
        json!("sh"),
        json!("${WORD}"),
        server["command"].clone(),
    ];
    args.extend(server["args"].as_array().unwrap().clone());
    server["command"] = "sh".into();
    server["args"] = args.into();
    let path = world
        .home()
        .join(".config/Claude/claude_desktop_config.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, json!({"mcpServers": {"s": server}}).to_string()).unwrap();
    let echoes = |more: &[&str]| {
        let mut args = vec!["mcp"];
        args.extend(more);
        args.extend(["call", "s__echo", r#"{"text":"hi"}"#]);
        let ran = world.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(ran.stdout.trim(), "hi");
    };
    echoes(&["--config", &path.to_string_lossy()]);
    assert_eq!(world.run(&["import", "--apply"]).code, Some(0));
    echoes(&[]);
}
