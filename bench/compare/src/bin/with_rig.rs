//! The task with rig's agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use rig::AgentBuilder;
use rig::agent::MultiTurnStreamItem;
use rig::message::ToolName;
use rig::providers::openai::OpenAIConfig;
use rig::tool::{DynamicTool, PortableTool, ToolOutput};
use toolcrib_compare as task;
use toolcrib_compare::{Error, Task};

struct Lookup(Arc<AtomicUsize>);

impl PortableTool for Lookup {
    const NAME: &'static str = task::LOOKUP;
    type Args = task::LookupArguments;
    type Output = String;
    type Error = std::convert::Infallible;

    fn description(&self) -> String {
        task::LOOKUP_DESCRIPTION.to_owned()
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::from_str(task::LOOKUP_SCHEMA).unwrap_or_default()
    }

    async fn call(&self, arguments: Self::Args) -> Result<String, Self::Error> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(task::lookup(&arguments))
    }
}

fn main() -> Result<(), Error> {
    task::program(run)
}

async fn run(task: Task) -> Result<(usize, String), Error> {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut fillers = Vec::new();
    for number in 1..task.tools {
        let filler = task::filler(number);
        fillers.push(DynamicTool::new(
            ToolName::new(filler.name)?,
            filler.description,
            serde_json::from_str(&filler.schema)?,
            |_| Box::pin(async { Ok(ToolOutput::text("Done.")) }),
        ));
    }
    let client = OpenAIConfig::new("key").with_base_url(task.url).client();
    let agent = AgentBuilder::new(client.chat(task.model))
        .preamble(task::SYSTEM)
        .default_max_turns(task.rounds + 2)
        .tool(Lookup(calls.clone()))
        .dynamic_tools(fillers)
        .build();
    let mut stream = agent.prompt(task::QUESTION).stream();
    let mut answer = None;
    while let Some(item) = stream.next().await {
        if let MultiTurnStreamItem::FinalResponse(response) = item? {
            answer = Some(response.output());
        }
    }
    Ok((
        calls.load(Ordering::Relaxed),
        answer.ok_or("there was no last reply")?,
    ))
}
