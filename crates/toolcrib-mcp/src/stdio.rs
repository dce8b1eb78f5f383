//! A server as a child process.
//!
//! The process leads a group of its own, so that what it starts ends with it. It
//! is stopped politely first: its standard input closes, then SIGTERM, then
//! SIGKILL to the whole group. On Linux the kernel also ends it when we are killed;
//! since that promise hangs on the thread that spawned the child, all children are
//! spawned by one thread that never ends.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc as std_mpsc};
use std::time::Duration;

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, oneshot, watch};
use toolcrib_core::BoxFuture;

use crate::McpError;
use crate::guard::Guard;
use crate::message;
use crate::peer::{Outgoing, Peer, Sink};

/// Messages that may wait for a server to read them.
const QUEUE: usize = 1024;
/// Bytes of standard error that are kept.
const STDERR_KEPT: usize = 8 * 1024;
/// Bytes at both ends of an answer too long to keep, which may hold its id.
const EDGE: usize = 512;

/// Variables a server gets without asking: what programs need to find their files
/// and speak the user's language, and nothing else.
pub(crate) const BASE_ENV: [&str; 12] = [
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "SYSTEMROOT",
    "APPDATA",
    "TEMP",
];

/// What to start.
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: Option<PathBuf>,
    /// Time for each step of stopping it.
    pub(crate) grace: Duration,
    /// Longest message in bytes.
    pub(crate) max_message: usize,
    /// Ends the group if we are killed.
    pub(crate) guard: Option<Guard>,
}

/// A running server.
pub(crate) struct StdioSink {
    queue: mpsc::Sender<String>,
    peer: Arc<Peer>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stop: watch::Sender<bool>,
    ended: watch::Receiver<Option<String>>,
    pub(crate) pid: u32,
}

impl StdioSink {
    /// Starts the program and begins to read what it says.
    pub(crate) async fn start(
        program: Program,
        peer: Arc<Peer>,
    ) -> Result<Arc<StdioSink>, McpError> {
        let failed = |reason: String| McpError::Start {
            server: peer.server.clone(),
            reason,
            stderr: String::new(),
        };
        let mut child = spawn(command(&program)).await.map_err(|error| {
            let nowhere = program.cwd.as_ref().filter(|cwd| !cwd.is_dir());
            let hint = match (nowhere, error.kind()) {
                (Some(cwd), _) => format!("; its `cwd` {} is no directory", cwd.display()),
                (None, std::io::ErrorKind::NotFound) => {
                    "; is it installed and on the PATH?".to_owned()
                }
                _ => String::new(),
            };
            let reason = format!("cannot run {:?}: {error}{hint}", program.command);
            failed(peer.redact.apply(&reason))
        })?;
        let (Some(stdin), Some(stdout), Some(stderr), Some(pid)) = (
            child.stdin.take(),
            child.stdout.take(),
            child.stderr.take(),
            child.id(),
        ) else {
            return Err(failed("it ended at once".to_owned()));
        };
        if let Some(guard) = &program.guard {
            guard.add(pid);
        }
        let (queue, messages) = mpsc::channel(QUEUE);
        let (stop, stopped) = watch::channel(false);
        let (end, ended) = watch::channel(None);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::new(StdioSink {
            queue,
            peer: peer.clone(),
            stderr: kept.clone(),
            stop,
            ended,
            pid,
        });
        let writer = tokio::spawn(write(stdin, messages, stopped.clone()));
        let errors = tokio::spawn(keep(stderr, kept));
        tokio::spawn(read(
            stdout,
            peer,
            Arc::downgrade(&sink),
            program.max_message,
        ));
        tokio::spawn(supervise(
            Group {
                child,
                pid,
                guard: program.guard,
            },
            stopped,
            end,
            program.grace,
            writer,
            errors,
        ));
        Ok(sink)
    }

    /// Stops the process and waits until it and its group are gone.
    pub(crate) async fn stop(&self) {
        let _ = self.stop.send(true);
        let mut ended = self.ended.clone();
        let _ = ended.wait_for(Option::is_some).await;
    }
}

impl Drop for StdioSink {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}

impl Sink for StdioSink {
    fn request(&self, out: Outgoing) -> BoxFuture<'_, Result<(), McpError>> {
        Box::pin(async move {
            // A full queue waits: the limits of the request are around this.
            self.queue
                .send(out.text())
                .await
                .map_err(|_| McpError::Closed {
                    server: self.peer.server.clone(),
                    reason: "it does not read any more".to_owned(),
                    stderr: self.last_words(),
                })
        })
    }

    fn post(&self, text: String) {
        if self.queue.try_send(text).is_err() {
            tracing::debug!(server = %self.peer.server, "a message was dropped: the server does not read");
        }
    }

    fn cancel(&self, id: u64, reason: &str) {
        let params = format!(
            r#"{{"requestId":{id},"reason":{}}}"#,
            crate::raw::quoted(reason)
        );
        self.post(message::notification(
            "notifications/cancelled",
            Some(&params),
        ));
    }

    fn last_words(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        self.peer.redact.apply(&String::from_utf8_lossy(&kept))
    }
}

fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.command);
    command.args(&program.args).env_clear();
    for (name, value) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if BASE_ENV.contains(&&*name_text) || name_text.starts_with("LC_") {
            command.env(name, value);
        }
    }
    command.envs(&program.env);
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(target_os = "linux")]
    end_with_parent(&mut command);
    command
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn end_with_parent(command: &mut Command) {
    let set = || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
            .map_err(Into::into)
    };
    // SAFETY: between fork and exec only one system call is made: nothing is
    // allocated, locked or unwound.
    unsafe {
        command.pre_exec(set);
    }
}

type Job = (
    tokio::runtime::Handle,
    Command,
    oneshot::Sender<std::io::Result<Child>>,
);

/// Spawns on the thread that never ends.
async fn spawn(command: Command) -> std::io::Result<Child> {
    static SPAWNER: OnceLock<Option<std_mpsc::Sender<Job>>> = OnceLock::new();
    let spawner = SPAWNER.get_or_init(|| {
        let (jobs, queue) = std_mpsc::channel::<Job>();
        let run = move || {
            for (runtime, mut command, done) in queue {
                let _inside = runtime.enter();
                let _ = done.send(command.spawn());
            }
        };
        let thread = std::thread::Builder::new().name("mcp-spawn".to_owned());
        thread.spawn(run).ok().map(|_| jobs)
    });
    let gone = || std::io::Error::other("the thread that starts servers is gone");
    let (done, child) = oneshot::channel();
    let job = (tokio::runtime::Handle::current(), command, done);
    spawner
        .as_ref()
        .and_then(|jobs| jobs.send(job).ok())
        .ok_or_else(gone)?;
    child.await.map_err(|_| gone())?
}

async fn write(
    mut stdin: ChildStdin,
    mut messages: mpsc::Receiver<String>,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        let message = tokio::select! {
            message = messages.recv() => message,
            _ = stopped.wait_for(|stop| *stop) => None,
        };
        let Some(mut message) = message else { return };
        message.push('\n');
        let written = tokio::select! {
            written = stdin.write_all(message.as_bytes()) => written,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        if written.is_err() {
            return;
        }
    }
}

/// Reads messages, one a line, until the end. A line that is too long is let pass
/// and the request it answers fails.
async fn read(
    stdout: impl AsyncRead + Unpin,
    peer: Arc<Peer>,
    sink: std::sync::Weak<StdioSink>,
    max_message: usize,
) {
    let mut reader = BufReader::with_capacity(64 * 1024, stdout);
    let mut line = Vec::new();
    let mut tail = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = match reader.fill_buf().await {
            Ok([]) | Err(_) => break,
            Ok(chunk) => chunk,
        };
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        if !too_long && line.len() + part.len() > max_message {
            too_long = true;
            line.truncate(EDGE);
            line.extend_from_slice(&part[..part.len().min(EDGE.saturating_sub(line.len()))]);
        }
        if too_long {
            tail.extend_from_slice(&part[part.len().saturating_sub(EDGE)..]);
            let surplus = tail.len().saturating_sub(EDGE);
            tail.drain(..surplus);
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_none() {
            continue;
        }
        let Some(strong) = sink.upgrade() else { break };
        let strong: Arc<dyn Sink> = strong;
        if too_long {
            let error = McpError::TooLarge {
                server: peer.server.clone(),
                limit: max_message,
            };
            match message::id_of_edges(&line, &tail) {
                Some(id) => peer.fail(id, error),
                None => peer.count_noise(&String::from_utf8_lossy(&line)),
            }
        } else {
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if !text.is_empty() {
                peer.incoming(&strong, text, None);
            }
        }
        too_long = false;
        line.clear();
        tail.clear();
        line.shrink_to(1024 * 1024);
    }
    // The reason is known better once the process has ended; it soon will have.
    let Some(sink) = sink.upgrade() else { return };
    let mut ended = sink.ended.clone();
    let waited = ended.wait_for(Option::is_some);
    let reason = match tokio::time::timeout(Duration::from_millis(500), waited).await {
        Ok(Ok(reason)) => reason.clone().unwrap_or_default(),
        _ => "it closed its standard output".to_owned(),
    };
    let _ = sink.stop.send(true);
    peer.close(McpError::Closed {
        server: peer.server.clone(),
        reason,
        stderr: sink.last_words(),
    });
}

/// Keeps the end of what is read.
async fn keep(mut stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..read]);
        let surplus = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..surplus);
    }
}

/// A child and its group; dropping it ends both.
struct Group {
    child: Child,
    pid: u32,
    guard: Option<Guard>,
}

impl Group {
    #[cfg(unix)]
    fn signal(&self, hard: bool) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = if hard { Signal::KILL } else { Signal::TERM };
        if let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(pid, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _hard: bool) {
        let _ = self.child.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(true);
        if let Some(guard) = &self.guard {
            guard.remove(self.pid);
        }
    }
}

async fn supervise(
    #[allow(unused_mut)] mut group: Group,
    mut stopped: watch::Receiver<bool>,
    end: watch::Sender<Option<String>>,
    grace: Duration,
    writer: tokio::task::JoinHandle<()>,
    errors: tokio::task::JoinHandle<()>,
) {
    let mut reason = tokio::select! {
        status = group.child.wait() => Some(exit_reason(status)),
        _ = stopped.wait_for(|stop| *stop) => None,
    };
    if reason.is_none() {
        // The writer lets go of standard input, which asks the server to end.
        for step in 0..3 {
            match step {
                1 => group.signal(false),
                2 => group.signal(true),
                _ => {}
            }
            if let Ok(status) = tokio::time::timeout(grace, group.child.wait()).await {
                reason = Some(exit_reason(status));
                break;
            }
        }
    }
    // Whatever it started and left behind: asked first, then made to.
    group.signal(false);
    writer.abort();
    // What it said last is still in the pipe.
    if tokio::time::timeout(Duration::from_millis(200), errors)
        .await
        .is_err()
    {
        tracing::debug!("standard error is still held open by another process");
    }
    group.signal(true);
    drop(group);
    let _ = end.send(Some(
        reason.unwrap_or_else(|| "it could not be stopped".to_owned()),
    ));
}

fn exit_reason(status: std::io::Result<std::process::ExitStatus>) -> String {
    match status {
        Ok(status) => match status.code() {
            Some(code) => format!("it exited with code {code}"),
            None => format!("it was ended ({status})"),
        },
        Err(error) => format!("its end could not be waited for: {error}"),
    }
}
