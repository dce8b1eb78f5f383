//! The task with toolcrib. `deferred` sends 12 tools and defers the rest, `session`
//! keeps a session on disk.

use std::sync::Arc;

use toolcrib::models::{ChatModel, ChatOptions, Vendor};
use toolcrib::session::{Meta, SessionLog};
use toolcrib::surface::SurfacePolicy;
use toolcrib::{
    Agent, Arguments, BoxFuture, Budget, Effect, Exposure, Outcome, Registry, Schema, Tool,
    ToolContext, ToolError, ToolName, ToolOutput, ToolSpec,
};
use toolcrib_compare as task;
use toolcrib_compare::{Error, Task};

/// How many are sent where the rest is deferred.
const SENT: usize = 12;

struct Known {
    spec: Arc<ToolSpec>,
    run: fn(&Arguments) -> Result<String, ToolError>,
}

impl Tool for Known {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { (self.run)(arguments).map(ToolOutput::text) })
    }
}

fn main() -> Result<(), Error> {
    task::program(run)
}

async fn run(task: Task) -> Result<(usize, String), Error> {
    let deferring = task.says("deferred");
    let mut registry = Registry::new();
    let spec = ToolSpec::new(
        ToolName::parse(task::LOOKUP)?,
        task::LOOKUP_DESCRIPTION,
        Schema::parse(task::LOOKUP_SCHEMA)?,
    );
    registry.insert(Arc::new(Known {
        spec: Arc::new(spec.effect(Effect::ReadOnly)),
        run: |arguments| Ok(task::lookup(&arguments.read()?)),
    }))?;
    for number in 1..task.tools {
        let filler = task::filler(number);
        let exposure = match deferring && number >= SENT {
            true => Exposure::Deferred,
            false => Exposure::Direct,
        };
        let spec = ToolSpec::new(
            ToolName::parse(&filler.name)?,
            filler.description,
            Schema::parse(&filler.schema)?,
        );
        registry.insert(Arc::new(Known {
            spec: Arc::new(spec.effect(Effect::ReadOnly).exposure(exposure)),
            run: |_| Ok("Done.".to_owned()),
        }))?;
    }
    let options =
        ChatOptions::new(Vendor::Generic, &*task.model).base_url(task.url.trim_end_matches('/'));
    let mut agent = Agent::builder(Arc::new(ChatModel::new(options)?))
        .system(task::SYSTEM)
        .tools(registry)
        .budget(Budget::rounds(u32::try_from(task.rounds)? + 2));
    if deferring {
        agent = agent.surface(SurfacePolicy {
            reading: false,
            ..SurfacePolicy::default()
        });
    }
    let dir = tempfile::tempdir()?;
    if task.says("session") {
        agent = agent.session(SessionLog::create(dir.path(), Meta::new(&*task.model))?);
    }
    match agent.build()?.run(task::QUESTION).await {
        Outcome::Answered { answer, report } => Ok((usize::try_from(report.calls)?, answer)),
        other => Err(format!("{:?}: {:?}", other.kind(), other.reason()).into()),
    }
}
