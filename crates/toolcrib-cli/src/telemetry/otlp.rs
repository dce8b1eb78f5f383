//! Spans for an OpenTelemetry collector, over OTLP by HTTP.
//!
//! Everything is set by the standard variables: `OTEL_EXPORTER_OTLP_ENDPOINT` and its
//! kin, `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_TRACES_SAMPLER`,
//! `OTEL_BSP_*`. A thread of its own sends; a run never waits for it, and a collector
//! that is gone costs a line on standard error. Log lines have excerpts of content
//! and are therefore no part of it.

use std::fmt;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_otlp::{Protocol, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::Registry;

use crate::terminal::say;

/// How long the end of the process may wait for the last spans to be sent.
const LAST: Duration = Duration::from_secs(1);

/// Where spans wait to be sent.
pub(super) struct Export(SdkTracerProvider);

type Spans = Box<dyn Layer<Registry> + Send + Sync>;

/// Begins to export, if a collector is named. `configured` is the address of a collector
/// without the path of a signal; the environment goes first.
pub(super) fn start(configured: Option<&str>) -> Option<(Spans, Export)> {
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let off = env("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || env("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
    let named = env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        .or_else(|| env("OTEL_EXPORTER_OTLP_ENDPOINT"))
        .is_some();
    if off || !(named || configured.is_some()) {
        return None;
    }
    // One provider for all clients of the process; another one may be there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut exporter = opentelemetry_otlp::SpanExporter::builder().with_http();
    // The conventions' own default, whichever the exporter was built to prefer.
    let chosen = [
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ];
    if !chosen.iter().any(|name| env(name).is_some()) {
        exporter = exporter.with_protocol(Protocol::HttpBinary);
    }
    if let (false, Some(base)) = (named, configured) {
        exporter = exporter.with_endpoint(format!("{}/v1/traces", base.trim_end_matches('/')));
    }
    let exporter = match exporter.build() {
        Ok(exporter) => Whole(exporter),
        Err(error) => {
            say(&format!("toolcrib: no spans are exported: {error}"));
            return None;
        }
    };
    let mut resource = Resource::builder();
    let own_name = env("OTEL_RESOURCE_ATTRIBUTES").is_some_and(|all| all.contains("service.name="));
    if env("OTEL_SERVICE_NAME").is_none() && !own_name {
        resource = resource.with_service_name("toolcrib");
    }
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource.with_attribute(version).build())
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("toolcrib"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(filter_fn(|metadata| {
            metadata.is_span() && metadata.target().starts_with("toolcrib")
        }));
    Some((Box::new(layer), Export(provider)))
}

impl Export {
    pub(super) fn finish(self) {
        if let Err(error) = self.0.shutdown_with_timeout(LAST) {
            say(&format!("toolcrib: spans were not exported: {error}"));
        }
    }
}

/// Gives attributes that are lists by the conventions as lists, which a span of
/// `tracing` cannot hold.
struct Whole<E>(E);

const LISTS: [&str; 1] = ["gen_ai.response.finish_reasons"];

impl<E: SpanExporter> SpanExporter for Whole<E> {
    fn export(
        &self,
        mut batch: Vec<SpanData>,
    ) -> impl std::future::Future<Output = OTelSdkResult> + Send {
        let attributes = batch.iter_mut().flat_map(|span| &mut span.attributes);
        for attribute in attributes.filter(|one| LISTS.contains(&one.key.as_str())) {
            if let Value::String(one) = &attribute.value {
                let list: Vec<StringValue> = vec![one.clone()];
                attribute.value = Value::Array(Array::String(list));
            }
        }
        self.0.export(batch)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

impl<E> fmt::Debug for Whole<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Whole")
    }
}
