//! One connection to one server: which era it is of, the handshake, and requests
//! with what its era wants in them.
//!
//! A server is asked first whether it speaks the newest, stateless revision
//! (`server/discover`). Any error, silence or exit means the older handshake, since
//! servers refuse an unknown method in every way there is. A server that exits on
//! the question is started once more and not asked again.

mod shake;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;
use toolcrib_core::Str;

use crate::auth::Logins;
use crate::context::{RequestContext, Reverse};
use crate::http::HttpSink;
use crate::manifest::ManifestTool;
use crate::peer::{Heard, Limits, Noise, Outgoing, Peer, Sink};
use crate::stdio::StdioSink;
use crate::{McpError, ServerConfig, raw};
use shake::{Attempt, initialize};

/// The newest, stateless revision.
const MODERN: &str = "2026-07-28";
/// The older ones, newest first.
const LEGACY: [&str; 5] = [
    "2025-11-25",
    "2025-06-18",
    "2025-03-26",
    "2024-11-05",
    "2024-10-07",
];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";

const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The revision is not one the server speaks; the error says which are.
const UNSUPPORTED_VERSION: i64 = -32022;
/// A header and the body differ, or one is missing.
const HEADER_MISMATCH: i64 = -32020;

/// How to connect.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) client_name: Str,
    pub(crate) client_version: Str,
    pub(crate) reverse: Option<Arc<dyn Reverse>>,
    pub(crate) logins: Logins,
    pub(crate) probe_timeout: Duration,
    pub(crate) older_first: bool,
    pub(crate) grace: Duration,
    pub(crate) max_message: usize,
    pub(crate) guard: Option<crate::Guard>,
}

/// What the server said of itself.
#[derive(Clone, Default)]
pub(crate) struct Handshake {
    pub(crate) server_info: Option<Box<RawValue>>,
    pub(crate) protocol_version: Str,
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: Option<Box<RawValue>>,
}

enum Link {
    Stdio(Arc<StdioSink>),
    Http(Arc<HttpSink>),
}

impl Link {
    fn sink(&self) -> Arc<dyn Sink> {
        match self {
            Link::Stdio(sink) => sink.clone(),
            Link::Http(sink) => sink.clone(),
        }
    }
}

/// A server that is up.
pub(crate) struct Connection {
    peer: Arc<Peer>,
    link: Link,
    sink: Arc<dyn Sink>,
    pub(crate) handshake: Handshake,
    modern: bool,
    /// The server did not bear to be asked for its era.
    pub(crate) skip_probe: bool,
    /// From the start to the end of the handshake.
    pub(crate) took: Duration,
    limits: Limits,
    options: Options,
    renewing: tokio::sync::Mutex<()>,
    /// Its tools were asked for since it started and last told of a change.
    pub(crate) listed: AtomicBool,
}

/// Makes the connection's listener anew for each process.
pub(crate) type Listener = Arc<dyn Fn(Heard) + Send + Sync>;

impl Connection {
    /// Starts or reaches the server and agrees on a revision.
    ///
    /// # Errors
    /// [`McpError`] with what the server printed, after the process is gone again.
    pub(crate) async fn open(
        config: &ServerConfig,
        options: &Options,
        heard: Listener,
        skip_probe: bool,
    ) -> Result<Connection, McpError> {
        let begun = Instant::now();
        let within = config.start_timeout;
        let mut attempt = Attempt {
            config,
            options,
            heard,
            link: None,
        };
        let shaken = tokio::time::timeout(within, attempt.shake(skip_probe)).await;
        let error = match (shaken, attempt.link.take()) {
            (Ok(Ok(shaken)), Some((peer, link))) => {
                let limits = Limits {
                    idle: config.call_timeout,
                    cap: config.call_cap,
                };
                let connection = Connection {
                    peer,
                    sink: link.sink(),
                    link,
                    handshake: shaken.handshake,
                    modern: shaken.modern,
                    skip_probe: shaken.skip_probe,
                    took: begun.elapsed(),
                    limits,
                    options: options.clone(),
                    renewing: tokio::sync::Mutex::default(),
                    listed: AtomicBool::new(false),
                };
                connection.listen().await;
                return Ok(connection);
            }
            (Ok(Err(error)), link) => {
                let said = close(link).await;
                match error {
                    McpError::Closed {
                        server,
                        reason,
                        stderr,
                    } => McpError::Start {
                        server,
                        reason,
                        stderr: if stderr.is_empty() { said } else { stderr },
                    },
                    error @ (McpError::Config(_)
                    | McpError::LoginNeeded { .. }
                    | McpError::Start { .. }) => error,
                    error => McpError::Start {
                        server: config.name.clone(),
                        reason: error.to_string(),
                        stderr: said,
                    },
                }
            }
            (_, link) => McpError::Start {
                server: config.name.clone(),
                reason: format!("no handshake within {} s", within.as_secs_f64()),
                stderr: close(link).await,
            },
        };
        Err(error)
    }

    pub(crate) fn server(&self) -> &Str {
        &self.peer.server
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_closed()
    }

    /// Why it ended.
    pub(crate) fn closed_error(&self) -> McpError {
        self.peer.closed_error()
    }

    pub(crate) fn noise(&self) -> Noise {
        self.peer.noise()
    }

    pub(crate) fn stderr(&self) -> String {
        self.sink.last_words()
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        match &self.link {
            Link::Stdio(sink) => Some(sink.pid),
            Link::Http(_) => None,
        }
    }

    /// Tells the transport which arguments travel as headers.
    pub(crate) fn know(&self, tools: &[Arc<ManifestTool>]) {
        if let Link::Http(sink) = &self.link {
            let marked = tools.iter().filter(|tool| !tool.headers.is_empty());
            let map = marked
                .map(|tool| (tool.name.clone(), tool.headers.clone()))
                .collect();
            *sink
                .params
                .write()
                .unwrap_or_else(std::sync::PoisonError::into_inner) = map;
        }
    }

    /// Sends a request and waits for its result.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Option<&RawValue>,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        let once = self.once(method, params, cx).await;
        let Err(McpError::SessionLost { .. }) = &once else {
            return once;
        };
        let repeatable = cx.repeatable || !matches!(method, "tools/call");
        self.renew().await?;
        if repeatable {
            self.once(method, params, cx).await
        } else {
            once
        }
    }

    async fn once(
        &self,
        method: &str,
        params: Option<&RawValue>,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        let out = outgoing(&self.peer, &self.options, self.modern, method, params, cx);
        let limits = Limits {
            idle: cx.idle_timeout.unwrap_or(self.limits.idle),
            ..self.limits
        };
        self.peer.request(&*self.sink, out, limits, cx).await
    }

    /// Begins a new session after the server forgot the old one. Whoever comes
    /// second finds it begun.
    async fn renew(&self) -> Result<(), McpError> {
        let Link::Http(sink) = &self.link else {
            return Ok(());
        };
        let lost = sink.session().id;
        let _one = self.renewing.lock().await;
        if sink.session().id != lost {
            return Ok(());
        }
        sink.forget();
        initialize(
            &self.peer,
            &*self.sink,
            &self.options,
            self.limits,
            sink_of(&self.link),
        )
        .await?;
        self.listen().await;
        Ok(())
    }

    /// Asks to be told of changes, in the era's way.
    async fn listen(&self) {
        let changes = |what: &str| {
            let capabilities = self.handshake.capabilities.as_ref();
            capabilities
                .and_then(|raw| raw::get(raw.get(), what))
                .and_then(|raw| raw::get(raw.get(), "listChanged"))
                .is_some_and(|raw| raw.get() == "true")
        };
        match &self.link {
            Link::Http(sink) if !self.modern => sink.open_standing().await,
            _ if self.modern => {
                let wanted: Vec<String> = ["tools", "prompts", "resources"]
                    .iter()
                    .filter(|what| changes(what))
                    .map(|what| format!(r#""{what}ListChanged":true"#))
                    .collect();
                if wanted.is_empty() {
                    return;
                }
                let params = raw::raw(format!(r#"{{"notifications":{{{}}}}}"#, wanted.join(",")));
                let (peer, sink) = (self.peer.clone(), self.sink.clone());
                let cx = RequestContext::default();
                let out = outgoing(
                    &peer,
                    &self.options,
                    true,
                    "subscriptions/listen",
                    Some(&params),
                    &cx,
                );
                // Open as long as the connection: it has no answer to wait for.
                let limits = Limits {
                    idle: FOREVER,
                    cap: FOREVER,
                };
                tokio::spawn(async move {
                    if let Err(error) = peer.request(&*sink, out, limits, &cx).await {
                        tracing::debug!(server = %peer.server, %error, "changes are not told");
                    }
                });
            }
            _ => {}
        }
    }

    /// Ends the connection and waits until the process is gone.
    pub(crate) async fn stop(&self) {
        match &self.link {
            Link::Stdio(sink) => {
                self.peer.close(McpError::Closed {
                    server: self.peer.server.clone(),
                    reason: "it was stopped".to_owned(),
                    stderr: String::new(),
                });
                sink.stop().await;
            }
            Link::Http(sink) => sink.stop().await,
        }
    }
}

fn sink_of(link: &Link) -> Option<&Arc<HttpSink>> {
    match link {
        Link::Http(sink) => Some(sink),
        Link::Stdio(_) => None,
    }
}

async fn close(link: Option<(Arc<Peer>, Link)>) -> String {
    match link {
        Some((_, Link::Stdio(sink))) => {
            sink.stop().await;
            sink.last_words()
        }
        Some((_, Link::Http(sink))) => {
            sink.stop().await;
            String::new()
        }
        None => String::new(),
    }
}

fn capabilities(options: &Options, server: &str) -> Box<RawValue> {
    match &options.reverse {
        Some(reverse) => reverse.capabilities(server),
        None => raw::raw("{}".to_owned()),
    }
}

fn client_info(options: &Options) -> String {
    format!(
        r#"{{"name":{},"version":{}}}"#,
        raw::quoted(&options.client_name),
        raw::quoted(&options.client_version)
    )
}

/// A request with what the era wants in its `_meta`.
fn outgoing(
    peer: &Peer,
    options: &Options,
    modern: bool,
    method: &str,
    params: Option<&RawValue>,
    cx: &RequestContext,
) -> Outgoing {
    let id = peer.next_id();
    let mut meta: Vec<(&str, String)> = Vec::new();
    if modern {
        let claimed = match &cx.capabilities {
            Some(claimed) => claimed.get().to_owned(),
            None => capabilities(options, &peer.server).get().to_owned(),
        };
        meta.push((VERSION_KEY, raw::quoted(MODERN)));
        meta.push((CLIENT_KEY, client_info(options)));
        meta.push((CAPABILITIES_KEY, claimed));
    }
    if cx.progress.is_some() {
        meta.push(("progressToken", id.to_string()));
    }
    Outgoing {
        id,
        method: method.to_owned(),
        // A caller's own token would be taken for one of ours.
        params: raw::with_meta(params, &meta, Some("progressToken")),
    }
}
