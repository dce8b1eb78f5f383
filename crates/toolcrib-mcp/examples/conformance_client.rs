//! The client under the protocol's conformance suite.
//!
//! The suite starts this program once for each scenario, with the address of a test
//! server as its last argument. Every scenario is met by the same steps, those of
//! any user: list the tools, call them. What a scenario adds (a login, an answer to
//! a form, arguments) comes through the doors that the library has for it.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolcrib_core::BoxFuture;
use toolcrib_mcp::{
    Fleet, FleetOptions, Login, McpError, RequestContext, Reverse, RpcError, ServerConfig,
};

const SERVER: &str = "suite";

/// Goes to a login page and follows nothing but its first redirection.
struct Headless;

impl Login for Headless {
    fn redirect_uri(&self) -> String {
        "http://localhost:3000/callback".to_owned()
    }

    fn client_metadata_url(&self) -> Option<String> {
        Some("https://conformance-test.local/client-metadata.json".to_owned())
    }

    fn visit<'a>(&'a self, _: &'a str, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            let client = client.build().map_err(|e| e.to_string())?;
            let response = client.get(url).send().await.map_err(|e| e.to_string())?;
            let place = response.headers().get("location");
            let place = place.and_then(|value| value.to_str().ok());
            place
                .map(str::to_owned)
                .ok_or_else(|| "the page sends nobody back".to_owned())
        })
    }
}

/// Accepts every form with the defaults it names.
struct Defaults;

impl Reverse for Defaults {
    fn capabilities(&self, _: &str) -> Box<RawValue> {
        raw(&json!({"elicitation": {"form": {"applyDefaults": true}}}))
    }

    fn serves(&self, _: &str, method: &str) -> bool {
        method == "elicitation/create"
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a str>,
        _: &'a str,
        params: Option<Box<RawValue>>,
    ) -> BoxFuture<'a, Result<Box<RawValue>, RpcError>> {
        Box::pin(async move {
            let text = params.as_deref().map_or("{}", RawValue::get);
            let params: Value = serde_json::from_str(text).unwrap_or_default();
            let properties = params["requestedSchema"]["properties"].as_object();
            let content: Map<String, Value> = properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| {
                    let value = schema.get("default").cloned();
                    (name.clone(), value.unwrap_or_else(|| sample(schema)))
                })
                .collect();
            Ok(raw(&json!({"action": "accept", "content": content})))
        })
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn sample(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("test"),
    }
}

fn arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array();
    let properties = &schema["properties"];
    let filled: BTreeMap<&str, Value> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| (name, sample(&properties[name])))
        .collect();
    json!(filled)
}

async fn run(url: String) -> Result<(), McpError> {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let mut server = ServerConfig::http(SERVER, url);
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    server.oauth.client_id = text("client_id");
    server.oauth.client_secret = text("client_secret");
    let mut options = FleetOptions::default();
    options.reverse = Some(Arc::new(Defaults));
    options.login = Some(Arc::new(Headless));
    let fleet = Fleet::new(vec![server], options);
    let manifest = fleet.refresh(SERVER).await?;
    let cx = RequestContext::default();
    let planned = context["toolCalls"]
        .as_array()
        .or(context["tool_calls"].as_array());
    let calls: Vec<Value> = match planned {
        Some(calls) if !calls.is_empty() => calls
            .iter()
            .map(|call| json!({"name": call["name"], "arguments": call["arguments"]}))
            .collect(),
        _ => manifest
            .tools
            .iter()
            .map(|tool| {
                let schema = serde_json::from_str(tool.input_schema.received()).unwrap_or_default();
                let mut arguments = arguments(&schema);
                // It wants another tool's schema back as the client holds it.
                if &*tool.name == "json_schema_echo"
                    && let Some(held) = manifest.tool("json_schema_2020_12_tool")
                {
                    let held: Value =
                        serde_json::from_str(held.input_schema.received()).unwrap_or_default();
                    arguments["schema"] = held;
                }
                json!({"name": &*tool.name, "arguments": arguments})
            })
            .collect(),
    };
    // The migration of an authorization server shows itself over several requests.
    let rounds = if scenario.ends_with("authorization-server-migration") {
        3
    } else {
        1
    };
    let mut last = Ok(());
    for _ in 0..rounds {
        for call in &calls {
            let call = raw(call);
            let sent = fleet
                .request_resolved(SERVER, "tools/call", Some(call), &cx)
                .await;
            if let Err(error) = sent {
                tracing::info!(%error, "a call failed");
                if !matches!(error, McpError::Rpc(_)) {
                    last = Err(error);
                }
            }
        }
        if calls.is_empty() {
            let _ = fleet.request(SERVER, "tools/list", None, &cx).await;
        }
    }
    fleet.shutdown().await;
    last
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let url = std::env::args().next_back().unwrap_or_default();
    let (code, said) = match tokio::time::timeout(Duration::from_secs(25), run(url)).await {
        Ok(Ok(())) => (ExitCode::SUCCESS, String::new()),
        Ok(Err(error)) => (ExitCode::FAILURE, error.to_string()),
        Err(_) => (ExitCode::FAILURE, "no end within 25 s".to_owned()),
    };
    if !said.is_empty() {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "{said}");
    }
    code
}
