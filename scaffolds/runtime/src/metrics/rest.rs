//! The metrics of a Kubernetes client's requests.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use super::{Counter, Histogram, Metrics};

/// Upper bounds in seconds, from controller-runtime (`pkg/metrics/client_go_adapter.go`, `requestLatency`).
const REQUEST_SECONDS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// The metrics of one process' clients. Clones share them.
#[derive(Clone, Debug)]
pub struct RestMetrics {
    metrics: Metrics,
    /// A series for each method, host and code that has been seen: a handful. Finding one here, and not by the text of its
    /// labels, is cheap.
    seen: Arc<RwLock<Vec<Seen>>>,
}

#[derive(Debug)]
struct Seen {
    method: String,
    host: String,
    code: Option<u16>,
    requests: Counter,
    seconds: Histogram,
}

impl RestMetrics {
    pub(super) fn new(metrics: Metrics) -> Self {
        Self {
            metrics,
            seen: Arc::default(),
        }
    }

    /// Counts a request that ended with this status code, or with `None` without a response, `took` after it was sent;
    /// for a watch, `took` is the time to its first byte.
    pub fn requested(&self, method: &str, host: &str, code: Option<u16>, took: Duration) {
        let is_it = |seen: &&Seen| seen.code == code && seen.method == method && seen.host == host;
        let known = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = known.iter().find(is_it) {
            return seen.count(took);
        }
        drop(known);
        let new = self.register(method, host, code);
        new.count(took);
        let mut known = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added it meanwhile.
        if !known.iter().any(|seen| is_it(&seen)) {
            known.push(new);
        }
    }

    fn register(&self, method: &str, host: &str, code: Option<u16>) -> Seen {
        // client-go's value for a request without a response.
        let status = code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
        let labels = [("code", status.as_str()), ("method", method), ("host", host)];
        let requests = self.metrics.counter(
            "rest_client_requests_total",
            "HTTP requests to the API server, by status code.",
            &labels,
        );
        let seconds = self.metrics.histogram(
            "rest_client_request_duration_seconds",
            "How long the API server took to respond.",
            &[("verb", method), ("host", host)],
            &REQUEST_SECONDS,
        );
        Seen {
            method: method.to_owned(),
            host: host.to_owned(),
            code,
            requests,
            seconds,
        }
    }
}

impl Seen {
    fn count(&self, took: Duration) {
        self.requests.inc();
        self.seconds.observe_duration(took);
    }
}
