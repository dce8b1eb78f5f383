//! Signals that ask the process to end.

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
