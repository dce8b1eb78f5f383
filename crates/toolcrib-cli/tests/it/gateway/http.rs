//! The gateway over HTTP: sessions, the newest revision, and who is let in.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use toolcrib_testkit::fake_mcp::FakeMcp;

use super::kit::{LONG, MODERN, configure, entry};
use crate::signals::until;
use crate::world::World;

struct Served {
    child: Child,
    address: String,
}

struct Got {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body, or the events of a stream.
    fn messages(&self) -> Vec<Value> {
        if self.header("content-type") == Some("text/event-stream") {
            let data = self
                .body
                .lines()
                .filter_map(|line| line.strip_prefix("data: "));
            return data
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
        }
        vec![serde_json::from_str(&self.body).unwrap()]
    }

    fn last(&self) -> Value {
        self.messages().pop().unwrap()
    }
}

impl Served {
    fn start(world: &World, servers: &[(&str, Value)], args: &[&str]) -> Served {
        let config = configure(world, servers);
        let mut child = world
            .command()
            .args(["serve", "--http", "0", "--config"])
            .arg(config)
            .args(args)
            .env("TOOLCRIB_TOKEN", "0123456789abcdef-token")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = line
            .split("http://")
            .nth(1)
            .unwrap_or_else(|| panic!("{line}"));
        Served {
            child,
            address: address.trim().trim_end_matches("/mcp").to_owned(),
        }
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Got {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut request = format!(
            "{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        let given = |name: &str| {
            headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        for (name, value) in [
            ("Host", self.address.as_str()),
            ("Authorization", "Bearer 0123456789abcdef-token"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ] {
            if !given(name) {
                request.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{request}\r\n{body}").as_bytes())
            .unwrap();
        read(stream)
    }

    fn post(&self, headers: &[(&str, &str)], body: &Value) -> Got {
        self.send("POST", headers, &body.to_string())
    }

    /// A session after the handshake.
    fn session(&self, capabilities: Value) -> String {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}});
        let got = self.post(&[], &hello);
        assert_eq!(got.status, 200, "{}", got.body);
        let session = got.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(
            self.post(&[("Mcp-Session-Id", &session)], &ready).status,
            202
        );
        session
    }

    fn call(&self, session: &str, id: Value, tool: &str, arguments: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "call_tool", "arguments": {"name": tool, "arguments": arguments}}});
        self.post(&[("Mcp-Session-Id", session)], &body).last()
    }

    fn until_known(&self, session: &str, tool: &str) {
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {"name": "tool_search", "arguments": {"query": format!("select:{tool}")}}});
        loop {
            let answer = self.post(&[("Mcp-Session-Id", session)], &body).last();
            let text = answer["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned();
            if text.contains(&format!("- {tool}(")) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(stream: TcpStream) -> Got {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let chunked = headers
        .iter()
        .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let mut body = Vec::new();
    if chunked {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).unwrap();
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    } else {
        reader.read_to_end(&mut body).unwrap();
    }
    Got {
        status,
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}});
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

#[test]
fn m27_strangers_are_turned_away() {
    let world = World::empty();
    let served = Served::start(
        &world,
        &[("f", entry(&FakeMcp::new()))],
        &["--allow-origin", "https://app.example"],
    );
    let body = modern("tools/list", json!({}));
    let headers = [
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/list"),
    ];
    let with = |extra: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> = headers.iter().chain(extra).copied().collect();
        served.post(&all, &body).status
    };
    assert_eq!(with(&[]), 200);
    assert_eq!(with(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(with(&[("Origin", "null")]), 403);
    assert_eq!(with(&[("Origin", "https://app.example")]), 200);
    assert_eq!(with(&[("Host", "evil.example")]), 403);
    assert_eq!(with(&[("Authorization", "Bearer wrong-wrong-wrong")]), 401);
    assert_eq!(with(&[("Authorization", "")]), 401);
    assert_eq!(with(&[("Content-Type", "text/plain")]), 415);
    // A port alone is one of this machine's own.
    assert!(
        served.address.starts_with("127.0.0.1:"),
        "{}",
        served.address
    );
    // What says that it is too long is not waited for.
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer 0123456789abcdef-token\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: 99999999999\r\n\r\n",
        served.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    assert!(line.contains(" 413 "), "{line}");
    // Open to others only with a token.
    let config = configure(&world, &[("f", json!({"command": "x"}))]);
    let config = config.to_string_lossy();
    let ran = world.run(&["serve", "--http", "0.0.0.0:0", "--config", &config]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("set a token"), "{}", ran.stderr);
}

#[test]
fn m22_two_clients_with_the_same_ids_get_their_own_answers() {
    let world = World::empty();
    let served = Served::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    let sessions = [served.session(json!({})), served.session(json!({}))];
    served.until_known(&sessions[0], "f__echo");
    std::thread::scope(|scope| {
        for (client, session) in sessions.iter().enumerate() {
            for (form, id) in [json!(1), json!("1")].into_iter().enumerate() {
                let served = &served;
                scope.spawn(move || {
                    for round in 0..250 {
                        let word = format!("{client}-{form}-{round}");
                        let answer =
                            served.call(session, id.clone(), "f__echo", json!({"text": word}));
                        // An id that is under way twice is refused, never crossed.
                        assert_eq!(answer["id"], id);
                        assert_eq!(
                            answer["result"]["content"][0]["text"],
                            word.as_str(),
                            "{answer}"
                        );
                    }
                });
            }
        }
    });
}

#[test]
fn a_session_is_begun_used_and_ended() {
    let world = World::empty();
    let served = Served::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    let ping = json!({"jsonrpc": "2.0", "id": "p", "method": "ping"});
    assert_eq!(served.post(&[], &ping).status, 400);
    assert_eq!(
        served.post(&[("Mcp-Session-Id", "unknown")], &ping).status,
        404
    );
    let session = served.session(json!({}));
    let own = [("Mcp-Session-Id", session.as_str())];
    assert_eq!(served.post(&own, &ping).last()["id"], "p");
    // One older revision has batches; each of them is answered whole.
    let other = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    for _ in 0..20 {
        let got = served.post(&own, &json!([ping, other]));
        let answers: Value = serde_json::from_str(&got.body).unwrap();
        assert_eq!(
            (&answers[0]["id"], &answers[1]["id"]),
            (&json!("p"), &json!(7))
        );
    }
    let bad = [own[0], ("MCP-Protocol-Version", "1999-01-01")];
    assert_eq!(served.post(&bad, &ping).status, 400);
    // Progress makes the answer a stream.
    served.until_known(&session, "f__sleep");
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "call_tool", "arguments": {"name": "f__sleep", "arguments": {"ms": 40, "every_ms": 20}}, "_meta": {"progressToken": 9}}});
    let got = served.post(&own, &call);
    let messages = got.messages();
    assert_eq!(messages.len(), 3, "{}", got.body);
    assert!(
        messages[..2]
            .iter()
            .all(|m| m["params"]["progressToken"] == 9)
    );
    assert_eq!(messages[2]["id"], 5);
    assert_eq!(served.send("DELETE", &own, "").status, 204);
    assert_eq!(served.post(&own, &ping).status, 404);
    assert_eq!(served.send("PUT", &own, "").status, 405);
}

#[test]
fn the_newest_revision_needs_no_session_and_its_headers_are_checked() {
    let world = World::empty();
    let served = Served::start(&world, &[("f", entry(&FakeMcp::new()))], &[]);
    let version = ("MCP-Protocol-Version", MODERN);
    let found = served.post(
        &[version, ("Mcp-Method", "server/discover")],
        &modern("server/discover", json!({})),
    );
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(found.header("mcp-session-id").is_none());
    assert_eq!(found.last()["result"]["supportedVersions"], json!([MODERN]));
    let call = modern(
        "tools/call",
        json!({"name": "tool_search", "arguments": {"query": "x"}}),
    );
    let good = [
        version,
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "tool_search"),
    ];
    assert_eq!(served.post(&good, &call).status, 200);
    for headers in [
        vec![good[0], good[1]],
        vec![good[0], good[2]],
        vec![good[1], good[2]],
        vec![good[0], good[1], ("Mcp-Name", "other")],
        vec![good[0], ("Mcp-Method", "tools/list"), good[2]],
        vec![("MCP-Protocol-Version", "2025-11-25"), good[1], good[2]],
    ] {
        let got = served.post(&headers, &call);
        assert_eq!(got.status, 400, "{headers:?}: {}", got.body);
        assert_eq!(got.last()["error"]["code"], -32020, "{headers:?}");
    }
    let unknown = served.post(
        &[version, ("Mcp-Method", "no/such")],
        &modern("no/such", json!({})),
    );
    assert_eq!(
        (unknown.status, unknown.last()["error"]["code"].clone()),
        (404, json!(-32601))
    );
    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let got = served.post(&[version, ("Mcp-Method", "tools/list")], &bare);
    assert_eq!(
        (got.status, got.last()["error"]["code"].clone()),
        (400, json!(-32602))
    );
    assert_eq!(served.send("GET", &[version], "").status, 405);
}

#[test]
fn arguments_that_travel_as_headers_are_held_to_the_body() {
    let world = World::empty();
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let fake = FakeMcp::new().with("tools", json!([{"name": "echo", "inputSchema": schema}]));
    let served = Served::start(&world, &[("f", entry(&fake))], &["--mode", "transparent"]);
    let list = modern("tools/list", json!({}));
    let version = ("MCP-Protocol-Version", MODERN);
    until("the tool is listed", || {
        let listed = served.post(&[version, ("Mcp-Method", "tools/list")], &list);
        listed.body.contains("\"echo\"")
    });
    let call = modern(
        "tools/call",
        json!({"name": "echo", "arguments": {"region": "eu", "text": "hi"}}),
    );
    let named = [version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")];
    let with = |value: Option<&'static str>| {
        let own = value.map(|value| ("Mcp-Param-Region", value));
        let all: Vec<(&str, &str)> = named.into_iter().chain(own).collect();
        served.post(&all, &call)
    };
    for fine in ["eu", "=?base64?ZXU=?="] {
        let got = with(Some(fine));
        assert_eq!(got.status, 200, "{fine}: {}", got.body);
        let said = &got.last()["result"]["content"][0]["text"];
        assert_eq!(said, "hi", "{fine}: {}", got.body);
    }
    for bad in [
        None,
        Some("us"),
        Some("=?base64?ZXU?="),
        Some("=?base64?Z*U=?="),
    ] {
        let got = with(bad);
        assert_eq!(got.status, 400, "{bad:?}: {}", got.body);
        assert_eq!(got.last()["error"]["code"], -32020, "{bad:?}");
    }
}

#[test]
fn m15_tasks_of_the_extension_pass_through_with_their_names_in_the_header() {
    let world = World::empty();
    let log = world.home().join("log");
    let task = json!({"resultType": "task", "taskId": "t-1", "status": "working", "ttlMs": 1000,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "x-own": [1.50]});
    let done = json!({"resultType": "complete", "taskId": "t-1", "status": "completed", "ttlMs": null,
        "result": {"content": [{"type": "text", "text": "42"}]}});
    let fake = FakeMcp::new()
        .with("discover", "modern")
        .with("log", log.to_string_lossy())
        .with("replies", json!({"tools/call pid": task, "tasks/get": done, "tasks/cancel": {"resultType": "complete"}}));
    let served = Served::start(&world, &[("f", entry(&fake))], &["--mode", "transparent"]);
    let version = ("MCP-Protocol-Version", MODERN);
    let send = |method: &str, params: Value, name: &str| {
        let mut body = modern(method, params);
        body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        served.post(
            &[version, ("Mcp-Method", method), ("Mcp-Name", name)],
            &body,
        )
    };
    let begun = send("tools/call", json!({"name": "pid", "arguments": {}}), "pid");
    assert_eq!(begun.last()["result"], task, "{}", begun.body);
    let got = send("tasks/get", json!({"taskId": "t-1"}), "t-1");
    assert_eq!(got.last()["result"], done, "{}", got.body);
    let ended = send("tasks/cancel", json!({"taskId": "t-1"}), "t-1");
    assert_eq!(ended.last()["result"], json!({"resultType": "complete"}));
    let wrong = send("tasks/get", json!({"taskId": "t-1"}), "t-2");
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert_eq!(wrong.last()["error"]["code"], -32020);
    // The server was told that its caller knows tasks.
    let log = std::fs::read_to_string(&log).unwrap();
    let call = log
        .lines()
        .find(|line| line.contains("tools/call"))
        .unwrap();
    assert!(call.contains("io.modelcontextprotocol/tasks"), "{call}");
}
