//! The servers, as clients of one set of capabilities see them.
//!
//! What a server lists may depend on what its client can do, so clients that differ
//! in that do not share servers that run. They do share what is known beforehand:
//! a server of which nothing is known for this set is shown as it is known without
//! any capability, until it was started once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::value::RawValue;
use toolcrib_core::Str;
use toolcrib_mcp::{Fleet, FleetOptions, Manifest, ServerState};

use crate::catalog::Catalog;
use crate::client::lock;
use crate::gateway::Options;
use crate::relay::Relay;

/// Servers asked at the same time what they offer.
const AT_ONCE: usize = 4;
/// With more servers than this, one that was started only to be asked is stopped.
const KEEP_RUNNING: usize = 8;

/// See the module's head.
pub(crate) struct Backend {
    /// The capabilities, in canonical form.
    pub(crate) key: String,
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) relay: Arc<Relay>,
    /// What is known without capabilities; none for the set that has none, and for
    /// servers that are spoken to in the older era, where they may be another.
    base: Option<Arc<Fleet>>,
    generation: AtomicU64,
    catalog: Mutex<Option<(u64, Arc<Catalog>)>>,
    /// When servers of which nothing was known began to be asked.
    learning: OnceLock<tokio::time::Instant>,
}

impl Backend {
    pub(crate) fn new(
        key: String,
        capabilities: Arc<RawValue>,
        options: &Options,
        base: Option<Arc<Fleet>>,
        older: bool,
    ) -> Backend {
        let relay = Relay::new(capabilities);
        let mut fleet = FleetOptions::default();
        fleet.reverse = Some(relay.clone());
        fleet.older_first = older;
        fleet.guard = options.guard.clone();
        fleet.forget.clone_from(&options.approve);
        fleet.cache_dir = options.cache_dir.clone().map(|dir| match key.as_str() {
            "{}" => dir,
            key => dir.join(format!("can-{}", crate::gateway::digest(key))),
        });
        Backend {
            fleet: Fleet::new(options.servers.clone(), fleet),
            key,
            relay,
            base,
            generation: AtomicU64::new(0),
            catalog: Mutex::default(),
            learning: OnceLock::new(),
        }
    }

    pub(crate) fn manifest(&self, server: &str) -> Option<Arc<Manifest>> {
        let known = self.fleet.manifest(server);
        known.or_else(|| self.base.as_ref()?.manifest(server))
    }

    /// Something that is listed has changed.
    pub(crate) fn changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// All that is offered, as of now.
    pub(crate) fn catalog(&self, options: &Options) -> Arc<Catalog> {
        let generation = self.generation.load(Ordering::Acquire);
        let mut kept = lock(&self.catalog);
        if let Some((made, catalog)) = &*kept
            && *made == generation
        {
            return catalog.clone();
        }
        let manifests: Vec<(Str, Option<Arc<Manifest>>)> = options
            .servers
            .iter()
            .filter(|server| !server.disabled)
            .map(|server| (server.name.clone(), self.manifest(&server.name)))
            .collect();
        let catalog = Arc::new(Catalog::build(&manifests, options));
        *kept = Some((generation, catalog.clone()));
        catalog
    }

    /// Whether a server is still to be asked for the first time.
    pub(crate) fn unread(&self, options: &Options) -> bool {
        let mut servers = options.servers.iter().filter(|server| !server.disabled);
        servers.any(|server| self.manifest(&server.name).is_none())
    }

    /// Asks servers of which nothing is known, a few at a time, once.
    pub(crate) fn learn(self: &Arc<Self>, options: &Options) {
        if self.learning.set(tokio::time::Instant::now()).is_err() {
            return;
        }
        let servers = options.servers.iter().filter(|server| !server.disabled);
        let wanted: Vec<Str> = servers
            .filter(|server| self.manifest(&server.name).is_none())
            .map(|server| server.name.clone())
            .collect();
        let stop = options.servers.len() > KEEP_RUNNING;
        let queue = Arc::new(Mutex::new(wanted.into_iter()));
        for _ in 0..AT_ONCE {
            let (queue, backend) = (queue.clone(), Arc::downgrade(self));
            tokio::spawn(async move {
                loop {
                    let next = lock(&queue).next();
                    let (Some(server), Some(backend)) = (next, backend.upgrade()) else {
                        return;
                    };
                    let fleet = backend.fleet.clone();
                    drop(backend);
                    if let Err(error) = fleet.refresh(&server).await {
                        tracing::warn!(%server, %error, "it cannot be listed");
                        continue;
                    }
                    let status = fleet.status();
                    let idle = status.iter().find(|status| status.name == server);
                    if stop && idle.is_some_and(|status| status.state == ServerState::Started) {
                        let _ = fleet.stop(&server).await;
                    }
                }
            });
        }
    }

    /// Waits for servers that are being asked for the first time, until `most` after
    /// the first of them was. What failed is not waited for, and no later list is held
    /// up by one that is slow.
    pub(crate) async fn settle(self: &Arc<Self>, options: &Options, most: Duration) {
        if !self.unread(options) {
            return;
        }
        self.learn(options);
        let Some(begun) = self.learning.get() else {
            return;
        };
        while begun.elapsed() < most && self.awaited(options) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether a server of which nothing is known may still answer.
    fn awaited(&self, options: &Options) -> bool {
        let status = self.fleet.status();
        let failed = |name: &str| {
            let found = status.iter().find(|status| &*status.name == name);
            found.is_some_and(|status| status.state == ServerState::Failed)
        };
        let mut servers = options.servers.iter().filter(|server| !server.disabled);
        servers.any(|server| self.manifest(&server.name).is_none() && !failed(&server.name))
    }
}
