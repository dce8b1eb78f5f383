//! Starting a server and agreeing on a revision with it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use toolcrib_core::Str;

use super::{
    FOREVER, HEADER_MISMATCH, Handshake, LEGACY, Link, Listener, MODERN, Options,
    UNSUPPORTED_VERSION, capabilities, client_info, close, outgoing, sink_of,
};
use crate::auth::Auth;
use crate::config::{Resolved, ResolvedTransport};
use crate::context::RequestContext;
use crate::http::HttpSink;
use crate::peer::{Limits, Peer, Sink};
use crate::stdio::{Program, StdioSink};
use crate::{McpError, RpcError, ServerConfig, message, raw};

pub(super) struct Shaken {
    pub(super) handshake: Handshake,
    pub(super) modern: bool,
    pub(super) skip_probe: bool,
}

type LinkParts = (Arc<Peer>, Arc<dyn Sink>, Option<Arc<HttpSink>>);

impl Shaken {
    fn modern(handshake: Handshake) -> Shaken {
        Shaken {
            handshake,
            modern: true,
            skip_probe: false,
        }
    }
}

/// A connection in the making; holds what must be closed when it fails.
pub(super) struct Attempt<'a> {
    pub(super) config: &'a ServerConfig,
    pub(super) options: &'a Options,
    pub(super) heard: Listener,
    pub(super) link: Option<(Arc<Peer>, Link)>,
}

impl Attempt<'_> {
    async fn connect(&mut self) -> Result<(), McpError> {
        let Resolved { transport, redact } = self.config.resolve()?;
        let heard = self.heard.clone();
        let peer = Peer::new(
            self.config.name.clone(),
            redact,
            self.options.reverse.clone(),
            Box::new(move |event| heard(event)),
        );
        let link = match transport {
            ResolvedTransport::Stdio {
                command,
                args,
                env,
                cwd,
            } => {
                let program = Program {
                    command,
                    args,
                    env,
                    cwd,
                    grace: self.options.grace,
                    max_message: self.options.max_message,
                    guard: self.options.guard.clone(),
                };
                Link::Stdio(StdioSink::start(program, peer.clone()).await?)
            }
            ResolvedTransport::Http { url, headers } => {
                let fixed = headers
                    .keys()
                    .any(|name| name.eq_ignore_ascii_case("authorization"));
                let auth = Auth::new(
                    self.config.name.clone(),
                    url.clone(),
                    self.config.oauth.clone(),
                    self.options.logins.clone(),
                    fixed,
                );
                Link::Http(HttpSink::new(
                    url,
                    &headers,
                    peer.clone(),
                    auth,
                    self.options.max_message,
                )?)
            }
        };
        self.link = Some((peer, link));
        Ok(())
    }

    fn parts(&self) -> Result<LinkParts, McpError> {
        match &self.link {
            Some((peer, link)) => Ok((peer.clone(), link.sink(), sink_of(link).cloned())),
            None => Err(McpError::Cancelled),
        }
    }

    pub(super) async fn shake(&mut self, mut skip_probe: bool) -> Result<Shaken, McpError> {
        self.connect().await?;
        // The start has a limit as a whole.
        let limits = Limits {
            idle: FOREVER,
            cap: FOREVER,
        };
        if self.options.older_first {
            let (peer, sink, http) = self.parts()?;
            match initialize(&peer, &*sink, self.options, limits, http.as_ref()).await {
                Ok(handshake) => {
                    return Ok(Shaken {
                        handshake,
                        modern: false,
                        skip_probe,
                    });
                }
                Err(error @ McpError::LoginNeeded { .. }) => return Err(error),
                Err(error @ McpError::Closed { .. }) if http.is_some() => return Err(error),
                // It may have ended because it does not know the older handshake.
                Err(McpError::Closed { .. }) if !skip_probe => {
                    close(self.link.take()).await;
                    self.connect().await?;
                }
                Err(error) if skip_probe => return Err(error),
                Err(_) => {
                    if let Some(http) = http {
                        http.forget();
                    }
                }
            }
        }
        let mut silent = false;
        if !skip_probe {
            match self.probe(self.options.probe_timeout, limits).await? {
                Probe::Modern(handshake) => return Ok(Shaken::modern(handshake)),
                Probe::Legacy => {}
                Probe::Silent => silent = true,
                Probe::Gone => {
                    close(self.link.take()).await;
                    skip_probe = true;
                    self.connect().await?;
                }
            }
        }
        let (peer, sink, http) = self.parts()?;
        match initialize(&peer, &*sink, self.options, limits, http.as_ref()).await {
            // It was only slow: on a busy machine a server can take longer to start
            // than it is given to answer, and is then of the newest era already.
            Err(McpError::Rpc(error)) if silent => match self.probe(FOREVER, limits).await? {
                Probe::Modern(handshake) => Ok(Shaken::modern(handshake)),
                _ => Err(McpError::Rpc(error)),
            },
            shaken => Ok(Shaken {
                handshake: shaken?,
                modern: false,
                skip_probe,
            }),
        }
    }

    async fn probe(&self, within: Duration, limits: Limits) -> Result<Probe, McpError> {
        let (peer, sink, http) = self.parts()?;
        let modern: Str = MODERN.into();
        if let Some(http) = &http {
            http.agree(&modern, true);
        }
        let cx = RequestContext::default();
        let limits = Limits {
            idle: within,
            ..limits
        };
        let ask = || outgoing(&peer, self.options, true, "server/discover", None, &cx);
        let mut answer = peer.request(&*sink, ask(), limits, &cx).await;
        if let Err(McpError::Rpc(error)) = &answer
            && error.code == UNSUPPORTED_VERSION
            && error
                .data
                .as_ref()
                .is_some_and(|data| lists(data, "supported", MODERN))
        {
            answer = peer.request(&*sink, ask(), limits, &cx).await;
        }
        let probe = match answer {
            Ok(result) if lists(&result, "supportedVersions", MODERN) => Probe::Modern(Handshake {
                server_info: member(&result, "serverInfo").or_else(|| {
                    // Since the revision has no handshake, it may stand in `_meta`.
                    let meta = raw::get(result.get(), "_meta")?;
                    raw::get(meta.get(), "io.modelcontextprotocol/serverInfo")
                        .map(ToOwned::to_owned)
                }),
                protocol_version: modern,
                instructions: raw::text(result.get(), "instructions"),
                capabilities: member(&result, "capabilities"),
            }),
            Ok(_) => Probe::Legacy,
            Err(McpError::Timeout { .. }) => Probe::Silent,
            Err(McpError::Closed { .. }) if http.is_none() => Probe::Gone,
            Err(error @ (McpError::LoginNeeded { .. } | McpError::Closed { .. })) => {
                return Err(error);
            }
            Err(_) => Probe::Legacy,
        };
        if let (Some(http), Probe::Legacy | Probe::Silent) = (&http, &probe) {
            http.forget();
        }
        Ok(probe)
    }
}

enum Probe {
    Modern(Handshake),
    Legacy,
    /// Neither answer nor end within the time given.
    Silent,
    /// The process ended.
    Gone,
}

fn member(json: &RawValue, key: &str) -> Option<Box<RawValue>> {
    raw::get(json.get(), key)
        .filter(|raw| raw.get() != "null")
        .map(ToOwned::to_owned)
}

/// Whether a list of revisions under `key` holds the version. A server that does not
/// know the question may answer it with an empty result, so no list means no.
fn lists(json: &RawValue, key: &str, version: &str) -> bool {
    raw::get(json.get(), key)
        .and_then(|list| serde_json::from_str::<Vec<String>>(list.get()).ok())
        .is_some_and(|list| list.iter().any(|known| known == version))
}

/// The older handshake.
pub(super) async fn initialize(
    peer: &Arc<Peer>,
    sink: &dyn Sink,
    options: &Options,
    limits: Limits,
    http: Option<&Arc<HttpSink>>,
) -> Result<Handshake, McpError> {
    let params = raw::raw(format!(
        r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{}}}"#,
        LEGACY[0],
        capabilities(options, &peer.server).get(),
        client_info(options)
    ));
    let cx = RequestContext::default();
    let ask = || outgoing(peer, options, false, "initialize", Some(&params), &cx);
    let result = match (peer.request(sink, ask(), limits, &cx).await, http) {
        // Half modern: it wants the header that the older handshake does not have.
        (
            Err(McpError::Rpc(RpcError {
                code: HEADER_MISMATCH,
                ..
            })),
            Some(http),
        ) => {
            http.agree(&LEGACY[0].into(), false);
            peer.request(sink, ask(), limits, &cx).await?
        }
        (result, _) => result?,
    };
    let broke = |reason: String| McpError::Protocol {
        server: peer.server.clone(),
        reason: peer.redact.apply(&reason),
    };
    let version = raw::text(result.get(), "protocolVersion")
        .ok_or_else(|| broke("its handshake names no protocol revision".to_owned()))?;
    if !LEGACY.contains(&version.as_str()) && version != MODERN {
        return Err(broke(format!(
            "it speaks protocol revision {version:?}; known are {MODERN}, {}",
            LEGACY.join(", ")
        )));
    }
    let version: Str = version.into();
    if let Some(http) = http {
        http.agree(&version, false);
    }
    sink.post(message::notification("notifications/initialized", None));
    Ok(Handshake {
        server_info: member(&result, "serverInfo"),
        instructions: raw::text(result.get(), "instructions"),
        capabilities: member(&result, "capabilities"),
        protocol_version: version,
    })
}
