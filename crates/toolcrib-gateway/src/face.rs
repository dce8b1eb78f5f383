//! What a client says, and what it is answered.
//!
//! Both eras on one face: a request that names its revision in `_meta` is of the
//! newest, stateless one; everything else belongs to a handshake. Params and results
//! pass as the bytes they came in; only names, addresses and what the eras add are
//! replaced. Typed models of the protocol drop keys, so there are none here.

mod ask;
mod call;
mod forward;
mod instructions;
mod lists;
mod resources;
mod search;
mod tell;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::value::RawValue;
use toolcrib_core::CancellationToken;
use toolcrib_mcp::RpcError;

use crate::backend::Backend;
use crate::client::{Client, Lane, lock};
use crate::gateway::{Gateway, Mode};
use crate::wire::{self, Message, Request};

/// The newest, stateless revision.
pub(crate) const MODERN: &str = "2026-07-28";
/// The ones with a handshake, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// A first list waits this long for servers of which nothing is known.
const FIRST_LIST: Duration = Duration::from_millis(700);

/// The first word of a server that is passed through is waited for this long.
const FIRST_MEETING: Duration = Duration::from_secs(30);

/// The circumstances of one request.
pub(crate) struct Cx {
    pub(crate) client: Arc<Client>,
    pub(crate) lane: Lane,
    pub(crate) modern: bool,
    pub(crate) capabilities: Arc<RawValue>,
    pub(crate) cancel: CancellationToken,
    pub(crate) backend: Arc<Backend>,
    /// The client's own progress token.
    pub(crate) progress: Option<String>,
    /// The id, as it came.
    pub(crate) id: String,
}

/// An answer: a result, an error, or none since the client took the request back.
pub(crate) type Answer = Result<Option<Box<RawValue>>, RpcError>;

pub(crate) fn bad(text: impl Into<String>) -> RpcError {
    RpcError::new(wire::BAD_PARAMS, text)
}

/// What was read of a message, so that a request is on record before the next
/// message is looked at.
pub(crate) enum Accepted {
    /// Nothing is owed.
    Nothing,
    /// An answer is owed at once.
    Answer(String),
    /// A request is under way.
    Request {
        id: String,
        method: String,
        params: Option<Box<RawValue>>,
        cancel: CancellationToken,
    },
}

impl Gateway {
    /// Looks at one message. Notifications and answers are dealt with here, in the
    /// order in which they come.
    pub(crate) fn accept(&self, client: &Arc<Client>, text: &str) -> Accepted {
        match wire::parse(text) {
            Err((id, error)) => Accepted::Answer(wire::answer(id.map(RawValue::get), &Err(error))),
            Ok(Message::Answer { id, result }) => {
                client.answered(id, result);
                Accepted::Nothing
            }
            Ok(Message::Notification { method, params }) => {
                self.notified(client, &method, params);
                Accepted::Nothing
            }
            Ok(Message::Request(Request { id, method, params })) => match client.begin(id.get()) {
                Ok(cancel) => Accepted::Request {
                    id: id.get().to_owned(),
                    method: method.into_owned(),
                    params: params.map(ToOwned::to_owned),
                    cancel,
                },
                Err(error) => Accepted::Answer(wire::answer(Some(id.get()), &Err(error))),
            },
        }
    }

    fn notified(&self, client: &Arc<Client>, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/initialized" => client.ready.store(true, Ordering::Release),
            "notifications/cancelled" => {
                let id = params.and_then(|raw| wire::get(raw.get(), "requestId"));
                if let Some(id) = id {
                    client.cancel(id.get());
                }
            }
            _ => {}
        }
    }

    /// Answers one request; `None` when the client took it back.
    pub(crate) async fn respond(
        self: &Arc<Self>,
        client: &Arc<Client>,
        lane: &Lane,
        (id, method): (&str, &str),
        params: Option<&RawValue>,
        cancel: CancellationToken,
    ) -> Option<String> {
        let answer = self
            .dispatch(client, lane, (id, method), params, cancel)
            .await;
        client.end(id);
        match answer {
            Ok(None) => None,
            Ok(Some(result)) => Some(wire::answer(Some(id), &Ok(result))),
            Err(error) => Some(wire::answer(Some(id), &Err(error))),
        }
    }

    async fn dispatch(
        self: &Arc<Self>,
        client: &Arc<Client>,
        lane: &Lane,
        (id, method): (&str, &str),
        params: Option<&RawValue>,
        cancel: CancellationToken,
    ) -> Answer {
        let text = params.map_or("{}", RawValue::get);
        if params.is_some() && wire::entries(text).is_none() {
            return Err(bad("`params` must be an object"));
        }
        let meta = wire::get(text, "_meta");
        let key = |key: &str| meta.and_then(|meta| wire::get(meta.get(), key));
        let modern = match key(VERSION_KEY) {
            None => false,
            Some(version) if version.get() == wire::quoted(MODERN) => true,
            Some(version) => return Err(unsupported(version.get())),
        };
        let capabilities = match key(CAPABILITIES_KEY) {
            Some(raw) if modern && wire::entries(raw.get()).is_some() => Arc::from(raw.to_owned()),
            _ if modern => {
                return Err(bad(format!(
                    "`_meta` must hold the client's capabilities as `{CAPABILITIES_KEY}`"
                )));
            }
            _ => client.capabilities(),
        };
        if method == "initialize" && !modern {
            return tokio::select! {
                biased;
                () = cancel.cancelled() => Ok(None),
                answer = self.initialize(client, text) => answer.map(Some),
            };
        }
        let cx = Cx {
            client: client.clone(),
            lane: lane.clone(),
            modern,
            backend: self.backend(&capabilities, modern),
            capabilities,
            cancel: cancel.clone(),
            progress: key("progressToken").map(|raw| raw.get().to_owned()),
            id: id.to_owned(),
        };
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(None),
            answer = self.serve(&cx, method, text) => answer?,
        };
        Ok(answer.map(|result| self.finish(&cx, method, result)))
    }

    async fn serve(self: &Arc<Self>, cx: &Cx, method: &str, params: &str) -> Answer {
        match method {
            "ping" if !cx.modern => return Ok(Some(wire::raw("{}".to_owned()))),
            "server/discover" if cx.modern => return self.discover(cx).await.map(Some),
            "subscriptions/listen" if cx.modern => return self.listen(cx, params).await,
            "initialize"
            | "ping"
            | "logging/setLevel"
            | "resources/subscribe"
            | "resources/unsubscribe"
                if cx.modern =>
            {
                return Err(unknown(method));
            }
            _ => {}
        }
        // A list as the server gives it would show what is not offered.
        let ours = method == "tools/list" && self.options.withholds();
        if let Some(server) = self.only_server().filter(|_| !ours) {
            let server = server.name.clone();
            return self.pass(cx, &server, method, params).await;
        }
        match method {
            "tools/list" => self.list_tools(cx).await.map(Some),
            "tools/call" => self.call_tool(cx, params).await,
            "prompts/list" => self.list_prompts(cx).await.map(Some),
            "prompts/get" => self.get_prompt(cx, params).await,
            "resources/list" => self.list_resources(cx).await.map(Some),
            "resources/templates/list" => self.list_templates(cx).await.map(Some),
            "resources/read" => self.read_resource(cx, params).await,
            "resources/subscribe" | "resources/unsubscribe" => {
                self.watch_resource(cx, method, params).await
            }
            "completion/complete" => self.complete(cx, params).await,
            "logging/setLevel" => self.set_level(cx, params).await.map(Some),
            _ => Err(unknown(method)),
        }
    }

    /// What the newest revision wants in each result, and the older ones do not know.
    fn finish(&self, cx: &Cx, method: &str, result: Box<RawValue>) -> Box<RawValue> {
        let has = |key: &str| wire::get(result.get(), key).is_some();
        if !cx.modern {
            let added = ["resultType", "ttlMs", "cacheScope"];
            // Results of servers of the newest revision carry them.
            return match has("resultType") {
                true => wire::with(result.get(), &[], &added),
                false => result,
            };
        }
        let mut set: Vec<(&str, &str)> = Vec::new();
        if !has("resultType") {
            set.push(("resultType", "\"complete\""));
        }
        let listed = method.ends_with("/list") || method == "resources/read";
        if listed && !has("ttlMs") {
            set.extend([("ttlMs", "0"), ("cacheScope", "\"private\"")]);
        }
        match set.is_empty() {
            true => result,
            false => wire::with(result.get(), &set, &[]),
        }
    }

    async fn initialize(
        self: &Arc<Self>,
        client: &Arc<Client>,
        params: &str,
    ) -> Result<Box<RawValue>, RpcError> {
        let Some(asked) = wire::text(params, "protocolVersion") else {
            return Err(bad(
                "`protocolVersion` must be a text such as \"2025-11-25\"",
            ));
        };
        let version = LEGACY.into_iter().find(|known| *known == asked);
        let version = version.unwrap_or(LEGACY[0]);
        if let Some(raw) = wire::get(params, "capabilities") {
            *lock(&client.capabilities) = Arc::from(raw.to_owned());
        }
        *lock(&client.version) = version.into();
        let backend = self.backend_of(client);
        backend.relay.join(client);
        self.meet(&backend).await;
        let about = self.about(&backend);
        Ok(wire::raw(format!(
            r#"{{"protocolVersion":"{version}","capabilities":{},"serverInfo":{}{}}}"#,
            about.capabilities.get(),
            about.info.get(),
            about.instructions_member(),
        )))
    }

    /// Begins to learn what is not known. Where one server is passed through, its own
    /// words are waited for, as a client without us would.
    async fn meet(&self, backend: &Arc<Backend>) {
        if let Some(server) = self.only_server()
            && backend.unread(&self.options)
        {
            let learnt = backend.fleet.refresh(&server.name);
            match tokio::time::timeout(FIRST_MEETING, learnt).await {
                Ok(Ok(_)) => backend.changed(),
                Ok(Err(error)) => {
                    tracing::warn!(server = %server.name, %error, "it cannot be listed")
                }
                Err(_) => tracing::warn!(server = %server.name, "it is slow to start"),
            }
        }
        backend.learn(&self.options);
    }

    async fn discover(self: &Arc<Self>, cx: &Cx) -> Result<Box<RawValue>, RpcError> {
        self.meet(&cx.backend).await;
        let about = self.about(&cx.backend);
        Ok(wire::raw(format!(
            r#"{{"resultType":"complete","supportedVersions":["{MODERN}"],"capabilities":{}{},"ttlMs":0,"cacheScope":"private","_meta":{{"{SERVER_KEY}":{}}}}}"#,
            about.capabilities.get(),
            about.instructions_member(),
            about.info.get(),
        )))
    }
}

pub(crate) fn unknown(method: &str) -> RpcError {
    RpcError::new(wire::UNKNOWN_METHOD, format!("Method not found: {method}"))
}

fn unsupported(asked: &str) -> RpcError {
    let mut error = RpcError::new(wire::UNSUPPORTED_VERSION, "Unsupported protocol version");
    let data = format!(r#"{{"supported":["{MODERN}"],"requested":{asked}}}"#);
    error.data = Some(wire::raw(data));
    error
}

impl Gateway {
    /// Whether clients see the servers' tools in their list from the start.
    pub(crate) fn lists_all(&self) -> bool {
        matches!(self.options.mode, Mode::Eager | Mode::Transparent)
    }
}
