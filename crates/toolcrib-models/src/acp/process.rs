//! An agent's process: started without a shell, ended with all that it started.
//!
//! It leads a group of its own. It works in an empty directory, since an agent reads
//! instructions, hooks and servers out of the directory it is started in, and a
//! repository is not trusted by being asked about.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{Sink, Stream, sink, stream};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::OnGroup;

/// Bytes of standard error that are kept.
const STDERR_KEPT: usize = 8 * 1024;
/// Longest message in bytes.
const MOST_LINE: usize = 16 << 20;
/// How long a process may take to end once it was asked to.
const GRACE: Duration = Duration::from_millis(500);

/// What to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// A name to look up or an absolute path.
    pub(super) program: String,
    pub(super) args: Vec<String>,
}

impl Program {
    /// Reads a command as a shell would split it; nothing in it is expanded.
    pub(super) fn parse(command: &str) -> Option<Program> {
        let mut words = shlex::split(command)?.into_iter();
        let program = words.next().filter(|word| !word.is_empty())?;
        Some(Program {
            program: absolute(program),
            args: words.collect(),
        })
    }

    /// Its file name, for messages.
    pub(super) fn name(&self) -> &str {
        let path = Path::new(&self.program);
        path.file_name()
            .and_then(|name| name.to_str())
            .unwrap_or(&self.program)
    }
}

/// A path that holds in another working directory too.
fn absolute(program: String) -> String {
    let path = Path::new(&program);
    if path.components().count() < 2 || path.is_absolute() {
        return program;
    }
    std::path::absolute(path).map_or(program, |path| path.to_string_lossy().into_owned())
}

/// A running agent; dropping it ends the process and its group.
pub(super) struct Process {
    child: Child,
    pid: Option<u32>,
    stderr: Arc<Mutex<Vec<u8>>>,
    secrets: Vec<String>,
    scratch: tempfile::TempDir,
    on_group: Option<OnGroup>,
}

/// Both directions of a process.
pub(super) type Pipes = (ChildStdin, ChildStdout);

impl Process {
    pub(super) fn start(
        program: &Program,
        on_group: Option<OnGroup>,
    ) -> std::io::Result<(Process, Pipes)> {
        let scratch = tempfile::Builder::new().prefix("toolcrib-acp-").tempdir()?;
        let mut command = Command::new(&program.program);
        command
            .args(&program.args)
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout), Some(mut errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("it has no pipes"));
        };
        if let (Some(on_group), Some(pid)) = (&on_group, child.id()) {
            on_group(pid, true);
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&stderr);
        tokio::spawn(async move {
            let mut chunk = vec![0; 8 * 1024];
            while let Ok(read @ 1..) = errors.read(&mut chunk).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&chunk[..read]);
                let surplus = kept.len().saturating_sub(STDERR_KEPT);
                kept.drain(..surplus);
            }
        });
        let process = Process {
            pid: child.id(),
            child,
            stderr,
            secrets: secrets(),
            scratch,
            on_group,
        };
        Ok((process, (stdin, stdout)))
    }

    /// The empty directory it works in.
    pub(super) fn scratch(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    /// How it ended, if it did within a moment, with the last line it complained of.
    pub(super) async fn ending(&mut self) -> String {
        let waited = tokio::time::timeout(GRACE, self.child.wait()).await;
        let how = match waited {
            Ok(Ok(status)) => format!("it ended with {status}"),
            _ => "it closed its output".to_owned(),
        };
        match self.complaint() {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }
    }

    /// The last line on standard error, without the values of keys.
    pub(super) fn complaint(&self) -> Option<String> {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept).into_owned();
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(self.redacted(&crate::http::excerpt(line)))
    }

    pub(super) fn redacted(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), "[secret]");
        }
        text
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = self.pid.and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::Signal;
            self.signal(Signal::TERM);
            let end = Instant::now() + GRACE;
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Whatever it left behind, too.
            self.signal(Signal::KILL);
        }
        if let (Some(on_group), Some(pid)) = (&self.on_group, self.pid) {
            on_group(pid, false);
        }
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
    }
}

/// Values of variables that are named like keys: an agent may complain of its own.
fn secrets() -> Vec<String> {
    let named = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["KEY", "TOKEN", "SECRET", "PASSWORD"]
            .iter()
            .any(|word| name.ends_with(word))
    };
    let mut secrets: Vec<String> = std::env::vars_os()
        .filter(|(name, _)| named(&name.to_string_lossy()))
        .map(|(_, value)| value.to_string_lossy().into_owned())
        .filter(|value| value.len() >= 8)
        .collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

/// Lines for the agent.
pub(super) fn outgoing(stdin: ChildStdin) -> impl Sink<String, Error = std::io::Error> + Send {
    sink::unfold(stdin, |mut stdin, mut line: String| async move {
        line.push('\n');
        stdin.write_all(line.as_bytes()).await?;
        stdin.flush().await?;
        Ok(stdin)
    })
}

/// The messages among the agent's lines. Agents print banners, logs and progress
/// there too; such lines are passed over, since answering them as broken requests
/// would confuse agents.
pub(super) fn incoming(stdout: ChildStdout) -> impl Stream<Item = std::io::Result<String>> + Send {
    let reader = BufReader::with_capacity(64 * 1024, stdout);
    stream::unfold(reader, |mut reader| async move {
        loop {
            match line(&mut reader).await {
                Ok(Some(line)) => match message(&line) {
                    Some(text) => return Some((Ok(text), reader)),
                    None => tracing::debug!("a line that is no message was passed over"),
                },
                Ok(None) => return None,
                Err(error) => return Some((Err(error), reader)),
            }
        }
    })
}

/// The next line without its end; an empty one in place of one that is too long.
async fn line(reader: &mut BufReader<ChildStdout>) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        too_long |= line.len() + part.len() > MOST_LINE;
        if too_long {
            line.clear();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

#[derive(serde::Deserialize)]
struct Head {
    jsonrpc: String,
}

/// A line as text where it is a message of the protocol.
pub(super) fn message(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim().trim_start_matches('\u{feff}');
    if !text.starts_with('{') {
        return None;
    }
    let head: Head = serde_json::from_str(text).ok()?;
    (head.jsonrpc == "2.0").then(|| text.to_owned())
}
