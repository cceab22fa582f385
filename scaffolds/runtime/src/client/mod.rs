//! The client: the API server's address, the credentials, and the layers that every request passes through.

mod outbound;

use std::{fmt, path::Path, sync::Arc, time::Duration};

use http::{HeaderValue, header::USER_AGENT};
use kube::{Client, Config};
use tower::layer::layer_fn;

use self::outbound::Outbound;
use crate::{
    connection,
    error::{Error, Result},
    limit::RateLimit,
    metrics::Metrics,
};

/// The last part of an operator's user agent, before the version. API servers record the agent, up to the first slash, as the field manager
/// of requests that name no other.
pub(crate) const AGENT: &str = " kubewright-runtime";

/// Called before every request that may change something.
#[derive(Clone)]
pub struct WriteGate(Arc<dyn Fn() -> bool + Send + Sync>);

impl WriteGate {
    /// Allows requests while `may_write` returns true.
    pub fn new(may_write: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(may_write))
    }

    /// Allows all requests.
    pub fn open() -> Self {
        Self::new(|| true)
    }

    /// Whether writing is allowed now.
    pub fn is_open(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for WriteGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WriteGate").field(&self.is_open()).finish()
    }
}

/// The limits of a client's requests.
#[derive(Clone, Debug)]
pub struct Guards {
    gate: WriteGate,
    watch_silence: Option<Duration>,
    limit: Option<RateLimit>,
}

/// An API server sends a bookmark each minute (`k8s.io/apiserver/pkg/storage/cacher`: `defaultBookmarkFrequency`); 30 s
/// more allow for delays on the way.
const WATCH_SILENCE: Duration = Duration::from_secs(90);

impl From<WriteGate> for Guards {
    /// This gate, 90 s of silence for a watch, and no limit on requests per second.
    fn from(gate: WriteGate) -> Self {
        Self {
            gate,
            watch_silence: Some(WATCH_SILENCE),
            limit: None,
        }
    }
}

impl Guards {
    /// The longest silence of a watch that requests bookmarks; zero means without limit.
    pub fn watch_silence(mut self, limit: Duration) -> Self {
        self.watch_silence = Some(limit).filter(|limit| !limit.is_zero());
        self
    }

    /// The limit of requests that may begin, in the order in which they are sent.
    pub fn limit(mut self, limit: Option<RateLimit>) -> Self {
        self.limit = limit;
        self
    }
}

/// The configuration of the client: of the flag `--kubeconfig`, the environment, the pod or the home folder.
///
/// # Errors
///
/// [`Error::Setup`] if the first one that exists cannot be read or has a field that cannot be used, or none exists.
pub async fn config(kubeconfig: Option<&Path>) -> Result<Config> {
    connection::config(kubeconfig).await.map_err(Error::Setup)
}

/// A client, all requests of which
///
/// - name the operator: the user agent is `agent`, as `foobar-operator/0.1.0`;
/// - are answered within 30 s, or within 40 s if they write, or fail: the response has to begin by then, and never to pause for
///   longer. A watch has to begin within 30 s. If it asks for bookmarks, it *ends* after 90 s of silence, as if the server
///   had ended it, and the watcher starts it again from the last version seen: through a proxy, nothing else detects a
///   connection that is half open. Other watches may be silent without limit. A connection ends when the other side has
///   acknowledged nothing for 45 s; on Linux, that includes one that takes no more input for so long;
/// - are counted (`rest_client_*`);
/// - fail with [`NotLeader`](crate::error::NotLeader), unsent, when they may change something and `gate` is closed;
/// - carry the header `Retry-After` of a 429 or 5xx in their error, whatever its body is, so that the work queue waits as
///   long as the API server asks for;
/// - are sent once. A request that failed may have been carried out, so only a caller that knows its meaning can repeat
///   it: the work queue runs the whole reconcile again.
///
/// There is no limit on requests per second unless `guards` have one: the API server protects itself (API priority and
/// fairness, on by default since Kubernetes 1.20, stable since 1.29) and knows its own capacity better than each client
/// does. controller-runtime has no limit either (`pkg/client/config/config.go`: `GetConfigWithContext`). The client of the
/// lease never has one: a limit could cost the lease. Neither have requests for webhooks, certificates and token reviews, for
/// which somebody waits.
///
/// # Errors
///
/// [`Error::Setup`] when credentials, certificates or the proxy cannot be used.
///
/// # Panics
///
/// Outside a Tokio runtime.
pub fn build(mut config: Config, agent: &str, metrics: &Metrics, guards: impl Into<Guards>) -> Result<Client> {
    // Retries by kube would repeat POSTs, and hide failures from the work queue.
    config.default_retry = false;
    if let Ok(agent) = HeaderValue::from_str(agent) {
        config.headers.retain(|(name, _)| name != USER_AGENT);
        config.headers.push((USER_AGENT, agent));
    }
    let host = config
        .cluster_url
        .authority()
        .map_or_else(String::new, |host| host.as_str().to_owned());
    let (host, rest, guards): (Arc<str>, _, _) = (host.into(), metrics.rest(), guards.into());
    let layer = layer_fn(|inner| Outbound::new(inner, host.clone(), rest.clone(), guards.clone()));
    Ok(connection::builder(config, |text| tracing::warn!("{text}"))
        .map_err(Error::Setup)?
        .with_layer(&layer)
        .build())
}

/// As [`build`], around a service that takes the place of the API server.
#[cfg(test)]
pub(crate) fn over<S, B>(service: S, namespace: &str, metrics: &Metrics, guards: impl Into<Guards>) -> Client
where
    S: tower::Service<http::Request<kube::client::Body>, Response = http::Response<B>> + Send + 'static,
    S::Error: Into<tower::BoxError>,
    S::Future: Send + 'static,
    B: http_body::Body<Data = bytes::Bytes> + Send + Unpin + 'static,
    B::Error: Into<tower::BoxError>,
{
    Client::new(
        Outbound::new(service, "in-process".into(), metrics.rest(), guards.into()),
        namespace,
    )
}

#[cfg(test)]
mod connection_tests;
#[cfg(test)]
mod tests;
