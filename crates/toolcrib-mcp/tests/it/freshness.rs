use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_mcp::{Fleet, FleetOptions, ServerConfig, Transport};
use toolcrib_testkit::fake_mcp::FakeMcp;

use crate::kit::{call, config, options, until};

fn lists(log: &Path) -> usize {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines()
        .filter(|line| line.contains("\"tools/list\""))
        .count()
}

fn kept(dir: &Path) -> FleetOptions {
    let mut options = options();
    options.cache_dir = Some(dir.join("cache"));
    options
}

/// A server that says its list is good for so long, and the file of what it hears.
fn server(dir: &Path, ttl_ms: u64) -> (ServerConfig, std::path::PathBuf) {
    let log = dir.join("log");
    let fake = FakeMcp::new()
        .with("discover", "modern")
        .with("ttl_ms", ttl_ms)
        .with("cache_scope", "private")
        .with("log", log.to_str().unwrap());
    (config("fake", &fake), log)
}

async fn start(config: &ServerConfig, options: &FleetOptions) -> Arc<Fleet> {
    let fleet = Fleet::new(vec![config.clone()], options.clone());
    call(&fleet, "echo", json!({})).await.unwrap();
    fleet
}

#[tokio::test]
async fn m12_a_list_is_not_asked_for_again_while_the_server_says_it_is_good() {
    let dir = tempfile::tempdir().unwrap();
    let options = kept(dir.path());
    let (config, log) = server(dir.path(), 3_600_000);
    let fleet = start(&config, &options).await;
    until("the list is known", || fleet.manifest("fake").is_some()).await;
    fleet.shutdown().await;
    assert_eq!(lists(&log), 1);

    let again = start(&config, &options).await;
    // Time enough for a list that must not come.
    call(&again, "sleep", json!({"ms": 200})).await.unwrap();
    assert_eq!(lists(&log), 1, "it was still good");
    call(&again, "change", json!({"name":"fresh"}))
        .await
        .unwrap();
    until("a change beats the promise", || {
        again.manifest("fake").unwrap().tool("fresh").is_some()
    })
    .await;
    again.shutdown().await;

    // The clock moves on: the file says that it was fetched long ago.
    let file = std::fs::read_dir(dir.path().join("cache"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut value: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    value["fetched"] = json!(value["fetched"].as_u64().unwrap() - 4_000);
    std::fs::write(&file, value.to_string()).unwrap();
    let before = lists(&log);
    let late = start(&config, &options).await;
    until("it is asked for again", || lists(&log) > before).await;
    late.shutdown().await;
}

#[tokio::test]
async fn m12_what_is_listed_with_one_credential_is_not_shown_with_another() {
    let dir = tempfile::tempdir().unwrap();
    let options = kept(dir.path());
    let (mut config, _) = server(dir.path(), 3_600_000);
    let fleet = start(&config, &options).await;
    fleet.refresh("fake").await.unwrap();
    fleet.shutdown().await;
    assert!(
        Fleet::new(vec![config.clone()], options.clone())
            .manifest("fake")
            .is_some()
    );
    if let Transport::Stdio { env, .. } = &mut config.transport {
        env.insert("TOKEN".into(), "another".into());
    }
    assert!(Fleet::new(vec![config], options).manifest("fake").is_none());
}
