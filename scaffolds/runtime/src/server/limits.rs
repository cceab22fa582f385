//! The limits of connections, for each port.

use std::time::Duration;

use super::connections::Most;

/// The limits of one connection.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The time limit of a client for a request's headers, between two requests, or to accept any part of the response.
    pub(super) silence: Duration,
    /// Whether a connection accepts more than one request.
    pub(super) keep_alive: bool,
    /// The most bytes of a request's line and headers.
    pub(super) headers: usize,
    /// The longest body in bytes; 0 if bodies are not read.
    pub(super) body: usize,
    /// The maximum of open connections.
    pub(super) connections: Most,
}

impl Limits {
    /// The kubelet opens a connection for each probe, and sends its request at once.
    pub(super) const PROBES: Self = Self {
        silence: Duration::from_secs(5),
        keep_alive: false,
        headers: 8 << 10,
        body: 0,
        connections: Most::FEW,
    };
    /// Prometheus keeps a connection between scrapes (controller-runtime, `pkg/internal/httpserver/server.go`:
    /// `ReadHeaderTimeout`).
    pub(super) const METRICS: Self = Self {
        silence: Duration::from_secs(32),
        keep_alive: true,
        // A bearer token has a few thousand bytes.
        headers: 64 << 10,
        body: 0,
        connections: Most::FEW,
    };
    /// An API server keeps an idle connection for 90 s (Go's `http.Transport`). If this server closed it earlier, a
    /// request that is sent at that moment would fail, and a POST is not repeated. The body: controller-runtime,
    /// `pkg/webhook/admission/http.go`, `maxRequestSize`.
    pub(super) const WEBHOOKS: Self = Self {
        silence: Duration::from_secs(120),
        keep_alive: true,
        headers: 16 << 10,
        body: 7 << 20,
        connections: Most::OF_API_SERVERS,
    };
}
