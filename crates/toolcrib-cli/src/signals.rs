//! Signals that ask the process to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::JoinHandle;
use toolcrib_core::CancellationToken;

use crate::exit::{CliError, Status};
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
            end(Came::Interrupt);
        });
        Interrupt { cancel, waiting }
    }
}

/// Ends the process at once. What runs for a tool is in groups of its own, which no
/// signal reached.
fn end(came: Came) -> ! {
    described::end_all();
    std::process::exit(match came {
        Came::Quit => 131,
        Came::Interrupt | Came::Leave(_) => 130,
    })
}

/// Watches for signals beside a conversation. While an answer is made the first one
/// cancels it, and ends the conversation after it unless it was an interrupt; at any
/// other time, and for the second time, it ends the process.
pub(crate) struct Doorman {
    busy: Arc<Mutex<Option<CancellationToken>>>,
    leaving: Arc<AtomicBool>,
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
        let leaving: Arc<AtomicBool> = Arc::default();
        let left = Arc::clone(&leaving);
        let runtime = model::runtime()?;
        let guard = runtime.enter();
        // Before the first answer begins.
        let mut signals = Signals::listen();
        drop(guard);
        std::thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    let came = signals.came().await;
                    let busy = now.lock().unwrap_or_else(PoisonError::into_inner);
                    match &*busy {
                        Some(cancel) if came != Came::Quit && !cancel.is_cancelled() => {
                            left.store(matches!(came, Came::Leave(_)), Ordering::SeqCst);
                            cancel.cancel();
                        }
                        _ => {
                            leave();
                            end(came);
                        }
                    }
                }
            });
        });
        Ok(Doorman { busy, leaving })
    }

    /// Whether the signal that cancelled an answer asked the process to end.
    pub(crate) fn leaving(&self) -> bool {
        self.leaving.load(Ordering::SeqCst)
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

/// From now on a file that grows past its limit is an error of the write, with a
/// message, and not the end of the process. What this process starts is not concerned:
/// the signal is caught, which no other program inherits, and not ignored.
pub(crate) fn outlive_file_limits() {
    #[cfg(target_os = "linux")]
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
    {
        use tokio::signal::unix::{SignalKind, signal};
        let _guard = runtime.enter();
        // The handler stays when the stream and the runtime are gone.
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
    }
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code))]
enum Came {
    /// What is under way should end.
    Interrupt,
    /// The process should end: by which signal.
    Leave(u8),
    /// The process should end at once.
    Quit,
}

/// Interrupt, terminate, hang up and quit, from the moment it exists.
pub(crate) struct Signals {
    #[cfg(unix)]
    streams: Vec<(Came, tokio::signal::unix::Signal)>,
}

impl Signals {
    /// Returns when one of them comes, but for quit, which ends the process.
    pub(crate) async fn next(&mut self) {
        self.ended().await;
    }

    /// The same, and the status of a process that the signal ended, as a shell tells it.
    pub(crate) async fn ended(&mut self) -> Status {
        match self.came().await {
            Came::Quit => end(Came::Quit),
            Came::Interrupt => Status::Interrupted,
            Came::Leave(signal) => Status::Signalled(signal),
        }
    }
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen. Needs a runtime with its drivers. A signal that cannot be
    /// listened to keeps its default, which ends the process.
    pub(crate) fn listen() -> Signals {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            (Came::Interrupt, SignalKind::interrupt()),
            (Came::Leave(15), SignalKind::terminate()),
            (Came::Leave(1), SignalKind::hangup()),
            (Came::Quit, SignalKind::quit()),
        ];
        let streams = kinds
            .into_iter()
            .filter_map(|(came, kind)| Some((came, signal(kind).ok()?)))
            .collect();
        Signals { streams }
    }

    async fn came(&mut self) -> Came {
        let came = self.streams.iter_mut().map(|(came, stream)| {
            Box::pin(async move {
                stream.recv().await;
                *came
            })
        });
        let came: Vec<_> = came.collect();
        if came.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(came).await.0
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub(crate) fn listen() -> Signals {
        Signals {}
    }

    async fn came(&mut self) -> Came {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Came::Interrupt
    }
}
