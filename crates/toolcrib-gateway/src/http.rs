//! The gateway over streamable HTTP, at one address.
//!
//! On `hyper` alone: what a request is answered with are bytes that are ready, so a
//! framework's extractors and typed bodies would only be in the way. An answer is
//! plain JSON unless something comes before it (progress, a question, a log line);
//! then it is the end of a stream.
//!
//! A page in a browser must not reach the gateway through its user: requests must
//! name a host that is this one, and those with an origin one that is allowed.

mod guard;
mod out;
mod params;
mod session;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use toolcrib_core::CancellationToken;
use toolcrib_mcp::RpcError;

use crate::client::{Client, Lane};
use crate::face::{LEGACY, MODERN, VERSION_KEY};
use crate::gateway::Gateway;
use crate::stdio::{Work, all};
use crate::wire::{self, Message};

pub use guard::{HttpOptions, HttpRefused};
use out::Out;
pub(crate) use params::ParamHeaders;
use session::Sessions;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// Longest body of a request.
const LONGEST: usize = 16 * 1024 * 1024;
/// How long a body may take to arrive.
const BODY: Duration = Duration::from_secs(30);

type Reply = Response<Out>;

struct Server {
    gateway: Arc<Gateway>,
    options: HttpOptions,
    sessions: Sessions,
}

impl Gateway {
    /// Serves HTTP until `stop` fires. The address is checked against the options
    /// before anything is accepted.
    ///
    /// # Errors
    /// When the listener fails, or when the options would leave it open to others
    /// without a token.
    pub async fn serve_http(
        self: &Arc<Self>,
        listener: TcpListener,
        options: HttpOptions,
        stop: CancellationToken,
    ) -> Result<(), HttpRefused> {
        let address = listener.local_addr().map_err(HttpRefused::Io)?;
        options.check(address)?;
        let server = Arc::new(Server {
            gateway: self.clone(),
            options: options.at(address),
            sessions: Sessions::default(),
        });
        let mut connections = tokio::task::JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let Ok((stream, _)) = accepted else {
                // Out of file descriptors, most likely: others may end meanwhile.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let _ = stream.set_nodelay(true);
            let server = server.clone();
            connections.spawn(async move {
                let service = service_fn(move |request| {
                    let server = server.clone();
                    async move { Ok::<_, Infallible>(server.serve(request).await) }
                });
                let served = hyper::server::conn::http1::Builder::new()
                    .timer(hyper_util::rt::TokioTimer::new())
                    .header_read_timeout(Duration::from_secs(30))
                    .serve_connection(TokioIo::new(stream), service);
                if let Err(error) = served.await {
                    tracing::debug!(%error, "a connection ended badly");
                }
            });
        }
        Ok(())
    }
}

impl HttpOptions {
    /// Listening there, with everything else as it is.
    fn at(mut self, address: SocketAddr) -> HttpOptions {
        self.local = Some(address);
        self
    }
}

impl Server {
    async fn serve(self: Arc<Self>, request: Request<Incoming>) -> Reply {
        let origin = request.headers().get("origin").cloned();
        let mut reply = self.clone().route(request).await;
        if let Some(origin) = origin
            && reply.status() != StatusCode::FORBIDDEN
        {
            let headers = reply.headers_mut();
            headers.insert("access-control-allow-origin", origin);
            let exposed = hyper::header::HeaderValue::from_static(SESSION);
            headers.insert("access-control-expose-headers", exposed);
        }
        reply
    }

    async fn route(self: Arc<Self>, request: Request<Incoming>) -> Reply {
        if let Err(why) = self.options.admits(request.headers()) {
            return said(StatusCode::FORBIDDEN, why);
        }
        if request.method() == Method::OPTIONS {
            return preflight();
        }
        if !self.options.knows(request.headers()) {
            let mut reply = said(StatusCode::UNAUTHORIZED, "a bearer token is needed");
            let scheme = hyper::header::HeaderValue::from_static("Bearer");
            reply.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return reply;
        }
        if !matches!(request.uri().path(), "/mcp" | "/") {
            return said(StatusCode::NOT_FOUND, "the gateway is at /mcp");
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()),
            Method::DELETE => self.delete(request.headers()),
            _ => not_allowed(),
        }
    }

    fn get(&self, headers: &HeaderMap) -> Reply {
        let Some(name) = text(headers, SESSION) else {
            return match text(headers, VERSION) {
                Some(MODERN) => not_allowed(),
                _ => said(
                    StatusCode::BAD_REQUEST,
                    "the header Mcp-Session-Id is missing",
                ),
            };
        };
        if !accepts(headers, "text/event-stream") {
            return said(StatusCode::NOT_ACCEPTABLE, "this is a text/event-stream");
        }
        match self.sessions.open_stream(name) {
            Ok(out) => out::stream(out),
            Err(status) => said(status, "there is no such session, or it is listened to"),
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Reply {
        match text(headers, SESSION) {
            Some(name) if self.sessions.end(name) => empty(StatusCode::NO_CONTENT),
            Some(_) => said(StatusCode::NOT_FOUND, "there is no such session"),
            None => said(
                StatusCode::BAD_REQUEST,
                "the header Mcp-Session-Id is missing",
            ),
        }
    }

    async fn post(&self, request: Request<Incoming>) -> Reply {
        let (head, body) = request.into_parts();
        let headers = &head.headers;
        if !text(headers, CONTENT_TYPE.as_str())
            .is_some_and(|kind| kind.starts_with("application/json"))
        {
            return said(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the body must be application/json",
            );
        }
        if !accepts(headers, "application/json") && !accepts(headers, "text/event-stream") {
            return said(
                StatusCode::NOT_ACCEPTABLE,
                "answers are application/json or text/event-stream",
            );
        }
        let too_long = || {
            said(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is longer than 16 MiB",
            )
        };
        // What says so itself is not waited for.
        if body.size_hint().lower() > LONGEST as u64 {
            return too_long();
        }
        let body = tokio::time::timeout(BODY, Limited::new(body, LONGEST).collect()).await;
        let body = match body {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => return too_long(),
            Ok(Err(_)) => return said(StatusCode::BAD_REQUEST, "the body did not arrive"),
            Err(_) => {
                return said(
                    StatusCode::REQUEST_TIMEOUT,
                    "the body did not arrive in time",
                );
            }
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return failed(
                StatusCode::BAD_REQUEST,
                None,
                wire::PARSE,
                "the body is not UTF-8",
            );
        };
        if let Some(items) = wire::batch(text) {
            return self.batch(headers, &items).await;
        }
        match wire::parse(text) {
            Err((id, error)) => failed(
                StatusCode::BAD_REQUEST,
                id.map(RawValue::get),
                error.code,
                &error.message,
            ),
            Ok(message) => match modern(headers, &message) {
                Err((id, error)) => reply(
                    StatusCode::BAD_REQUEST,
                    wire::answer(id.as_deref(), &Err(error)),
                ),
                Ok(true) => self.stateless(headers, text, &message).await,
                Ok(false) => self.in_session(headers, text, &message).await,
            },
        }
    }

    /// A request of the newest revision: nothing is kept between two of them.
    async fn stateless(&self, headers: &HeaderMap, text: &str, message: &Message<'_>) -> Reply {
        let (lane, messages) = Lane::new();
        let client = self.gateway.connect(lane.clone());
        let _ = client.params.set(ParamHeaders::of(headers));
        let Some(work) = self.gateway.work(&client, text) else {
            return empty(StatusCode::ACCEPTED);
        };
        let Message::Request(_) = message else {
            return empty(StatusCode::ACCEPTED);
        };
        self.answer(headers, &client, lane, messages, vec![work], true, false)
            .await
    }

    async fn in_session(&self, headers: &HeaderMap, text: &str, message: &Message<'_>) -> Reply {
        if let Some(version) = self::text(headers, VERSION)
            && !LEGACY.contains(&version)
        {
            let why = format!(
                "MCP-Protocol-Version {version:?} is not spoken here; spoken are {MODERN}, {}",
                LEGACY.join(", ")
            );
            return failed(StatusCode::BAD_REQUEST, None, wire::INVALID_REQUEST, &why);
        }
        if let Message::Request(request) = message
            && request.method == "initialize"
        {
            let name = self.sessions.begin(&self.gateway);
            let Some(client) = self.sessions.client(&name) else {
                return said(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "there are too many sessions",
                );
            };
            let Some(work) = self.gateway.work(&client, text) else {
                return empty(StatusCode::ACCEPTED);
            };
            let (lane, messages) = Lane::new();
            let mut reply = self
                .answer(headers, &client, lane, messages, vec![work], false, false)
                .await;
            if let Ok(name) = name.parse() {
                reply.headers_mut().insert(SESSION, name);
            }
            return reply;
        }
        let client = match self.session(headers) {
            Ok(client) => client,
            Err(reply) => return *reply,
        };
        let Some(work) = self.gateway.work(&client, text) else {
            return empty(StatusCode::ACCEPTED);
        };
        let (lane, messages) = Lane::new();
        self.answer(headers, &client, lane, messages, vec![work], false, false)
            .await
    }

    fn session(&self, headers: &HeaderMap) -> Result<Arc<Client>, Box<Reply>> {
        let Some(name) = text(headers, SESSION) else {
            let why = "the header Mcp-Session-Id is missing";
            let status = StatusCode::BAD_REQUEST;
            return Err(failed(status, None, wire::INVALID_REQUEST, why).into());
        };
        self.sessions.client(name).ok_or_else(|| {
            let why = "there is no such session; initialize anew";
            failed(StatusCode::NOT_FOUND, None, wire::INVALID_REQUEST, why).into()
        })
    }

    async fn batch(&self, headers: &HeaderMap, items: &[&RawValue]) -> Reply {
        let client = match self.session(headers) {
            Ok(client) => client,
            Err(reply) => return *reply,
        };
        let work: Vec<Work> = items
            .iter()
            .filter_map(|item| self.gateway.work(&client, item.get()))
            .collect();
        if work.is_empty() {
            return empty(StatusCode::ACCEPTED);
        }
        let (lane, messages) = Lane::new();
        self.answer(headers, &client, lane, messages, work, false, true)
            .await
    }

    /// Does the work. As long as nothing else is said, the answer is plain.
    #[allow(clippy::too_many_arguments)]
    async fn answer(
        &self,
        headers: &HeaderMap,
        client: &Arc<Client>,
        lane: Lane,
        mut messages: tokio::sync::mpsc::UnboundedReceiver<String>,
        work: Vec<Work>,
        modern: bool,
        batch: bool,
    ) -> Reply {
        // Who closes the connection of the newest revision takes the request back.
        let leaving = out::Leaving(modern.then(|| client.clone()));
        let mut task = tokio::spawn({
            let lane = lane.clone();
            async move { all(work, &lane).await }
        });
        drop(lane);
        let plain = |mut answers: Vec<String>| match (batch, answers.pop()) {
            (_, None) => empty(StatusCode::ACCEPTED),
            (true, Some(last)) => {
                answers.push(last);
                reply(StatusCode::OK, format!("[{}]", answers.join(",")))
            }
            (false, Some(answer)) => reply(status(&answer, modern), answer),
        };
        let streams = accepts(headers, "text/event-stream");
        let first = tokio::select! {
            biased;
            message = messages.recv(), if streams => message,
            answers = &mut task => {
                let answers = answers.unwrap_or_default();
                // Said before the answer, in the same breath.
                if let (true, Ok(message)) = (streams, messages.try_recv()) {
                    let out = out::ready(message, messages, answers);
                    return out::stream(out);
                }
                return plain(answers);
            }
        };
        match first {
            Some(first) => out::stream(out::pump(first, messages, task, leaving)),
            None => plain(task.await.unwrap_or_default()),
        }
    }
}

/// Whether a message is of the newest revision, its headers checked against it.
fn modern(headers: &HeaderMap, message: &Message<'_>) -> Result<bool, (Option<String>, RpcError)> {
    let header = text(headers, VERSION);
    let Message::Request(request) = message else {
        return Ok(header == Some(MODERN));
    };
    let params = request.params.map_or("{}", RawValue::get);
    let body = wire::at(params, &["_meta", VERSION_KEY]);
    let body: Option<String> = body.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let id = || Some(request.id.get().to_owned());
    if body.is_none() && header != Some(MODERN) {
        return Ok(false);
    }
    let mismatch = |why: String| Err((id(), RpcError::new(wire::HEADER_MISMATCH, why)));
    let Some(body) = body else {
        let why = format!("`_meta` must hold the protocol version as `{VERSION_KEY}`");
        return Err((id(), RpcError::new(wire::BAD_PARAMS, why)));
    };
    if header != Some(body.as_str()) {
        return mismatch("MCP-Protocol-Version is not the body's protocol version".to_owned());
    }
    if body == MODERN {
        if text(headers, METHOD) != Some(&request.method) {
            return mismatch("Mcp-Method is not the body's method".to_owned());
        }
        let key = match &*request.method {
            "tools/call" | "prompts/get" => Some("name"),
            "resources/read" => Some("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
            _ => None,
        };
        if let Some(named) = key.and_then(|key| wire::text(params, key))
            && text(headers, NAME).and_then(guard::decoded).as_deref() != Some(&named)
        {
            return mismatch("Mcp-Name is not what the body names".to_owned());
        }
        let capabilities = wire::at(
            params,
            &["_meta", "io.modelcontextprotocol/clientCapabilities"],
        );
        if capabilities.is_none_or(|raw| !raw.get().starts_with('{')) {
            let why = "`_meta` must hold the client's capabilities";
            return Err((id(), RpcError::new(wire::BAD_PARAMS, why)));
        }
    }
    Ok(true)
}

/// How an answer of the newest revision stands in HTTP; the older ones have one way.
fn status(answer: &str, modern: bool) -> StatusCode {
    let code = wire::at(answer, &["error", "code"]).and_then(|raw| raw.get().parse::<i64>().ok());
    match code {
        Some(wire::UNKNOWN_METHOD) if modern => StatusCode::NOT_FOUND,
        Some(wire::UNSUPPORTED_VERSION | wire::MISSING_CAPABILITY | wire::HEADER_MISMATCH)
            if modern =>
        {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Whether the client takes this kind of answer; one that does not say takes all.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let Some(accept) = text(headers, ACCEPT.as_str()) else {
        return true;
    };
    let group = kind.split('/').next().unwrap_or("");
    accept.split(',').any(|one| {
        let one = one.split(';').next().unwrap_or("").trim();
        one.eq_ignore_ascii_case(kind) || one == "*/*" || one == format!("{group}/*")
    })
}

fn reply(status: StatusCode, body: String) -> Reply {
    let mut reply = Response::new(Out::whole(Bytes::from(body)));
    *reply.status_mut() = status;
    let kind = hyper::header::HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

fn failed(status: StatusCode, id: Option<&str>, code: i64, why: &str) -> Reply {
    reply(status, wire::answer(id, &Err(RpcError::new(code, why))))
}

/// A refusal before there is a message to answer.
fn said(status: StatusCode, why: &str) -> Reply {
    failed(status, None, wire::INVALID_REQUEST, why)
}

fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(Out::whole(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

fn not_allowed() -> Reply {
    let mut reply = empty(StatusCode::METHOD_NOT_ALLOWED);
    let methods = hyper::header::HeaderValue::from_static("POST, GET, DELETE");
    reply.headers_mut().insert(ALLOW, methods);
    reply
}

fn preflight() -> Reply {
    let mut reply = empty(StatusCode::NO_CONTENT);
    let headers = reply.headers_mut();
    for (name, value) in [
        ("access-control-allow-methods", "POST, GET, DELETE, OPTIONS"),
        (
            "access-control-allow-headers",
            "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id",
        ),
        ("access-control-max-age", "600"),
    ] {
        headers.insert(name, hyper::header::HeaderValue::from_static(value));
    }
    reply
}
