//! Fleets of fake servers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcrib_mcp::{Fleet, FleetOptions, McpError, RequestContext, ServerConfig, Transport};
use toolcrib_testkit::fake_mcp::FakeMcp;

pub(crate) fn config(name: &str, fake: &FakeMcp) -> ServerConfig {
    let (program, args, env) = fake.command();
    let mut config = ServerConfig::stdio(name, program, args);
    if let Transport::Stdio { env: map, .. } = &mut config.transport {
        map.extend(env);
    }
    config
}

pub(crate) fn options() -> FleetOptions {
    let mut options = FleetOptions::default();
    options.probe_timeout = Duration::from_millis(400);
    options.grace = Duration::from_millis(300);
    options.rest = Duration::from_millis(20);
    options
}

pub(crate) fn one(fake: &FakeMcp) -> Arc<Fleet> {
    Fleet::new(vec![config("fake", fake)], options())
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap()
}

pub(crate) fn params(tool: &str, arguments: Value) -> Option<Box<RawValue>> {
    Some(raw(&json!({"name": tool, "arguments": arguments})))
}

/// Calls a tool of the server `fake` and gives its result.
pub(crate) async fn call_with(
    fleet: &Fleet,
    tool: &str,
    arguments: Value,
    cx: &RequestContext,
) -> Result<Value, McpError> {
    let params = params(tool, arguments);
    let result = fleet.request("fake", "tools/call", params, cx).await?;
    Ok(serde_json::from_str(result.get()).unwrap())
}

/// Calls a tool of the server `fake` and gives its first text.
pub(crate) async fn call(fleet: &Fleet, tool: &str, arguments: Value) -> Result<String, McpError> {
    let result = call_with(fleet, tool, arguments, &RequestContext::default()).await?;
    Ok(result["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

/// The numbers in a file of process ids.
pub(crate) fn pids(path: &std::path::Path) -> Vec<i32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Whether a process runs (a zombie does not).
pub(crate) fn runs(pid: i32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with('Z'),
        Err(_) => false,
    }
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    // Far longer than anything takes on a machine under load.
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(std::time::Instant::now() < deadline, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Names the file of process ids for a process that holds a server.
pub(crate) const HOLD: &str = "TOOLCRIB_HOLD";

/// Starts a server that does not end by itself and waits to be killed.
pub(crate) fn hold(starts: &str) {
    let fake = FakeMcp::new()
        .with("starts", starts)
        .with("ignore_eof", true);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let fleet = one(&fake);
    runtime.block_on(async {
        fleet.start("fake").await.unwrap();
        std::future::pending::<()>().await;
    });
}
