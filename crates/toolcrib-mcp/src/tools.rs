//! Servers' tools as toolcrib's.
//!
//! A tool is made once for each definition and kept as long as the definition
//! means the same, so the bytes that models see do not move when a list is fetched
//! again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolcrib_core::{
    Arguments, BoxFuture, Exposure, SourceId, Str, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolOutput, ToolSource, ToolSpec,
};

use crate::context::{ProgressFn, RequestContext};
use crate::{Fleet, ManifestTool, McpError, exported_name, output_of, raw};

/// All known tools of a fleet's servers. The list follows the manifests: take it
/// anew at a turn's boundary.
pub struct FleetTools {
    id: SourceId,
    fleet: Arc<Fleet>,
    made: Mutex<HashMap<(Str, Str), Arc<FleetTool>>>,
}

/// The tools of a fleet, named `server__tool`. What a server calls read-only may run
/// beside others; what it calls destructive asks where such tools ask.
pub fn tools(fleet: &Arc<Fleet>) -> FleetTools {
    FleetTools {
        id: SourceId::new("mcp"),
        fleet: fleet.clone(),
        made: Mutex::default(),
    }
}

impl ToolSource for FleetTools {
    fn id(&self) -> &SourceId {
        &self.id
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out: Vec<Arc<dyn Tool>> = Vec::new();
        let mut kept = HashMap::new();
        for server in self.fleet.names() {
            let Some(manifest) = self.fleet.manifest(server) else {
                continue;
            };
            for definition in &manifest.tools {
                let key = (server.clone(), definition.name.clone());
                let same = made.remove(&key);
                let same = same.filter(|tool| tool.fingerprint == definition.fingerprint);
                let tool = same.unwrap_or_else(|| {
                    Arc::new(FleetTool::new(self.fleet.clone(), server, definition))
                });
                out.push(tool.clone());
                kept.insert(key, tool);
            }
        }
        *made = kept;
        out
    }
}

struct FleetTool {
    fleet: Arc<Fleet>,
    server: Str,
    name: Str,
    repeatable: bool,
    fingerprint: String,
    spec: Arc<ToolSpec>,
}

impl FleetTool {
    fn new(fleet: Arc<Fleet>, server: &Str, tool: &ManifestTool) -> FleetTool {
        let mut spec = ToolSpec::new(
            exported_name(server, &tool.name),
            tool.description.clone(),
            tool.input_schema.clone(),
        )
        .original(&format!("{server}__{}", tool.name));
        spec.title.clone_from(&tool.title);
        spec.output_schema.clone_from(&tool.output_schema);
        spec.effect = tool.annotations.effect();
        spec.source = SourceId(server.clone());
        spec.exposure = Exposure::Deferred;
        if tool.wants_task {
            // A plain call is refused, and no other kind is made.
            spec.exposure = Exposure::Hidden;
        }
        spec.timeout = fleet.config(server).map(|config| config.call_cap);
        FleetTool {
            fleet,
            server: server.clone(),
            name: tool.name.clone(),
            repeatable: tool.annotations.repeatable(),
            fingerprint: tool.fingerprint.clone(),
            spec: Arc::new(spec),
        }
    }
}

impl Tool for FleetTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let params = raw::raw(format!(
                r#"{{"name":{},"arguments":{}}}"#,
                raw::quoted(&self.name),
                args.as_str()
            ));
            let request = RequestContext {
                cancel: cx.cancel.clone(),
                deadline: cx.deadline,
                progress: Some(progress(cx)),
                repeatable: self.repeatable,
                ..RequestContext::default()
            };
            let sent =
                self.fleet
                    .request_resolved(&self.server, "tools/call", Some(params), &request);
            match sent.await {
                Ok(result)
                    if raw::text(result.get(), "resultType").as_deref()
                        == Some("input_required") =>
                {
                    Err(ToolError::failed(format!(
                        "`{}` asks its user for more input, which cannot be given here; call it with complete arguments or use another tool",
                        self.spec.name
                    )))
                }
                Ok(result) => Ok(output_of(&self.name, &result)),
                Err(error) => Err(tool_error(&self.server, &error)),
            }
        })
    }
}

fn progress(cx: &ToolContext) -> Arc<ProgressFn> {
    let report = cx.progress.clone();
    Arc::new(move |params| {
        let Ok(params) = serde_json::from_str::<Value>(params.get()) else {
            return;
        };
        let text = match (
            params.get("message").and_then(Value::as_str),
            params.get("progress"),
        ) {
            (Some(message), _) => message.to_owned(),
            (None, Some(done)) => match params.get("total") {
                Some(total) => format!("{done}/{total}"),
                None => done.to_string(),
            },
            (None, None) => return,
        };
        report.report(&text);
    })
}

/// What a failed request is for the loop and the model.
fn tool_error(server: &str, error: &McpError) -> ToolError {
    let (kind, model) = match error {
        McpError::Rpc(rpc) if rpc.code == -32602 => (ToolErrorKind::BadArgs, rpc.message.clone()),
        McpError::Rpc(rpc) => (ToolErrorKind::Failed, rpc.message.clone()),
        McpError::Timeout { after, .. } => (
            ToolErrorKind::Timeout,
            format!(
                "the server `{server}` did not answer within {} s; ask for less at once, or go on without it",
                after.as_secs()
            ),
        ),
        McpError::Cancelled => (
            ToolErrorKind::Cancelled,
            "the call was cancelled".to_owned(),
        ),
        McpError::TooLarge { limit, .. } => (
            ToolErrorKind::Failed,
            format!("the answer is larger than {limit} bytes; ask for less at once"),
        ),
        McpError::SessionLost { .. } => (
            ToolErrorKind::Failed,
            "the server lost the session; the call may have run: check before you repeat it"
                .to_owned(),
        ),
        McpError::Closed { .. } => (
            ToolErrorKind::Failed,
            format!(
                "the server `{server}` went away before it answered; the call may have run: check before you repeat it"
            ),
        ),
        McpError::LoginNeeded { .. } => (
            ToolErrorKind::Failed,
            format!("the server `{server}` wants its user to log in; go on without it"),
        ),
        _ => (
            ToolErrorKind::Failed,
            format!(
                "the server `{server}` is not available now; go on without it or try again later"
            ),
        ),
    };
    ToolError::new(kind, model).with_operator(error.to_string())
}
