//! Where logs and spans of this process go.
//!
//! Logs go to standard error, and only when `TOOLCRIB_LOG` asks for them, as in
//! `TOOLCRIB_LOG=debug`. Spans go to a collector, and only when the environment or the
//! user's own configuration names one, in a build that can export them. Neither is
//! ever waited for while a run is under way.

#[cfg(feature = "otel")]
mod otlp;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::config::{Config, Places};
#[cfg(not(feature = "otel"))]
use crate::terminal::say;

/// What has to be brought to an end before the process ends.
#[derive(Default)]
pub(crate) struct Telemetry {
    #[cfg(feature = "otel")]
    export: Option<otlp::Export>,
}

/// Begins to log and to export, as far as asked for.
pub(crate) fn start() -> Telemetry {
    let lines = EnvFilter::try_from_env("TOOLCRIB_LOG").ok().map(|filter| {
        tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_filter(filter)
    });
    #[cfg(feature = "otel")]
    {
        let (spans, export) = otlp::start(configured().as_deref()).unzip();
        if lines.is_some() || spans.is_some() {
            tracing_subscriber::registry()
                .with(spans)
                .with(lines)
                .init();
        }
        Telemetry { export }
    }
    #[cfg(not(feature = "otel"))]
    {
        if configured().is_some() {
            say(
                "toolcrib: this build exports no spans; `otlp_endpoint` needs one with the feature otel",
            );
        }
        if lines.is_some() {
            tracing_subscriber::registry().with(lines).init();
        }
        Telemetry::default()
    }
}

impl Telemetry {
    /// Sends what was not sent yet, for at most a moment.
    pub(crate) fn finish(self) {
        #[cfg(feature = "otel")]
        if let Some(export) = self.export {
            export.finish();
        }
    }
}

/// The collector that the user's own configuration names. What is wrong with that file
/// is told by whoever needs it.
fn configured() -> Option<String> {
    let path = Places::detect().user_config?;
    Config::read(&path).ok()?.otlp_endpoint
}
