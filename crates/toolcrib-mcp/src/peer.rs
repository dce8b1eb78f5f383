//! Requests and answers of one connection, whatever carries the bytes.
//!
//! Every request has an id of ours that is never used twice, so a late, doubled or
//! invented answer meets nobody and is counted as noise. The limits of a request
//! (silence, hard cap, cancellation) live here too, and so does the promise that a
//! request that is given up, even by dropping its future, is taken back from the
//! server. Nothing here grows with what a server sends unasked.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use toolcrib_core::{BoxFuture, Str};

use crate::config::Redact;
use crate::context::{RequestContext, Reverse};
use crate::message::{self, Incoming};
use crate::{McpError, RpcError, raw};

/// Server requests answered at the same time; more are told that we are busy.
const MAX_REVERSE: usize = 32;
/// Lines of noise kept for diagnosis, and the characters kept of each.
const NOISE_LINES: usize = 20;
const NOISE_WIDTH: usize = 200;

/// What carries messages to the server.
pub(crate) trait Sink: Send + Sync {
    /// Sends a request; its answer comes through [`Peer::incoming`] or
    /// [`Peer::fail`].
    fn request(&self, request: Outgoing) -> BoxFuture<'_, Result<(), McpError>>;
    /// Sends a notification or an answer, dropping it when the server does not read.
    fn post(&self, text: String);
    /// Takes back a request whose caller is gone.
    fn cancel(&self, id: u64, reason: &str);
    /// The end of the server's standard error, or what else explains a failure.
    fn last_words(&self) -> String;
}

/// A request on its way.
pub(crate) struct Outgoing {
    pub(crate) id: u64,
    pub(crate) method: String,
    pub(crate) params: Option<String>,
}

impl Outgoing {
    pub(crate) fn text(&self) -> String {
        message::request(self.id, &self.method, self.params.as_deref())
    }
}

/// What a server said beside its answers.
pub(crate) enum Heard {
    /// Its tools, prompts or resources changed.
    ListChanged,
    /// Another notification.
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// The connection ended.
    Closed,
}

/// Lines that were no messages.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Noise {
    /// How many there were.
    pub count: u64,
    /// The last ones, cut and without secrets.
    pub last: Vec<String>,
}

struct Pending {
    done: oneshot::Sender<Result<Box<RawValue>, McpError>>,
    activity: Arc<Notify>,
    progress: Option<Arc<crate::context::ProgressFn>>,
    tag: Option<Str>,
    /// The answer says what the server is and offers, and is shown and kept.
    describes: bool,
}

#[derive(Default)]
struct State {
    pending: HashMap<u64, Pending>,
    closed: Option<McpError>,
}

/// One side of a connection.
pub(crate) struct Peer {
    pub(crate) server: Str,
    pub(crate) redact: Redact,
    next: AtomicU64,
    state: Mutex<State>,
    closed: AtomicBool,
    noise: Mutex<(u64, VecDeque<String>)>,
    reversing: AtomicUsize,
    reverse: Option<Arc<dyn Reverse>>,
    heard: Box<dyn Fn(Heard) + Send + Sync>,
    me: Weak<Peer>,
}

/// The limits of one request.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) idle: Duration,
    pub(crate) cap: Duration,
}

impl Peer {
    pub(crate) fn new(
        server: Str,
        redact: Redact,
        reverse: Option<Arc<dyn Reverse>>,
        heard: Box<dyn Fn(Heard) + Send + Sync>,
    ) -> Arc<Peer> {
        Arc::new_cyclic(|me| Peer {
            server,
            redact,
            next: AtomicU64::new(1),
            state: Mutex::default(),
            closed: AtomicBool::new(false),
            noise: Mutex::default(),
            reversing: AtomicUsize::new(0),
            reverse,
            heard,
            me: me.clone(),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The number that the next request gets: its id and its progress token.
    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request and waits for its answer within the limits.
    pub(crate) async fn request(
        &self,
        sink: &dyn Sink,
        out: Outgoing,
        limits: Limits,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        let (id, method) = (out.id, out.method.clone());
        let (done, mut answer) = oneshot::channel();
        let activity = Arc::new(Notify::new());
        {
            let mut state = self.state();
            if let Some(error) = &state.closed {
                return Err(error.clone());
            }
            let pending = Pending {
                done,
                activity: activity.clone(),
                progress: cx.progress.clone(),
                tag: cx.tag.clone(),
                describes: method.ends_with("/list")
                    || matches!(method.as_str(), "initialize" | "server/discover"),
            };
            state.pending.insert(id, pending);
        }
        let mut taken_back = TakeBack {
            peer: self,
            sink,
            id,
            // The handshake is not to be cancelled, says the protocol, and before it
            // a server may not bear a notification.
            tell: !matches!(method.as_str(), "initialize" | "server/discover"),
            reason: "the caller is gone",
        };
        let begun = Instant::now();
        let mut cap = begun + limits.cap;
        if let Some(deadline) = cx.deadline {
            cap = cap.min(Instant::from_std(deadline));
        }
        let mut quiet = begun + limits.idle;
        let mut sending = Some(sink.request(out));
        loop {
            tokio::select! {
                biased;
                result = &mut answer => {
                    return result.unwrap_or_else(|_| Err(self.closed_error()));
                }
                () = cx.cancel.cancelled() => {
                    taken_back.reason = "cancelled by the caller";
                    return Err(McpError::Cancelled);
                }
                sent = async { match &mut sending {
                    Some(sending) => sending.await,
                    None => std::future::pending().await,
                } } => {
                    sending = None;
                    sent?;
                }
                () = activity.notified() => quiet = Instant::now() + limits.idle,
                () = tokio::time::sleep_until(quiet.min(cap)) => {
                    taken_back.reason = "timed out";
                    let after = if cap <= quiet { cap - begun } else { limits.idle };
                    return Err(McpError::Timeout { server: self.server.clone(), method, after });
                }
            }
        }
    }

    /// Why it ended.
    pub(crate) fn closed_error(&self) -> McpError {
        self.state().closed.clone().unwrap_or(McpError::Closed {
            server: self.server.clone(),
            reason: "the connection was dropped".to_owned(),
            stderr: String::new(),
        })
    }

    /// Ends a request that cannot be answered any more.
    pub(crate) fn fail(&self, id: u64, error: McpError) {
        if let Some(pending) = self.state().pending.remove(&id) {
            let _ = pending.done.send(Err(error));
        }
    }

    /// Whether a request still waits.
    pub(crate) fn waits(&self, id: u64) -> bool {
        self.state().pending.contains_key(&id)
    }

    /// Ends all requests; later ones fail at once. The first reason stays.
    pub(crate) fn close(&self, error: McpError) {
        let pending = {
            let mut state = self.state();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(error.clone());
            std::mem::take(&mut state.pending)
        };
        self.closed.store(true, Ordering::Release);
        for pending in pending.into_values() {
            let _ = pending.done.send(Err(error.clone()));
        }
        (self.heard)(Heard::Closed);
    }

    pub(crate) fn noise(&self) -> Noise {
        let noise = self.noise.lock().unwrap_or_else(PoisonError::into_inner);
        Noise {
            count: noise.0,
            last: noise.1.iter().cloned().collect(),
        }
    }

    pub(crate) fn count_noise(&self, text: &str) {
        let cut: String = text.chars().take(NOISE_WIDTH).collect();
        let cut = self.redact.apply(&cut);
        tracing::debug!(server = %self.server, line = %cut.escape_debug(), "not a message");
        let mut noise = self.noise.lock().unwrap_or_else(PoisonError::into_inner);
        noise.0 += 1;
        if noise.1.len() == NOISE_LINES {
            noise.1.pop_front();
        }
        noise.1.push_back(cut);
    }

    /// Takes one message in. `related` is the request on whose stream it came.
    pub(crate) fn incoming(&self, sink: &Arc<dyn Sink>, text: &str, related: Option<u64>) {
        match message::parse(text) {
            Incoming::Response { id, result } => self.answered(id, result, text),
            Incoming::Request { id, method, params } => {
                self.asked(sink, id.get().to_owned(), &method, params, related);
            }
            Incoming::Notification { method, params } => self.told(&method, params),
            Incoming::Noise => {
                // Some old servers answer with a batch.
                match serde_json::from_str::<Vec<&RawValue>>(text) {
                    Ok(batch) if !batch.is_empty() && batch[0].get().starts_with('{') => {
                        for one in batch {
                            self.incoming(sink, one.get(), related);
                        }
                    }
                    _ => self.count_noise(text),
                }
            }
        }
    }

    fn answered(&self, id: Option<&str>, result: Result<&RawValue, RpcError>, text: &str) {
        let pending = id
            .and_then(|id| id.parse::<u64>().ok())
            .and_then(|id| self.state().pending.remove(&id));
        match pending {
            Some(pending) => {
                let result = match result {
                    Ok(result) if pending.describes || failed(result) => {
                        Ok(self.redact.apply_json(result).into_owned())
                    }
                    Ok(result) => Ok(self.redact.apply_result(result).into_owned()),
                    Err(error) => Err(McpError::Rpc(RpcError {
                        code: error.code,
                        message: self.redact.apply(&error.message),
                        data: error
                            .data
                            .map(|data| self.redact.apply_json(&data).into_owned()),
                    })),
                };
                let _ = pending.done.send(result);
            }
            None => self.count_noise(text),
        }
    }

    fn told(&self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/progress" => {
                let Some(params) = params else { return };
                let token = raw::get(params.get(), "progressToken");
                let Some(token) = token.and_then(|raw| raw.get().parse::<u64>().ok()) else {
                    return;
                };
                let report = {
                    let state = self.state();
                    let Some(pending) = state.pending.get(&token) else {
                        return;
                    };
                    pending.activity.notify_one();
                    pending.progress.clone()
                };
                if let Some(report) = report {
                    report(&self.redact.apply_result(params));
                }
            }
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => (self.heard)(Heard::ListChanged),
            _ => (self.heard)(Heard::Notification {
                method: method.to_owned(),
                params: self.shown(params),
            }),
        }
    }

    fn asked(
        &self,
        sink: &Arc<dyn Sink>,
        id: String,
        method: &str,
        params: Option<&RawValue>,
        related: Option<u64>,
    ) {
        if method == "ping" {
            return sink.post(message::reply(&id, Ok(raw::raw("{}".to_owned()))));
        }
        let unknown = || RpcError::new(-32601, format!("method not found: {method}"));
        let Some(reverse) = self
            .reverse
            .clone()
            .filter(|r| r.serves(&self.server, method))
        else {
            return sink.post(message::reply(&id, Err(unknown())));
        };
        if self.reversing.fetch_add(1, Ordering::AcqRel) >= MAX_REVERSE {
            self.reversing.fetch_sub(1, Ordering::AcqRel);
            let busy = RpcError::new(-32000, "too many requests at once");
            return sink.post(message::reply(&id, Err(busy)));
        }
        let tag = self.tag_of(related);
        let (sink, peer) = (sink.clone(), self.me.clone());
        let (server, method) = (self.server.clone(), method.to_owned());
        let params = self.shown(params);
        tokio::spawn(async move {
            let result = reverse.call(&server, tag.as_deref(), &method, params).await;
            sink.post(message::reply(&id, result));
            if let Some(peer) = peer.upgrade() {
                peer.reversing.fetch_sub(1, Ordering::AcqRel);
            }
        });
    }

    /// What a server says on its own, which a model may read too.
    fn shown(&self, params: Option<&RawValue>) -> Option<Box<RawValue>> {
        Some(self.redact.apply_result(params?).into_owned())
    }

    /// Whose request the server's question belongs to: the one on whose stream it
    /// came, or the only one that is open.
    fn tag_of(&self, related: Option<u64>) -> Option<Str> {
        let state = self.state();
        if let Some(related) = related {
            return state.pending.get(&related)?.tag.clone();
        }
        let mut tags = state
            .pending
            .values()
            .filter_map(|pending| pending.tag.clone());
        let first = tags.next()?;
        tags.all(|tag| tag == first).then_some(first)
    }
}

/// Whether a call's result is an error in words.
fn failed(result: &RawValue) -> bool {
    raw::get(result.get(), "isError").is_some_and(|raw| raw.get() == "true")
}

/// Takes the request back when its future ends without an answer.
struct TakeBack<'a> {
    peer: &'a Peer,
    sink: &'a dyn Sink,
    id: u64,
    tell: bool,
    reason: &'static str,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        if self.peer.state().pending.remove(&self.id).is_some() && self.tell {
            self.sink.cancel(self.id, self.reason);
        }
    }
}
