//! The metrics of a Kubernetes client's requests.

use std::time::Duration;

use super::Metrics;

/// Upper bounds in seconds, from controller-runtime (`pkg/metrics/client_go_adapter.go`, `requestLatency`).
const REQUEST_SECONDS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// The metrics of one process' clients. Clones share them.
#[derive(Clone, Debug)]
pub struct RestMetrics(Metrics);

impl RestMetrics {
    pub(super) fn new(metrics: Metrics) -> Self {
        Self(metrics)
    }

    /// Counts a request that ended with this status code, or with `None` without a response, `took` after it was sent;
    /// for a watch, `took` is the time to its first byte.
    pub fn requested(&self, method: &str, host: &str, code: Option<u16>, took: Duration) {
        // client-go's value for a request without a response.
        let code = code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
        let labels = [("code", code.as_str()), ("method", method), ("host", host)];
        self.0
            .counter(
                "rest_client_requests_total",
                "HTTP requests to the API server, by status code.",
                &labels,
            )
            .inc();
        let labels = [("verb", method), ("host", host)];
        let (name, help) = (
            "rest_client_request_duration_seconds",
            "How long the API server took to respond.",
        );
        self.0
            .histogram(name, help, &labels, &REQUEST_SECONDS)
            .observe_duration(took);
    }
}
