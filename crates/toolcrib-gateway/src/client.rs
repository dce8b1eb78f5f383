//! One client: what it can do, what it waits for, what we wait for from it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use toolcrib_core::{CancellationToken, Str, ToolName};
use toolcrib_mcp::RpcError;
use toolcrib_surface::Shelf;

use crate::http::ParamHeaders;
use crate::spill::Spill;
use crate::wire;

/// Messages that belong to one request of a client, or to none of them.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    sender: mpsc::UnboundedSender<String>,
    /// Whether anyone reads; what is sent meanwhile is dropped.
    open: Arc<AtomicBool>,
}

impl Lane {
    pub(crate) fn new() -> (Lane, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let open = Arc::new(AtomicBool::new(true));
        (Lane { sender, open }, receiver)
    }

    /// Sends a message; a client that does not read gets none.
    pub(crate) fn send(&self, message: String) {
        if self.is_open() {
            let _ = self.sender.send(message);
        }
    }

    /// Whether anyone reads.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire) && !self.sender.is_closed()
    }

    /// Begins to keep what is sent, or to drop it.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::Release);
    }
}

/// What a question is answered with.
type Reply = Result<Box<RawValue>, RpcError>;

/// What a client may ask to be told of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscription {
    pub(crate) lane: Option<Lane>,
    /// The id of the request that opened it.
    pub(crate) id: String,
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) uris: Vec<String>,
}

/// See the module's head.
pub(crate) struct Client {
    pub(crate) number: u64,
    /// Where everything goes that belongs to no request.
    pub(crate) main: Lane,
    /// The revision agreed on; empty before the handshake.
    pub(crate) version: Mutex<Str>,
    /// Its capabilities as received.
    pub(crate) capabilities: Mutex<Arc<RawValue>>,
    /// It has been through the handshake and may be told things.
    pub(crate) ready: AtomicBool,
    /// Arguments of its one request that came as headers too; over HTTP in the newest
    /// revision alone.
    pub(crate) params: OnceLock<ParamHeaders>,
    /// Requests under way, by the bytes of their ids.
    running: Mutex<HashMap<String, CancellationToken>>,
    /// Calls under way at servers, oldest first.
    pub(crate) lanes: Mutex<Vec<(u64, Str, Lane)>>,
    waiting: Mutex<HashMap<String, oneshot::Sender<Reply>>>,
    next: AtomicU64,
    /// Tools that were loaded, in the order of loading.
    pub(crate) loaded: Mutex<Vec<ToolName>>,
    /// The tool list that it was given last.
    pub(crate) listed: Mutex<Option<String>>,
    /// Results that were cut.
    pub(crate) spill: Mutex<Spill>,
    /// Log messages below this are kept from it.
    pub(crate) level: Mutex<u8>,
    pub(crate) subscriptions: Mutex<Vec<Subscription>>,
    /// Resources that it watches the older way.
    pub(crate) watched: Mutex<HashSet<String>>,
    /// Where resources were seen that no list names.
    pub(crate) seen: Mutex<VecDeque<(String, Str)>>,
    /// What its searches look at; it remembers searches that found nothing.
    pub(crate) shelf: Shelf,
}

/// Resources outside of lists that are remembered.
const SEEN: usize = 512;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    pub(crate) fn new(number: u64, main: Lane) -> Arc<Client> {
        Arc::new(Client {
            number,
            main,
            version: Mutex::new("".into()),
            params: OnceLock::new(),
            capabilities: Mutex::new(Arc::from(wire::raw("{}".to_owned()))),
            ready: AtomicBool::new(false),
            running: Mutex::default(),
            lanes: Mutex::default(),
            waiting: Mutex::default(),
            next: AtomicU64::new(1),
            loaded: Mutex::default(),
            listed: Mutex::default(),
            spill: Mutex::default(),
            level: Mutex::new(0),
            subscriptions: Mutex::default(),
            watched: Mutex::default(),
            seen: Mutex::default(),
            shelf: Shelf::new(),
        })
    }

    pub(crate) fn version(&self) -> Str {
        lock(&self.version).clone()
    }

    pub(crate) fn capabilities(&self) -> Arc<RawValue> {
        lock(&self.capabilities).clone()
    }

    /// Whether it can be asked by this method.
    pub(crate) fn answers(&self, method: &str) -> bool {
        can(self.capabilities().get(), method)
    }

    /// Notes a request under way.
    ///
    /// # Errors
    /// When one with the same id is.
    pub(crate) fn begin(&self, id: &str) -> Result<CancellationToken, RpcError> {
        let mut running = lock(&self.running);
        if running.contains_key(id) {
            let text = "a request with this id is under way";
            return Err(RpcError::new(wire::INVALID_REQUEST, text));
        }
        let token = CancellationToken::new();
        running.insert(id.to_owned(), token.clone());
        Ok(token)
    }

    pub(crate) fn end(&self, id: &str) {
        lock(&self.running).remove(id);
    }

    /// Cancels a request, if it is under way.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(token) = lock(&self.running).get(id) {
            token.cancel();
        }
    }

    /// Cancels everything: the client is gone.
    pub(crate) fn leave(&self) {
        for token in lock(&self.running).values() {
            token.cancel();
        }
        lock(&self.waiting).clear();
        lock(&self.subscriptions).clear();
        self.ready.store(false, Ordering::Release);
    }

    /// Asks the client something and waits for its answer. Dropped, the question is
    /// taken back.
    pub(crate) async fn ask(
        &self,
        lane: &Lane,
        method: &str,
        params: Option<&str>,
    ) -> Result<Box<RawValue>, RpcError> {
        if !lane.is_open() {
            let text = "the client has no stream open on which it could be asked";
            return Err(RpcError::new(wire::INTERNAL, text));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let id = format!("toolcrib-{number}");
        let (sender, receiver) = oneshot::channel();
        lock(&self.waiting).insert(id.clone(), sender);
        let asked = Asked {
            client: self,
            lane,
            id: &id,
        };
        lane.send(wire::request(&id, method, params));
        let answer = receiver.await;
        drop(asked);
        answer.unwrap_or_else(|_| Err(RpcError::new(wire::INTERNAL, "the client is gone")))
    }

    /// Takes an answer to a question of ours; one that nobody asked is dropped.
    pub(crate) fn answered(&self, id: &RawValue, result: Result<&RawValue, RpcError>) {
        let Ok(id) = serde_json::from_str::<String>(id.get()) else {
            return;
        };
        if let Some(waiting) = lock(&self.waiting).remove(&id) {
            let _ = waiting.send(result.map(ToOwned::to_owned));
        }
    }

    /// Remembers which server named an address.
    pub(crate) fn see(&self, uri: String, server: &Str) {
        let mut seen = lock(&self.seen);
        if seen.iter().any(|(known, _)| *known == uri) {
            return;
        }
        if seen.len() == SEEN {
            seen.pop_front();
        }
        seen.push_back((uri, server.clone()));
    }

    /// The lane for what a server says unasked: that of the newest call under way
    /// there, else the main one.
    pub(crate) fn lane_for(&self, server: &str) -> Lane {
        let lanes = lock(&self.lanes);
        let own = lanes.iter().rev().find(|(_, name, _)| **name == *server);
        own.map_or_else(|| self.main.clone(), |(_, _, lane)| lane.clone())
    }
}

/// Whether capabilities say that a client answers this method.
pub(crate) fn can(capabilities: &str, method: &str) -> bool {
    let wanted = match method {
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        "roots/list" => "roots",
        _ => return false,
    };
    wire::get(capabilities, wanted).is_some_and(|raw| raw.get() != "null")
}

/// A question to a client; dropped unanswered, it is taken back.
struct Asked<'a> {
    client: &'a Client,
    lane: &'a Lane,
    id: &'a str,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if lock(&self.client.waiting).remove(self.id).is_some() {
            let params = format!(r#"{{"requestId":{}}}"#, wire::quoted(self.id));
            let text = wire::notification("notifications/cancelled", Some(&params));
            self.lane.send(text);
        }
    }
}
