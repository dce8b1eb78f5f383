//! A server behind a streamable HTTP endpoint.
//!
//! Each request is a POST of its own with a task that reads its answer, be it a
//! JSON body or a stream of events. Older revisions add a session, a standing
//! stream for what the server says unasked, and a stream that can be taken up
//! again; the newest has none of that. Which error means that the server forgot
//! the session is not agreed on among servers, so any refusal of a request with a
//! session that does not answer the request itself counts as one.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode, redirect};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolcrib_core::{BoxFuture, Str};

use crate::auth::Auth;
use crate::message::{self, Incoming};
use crate::peer::{Outgoing, Peer, Sink};
use crate::sse::Parser;
use crate::{McpError, headers, raw};

/// Bytes of an error's body that are shown.
const ERROR_SHOWN: usize = 600;
/// Wait before a stream is taken up again, where the server does not say.
const RECONNECT: Duration = Duration::from_secs(1);
/// Wait for the standing stream before the first request.
const STANDING_WAIT: Duration = Duration::from_secs(3);
/// A stream that ends this often in a row without a word is left alone.
const MAX_RECONNECTS: u32 = 5;

/// Names of methods whose subject goes into a header.
const NAMED: [(&str, &str); 6] = [
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    // Of the extension for tasks.
    ("tasks/get", "taskId"),
    ("tasks/update", "taskId"),
    ("tasks/cancel", "taskId"),
];

#[derive(Clone, Default)]
pub(crate) struct Session {
    pub(crate) id: Option<String>,
    /// The revision to name in the header.
    pub(crate) version: Option<Str>,
    /// The newest revision's rules: no session, no standing stream.
    pub(crate) modern: bool,
}

/// Arguments of each tool that travel as headers.
pub(crate) type ParamHeaders = HashMap<Str, Vec<(Vec<String>, String)>>;

pub(crate) struct HttpSink {
    client: reqwest::Client,
    url: String,
    fixed: HeaderMap,
    pub(crate) peer: Arc<Peer>,
    session: RwLock<Session>,
    pub(crate) params: RwLock<ParamHeaders>,
    running: Mutex<HashMap<u64, JoinHandle<()>>>,
    standing: Mutex<Option<JoinHandle<()>>>,
    pub(crate) auth: Auth,
    max_message: usize,
    me: Weak<HttpSink>,
}

impl HttpSink {
    pub(crate) fn new(
        url: String,
        fixed: &BTreeMap<String, String>,
        peer: Arc<Peer>,
        auth: Auth,
        max_message: usize,
    ) -> Result<Arc<HttpSink>, McpError> {
        let failed = |reason: String| McpError::Start {
            server: peer.server.clone(),
            reason,
            stderr: String::new(),
        };
        let mut map = HeaderMap::new();
        for (name, value) in fixed {
            let header = HeaderName::try_from(name.as_str());
            let (Ok(header), Ok(mut value)) = (header, HeaderValue::try_from(value.as_str()))
            else {
                return Err(failed(format!("the header `{name}` is not a valid one")));
            };
            value.set_sensitive(true);
            map.insert(header, value);
        }
        let client = client().map_err(&failed)?;
        Ok(Arc::new_cyclic(|me| HttpSink {
            client,
            url,
            fixed: map,
            peer,
            session: RwLock::default(),
            params: RwLock::default(),
            running: Mutex::default(),
            standing: Mutex::default(),
            auth,
            max_message,
            me: me.clone(),
        }))
    }

    pub(crate) fn session(&self) -> Session {
        self.session
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sets what later requests say of the session; `None` for the id keeps it.
    pub(crate) fn agree(&self, version: &Str, modern: bool) {
        let mut session = self.session.write().unwrap_or_else(PoisonError::into_inner);
        session.version = Some(version.clone());
        session.modern = modern;
        if modern {
            session.id = None;
        }
    }

    /// Forgets the session before a new handshake.
    pub(crate) fn forget(&self) {
        *self.session.write().unwrap_or_else(PoisonError::into_inner) = Session::default();
        self.close_standing();
    }

    fn close_standing(&self) {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = standing.take() {
            task.abort();
        }
    }

    /// Opens the stream for what the server says unasked, and waits a moment for it:
    /// what is said before it is open is lost. Some servers hold the answer back
    /// until there is something to say.
    pub(crate) async fn open_standing(&self) {
        let me = self.me.clone();
        let (opened, open) = oneshot::channel();
        let task = tokio::spawn(async move { standing(me, opened).await });
        {
            let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(old) = standing.replace(task) {
                old.abort();
            }
        }
        let _ = tokio::time::timeout(STANDING_WAIT, open).await;
    }

    /// Ends all streams and the session.
    pub(crate) async fn stop(&self) {
        self.close_standing();
        let session = self.session();
        if session.id.is_some() {
            let bye = self.prepare(Method::DELETE, &session).send();
            let _ = tokio::time::timeout(Duration::from_secs(1), bye).await;
        }
        self.peer.close(McpError::Closed {
            server: self.peer.server.clone(),
            reason: "it was disconnected".to_owned(),
            stderr: String::new(),
        });
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, task) in running.drain() {
            task.abort();
        }
    }

    fn prepare(&self, method: Method, session: &Session) -> RequestBuilder {
        let mut request = self.client.request(method, &self.url);
        request = request.header(ACCEPT, "application/json, text/event-stream");
        if let Some(version) = &session.version {
            request = request.header("MCP-Protocol-Version", &**version);
        }
        if let Some(id) = &session.id {
            request = request.header("Mcp-Session-Id", id);
        }
        // The entry's own headers last: what a person wrote wins.
        request.headers(self.fixed.clone())
    }

    fn post_message(
        &self,
        text: String,
        out: Option<&Outgoing>,
        session: &Session,
    ) -> RequestBuilder {
        let mut request = self.prepare(Method::POST, session);
        if let Some(out) = out {
            request = request.header("Mcp-Method", &out.method);
            let params = out.params.as_deref().unwrap_or("{}");
            if let Some((_, key)) = NAMED.iter().find(|(method, _)| *method == out.method)
                && let Some(name) = raw::text(params, key)
            {
                request = request.header("Mcp-Name", headers::encode(&name));
                if out.method == "tools/call" && session.modern {
                    for (name, value) in self.param_headers(&name, params) {
                        request = request.header(name, value);
                    }
                }
            }
        }
        request.header(CONTENT_TYPE, "application/json").body(text)
    }

    fn param_headers(&self, tool: &str, params: &str) -> Vec<(String, String)> {
        let known = self.params.read().unwrap_or_else(PoisonError::into_inner);
        let Some(marked) = known.get(tool) else {
            return Vec::new();
        };
        let arguments = raw::get(params, "arguments")
            .and_then(|raw| serde_json::from_str::<serde_json::Value>(raw.get()).ok());
        let Some(arguments) = arguments else {
            return Vec::new();
        };
        marked
            .iter()
            .filter_map(|(path, header)| {
                let value = path
                    .iter()
                    .try_fold(&arguments, |value, key| value.get(key))?;
                Some((format!("Mcp-Param-{header}"), headers::scalar(value)?))
            })
            .collect()
    }

    /// Sends one message, logging in or stepping up where that is asked for.
    async fn exchange(
        &self,
        text: &str,
        out: Option<&Outgoing>,
        session: &Session,
    ) -> Result<Response, McpError> {
        let mut rounds = 0;
        loop {
            let mut request = self.post_message(text.to_owned(), out, session);
            let token = self.auth.token().await;
            if let Some(token) = &token {
                request = request.bearer_auth(token);
            }
            let response = request
                .send()
                .await
                .map_err(|error| self.unreachable(&error))?;
            let status = response.status();
            if status != StatusCode::UNAUTHORIZED && status != StatusCode::FORBIDDEN {
                return Ok(response);
            }
            let challenge = response
                .headers()
                .get_all("WWW-Authenticate")
                .iter()
                .filter_map(|value| value.to_str().ok())
                .collect::<Vec<_>>()
                .join(", ");
            rounds += 1;
            let status = status.as_u16();
            let sent = token.as_deref();
            if !self.auth.answer(status, &challenge, sent, rounds).await? {
                return Ok(response);
            }
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> McpError {
        use std::error::Error as _;
        // The error's own text holds the address, which may hold a key.
        let mut cause = String::new();
        let mut source = error.source();
        while let Some(inner) = source {
            cause = inner.to_string();
            source = inner.source();
        }
        let what = if error.is_connect() {
            "cannot connect"
        } else if error.is_timeout() {
            "timed out"
        } else {
            "the request failed"
        };
        let reason = format!("{what} to {}: {cause}", crate::config::shown_url(&self.url));
        McpError::Closed {
            server: self.peer.server.clone(),
            reason: self.peer.redact.apply(&reason),
            stderr: String::new(),
        }
    }

    /// Carries one request through to its answer.
    async fn carry(self: Arc<Self>, out: Outgoing) {
        let id = out.id;
        let result = self.carry_inner(&out).await;
        let error = match result {
            Ok(()) => McpError::Protocol {
                server: self.peer.server.clone(),
                reason: format!("the answer to `{}` never came", out.method),
            },
            Err(error) => error,
        };
        self.peer.fail(id, error);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&id);
    }

    async fn carry_inner(self: &Arc<Self>, out: &Outgoing) -> Result<(), McpError> {
        let session = self.session();
        let response = self.exchange(&out.text(), Some(out), &session).await?;
        let status = response.status();
        if out.method == "initialize" && status.is_success() {
            let id = response.headers().get("Mcp-Session-Id");
            let id = id.and_then(|value| value.to_str().ok()).map(str::to_owned);
            let mut session = self.session.write().unwrap_or_else(PoisonError::into_inner);
            session.id = id;
        }
        if is_stream(&response) && status.is_success() {
            return self.follow(response, out, &session).await;
        }
        let body = self.body(response).await?;
        let text = String::from_utf8_lossy(&body);
        let sink: Arc<dyn Sink> = self.clone();
        if status.is_success() {
            self.peer.incoming(&sink, text.trim(), Some(out.id));
            return Ok(());
        }
        let own = match message::parse(text.trim()) {
            Incoming::Response {
                id: Some(id),
                result: Err(error),
            } if id == out.id.to_string() => Some(error),
            // An error without an id answers the request that got it.
            Incoming::Response {
                id: None,
                result: Err(error),
            } if session.id.is_none() => Some(error),
            _ => None,
        };
        if let Some(error) = own {
            return Err(McpError::Rpc(error));
        }
        let lost = matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND);
        if lost && session.id.is_some() {
            return Err(McpError::SessionLost {
                server: self.peer.server.clone(),
                method: out.method.clone(),
            });
        }
        let shown: String = text.trim().chars().take(ERROR_SHOWN).collect();
        Err(McpError::Http {
            server: self.peer.server.clone(),
            status: status.as_u16(),
            body: self.peer.redact.apply(&shown),
        })
    }

    async fn body(&self, response: Response) -> Result<Vec<u8>, McpError> {
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| self.unreachable(&error))?;
            if body.len() + chunk.len() > self.max_message {
                return Err(self.too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn too_large(&self) -> McpError {
        McpError::TooLarge {
            server: self.peer.server.clone(),
            limit: self.max_message,
        }
    }

    /// Reads a request's stream to its answer; a stream that ends early is taken up
    /// again where the server gave it a place.
    async fn follow(
        self: &Arc<Self>,
        mut response: Response,
        out: &Outgoing,
        session: &Session,
    ) -> Result<(), McpError> {
        let mut reader = Parser::new(self.max_message);
        let mut last_id: Option<String> = None;
        let mut quiet_ends = 0;
        loop {
            let (seen, end) = self
                .drain(response, &mut reader, &mut last_id, Some(out.id))
                .await;
            if !self.peer.waits(out.id) {
                return Ok(());
            }
            if let Some(error @ McpError::TooLarge { .. }) = end {
                return Err(error);
            }
            quiet_ends = if seen { 0 } else { quiet_ends + 1 };
            let Some(place) = last_id.clone().filter(|_| !session.modern) else {
                return end.map_or(Ok(()), Err);
            };
            loop {
                if quiet_ends > MAX_RECONNECTS {
                    return end.map_or(Ok(()), Err);
                }
                tokio::time::sleep(reader.retry.map_or(RECONNECT, Duration::from_millis)).await;
                let again = self.get(session, Some(&place)).await;
                if let Ok(again) = again
                    && again.status().is_success()
                    && is_stream(&again)
                {
                    response = again;
                    break;
                }
                quiet_ends += 1;
            }
            let retry = reader.retry;
            reader = Parser::new(self.max_message);
            reader.retry = retry;
        }
    }

    async fn get(&self, session: &Session, last_id: Option<&str>) -> Result<Response, McpError> {
        let mut request = self.prepare(Method::GET, session);
        request = request.header(ACCEPT, "text/event-stream");
        if let Some(id) = last_id {
            request = request.header("Last-Event-ID", id);
        }
        if let Some(token) = self.auth.token().await {
            request = request.bearer_auth(token);
        }
        request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))
    }

    /// Hands all messages of a stream on; says whether there were any, and why it
    /// ended if not in order.
    async fn drain(
        self: &Arc<Self>,
        response: Response,
        reader: &mut Parser,
        last_id: &mut Option<String>,
        related: Option<u64>,
    ) -> (bool, Option<McpError>) {
        let sink: Arc<dyn Sink> = self.clone();
        let mut seen = false;
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => return (seen, Some(self.unreachable(&error))),
            };
            let Ok(events) = reader.push(&chunk) else {
                return (seen, Some(self.too_large()));
            };
            for event in events {
                seen = true;
                if event.id.is_some() {
                    *last_id = event.id;
                }
                if !event.data.trim().is_empty() {
                    self.peer.incoming(&sink, &event.data, related);
                }
            }
            if related.is_some_and(|id| !self.peer.waits(id)) {
                return (seen, None);
            }
        }
        (seen, None)
    }
}

/// Keeps the standing stream open as long as the session lasts.
async fn standing(me: Weak<HttpSink>, opened: oneshot::Sender<()>) {
    let mut opened = Some(opened);
    let mut last_id: Option<String> = None;
    let mut retry = None;
    let mut failures = 0;
    while failures < MAX_RECONNECTS {
        let Some(sink) = me.upgrade() else { return };
        let session = sink.session();
        let answer = sink.get(&session, last_id.as_deref()).await;
        opened.take();
        match answer {
            Ok(response) if response.status().is_success() && is_stream(&response) => {
                let mut reader = Parser::new(sink.max_message);
                reader.retry = retry;
                let (seen, _) = sink.drain(response, &mut reader, &mut last_id, None).await;
                retry = reader.retry;
                failures = if seen { 0 } else { failures + 1 };
            }
            // The server has no such stream: most have not.
            Ok(response) if response.status().is_client_error() => return,
            _ => failures += 1,
        }
        drop(sink);
        tokio::time::sleep(retry.map_or(RECONNECT, Duration::from_millis)).await;
    }
}

impl Sink for HttpSink {
    fn request(&self, out: Outgoing) -> BoxFuture<'_, Result<(), McpError>> {
        let id = out.id;
        if let Some(me) = self.me.upgrade() {
            // The task's own end removes it; hold the lock so that it is there before.
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.insert(id, tokio::spawn(me.carry(out)));
        }
        Box::pin(async { Ok(()) })
    }

    fn post(&self, text: String) {
        let Some(me) = self.me.upgrade() else { return };
        tokio::spawn(async move {
            let session = me.session();
            let sent = me.exchange(&text, None, &session);
            if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(30), sent).await {
                tracing::debug!(server = %me.peer.server, %error, "a message was not taken");
            }
        });
    }

    fn cancel(&self, id: u64, reason: &str) {
        let task = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.remove(&id)
        };
        if let Some(task) = task {
            task.abort();
        }
        // The newest revision takes the closed stream for it.
        let session = self.session();
        if !session.modern && session.version.is_some() {
            let params = format!(r#"{{"requestId":{id},"reason":{}}}"#, raw::quoted(reason));
            self.post(message::notification(
                "notifications/cancelled",
                Some(&params),
            ));
        }
    }

    fn last_words(&self) -> String {
        String::new()
    }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// A client that keeps connections, not cookies. A redirection to another origin is
/// not followed: an entry's headers are meant for its own.
fn client() -> Result<reqwest::Client, String> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let policy = redirect::Policy::custom(|attempt| {
        let from = attempt.previous().first();
        let same = from.is_some_and(|from| from.origin() == attempt.url().origin());
        if same && attempt.previous().len() < 5 {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    reqwest::Client::builder()
        .redirect(policy)
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("toolcrib/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}
