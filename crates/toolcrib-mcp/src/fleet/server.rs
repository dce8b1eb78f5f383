//! One server's life.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use serde_json::value::RawValue;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use toolcrib_core::BoxFuture;

use super::{Common, FleetEvent, ServerState, ServerStatus, WeakServer};
use crate::connection::{Connection, Listener};
use crate::context::RequestContext;
use crate::manifest::{self, Manifest};
use crate::peer::Heard;
use crate::{McpError, Noise, ServerConfig, raw};

/// The longest rest after failures.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// A request waits this long for a rest to end before it fails.
const WAIT_FOR_REST: Duration = Duration::from_secs(2);
/// Several changes told at once are one.
const SETTLE: Duration = Duration::from_millis(50);

type Starting = Shared<BoxFuture<'static, Result<Arc<Connection>, McpError>>>;

/// One configured server.
pub(super) struct Server {
    pub(super) config: ServerConfig,
    pub(super) common: Arc<Common>,
    fingerprint: String,
    life: Mutex<Life>,
    manifest: RwLock<Option<Arc<Manifest>>>,
    refreshing: tokio::sync::Mutex<()>,
    dirty: AtomicBool,
    busy: AtomicUsize,
    calls: AtomicU64,
    me: WeakServer,
}

#[derive(Default)]
struct Life {
    connection: Option<Arc<Connection>>,
    /// Waits for it to be idle; it would outlast a connection that ends by itself.
    watch: Option<AbortHandle>,
    starting: Option<Starting>,
    /// Moves with each start: what an older connection says is not about this one.
    generation: u64,
    skip_probe: bool,
    fetched: Option<SystemTime>,
    failures: u32,
    rest_until: Option<Instant>,
    error: Option<String>,
    stderr: String,
    last_use: Option<Instant>,
    started: Option<Instant>,
    used: bool,
    start_took: Option<Duration>,
    first_use: Option<Duration>,
}

impl Life {
    fn unwatch(&mut self) {
        if let Some(watch) = self.watch.take() {
            watch.abort();
        }
    }
}

/// What there is for one who needs a connection.
enum Step {
    Up(Arc<Connection>),
    Wait(Starting),
    Begun(Starting),
    Rest(Duration, String),
}

/// Counts a request as long as it runs.
struct Busy<'a>(&'a Server);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
        self.0.life().last_use = Some(Instant::now());
    }
}

impl Server {
    pub(super) fn new(config: ServerConfig, common: Arc<Common>) -> Arc<Server> {
        let fingerprint = config.fingerprint();
        let known = !common.forget.contains(&config.name);
        let kept = known.then(|| common.store.load(&fingerprint)).flatten();
        let life = Life {
            skip_probe: kept.as_ref().is_some_and(|kept| kept.skip_probe),
            fetched: kept.as_ref().map(|kept| kept.fetched),
            ..Life::default()
        };
        Arc::new_cyclic(|me| Server {
            config,
            common,
            fingerprint,
            life: Mutex::new(life),
            manifest: RwLock::new(kept.map(|kept| Arc::new(kept.manifest))),
            refreshing: tokio::sync::Mutex::default(),
            dirty: AtomicBool::new(false),
            busy: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            me: me.clone(),
        })
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn manifest(&self) -> Option<Arc<Manifest>> {
        if self.config.disabled {
            return None;
        }
        let manifest = self.manifest.read().unwrap_or_else(PoisonError::into_inner);
        manifest.clone()
    }

    /// Whether the list that is known, if any, is past what the server promised.
    fn is_stale(&self, fetched: Option<SystemTime>) -> bool {
        let (Some(manifest), Some(fetched)) = (self.manifest(), fetched) else {
            return true;
        };
        let age = fetched.elapsed().unwrap_or(Duration::MAX);
        age >= manifest.freshness.ttl
    }

    pub(super) fn wants_learning(&self) -> bool {
        !self.config.disabled && self.manifest().is_none()
    }

    fn tell(&self, event: FleetEvent) {
        // Nobody listening is fine.
        let _ = self.common.events.send(event);
    }

    fn tell_state(&self) {
        let state = self.state(&self.life());
        let server = self.config.name.clone();
        self.tell(FleetEvent::StateChanged { server, state });
    }

    fn state(&self, life: &Life) -> ServerState {
        let alive = life.connection.as_ref().is_some_and(|c| !c.is_closed());
        match () {
            () if self.config.disabled => ServerState::Disabled,
            () if alive && life.used => ServerState::Used,
            () if alive => ServerState::Started,
            () if life.starting.is_some() => ServerState::Starting,
            () if life.error.is_some() => ServerState::Failed,
            () if self.manifest().is_some() => ServerState::Known,
            () => ServerState::Configured,
        }
    }

    pub(super) fn status(&self) -> ServerStatus {
        let manifest = self.manifest();
        let life = self.life();
        let connection = life.connection.as_ref().filter(|c| !c.is_closed());
        ServerStatus {
            name: self.config.name.clone(),
            state: self.state(&life),
            tools: manifest.as_ref().map_or(0, |m| m.tools.len()),
            quarantined: manifest
                .as_ref()
                .map(|m| m.quarantined.clone())
                .unwrap_or_default(),
            problems: manifest
                .as_ref()
                .map(|m| m.problems.clone())
                .unwrap_or_default(),
            protocol_version: manifest
                .as_ref()
                .map_or_else(|| "".into(), |m| m.protocol_version.clone()),
            error: life.error.clone(),
            stderr: connection.map_or_else(|| life.stderr.clone(), |c| c.stderr()),
            noise: life
                .connection
                .as_ref()
                .map_or_else(Noise::default, |c| c.noise()),
            start_took: life.start_took,
            first_use: life.first_use,
            calls: self.calls.load(Ordering::Relaxed),
            pid: connection.and_then(|c| c.pid()),
        }
    }

    /// The connection, made where there is none. However many ask, one is made; it
    /// is made to the end even when nobody waits any more.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        if self.config.disabled {
            return Err(self
                .config
                .error("disabled", "the server is switched off")
                .into());
        }
        loop {
            let (rest, reason) = match self.next_step() {
                Step::Up(connection) => return Ok(connection),
                Step::Wait(starting) => return starting.await,
                Step::Begun(starting) => {
                    self.tell_state();
                    return starting.await;
                }
                Step::Rest(rest, reason) => (rest, reason),
            };
            if rest > WAIT_FOR_REST {
                return Err(McpError::BackingOff {
                    server: self.config.name.clone(),
                    reason: first_line(&reason),
                    retry_in: rest,
                });
            }
            tokio::time::sleep(rest).await;
        }
    }

    fn next_step(&self) -> Step {
        let mut life = self.life();
        if let Some(connection) = life.connection.as_ref().filter(|c| !c.is_closed()) {
            return Step::Up(connection.clone());
        }
        if let Some(starting) = life.starting.clone() {
            return Step::Wait(starting);
        }
        let now = Instant::now();
        match life.rest_until.filter(|until| *until > now) {
            Some(until) => Step::Rest(until - now, life.error.clone().unwrap_or_default()),
            None => Step::Begun(self.begin(&mut life)),
        }
    }

    fn begin(&self, life: &mut Life) -> Starting {
        life.generation += 1;
        let generation = life.generation;
        let skip_probe = life.skip_probe;
        let me = self.me.clone();
        let gone = self.gone("it was taken out of use");
        let task = tokio::spawn(async move {
            let Some(server) = me.upgrade() else {
                return Err(gone);
            };
            let heard = server.listener(generation);
            let opened =
                Connection::open(&server.config, &server.common.options, heard, skip_probe);
            let result = opened.await.map(Arc::new);
            server.began(generation, result).await
        });
        let broken = self.gone("its start was broken off");
        let starting: BoxFuture<'static, _> =
            Box::pin(async move { task.await.unwrap_or(Err(broken)) });
        let starting = starting.shared();
        life.starting = Some(starting.clone());
        starting
    }

    fn gone(&self, reason: &str) -> McpError {
        McpError::Closed {
            server: self.config.name.clone(),
            reason: reason.to_owned(),
            stderr: String::new(),
        }
    }

    async fn began(
        self: &Arc<Self>,
        generation: u64,
        result: Result<Arc<Connection>, McpError>,
    ) -> Result<Arc<Connection>, McpError> {
        let superseded = {
            let mut life = self.life();
            if life.generation == generation {
                life.starting = None;
                match &result {
                    Ok(connection) => {
                        life.connection = Some(connection.clone());
                        life.skip_probe = connection.skip_probe;
                        life.error = None;
                        life.start_took = Some(connection.took);
                        life.started = Some(Instant::now());
                        life.last_use = life.started;
                        life.used = false;
                    }
                    Err(error) => self.failed(&mut life, error),
                }
                false
            } else {
                true
            }
        };
        if let Ok(connection) = &result {
            if superseded {
                connection.stop().await;
                return Err(self.gone("it was stopped while it started"));
            }
            let fetched = self.life().fetched;
            if let Some(manifest) = self.manifest() {
                connection.know(&manifest.tools);
            }
            if self.is_stale(fetched) {
                self.refresh_soon(Duration::ZERO);
            }
            self.stop_when_idle(connection);
            // It may have ended before it was known here.
            if connection.is_closed() {
                self.closed(generation);
            }
        }
        self.tell_state();
        result
    }

    /// Notes a failure and gives the server a rest.
    fn failed(&self, life: &mut Life, error: &McpError) {
        life.error = Some(error.to_string());
        if let McpError::Start { stderr, .. } | McpError::Closed { stderr, .. } = error {
            life.stderr.clone_from(stderr);
        }
        // What a person has to put right is not made better by a rest.
        if matches!(error, McpError::Config(_) | McpError::LoginNeeded { .. }) {
            return;
        }
        let ran_well = life
            .started
            .take()
            .is_some_and(|at| at.elapsed() > LONGEST_REST);
        life.failures = if ran_well { 1 } else { life.failures + 1 };
        let doubled = self
            .common
            .rest
            .saturating_mul(1 << (life.failures - 1).min(10));
        life.rest_until = Some(Instant::now() + doubled.min(LONGEST_REST));
    }

    fn listener(&self, generation: u64) -> Listener {
        let me = self.me.clone();
        Arc::new(move |heard| {
            let Some(server) = me.upgrade() else { return };
            match heard {
                Heard::ListChanged => {
                    if let Some(connection) = &server.life().connection {
                        connection.listed.store(false, Ordering::Release);
                    }
                    server.refresh_soon(SETTLE);
                }
                Heard::Notification { method, params } => {
                    server.tell(FleetEvent::Notification {
                        server: server.config.name.clone(),
                        method: method.into(),
                        params: params.map(Arc::from),
                    });
                }
                Heard::Closed => server.closed(generation),
            }
        })
    }

    /// The connection ended by itself: a stop takes it out of the life first.
    fn closed(self: &Arc<Self>, generation: u64) {
        let me = self.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            let ended = {
                let mut life = me.life();
                if life.generation != generation {
                    return;
                }
                let Some(connection) = life.connection.take() else {
                    return;
                };
                life.unwatch();
                let error = connection.closed_error();
                me.failed(&mut life, &error);
                connection
            };
            ended.stop().await;
            me.tell_state();
        });
    }

    /// Fetches the manifest after a moment, once for all who ask meanwhile.
    fn refresh_soon(&self, settle: Duration) {
        if self.dirty.swap(true, Ordering::AcqRel) {
            return;
        }
        let me = self.me.clone();
        tokio::spawn(async move {
            tokio::time::sleep(settle).await;
            let Some(server) = me.upgrade() else { return };
            server.dirty.store(false, Ordering::Release);
            // Only of what runs: a change told by a server that is gone is no reason
            // to start it.
            let connection = server.life().connection.clone();
            if let Some(connection) = connection.filter(|c| !c.is_closed())
                && let Err(error) = server.fetch(&connection).await
            {
                tracing::debug!(server = %server.config.name, %error, "the manifest was not fetched");
            }
        });
    }

    pub(super) async fn refresh(&self) -> Result<Arc<Manifest>, McpError> {
        let _busy = self.busy();
        let connection = self.connection().await?;
        self.fetch(&connection).await
    }

    async fn fetch(&self, connection: &Connection) -> Result<Arc<Manifest>, McpError> {
        let _one = self.refreshing.lock().await;
        self.fetch_alone(connection).await
    }

    /// Whether the tool is what the caller takes it for, as of the last change that
    /// the server told of.
    async fn compare(
        &self,
        connection: &Connection,
        params: Option<&RawValue>,
        expected: &str,
    ) -> Result<(), McpError> {
        let listed = {
            let _one = self.refreshing.lock().await;
            match self.manifest() {
                Some(manifest) if connection.listed.load(Ordering::Acquire) => manifest,
                _ => self.fetch_alone(connection).await?,
            }
        };
        let tool = params.and_then(|params| raw::text(params.get(), "name"));
        let tool = tool.unwrap_or_default();
        match listed.tool(&tool) {
            Some(found) if found.fingerprint == expected => Ok(()),
            _ => Err(McpError::ToolChanged {
                server: self.config.name.clone(),
                tool,
            }),
        }
    }

    /// For one at a time: the last list that was asked for is the one that is kept.
    async fn fetch_alone(&self, connection: &Connection) -> Result<Arc<Manifest>, McpError> {
        // Before the list, so that a change told meanwhile counts.
        connection.listed.store(true, Ordering::Release);
        let parts = match manifest::list(connection).await {
            Ok(parts) => parts,
            Err(error) => {
                connection.listed.store(false, Ordering::Release);
                // One that was stopped meanwhile has not failed; one that ended by
                // itself is noted where its end is.
                if !connection.is_closed() {
                    self.life().error = Some(error.to_string());
                    self.tell_state();
                }
                return Err(error);
            }
        };
        let old = self.manifest();
        let new = Arc::new(Manifest::build(parts, old.as_deref()));
        connection.know(&new.tools);
        let skip_probe = {
            let mut life = self.life();
            life.fetched = Some(SystemTime::now());
            life.error = None;
            life.failures = 0;
            life.skip_probe
        };
        let changed = old.is_none_or(|old| old.fingerprint != new.fingerprint);
        *self
            .manifest
            .write()
            .unwrap_or_else(PoisonError::into_inner) = Some(new.clone());
        self.common.store.save(&self.fingerprint, &new, skip_probe);
        if changed {
            let server = self.config.name.clone();
            self.tell(FleetEvent::ManifestChanged { server });
        }
        Ok(new)
    }

    fn busy(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::AcqRel);
        Busy(self)
    }

    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<&RawValue>,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        let _busy = self.busy();
        self.calls.fetch_add(1, Ordering::Relaxed);
        let result = self.attempt(method, params, cx).await;
        match result {
            // It died on us: what changes nothing is asked once more.
            Err(McpError::Closed { .. }) if cx.repeatable || method != "tools/call" => {
                self.attempt(method, params, cx).await
            }
            result => result,
        }
    }

    async fn attempt(
        &self,
        method: &str,
        params: Option<&RawValue>,
        cx: &RequestContext,
    ) -> Result<Box<RawValue>, McpError> {
        let begun = Instant::now();
        let late = async {
            match cx.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        let connection = tokio::select! {
            connection = self.connection() => connection?,
            () = cx.cancel.cancelled() => return Err(McpError::Cancelled),
            () = late => {
                return Err(McpError::Timeout {
                    server: self.config.name.clone(),
                    method: method.to_owned(),
                    after: begun.elapsed(),
                });
            }
        };
        let first = {
            let mut life = self.life();
            life.first_use.get_or_insert(begun.elapsed());
            !std::mem::replace(&mut life.used, true)
        };
        if first {
            self.tell_state();
        }
        if let Some(expected) = &cx.expects
            && method == "tools/call"
        {
            tokio::select! {
                same = self.compare(&connection, params, expected) => same?,
                () = cx.cancel.cancelled() => return Err(McpError::Cancelled),
            }
        }
        connection.request(method, params, cx).await
    }

    fn stop_when_idle(&self, connection: &Arc<Connection>) {
        let Some(idle) = self.config.idle_stop else {
            return;
        };
        let (me, watched) = (self.me.clone(), Arc::downgrade(connection));
        let mut life = self.life();
        let watch = tokio::spawn(async move {
            let mut wait = idle;
            loop {
                tokio::time::sleep(wait).await;
                let (Some(server), Some(connection)) = (me.upgrade(), watched.upgrade()) else {
                    return;
                };
                if connection.is_closed() {
                    return;
                }
                let quiet = server.life().last_use.map_or(idle, |at| at.elapsed());
                if server.busy.load(Ordering::Acquire) == 0 && quiet >= idle {
                    drop(connection);
                    // Or the stop would end this task, and with it itself.
                    server.life().watch = None;
                    server.stop().await;
                    return;
                }
                wait = idle.saturating_sub(quiet).max(Duration::from_millis(10));
            }
        });
        life.unwatch();
        life.watch = Some(watch.abort_handle());
    }

    pub(super) async fn stop(&self) {
        let connection = {
            let mut life = self.life();
            // A start on its way finds that it is not wanted any more.
            life.generation += 1;
            life.starting = None;
            life.unwatch();
            let connection = life.connection.take();
            if let Some(connection) = &connection {
                life.stderr = connection.stderr();
            }
            connection
        };
        if let Some(connection) = connection {
            connection.stop().await;
            self.tell_state();
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
