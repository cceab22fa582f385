//! The certificates of the webhook server and of the metrics server: the operator makes and renews its own, and keeps those of
//! each server in a Secret. It names the authorities for API servers in its webhook configurations, and for Prometheus in a
//! ConfigMap, so that nobody else has to read a Secret with a key.

mod configurations;
mod definitions;
mod followed;
mod issue;
mod keeper;
mod names;
mod plan;
mod secret;
mod task;
mod trust;

#[cfg(feature = "webhooks")]
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use kube::Client;

/// The name of the Secret with the certificates of the webhook server. Kustomize puts a prefix before it.
#[cfg(any(feature = "testing", feature = "webhooks"))]
pub(crate) use kubewright_schema::webhook::SECRET;
/// The name of the Service of the webhook server. Kustomize puts a prefix before it.
#[cfg(feature = "webhooks")]
pub(crate) use kubewright_schema::webhook::SERVICE;

#[cfg(feature = "testing")]
pub(crate) use self::configurations::REVISION;
#[cfg(test)]
pub(crate) use self::definitions::empty_review;
#[cfg(any(feature = "testing", feature = "webhooks"))]
pub(crate) use self::followed::CONFIGURATIONS;
pub(crate) use self::{
    followed::{Configured, Converting},
    keeper::Keeper,
    names::Affixes,
    plan::Lives,
    task::keep,
};
use crate::metrics::Metrics;

/// A hint for a component whose object does not exist.
fn hint(component: &str) -> String {
    format!(
        "add {component} to the components of config/default; if its objects have another prefix than the operator's \
         ServiceAccount, pass the prefix as --webhook-name-prefix"
    )
}

/// The names of a server that uses certificates of the operator's own, without the prefix and suffix that kustomize adds.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    /// The server, in messages.
    pub(crate) name: &'static str,
    /// The Secret with the certificates.
    pub(crate) secret: &'static str,
    /// The Service that leads to the server.
    pub(crate) service: &'static str,
    /// The ConfigMap with its authorities, for clients other than API servers.
    pub(crate) authorities: Option<&'static str>,
    /// The component with the Service and the ConfigMap, below `config/`.
    pub(crate) component: &'static str,
    /// The metric of the seconds until the certificate expires.
    pub(crate) metric: &'static str,
}

impl Shown {
    #[cfg(feature = "webhooks")]
    pub(crate) const WEBHOOKS: Self = Self {
        name: "the webhook server",
        secret: SECRET,
        service: SERVICE,
        authorities: None,
        component: "../webhook",
        metric: "kubewright_webhook_certificate_expiry_seconds",
    };

    /// As in the templates of `config/metrics` and `config/prometheus`.
    pub(crate) const METRICS: Self = Self {
        name: "the metrics server",
        secret: "metrics-server-cert",
        service: "controller-manager-metrics-service",
        authorities: Some("metrics-server-ca"),
        component: "../prometheus",
        metric: "kubewright_metrics_certificate_expiry_seconds",
    };
}

/// The purpose and the lifetimes of certificates.
pub(crate) struct Settings {
    pub(crate) shown: Shown,
    /// It may write on a standby too: whichever replica is first renews, and the others see it.
    pub(crate) client: Client,
    /// The operator's name, a part of its field manager.
    pub(crate) operator: String,
    /// The namespace of the operator.
    pub(crate) namespace: String,
    /// The prefix and the suffix of names.
    pub(crate) affixes: Affixes,
    /// The prefix and the suffix of names of configurations.
    pub(crate) configuration_affixes: Affixes,
    /// Further names and addresses of the server.
    pub(crate) hosts: Vec<String>,
    /// The configurations that API servers follow.
    pub(crate) configured: Vec<Configured>,
    /// The conversions that the operator serves.
    pub(crate) converting: Vec<Converting>,
    pub(crate) reach: Reach,
    pub(crate) pace: Pace,
}

/// The addresses of the webhook server.
#[derive(Clone, Default)]
pub(crate) struct Reach {
    /// Its address, for this process itself.
    pub(crate) address: Option<SocketAddr>,
    /// The URL under which API servers reach it, if not through its Service.
    pub(crate) url: Option<String>,
    /// Whether this process runs in the cluster, and so reaches the Service.
    pub(crate) in_cluster: bool,
}

#[cfg(feature = "webhooks")]
impl Reach {
    /// The address at which this process reaches a server that listens on `address`; the loopback address, if the server listens on all.
    pub(crate) fn local(address: SocketAddr) -> SocketAddr {
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        SocketAddr::new(ip, address.port())
    }
}

/// The periods of a renewal.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) lives: Lives,
    /// The time between the announcement of a new authority and its first signature: API servers see a change of a configuration a moment later.
    pub(crate) settle: Duration,
    /// The interval of the checks for a due step.
    pub(crate) look: Duration,
}

impl Pace {
    pub(crate) const DEFAULT: Self = Self {
        lives: Lives::DEFAULT,
        settle: Duration::from_secs(5),
        look: Duration::from_secs(10),
    };

    /// Prometheus reads authorities from a Secret that its operator makes of the ConfigMap, and that a kubelet mounts:
    /// within some minutes. An hour is also enough for a client that copies them every half hour.
    pub(crate) const METRICS: Self = Self {
        settle: Duration::from_secs(3_600),
        ..Self::DEFAULT
    };
}

/// The status of the certificate that is served. Clones share it.
#[derive(Clone)]
pub(crate) struct Standing {
    /// `Ok` if API servers accept the certificate, else the reason.
    accepted: Arc<Mutex<Result<(), String>>>,
    /// The end of its validity, in seconds since 1970; 0 without a certificate.
    until: Arc<AtomicI64>,
}

impl Standing {
    fn new() -> Self {
        Self {
            accepted: Arc::new(Mutex::new(Err("there is no certificate yet".to_owned()))),
            until: Arc::default(),
        }
    }

    /// Whether API servers accept the certificate.
    ///
    /// # Errors
    ///
    /// The reason, if they do not.
    #[cfg(feature = "webhooks")]
    pub(crate) fn check(&self) -> Result<(), String> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, accepted: Result<(), String>, until: i64) {
        *self.accepted.lock().unwrap_or_else(PoisonError::into_inner) = accepted;
        self.until.store(until, Ordering::Relaxed);
    }

    fn register(&self, metrics: &Metrics, shown: Shown) {
        let until = self.until.clone();
        let left = move || match until.load(Ordering::Relaxed) {
            0 => 0.0,
            until => (until - now()) as f64,
        };
        let help = format!(
            "Seconds until the certificate of {} ends; negative afterwards.",
            shown.name
        );
        metrics.computed(shown.metric, &help, &[], left);
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let elapsed = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(all(test, feature = "testing"))]
mod tests;
