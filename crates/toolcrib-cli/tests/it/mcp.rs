//! `toolcrib mcp` with servers that are this binary, started once more.

use serde_json::{Map, Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::world::World;

/// `.mcp.json` with these servers.
fn file(servers: &[(&str, FakeMcp)]) -> String {
    let entries: Map<String, Value> = servers
        .iter()
        .map(|(name, fake)| {
            let (command, args, env) = fake.command();
            let env: Map<String, Value> = env
                .into_iter()
                .map(|(key, value)| (key, Value::String(value)))
                .collect();
            (
                (*name).to_owned(),
                json!({"command": command, "args": args, "env": env}),
            )
        })
        .collect();
    json!({ "mcpServers": entries }).to_string()
}

fn trusted(servers: &[(&str, FakeMcp)]) -> World {
    let world = World::empty();
    world.file(".mcp.json", file(servers));
    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    world
}

#[test]
fn a_repositorys_servers_start_only_once_trusted_and_not_after_an_edit() {
    let world = World::empty();
    let starts = world.home().join("starts");
    let fake = FakeMcp::new().with("starts", starts.to_str().unwrap());
    world.file(".mcp.json", file(&[("fake", fake.clone())]));
    let call = ["mcp", "call", "fake__echo", r#"{"text":"hi"}"#];
    let refused = world.run(&call);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused
            .stderr
            .contains("an MCP server that starts only after `toolcrib trust`: fake")
    );
    assert!(!starts.exists(), "it was started");

    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    let called = world.run(&call);
    assert_eq!(
        (called.code, called.stdout.as_str()),
        (Some(0), "hi\n"),
        "{}",
        called.stderr
    );

    world.file(
        ".mcp.json",
        file(&[("fake", fake.with("instructions", "new"))]),
    );
    let before = std::fs::read_to_string(&starts).unwrap();
    assert_eq!(world.run(&call).code, Some(2));
    assert_eq!(std::fs::read_to_string(&starts).unwrap(), before);
}

#[test]
fn check_names_what_is_wrong_and_the_others_work() {
    let odd = json!([
        {"name":"good","description":"Ignore\u{200b} me.\u{1b}[2J","inputSchema":{"type":"object"}},
        {"name":"bad","inputSchema":{"type":"array"}}]);
    let world = trusted(&[
        (
            "dead",
            FakeMcp::new()
                .with("initialize", "exit")
                .with("stderr", "no module named x"),
        ),
        ("odd", FakeMcp::new().with("tools", odd)),
    ]);
    let checked = world.run(&["mcp", "check"]);
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    for part in [
        "dead: FAILED",
        "exited with code 4",
        "no module named x",
        "odd: ok, 1 tool,",
        "left out: bad: the schema's root type must be \"object\"",
    ] {
        assert!(checked.stdout.contains(part), "{part}\n{}", checked.stdout);
    }
    // What it offers is known from now on, and nothing needs to start.
    let listed = world.run(&["mcp", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed[0]["state"], "configured");
    assert_eq!(
        (&listed[1]["state"], &listed[1]["tools"]),
        (&json!("known"), &json!(1))
    );
    let tools = world.run(&["mcp", "tools", "odd"]);
    assert_eq!(tools.stdout, "odd__good  Ignore\\u{200b} me.\\u{1b}[2J\n");
    let raw = world.run(&["mcp", "tools", "odd", "--json"]);
    let raw: Value = serde_json::from_str(&raw.stdout).unwrap();
    assert_eq!(raw["definition"]["name"], "good");
}

#[test]
fn calls_end_with_what_the_tool_said() {
    let world = trusted(&[("fake", FakeMcp::new())]);
    let call = |tool: &str, arguments: &str| world.run(&["mcp", "call", tool, arguments]);
    let raw = world.run(&["mcp", "call", "fake/structured", "--json"]);
    assert_eq!(
        raw.stdout,
        "{\"content\":[],\"structuredContent\":{\"n\":1.5,\"s\":\"x\"},\"_meta\":{\"k\":\"v\"},\"extra\":true}\n"
    );
    assert_eq!(
        call("fake__image", "{}").stdout,
        "[image image/png, 3 bytes]\n"
    );
    let unknown = call("fake/nothing", "{}");
    assert_eq!(
        (unknown.code, unknown.stdout.as_str()),
        (Some(1), "Unknown tool: nothing\n")
    );
    let near = call("fake__ecko", "{}");
    assert_eq!(near.code, Some(2));
    assert!(near.complaint().contains("did you mean `fake__echo`?"));
    let far = world.run(&["mcp", "tools", "nowhere"]);
    assert_eq!(far.code, Some(2));
    assert!(!far.stderr.contains("did you mean"), "{}", far.stderr);
    assert!(
        call("fake__echo", "[1]")
            .complaint()
            .contains("must be a JSON object")
    );
    assert!(call("fake__echo", "{").complaint().contains("not JSON"));
    let died = call("fake__die", "{}");
    assert_eq!(died.code, Some(1));
    assert!(
        died.stderr.contains("exited with code 7"),
        "{}",
        died.stderr
    );
}

#[test]
fn a_bad_value_in_the_configuration_costs_its_own_server_alone() {
    let world = World::empty();
    let config = world.home().join("servers.toml");
    let text = "[mcp.servers.a]\ncommand = 'x'\nstart_timeout = 'abc'\n[mcp.servers.b]\nurl = 'ftp://x'\n[mcp.servers.c]\ncommand = '/nowhere/c'\nenv = 3\n";
    std::fs::write(&config, text).unwrap();
    let checked = world.run(&["mcp", "--config", config.to_str().unwrap(), "check"]);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    for reason in [
        "mcp.servers.a.start_timeout`: must be a time",
        "mcp.servers.b.url`: must begin with http",
        "mcp.servers.c.env`: must be an object",
    ] {
        assert!(said.contains(reason), "{said}");
    }
}

#[test]
fn a_file_named_on_the_command_line_is_meant_and_its_errors_are_placed() {
    let world = World::empty();
    let config = world.home().join("servers.json");
    std::fs::write(&config, file(&[("fake", FakeMcp::new())])).unwrap();
    let config = config.to_str().unwrap();
    let listed = world.run(&["mcp", "--config", config, "list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    assert!(
        listed.stdout.starts_with("fake  configured"),
        "{}",
        listed.stdout
    );

    world.file("toolcrib.toml", "[mcp.servers.a]\ncomand = 'x'\n");
    let wrong = world.run(&["trust", "--yes"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong
            .complaint()
            .contains("`mcp.servers.a.comand`: unknown key; did you mean `command`?")
    );
    let none = World::empty();
    let listed = none.run(&["mcp", "list"]);
    assert!(
        listed.stdout.contains("no MCP servers are configured"),
        "{}",
        listed.stdout
    );
}

/// What `import` leaves behind: the secret stands in the client's file alone.
#[test]
fn variables_that_a_client_carries_are_read_by_every_command_and_shown_by_none() {
    let world = World::empty();
    let client = world.home().join("client.json");
    let carried = json!({"mcpServers": {"toolcrib": {
        "command": "/x/toolcrib", "args": ["serve"], "env": {"CRIB_TEST_TOKEN": "sesame-open"}}}});
    std::fs::write(&client, carried.to_string()).unwrap();
    let fake = FakeMcp::new().with("initialize", "exit");
    let (command, mut args, env) = fake.command();
    args.push("--skip".to_owned());
    args.push("${CRIB_TEST_TOKEN}".to_owned());
    // What a server prints back of it is not shown either.
    let said = format!(
        "echo bad token \"$0\" >&2; exec {command} {}",
        args.join(" ")
    );
    let text = format!(
        "[mcp]\nvariables_from = [{:?}]\n[mcp.servers.fake]\ncommand = \"sh\"\nargs = [\"-c\", {:?}, \"${{CRIB_TEST_TOKEN}}\"]\nenv = {{ {} = {:?} }}\n",
        client.to_str().unwrap(),
        said.replace("${CRIB_TEST_TOKEN}", "$0"),
        env[0].0,
        env[0].1,
    );
    let config = world.home().join(".config/toolcrib/config.toml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, text).unwrap();
    for args in [
        &["mcp", "check"][..],
        &["mcp", "check", "--json"],
        &["mcp", "list", "--json"],
        &["mcp", "call", "fake/echo"],
    ] {
        let ran = world.run(args);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains("sesame"), "{args:?}: {all}");
        if !args.contains(&"list") {
            assert!(all.contains("bad token [redacted]"), "{args:?}: {all}");
        }
    }
}
