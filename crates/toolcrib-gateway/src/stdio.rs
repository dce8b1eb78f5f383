//! The gateway on a pair of streams: one client, one message a line.
//!
//! The streams are read and written by a thread each. An event loop would have to
//! hand every read of a standard stream to a thread of its pool and back.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::client::{Client, Lane};
use crate::face::Accepted;
use crate::gateway::Gateway;
use crate::wire;

/// Longest line that is read, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;
/// Lines that are read ahead.
const AHEAD: usize = 64;
/// When the client is done, answers may take this long to be ready, and then to be
/// written: one that only closed its end still reads.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Gateway {
    /// Serves one client over a pair of streams until the input ends. Answers are
    /// written in the order in which they are ready.
    ///
    /// # Errors
    /// When the input fails, a line is longer than 64 MiB, or an answer cannot be
    /// written. A client that no longer reads is done, and no error.
    pub async fn serve_lines(
        self: &Arc<Self>,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> std::io::Result<()> {
        let (main, messages) = Lane::new();
        let client = self.connect(main.clone());
        let (sender, mut lines) = mpsc::channel(AHEAD);
        std::thread::spawn(move || read(input, &sender));
        let (written, mut done) = oneshot::channel();
        std::thread::spawn(move || {
            let _ = written.send(write(output, messages));
        });
        let mut tasks = tokio::task::JoinSet::new();
        let mut ended = Ok(());
        let mut deaf = None;
        loop {
            let line = tokio::select! {
                line = lines.recv() => line,
                // Nothing of what is asked from here on could be answered.
                end = &mut done => {
                    deaf = Some(end);
                    break;
                }
            };
            let Some(line) = line else { break };
            while tasks.try_join_next().is_some() {}
            let line = match line {
                Ok(line) => line,
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            };
            let Ok(text) = std::str::from_utf8(&line) else {
                let error = toolcrib_mcp::RpcError::new(wire::PARSE, "the line is not UTF-8");
                main.send(wire::answer(None, &Err(error)));
                continue;
            };
            if text.trim().is_empty() {
                continue;
            }
            match wire::batch(text) {
                None => {
                    if let Some(work) = self.work(&client, text) {
                        let lane = main.clone();
                        tasks.spawn(async move {
                            if let Some(answer) = work.run(&lane).await {
                                lane.send(answer);
                            }
                        });
                    }
                }
                Some(items) => {
                    let work: Vec<_> = items
                        .iter()
                        .filter_map(|item| self.work(&client, item.get()))
                        .collect();
                    let lane = main.clone();
                    tasks.spawn(async move {
                        let answers = all(work, &lane).await;
                        if !answers.is_empty() {
                            lane.send(format!("[{}]", answers.join(",")));
                        }
                    });
                }
            }
        }
        if deaf.is_none() {
            let ready = async { while tasks.join_next().await.is_some() {} };
            let _ = tokio::time::timeout(LAST_WORDS, ready).await;
        }
        client.leave();
        while tasks.join_next().await.is_some() {}
        main.set_open(false);
        drop((main, client));
        let end = match deaf {
            Some(end) => Some(end),
            None => tokio::time::timeout(LAST_WORDS, done).await.ok(),
        };
        match end {
            Some(Ok(Err(error))) => ended.and(unwritten(error)),
            _ => ended,
        }
    }

    /// What is owed for one message.
    pub(crate) fn work(self: &Arc<Self>, client: &Arc<Client>, text: &str) -> Option<Work> {
        let owed = match self.accept(client, text) {
            Accepted::Nothing => return None,
            owed => owed,
        };
        Some(Work {
            gateway: self.clone(),
            client: client.clone(),
            owed,
        })
    }
}

/// Hands on each line until the input ends or nobody listens.
fn read(input: impl Read, lines: &mpsc::Sender<std::io::Result<Vec<u8>>>) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        let line = match read {
            Ok(0) => return,
            Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST => {
                Err(std::io::Error::other("a line is longer than 64 MiB"))
            }
            Ok(_) => Ok(line),
            Err(error) => Err(error),
        };
        let over = line.is_err();
        if lines.blocking_send(line).is_err() || over {
            return;
        }
    }
}

/// What it means that an answer could not be written: a client that went away is done.
fn unwritten(error: std::io::Error) -> std::io::Result<()> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(()),
        kind => Err(std::io::Error::new(
            kind,
            format!("an answer cannot be written: {error}"),
        )),
    }
}

/// Writes each message on a line; what is ready goes out together.
fn write(output: impl Write, mut messages: mpsc::UnboundedReceiver<String>) -> std::io::Result<()> {
    let mut output = std::io::BufWriter::with_capacity(64 * 1024, output);
    while let Some(mut message) = messages.blocking_recv() {
        loop {
            message.push('\n');
            output.write_all(message.as_bytes())?;
            match messages.try_recv() {
                Ok(next) => message = next,
                Err(_) => break,
            }
        }
        output.flush()?;
    }
    Ok(())
}

/// An answer in the making.
pub(crate) struct Work {
    gateway: Arc<Gateway>,
    client: Arc<Client>,
    owed: Accepted,
}

impl Work {
    /// The answer; none when it was taken back.
    pub(crate) async fn run(self, lane: &Lane) -> Option<String> {
        match self.owed {
            Accepted::Nothing => None,
            Accepted::Answer(text) => Some(text),
            Accepted::Request {
                id,
                method,
                params,
                cancel,
            } => {
                let what = (id.as_str(), method.as_str());
                self.gateway
                    .respond(&self.client, lane, what, params.as_deref(), cancel)
                    .await
            }
        }
    }
}

/// All answers, in the order of the questions.
pub(crate) async fn all(work: Vec<Work>, lane: &Lane) -> Vec<String> {
    let mut answers = Vec::with_capacity(work.len());
    for work in work {
        answers.extend(work.run(lane).await);
    }
    answers
}
