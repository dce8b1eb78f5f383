//! Lists that change, revisions, prompts and resources.

use serde_json::{Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;

use super::kit::{Gate, entry, remember, text};
use crate::world::World;

#[test]
fn found_tools_join_the_list_where_the_client_follows_changes() {
    let world = World::empty();
    let servers = [("f", entry(&FakeMcp::new()))];
    let mut gate = Gate::start(&world, &servers, &["--mode", "list-changed"]);
    gate.until_found("image", "f__image");
    let changes = |gate: &Gate| {
        let changed = "notifications/tools/list_changed";
        gate.heard.iter().filter(|m| m["method"] == changed).count()
    };
    assert!(changes(&gate) >= 1, "{:?}", gate.heard);
    let names = |gate: &mut Gate| -> Vec<String> {
        let list = gate.ok("tools/list", json!({}));
        let tools = list["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|t| t["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = names(&mut gate);
    assert!(before.contains(&"f__image".to_owned()), "{before:?}");
    gate.search("select:f__pid");
    let after = names(&mut gate);
    assert_eq!(after[..before.len()], before[..], "loads are appended");
    assert_eq!(after.last().map(String::as_str), Some("f__pid"));
    let result = gate.ok(
        "tools/call",
        json!({"name": "f__echo", "arguments": {"text": "x"}}),
    );
    assert_eq!(text(&result), "x");
}

#[test]
fn every_older_revision_is_spoken_and_the_newest_needs_no_handshake() {
    let world = World::empty();
    let servers = [("f", entry(&FakeMcp::new()))];
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut gate = Gate::silent(&world, &servers, &[]);
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let result = gate.ok("initialize", params);
        assert_eq!(result["protocolVersion"], answered);
        assert_eq!(result["serverInfo"]["name"], "toolcrib");
        assert_eq!(gate.ok("ping", json!({})), json!({}));
    }
    let mut gate = Gate::silent(&world, &servers, &[]);
    let list = gate.modern("tools/list", json!({}), json!({}))["result"].clone();
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["ttlMs"], 0);
    assert_eq!(list["cacheScope"], "private");
    let mut old = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2027-01-01"}});
    let answer = gate.request("tools/list", old.clone());
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"]["supported"], json!(["2026-07-28"]));
    old["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    assert_eq!(gate.request("tools/list", old)["error"]["code"], -32602);
    assert_eq!(
        gate.modern("ping", json!({}), json!({}))["error"]["code"],
        -32601
    );
}

#[test]
fn a_listener_of_the_newest_revision_is_told_of_changes_by_its_own_id() {
    let world = World::empty();
    let mut gate = Gate::silent(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    gate.say(&json!({"jsonrpc": "2.0", "id": "listen-1", "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": true, "unheardOf": 1}, "_meta": meta}}));
    let key = "io.modelcontextprotocol/subscriptionId";
    let first: Value = serde_json::from_str(&gate.line()).unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        first["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    assert_eq!(first["params"]["_meta"][key], "listen-1");
    // The server is learnt of meanwhile, which is a change.
    let second: Value = serde_json::from_str(&gate.line()).unwrap();
    assert_eq!(second["method"], "notifications/tools/list_changed");
    assert_eq!(second["params"]["_meta"][key], "listen-1");
}

#[test]
fn prompts_and_resources_are_passed_on_under_their_servers_names() {
    let world = World::empty();
    let servers: Vec<(&str, Value)> = ["a", "b"]
        .into_iter()
        .map(|name| {
            let entry = json!({"command": format!("/nowhere/{name}")});
            remember(
                &world,
                name,
                &entry,
                json!({
                    "instructions": format!("Ask {name} first.\n{}", "More. ".repeat(200)),
                    "prompts": [{"name": "review", "x": 1}],
                    "resources": [{"uri": "file:///same", "name": "same"}, {"uri": format!("file:///{name}"), "name": "own"}],
                    "resource_templates": [{"uriTemplate": format!("{name}://{{path}}"), "name": "t"}],
                }),
            );
            (name, entry)
        })
        .collect();
    let mut gate = Gate::silent(&world, &servers, &[]);
    let hello = gate.initialize(json!({}));
    let said = hello["instructions"].as_str().unwrap();
    assert!(
        said.contains("<a>\nAsk a first.") && said.contains("<b>\nAsk b first."),
        "{said}"
    );
    assert!(said.len() < 1_800, "{}", said.len());
    let prompts = gate.ok("prompts/list", json!({}));
    assert_eq!(
        prompts["prompts"],
        json!([{"name": "a__review", "x": 1}, {"name": "b__review", "x": 1}])
    );
    let resources = gate.ok("resources/list", json!({}));
    let uris: Vec<&str> = resources["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "toolcrib://status",
            "toolcrib://instructions/a",
            "toolcrib://instructions/b",
            "file:///same",
            "file:///a",
            "toolcrib://b/file:///same",
            "file:///b",
        ]
    );
    let read = gate.ok(
        "resources/read",
        json!({"uri": "toolcrib://instructions/b"}),
    );
    let whole = read["contents"][0]["text"].as_str().unwrap();
    assert!(whole.starts_with("Ask b first.") && whole.len() > 1000);
    let missing = gate.request("resources/read", json!({"uri": "file:///nobody"}));
    assert_eq!(missing["error"]["code"], -32602);
    // A server that cannot start is named by whom it was asked of.
    let dead = gate.request("resources/read", json!({"uri": "b://x"}));
    assert!(
        dead["error"]["message"].as_str().unwrap().contains("`b`"),
        "{dead}"
    );
}

#[test]
fn m15_one_server_that_is_passed_through_is_met_in_its_clients_era() {
    let world = World::empty();
    let servers = [("f", entry(&FakeMcp::new().with("discover", "modern")))];
    let mut gate = Gate::silent(&world, &servers, &["--mode", "transparent"]);
    // Its own words, though nothing was known of it before.
    let met = gate.initialize(json!({}));
    assert_ne!(met["serverInfo"]["name"], "toolcrib", "{met}");
    let known = |dir: &str| -> Vec<Value> {
        let cache = world.home().join(".cache/toolcrib/mcp").join(dir);
        let entries = std::fs::read_dir(cache).into_iter().flatten();
        let files = entries.map(|entry| entry.unwrap().path());
        files
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
            .collect()
    };
    assert!(
        known("").is_empty(),
        "what an older client is told is kept apart"
    );
    let dirs: Vec<String> = std::fs::read_dir(world.home().join(".cache/toolcrib/mcp"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let older = known(&dirs[0]);
    assert_eq!(older[0]["protocol_version"], "2025-11-25");

    let mut gate = Gate::silent(&world, &servers, &["--mode", "transparent"]);
    let met = gate.modern("server/discover", json!({}), json!({}));
    assert_eq!(
        met["result"]["supportedVersions"],
        json!(["2026-07-28"]),
        "{met}"
    );
    assert_eq!(known("")[0]["protocol_version"], "2026-07-28");
}

#[test]
fn m15_a_dead_server_that_is_passed_through_is_no_reason_to_wait() {
    let world = World::empty();
    let servers = [("f", json!({"command": "/nowhere/dead"}))];
    let mut gate = Gate::silent(&world, &servers, &["--mode", "transparent"]);
    let met = gate.initialize(json!({}));
    assert_eq!(met["serverInfo"]["name"], "toolcrib");
    let answer = gate.request("tools/list", json!({}));
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("did not start"), "{why}");
}
