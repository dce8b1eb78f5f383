//! Taking over other clients' servers, on copies of the fixtures.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toolcrib_gateway::Loaded;
use toolcrib_gateway::import::{
    Client, Goal, ImportError, Os, Places, Plan, Survey, apply, carried_variables, survey, undo,
};

struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn empty() -> World {
        let world = World {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(world.path("home")).unwrap();
        fs::create_dir_all(world.path("project")).unwrap();
        world
    }

    fn full() -> World {
        let world = World::empty();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/clients");
        copy(&fixtures, world.dir.path());
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn places(&self) -> Places {
        let mut places = Places::new(self.path("home"), self.path("project"));
        places.os = Os::Linux;
        places
    }

    fn survey(&self) -> Survey {
        survey(&self.places(), &Client::ALL)
    }

    fn goal(&self) -> Goal {
        Goal {
            user_config: self.path("home/.config/toolcrib/config.toml"),
            project_config: self.path("project/toolcrib.toml"),
            program: "/opt/toolcrib".to_owned(),
            shared_program: "toolcrib".to_owned(),
        }
    }

    fn plan(&self) -> Plan {
        Plan::new(&self.survey(), &self.goal()).unwrap()
    }

    fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Every file but the backups, with the scratch directory's name taken out.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        walk(self.dir.path(), &mut |path| {
            let name = path.strip_prefix(self.dir.path()).unwrap();
            if !name.starts_with("state") {
                let text = fs::read_to_string(path).unwrap();
                files.insert(name.to_string_lossy().into_owned(), self.hidden(&text));
            }
        });
        files
    }

    fn hidden(&self, text: &str) -> String {
        text.replace(&*self.dir.path().to_string_lossy(), "DIR")
    }
}

fn walk(dir: &Path, each: &mut dyn FnMut(&Path)) {
    let mut entries: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, each);
        } else {
            each(&path);
        }
    }
}

fn copy(from: &Path, to: &Path) {
    walk(from, &mut |path| {
        let target = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(path, target).unwrap();
    });
}

const SECRETS: [&str; 5] = [
    "ghp_fixturefixturefixture01",
    "ghp_fixturefixturefixture02",
    "k-123456",
    "fixture-token-value",
    "zed-fixture-token",
];

#[test]
fn every_client_is_read_and_odd_entries_are_named() {
    let world = World::full();
    let survey = world.survey();
    let lines: Vec<String> = survey
        .found
        .iter()
        .map(|found| format!("{:?} {} {}", found.scope, found.client.id(), found.name))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    let problems: Vec<String> = survey.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(world.hidden(&problems.join("\n")));
}

#[test]
fn an_import_writes_settings_and_one_entry_for_each_client() {
    let world = World::full();
    let before = world.files();
    apply(&world.plan(), true, &world.state()).unwrap();
    let after = world.files();
    let mut text = String::new();
    for (name, now) in &after {
        if before.get(name) != Some(now) {
            text.push_str(&format!("==== {name}\n{now}\n"));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn no_secret_is_written_where_it_was_not_before() {
    let world = World::full();
    let before = world.files();
    apply(&world.plan(), true, &world.state()).unwrap();
    let after = world.files();
    for secret in SECRETS {
        let holders = |files: &BTreeMap<String, String>| -> Vec<String> {
            let mut names: Vec<String> = files
                .iter()
                .filter(|(_, text)| text.contains(secret))
                .map(|(name, _)| name.clone())
                .collect();
            names.sort();
            names
        };
        assert!(!holders(&before).is_empty(), "{secret}");
        assert_eq!(holders(&before), holders(&after), "{secret}");
    }
    #[cfg(unix)]
    walk(&world.state(), &mut |path| {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    });
}

#[test]
fn values_are_carried_whatever_their_names_and_forms() {
    let world = World::empty();
    let servers = serde_json::json!({"mcpServers": {
        "env": {"command": "x", "env": {
            "PGPASSWORD": "leak-a", "USERNAME": "leak-b", "PATH": "/leak-c",
            "NOTION_HEADERS": "{\"Authorization\": \"Bearer leak-d\"}",
            "CONN": "Server=db;Password=leak-e;", "MIXED": "leak-f ${env:HOME}"}},
        "args": {"command": "x", "args": [
            "--password", "leak-g", "-p", "leak-h", "-e", "DB=leak-i", "--user", "bob:leak-j",
            "--connection-string", "Server=db;Password=leak-k;", "--pat", "leak-l",
            "--header", "Authorization:Bearer leak-m", "--key=leak-n", "redis://:leak-o@h:6379",
            "{\"k\":\"leak-p\"}", "API_KEY=leak-q npx y", "--header", "X-Api-Key: leak-r",
            "--config", "leak-s", "bob:leak-t", "root:leak-A@tcp(db:3306)/x", "token", "leak-B",
            "https://leak0f3m9x2q8w4z6n1p5t0.host/mcp", "--ado=Server=d;Pwd=leak-u"]},
        "command": {"command": "API_TOKEN=leak-v npx"},
        "url": {"url": "https://user:leak-w@h.example/mcp"},
        "glued": {"command": "x -pleak-0", "args": ["-pleak-1", "--secret", "-leak-2", "-c",
            "mysql -pleak-3", "-password=leak-4", "leak5key", "--opaque", "leak6key", "--o=leak7key",
            "https://h.example/mcp/leak-8", "-u", "leak-9", "--env=WORD=leak-open",
            "--header=X-Any: leak-any"]},
        "remote": {"command": "npx", "args": ["mcp-remote", "https://h.example/mcp",
            "--header", "Authorization:${AUTH_HEADER}", "--header=X-Key: Bearer ${AUTH_HEADER}",
            "x${AUTH_HEADER}"], "env": {"AUTH_HEADER": "leak-12", "ODD": "leak$${13"}},
        "path": {"url": "https://h.example/mcp/leak-10"},
        "bare": {"url": "https://h.example/mcp?leak-11"},
        "query": {"url": "https://h.example/mcp?code=leak-x", "headers": {"X-Custom": "leak-y"}},
    }});
    world.write("home/.cursor/mcp.json", &servers.to_string());
    world.write(
        "home/.gemini/settings.json",
        r#"{"mcpServers":{"gem":{"command":"x","env":{"K":"${K:-leak-z}"}}}}"#,
    );
    apply(&world.plan(), true, &world.state()).unwrap();
    let config = world.read("home/.config/toolcrib/config.toml");
    assert!(!config.contains("leak"), "{config}");
    let carried = carried_variables(&world.path("home/.cursor/mcp.json"));
    assert_eq!(carried["PGPASSWORD"], "leak-a");
    assert_eq!(carried["ENV_PATH"], "/leak-c");
    assert_eq!(carried["REMOTE_ODD"], "leak$${13");
    // The server fills in what its client never did.
    assert!(
        config.contains(r#""Authorization:$${AUTH_HEADER}""#),
        "{config}"
    );
    assert!(
        config.contains(r#""--header=X-Key: Bearer $${AUTH_HEADER}""#),
        "{config}"
    );
    assert!(!carried.contains_key("PATH"));
}

#[test]
fn a_gateway_started_elsewhere_finds_the_secrets_where_they_are() {
    let world = World::full();
    apply(&world.plan(), true, &world.state()).unwrap();
    let found = carried_variables(&world.path("home/.claude.json"));
    assert_eq!(found["GITHUB_PERSONAL_ACCESS_TOKEN"], SECRETS[0]);
    let found = carried_variables(&world.path("home/.config/Claude/claude_desktop_config.json"));
    assert_eq!(found["GITHUB_GITHUB_PERSONAL_ACCESS_TOKEN"], SECRETS[1]);
    let found = carried_variables(&world.path("home/.config/opencode/opencode.jsonc"));
    assert!(
        found.is_empty(),
        "templates are the client's to fill in: {found:?}"
    );
}

/// A `${` that the client hands on as it stands is not looked up by anybody but the
/// program that gets it, whether its text was carried or copied.
#[test]
fn what_a_shell_fills_in_stays_the_shells() {
    let world = World::empty();
    let script = "N=1; exec run ${N} ${HOME}";
    let sh = |name: &str| {
        let args = ["-c", script, name, "${N}"];
        serde_json::json!({name: {"command": "sh", "args": args}})
    };
    for (path, key, name) in [
        (
            ".config/Claude/claude_desktop_config.json",
            "mcpServers",
            "desktop",
        ),
        (".config/zed/settings.json", "context_servers", "zed"),
    ] {
        let text = serde_json::json!({ key: sh(name) }).to_string();
        world.write(&format!("home/{path}"), &text);
    }
    let args = serde_json::json!(["-c", script, "codex", "${N}"]);
    world.write(
        "home/.codex/config.toml",
        &format!("[mcp_servers.codex]\ncommand = \"sh\"\nargs = {args}\n"),
    );
    apply(&world.plan(), true, &world.state()).unwrap();
    let path = "home/.config/toolcrib/config.toml";
    let text = world.read(path);
    let loaded = Loaded::from_toml(&text, &world.path(path), &world.path("project")).unwrap();
    assert_eq!(loaded.servers.len(), 3);
    for server in &loaded.servers {
        let toolcrib_mcp::Transport::Stdio { args, .. } = &server.transport else {
            panic!("stdio");
        };
        let name = args[1].trim_start_matches("${").trim_end_matches('}');
        assert_eq!(server.variables[name], script, "{}", server.name);
        assert!(!args[3].contains("${N}"), "{args:?}");
    }
    assert_eq!(text.matches("\"$${N}\"").count(), 3, "{text}");
}

/// VS Code takes `"mcp.servers"` of its settings for what `"mcp"` holds under `"servers"`.
#[test]
fn servers_in_the_settings_of_an_editor_come_and_go_back_in_either_form() {
    for settings in [
        r#"{"a": 1, "mcp": {"servers": {"x": {"command": "x"}}, "inputs": []}}"#,
        r#"{"a": 1, "mcp.servers": {"x": {"command": "x"}}}"#,
    ] {
        let world = World::empty();
        let path = "project/.vscode/settings.json";
        world.write(path, settings);
        apply(&world.plan(), true, &world.state()).unwrap();
        let now = world.read(path);
        assert!(now.contains("\"serve\"") && !now.contains("\"x\""), "{now}");
        assert!(world.read("project/toolcrib.toml").contains("servers.x"));
        // Written anew meanwhile, as editors do.
        world.write(path, &now.replace("\"a\": 1", "\"a\": 2"));
        undo(&world.state()).unwrap();
        let want = settings.replace("\"a\": 1", "\"a\": 2");
        assert_eq!(world.read(path), want);
    }
}

/// What `/mcp` has switched off for this project, and what the settings reject.
#[test]
fn what_claude_code_has_switched_off_is_not_switched_on() {
    let world = World::empty();
    let here = world.path("project").to_string_lossy().into_owned();
    let noted = serde_json::json!({
        "mcpServers": {"on": {"command": "on"}, "off": {"command": "off"}},
        "projects": {
            here: {
                "mcpServers": {"mine": {"command": "mine"}, "idle": {"command": "idle"}},
                "disabledMcpServers": ["off", "idle", "shared-off"],
                "disabledMcpjsonServers": ["refused"],
                "enabledMcpjsonServers": ["shared", "refused"],
            },
            "/elsewhere": {"disabledMcpServers": ["on"], "disabledMcpjsonServers": ["shared"]},
        },
    });
    world.write("home/.claude.json", &noted.to_string());
    world.write(
        "project/.claude/settings.local.json",
        r#"{"disabledMcpjsonServers": ["refused-too"]}"#,
    );
    world.write("home/.claude/settings.json", "{");
    let shared: serde_json::Map<_, _> = ["shared", "shared-off", "refused", "refused-too"]
        .map(|name| (name.to_owned(), serde_json::json!({"command": name})))
        .into_iter()
        .collect();
    let shared = serde_json::json!({ "mcpServers": shared }).to_string();
    world.write("project/.mcp.json", &shared);
    let plan = world.plan();
    let planned: Vec<_> = plan
        .servers
        .iter()
        .map(|server| (server.name.as_str(), server.settings.disabled))
        .collect();
    assert_eq!(
        planned,
        [
            ("idle", true),
            ("mine", false),
            ("on", false),
            ("shared", false)
        ]
    );
    let problems: Vec<String> = world
        .survey()
        .problems
        .iter()
        .map(|problem| world.hidden(&problem.to_string()))
        .collect();
    insta::assert_snapshot!(problems.join("\n"), @r"
    DIR/home/.claude/settings.json: line 1, column 2: a key in double quotes or `}` was expected
    DIR/home/.claude.json: `mcpServers.off`: it is switched off in this project alone (`disabledMcpServers`)
    DIR/project/.mcp.json: `mcpServers.refused`: it is rejected by `disabledMcpjsonServers` of DIR/home/.claude.json
    DIR/project/.mcp.json: `mcpServers.refused-too`: it is rejected by `disabledMcpjsonServers` of DIR/project/.claude/settings.local.json
    DIR/project/.mcp.json: `mcpServers.shared-off`: it is switched off in this project alone (`disabledMcpServers`)
    ");
    // They stay where they are, and so does the note that they are off.
    apply(&plan, true, &world.state()).unwrap();
    let noted: serde_json::Value = serde_json::from_str(&world.read("home/.claude.json")).unwrap();
    assert_eq!(noted["mcpServers"]["off"]["command"], "off");
    let shared: serde_json::Value = serde_json::from_str(&world.read("project/.mcp.json")).unwrap();
    for name in ["shared-off", "refused", "refused-too"] {
        assert_eq!(shared["mcpServers"][name]["command"], name);
    }
    assert!(shared["mcpServers"].get("shared").is_none());
}

#[test]
fn a_projects_secrets_are_found_from_anywhere() {
    let world = World::empty();
    for (path, key, secret) in [
        (".mcp.json", "mcpServers", "tok-one"),
        (".vscode/mcp.json", "servers", "tok-two"),
    ] {
        let entry = serde_json::json!({"command": "x", "env": {"P_TOKEN": secret}});
        let text = serde_json::json!({key: {secret: entry}}).to_string();
        world.write(&format!("project/{path}"), &text);
    }
    apply(&world.plan(), true, &world.state()).unwrap();
    let text = world.read("project/toolcrib.toml");
    assert!(
        !text.contains(&*world.dir.path().to_string_lossy()) && text.contains("variables_from")
    );
    let file = world.path("project/toolcrib.toml");
    let loaded = Loaded::from_toml(&text, &file, &world.path("project")).unwrap();
    for server in &loaded.servers {
        let toolcrib_mcp::Transport::Stdio { env, .. } = &server.transport else {
            panic!("stdio");
        };
        let name = env["P_TOKEN"]
            .trim_start_matches("${")
            .trim_end_matches('}');
        assert_eq!(server.variables[name], *server.name);
    }
}

#[test]
fn undo_restores_every_byte() {
    let world = World::full();
    let before = world.files();
    apply(&world.plan(), true, &world.state()).unwrap();
    assert_ne!(before, world.files());
    let undone = undo(&world.state()).unwrap();
    assert_eq!(before, world.files());
    assert_eq!(undone.removed.len(), 2);
    assert!(matches!(
        undo(&world.state()),
        Err(ImportError::NothingToUndo)
    ));
}

#[test]
fn a_second_import_finds_nothing_and_a_new_server_joins_the_entry() {
    let world = World::full();
    apply(&world.plan(), true, &world.state()).unwrap();
    assert!(world.plan().writes.is_empty());
    assert!(world.survey().found.is_empty());
    let path = "home/.cursor/mcp.json";
    let text = world.read(path).replace(
        "\"mcpServers\": {",
        "\"mcpServers\": {\n    \"late\": { \"command\": \"late\", \"env\": { \"LATE_TOKEN\": \"tok-late-1\" } },",
    );
    world.write(path, &text);
    let before = world.files();
    apply(&world.plan(), true, &world.state()).unwrap();
    let env = carried_variables(&world.path(path));
    assert_eq!(env["LATE_TOKEN"], "tok-late-1");
    assert_eq!(env["NOTES_API_KEY"], "k-123456");
    let config = world.read("home/.config/toolcrib/config.toml");
    assert!(config.contains("[mcp.servers.late]") && config.contains("[mcp.servers.notes]"));
    undo(&world.state()).unwrap();
    assert_eq!(before, world.files());
}

#[test]
fn without_the_clients_only_our_own_file_is_written() {
    let world = World::full();
    let before = world.files();
    let applied = apply(&world.plan(), false, &world.state()).unwrap();
    let after = world.files();
    for (name, text) in &before {
        assert_eq!(after.get(name), Some(text), "{name}");
    }
    assert_eq!(applied.written.len(), 2);
}

#[test]
fn undo_keeps_what_clients_changed_since_and_passes_by_what_is_gone() {
    let world = World::full();
    let before = world.files();
    apply(&world.plan(), true, &world.state()).unwrap();
    let edit = |path: &str, from: &str, to: &str| {
        let text = world.read(path);
        assert!(text.contains(from), "{text}");
        world.write(path, &text.replace(from, to));
    };
    edit(
        "home/.claude.json",
        "\"numStartups\": 12",
        "\"numStartups\": 13",
    );
    edit("home/.codex/config.toml", "gpt-5", "gpt-6");
    edit("home/.config/zed/settings.json", "One Dark", "One Light");
    fs::remove_file(world.path("home/.cursor/mcp.json")).unwrap();
    world.write("home/.gemini/settings.json", r#"{"mcpServers": {}}"#);
    let undone = undo(&world.state()).unwrap();
    assert_eq!(undone.merged.len(), 3);
    assert_eq!(undone.removed.len(), 2);
    let left: Vec<String> = undone
        .left
        .iter()
        .map(|left| world.hidden(&format!("{}: {}", left.path.display(), left.why)))
        .collect();
    assert_eq!(
        left,
        [
            "DIR/home/.cursor/mcp.json: it is gone",
            "DIR/home/.gemini/settings.json: it was changed since the import, and the gateway's entry is gone",
        ]
    );
    let mut want = before;
    for (path, from, to) in [
        (
            "home/.claude.json",
            "\"numStartups\": 12",
            "\"numStartups\": 13",
        ),
        ("home/.codex/config.toml", "gpt-5", "gpt-6"),
        ("home/.config/zed/settings.json", "One Dark", "One Light"),
    ] {
        let text = want.get_mut(path).unwrap();
        *text = text.replace(from, to);
    }
    want.remove("home/.cursor/mcp.json");
    let empty = r#"{"mcpServers": {}}"#;
    want.insert("home/.gemini/settings.json".to_owned(), empty.to_owned());
    assert_eq!(want, world.files());
    let mut kept = Vec::new();
    walk(&world.state(), &mut |path| kept.push(path.to_owned()));
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert!(undo(&world.state()).unwrap().is_empty());
    // Put back by hand, it is as before and off the record.
    let cursor = undone.left[0].clone();
    fs::copy(cursor.backup.unwrap(), &cursor.path).unwrap();
    let again = undo(&world.state()).unwrap();
    assert!(again.is_empty() && again.left.len() == 1);
}

#[test]
fn undo_takes_only_what_was_added_out_of_our_own_edited_files() {
    let world = World::empty();
    let servers = serde_json::json!({"mcpServers": {
        "one": {"command": "one", "env": {"A_KEY": "k-1"}}, "two": {"command": "two"}}});
    world.write("home/.cursor/mcp.json", &servers.to_string());
    let path = "home/.config/toolcrib/config.toml";
    let mine = "# mine\n[mcp.policy]\ndeny = [\"destructive\"] # all\n";
    for (before, edit) in [
        (None, ""),
        (
            Some("model = \"x\"\n"),
            "[mcp.servers.late]\ncommand = \"late\"\n",
        ),
        (None, mine),
    ] {
        match before {
            Some(text) => world.write(path, text),
            None => drop(fs::remove_file(world.path(path))),
        }
        apply(&world.plan(), true, &world.state()).unwrap();
        let imported = world.read(path);
        world.write(path, &format!("{imported}\n{edit}"));
        let undone = undo(&world.state()).unwrap();
        assert!(undone.left.is_empty(), "{undone:?}");
        if edit.is_empty() {
            assert!(!world.path(path).exists(), "{}", world.read(path));
            continue;
        }
        let want = format!("{}\n{edit}", before.unwrap_or(""));
        assert_eq!(world.read(path).trim(), want.trim());
    }
    // What a person has edited is theirs; the other one goes.
    for added in [
        "enabled_tools = [\"x\"]",
        "\n[mcp.servers.two.env]\nB = \"c\"",
    ] {
        world.write(path, mine);
        apply(&world.plan(), true, &world.state()).unwrap();
        let text = world.read(path);
        let line = "[mcp.servers.two]\ncommand = \"two\"";
        assert!(text.contains(line), "{text}");
        world.write(path, &text.replace(line, &format!("{line}\n{added}")));
        let undone = undo(&world.state()).unwrap();
        assert_eq!(
            undone.left[0].why,
            "`mcp.servers.two` was edited since the import, and stays"
        );
        let now = world.read(path);
        assert!(now.contains(added) && !now.contains("servers.one"), "{now}");
        assert_eq!(world.read("home/.cursor/mcp.json"), servers.to_string());
    }
}

#[test]
fn the_gateways_entry_is_known_however_its_program_is_called() {
    let world = World::full();
    let mut goal = world.goal();
    goal.program = "/opt/bin/tc-0.9".to_owned();
    let plan = Plan::new(&world.survey(), &goal).unwrap();
    apply(&plan, true, &world.state()).unwrap();
    assert!(world.survey().found.is_empty());
    let own = std::env::current_exe().unwrap();
    let entry = serde_json::json!({"mcpServers": {"mine": {"command": own, "args": ["serve"]}}});
    world.write("home/.cursor/mcp.json", &entry.to_string());
    assert!(world.survey().found.is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_target_is_edited() {
    let world = World::empty();
    world.write(
        "dotfiles/mcp.json",
        r#"{"mcpServers":{"a":{"command":"a"}}}"#,
    );
    fs::create_dir_all(world.path("home/.cursor")).unwrap();
    let link = world.path("home/.cursor/mcp.json");
    std::os::unix::fs::symlink(world.path("dotfiles/mcp.json"), &link).unwrap();
    apply(&world.plan(), true, &world.state()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(world.read("dotfiles/mcp.json").contains("toolcrib"));
    undo(&world.state()).unwrap();
    assert_eq!(
        world.read("dotfiles/mcp.json"),
        r#"{"mcpServers":{"a":{"command":"a"}}}"#
    );
}

#[test]
fn backups_of_an_import_that_is_under_way_are_not_overwritten() {
    let world = World::full();
    let others = world.path("state/import/1/0.backup");
    fs::create_dir_all(others.parent().unwrap()).unwrap();
    fs::write(&others, "another's").unwrap();
    let before = world.files();
    let applied = apply(&world.plan(), true, &world.state()).unwrap();
    assert_eq!(applied.backups, world.path("state/import/2"));
    assert_eq!(fs::read_to_string(&others).unwrap(), "another's");
    undo(&world.state()).unwrap();
    assert_eq!(before, world.files());
}

#[test]
fn a_read_only_file_stops_the_import_before_anything_is_written() {
    let world = World::full();
    let path = world.path("home/.config/zed/settings.json");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let before = world.files();
    let error = apply(&world.plan(), true, &world.state()).unwrap_err();
    let error = world.hidden(&error.to_string());
    assert_eq!(
        error,
        "cannot write DIR/home/.config/zed/settings.json: it is read-only"
    );
    assert_eq!(before, world.files());
    assert!(matches!(
        undo(&world.state()),
        Err(ImportError::NothingToUndo)
    ));
}

/// Files and directories alike.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(tree(&path));
        }
        all.push(path);
    }
    all.sort();
    all
}

/// A directory has the name that the new bytes of the last file would wait under.
#[test]
fn an_import_that_cannot_be_finished_leaves_nothing_behind() {
    let world = World::full();
    let plan = world.plan();
    let last = plan.writes.len() - 1;
    let path = &plan.writes[last].path;
    let name = path.file_name().unwrap().to_string_lossy();
    let next = format!(".{name}.toolcrib-new{last}-{}", std::process::id());
    fs::create_dir(path.with_file_name(next)).unwrap();
    let (files, before) = (world.files(), tree(world.dir.path()));
    let error = apply(&plan, true, &world.state()).unwrap_err();
    assert!(error.to_string().contains(&*name), "{error}");
    assert_eq!(before, tree(world.dir.path()));
    assert_eq!(files, world.files());
}

#[test]
fn broken_files_are_named_and_cost_the_others_nothing() {
    let world = World::empty();
    world.write("home/.cursor/mcp.json", "{\n  \"mcpServers\": {\n");
    world.write("home/.codex/config.toml", "[mcp_servers\n");
    world.write("home/.gemini/settings.json", r#"{"mcpServers": []}"#);
    world.write(
        "home/.claude.json",
        r#"{"mcpServers":{"a":{"command":"a"}}}"#,
    );
    let survey = world.survey();
    let problems: Vec<String> = survey.problems.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(world.hidden(&problems.join("\n")), @r"
    DIR/home/.codex/config.toml: unclosed table, expected `]`
    DIR/home/.cursor/mcp.json: line 3, column 1: a key in double quotes or `}` was expected
    DIR/home/.gemini/settings.json: `mcpServers`: it is not an object of servers
    ");
    assert_eq!(survey.found.len(), 1);
}

#[test]
fn an_existing_configuration_keeps_its_bytes_and_comments() {
    let world = World::empty();
    world.write(
        "home/.claude.json",
        r#"{"mcpServers":{"a":{"command":"a"}, "b":{"command":"b"}}}"#,
    );
    let own = "# mine\nmodel = \"x\"  # keep\n\n[mcp.servers.a]\ncommand = \"another\"\n";
    world.write("home/.config/toolcrib/config.toml", own);
    apply(&world.plan(), false, &world.state()).unwrap();
    insta::assert_snapshot!(world.read("home/.config/toolcrib/config.toml"), @r#"
    # mine
    model = "x"  # keep

    [mcp.servers.a]
    command = "another"

    [mcp.servers.a-claude-code]
    command = "a"

    [mcp.servers.b]
    command = "b"
    "#);
}

#[test]
fn paths_follow_each_system() {
    let shown = |os: Os, appdata: Option<&str>| -> String {
        let mut places = Places::new("/h", "/p");
        places.os = os;
        places.appdata = appdata.map(PathBuf::from);
        let mut lines = Vec::new();
        for client in Client::ALL {
            for path in client.paths(&places) {
                lines.push(format!("{} {}", client.id(), path.display()));
            }
        }
        lines.dedup();
        lines.join("\n").replace('\\', "/")
    };
    insta::assert_snapshot!("linux", shown(Os::Linux, None));
    insta::assert_snapshot!("macos", shown(Os::MacOs, None));
    insta::assert_snapshot!("windows", shown(Os::Windows, Some("/h/Roaming")));
}
