//! The certificates of the webhook server and of the metrics server: the operator makes and renews its own, and keeps those of
//! each server in a Secret. It names the authorities for API servers in its webhook configurations, and for Prometheus in a
//! ConfigMap, so that nobody else has to read a Secret with a key.
//!
//! The steps of a renewal, see `plan`, in which A and B are authorities:
//!
//! ```text
//! A signs --Announce--> A signs, B is trusted too --Switch--> B signs, A is trusted too --Forget--> B signs
//! ```
//!
//! `Renew` replaces the server's certificate in any of these states. `Restart` follows if A ends before the switch, or is not
//! valid yet: B signs at once.

mod clock;
mod configurations;
mod definitions;
mod followed;
mod issue;
mod keeper;
mod names;
mod plan;
pub mod secret;
mod task;
mod trust;

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use kube::Client;

#[cfg(feature = "testing")]
pub use self::{configurations::REVISION, definitions::empty_review, plan::State};
pub use self::{
    followed::{CONFIGURATIONS, Configured, Converting},
    keeper::Keeper,
    names::Affixes,
    plan::Lifetimes,
    task::keep,
};
use crate::metrics::Metrics;

/// A hint for a component whose object does not exist.
fn hint(component: &str) -> String {
    format!(
        "add {component} to the components of config/default; if its objects have another prefix or suffix than the \
         operator's ServiceAccount, pass them as --webhook-name-prefix and --webhook-name-suffix"
    )
}

/// The names of a server that uses certificates of the operator's own, without the prefix and suffix that kustomize adds.
#[derive(Clone, Copy)]
pub struct ServerIdentity {
    /// The server, in messages.
    pub name: &'static str,
    /// The Secret with the certificates.
    pub secret: &'static str,
    /// The Service that leads to the server.
    pub service: &'static str,
    /// The ConfigMap with its authorities, for clients other than API servers.
    pub authorities: Option<&'static str>,
    /// The component with the Service and the ConfigMap, below `config/`.
    pub component: &'static str,
    /// The metric of the seconds until the certificate expires.
    pub metric: &'static str,
}

impl ServerIdentity {
    /// The metrics server, as in the templates of `config/metrics` and `config/prometheus`.
    pub const METRICS: Self = Self {
        name: "the metrics server",
        secret: "metrics-server-cert",
        service: "controller-manager-metrics-service",
        authorities: Some("metrics-server-ca"),
        component: "../prometheus",
        metric: "kubewright_metrics_certificate_expiry_seconds",
    };
}

/// The purpose and the lifetimes of certificates.
pub struct Settings {
    /// The names of the server.
    pub identity: ServerIdentity,
    /// It may write on a standby too: whichever replica is first renews, and the others see it.
    pub client: Client,
    /// The operator's name, a part of its field manager.
    pub operator: String,
    /// The namespace of the operator.
    pub namespace: String,
    /// The prefix and the suffix of names.
    pub affixes: Affixes,
    /// The prefix and the suffix of names of configurations.
    pub configuration_affixes: Affixes,
    /// Further names and addresses of the server.
    pub hosts: Vec<String>,
    /// The configurations that API servers follow.
    pub configured: Vec<Configured>,
    /// The conversions that the operator serves.
    pub converting: Vec<Converting>,
    /// The addresses of the webhook server.
    pub reach: WebhookAddress,
    /// The periods of a renewal.
    pub pace: RenewalTiming,
}

/// The addresses of the webhook server.
#[derive(Clone, Default)]
pub struct WebhookAddress {
    /// Its address, for this process itself.
    pub address: Option<SocketAddr>,
    /// The URL under which API servers reach it, if not through its Service.
    pub url: Option<String>,
    /// Whether this process runs in the cluster, and so reaches the Service.
    pub in_cluster: bool,
}

/// The periods of a renewal.
#[derive(Clone, Copy)]
pub struct RenewalTiming {
    /// The lifetimes.
    pub lives: Lifetimes,
    /// The time between the announcement of a new authority and its first signature: API servers see a change of a configuration a moment later.
    pub settle: Duration,
    /// The interval of the checks for a due step.
    pub look: Duration,
}

impl RenewalTiming {
    /// The periods of the webhook server.
    pub const DEFAULT: Self = Self {
        lives: Lifetimes::DEFAULT,
        settle: Duration::from_secs(5),
        look: Duration::from_secs(10),
    };

    /// Prometheus reads authorities from a Secret that its operator makes of the ConfigMap, and that a kubelet mounts:
    /// within some minutes. An hour is also enough for a client that copies them every half hour.
    pub const METRICS: Self = Self {
        settle: Duration::from_secs(3_600),
        ..Self::DEFAULT
    };
}

/// The status of the certificate that is served. Clones share it.
#[derive(Clone)]
pub struct CertificateStatus {
    /// `Ok` if API servers accept the certificate, else the reason.
    accepted: Arc<Mutex<Result<(), String>>>,
    /// The end of its validity, in seconds since 1970; 0 without a certificate.
    until: Arc<AtomicI64>,
}

impl CertificateStatus {
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
    pub fn check(&self) -> Result<(), String> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, accepted: Result<(), String>, until: i64) {
        *self.accepted.lock().unwrap_or_else(PoisonError::into_inner) = accepted;
        self.until.store(until, Ordering::Relaxed);
    }

    fn register(&self, metrics: &Metrics, identity: ServerIdentity) {
        let until = self.until.clone();
        let left = move || match until.load(Ordering::Relaxed) {
            0 => 0.0,
            until => (until - now()) as f64,
        };
        let help = format!(
            "Seconds until the certificate of {} ends; negative afterwards.",
            identity.name
        );
        metrics.computed(identity.metric, &help, &[], left);
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let elapsed = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(all(test, feature = "testing"))]
mod tests;
