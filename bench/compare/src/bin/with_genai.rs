//! The task with genai, a client without a loop: the loop is written here, as its
//! examples write it.

use futures_util::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolResponse};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use toolcrib_compare as task;
use toolcrib_compare::{Error, Task};

fn main() -> Result<(), Error> {
    task::program(run)
}

async fn run(task: Task) -> Result<(usize, String), Error> {
    let lookup = Tool::new(task::LOOKUP)
        .with_description(task::LOOKUP_DESCRIPTION)
        .with_schema(serde_json::from_str(task::LOOKUP_SCHEMA)?);
    let mut tools = vec![lookup];
    for number in 1..task.tools {
        let filler = task::filler(number);
        let tool = Tool::new(filler.name)
            .with_description(filler.description)
            .with_schema(serde_json::from_str(&filler.schema)?);
        tools.push(tool);
    }
    let url = task.url;
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(url.clone()),
                auth: AuthData::from_single("key"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        },
    );
    let client = Client::builder()
        .with_service_target_resolver(resolver)
        .build()?;
    let options = ChatOptions::default()
        .with_capture_content(true)
        .with_capture_tool_calls(true)
        .with_capture_usage(true);
    let mut request = ChatRequest::new(vec![ChatMessage::user(task::QUESTION)])
        .with_system(task::SYSTEM)
        .with_tools(tools);
    let mut made = 0;
    for _ in 0..task.rounds + 2 {
        let asked = client
            .exec_chat_stream(&*task.model, request.clone(), Some(&options))
            .await?;
        let mut stream = asked.stream;
        let mut end = None;
        while let Some(event) = stream.next().await {
            if let ChatStreamEvent::End(seen) = event? {
                end = Some(seen);
            }
        }
        let end = end.ok_or("a reply had no end")?;
        let calls = end.captured_tool_calls().unwrap_or_default();
        let Some(call) = calls.first() else {
            let texts = end.captured_texts().unwrap_or_default();
            return Ok((made, texts.concat()));
        };
        if call.fn_name != task::LOOKUP {
            return Err(format!("an unknown tool: {}", call.fn_name).into());
        }
        let arguments = serde_json::from_value(call.fn_arguments.clone())?;
        let response = ToolResponse::new(call.call_id.clone(), task::lookup(&arguments));
        request = request.append_tool_use_from_stream_end(&end, response);
        made += 1;
    }
    Err("there was no last reply".into())
}
