use std::time::Duration;

use serde_json::json;
use toolcrib_core::{Arguments, Content, Effect, Exposure, ToolContext, ToolSource as _};
use toolcrib_mcp::{Fleet, FleetEvent, McpError, ServerState, tools};
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::kit::{call, config, one, options, pids, until};

fn states(fleet: &Fleet) -> Vec<ServerState> {
    fleet.status().iter().map(|status| status.state).collect()
}

#[tokio::test]
async fn a_server_is_configured_known_started_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let mut options = options();
    options.cache_dir = Some(dir.path().to_owned());
    let servers = || vec![config("fake", &FakeMcp::new())];
    let fleet = Fleet::new(servers(), options.clone());
    assert_eq!(states(&fleet), [ServerState::Configured]);
    assert!(fleet.manifest("fake").is_none());
    let fetched = fleet.refresh("fake").await.unwrap();
    assert_eq!(states(&fleet), [ServerState::Started]);
    call(&fleet, "echo", json!({})).await.unwrap();
    assert_eq!(states(&fleet), [ServerState::Used]);
    assert!(fleet.status()[0].first_use.is_some() && fleet.status()[0].start_took.is_some());
    fleet.shutdown().await;
    assert_eq!(states(&fleet), [ServerState::Known]);

    let again = Fleet::new(servers(), options);
    assert_eq!(states(&again), [ServerState::Known]);
    let kept = again.manifest("fake").unwrap();
    assert_eq!(kept.fingerprint, fetched.fingerprint);
    let raw = |manifest: &toolcrib_mcp::Manifest| -> Vec<String> {
        manifest
            .tools
            .iter()
            .map(|tool| tool.raw.get().to_owned())
            .collect()
    };
    assert_eq!(raw(&kept), raw(&fetched));
    assert!(
        kept.tools[0]
            .raw
            .get()
            .contains(r#""execution":{"taskSupport":"forbidden"},"x-unknown":1"#)
    );
}

#[tokio::test]
async fn first_uses_at_the_same_time_start_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let fake = FakeMcp::new()
        .with("starts", starts.to_str().unwrap())
        .with("start_ms", 100);
    let fleet = one(&fake);
    let calls = (0..8).map(|n| {
        let fleet = &fleet;
        async move {
            call(fleet, "echo", json!({"text": n.to_string()}))
                .await
                .unwrap()
        }
    });
    let said = futures_util::future::join_all(calls).await;
    assert_eq!(said, (0..8).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_eq!(pids(&starts).len(), 1);
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_first_caller_that_goes_away_does_not_break_the_start_off() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let fake = FakeMcp::new()
        .with("starts", starts.to_str().unwrap())
        .with("start_ms", 200);
    let fleet = one(&fake);
    let first = call(&fleet, "echo", json!({}));
    assert!(
        tokio::time::timeout(Duration::from_millis(50), first)
            .await
            .is_err()
    );
    call(&fleet, "echo", json!({})).await.unwrap();
    assert_eq!(pids(&starts).len(), 1);
    fleet.shutdown().await;
}

#[tokio::test]
async fn one_bad_server_takes_no_other_down() {
    let fleet = Fleet::new(
        vec![
            config("dead", &FakeMcp::new().with("initialize", "exit")),
            config("fake", &FakeMcp::new()),
            config("listless", &FakeMcp::new().with("list_error", -32603)),
        ],
        options(),
    );
    let failures = fleet.learn().await;
    let names: Vec<&str> = failures.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["dead", "listless"]);
    assert_eq!(
        call(&fleet, "echo", json!({"text":"a"})).await.unwrap(),
        "a"
    );
    let status = fleet.status();
    assert!(status[2].error.as_ref().unwrap().contains("fetch failed"));
    fleet.shutdown().await;
}

#[tokio::test]
async fn s59_a_failing_refresh_keeps_the_last_good_manifest() {
    let fleet = one(&FakeMcp::new().with("list_good", 1));
    let good = fleet.refresh("fake").await.unwrap();
    let error = fleet.refresh("fake").await.unwrap_err();
    assert_eq!(error.rpc().unwrap().code, -32603);
    let kept = fleet.manifest("fake").unwrap();
    assert!(std::sync::Arc::ptr_eq(&good, &kept));
    let status = &fleet.status()[0];
    assert!(status.error.as_ref().unwrap().contains("fetch failed"));
    assert_eq!(
        call(&fleet, "echo", json!({"text":"on"})).await.unwrap(),
        "on"
    );
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_crash_fails_the_call_with_its_reason_and_the_next_call_starts_anew() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let fake = FakeMcp::new()
        .with("starts", starts.to_str().unwrap())
        .with("stderr", "last words");
    let fleet = one(&fake);
    let error = call(&fleet, "die", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("exited with code 7") && error.contains("last words"),
        "{error}"
    );
    assert_eq!(
        pids(&starts).len(),
        1,
        "a call that may have run is not repeated"
    );
    assert_eq!(
        call(&fleet, "echo", json!({"text":"b"})).await.unwrap(),
        "b"
    );
    assert_eq!(pids(&starts).len(), 2);
    fleet.shutdown().await;
}

#[tokio::test]
async fn failures_are_given_a_rest_that_doubles() {
    let mut options = options();
    options.rest = Duration::from_secs(10);
    let fleet = Fleet::new(
        vec![config("fake", &FakeMcp::new().with("initialize", "exit"))],
        options,
    );
    assert!(matches!(
        fleet.start("fake").await,
        Err(McpError::Start { .. })
    ));
    let Err(McpError::BackingOff { retry_in, .. }) = fleet.start("fake").await else {
        panic!("it was tried again at once");
    };
    assert!(retry_in > Duration::from_secs(5));
}

#[tokio::test]
async fn an_idle_server_stops_and_comes_back() {
    let mut server = config("fake", &FakeMcp::new());
    server.idle_stop = Some(Duration::from_millis(200));
    let fleet = Fleet::new(vec![server], options());
    let first = call(&fleet, "pid", json!({})).await.unwrap();
    until("it stops", || states(&fleet) == [ServerState::Known]).await;
    let second = call(&fleet, "pid", json!({})).await.unwrap();
    assert_ne!(first, second);
    fleet.shutdown().await;
}

#[tokio::test]
async fn changes_are_obeyed_and_told_once() {
    let fleet = one(&FakeMcp::new().with("list_changed", 5));
    fleet.refresh("fake").await.unwrap();
    let mut events = fleet.subscribe();
    let source = tools(&fleet);
    let before = source.tools();
    call(&fleet, "change", json!({"name":"fresh"}))
        .await
        .unwrap();
    until("the new tool is known", || {
        fleet.manifest("fake").unwrap().tool("fresh").is_some()
    })
    .await;
    let after = source.tools();
    assert_eq!(after.len(), before.len() + 1);
    for (old, new) in before.iter().zip(&after) {
        assert!(
            std::sync::Arc::ptr_eq(old.spec(), new.spec()),
            "specs keep their bytes"
        );
    }
    let mut changes = 0;
    while let Ok(event) = events.try_recv() {
        changes += usize::from(matches!(event, FleetEvent::ManifestChanged { .. }));
    }
    assert_eq!(changes, 1);
    fleet.shutdown().await;
}

#[tokio::test]
async fn tools_are_tools() {
    let fleet = one(&FakeMcp::new());
    fleet.refresh("fake").await.unwrap();
    let all = tools(&fleet).tools();
    let find = |name: &str| {
        all.iter()
            .find(|tool| tool.spec().name.as_str() == name)
            .unwrap()
    };
    let echo = find("fake__echo");
    assert_eq!(echo.spec().effect, Effect::ReadOnly);
    assert_eq!(echo.spec().exposure, Exposure::Deferred);
    assert_eq!(&*echo.spec().source.0, "fake");
    assert_eq!(find("fake__die").spec().effect, Effect::Destructive);
    assert_eq!(find("fake__sleep").spec().effect, Effect::Write);
    let cx = ToolContext::detached("1");
    let args = Arguments::parse(r#"{"text":"hello"}"#).unwrap();
    let output = echo.call(&args, &cx).await.unwrap();
    assert_eq!(output.content, [Content::text("hello")]);
    let image = find("fake__image")
        .call(&Arguments::empty(), &cx)
        .await
        .unwrap();
    assert!(matches!(&image.content[0], Content::Image { data, .. } if &**data == "QUJD"));
    let structured = find("fake__structured")
        .call(&Arguments::empty(), &cx)
        .await
        .unwrap();
    assert_eq!(structured.content, [Content::text(r#"{"n":1.5,"s":"x"}"#)]);
    let error = find("fake__die")
        .call(&Arguments::empty(), &cx)
        .await
        .unwrap_err();
    insta::assert_snapshot!(error.for_model(), @"error: the server `fake` went away before it answered; the call may have run: check before you repeat it");
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_name_that_is_nearly_right_is_suggested() {
    let fleet = one(&FakeMcp::new());
    let error = fleet.start("fkae").await.unwrap_err().to_string();
    insta::assert_snapshot!(error, @r#"no MCP server is called "fkae"; did you mean "fake"?"#);
}
