//! An MCP server that misbehaves on request, as a child process.
//!
//! It writes bytes itself, so it can break every rule a real server breaks. The
//! process is the test binary run once more: a test named [`ENTRY`] hands over to
//! [`run_if_asked`]. The test harness prints a line before that, which a client has
//! to bear from real servers too. It is not for conformance: the fixture on a real
//! protocol library is.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// The name that the entry test must have, at the root of its binary:
///
/// ```ignore
/// #[test]
/// fn fake_mcp_server() {
///     toolcrib_testkit::fake_mcp::run_if_asked();
/// }
/// ```
pub const ENTRY: &str = "fake_mcp_server";
const VARIABLE: &str = "TOOLCRIB_FAKE_MCP";

/// What the server shall do, as a JSON object. Keys, all optional:
///
/// | key | meaning |
/// |---|---|
/// | `prelude`, `long_line` | raw lines, and one of so many bytes, printed at the start |
/// | `stderr`, `stderr_flood` | text, or so many bytes, on standard error |
/// | `start_ms` | wait before anything |
/// | `discover` | `modern`, `silent`, `exit`, `unsupported`, or an error code (default -32601) |
/// | `initialize` | `ok`, `silent`, `exit`, or an error code |
/// | `version` | answered protocol revision |
/// | `tools` | definitions in place of the built-in ones |
/// | `instructions`, `ttl_ms`, `cache_scope` | as sent |
/// | `page_size`, `fail_page`, `repeat_cursor` | pages of the tool list |
/// | `list_error`, `list_good` | the list fails with that code, or after so many good ones |
/// | `list_changed` | so many notifications after the handshake |
/// | `ignore_eof`, `ignore_term` | how hard it is to stop |
/// | `fork` | a child of its own is started |
/// | `starts`, `log` | files that get the process ids and every message received |
/// | `replies` | results by method, or for a tool's call by `tools/call NAME`, before anything built in |
/// | `exit_after` | exits after so many calls |
#[derive(Clone, Debug, Default)]
pub struct FakeMcp(serde_json::Map<String, Value>);

impl FakeMcp {
    /// A legacy server with the built-in tools `echo`, `structured`, `image`,
    /// `sleep`, `big`, `junk`, `die`, `wrong_id`, `ask`, `change`, `env` and `pid`.
    pub fn new() -> FakeMcp {
        FakeMcp::default()
    }

    /// The same server with one key set.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> FakeMcp {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Program, arguments and environment of the process.
    pub fn command(&self) -> (String, Vec<String>, Vec<(String, String)>) {
        let program = std::env::current_exe()
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default();
        let args = [
            ENTRY,
            "--exact",
            "--nocapture",
            "--test-threads=1",
            "--quiet",
        ];
        let mut args = args.map(str::to_owned).to_vec();
        let mut program = program;
        if self.0.get("ignore_term") == Some(&Value::Bool(true)) {
            // An ignored signal stays ignored in the program that takes over.
            let shell = ["-c", "trap '' TERM; exec \"$@\"", "sh", &program];
            args.splice(0..0, shell.map(str::to_owned));
            program = "sh".to_owned();
        }
        (
            program,
            args,
            vec![(
                VARIABLE.to_owned(),
                Value::Object(self.0.clone()).to_string(),
            )],
        )
    }
}

/// Serves and exits when this process was started by [`FakeMcp::command`].
pub fn run_if_asked() {
    if let Ok(text) = std::env::var(VARIABLE) {
        let config = serde_json::from_str(&text).unwrap_or_default();
        serve(config);
        std::process::exit(0);
    }
}

struct Server {
    config: Value,
    calls: AtomicU64,
    lists: AtomicU64,
    extra: Mutex<Vec<Value>>,
    cancelled: Mutex<Vec<Value>>,
    answers: Mutex<HashMap<String, Value>>,
    answered: Condvar,
    modern: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(line: &str) {
    let mut out = std::io::stdout().lock();
    // A client that is gone is noticed at the end of input.
    let _ = out.write_all(line.as_bytes());
    let _ = out.write_all(b"\n");
    let _ = out.flush();
}

fn append(path: &str, text: &str) {
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path);
    if let Ok(mut file) = file {
        let _ = file.write_all(format!("{text}\n").as_bytes());
    }
}

fn serve(config: Value) {
    let server = Arc::new(Server {
        config,
        calls: AtomicU64::new(0),
        lists: AtomicU64::new(0),
        extra: Mutex::default(),
        cancelled: Mutex::default(),
        answers: Mutex::default(),
        answered: Condvar::new(),
        modern: AtomicBool::new(false),
    });
    let text = |key: &str| server.config[key].as_str();
    let number = |key: &str| server.config[key].as_u64();
    if let Some(path) = text("starts") {
        append(path, &std::process::id().to_string());
    }
    if server.config["fork"] == true {
        let child = std::process::Command::new("sleep").arg("1000").spawn();
        if let (Ok(child), Some(path)) = (child, text("starts")) {
            append(path, &child.id().to_string());
        }
    }
    if let Some(said) = text("stderr") {
        let _ = writeln!(std::io::stderr(), "{said}");
    }
    if let Some(bytes) = number("stderr_flood") {
        let line = "x".repeat(1023);
        for _ in 0..bytes / 1024 {
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
    std::thread::sleep(Duration::from_millis(number("start_ms").unwrap_or(0)));
    for line in server.config["prelude"].as_array().into_iter().flatten() {
        send(line.as_str().unwrap_or_default());
    }
    if let Some(bytes) = number("long_line") {
        send(&"x".repeat(usize::try_from(bytes).unwrap_or(0)));
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Some(path) = text("log") {
            append(path, &line);
        }
        if let Ok(message) = serde_json::from_str(&line) {
            server.clone().handle(message);
        }
    }
    if server.config["ignore_eof"] == true {
        loop {
            std::thread::park();
        }
    }
}

impl Server {
    fn handle(self: Arc<Self>, message: Value) {
        let id = message["id"].clone();
        if let Some(method) = message["method"].as_str().filter(|_| !id.is_null()) {
            let called = message["params"]["name"].as_str().unwrap_or_default();
            let replies = &self.config["replies"];
            let one = replies.get(format!("{method} {called}"));
            if let Some(result) = one.or_else(|| replies.get(method)) {
                return send(&json!({"jsonrpc":"2.0","id":id,"result":result}).to_string());
            }
        }
        match message["method"].as_str() {
            Some("server/discover") => self.discover(&id),
            Some("initialize") => self.initialize(&id),
            Some("notifications/initialized") => {
                for _ in 0..self.config["list_changed"].as_u64().unwrap_or(0) {
                    send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                }
            }
            Some("notifications/cancelled") => {
                lock(&self.cancelled).push(message["params"]["requestId"].clone());
            }
            Some("tools/list") => self.list(&id, &message["params"]),
            Some("tools/call") => {
                self.calls.fetch_add(1, Ordering::AcqRel);
                std::thread::spawn(move || self.call(&id, &message["params"]));
            }
            Some("ping") => self.reply(&id, json!({})),
            Some(method) if !id.is_null() => {
                self.error(&id, -32601, &format!("Method not found: {method}"));
            }
            Some(_) => {}
            None => {
                lock(&self.answers).insert(id.to_string(), message);
                self.answered.notify_all();
            }
        }
    }

    fn reply(&self, id: &Value, mut result: Value) {
        if self.modern.load(Ordering::Acquire) {
            result["resultType"] = json!("complete");
        }
        send(&json!({"jsonrpc":"2.0","id":id,"result":result}).to_string());
    }

    fn error(&self, id: &Value, code: i64, message: &str) {
        let error = json!({"code":code,"message":message,"data":{"n":1}});
        send(&json!({"jsonrpc":"2.0","id":id,"error":error}).to_string());
    }

    fn info(&self) -> Value {
        let mut info = json!({
            "serverInfo":{"name":"fake","version":"1.0.0"},
            "capabilities":{"tools":{"listChanged":true}},
        });
        if let Some(text) = self.config["instructions"].as_str() {
            info["instructions"] = json!(text);
        }
        info
    }

    fn discover(&self, id: &Value) {
        match &self.config["discover"] {
            Value::String(how) if how == "modern" => {
                self.modern.store(true, Ordering::Release);
                let mut info = self.info();
                info["supportedVersions"] = json!(["2026-07-28"]);
                self.reply(id, info);
            }
            Value::String(how) if how == "silent" => {}
            Value::String(how) if how == "unsupported" => {
                let error = json!({"code":-32022,"message":"unsupported","data":{"supported":["2025-11-25"]}});
                send(&json!({"jsonrpc":"2.0","id":id,"error":error}).to_string());
            }
            Value::String(_) => std::process::exit(3),
            code => self.error(id, code.as_i64().unwrap_or(-32601), "Method not found"),
        }
    }

    fn initialize(&self, id: &Value) {
        match &self.config["initialize"] {
            Value::String(how) if how == "silent" => {}
            Value::String(how) if how == "exit" => std::process::exit(4),
            Value::Number(code) => self.error(id, code.as_i64().unwrap_or(0), "no"),
            _ => {
                let mut info = self.info();
                let version = self.config["version"].as_str().unwrap_or("2025-11-25");
                info["protocolVersion"] = json!(version);
                self.reply(id, info);
            }
        }
    }

    fn list(&self, id: &Value, params: &Value) {
        if let Some(code) = self.config["list_error"].as_i64() {
            return self.error(id, code, "fetch failed");
        }
        if let Some(good) = self.config["list_good"].as_u64()
            && self.lists.fetch_add(1, Ordering::AcqRel) >= good
        {
            return self.error(id, -32603, "fetch failed");
        }
        let mut tools = match self.config["tools"].as_array() {
            Some(tools) => tools.clone(),
            None => built_in(),
        };
        tools.extend(lock(&self.extra).iter().cloned());
        let size = self.config["page_size"].as_u64().unwrap_or(u64::MAX);
        let page: u64 = params["cursor"]
            .as_str()
            .map_or(0, |text| text.parse().unwrap_or(0));
        if self.config["fail_page"].as_u64() == Some(page + 1) {
            return self.error(id, -32603, "page lost");
        }
        let at = usize::try_from(page.saturating_mul(size)).unwrap_or(usize::MAX);
        let end = at
            .saturating_add(usize::try_from(size).unwrap_or(usize::MAX))
            .min(tools.len());
        let mut result = json!({"tools": tools.get(at..end).unwrap_or_default()});
        if end < tools.len() {
            let next = if self.config["repeat_cursor"] == true {
                1
            } else {
                page + 1
            };
            result["nextCursor"] = json!(next.to_string());
        }
        for (key, name) in [("ttl_ms", "ttlMs"), ("cache_scope", "cacheScope")] {
            if !self.config[key].is_null() {
                result[name] = self.config[key].clone();
            }
        }
        self.reply(id, result);
    }

    fn call(&self, id: &Value, params: &Value) {
        let args = &params["arguments"];
        let text = |text: String| json!({"content":[{"type":"text","text":text}]});
        if let Some(after) = self.config["exit_after"].as_u64()
            && self.calls.load(Ordering::Acquire) > after
        {
            std::process::exit(5);
        }
        match params["name"].as_str().unwrap_or_default() {
            "echo" => self.reply(id, text(args["text"].as_str().unwrap_or_default().to_owned())),
            "structured" => self.reply(
                id,
                json!({"content":[],"structuredContent":{"n":1.5,"s":"x"},"_meta":{"k":"v"},"extra":true}),
            ),
            "image" => self.reply(
                id,
                json!({"content":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}),
            ),
            "sleep" => {
                let total = args["ms"].as_u64().unwrap_or(0);
                let step = args["every_ms"].as_u64().unwrap_or(total.max(1));
                let token = &params["_meta"]["progressToken"];
                let mut slept = 0;
                while slept < total {
                    std::thread::sleep(Duration::from_millis(step.min(total - slept)));
                    slept += step;
                    if !token.is_null() {
                        let params = json!({"progressToken":token,"progress":slept,"total":total});
                        send(&json!({"jsonrpc":"2.0","method":"notifications/progress","params":params}).to_string());
                    }
                }
                self.reply(id, text("slept".to_owned()));
            }
            "big" => {
                let size = usize::try_from(args["bytes"].as_u64().unwrap_or(0)).unwrap_or(0);
                self.reply(id, text("b".repeat(size)));
            }
            "junk" => {
                for n in 0..args["lines"].as_u64().unwrap_or(0) {
                    send(&format!("junk line {n}"));
                }
                self.reply(id, text("done".to_owned()));
            }
            "die" => std::process::exit(7),
            "wrong_id" => {
                send(r#"{"jsonrpc":"2.0","id":999999,"result":{}}"#);
                send(&json!({"jsonrpc":"2.0","id":id.to_string(),"result":{}}).to_string());
                send(r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no id"}}"#);
                self.reply(id, text("right".to_owned()));
            }
            "ask" => {
                let own = format!("ask-{id}");
                let params = args.get("params").cloned().unwrap_or_else(|| json!({}));
                let ask = json!({"jsonrpc":"2.0","id":own,"method":args["method"],"params":params});
                send(&ask.to_string());
                let key = json!(own).to_string();
                let mut answers = lock(&self.answers);
                while !answers.contains_key(&key) {
                    let waited = self.answered.wait_timeout(answers, Duration::from_secs(10));
                    answers = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                let answer = answers.remove(&key).unwrap_or_default();
                self.reply(id, text(answer.to_string()));
            }
            "change" => {
                lock(&self.extra).push(json!({"name":args["name"],"inputSchema":{"type":"object"}}));
                send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                self.reply(id, text("changed".to_owned()));
            }
            "env" => {
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                self.reply(id, text(names.join(" ")));
            }
            "pid" => self.reply(id, text(std::process::id().to_string())),
            "cancelled" => {
                let seen = Value::Array(lock(&self.cancelled).clone());
                self.reply(id, text(seen.to_string()));
            }
            other => self.reply(
                id,
                json!({"content":[{"type":"text","text":format!("Unknown tool: {other}")}],"isError":true}),
            ),
        }
    }
}

fn built_in() -> Vec<Value> {
    let tool = |name: &str, properties: Value| {
        json!({
            "name": name,
            "description": format!("Does {name}."),
            "inputSchema": {"type":"object","properties":properties},
            "execution": {"taskSupport":"forbidden"},
            "x-unknown": 1,
        })
    };
    let mut tools = vec![
        tool("echo", json!({"text":{"type":"string"}})),
        tool("structured", json!({})),
        tool("image", json!({})),
        tool(
            "sleep",
            json!({"ms":{"type":"integer"},"every_ms":{"type":"integer"}}),
        ),
        tool("big", json!({"bytes":{"type":"integer"}})),
        tool("junk", json!({"lines":{"type":"integer"}})),
        tool("die", json!({})),
        tool("wrong_id", json!({})),
        tool("ask", json!({"method":{"type":"string"}})),
        tool("change", json!({"name":{"type":"string"}})),
        tool("env", json!({})),
        tool("pid", json!({})),
        tool("cancelled", json!({})),
    ];
    tools[0]["annotations"] = json!({"readOnlyHint":true});
    tools[6]["annotations"] = json!({"destructiveHint":true});
    tools
}
