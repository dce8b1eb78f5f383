use std::time::Duration;

use serde_json::json;
use toolcrib_mcp::{Fleet, ServerState};
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::kit::{call, config, one, options, pids, runs};

#[tokio::test]
async fn m03_every_way_of_answering_the_probe_connects() {
    let cases = [
        ("modern", json!("modern"), "2026-07-28"),
        ("unknown method", json!(-32601), "2025-11-25"),
        ("bad params", json!(-32602), "2025-11-25"),
        ("odd code", json!(7), "2025-11-25"),
        ("silent", json!("silent"), "2025-11-25"),
        ("unsupported", json!("unsupported"), "2025-11-25"),
    ];
    for (name, how, version) in cases {
        let fleet = one(&FakeMcp::new().with("discover", how));
        let manifest = fleet.refresh("fake").await.unwrap();
        assert_eq!(&*manifest.protocol_version, version, "{name}");
        let said = call(&fleet, "echo", json!({"text":"hi"})).await.unwrap();
        assert_eq!(said, "hi", "{name}");
        fleet.shutdown().await;
    }
}

#[tokio::test]
async fn m03_a_server_that_exits_on_the_probe_is_started_once_more_and_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let fake = FakeMcp::new()
        .with("discover", "exit")
        .with("starts", starts.to_str().unwrap());
    let mut options = options();
    options.cache_dir = Some(dir.path().join("cache"));
    let fleet = Fleet::new(vec![config("fake", &fake)], options.clone());
    fleet.refresh("fake").await.unwrap();
    let started = pids(&starts);
    assert_eq!(started.len(), 2);
    assert!(!runs(started[0]) && runs(started[1]));
    fleet.shutdown().await;

    let again = Fleet::new(vec![config("fake", &fake)], options);
    again.refresh("fake").await.unwrap();
    assert_eq!(pids(&starts).len(), 3, "it was asked again");
    again.shutdown().await;
}

#[tokio::test]
async fn m03_what_cannot_be_connected_says_why() {
    let said = |error: toolcrib_mcp::McpError| error.to_string();
    let fleet = one(&FakeMcp::new()
        .with("initialize", -32603)
        .with("stderr", "no key"));
    let error = said(fleet.refresh("fake").await.unwrap_err());
    assert!(
        error.contains("no (code -32603)") && error.contains("no key"),
        "{error}"
    );

    let fleet = one(&FakeMcp::new()
        .with("initialize", "exit")
        .with("stderr", "bad import"));
    let error = said(fleet.refresh("fake").await.unwrap_err());
    assert!(
        error.contains("exited with code 4") && error.contains("bad import"),
        "{error}"
    );
    assert_eq!(fleet.status()[0].state, ServerState::Failed);

    let mut silent = config("fake", &FakeMcp::new().with("initialize", "silent"));
    silent.start_timeout = Duration::from_millis(800);
    let fleet = Fleet::new(vec![silent], options());
    let error = said(fleet.refresh("fake").await.unwrap_err());
    assert!(error.contains("no handshake within 0.8 s"), "{error}");

    let fleet = one(&FakeMcp::new().with("version", "1999-01-01"));
    let error = said(fleet.refresh("fake").await.unwrap_err());
    assert!(error.contains("1999-01-01"), "{error}");

    let missing = toolcrib_mcp::ServerConfig::stdio("fake", "toolcrib-no-such-program", ["x"]);
    let fleet = Fleet::new(vec![missing], options());
    let error = said(fleet.refresh("fake").await.unwrap_err());
    assert!(error.contains("on the PATH"), "{error}");
}

#[tokio::test]
async fn m03_a_modern_server_that_starts_slower_than_the_probe_is_patient_is_still_modern() {
    let fake = FakeMcp::new()
        .with("discover", "modern")
        .with("initialize", -32022)
        .with("start_ms", 700);
    let fleet = one(&fake);
    let manifest = fleet.refresh("fake").await.unwrap();
    assert_eq!(&*manifest.protocol_version, "2026-07-28");
    fleet.shutdown().await;
}

#[tokio::test]
async fn m15_the_older_handshake_first_still_reaches_every_server() {
    let cases = [
        (
            "of both eras",
            FakeMcp::new().with("discover", "modern"),
            "2025-11-25",
        ),
        ("of the older", FakeMcp::new(), "2025-11-25"),
        (
            "of the newest alone",
            FakeMcp::new()
                .with("discover", "modern")
                .with("initialize", -32601),
            "2026-07-28",
        ),
        (
            "that exits on the older handshake",
            FakeMcp::new()
                .with("discover", "modern")
                .with("initialize", "exit"),
            "2026-07-28",
        ),
    ];
    for (name, fake, version) in cases {
        let mut options = options();
        options.older_first = true;
        let fleet = Fleet::new(vec![config("fake", &fake)], options);
        let manifest = fleet.refresh("fake").await.unwrap();
        assert_eq!(&*manifest.protocol_version, version, "{name}");
        let said = call(&fleet, "echo", json!({"text":"hi"})).await.unwrap();
        assert_eq!(said, "hi", "{name}");
        fleet.shutdown().await;
    }
}
