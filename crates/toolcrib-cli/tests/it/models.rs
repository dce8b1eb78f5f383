//! `toolcrib models` and `toolcrib doctor`.

use toolcrib_testkit::{Answer, ByteServer, Received};

use crate::world::{Ran, World, ran};

const KEY: &str = "sk-very-secret";

fn table(world: &World, text: &str) {
    let dir = world.home().join(".config/toolcrib");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("models.toml"), text).unwrap();
}

/// A table in which nothing but `mine` is in reach of this machine.
fn mine(world: &World, server: &ByteServer, more: &str) {
    let dead = ByteServer::unused_address().unwrap();
    let mut text = format!(
        "[providers.mine]\nwire = 'chat'\nhabits = 'vllm'\nbase_url = '{}'\nkey_variable = 'MINE_KEY'\n{more}",
        server.url("/v1")
    );
    for local in ["llamacpp", "lmstudio", "ollama", "vllm"] {
        text.push_str(&format!(
            "[providers.{local}]\nbase_url = 'http://{dead}/v1'\n"
        ));
    }
    table(world, &text);
}

fn with_key(world: &World, args: &[&str]) -> Ran {
    let mut command = world.command();
    let ran = ran(command.env("MINE_KEY", KEY).args(args).output().unwrap());
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY));
    ran
}

fn lists(models: &'static str) -> ByteServer {
    ByteServer::serve(move |request: &Received| {
        if request.header("authorization") != Some("Bearer sk-very-secret") {
            let repeats = r#"{"error":{"message":"whose is sk-proj-Zx81Qm27Ab93Lk55Vw02Tn46?"}}"#;
            return Answer::json(401, repeats);
        }
        assert_eq!(request.target, "/v1/models");
        Answer::json(200, models)
    })
    .unwrap()
}

#[test]
fn models_says_what_is_in_reach_and_what_would_be_asked() {
    let world = World::sample();
    let server = lists(r#"{"data":[{"id":"b"},{"id":"a"}]}"#);
    mine(&world, &server, "");
    let ran = with_key(&world, &["models"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = &ran.stdout;
    assert!(text.starts_with("Asked without --model: builtin:navigator (neither"));
    assert!(text.contains("reachable: a, b"), "{text}");
    assert!(text.contains("no key: set ANTHROPIC_API_KEY"), "{text}");
    assert!(text.contains("not running"), "{text}");

    world.file("toolcrib.toml", "model = 'mine:a'\n");
    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    let ran = with_key(&world, &["models", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["chosen"]["model"], "mine:a");
    let providers = value["providers"].as_array().unwrap();
    let own = providers.iter().find(|row| row["provider"] == "mine");
    assert_eq!(own.unwrap()["models"], serde_json::json!(["a", "b"]));
}

#[test]
fn models_explains_one_model_and_names_mistakes_of_the_table() {
    let world = World::sample();
    let ran = world.run(&["models", "anthropic:claude-sonnet-4-5"]);
    insta::assert_snapshot!(ran.stdout);
    let ran = world.run(&["models", "antropic:x"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.complaint().ends_with("did you mean anthropic?"));
    table(&world, "[[models]]\nmatch = 'a:b'\nwindw = 3\n");
    for args in [&["models"][..], &["ask", "--model", "ollama:m", "q"]] {
        let ran = world.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        let complaint = ran.complaint();
        assert!(
            complaint.contains("models.toml: models[0]: unknown field `windw`"),
            "{complaint}"
        );
    }
}

#[test]
fn p36_doctor_tells_what_to_do_and_shows_no_key() {
    let world = World::sample();
    let server = lists("{}");
    mine(&world, &server, "");
    let ran = with_key(&world, &["doctor"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("answers, MINE_KEY set, 0 models"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("note  openai: no key; set OPENAI_API_KEY to use it")
    );

    // A key that is refused, a proxy that is none, a clock that is off.
    let ran = world.run(&["doctor"]);
    assert_eq!(ran.code, Some(1));
    let refused = "answered HTTP 401: whose is [redacted]?; check the API key and what it may use";
    assert!(ran.stdout.contains(refused), "{}", ran.stdout);
    let proxied = |value: &str| {
        let mut command = world.command();
        command.env("HTTPS_PROXY", value).env("MINE_KEY", KEY);
        crate::world::ran(command.arg("doctor").output().unwrap())
    };
    for value in [
        "nonsense://x",
        "::bad::",
        "http://h:99999",
        "http://u:p@:80",
    ] {
        let ran = proxied(value);
        assert_eq!(ran.code, Some(1), "{value}");
        let fix = "fix   HTTPS_PROXY is no address of a proxy";
        assert!(ran.stdout.contains(fix), "{value}: {}", ran.stdout);
    }
    for value in [
        "http://u:p@h:80/",
        "h",
        "h:3128",
        "socks5h://[::1]:9",
        "http://[::1]",
    ] {
        let ran = proxied(value);
        assert_eq!(ran.code, Some(0), "{value}: {}", ran.stdout);
        assert!(!ran.stdout.contains("u:p"), "{}", ran.stdout);
    }
    let late = ByteServer::serve(|_| {
        Answer::json(200, "{}").header("date", "Mon, 30 Nov 1998 10:00:00 GMT")
    })
    .unwrap();
    mine(&world, &late, "");
    let ran = with_key(&world, &["doctor"]);
    assert!(
        ran.stdout.contains("minutes apart; set the clock"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, Some(1));
}

#[test]
fn p36_doctor_goes_on_past_a_broken_table_and_shows_its_keys_to_nobody() {
    let world = World::sample();
    let server = lists("{}");
    mine(&world, &server, "windw = 3\n");
    let mut command = world.command();
    let doctor = command.args(["doctor", "--probe", "--model", "mine:m"]);
    let ran = crate::world::ran(
        doctor
            .env("HTTPS_PROXY", "::bad::")
            .env("MINE_KEY", KEY)
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let lines = [
        "models.toml: providers.mine: unknown field `windw`",
        "ok    sessions are kept below",
        "fix   HTTPS_PROXY is no address",
        "note  no endpoint is asked before the models table is read",
    ];
    for line in lines {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    assert!(server.received().is_empty());
}

#[test]
fn doctor_probes_only_when_asked_to() {
    let world = World::sample();
    let reply = |call: &'static str| {
        ByteServer::serve(move |request: &Received| {
            if request.method == "GET" {
                return Answer::json(200, r#"{"data":[]}"#);
            }
            Answer::sse([call, r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#]).done()
        })
        .unwrap()
    };
    let calls = reply(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"say","arguments":"{\"word\":\"hello\"}"}}]}}]}"#,
    );
    mine(&world, &calls, "");
    let ran = world.run(&["doctor"]);
    assert!(
        calls.received().iter().all(|r| r.method == "GET"),
        "{}",
        ran.stdout
    );
    let ran = world.run(&["doctor", "--probe", "--model", "mine:m"]);
    assert!(
        ran.stdout.contains("ok    mine:m calls tools"),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, Some(0));
    let talks = reply(r#"{"choices":[{"delta":{"content":"Hello!"}}]}"#);
    mine(&world, &talks, "");
    let ran = world.run(&["doctor", "--probe", "--model", "mine:m"]);
    assert!(
        ran.stdout
            .contains("fix   mine:m answered without calling its tool"),
        "{}",
        ran.stdout
    );
    let ran = world.run(&["doctor", "--probe"]);
    assert!(
        ran.stdout.contains("fix   no model to probe"),
        "{}",
        ran.stdout
    );
}

#[test]
fn doctor_names_cause_and_next_step_of_what_keeps_a_model_from_answering() {
    let world = World::sample();
    let said = |args: &[&str]| {
        let ran = with_key(&world, args);
        assert_eq!(ran.code, Some(1), "{}", ran.stdout);
        let fixes = ran.stdout.lines().filter(|line| line.starts_with("fix"));
        let fixes: Vec<String> = fixes.map(str::to_owned).collect();
        assert_eq!(fixes.len(), 1, "{}", ran.stdout);
        fixes.into_iter().next().unwrap()
    };
    let page = "<html><head><title>Welcome</title></head></html>";
    // A wrong address: another server, and one that shows a page for everything.
    for (code, told) in [
        (
            404,
            "answered HTTP 404: a web page titled \"Welcome\"; check",
        ),
        (
            200,
            "sent a web page titled \"Welcome\"; check the base URL",
        ),
    ] {
        let server = ByteServer::serve(move |_| Answer::json(code, page)).unwrap();
        mine(&world, &server, "");
        let fix = said(&["doctor"]);
        assert!(fix.contains(told), "{fix}");
    }
    // TLS towards a server that speaks none.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            use std::io::{Read as _, Write as _};
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let url = format!("base_url = 'https://{address}/v1'");
    let plain = lists("{}");
    mine(&world, &plain, "");
    let file = world.home().join(".config/toolcrib/models.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let before = format!("base_url = '{}'", plain.url("/v1"));
    assert!(text.contains(&before));
    std::fs::write(&file, text.replace(&before, &url)).unwrap();
    let fix = said(&["doctor", "--model", "mine:m"]);
    assert!(fix.contains("cannot be reached: "), "{fix}");
    assert!(
        fix.contains("; write http:// where the server speaks no TLS"),
        "{fix}"
    );
    // Quota, and a window that the server says is too small.
    for (code, body, told) in [
        (
            402,
            r#"{"error":{"message":"Insufficient credits","code":402}}"#,
            "answered HTTP 402: Insufficient credits; add credit or choose another model",
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":900,"n_ctx":256}}"#,
            "shorten the conversation or choose a model with a larger window",
        ),
    ] {
        let server = ByteServer::serve(move |request: &Received| match request.method.as_str() {
            "GET" => Answer::json(200, r#"{"data":[]}"#),
            _ => Answer::json(code, body),
        })
        .unwrap();
        mine(&world, &server, "");
        let fix = said(&["doctor", "--probe", "--model", "mine:m"]);
        assert!(fix.contains(told), "{fix}");
    }
    // A window that the table says is too small.
    let server = lists("{}");
    mine(&world, &server, "window = 2048\n");
    let fix = said(&["doctor", "--model", "mine:m"]);
    assert!(
        fix.contains("mine:m: its window of 2048 tokens holds no question"),
        "{fix}"
    );
}

#[test]
fn ask_names_a_proxy_that_is_none_and_a_window_that_holds_no_tools() {
    let world = World::sample();
    let server = lists("{}");
    mine(&world, &server, "window = 512\n");
    let ask = ["ask", "--model", "mine:m", "Where is a result truncated?"];
    let ran = with_key(&world, &ask);
    assert_ne!(ran.code, Some(0));
    let told = ran.stderr.trim();
    assert!(told.contains("`mine:m` takes 512 tokens"), "{told}");
    assert!(
        told.contains("choose a model with a larger window"),
        "{told}"
    );
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(server.received().is_empty());

    table(
        &world,
        "[providers.far]\nwire = 'chat'\nhabits = 'vllm'\nbase_url = 'https://model.invalid/v1'\n",
    );
    let mut command = world.command();
    command.env("HTTPS_PROXY", format!("nonsense://{KEY}@x"));
    let ran = crate::world::ran(
        command
            .args(["ask", "--model", "far:m", "Why?"])
            .output()
            .unwrap(),
    );
    assert_ne!(ran.code, Some(0));
    let told = ran.stderr.trim();
    assert!(
        told.ends_with(
            "HTTPS_PROXY is no address of a proxy; write it like http://HOST:PORT or unset it"
        ),
        "{told}"
    );
    assert!(!told.contains(KEY) && told.lines().count() == 1, "{told}");
}

#[test]
fn doctor_does_not_wait_for_what_says_nothing() {
    let world = World::sample();
    let silent = ByteServer::serve(|_| Answer::silence()).unwrap();
    let trickles = ByteServer::serve(|_| {
        let begun = Answer::stream(200, "application/json").bytes("{");
        (0..100).fold(begun, |answer, _| {
            answer
                .wait(std::time::Duration::from_millis(400))
                .bytes(" ")
        })
    })
    .unwrap();
    mine(&world, &silent, "");
    let file = world.home().join(".config/toolcrib/models.toml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str(&format!(
        "[providers.other]\nwire = 'chat'\nbase_url = '{}'\n",
        trickles.url("/v1")
    ));
    std::fs::write(&file, text).unwrap();
    let ran = with_key(
        &world,
        &["doctor", "--probe", "--timeout", "1", "--model", "mine:m"],
    );
    assert_eq!(ran.code, Some(1));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let find = |start: &str| {
        lines
            .iter()
            .position(|line| line.starts_with(start))
            .unwrap()
    };
    let mine = find("fix   mine: ");
    assert!(lines[mine].contains("gave no answer within 1 s; is the server busy"));
    let other = find("note  other: ");
    assert!(
        lines[other].contains("gave no answer within 1 s"),
        "{}",
        lines[other]
    );
    assert!(
        mine < other && other < find("note  vllm: "),
        "{}",
        ran.stdout
    );
    let last = lines[lines.len() - 1];
    assert!(
        last.starts_with("fix   mine:m gave no sign of an answer within 1 s; raise --timeout"),
        "{last}"
    );
}

#[test]
fn doctor_names_a_proxy_that_does_not_answer() {
    let world = World::sample();
    let server = lists("{}");
    mine(&world, &server, "");
    let dead = ByteServer::unused_address().unwrap();
    let mut command = world.command();
    command
        .env("HTTPS_PROXY", format!("http://user:{KEY}@{dead}"))
        .env("OPENAI_API_KEY", KEY)
        .env("MINE_KEY", KEY);
    let ran = ran(command.arg("doctor").output().unwrap());
    assert_eq!(ran.code, Some(1));
    assert!(!ran.stdout.contains(KEY));
    assert!(
        ran.stdout.contains("note  HTTPS_PROXY is set"),
        "{}",
        ran.stdout
    );
    let fix = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("fix   openai: "));
    let fix = fix.unwrap();
    assert!(
        fix.ends_with("; check the address, the network and the proxy"),
        "{fix}"
    );
}
