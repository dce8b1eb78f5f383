//! Tools described in files, each run by the command that its description names.
//!
//! A command gets the call's arguments as one JSON object on standard input and
//! answers on standard output; another exit status than 0 is a failure. It runs in
//! a process group of its own, which is gone when the call is over.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolcrib_core::{
    Arguments, BoxFuture, Effect, Exposure, Preview, Registry, Schema, SourceId, Tool, ToolContext,
    ToolError, ToolErrorKind, ToolName, ToolOutput, ToolSpec,
};
use toolcrib_eval::{ToolEntry, load_tools};

use crate::exit::CliError;

/// A description that cannot be offered to a model, and why.
#[derive(Debug)]
pub(crate) struct Quarantined {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// Registers the tools of these files. One that cannot be offered is left out with
/// its reason and costs the others nothing.
pub(crate) fn register(
    registry: &mut Registry,
    files: &[PathBuf],
) -> Result<Vec<Quarantined>, CliError> {
    let mut quarantined = Vec::new();
    for entry in load_tools(files).map_err(CliError::failed)? {
        let name = entry.name.clone();
        let added = spec(&entry).and_then(|spec| {
            let tool = Described {
                spec: Arc::new(spec),
                command: entry.command,
            };
            registry
                .insert(Arc::new(tool))
                .map_err(|error| error.to_string())
        });
        if let Err(reason) = added {
            quarantined.push(Quarantined { name, reason });
        }
    }
    Ok(quarantined)
}

fn spec(entry: &ToolEntry) -> Result<ToolSpec, String> {
    let schema = match &entry.schema {
        serde_json::Value::Null => Schema::empty(),
        schema => Schema::parse(&schema.to_string()).map_err(|error| error.to_string())?,
    };
    let source = if entry.source.is_empty() {
        "file"
    } else {
        entry.source.as_str()
    };
    let effect = match (entry.read_only, entry.destructive) {
        (true, _) => Effect::ReadOnly,
        (false, true) => Effect::Destructive,
        (false, false) => Effect::Write,
    };
    let spec = ToolSpec::new(
        ToolName::from_foreign(&entry.name),
        entry.description.as_str(),
        schema,
    )
    .source(SourceId::new(source))
    .exposure(Exposure::Deferred)
    .effect(effect);
    Ok(if entry.title.is_empty() {
        spec
    } else {
        spec.title(entry.title.as_str())
    })
}

struct Described {
    spec: Arc<ToolSpec>,
    command: Option<Vec<String>>,
}

impl Tool for Described {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn preview<'a>(
        &'a self,
        args: &'a Arguments,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Preview, ToolError>> {
        Box::pin(async move {
            Ok(match &self.command {
                Some(argv) => Preview::Command {
                    argv: argv.clone(),
                    cwd: ".".to_owned(),
                },
                None => Preview::Text(args.as_str().to_owned()),
            })
        })
    }

    fn call<'a>(
        &'a self,
        args: &'a Arguments,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            match self.command.as_deref() {
                Some([program, rest @ ..]) => run(program, rest, args, cx).await,
                _ => Err(ToolError::failed(format!(
                    "`{}` is described but nothing runs it here; tell the user that its description \
                     names no command",
                    self.spec.name
                ))),
            }
        })
    }
}

/// Most bytes of output that are kept; the rest is read and dropped.
const KEPT: usize = 4 * 1024 * 1024;

async fn run(
    program: &str,
    args: &[String],
    arguments: &Arguments,
    cx: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let mut command = tokio::process::Command::new(program);
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command
        .spawn()
        .map_err(|error| ToolError::failed(format!("cannot start `{program}`: {error}")))?;
    let group = Group::of(child.id());
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input may close it at once.
            let _ = stdin.write_all(arguments.as_str().as_bytes()).await;
        }
    };
    let work = async {
        let ((), out, err) = tokio::join!(feed, kept(stdout), kept(stderr));
        (child.wait().await, out, err)
    };
    let (status, out, err) = tokio::select! {
        done = work => done,
        () = cx.cancel.cancelled() => {
            return Err(ToolError::new(ToolErrorKind::Cancelled, format!("`{program}` was stopped")));
        }
    };
    drop(group);
    let status = status?;
    if status.success() {
        return Ok(ToolOutput::text(out));
    }
    let said = if err.trim().is_empty() { out } else { err };
    Ok(ToolOutput::error(format!(
        "`{program}` ended with {status}: {}",
        said.trim()
    )))
}

async fn kept(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else {
        return String::new();
    };
    let mut all = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n) = stream.read(&mut buffer).await {
        if n == 0 {
            break;
        }
        let room = KEPT.saturating_sub(all.len());
        all.extend_from_slice(&buffer[..n.min(room)]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Groups that run now.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Ends all that runs for a tool, for a process that ends without waiting for it.
pub(crate) fn end_all() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.iter().copied().for_each(end);
}

/// Ends a process group when it goes out of scope, so that no grandchild outlives
/// the call, however the call ends.
struct Group(Option<u32>);

impl Group {
    fn of(leader: Option<u32>) -> Group {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.extend(leader);
        Group(leader)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            running.remove(&leader);
            end(leader);
        }
    }
}

#[cfg_attr(not(unix), allow(unused_variables))]
fn end(leader: u32) {
    #[cfg(unix)]
    if let Some(leader) = i32::try_from(leader).ok()
        && let Some(leader) = rustix::process::Pid::from_raw(leader)
    {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
}
