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
