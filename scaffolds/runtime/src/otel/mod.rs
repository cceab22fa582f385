//! Sends spans to an OpenTelemetry collector, as OTLP over HTTP or HTTPS. Only this module uses OpenTelemetry's crates.

mod sender;
mod trust;

use http::Uri;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tracing::Subscriber;
use tracing_subscriber::{Layer, registry::LookupSpan};

use self::{sender::Sender, trust::Trust};
use crate::error::{Error, Result};

/// The variables for the collector's address; the first one that is set counts (OpenTelemetry's specification of
/// exporters). The first value is used unchanged, `/v1/traces` is appended to the second.
const ENDPOINTS: [(&str, &str); 2] = [
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "/v1/traces"),
];

/// The variables for the protocol, in the same order. HTTP with Protobuf is the only one that is supported.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const PROTOCOL: &str = "http/protobuf";

/// The exporter of spans. A thread of its own sends them, some hundred at a time; spans that the collector cannot
/// accept in time are dropped. Dropping this value sends the rest, for at most five seconds.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        // The collector may be gone already, and no one is left to handle an error.
        let _ = self.0.shutdown();
    }
}

impl Traces {
    /// The layer that receives spans from `tracing`.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer("kubewright-runtime"))
    }
}

/// The exporter that OpenTelemetry's variables configure; `None` if they name no collector.
///
/// # Errors
///
/// [`Error::Setup`] if the collector's address is invalid, the protocol is not supported, or a certificate cannot be
/// used.
pub fn from_environment(service: &str) -> Result<Option<Traces>> {
    from_variables(service, |name| std::env::var(name).ok())
}

fn from_variables(service: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Traces>> {
    let is_set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if is_set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let named = |(name, path): (&str, &str)| Some(format!("{}{path}", is_set(name)?.trim_end_matches('/')));
    let Some(endpoint) = ENDPOINTS.into_iter().find_map(named) else {
        return Ok(None);
    };
    let asked = PROTOCOLS.into_iter().find_map(|name| Some((name, is_set(name)?)));
    if let Some((name, protocol)) = asked.filter(|(_, protocol)| protocol != PROTOCOL) {
        let text = format!("{name} is `{protocol}`, and only {PROTOCOL} is built in");
        let hint = format!("take the collector's port for OTLP over HTTP, 4318, and {name}={PROTOCOL}");
        return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
    }
    let service = is_set("OTEL_SERVICE_NAME").unwrap_or_else(|| service.to_owned());
    start(&service, &endpoint, &Trust::from_variables(is_set)?).map(Some)
}

fn start(service: &str, endpoint: &str, trust: &Trust) -> Result<Traces> {
    let uri: Uri = endpoint
        .parse()
        .map_err(|error| Error::Setup(format!("the collector's address `{endpoint}` is invalid: {error}")))?;
    let tls = match uri.scheme_str() {
        Some("http") => None,
        Some("https") => Some(trust.config()?),
        _ => {
            let text =
                format!("spans cannot be sent to `{endpoint}`: it begins neither with http:// nor with https://");
            let hint = "name a collector that takes OTLP over HTTP, as http://otel-collector.observability:4318";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
    };
    let unusable = |error: &dyn std::fmt::Display| Error::Setup(format!("spans cannot be sent: {error}"));
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Sender::new(tls).map_err(|error| unusable(&error))?)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| unusable(&error))?;
    // Includes the attributes of OTEL_RESOURCE_ATTRIBUTES.
    let resource = Resource::builder().with_service_name(service.to_owned()).build();
    let provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(exporter);
    Ok(Traces(provider.build()))
}

#[cfg(test)]
mod tests;
