//! Signals that ask the process to end.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;
use toolcrib_core::CancellationToken;

use crate::exit::CliError;
use crate::{described, model};

/// Cancels a run at the first signal and ends the process at the second, as long as
/// it exists.
pub(crate) struct Interrupt {
    cancel: CancellationToken,
    waiting: JoinHandle<()>,
}

impl Interrupt {
    /// Fires at the first signal.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.waiting.abort();
    }
}

impl Signals {
    /// From now on they cancel a run. Needs a runtime.
    pub(crate) fn interrupt(mut self) -> Interrupt {
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let waiting = tokio::spawn(async move {
            self.next().await;
            stop.cancel();
            self.next().await;
            // What runs for a tool is in groups of its own, which no signal reached.
            described::end_all();
            std::process::exit(130);
        });
        Interrupt { cancel, waiting }
    }
}

/// Watches for signals beside a conversation. While an answer is made the first one
/// cancels it; at any other time, and for the second time, it ends the process.
pub(crate) struct Doorman {
    busy: Arc<Mutex<Option<CancellationToken>>>,
}

/// One answer that a signal cancels, as long as it exists.
pub(crate) struct Busy<'a> {
    doorman: &'a Doorman,
    cancel: CancellationToken,
}

impl Doorman {
    /// Begins to watch, on a thread of its own. `leave` is done before the process ends.
    pub(crate) fn stand(leave: impl Fn() + Send + 'static) -> Result<Doorman, CliError> {
        let busy: Arc<Mutex<Option<CancellationToken>>> = Arc::default();
        let now = Arc::clone(&busy);
        let runtime = model::runtime()?;
        let guard = runtime.enter();
        // Before the first answer begins.
        let mut signals = Signals::listen();
        drop(guard);
        std::thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    signals.next().await;
                    let busy = now.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    match busy {
                        Some(cancel) if !cancel.is_cancelled() => cancel.cancel(),
                        _ => {
                            described::end_all();
                            leave();
                            std::process::exit(130);
                        }
                    }
                }
            });
        });
        Ok(Doorman { busy })
    }

    /// An answer begins.
    pub(crate) fn busy(&self) -> Busy<'_> {
        let cancel = CancellationToken::new();
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        *busy = Some(cancel.clone());
        Busy {
            doorman: self,
            cancel,
        }
    }
}

impl Busy<'_> {
    /// Fires at the first signal.
    pub(crate) fn token(&self) -> &CancellationToken {
        &self.cancel
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let busy = self.doorman.busy.lock();
        *busy.unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Interrupt, terminate and hang up, from the moment it exists.
pub(crate) struct Signals {
    #[cfg(unix)]
    streams: Vec<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen. Needs a runtime with its drivers. A signal that cannot be
    /// listened to keeps its default, which ends the process.
    pub(crate) fn listen() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let streams = kinds
            .into_iter()
            .filter_map(|kind| signal(kind).ok())
            .collect();
        // A file that grows past its limit is an error of the write, with a message,
        // and not the end of the process.
        #[cfg(target_os = "linux")]
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
        Signals { streams }
    }

    /// Returns when one of them comes.
    pub(crate) async fn next(&mut self) {
        let came = self
            .streams
            .iter_mut()
            .map(|stream| Box::pin(stream.recv()));
        let came: Vec<_> = came.collect();
        if came.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(came).await;
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub(crate) fn listen() -> Signals {
        Signals {}
    }

    /// Returns when the user interrupts.
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
