//! The gateway as a whole: its options, its servers, its clients.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::sync::broadcast::error::RecvError;
use toolcrib_core::{Str, Tool};
use toolcrib_mcp::{FleetEvent, Guard, ServerConfig, ServerStatus};
use toolcrib_surface::SharedEncoder;

use crate::backend::Backend;
use crate::catalog::Filters;
use crate::client::{Client, Lane, lock};
use crate::held::Held;
use crate::pins::Pins;
use crate::policy::Policy;
use crate::settings::PolicySettings;
use crate::wire;

/// What a client is shown of the servers' tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// `tool_search` and `call_tool`, the same list for ever.
    #[default]
    Search,
    /// `tool_search`; what it finds joins the list, and the client is told.
    ListChanged,
    /// Every tool, under a name of its own.
    Eager,
    /// Every tool as its server lists it. With one server, everything else too.
    Transparent,
}

/// Sets of capabilities that are kept apart; a further one is served as if its
/// clients had none.
const MOST_BACKENDS: usize = 16;
/// Changes this close together are told once.
const QUIET: Duration = Duration::from_millis(300);

/// Settings of a gateway.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The servers behind it.
    pub servers: Vec<ServerConfig>,
    /// What clients see.
    pub mode: Mode,
    /// Where manifests are kept between runs.
    pub cache_dir: Option<PathBuf>,
    /// Tools of our own, beside the servers'.
    pub local: Vec<Arc<dyn Tool>>,
    /// Most bytes of one result's texts; the rest is read piece by piece.
    pub result_cap: usize,
    /// Whether tools whose definitions changed since they were first seen are held
    /// back. They are flagged in any case, where [`Options::pins()`] names a file.
    pub hold_changed: bool,
    /// Ends what servers started if this process is killed.
    pub guard: Option<Guard>,
    /// A sentence encoder that ranks beside words and the static table.
    pub encoder: Option<SharedEncoder>,
    pub(crate) pins: Option<Arc<Pins>>,
    pub(crate) approve: Vec<Str>,
    pub(crate) policy: Policy,
    pub(crate) filters: Filters,
}

impl Options {
    /// These servers, the surface searched, nothing kept between runs, results of
    /// 64 KiB, every call allowed.
    pub fn new(servers: Vec<ServerConfig>) -> Options {
        Options {
            servers,
            mode: Mode::Search,
            cache_dir: None,
            local: Vec::new(),
            result_cap: 64 * 1024,
            hold_changed: false,
            guard: None,
            encoder: None,
            pins: None,
            approve: Vec::new(),
            policy: Policy::default(),
            filters: Filters::new(),
        }
    }

    /// The same with rules for calls.
    #[must_use]
    pub fn policy(mut self, settings: &PolicySettings) -> Options {
        self.policy = Policy::new(settings);
        self
    }

    /// The same with a file that keeps definitions as they were first seen. What the
    /// servers in `approve` list when they are next asked is taken for approved; what
    /// an earlier run kept of them counts for nothing.
    #[must_use]
    pub fn pins(mut self, file: PathBuf, approve: &[String]) -> Options {
        self.approve = approve.iter().map(|name| name.as_str().into()).collect();
        self.pins = Some(Arc::new(Pins::read(file, approve)));
        self
    }

    /// Whether a server may have tools that are not offered. What the catalog does not
    /// know is then neither listed nor run.
    pub(crate) fn withholds(&self) -> bool {
        self.hold_changed || !self.policy.is_empty() || !self.filters.is_empty()
    }

    /// The same with only some tools of a server: when `enabled` is not empty only
    /// those, and none of `disabled`, by the server's own names.
    #[must_use]
    pub fn filter(
        mut self,
        server: impl Into<String>,
        enabled: Vec<String>,
        disabled: Vec<String>,
    ) -> Options {
        if !enabled.is_empty() || !disabled.is_empty() {
            self.filters.insert(server.into(), (enabled, disabled));
        }
        self
    }
}

/// See the module's head.
pub struct Gateway {
    pub(crate) options: Options,
    base: Arc<Backend>,
    backends: Mutex<BTreeMap<String, Arc<Backend>>>,
    clients: Mutex<Vec<Weak<Client>>>,
    next: AtomicU64,
    pub(crate) held: Mutex<HashMap<String, Held>>,
    /// For states that clients hand back.
    pub(crate) seal: String,
}

impl Gateway {
    /// A gateway with no server started. Needs a runtime.
    pub fn new(options: Options) -> Arc<Gateway> {
        let none: Arc<RawValue> = Arc::from(wire::raw("{}".to_owned()));
        let base = Arc::new(Backend::new("{}".to_owned(), none, &options, None, false));
        Arc::new_cyclic(|me: &Weak<Gateway>| {
            watch(me.clone(), &base);
            Gateway {
                options,
                backends: Mutex::new(BTreeMap::from([(base.key.clone(), base.clone())])),
                base,
                clients: Mutex::default(),
                next: AtomicU64::new(1),
                held: Mutex::default(),
                seal: seal(),
            }
        })
    }

    /// How each server is, for people.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.base.fleet.status()
    }

    /// Stops all servers and waits until their processes are gone.
    pub async fn shutdown(&self) {
        for client in self.clients() {
            client.leave();
        }
        lock(&self.held).clear();
        let backends: Vec<Arc<Backend>> = lock(&self.backends).values().cloned().collect();
        let mut stops = tokio::task::JoinSet::new();
        for backend in backends {
            stops.spawn(async move { backend.fleet.shutdown().await });
        }
        while stops.join_next().await.is_some() {}
    }

    pub(crate) fn connect(&self, main: Lane) -> Arc<Client> {
        let client = Client::new(self.number(), main);
        let mut clients = lock(&self.clients);
        clients.retain(|known| known.strong_count() > 0);
        clients.push(Arc::downgrade(&client));
        client
    }

    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn clients(&self) -> Vec<Arc<Client>> {
        lock(&self.clients)
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// The servers as this client sees them.
    pub(crate) fn backend_of(self: &Arc<Self>, client: &Client) -> Arc<Backend> {
        let modern = client.version().is_empty();
        self.backend(&client.capabilities(), modern)
    }

    /// The servers for a client of these capabilities. One that is passed through is
    /// spoken to in its client's era: what it asks and tells differs between them.
    pub(crate) fn backend(self: &Arc<Self>, capabilities: &RawValue, modern: bool) -> Arc<Backend> {
        let claimed = capability_key(capabilities.get());
        let older = !modern && self.only_server().is_some();
        let key = match older {
            true => format!("older {claimed}"),
            false => claimed.clone(),
        };
        let mut backends = lock(&self.backends);
        if let Some(backend) = backends.get(&key) {
            return backend.clone();
        }
        if backends.len() >= MOST_BACKENDS {
            return self.base.clone();
        }
        let claimed: Arc<RawValue> = Arc::from(wire::raw(claimed));
        let base = (!older).then(|| self.base.fleet.clone());
        let backend = Arc::new(Backend::new(
            key.clone(),
            claimed,
            &self.options,
            base,
            older,
        ));
        watch(Arc::downgrade(self), &backend);
        backends.insert(key, backend.clone());
        backend
    }

    /// The only server there is, where everything is passed through.
    pub(crate) fn only_server(&self) -> Option<&ServerConfig> {
        let mut servers = self
            .options
            .servers
            .iter()
            .filter(|server| !server.disabled);
        match (self.options.mode, servers.next(), servers.next()) {
            (Mode::Transparent, Some(server), None) if self.options.local.is_empty() => {
                Some(server)
            }
            _ => None,
        }
    }
}

/// Passes on what happens to the servers, as long as the gateway is there.
fn watch(gateway: Weak<Gateway>, backend: &Arc<Backend>) {
    let mut events = backend.fleet.subscribe();
    let backend = Arc::downgrade(backend);
    tokio::spawn(async move {
        let mut pending = false;
        loop {
            let event = match pending {
                true => match tokio::time::timeout(QUIET, events.recv()).await {
                    Ok(event) => event,
                    Err(_) => {
                        pending = false;
                        let (Some(gateway), Some(backend)) = (gateway.upgrade(), backend.upgrade())
                        else {
                            return;
                        };
                        gateway.tell_changed(&backend);
                        continue;
                    }
                },
                false => events.recv().await,
            };
            let (Some(gateway), Some(backend)) = (gateway.upgrade(), backend.upgrade()) else {
                return;
            };
            match event {
                Ok(FleetEvent::ManifestChanged { .. }) => {
                    backend.changed();
                    pending = true;
                }
                Ok(FleetEvent::Notification {
                    server,
                    method,
                    params,
                }) => gateway.tell(&backend, &server, &method, params.as_deref()),
                // What was missed may have been a change.
                Err(RecvError::Lagged(_)) => {
                    backend.changed();
                    pending = true;
                }
                Err(RecvError::Closed) => return,
                Ok(_) => {}
            }
        }
    });
}

/// What of a client's capabilities is a server's business, in one form.
fn capability_key(capabilities: &str) -> String {
    let mut text = String::from("{");
    for name in ["elicitation", "roots", "sampling"] {
        let value = wire::get(capabilities, name).filter(|raw| raw.get() != "null");
        if let Some(value) = value {
            let value: serde_json::Value = serde_json::from_str(value.get()).unwrap_or_default();
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&format!("\"{name}\":{value}"));
        }
    }
    text.push('}');
    text
}

pub(crate) fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

/// Something that nobody outside this process can guess.
fn seal() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    let mut hash = Sha256::new();
    // Each state is seeded by the system's randomness.
    for _ in 0..4 {
        let state = RandomState::new();
        hash.update(state.build_hasher().finish().to_le_bytes());
    }
    hash.update(std::process::id().to_le_bytes());
    let digest = hash.finalize();
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// A name that nobody can guess, for a session.
pub(crate) fn secret_name() -> String {
    seal()
}
