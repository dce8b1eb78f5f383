use std::path::Path;

use super::*;

fn json(text: &str) -> Result<Vec<ServerConfig>, ConfigError> {
    servers_from_json(text, Path::new(".mcp.json"), false)
}

#[test]
fn a_mark_of_the_encoding_is_passed_over() {
    let servers = json("\u{feff}{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}").unwrap();
    assert_eq!(&*servers[0].name, "a");
}

#[test]
fn the_usual_json_is_read_and_keys_of_others_are_passed_over() {
    let servers = json(
        r#"{"mcpServers":{
            "web":{"type":"http","url":"https://x.test/mcp?key=s3cret","headers":{"Authorization":"Bearer ${T}"}},
            "files":{"command":"npx","args":["-y","server",1],"env":{"A":"${HOME}","N":3},"autoApprove":[],"timeout":5}
        },"inputs":[]}"#,
    )
    .unwrap();
    assert_eq!(servers.len(), 2);
    assert_eq!(&*servers[0].name, "files");
    let Transport::Stdio { args, env, .. } = &servers[0].transport else {
        panic!("not stdio")
    };
    assert_eq!(args, &["-y", "server", "1"]);
    assert_eq!(env["N"], "3");
    insta::assert_debug_snapshot!(servers, @r#"
    [
        files: npx with 3 arguments, env ["A", "N"],
        web: https://x.test/mcp headers ["Authorization"],
    ]
    "#);
    assert_eq!(json("{}").unwrap(), []);
}

#[test]
fn errors_name_file_and_key() {
    let mut said = Vec::new();
    for text in [
        "{",
        r#"{"mcpServers":[]}"#,
        r#"{"mcpServers":{"a":{}}}"#,
        r#"{"mcpServers":{"a":{"command":"x","url":"http://y"}}}"#,
        r#"{"mcpServers":{"a":{"command":"x","env":{"K":[]}}}}"#,
        r#"{"mcpServers":{"a":{"url":"ftp://y"}}}"#,
        r#"{"mcpServers":{"a":{"url":"http://y","type":"sse"}}}"#,
        r#"{"mcpServers":{"a":{"command":"x","call_timeout":"soon"}}}"#,
    ] {
        said.push(json(text).unwrap_err().to_string());
    }
    let toml = |text| servers_from_toml(text, Path::new("toolcrib.toml"));
    said.push(
        toml("[mcp.servers.a]\ncomand = 'x'\n")
            .unwrap_err()
            .to_string(),
    );
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_bad_value_is_its_own_servers_affair() {
    let text = "[mcp.servers.a]\ncommand = 'x'\nstart_timeout = 'abc'\n[mcp.servers.b]\ncommand = 'y'\n[mcp.servers.c]\nurl = 'ftp://x'\n";
    let servers = entries_from_toml(text, Path::new("c.toml")).unwrap();
    let failed = |at: usize| servers[at].resolve().err().map(|error| error.to_string());
    insta::assert_snapshot!(failed(0).unwrap(), @r#"c.toml: `mcp.servers.a.start_timeout`: must be a time such as "90s" or "5m""#);
    assert_eq!(failed(1), None);
    insta::assert_snapshot!(failed(2).unwrap(), @"c.toml: `mcp.servers.c.url`: must begin with http:// or https://");
    assert!(entries_from_toml("[mcp.servers.a", Path::new("c.toml")).is_err());
}

#[test]
fn toml_means_the_same_as_json() {
    let mut from_toml = servers_from_toml(
        "model = 'x'\n[mcp.servers.a]\ncommand = 'x'\nargs = ['1']\nidle_stop = 0\ncall_timeout = '1.5m'\n[mcp.servers.a.env]\nK = 'v'\n",
        Path::new("f"),
    )
    .unwrap();
    let from_json = servers_from_json(
        r#"{"a":{"command":"x","args":["1"],"env":{"K":"v"},"idle_stop":"0s","call_timeout":90}}"#,
        Path::new("f"),
        true,
    )
    .unwrap();
    assert_eq!(from_toml, from_json);
    assert_eq!(from_toml[0].idle_stop, None);
    assert_eq!(from_toml[0].call_timeout, Duration::from_secs(90));
    assert_eq!(from_toml[0].fingerprint(), from_json[0].fingerprint());
    from_toml[0].name = "b".into();
    assert_eq!(from_toml[0].fingerprint(), from_json[0].fingerprint());
}

#[test]
fn fingerprints_differ_with_the_credentials() {
    let server = |token: &str| {
        let mut server = ServerConfig::http("a", "http://x/mcp");
        if let Transport::Http { headers, .. } = &mut server.transport {
            headers.insert("Authorization".into(), token.into());
        }
        server
    };
    assert_ne!(server("a").fingerprint(), server("b").fingerprint());
    assert!(!format!("{:?}", server("s3cret")).contains("s3cret"));
}

#[test]
fn a_variable_that_is_not_set_names_the_key() {
    let mut server = ServerConfig::stdio("a", "x", ["${TOOLCRIB_NOT_SET}"]);
    server.file = Some("f.json".into());
    let error = server.resolve().err().unwrap().to_string();
    insta::assert_snapshot!(error, @"f.json: `a.args`: the environment variable TOOLCRIB_NOT_SET is not set; set it, or write ${TOOLCRIB_NOT_SET:-default}");
}

#[test]
fn secrets_of_an_entry_are_blanked_out() {
    let mut server = ServerConfig::stdio("a", "x", ["y"]);
    if let Transport::Stdio { env, .. } = &mut server.transport {
        env.insert("TOKEN".into(), "Bearer abcdef123".into());
        env.insert("MODE".into(), "on".into());
    }
    let redact = server.resolve().unwrap().redact;
    assert_eq!(
        redact.apply("token abcdef123 is on, Bearer abcdef123"),
        "token [redacted] is on, [redacted]"
    );
}

#[test]
fn two_servers_of_one_name_in_one_file_are_an_error_that_names_it() {
    let twice = r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"},"a":{"command":"z"}}}"#;
    let error = servers_from_json(twice, Path::new("s.json"), false).unwrap_err();
    insta::assert_snapshot!(error, @"s.json: `mcpServers.a`: stands twice; rename one of them");
    let twice = "[mcp.servers.a]\ncommand = 'x'\n[mcp.servers.a]\ncommand = 'y'\n";
    let error = servers_from_toml(twice, Path::new("s.toml")).unwrap_err();
    assert!(
        error.to_string().starts_with("s.toml: `mcp`: line 3: "),
        "{error}"
    );
}
