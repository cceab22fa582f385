//! Spans to an OpenTelemetry collector, as OTLP over HTTP. All of OpenTelemetry's crates are known here only.

use std::{env, time::Duration};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use tracing::Subscriber;
use tracing_subscriber::{Layer, registry::LookupSpan};

use crate::error::{Error, Result};

/// Where spans are sent, the first that is set (OpenTelemetry's specification of exporters). The first is taken as it
/// is, to the second `/v1/traces` is added.
const ENDPOINTS: [(&str, &str); 2] = [
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "/v1/traces"),
];

/// How long one request to the collector may take (ibid.: `OTEL_EXPORTER_OTLP_TIMEOUT`).
const TIMEOUT: Duration = Duration::from_secs(10);

/// More of an answer than a collector has to say.
const ANSWER: usize = 1 << 20;

/// Spans on their way. They are sent by a thread of their own, some hundred at a time; where the collector cannot take
/// them in time they are dropped. Dropping this sends the rest, for at most five seconds.
pub struct Traces(SdkTracerProvider);

impl Drop for Traces {
    fn drop(&mut self) {
        // The collector may be gone already. Nothing is lost that anybody could still see.
        let _ = self.0.shutdown();
    }
}

impl Traces {
    /// What takes spans out of `tracing`.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer().with_tracer(self.0.tracer("kubewright-runtime"))
    }
}

/// As OpenTelemetry's variables say; nothing if they name no collector.
///
/// # Errors
///
/// [`Error::Setup`] when the collector's address is none that can be sent to.
pub fn from_environment(service: &str) -> Result<Option<Traces>> {
    let is_set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    if is_set("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let named = |(name, path): (&str, &str)| Some(format!("{}{path}", is_set(name)?.trim_end_matches('/')));
    let Some(endpoint) = ENDPOINTS.into_iter().find_map(named) else {
        return Ok(None);
    };
    let service = is_set("OTEL_SERVICE_NAME").unwrap_or_else(|| service.to_owned());
    start(&service, &endpoint).map(Some)
}

fn start(service: &str, endpoint: &str) -> Result<Traces> {
    let uri: Uri = endpoint
        .parse()
        .map_err(|error| Error::Setup(format!("the collector `{endpoint}` is no address: {error}")))?;
    if uri.scheme_str() != Some("http") {
        let text = format!("spans cannot be sent to `{endpoint}`: only http:// is built in");
        let hint =
            "name a collector in the cluster, as http://otel-collector.observability:4318, and let it send them on";
        return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
    }
    let unusable = |error: &dyn std::fmt::Display| Error::Setup(format!("spans cannot be sent: {error}"));
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Sender::new().map_err(|error| unusable(&error))?)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| unusable(&error))?;
    // What OTEL_RESOURCE_ATTRIBUTES adds is there, too.
    let resource = Resource::builder().with_service_name(service.to_owned()).build();
    let provider = SdkTracerProvider::builder()
        .with_resource(resource)
        .with_batch_exporter(exporter);
    Ok(Traces(provider.build()))
}

/// Sends what the exporter's thread gives it. That thread is none of tokio's, so the client brings a runtime of its own.
#[derive(Debug)]
struct Sender {
    client: Client<HttpConnector, Full<Bytes>>,
    runtime: Runtime,
}

impl Sender {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = self.client.request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, ANSWER).collect().await?.to_bytes();
        Ok(Response::from_parts(parts, body))
    }
}

#[async_trait::async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        self.runtime.block_on(timeout_of(self.send(request)))
    }
}

async fn timeout_of<T>(sending: impl Future<Output = Result<T, HttpError>>) -> Result<T, HttpError> {
    timeout(TIMEOUT, sending).await?
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read, Write},
        net::TcpListener,
        sync::mpsc,
        thread,
    };

    use tracing::{info, info_span};
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    /// A collector that takes one request: its address, and what it is told.
    fn collector() -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (told, requests) = mpsc::channel();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut stream = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let start = head.len();
                stream.read_line(&mut head).unwrap();
                let line = head[start..].trim().to_ascii_lowercase();
                if let Some(bytes) = line.strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            stream
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                .unwrap();
            told.send((head, body)).unwrap();
        });
        (address, requests)
    }

    fn contains(body: &[u8], text: &str) -> bool {
        body.windows(text.len()).any(|part| part == text.as_bytes())
    }

    #[test]
    fn a_reconcile_reaches_the_collector_with_its_fields_at_the_latest_at_the_end() {
        let (address, requests) = collector();
        let traces = start("foobar-operator", &format!("{address}/v1/traces")).unwrap();
        let subscriber = tracing_subscriber::registry().with(traces.layer());
        tracing::subscriber::with_default(subscriber, || {
            let span = info_span!(
                "reconcile",
                controller = "foobar",
                object = "default/a",
                reconcile_id = 7
            );
            span.in_scope(|| info!("the child is made"));
        });
        drop(traces);

        let (head, body) = requests.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
        assert!(
            head.to_ascii_lowercase()
                .contains("content-type: application/x-protobuf"),
            "{head}"
        );
        for text in [
            "service.name",
            "foobar-operator",
            "reconcile",
            "controller",
            "foobar",
            "object",
            "default/a",
            "reconcile_id",
            "the child is made",
        ] {
            assert!(contains(&body, text), "{text}: {}", String::from_utf8_lossy(&body));
        }
    }

    #[test]
    fn a_collector_that_is_not_there_holds_up_the_end_no_longer_than_it_may() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let traces = start("foobar-operator", &address).unwrap();
        let subscriber = tracing_subscriber::registry().with(traces.layer());
        tracing::subscriber::with_default(subscriber, || drop(info_span!("reconcile").entered()));
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            drop(traces);
            ended.send(()).unwrap();
        });
        // The listener accepts by its backlog, and never answers.
        end.recv_timeout(Duration::from_secs(60)).unwrap();
        drop(listener);
    }

    #[test]
    fn what_cannot_be_sent_to_is_refused_at_the_start() {
        for (endpoint, says) in [
            ("https://collector/v1/traces", "only http:// is built in"),
            ("collector:4318", "only http:// is built in"),
            ("http://a b", "is no address"),
        ] {
            let error = start("foobar-operator", endpoint).map(drop).unwrap_err().to_string();
            assert!(error.contains(says), "{endpoint}: {error}");
        }
    }
}
