//! An MCP server for the conformance suite, on a protocol library that is not ours.
//!
//! What it offers is data (`offers.json`); this file only acts it out. It speaks
//! HTTP on the port given by `PORT`, or over its standard input and output when
//! started with `--stdio`, so that a gateway can stand before it.
#![allow(deprecated)]

mod tasks;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::task_manager::TaskManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::Mutex;

const TTL_MS: u64 = 60_000;
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
/// It guards nothing but a test.
const KEY: &[u8] = b"a key of thirty-two bytes or more, for tests";

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
struct Fixture {
    offers: Arc<Value>,
    codec: RequestStateCodec,
    listeners: Arc<Mutex<HashMap<u64, SubscriptionSink>>>,
    next: Arc<AtomicU64>,
    tasks: TaskManager,
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A result as the newest revision wants it; the library takes the key out again for
/// older ones.
fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = json!("complete");
    read(result)
}

fn said(text: &str) -> Result<CallToolResponse, ErrorData> {
    Ok(complete::<CallToolResult>(json!({"content":[{"type":"text","text":text}]}))?.into())
}

fn tampered<E>(_: E) -> ErrorData {
    ErrorData::invalid_params("requestState was changed on its way", None)
}

/// What is asked for under one key: a form with one field, a sample, or the roots.
fn wish(what: &str) -> Result<InputRequest, ErrorData> {
    read(match what {
        "@sampling@" => json!({"method":"sampling/createMessage","params":{"maxTokens":100,
            "messages":[{"role":"user","content":{"type":"text","text":"What is the capital of France?"}}]}}),
        "@roots@" => json!({"method":"roots/list"}),
        field => json!({"method":"elicitation/create","params":{
            "mode":"form","message":format!("Please give {field}"),
            "requestedSchema":{"type":"object","required":[field],
                "properties":{field:{"type": if field == "ok" { "boolean" } else { "string" }}}}}}),
    })
}

fn wishes(wants: &Value, keep: impl Fn(&str) -> bool) -> Result<InputRequests, ErrorData> {
    let mut requests = InputRequests::new();
    for (key, what) in wants.as_object().into_iter().flatten() {
        let what = what.as_str().unwrap_or_default();
        if keep(what) {
            requests.insert(key.clone(), wish(what)?);
        }
    }
    Ok(requests)
}

impl Fixture {
    fn new() -> Result<Fixture, Failure> {
        let offers = include_str!("offers.json")
            .replace("@PNG@", PNG)
            .replace("@WAV@", WAV);
        Ok(Fixture {
            offers: Arc::new(serde_json::from_str(&offers)?),
            codec: RequestStateCodec::new_unchecked(KEY),
            listeners: Arc::default(),
            next: Arc::default(),
            tasks: TaskManager::new(),
        })
    }

    fn list<T: DeserializeOwned>(&self, key: &str) -> Result<T, ErrorData> {
        read(json!({
            key: self.offers[key], "ttlMs": TTL_MS, "cacheScope": "public", "resultType": "complete"
        }))
    }

    /// Inputs that came, where they are of the shape that was asked for.
    fn has(responses: Option<&InputResponses>, key: &str) -> bool {
        responses
            .and_then(|all| all.get(key))
            .is_some_and(Value::is_object)
    }

    fn ask_for_input(
        &self,
        tool: &Value,
        request: &CallToolRequestParams,
        meta: &RequestMetaObject,
    ) -> Result<CallToolResponse, ErrorData> {
        let responses = request.input_responses.as_ref();
        let state = match request.request_state.as_deref() {
            Some(sealed) if tool["state"] == true => {
                Some(self.codec.open_json::<Value>(sealed).map_err(tampered)?)
            }
            _ => None,
        };
        let wants = &tool["wants"];
        let mut keys = wants.as_object().into_iter().flatten().map(|(key, _)| key);
        let came = if tool["offered"] == true {
            responses.is_some()
        } else {
            keys.all(|key| Self::has(responses, key))
        };
        let whole = match (tool["state"] == true, tool["all"] == true) {
            (true, true) => came && state.is_some(),
            (true, false) => state.is_some(),
            _ => came,
        };
        if whole {
            let heard = json!(responses);
            return said(
                tool["done"]
                    .as_str()
                    .unwrap_or(&format!("Received: {heard}")),
            );
        }
        let offered = meta.client_capabilities().unwrap_or_default();
        let requests = wishes(wants, |what| {
            tool["offered"] != true
                || match what {
                    "@sampling@" => offered.sampling.is_some(),
                    "@roots@" => offered.roots.is_some(),
                    _ => offered.elicitation.is_some(),
                }
        })?;
        if requests.is_empty() {
            return said("Nothing can be asked of this client");
        }
        let sealed = match tool["state"] == true {
            true => Some(self.seal(&json!({"stage": "asked"}))?),
            false => None,
        };
        Ok(InputRequiredResult::new(Some(requests), sealed).into())
    }

    fn seal(&self, state: &Value) -> Result<String, ErrorData> {
        let sealed = self.codec.seal_json(state);
        sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn next_round(
        &self,
        rounds: &Value,
        request: &CallToolRequestParams,
    ) -> Result<CallToolResponse, ErrorData> {
        let round = match request.request_state.as_deref() {
            None => 0,
            Some(sealed) => {
                let state: Value = self.codec.open_json(sealed).map_err(tampered)?;
                state["round"].as_u64().unwrap_or(0)
            }
        };
        match rounds.get(usize::try_from(round).unwrap_or(usize::MAX)) {
            None => said("All rounds are over"),
            Some(wants) => {
                let sealed = self.seal(&json!({"round": round + 1}))?;
                Ok(InputRequiredResult::new(Some(wishes(wants, |_| true)?), Some(sealed)).into())
            }
        }
    }

    async fn act(
        &self,
        tool: &Value,
        request: &CallToolRequestParams,
        cx: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = |key: &str| {
            let value = request.arguments.as_ref().and_then(|all| all.get(key));
            value.and_then(Value::as_str).map(str::to_owned)
        };
        let log = async |level: LoggingLevel, text: &Value| {
            let message = LoggingMessageNotificationParam::new(level, text.clone());
            // A client that does not want to hear is fine.
            let _ = cx
                .peer
                .notify_logging_message(message.with_logger("fixture"))
                .await;
        };
        if let Some(logs) = tool["logs"].as_array() {
            for text in logs {
                log(LoggingLevel::Info, text).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            return said("Logged");
        }
        if tool["logs_when_asked"] == true {
            if let Some(level) = cx.meta.log_level() {
                log(level, &json!("A level was asked for")).await;
            }
            return said("Logged where asked");
        }
        if let Some(steps) = tool["progress"].as_array() {
            for step in steps {
                if let Some(token) = cx.meta.get_progress_token() {
                    let step = step.as_f64().unwrap_or_default();
                    let progress = ProgressNotificationParam::new(token, step).with_total(100.0);
                    let _ = cx
                        .peer
                        .notify_progress(progress.with_message("Going on"))
                        .await;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            return said("Progressed");
        }
        if tool["samples"] == true {
            let prompt = argument("prompt").unwrap_or_default();
            let wanted =
                CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
            return match cx.peer.create_message(wanted).await {
                Ok(answer) => said(&format!("LLM response: {}", json!(answer))),
                Err(error) => said(&format!("Sampling failed: {error}")),
            };
        }
        if tool["elicits"].is_object() {
            let wanted = json!({
                "mode": "form",
                "message": argument("message").unwrap_or_else(|| "Please fill in".to_owned()),
                "requestedSchema": tool["elicits"]});
            return match cx.peer.create_elicitation(read(wanted)?).await {
                Ok(answer) => {
                    let answer = json!(answer);
                    said(&format!(
                        "User response: action={}, content={}",
                        answer["action"], answer["content"]
                    ))
                }
                Err(error) => said(&format!("Elicitation failed: {error}")),
            };
        }
        if let Some(key) = tool["echoes"].as_str() {
            let value = argument(key);
            let value = value
                .ok_or_else(|| ErrorData::invalid_params(format!("{key} is missing"), None))?;
            return said(&value);
        }
        if let Some(what) = tool["changes"].as_str() {
            let listeners: Vec<SubscriptionSink> =
                self.listeners.lock().await.values().cloned().collect();
            for listener in listeners {
                let _ = match what {
                    "tools" => listener.notify_tool_list_changed().await,
                    _ => listener.notify_prompt_list_changed().await,
                };
            }
            return said("Changed");
        }
        if let Some(kind) = tool["task"].as_str() {
            let offered = cx.meta.client_capabilities().unwrap_or_default();
            let known = offered.supports_tasks();
            return tasks::begin(&self.tasks, kind, request, known).await;
        }
        if tool["greets"] == true {
            return said(&format!("Hello, {}!", argument("name").unwrap_or_default()));
        }
        if tool["needs"] == "sampling" {
            let offered = cx.meta.client_capabilities().unwrap_or_default();
            if offered.sampling.is_none() {
                let needed = ClientCapabilities::builder().enable_sampling().build();
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            return said("It is there");
        }
        if tool["rounds"].is_array() {
            return self.next_round(&tool["rounds"], request);
        }
        if tool["wants"].is_object() {
            return self.ask_for_input(tool, request, &cx.meta);
        }
        if tool["name"] == "test_reconnection" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(complete::<CallToolResult>(tool["result"].clone())?.into())
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerInfo {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_logging()
            .enable_completions()
            .enable_tasks()
            .build();
        ServerInfo::new(capabilities)
            .with_server_info(Implementation::new("toolcrib-fixture", "1.0.0"))
            .with_instructions("A fixture for tests.")
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tools: ListToolsResult = self.tools().ok()?;
        tools.tools.into_iter().find(|tool| tool.name == name)
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        self.listeners.lock().await.insert(key, cx.sink().clone());
        cx.cancelled().await;
        self.listeners.lock().await.remove(&key);
        Ok(())
    }

    async fn ping(&self, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.tools()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tools = self.offers["tools"].as_array();
        let tool = tools
            .into_iter()
            .flatten()
            .find(|tool| tool["name"] == *request.name);
        match tool {
            Some(tool) => self.act(tool, &request, &cx).await,
            None => Err(ErrorData::invalid_params(
                format!("Unknown tool: {}", request.name),
                None,
            )),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let answers: HashMap<String, Value> = read(json!(request.input_responses))?;
        self.tasks.update_task(&request.task_id, answers)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.list("resources")
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.list("resourceTemplates")
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let content = match (self.offers["contents"].get(uri), id) {
            (Some(content), _) => content.clone(),
            (None, Some(id)) => json!({"uri": uri, "mimeType": "application/json",
                "text": json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()}),
            (None, None) => {
                let place = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found(
                    format!("Resource not found: {uri}"),
                    place,
                ));
            }
        };
        let result = json!({"contents": [content], "ttlMs": TTL_MS, "cacheScope": "public", "resultType": "complete"});
        Ok(read::<ReadResourceResult>(result)?.into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.list("prompts")
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name == "test_input_required_result_prompt" {
            let responses = request.input_responses.as_ref();
            if !Self::has(responses, "user_context") {
                let wants = wishes(&json!({"user_context": "context"}), |_| true)?;
                return Ok(InputRequiredResult::from_input_requests(wants).into());
            }
            let messages = json!({"messages": [{"role": "user", "content":
                {"type": "text", "text": format!("Prompt with context: {}", json!(responses))}}]});
            return Ok(complete::<GetPromptResult>(messages)?.into());
        }
        let Some(messages) = self.offers["messages"].get(&request.name) else {
            return Err(ErrorData::invalid_params(
                format!("Unknown prompt: {}", request.name),
                None,
            ));
        };
        let mut text = json!({"messages": messages, "description": "A prompt"}).to_string();
        for (name, value) in request.arguments.iter().flatten() {
            let value = value.as_str().unwrap_or_default();
            text = text.replace(&format!("@{name}@"), value);
        }
        let value = serde_json::from_str(&text)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        Ok(complete::<GetPromptResult>(value)?.into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        read(
            json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}, "resultType": "complete"}),
        )
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

impl Fixture {
    fn tools(&self) -> Result<ListToolsResult, ErrorData> {
        let none = json!({"type": "object", "properties": {}});
        let define = |tool: &Value| {
            let schema = tool.get("schema").unwrap_or(&none);
            json!({"name": tool["name"], "description": "A tool of the fixture.", "inputSchema": schema})
        };
        let tools: Vec<Value> = self.offers["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(define)
            .collect();
        read(
            json!({"tools": tools, "ttlMs": TTL_MS, "cacheScope": "public", "resultType": "complete"}),
        )
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let fixture = Fixture::new()?;
    if std::env::args().any(|argument| argument == "--stdio") {
        let serving = fixture
            .serve((tokio::io::stdin(), tokio::io::stdout()))
            .await?;
        serving.waiting().await?;
        return Ok(());
    }
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok())
        .unwrap_or(0);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    {
        use std::io::Write as _;
        let mut out = std::io::stdout();
        writeln!(out, "http://{}/mcp", listener.local_addr()?)?;
        out.flush()?;
    }
    let service = StreamableHttpService::new(
        move || Ok(fixture.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    loop {
        let (stream, _) = listener.accept().await?;
        let service = hyper_util::service::TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let stream = hyper_util::rt::TokioIo::new(stream);
            let server = hyper::server::conn::http1::Builder::new();
            // A client that goes away in the middle is its own affair.
            let _ = server.serve_connection(stream, service).await;
        });
    }
}
