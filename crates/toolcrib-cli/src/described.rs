//! Tools described in files, each run by the command that its description names.
//!
//! A command gets the call's arguments as one JSON object on standard input and
//! answers on standard output; another exit status than 0 is a failure. It runs in
//! a process group of its own, which is gone when the call is over; what it left running
//! keeps no call waiting.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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

/// What is wrong with files whose other tools are registered.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) quarantined: Vec<Quarantined>,
    /// Of a file as a whole, a sentence each.
    pub(crate) warnings: Vec<String>,
}

/// Registers the tools of these files. One that cannot be offered is left out with
/// its reason and costs the others nothing.
pub(crate) fn register(registry: &mut Registry, files: &[PathBuf]) -> Result<Faults, CliError> {
    let files = load_tools(files).map_err(CliError::failed)?;
    let mut quarantined = Vec::new();
    for entry in files.tools {
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
    Ok(Faults {
        quarantined,
        warnings: files.warnings,
    })
}

/// Names that the loop answers itself: a described tool that takes one would switch the
/// search off for all others.
const OWN: [&str; 3] = [
    toolcrib_surface::TOOL_SEARCH,
    toolcrib_surface::CALL_TOOL,
    toolcrib_dispatch::READ_RESULT,
];

fn spec(entry: &ToolEntry) -> Result<ToolSpec, String> {
    let name = ToolName::from_foreign(&entry.name);
    if OWN.contains(&name.as_str()) {
        return Err(format!(
            "the name `{name}` is the loop's own; give the tool another one"
        ));
    }
    let schema = match &entry.schema {
        None => Schema::empty(),
        Some(schema) => Schema::parse_raw(schema).map_err(|error| error.to_string())?,
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
    let spec = ToolSpec::new(name, entry.description.as_str(), schema)
        .original(&entry.name)
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

/// How long the output may stay open after the program ended, for what it started and
/// left behind; and once more after that was ended too.
const LEFT_OPEN: Duration = Duration::from_millis(200);

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
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let work = async {
        let pipes = async { tokio::join!(feed, keep(stdout, &mut out), keep(stderr, &mut err)) };
        let mut pipes = std::pin::pin!(pipes);
        tokio::select! {
            biased;
            _ = &mut pipes => {
                let status = child.wait().await;
                group.leader_ended();
                status
            }
            status = child.wait() => {
                group.leader_ended();
                if tokio::time::timeout(LEFT_OPEN, &mut pipes).await.is_err() {
                    group.end();
                    let _ = tokio::time::timeout(LEFT_OPEN, &mut pipes).await;
                }
                status
            }
        }
    };
    let status = tokio::select! {
        status = work => status,
        () = cx.cancel.cancelled() => {
            return Err(ToolError::new(ToolErrorKind::Cancelled, format!("`{program}` was stopped")));
        }
    };
    drop(group);
    let status = status?;
    let out = String::from_utf8_lossy(&out);
    if status.success() {
        return Ok(ToolOutput::text(out.into_owned()));
    }
    let err = String::from_utf8_lossy(&err);
    let said = if err.trim().is_empty() { out } else { err };
    Ok(ToolOutput::error(format!(
        "`{program}` ended with {status}: {}",
        said.trim()
    )))
}

async fn keep(stream: Option<impl tokio::io::AsyncRead + Unpin>, all: &mut Vec<u8>) {
    let Some(mut stream) = stream else {
        return;
    };
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n) = stream.read(&mut buffer).await {
        if n == 0 {
            break;
        }
        let room = KEPT.saturating_sub(all.len());
        all.extend_from_slice(&buffer[..n.min(room)]);
    }
}

/// Leaders of the groups that run now, and whether each was not waited for yet: until
/// then nobody else can have its number.
static RUNNING: Mutex<BTreeMap<u32, bool>> = Mutex::new(BTreeMap::new());

/// Ends all that runs for a tool, for a process that ends without waiting for it.
pub(crate) fn end_all() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running
        .iter()
        .for_each(|(&leader, &leads)| end(leader, leads));
}

/// Ends a process group when it goes out of scope, so that no grandchild outlives
/// the call, however the call ends.
struct Group(Option<u32>);

impl Group {
    fn of(leader: Option<u32>) -> Group {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.extend(leader.map(|leader| (leader, true)));
        Group(leader)
    }

    fn leader_ended(&self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.extend(self.0.map(|leader| (leader, false)));
    }

    fn end(&self) {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leader) = self.0 {
            end(leader, running.get(&leader) == Some(&true));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
        if let Some(leader) = self.0 {
            let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            running.remove(&leader);
        }
    }
}

/// Ends the group and, where the leader `leads` still, what left the group for a session
/// of its own.
#[cfg_attr(not(unix), allow(unused_variables))]
fn end(leader: u32, leads: bool) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process, kill_process_group};
        let pid = |id: u32| i32::try_from(id).ok().and_then(Pid::from_raw);
        // Looked up before: those whose parent is gone are nobody's descendants.
        let away = if leads {
            descendants(leader)
        } else {
            Vec::new()
        };
        if let Some(leader) = pid(leader) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        for one in away.into_iter().filter_map(pid) {
            let _ = kill_process(one, Signal::KILL);
        }
    }
}

/// All that descend from a process, by what the system lists; nothing where it lists none.
#[cfg(unix)]
fn descendants(ancestor: u32) -> Vec<u32> {
    let Ok(listed) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let parents: Vec<(u32, u32)> = listed
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let id = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name before it may hold anything, brackets too.
            let (_, rest) = stat.rsplit_once(')')?;
            Some((id, rest.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![ancestor];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(id, _)| *id));
        at += 1;
    }
    found.split_off(1)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    async fn sh(script: &str, cx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args = ["-c".to_owned(), script.to_owned()];
        run("sh", &args, &Arguments::empty(), cx).await
    }

    /// Whether a process runs; one that ended and was not waited for does not.
    fn runs(pid: &str) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| !stat.contains(") Z "))
    }

    async fn ends(pid: &str) -> bool {
        for _ in 0..200 {
            if !runs(pid) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    #[tokio::test]
    async fn l11_what_a_command_leaves_running_keeps_no_call_waiting_and_is_ended() {
        let cx = ToolContext::detached("c");
        let call = sh("sleep 999 & echo $!", &cx);
        let output = tokio::time::timeout(Duration::from_secs(30), call).await;
        let output = output.expect("it does not wait").expect("a result");
        let said = format!("{output:?}");
        let pid: String = said.chars().filter(char::is_ascii_digit).collect();
        assert!(!pid.is_empty() && ends(&pid).await, "{said}");
    }

    #[tokio::test]
    async fn l11_what_left_the_group_is_ended_with_the_call() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let cx = ToolContext::detached("c");
        let script = format!(
            "setsid sh -c 'sleep 999 & echo $! > {0}.new; mv {0}.new {0}; wait' & wait",
            file.display()
        );
        let stop = async {
            while !file.exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            cx.cancel.cancel();
        };
        let (ended, ()) = tokio::join!(sh(&script, &cx), stop);
        assert_eq!(ended.unwrap_err().kind, ToolErrorKind::Cancelled);
        let pid = std::fs::read_to_string(&file).unwrap();
        assert!(ends(pid.trim()).await, "{pid}");
    }
}
