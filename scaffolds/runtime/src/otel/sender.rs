//! Sends requests to the collector, over HTTP or HTTPS.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::trust;

/// The time limit of a request to the collector (OpenTelemetry's specification: `OTEL_EXPORTER_OTLP_TIMEOUT`).
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of a response that are read; a collector sends less.
const ANSWER: usize = 1 << 20;

/// Sends the requests of the exporter's thread. That thread is not one of tokio's, so the client has a runtime of its
/// own.
#[derive(Debug)]
pub(super) struct Sender {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    runtime: Runtime,
}

impl Sender {
    /// A sender to `https://` with `tls`, to `http://` without.
    pub(super) fn new(tls: Option<ClientConfig>) -> std::io::Result<Self> {
        // Without TLS no certificate is checked.
        let tls = tls.unwrap_or_else(|| {
            let untrusting = trust::builder().with_root_certificates(RootCertStore::empty());
            untrusting.with_no_client_auth()
        });
        let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector.enable_http1().build()),
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
