//! A client that says exactly what a test wants it to say.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolcrib_mcp::servers_from_json;
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::world::World;

/// Far longer than anything takes; only a hang gets there.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) const MODERN: &str = "2026-07-28";

/// The entry of a fake server in a client's configuration.
pub(crate) fn entry(fake: &FakeMcp) -> Value {
    let (command, args, env) = fake.command();
    let env: Map<String, Value> = env
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    json!({"command": command, "args": args, "env": env})
}

/// Writes a configuration of these servers and gives its path.
pub(crate) fn configure(world: &World, servers: &[(&str, Value)]) -> PathBuf {
    let servers: Map<String, Value> = servers
        .iter()
        .map(|(name, entry)| ((*name).to_owned(), entry.clone()))
        .collect();
    let path = world.home().join("servers.json");
    std::fs::write(&path, json!({ "mcpServers": servers }).to_string()).unwrap();
    path
}

/// Puts what a server offers where the gateway keeps what it learnt.
pub(crate) fn remember(world: &World, name: &str, entry: &Value, manifest: Value) {
    let text = json!({"mcpServers": {name: entry}}).to_string();
    let servers = servers_from_json(&text, "x.json".as_ref(), false).unwrap();
    let mut file = json!({
        "version": 2, "fetched": 4_000_000_000u64, "protocol_version": "2025-11-25",
        "server_info": {"name": name, "version": "1"}, "instructions": null,
        "capabilities": {"tools": {}}, "ttl_ms": 0, "public": false, "skip_probe": false,
        "problems": [], "tools": [], "prompts": [], "resources": [], "resource_templates": [],
    });
    for (key, value) in manifest.as_object().unwrap() {
        file[key] = value.clone();
    }
    let dir = world.home().join(".cache/toolcrib/mcp");
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{}.json", servers[0].fingerprint()));
    std::fs::write(path, file.to_string()).unwrap();
}

pub(crate) fn tool(name: &str, description: &str, properties: Value) -> Value {
    let required: Vec<String> = properties
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| !key.ends_with('_'))
        .cloned()
        .collect();
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
    })
}

/// A gateway on pipes.
pub(crate) struct Gate {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// What came besides answers, oldest first.
    pub(crate) heard: Vec<Value>,
    /// The line of the last answer, byte for byte.
    pub(crate) raw: String,
}

impl Gate {
    /// Starts the gateway before these servers; nothing is said to it yet.
    pub(crate) fn silent(world: &World, servers: &[(&str, Value)], args: &[&str]) -> Gate {
        let config = configure(world, servers);
        let config = config.to_string_lossy().into_owned();
        let mut all = vec!["serve", "--config", &config];
        all.extend(args);
        Gate::spawn(world, &all)
    }

    pub(crate) fn spawn(world: &World, args: &[&str]) -> Gate {
        let mut child = world
            .command()
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Gate {
            child,
            stdin,
            lines,
            next: 0,
            heard: Vec::new(),
            raw: String::new(),
        }
    }

    /// A gateway after the handshake of a client without capabilities.
    pub(crate) fn start(world: &World, servers: &[(&str, Value)], args: &[&str]) -> Gate {
        let mut gate = Gate::silent(world, servers, args);
        gate.initialize(json!({}));
        gate
    }

    pub(crate) fn initialize(&mut self, capabilities: Value) -> Value {
        let result = self.ok(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}}),
        );
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_raw(&message.to_string());
    }

    pub(crate) fn say_raw(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    /// The next line, whatever it is.
    pub(crate) fn line(&mut self) -> String {
        match self.lines.recv_timeout(LONG) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("no line; heard {:?}", self.heard),
            Err(RecvTimeoutError::Disconnected) => panic!("the gateway is gone"),
        }
    }

    /// Sends a request and gives its number.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for an answer; what else comes is kept.
    pub(crate) fn wait(&mut self, id: u64) -> Value {
        loop {
            let line = self.line();
            let value: Value = serde_json::from_str(&line).unwrap();
            if value["id"] == id && value.get("method").is_none() {
                self.raw = line;
                return value;
            }
            self.heard.push(value);
        }
    }

    /// Waits for the answer to either of two requests.
    pub(crate) fn wait_any(&mut self, a: u64, b: u64) -> Value {
        loop {
            let line = self.line();
            let value: Value = serde_json::from_str(&line).unwrap();
            if (value["id"] == a || value["id"] == b) && value.get("method").is_none() {
                return value;
            }
            self.heard.push(value);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.wait(id)
    }

    pub(crate) fn ok(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// A request of the newest revision.
    pub(crate) fn modern(&mut self, method: &str, mut params: Value, capabilities: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        self.request(method, params)
    }

    /// `call_tool` with these inner arguments.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ok(
            "tools/call",
            json!({"name": "call_tool", "arguments": {"name": name, "arguments": arguments}}),
        )
    }

    pub(crate) fn search(&mut self, query: &str) -> String {
        let result = self.ok(
            "tools/call",
            json!({"name": "tool_search", "arguments": {"query": query}}),
        );
        text(&result)
    }

    /// Waits until a search finds something that is told with this word.
    pub(crate) fn until_found(&mut self, query: &str, word: &str) {
        let begun = Instant::now();
        loop {
            let answer = self.search(query);
            let found = |line: &str| line.starts_with("- ") && line.contains(word);
            if answer.lines().any(found) {
                return;
            }
            assert!(begun.elapsed() < LONG, "{answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the gateway without a chance to tidy up.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the input; what is owed can still be read.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Sends it a signal, its input still open, and waits for the end.
    #[cfg(unix)]
    pub(crate) fn signalled(mut self, signal: &str) -> Option<i32> {
        crate::signals::interrupt(self.child.id(), signal);
        self.ended()
    }

    /// Closes the input and waits for the end.
    pub(crate) fn finish(mut self) -> Option<i32> {
        self.stdin = None;
        self.ended()
    }

    fn ended(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < LONG, "the gateway does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.stdin = None;
        for _ in 0..200 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All texts of a result.
pub(crate) fn text(result: &Value) -> String {
    let content = result["content"].as_array();
    let texts = content
        .into_iter()
        .flatten()
        .filter_map(|item| item["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
