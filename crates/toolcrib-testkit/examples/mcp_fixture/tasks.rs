//! Tools that go on as tasks, for clients that know the extension; for others they
//! run to their end in the call itself.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::*;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use serde_json::{Value, json};

use crate::{complete, wish};

/// Longest that a task is kept, and how often a client shall look, in milliseconds.
const KEPT: u64 = 60_000;
const LOOK: u64 = 200;

/// Begins what the tool does; `tasks` says whether the caller knows the extension.
pub(crate) async fn begin(
    manager: &TaskManager,
    kind: &str,
    request: &CallToolRequestParams,
    tasks: bool,
) -> Result<CallToolResponse, ErrorData> {
    let argument = |key: &str| {
        request
            .arguments
            .as_ref()
            .and_then(|all| all.get(key))
            .cloned()
    };
    let seconds = argument("seconds").and_then(|value| value.as_f64());
    let length = Duration::try_from_secs_f64(seconds.unwrap_or(1.0)).unwrap_or_default();
    if !tasks {
        return match kind {
            "slow" => {
                tokio::time::sleep(length).await;
                Ok(said("computed", false)?.into())
            }
            _ => {
                let needed = ClientCapabilities::builder().enable_tasks().build();
                Err(ErrorData::missing_required_client_capability(needed))
            }
        };
    }
    let name = request.input_responses.as_ref().map(|all| json!(all));
    if kind == "gathers" && name.is_none() {
        let mut wishes = InputRequests::new();
        wishes.insert("user_name".to_owned(), wish("name")?);
        return Ok(InputRequiredResult::from_input_requests(wishes).into());
    }
    let kind = kind.to_owned();
    let options = TaskOptions::new()
        .with_ttl_ms(KEPT)
        .with_poll_interval_ms(LOOK);
    let task = manager.spawn(options, move |context| {
        Box::pin(async move { run(&context, &kind, length, name).await })
    });
    Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
}

async fn run(
    context: &TaskContext,
    kind: &str,
    length: Duration,
    name: Option<Value>,
) -> Result<CallToolResult, TaskExit> {
    match kind {
        "confirms" => {
            let answer = context.request_input("confirm", wish("ok")?).await?;
            Ok(said(&format!("confirmed: {answer}"), false)?)
        }
        "asks_twice" => {
            let (first, second) = tokio::join!(
                context.request_input("first", wish("first")?),
                context.request_input("second", wish("second")?)
            );
            Ok(said(&format!("{} and {}", first?, second?), false)?)
        }
        "gathers" => Ok(said(&format!("for {}", name.unwrap_or_default()), false)?),
        kind => {
            tokio::select! {
                () = tokio::time::sleep(length) => {}
                () = context.cancelled() => return Err(TaskExit::Cancelled),
            }
            match kind {
                "breaks" => Err(ErrorData::internal_error("it broke", None).into()),
                kind => Ok(said("computed", kind == "fails")?),
            }
        }
    }
}

fn said(text: &str, failed: bool) -> Result<CallToolResult, ErrorData> {
    complete(json!({"content": [{"type": "text", "text": text}], "isError": failed}))
}
