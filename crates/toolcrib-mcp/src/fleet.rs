//! All servers together: configured, known, started, used.
//!
//! A server is known once its manifest was fetched, now or in an earlier run with
//! the same configuration; its tools can be listed and searched from then on with
//! nothing running. It is started by the first request that needs it, once however
//! many come at the same time, and stopped when it was idle for long. What goes
//! wrong with one is its own affair: it keeps its last good manifest, is given a
//! rest that doubles with each failure, and says in its status what happened.

mod input;
mod server;
mod status;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::sync::broadcast;
use toolcrib_core::Str;

use crate::auth::{Login, Logins};
use crate::connection::Options;
use crate::context::{RequestContext, Reverse};
use crate::manifest::{Manifest, Store};
use crate::{Guard, McpError, ServerConfig};

use server::Server;
pub use status::{ServerState, ServerStatus};

/// Events that a slow listener may be behind before it loses the oldest.
const EVENTS: usize = 256;
/// How often one request may be answered with a wish for more input.
const MAX_INPUT_ROUNDS: usize = 10;
/// Servers that are started at the same time to learn what they offer.
const LEARN_AT_ONCE: usize = 4;

/// Settings of a [`Fleet`].
#[derive(Clone)]
#[non_exhaustive]
pub struct FleetOptions {
    /// Where manifests are kept; nowhere when absent.
    pub cache_dir: Option<PathBuf>,
    /// Servers of which nothing is known until they were asked, whatever is kept.
    pub forget: Vec<Str>,
    /// What we call ourselves towards servers.
    pub client_name: Str,
    /// Our version towards servers.
    pub client_version: Str,
    /// Answers what servers ask of their client; without it no capability is
    /// claimed.
    pub reverse: Option<Arc<dyn Reverse>>,
    /// Shows a person the login page of a server that wants one; without it only
    /// logins of earlier are used.
    pub login: Option<Arc<dyn Login>>,
    /// Where logins are kept, for their owner's eyes alone; only in memory when
    /// absent.
    pub credentials_dir: Option<PathBuf>,
    /// How long a server may be silent on the question for its era.
    pub probe_timeout: Duration,
    /// Try the handshake of the older revisions first, and the newest revision only
    /// with servers that refuse it: for a caller that speaks an older one itself, and
    /// stands for what such a client sees.
    pub older_first: bool,
    /// Time for each step of stopping a server: its input closed, asked to end,
    /// made to end.
    pub grace: Duration,
    /// Longest message of a server in bytes.
    pub max_message: usize,
    /// First rest after a failure; it doubles up to a minute.
    pub rest: Duration,
    /// Ends what servers started if this process is killed.
    pub guard: Option<Guard>,
}

impl Default for FleetOptions {
    fn default() -> FleetOptions {
        FleetOptions {
            cache_dir: None,
            forget: Vec::new(),
            client_name: "toolcrib".into(),
            client_version: env!("CARGO_PKG_VERSION").into(),
            reverse: None,
            login: None,
            credentials_dir: None,
            probe_timeout: Duration::from_secs(10),
            older_first: false,
            grace: Duration::from_secs(2),
            max_message: 64 * 1024 * 1024,
            rest: Duration::from_millis(500),
            guard: None,
        }
    }
}

/// Something happened to a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FleetEvent {
    /// What it offers is not what it was.
    ManifestChanged {
        /// The server.
        server: Str,
    },
    /// It is in another state; [`Fleet::status`] says more.
    StateChanged {
        /// The server.
        server: Str,
        /// The new state.
        state: ServerState,
    },
    /// It said something unasked: a log message, a resource that changed.
    Notification {
        /// The server.
        server: Str,
        /// The notification's method.
        method: Str,
        /// Its params as received.
        params: Option<Arc<RawValue>>,
    },
}

/// The configured servers.
pub struct Fleet {
    servers: Vec<Arc<Server>>,
}

/// What all servers of a fleet share.
struct Common {
    options: Options,
    rest: Duration,
    store: Store,
    forget: Vec<Str>,
    events: broadcast::Sender<FleetEvent>,
}

impl Fleet {
    /// A fleet of these servers, none of them started; what is known of them is
    /// read from the cache. Of two servers of one name the first counts.
    pub fn new(servers: Vec<ServerConfig>, options: FleetOptions) -> Arc<Fleet> {
        let (events, _) = broadcast::channel(EVENTS);
        let common = Arc::new(Common {
            options: Options {
                logins: Logins {
                    login: options.login,
                    dir: options.credentials_dir,
                    client_name: options.client_name.clone(),
                },
                client_name: options.client_name,
                client_version: options.client_version,
                reverse: options.reverse,
                probe_timeout: options.probe_timeout,
                older_first: options.older_first,
                grace: options.grace,
                max_message: options.max_message,
                guard: options.guard,
            },
            rest: options.rest,
            store: Store::new(options.cache_dir),
            forget: options.forget,
            events,
        });
        let mut fleet: Vec<Arc<Server>> = Vec::new();
        for config in servers {
            if fleet.iter().any(|known| known.config.name == config.name) {
                tracing::warn!(server = %config.name, "two servers of one name; the first is used");
                continue;
            }
            fleet.push(Server::new(config, common.clone()));
        }
        Arc::new(Fleet { servers: fleet })
    }

    fn find(&self, name: &str) -> Result<&Arc<Server>, McpError> {
        let found = self
            .servers
            .iter()
            .find(|server| &*server.config.name == name);
        found.ok_or_else(|| McpError::UnknownServer {
            name: name.to_owned(),
            nearest: self
                .servers
                .iter()
                .map(|server| server.config.name.to_string())
                .map(|known| (strsim::damerau_levenshtein(&known, name), known))
                .filter(|(far, known)| *far <= known.len().max(name.len()) / 2)
                .min()
                .map(|(_, known)| known),
        })
    }

    /// The names of all servers, in the order of the configuration.
    pub fn names(&self) -> impl Iterator<Item = &Str> {
        self.servers.iter().map(|server| &server.config.name)
    }

    /// The configuration of a server.
    pub fn config(&self, server: &str) -> Option<&ServerConfig> {
        self.find(server).ok().map(|server| &server.config)
    }

    /// How each server is, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// What a server is known to offer; `None` until it was started once.
    pub fn manifest(&self, server: &str) -> Option<Arc<Manifest>> {
        self.find(server).ok()?.manifest()
    }

    /// Asks a server what it offers, starting it where needed. When that fails the
    /// last good manifest stays.
    ///
    /// # Errors
    /// [`McpError`] of the start or of the list of tools.
    pub async fn refresh(&self, server: &str) -> Result<Arc<Manifest>, McpError> {
        self.find(server)?.refresh().await
    }

    /// Learns what the servers offer of which that is not known, or not for certain
    /// any more; several at a time. Returns the failures.
    pub async fn learn(&self) -> Vec<(Str, McpError)> {
        use futures_util::StreamExt as _;
        let wanted = self.servers.iter().filter(|server| server.wants_learning());
        let learnt = wanted.map(|server| async move {
            let result = server.refresh().await;
            (server.config.name.clone(), result)
        });
        let results = futures_util::stream::iter(learnt).buffer_unordered(LEARN_AT_ONCE);
        let mut failures: Vec<(Str, McpError)> = results
            .filter_map(|(name, result)| async move { result.err().map(|error| (name, error)) })
            .collect()
            .await;
        failures.sort_by(|a, b| a.0.cmp(&b.0));
        failures
    }

    /// Starts a server ahead of its first use.
    ///
    /// # Errors
    /// [`McpError`] of the start.
    pub async fn start(&self, server: &str) -> Result<(), McpError> {
        self.find(server)?.connection().await.map(|_| ())
    }

    /// Passes a request on and gives the result as received. The server is started
    /// where needed. A request that changes nothing is sent once more when its
    /// server goes away meanwhile; a tool call only when `cx` says that it may.
    ///
    /// # Errors
    /// [`McpError`]; a JSON-RPC error of the server as [`McpError::Rpc`].
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<Box<RawValue>>,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        self.find(server)?
            .request(method, params.as_deref(), cx)
            .await
    }

    /// Like [`Fleet::request`], answering what the server wants to know in between
    /// through the fleet's [`Reverse`], up to ten times. A result that still wants
    /// input is given as it is.
    ///
    /// # Errors
    /// As for [`Fleet::request`].
    pub async fn request_resolved(
        &self,
        server: &str,
        method: &str,
        params: Option<Box<RawValue>>,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        let found = self.find(server)?;
        let mut result = found.request(method, params.as_deref(), cx).await?;
        for _ in 0..MAX_INPUT_ROUNDS {
            let Some(reverse) = &found.common.options.reverse else {
                break;
            };
            let next = input::answer(reverse, server, params.as_deref(), &result, cx).await;
            let Some(next) = next else { break };
            result = found.request(method, Some(&next), cx).await?;
        }
        Ok(result)
    }

    /// Tells of what happens to the servers from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<FleetEvent> {
        match self.servers.first() {
            Some(server) => server.common.events.subscribe(),
            None => broadcast::channel(1).1,
        }
    }

    /// Stops one server; it starts again when it is needed.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn stop(&self, server: &str) -> Result<(), McpError> {
        self.find(server)?.stop().await;
        Ok(())
    }

    /// Stops all servers and waits until their processes are gone.
    pub async fn shutdown(&self) {
        let stops = self.servers.iter().map(|server| server.stop());
        futures_util::future::join_all(stops).await;
    }
}

type WeakServer = Weak<Server>;
