//! The gateway on its own standard streams: one client, one message a line.

use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};

use crate::client::Lane;
use crate::face::Accepted;
use crate::gateway::Gateway;
use crate::wire;

/// Longest line that is read, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

impl Gateway {
    /// Serves one client over a pair of streams until the input ends. Answers are
    /// written in the order in which they are ready.
    ///
    /// # Errors
    /// When the streams fail.
    pub async fn serve_lines(
        self: &Arc<Self>,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
    ) -> std::io::Result<()> {
        use tokio::io::AsyncReadExt as _;
        let (main, mut messages) = Lane::new();
        let client = self.connect(main.clone());
        let writer = tokio::spawn(async move {
            let mut output = tokio::io::BufWriter::new(output);
            while let Some(message) = messages.recv().await {
                output.write_all(message.as_bytes()).await?;
                output.write_all(b"\n").await?;
                // What is ready goes out together.
                while let Ok(message) = messages.try_recv() {
                    output.write_all(message.as_bytes()).await?;
                    output.write_all(b"\n").await?;
                }
                output.flush().await?;
            }
            std::io::Result::Ok(())
        });
        let mut input = BufReader::with_capacity(64 * 1024, input);
        let mut line = Vec::new();
        let mut tasks = tokio::task::JoinSet::new();
        let ended = loop {
            while tasks.try_join_next().is_some() {}
            line.clear();
            let mut limited = (&mut input).take(LONGEST);
            match limited.read_until(b'\n', &mut line).await {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
                break Err(std::io::Error::other("a line is longer than 64 MiB"));
            }
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
        };
        client.leave();
        while tasks.join_next().await.is_some() {}
        drop((main, client));
        // What is ready is still written, unless nobody reads any more.
        let wait = std::time::Duration::from_millis(500);
        let _ = tokio::time::timeout(wait, writer).await;
        ended
    }

    /// What is owed for one message.
    pub(crate) fn work(
        self: &Arc<Self>,
        client: &Arc<crate::client::Client>,
        text: &str,
    ) -> Option<Work> {
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

/// An answer in the making.
pub(crate) struct Work {
    gateway: Arc<Gateway>,
    client: Arc<crate::client::Client>,
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
