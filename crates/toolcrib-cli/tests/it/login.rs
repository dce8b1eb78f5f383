//! `toolcrib mcp login` with an authorization server of the test's own, and a person
//! who is the test.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolcrib_testkit::{Answer, ByteServer, Received};

use crate::world::{Ran, World};

/// What the authorization server remembers between requests.
#[derive(Default)]
struct Known {
    challenge: String,
    /// Access tokens that are good, newest last.
    good: Vec<String>,
    grants: Vec<String>,
}

/// An MCP server that wants a token, and the authorization server that gives it.
fn guarded() -> (ByteServer, Arc<Mutex<Known>>) {
    let known = Arc::new(Mutex::new(Known::default()));
    let shared = known.clone();
    let server = ByteServer::serve(move |request| answer(request, &mut shared.lock().unwrap()));
    (server.unwrap(), known)
}

fn answer(request: &Received, known: &mut Known) -> Answer {
    let base = format!("http://{}", request.header("host").unwrap());
    let path = request.target.split('?').next().unwrap();
    let ok = |value: Value| Answer::json(200, value.to_string());
    match path {
        "/.well-known/oauth-protected-resource" | "/.well-known/oauth-protected-resource/mcp" => {
            ok(json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]}))
        }
        "/.well-known/oauth-authorization-server" => ok(json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["tools"],
        })),
        "/register" => {
            let wanted = request.json();
            Answer::json(
                201,
                json!({"client_id": "client-7", "redirect_uris": wanted["redirect_uris"],
                    "token_endpoint_auth_method": "none"})
                .to_string(),
            )
        }
        "/token" => token(&form(&request.text()), known),
        "/mcp" => {
            let bearer = request.header("authorization").unwrap_or_default();
            let fine = bearer.strip_prefix("Bearer ");
            if !fine.is_some_and(|token| known.good.iter().any(|good| good == token)) {
                let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
                return Answer::json(401, "{}").header(
                    "www-authenticate",
                    &format!("Bearer resource_metadata=\"{metadata}\""),
                );
            }
            served(request)
        }
        _ => Answer::whole(404, "text/plain", "no"),
    }
}

fn token(form: &dyn Fn(&str) -> String, known: &mut Known) -> Answer {
    let refused = |why: &str| Answer::json(400, json!({"error": why}).to_string());
    let grant = form("grant_type");
    known.grants.push(grant.clone());
    match grant.as_str() {
        "authorization_code" => {
            if form("code") != "code-1" || challenge(&form("code_verifier")) != known.challenge {
                return refused("invalid_grant");
            }
        }
        "refresh_token" if form("refresh_token") == format!("refresh-{}", known.good.len()) => {
            known.good.clear();
        }
        _ => return refused("invalid_grant"),
    }
    let n = known.grants.len();
    known.good.push(format!("secret-access-{n}"));
    Answer::json(
        200,
        json!({"access_token": format!("secret-access-{n}"), "token_type": "bearer",
            "expires_in": 3600, "refresh_token": "refresh-1", "scope": "tools"})
        .to_string(),
    )
}

/// The older handshake, without sessions.
fn served(request: &Received) -> Answer {
    let message = request.json();
    let id = &message["id"];
    let reply = |key: &str, value: Value| {
        Answer::json(
            200,
            json!({"jsonrpc": "2.0", "id": id, key: value}).to_string(),
        )
    };
    match message["method"].as_str() {
        Some("initialize") => reply(
            "result",
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"}}),
        ),
        Some("tools/list") => reply(
            "result",
            json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        ),
        Some("tools/call") => reply(
            "result",
            json!({"content": [{"type": "text", "text": "let in"}]}),
        ),
        Some(_) if !id.is_null() => reply("error", json!({"code": -32601, "message": "no"})),
        _ if request.method == "POST" => Answer::whole(202, "text/plain", ""),
        _ => Answer::whole(405, "text/plain", ""),
    }
}

/// The fields of a form; what it does not have is empty.
fn form(text: &str) -> Box<dyn Fn(&str) -> String> {
    let pairs: Vec<(String, String)> = text
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.to_owned(), unescaped(value)))
        .collect();
    Box::new(move |name| {
        let found = pairs.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    })
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let code = u8::from_str_radix(&rest[at + 1..at + 3], 16).unwrap();
        out.push(char::from(code));
        rest = &rest[at + 3..];
    }
    out + rest
}

/// The S256 challenge of a verifier: base64url of its hash.
fn challenge(verifier: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in Sha256::digest(verifier.as_bytes()).chunks(3) {
        let mut bits = [0; 4];
        bits[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(bits);
        for n in 0..=chunk.len() {
            out.push(char::from(LETTERS[(bits >> (18 - 6 * n)) as usize & 63]));
        }
    }
    out
}

/// A login under way: the page to open is known, nobody has been there yet.
struct Login {
    child: Child,
    page: String,
}

impl Login {
    fn begin(world: &World, extra: &[&str]) -> Login {
        let mut child = world
            .command()
            .args(["mcp", "login", "web"])
            .args(extra)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut page = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut page).unwrap();
        Login { child, page }
    }

    fn query(&self, name: &str) -> String {
        let query = self.page.trim_end().split_once('?').unwrap().1;
        form(query)(name)
    }

    /// Sends the browser to the address that the page leads back to.
    fn back(&self, target: &str) -> String {
        let address = self.query("redirect_uri");
        let address = address.strip_prefix("http://").unwrap();
        let host = address.strip_suffix("/callback").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    fn end(self) -> Ran {
        crate::world::ran(self.child.wait_with_output().unwrap())
    }
}

fn world(server: &ByteServer) -> World {
    let world = World::empty();
    let text = json!({"mcpServers": {"web": {"type": "http", "url": server.url("/mcp")}}});
    world.file(".mcp.json", text.to_string());
    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    world
}

fn kept(world: &World) -> Vec<PathBuf> {
    let dir = world.home().join(".local/state/toolcrib/mcp-logins");
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_login_is_kept_for_its_owner_used_and_refreshed() {
    let (server, known) = guarded();
    let world = world(&server);
    let call = ["mcp", "call", "web/t"];
    let refused = world.run(&call);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("toolcrib mcp login web"),
        "{}",
        refused.stderr
    );

    let login = Login::begin(&world, &[]);
    assert!(
        login.page.starts_with(&server.url("/authorize?")),
        "{}",
        login.page
    );
    assert_eq!(login.query("response_type"), "code");
    assert_eq!(login.query("client_id"), "client-7");
    assert_eq!(login.query("code_challenge_method"), "S256");
    assert!(login.query("redirect_uri").starts_with("http://127.0.0.1:"));
    assert_eq!(login.query("resource"), server.url("/mcp"));
    known.lock().unwrap().challenge = login.query("code_challenge");
    // Browsers ask for more than they were sent to.
    assert!(login.back("/favicon.ico").starts_with("HTTP/1.1 404"));
    let state = login.query("state");
    let said = login.back(&format!("/callback?code=code-1&state={state}"));
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    let ended = login.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("logged in; 1 tool"),
        "{}",
        ended.stderr
    );
    for text in [&ended.stderr, &ended.stdout] {
        assert!(
            !text.contains("secret-access") && !text.contains("refresh-1"),
            "{text}"
        );
    }

    let files = kept(&world);
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = |path: &PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&files[0]), 0o600);
    assert_eq!(mode(&files[0].parent().unwrap().to_owned()), 0o700);

    let called = world.run(&call);
    assert_eq!(called.stdout, "let in\n", "{}", called.stderr);
    assert_eq!(known.lock().unwrap().grants, ["authorization_code"]);

    // An hour later.
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
    assert!(stored["token_received_at"].is_u64(), "{stored}");
    stored["token_received_at"] = 1_000.into();
    std::fs::write(&files[0], stored.to_string()).unwrap();
    let called = world.run(&call);
    assert_eq!(called.stdout, "let in\n", "{}", called.stderr);
    assert_eq!(
        known.lock().unwrap().grants,
        ["authorization_code", "refresh_token"]
    );
    let text = std::fs::read_to_string(&files[0]).unwrap();
    assert!(text.contains("secret-access-2"), "the new token is kept");
    assert_eq!(mode(&files[0]), 0o600);
    let called = world.run(&call);
    assert_eq!(called.stdout, "let in\n", "{}", called.stderr);
    assert_eq!(
        known.lock().unwrap().grants.len(),
        2,
        "it is good for an hour"
    );

    // Taken back: the person is asked for a new login, by name.
    known.lock().unwrap().good.clear();
    let refused = world.run(&call);
    assert!(
        refused.stderr.contains("toolcrib mcp login web"),
        "{}",
        refused.stderr
    );
}

#[test]
fn an_answer_to_another_login_is_turned_away_and_a_wrong_code_is_refused() {
    let (server, known) = guarded();
    let world = world(&server);
    let login = Login::begin(&world, &[]);
    known.lock().unwrap().challenge = login.query("code_challenge");
    for forged in [
        "/callback?code=code-1&state=forged",
        "/callback?code=code-1",
        "/callback?",
    ] {
        let said = login.back(forged);
        assert!(said.starts_with("HTTP/1.1 400"), "{forged}: {said}");
    }
    assert!(
        known.lock().unwrap().grants.is_empty(),
        "a forged code was taken"
    );
    let state = login.query("state");
    login.back(&format!("/callback?code=wrong&state={state}"));
    let ended = login.end();
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("invalid_grant"), "{}", ended.stderr);
    assert!(kept(&world).is_empty(), "{:?}", kept(&world));
}

#[test]
fn a_login_that_is_refused_or_never_comes_says_so_and_keeps_nothing() {
    let (server, known) = guarded();
    let world = world(&server);
    let login = Login::begin(&world, &[]);
    let state = login.query("state");
    login.back(&format!(
        "/callback?error=access_denied&error_description=Not%20today%1B&state={state}"
    ));
    let ended = login.end();
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .contains("the login was refused: access_denied Not today\\u{1b}"),
        "{}",
        ended.stderr
    );

    let login = Login::begin(&world, &["--timeout", "200ms"]);
    let ended = login.end();
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("nobody logged in within 0.2 s"),
        "{}",
        ended.stderr
    );
    assert!(known.lock().unwrap().grants.is_empty());
    assert!(kept(&world).is_empty(), "{:?}", kept(&world));

    let unknown = world.run(&["mcp", "login", "wep"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("no MCP server is called \"wep\""));
}
