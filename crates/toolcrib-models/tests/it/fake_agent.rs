//! An agent of the protocol that behaves as asked, as a child process.
//!
//! It is this test binary run once more, and writes its lines itself, so that it can
//! break any rule. What the harness prints before is noise that a client has to bear.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const SCENARIO: &str = "TOOLCRIB_FAKE_AGENT";
const LOG: &str = "TOOLCRIB_FAKE_AGENT_LOG";

/// The command of an agent that plays this scenario and logs what it receives.
pub(crate) fn command(scenario: &str, log: &Path) -> String {
    let exe = std::env::current_exe().unwrap();
    format!(
        "env {SCENARIO}={scenario} {LOG}='{}' '{}' fake_acp_agent --exact --nocapture --quiet",
        log.display(),
        exe.display()
    )
}

/// Becomes the agent where the environment asks for it.
pub(crate) fn run_if_asked() {
    let (Ok(scenario), Ok(log)) = (std::env::var(SCENARIO), std::env::var(LOG)) else {
        return;
    };
    let mut agent = Agent {
        scenario,
        log: std::fs::File::create(log).unwrap(),
        lines: std::io::stdin().lines(),
        prompts: 0,
        sessions: 0,
    };
    agent.run();
    std::process::exit(0);
}

struct Agent {
    scenario: String,
    log: std::fs::File,
    lines: std::io::Lines<std::io::StdinLock<'static>>,
    prompts: u32,
    sessions: u32,
}

impl Agent {
    fn plays(&self, scenario: &str) -> bool {
        self.scenario == scenario
    }

    fn note(&mut self, text: &str) {
        writeln!(self.log, "{text}").unwrap();
    }

    fn say(&mut self, line: &str) {
        let mut out = std::io::stdout();
        out.write_all(line.as_bytes()).unwrap();
        out.write_all(b"\n").unwrap();
        out.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        self.say(&message.to_string());
    }

    fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn update(&mut self, session: &str, update: Value) {
        let params = json!({"sessionId": session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    fn chunk(&mut self, session: &str, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(
            session,
            json!({"sessionUpdate": "agent_message_chunk", "content": content}),
        );
    }

    /// The next message, logged.
    fn next(&mut self) -> Value {
        let Some(Ok(line)) = self.lines.next() else {
            std::process::exit(0);
        };
        self.note(&line);
        serde_json::from_str(&line).unwrap()
    }

    fn run(&mut self) {
        if self.plays("noise") {
            self.say("Welcome to the agent!\n\n[1/3] warming up");
            self.say(r#"{"level":"info","message":"listening"}"#);
        }
        if self.plays("fork") {
            let child = std::process::Command::new("sleep").arg("600").spawn();
            self.note(&format!("child {}", child.unwrap().id()));
        }
        loop {
            let message = self.next();
            let id = message["id"].clone();
            match message["method"].as_str() {
                Some("initialize") => {
                    let version = if self.plays("version") { 7 } else { 1 };
                    let methods = json!([{"id": "key", "name": "A key of Example"}]);
                    self.answer(
                        &id,
                        json!({"protocolVersion": version, "agentCapabilities": {}, "authMethods": methods}),
                    );
                }
                Some("session/new") if self.plays("auth") => {
                    let error = json!({"code": -32000, "message": "Authentication required"});
                    self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
                Some("session/new") => {
                    self.sessions += 1;
                    let cwd = message["params"]["cwd"].as_str().unwrap();
                    let here = std::env::current_dir().unwrap();
                    assert_eq!(Path::new(cwd).canonicalize().unwrap(), here);
                    assert_eq!(std::fs::read_dir(&here).unwrap().count(), 0);
                    let session = format!("s{}", self.sessions);
                    self.answer(&id, json!({"sessionId": session}));
                }
                Some("session/prompt") => {
                    self.prompts += 1;
                    let session = message["params"]["sessionId"].as_str().unwrap();
                    self.prompt(&id, session, &message["params"]["prompt"]);
                }
                _ => {}
            }
        }
    }

    fn prompt(&mut self, id: &Value, session: &str, prompt: &Value) {
        let mut reason = "end_turn";
        match &*self.scenario.clone() {
            "plain" | "fork" => {
                self.chunk(session, "Hello ");
                self.chunk("another", "NO");
                self.chunk(session, &format!("number {}.", self.prompts));
            }
            "call" if prompt.to_string().contains("<tool_response name=") => {
                self.chunk(session, "It says hi.");
            }
            "call" => {
                for part in [
                    "<tool_",
                    "call>\n{\"name\": \"read\", ",
                    "\"arguments\": {\"path\":\"a\"}}\n</tool_call>",
                ] {
                    self.chunk(session, part);
                }
            }
            "noise" => {
                self.update(session, json!({"sessionUpdate": "mood", "mood": "fine"}));
                self.update(session, json!(["not", "an", "object"]));
                self.update(session, json!({"sessionUpdate": "agent_message_chunk"}));
                self.update(
                    session,
                    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}}),
                );
                self.send(&json!({"jsonrpc": "2.0", "method": "_vendor/ping", "params": {}}));
                self.send(&json!({"jsonrpc": "2.0", "method": "session/update"}));
                self.send(&json!({"jsonrpc": "2.0", "id": 12345, "result": {}}));
                self.say("warning: something\r");
                self.say("{\"jsonrpc\":\"2.0\",\"method\"");
                let thought = json!({"type": "text", "text": "Hm."});
                self.update(
                    session,
                    json!({"sessionUpdate": "agent_thought_chunk", "content": thought}),
                );
                self.update(
                    session,
                    json!({"sessionUpdate": "usage_update", "used": 5, "size": 10,
                        "cost": {"amount": 0.25 * f64::from(self.prompts), "currency": "USD"}}),
                );
                self.chunk(session, "fine");
                reason = "end_of_mood";
            }
            "permission" | "silent" => {
                let options = json!([
                    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                    {"optionId": "never", "name": "Never", "kind": "reject_always"},
                    {"optionId": "no", "name": "No", "kind": "reject_once"}]);
                let params = json!({"sessionId": session, "options": options,
                    "toolCall": {"toolCallId": "t", "title": "rm -rf /"}});
                self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": params}));
                let asked = Instant::now();
                let answer = self.next();
                self.note(&format!(
                    "answered after {} ms",
                    asked.elapsed().as_millis()
                ));
                assert_eq!(answer["id"], 0);
                if self.plays("permission") {
                    self.chunk(session, &answer["result"].to_string());
                }
            }
            "collide" => {
                // An agent numbers its own requests, with numbers we may have used.
                for method in ["fs/read_text_file", "terminal/create", "what/ever"] {
                    let params = json!({"sessionId": session, "path": "/etc/passwd"});
                    self.send(
                        &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
                    );
                    let answer = self.next();
                    assert_eq!(
                        (&answer["id"], &answer["error"]["code"]),
                        (id, &json!(-32601))
                    );
                }
                self.chunk(session, "fine");
            }
            "exit" => {
                self.chunk(session, "I was about to");
                let last = b"\nfatal: out of luck\n\n";
                std::io::stderr().write_all(last).unwrap();
                std::process::exit(3);
            }
            "error" => {
                self.chunk(session, "API Error: 422 the request is odd");
                let error = json!({"code": -32603, "message": "Internal error"});
                self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                return;
            }
            "hang" | "deaf" if self.prompts == 1 => {
                self.chunk(session, "Let me think");
                loop {
                    let message = self.next();
                    let cancels = message["method"] == "session/cancel";
                    if cancels && message["params"]["sessionId"] == session && self.plays("hang") {
                        reason = "cancelled";
                        break;
                    }
                }
            }
            "gone" => {
                reason = "cancelled";
            }
            "still" => std::thread::sleep(Duration::from_secs(600)),
            _ => self.chunk(session, "Here I am."),
        }
        self.answer(id, json!({"stopReason": reason}));
    }
}
