//! Calls that wait for a client to answer a server's question.
//!
//! A client of the newest revision has no requests from servers: its call is
//! answered with what is wanted, and it calls again with the answers. The server is
//! of an older revision and waits meanwhile, so the call is held here.

use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolcrib_core::CancellationToken;
use toolcrib_mcp::{McpError, RpcError};

use crate::client::lock;
use crate::gateway::Gateway;
use crate::relay::{Open, Question};
use crate::wire;

/// How long a call is held.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);
/// Most calls held at once; the oldest makes room.
const MOST: usize = 256;
/// Begins the states that mean a held call.
pub(crate) const HELD: &str = "toolcrib-held:";
/// The key of the one question that is asked at a time.
const INPUT: &str = "input";

type Outcome = Result<Box<RawValue>, McpError>;

/// A call under way at a server.
pub(crate) struct Running {
    pub(crate) task: JoinHandle<Outcome>,
    pub(crate) questions: mpsc::UnboundedReceiver<Question>,
    /// Cancels the call, and closes its site, when it is dropped.
    pub(crate) _guards: (Cancel, Open),
}

pub(crate) struct Cancel(pub(crate) CancellationToken);

impl Drop for Cancel {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A call that is held.
pub(crate) struct Held {
    running: Running,
    reply: oneshot::Sender<Result<Box<RawValue>, RpcError>>,
    since: Instant,
}

/// How far a call has come.
pub(crate) enum Came {
    /// To its end.
    Done(Outcome),
    /// To a question, which is the answer for now.
    Question(Box<RawValue>),
}

impl Gateway {
    /// Goes on with a call until it is done or asks something.
    pub(crate) async fn go_on(&self, mut running: Running) -> Came {
        tokio::select! {
            biased;
            Some(question) = running.questions.recv() => self.hold(running, question),
            done = &mut running.task => Came::Done(done.unwrap_or(Err(McpError::Cancelled))),
        }
    }

    fn hold(&self, running: Running, question: Question) -> Came {
        let name = format!("{HELD}{}", crate::gateway::secret_name());
        let params = question.params.as_ref().map_or("{}", |raw| raw.get());
        let text = format!(
            r#"{{"resultType":"input_required","inputRequests":{{"{INPUT}":{{"method":{},"params":{params}}}}},"requestState":{}}}"#,
            wire::quoted(&question.method),
            wire::quoted(&name),
        );
        let mut held = lock(&self.held);
        held.retain(|_, held| held.since.elapsed() < LONGEST);
        if held.len() >= MOST
            && let Some(oldest) = held.iter().min_by_key(|(_, held)| held.since)
        {
            let oldest = oldest.0.clone();
            held.remove(&oldest);
        }
        let kept = Held {
            running,
            reply: question.reply,
            since: Instant::now(),
        };
        held.insert(name, kept);
        Came::Question(wire::raw(text))
    }

    /// Takes up a held call with the client's answers.
    ///
    /// # Errors
    /// When it is held no more, or its question is not answered.
    pub(crate) fn take_up(&self, state: &str, params: &str) -> Result<Running, RpcError> {
        let answer = wire::at(params, &["inputResponses", INPUT]);
        let Some(answer) = answer else {
            let text = format!(
                "`inputResponses.{INPUT}` is missing: the server's question is not answered"
            );
            return Err(RpcError::new(wire::BAD_PARAMS, text));
        };
        let Some(held) = lock(&self.held).remove(state) else {
            let text = "the call that this answers is over; call again without `requestState`";
            return Err(RpcError::new(wire::BAD_PARAMS, text));
        };
        let _ = held.reply.send(Ok(answer.to_owned()));
        Ok(held.running)
    }
}
