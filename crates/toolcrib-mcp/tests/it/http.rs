use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_mcp::{Fleet, McpError, RequestContext, ServerConfig, Transport};
use toolcrib_testkit::{Answer, ByteServer, Received};

use crate::kit::{options, params, until};

type Handler = dyn FnMut(&Received, &Value) -> Option<Answer> + Send;

/// A legacy server with sessions; `special` may answer first.
fn legacy(mut special: Box<Handler>) -> ByteServer {
    let mut sessions = 0;
    ByteServer::serve(move |request| {
        let message = request.json();
        if let Some(answer) = special(request, &message) {
            return answer;
        }
        let id = &message["id"];
        let result = |result: Value| {
            Answer::json(
                200,
                json!({"jsonrpc":"2.0","id":id,"result":result}).to_string(),
            )
        };
        match (request.method.as_str(), message["method"].as_str()) {
            ("POST", Some("initialize")) => {
                sessions += 1;
                result(json!({
                    "protocolVersion":"2025-11-25","capabilities":{"tools":{}},
                    "serverInfo":{"name":"fake","version":"1"}}))
                .header("mcp-session-id", &format!("s{sessions}"))
            }
            ("POST", Some("tools/list")) => {
                result(json!({"tools":[{"name":"t","inputSchema":{"type":"object"}}]}))
            }
            ("POST", Some("tools/call")) => {
                result(json!({"content":[{"type":"text","text":"ok"}]}))
            }
            ("POST", Some(method)) if !id.is_null() => {
                let error = json!({"code":-32601,"message":format!("no {method}")});
                Answer::json(
                    200,
                    json!({"jsonrpc":"2.0","id":id,"error":error}).to_string(),
                )
            }
            ("POST", _) => Answer::whole(202, "text/plain", ""),
            ("DELETE", _) => Answer::whole(200, "text/plain", ""),
            _ => Answer::whole(405, "text/plain", "no"),
        }
    })
    .unwrap()
}

fn fleet(server: &ByteServer) -> Arc<Fleet> {
    Fleet::new(
        vec![ServerConfig::http("web", server.url("/mcp"))],
        options(),
    )
}

fn count(server: &ByteServer, method: &str) -> usize {
    let all = server.received();
    all.iter()
        .filter(|request| request.json()["method"] == method)
        .count()
}

#[tokio::test]
async fn m08_a_stale_session_leads_to_one_new_one_and_one_retry_of_what_may_be_repeated() {
    let forms: [(u16, &str, &str); 5] = [
        (
            400,
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":null}"#,
        ),
        (
            404,
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"gone"},"id":"server-error"}"#,
        ),
        (404, "application/json", r#"{"error":"Session not found"}"#),
        (
            404,
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"gone"}}"#,
        ),
        (404, "text/plain", "Session not found"),
    ];
    for (status, kind, body) in forms {
        let server = legacy(Box::new(move |request, message| {
            let stale = request.header("mcp-session-id") == Some("s1")
                && matches!(
                    message["method"].as_str(),
                    Some("tools/list" | "tools/call")
                );
            stale.then(|| Answer::whole(status, kind, body))
        }));
        let fleet = fleet(&server);
        let manifest = fleet
            .refresh("web")
            .await
            .unwrap_or_else(|e| panic!("{body}: {e}"));
        assert_eq!(manifest.tools.len(), 1, "{body}");
        assert_eq!(count(&server, "initialize"), 2, "{body}");
        assert_eq!(count(&server, "tools/list"), 2, "{body}");
        fleet.shutdown().await;
    }
}

#[tokio::test]
async fn m08_a_call_that_may_have_run_is_not_repeated_unless_it_may_be() {
    for repeatable in [false, true] {
        let server = legacy(Box::new(|request, message| {
            let stale =
                request.header("mcp-session-id") == Some("s1") && message["method"] == "tools/call";
            stale.then(|| Answer::whole(404, "text/plain", "gone"))
        }));
        let fleet = fleet(&server);
        fleet.refresh("web").await.unwrap();
        let cx = RequestContext {
            repeatable,
            ..RequestContext::default()
        };
        let called = fleet
            .request("web", "tools/call", params("t", json!({})), &cx)
            .await;
        match repeatable {
            true => assert!(called.unwrap().get().contains("ok")),
            false => {
                assert!(matches!(called, Err(McpError::SessionLost { .. })));
                let again = fleet
                    .request("web", "tools/call", params("t", json!({})), &cx)
                    .await;
                assert!(
                    again.unwrap().get().contains("ok"),
                    "the new session stands"
                );
            }
        }
        assert_eq!(count(&server, "initialize"), 2);
        fleet.shutdown().await;
    }
}

#[tokio::test]
async fn m03_a_half_modern_server_is_met_with_the_older_handshake_and_the_newer_headers() {
    let server = legacy(Box::new(|request, message| {
        let id = &message["id"];
        let refuse = |status, code: i64, text: &str| {
            let error = json!({"code":code,"message":text});
            Some(Answer::json(
                status,
                json!({"jsonrpc":"2.0","id":id,"error":error}).to_string(),
            ))
        };
        if request.method != "POST" {
            return None;
        }
        if message["method"] == "server/discover" {
            return refuse(404, -32601, "Method not found");
        }
        let version = request.header("mcp-protocol-version");
        if version != Some("2025-11-25")
            || request.header("mcp-method") != message["method"].as_str() && !id.is_null()
        {
            return refuse(400, -32020, "header mismatch");
        }
        None
    }));
    let fleet = fleet(&server);
    let manifest = fleet.refresh("web").await.unwrap();
    assert_eq!(&*manifest.protocol_version, "2025-11-25");
    let cx = RequestContext::default();
    fleet
        .request("web", "tools/call", params("t", json!({})), &cx)
        .await
        .unwrap();
    fleet.shutdown().await;
}

#[tokio::test]
async fn m07_giving_up_closes_the_stream_and_tells_the_server() {
    let server = legacy(Box::new(|_, message| {
        (message["method"] == "tools/call")
            .then(|| Answer::stream(200, "text/event-stream").stall())
    }));
    let fleet = fleet(&server);
    fleet.refresh("web").await.unwrap();
    let cx = RequestContext {
        idle_timeout: Some(Duration::from_millis(100)),
        ..RequestContext::default()
    };
    let called = fleet
        .request("web", "tools/call", params("t", json!({})), &cx)
        .await;
    assert!(matches!(called, Err(McpError::Timeout { .. })));
    until("the server is told", || {
        count(&server, "notifications/cancelled") == 1
    })
    .await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_was() {
    let server = legacy(Box::new(|request, message| {
        if message["method"] == "tools/call" {
            return Some(
                Answer::stream(200, "text/event-stream").bytes("id: e1\nretry: 10\ndata:\n\n"),
            );
        }
        let taken_up = request.method == "GET" && request.header("last-event-id") == Some("e1");
        taken_up.then(|| Answer::sse([r#"{"jsonrpc":"2.0","id":4,"result":{"late":true}}"#]))
    }));
    let fleet = fleet(&server);
    fleet.refresh("web").await.unwrap();
    let cx = RequestContext::default();
    let result = fleet
        .request("web", "tools/call", params("t", json!({})), &cx)
        .await
        .unwrap();
    assert_eq!(result.get(), r#"{"late":true}"#);
    fleet.shutdown().await;
}

#[tokio::test]
async fn what_refuses_or_is_not_there_says_so_without_the_secret() {
    let server = legacy(Box::new(|_, _| {
        Some(Answer::whole(
            503,
            "text/plain",
            "upstream says s3cr3t-token",
        ))
    }));
    let mut config = ServerConfig::http("web", server.url("/mcp?key=s3cr3t-token"));
    if let Transport::Http { headers, .. } = &mut config.transport {
        headers.insert("X-Key".into(), "s3cr3t-token".into());
    }
    let refused = Fleet::new(vec![config], options())
        .refresh("web")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("503") && !refused.contains("s3cr3t"),
        "{refused}"
    );

    let nowhere = format!(
        "http://{}/mcp?key=s3cr3t-token",
        ByteServer::unused_address().unwrap()
    );
    let config = ServerConfig::http("web", nowhere);
    let missing = Fleet::new(vec![config], options())
        .refresh("web")
        .await
        .unwrap_err()
        .to_string();
    assert!(
        missing.contains("cannot connect") && !missing.contains("s3cr3t"),
        "{missing}"
    );

    let server = legacy(Box::new(|_, _| {
        Some(Answer::whole(401, "text/plain", "who are you?"))
    }));
    let login = fleet(&server).refresh("web").await.unwrap_err();
    assert!(matches!(login, McpError::LoginNeeded { .. }), "{login}");
}

#[tokio::test]
async fn an_answer_over_the_bound_is_not_read_to_its_end() {
    let server = legacy(Box::new(|_, message| {
        let big = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":"{}"}}"#,
            message["id"],
            "x".repeat(300_000)
        );
        (message["method"] == "tools/call").then(|| Answer::json(200, big))
    }));
    let mut options = options();
    options.max_message = 100_000;
    let fleet = Fleet::new(vec![ServerConfig::http("web", server.url("/mcp"))], options);
    fleet.refresh("web").await.unwrap();
    let cx = RequestContext::default();
    let called = fleet
        .request("web", "tools/call", params("t", json!({})), &cx)
        .await;
    assert!(matches!(
        called,
        Err(McpError::TooLarge { limit: 100_000, .. })
    ));
    fleet.shutdown().await;
}

#[tokio::test]
async fn m09_a_reference_into_the_network_is_never_followed() {
    let elsewhere = ByteServer::serve(|_| Answer::json(200, "{}")).unwrap();
    let target = elsewhere.url("/schema.json");
    let server = legacy(Box::new(move |_, message| {
        let tools = json!([{"name":"t","inputSchema":{"type":"object","properties":{"a":{"$ref":target}}}}]);
        (message["method"] == "tools/list").then(|| {
            Answer::json(
                200,
                json!({"jsonrpc":"2.0","id":message["id"],"result":{"tools":tools}}).to_string(),
            )
        })
    }));
    let fleet = fleet(&server);
    assert_eq!(fleet.refresh("web").await.unwrap().tools.len(), 1);
    let cx = RequestContext::default();
    fleet
        .request("web", "tools/call", params("t", json!({"a": 1})), &cx)
        .await
        .unwrap();
    fleet.shutdown().await;
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn a_redirection_to_another_origin_is_not_followed() {
    let other = legacy(Box::new(|_, _| None));
    let place = other.url("/mcp");
    let server = legacy(Box::new(move |_, _| {
        Some(Answer::whole(307, "text/plain", "").header("location", &place))
    }));
    assert!(fleet(&server).refresh("web").await.is_err());
    assert!(other.received().is_empty());
    let seen: Arc<Mutex<usize>> = Arc::default();
    let sink = seen.clone();
    let same = legacy(Box::new(move |request, _| {
        *sink.lock().unwrap() += 1;
        (request.target == "/old")
            .then(|| Answer::whole(307, "text/plain", "").header("location", "/mcp"))
    }));
    let moved = Fleet::new(vec![ServerConfig::http("web", same.url("/old"))], options());
    assert_eq!(moved.refresh("web").await.unwrap().tools.len(), 1);
    moved.shutdown().await;
}
