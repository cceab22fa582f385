//! The lease as the API server keeps it: read, created, replaced; each request bounded in time. No rules here.

use std::time::Duration;

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
    jiff::Timestamp,
};
use kube::{Api, Client, api::PostParams};
use tokio::time::timeout;

use super::config::ElectionConfig;

/// The requests about one lease.
pub(super) struct Leases {
    api: Api<Lease>,
    name: String,
    timeout: Duration,
}

/// Why a request did not do what it should.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Somebody else wrote in between.
    #[error("somebody else wrote it first")]
    Conflict,
    /// Nobody knows whether it was done.
    #[error("{0}")]
    Unknown(String),
}

impl Leases {
    pub(super) fn new(client: Client, config: &ElectionConfig) -> Self {
        let api = Api::namespaced(client, &config.namespace);
        Self {
            api,
            name: config.name.clone(),
            timeout: config.call_timeout(),
        }
    }

    pub(super) async fn get(&self) -> Result<Option<Lease>, Failure> {
        self.bounded(self.api.get_opt(&self.name)).await
    }

    /// Fails with a conflict when the lease exists.
    pub(super) async fn create(&self, spec: LeaseSpec) -> Result<Lease, Failure> {
        let metadata = ObjectMeta {
            name: Some(self.name.clone()),
            ..ObjectMeta::default()
        };
        let lease = Lease {
            metadata,
            spec: Some(spec),
        };
        self.bounded(self.api.create(&PostParams::default(), &lease)).await
    }

    /// Fails with a conflict when the lease is not the one that was read, at the version that was read.
    pub(super) async fn replace(&self, read: &Lease, spec: LeaseSpec) -> Result<Lease, Failure> {
        let lease = Lease {
            metadata: read.metadata.clone(),
            spec: Some(spec),
        };
        self.bounded(self.api.replace(&self.name, &PostParams::default(), &lease))
            .await
    }

    async fn bounded<T>(&self, call: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
        match timeout(self.timeout, call).await {
            Ok(Ok(answer)) => Ok(answer),
            // A lease that is gone cannot be replaced either: it was read, and then somebody deleted it.
            Ok(Err(kube::Error::Api(status))) if matches!(status.code, 404 | 409) => Err(Failure::Conflict),
            Ok(Err(kube::Error::Api(status))) => Err(Failure::Unknown(format!("{} ({})", status.message, status.code))),
            Ok(Err(error)) => Err(Failure::Unknown(error.to_string())),
            Err(_) => Err(Failure::Unknown(format!("no answer within {:?}", self.timeout))),
        }
    }
}

/// Who holds the lease; empty when nobody does.
pub(super) fn holder(lease: &Lease) -> &str {
    lease
        .spec
        .as_ref()
        .and_then(|spec| spec.holder_identity.as_deref())
        .unwrap_or_default()
}

/// The lease as `config`'s process holds it from now on, or renews it. What others put there stays.
pub(super) fn held(before: Option<&Lease>, config: &ElectionConfig) -> LeaseSpec {
    let (renewed, now) = (
        before.is_some_and(|lease| holder(lease) == config.identity),
        MicroTime(Timestamp::now()),
    );
    let mut spec = before.and_then(|lease| lease.spec.clone()).unwrap_or_default();
    if !renewed {
        let transitions = spec.lease_transitions.unwrap_or_default();
        spec.lease_transitions = Some(if before.is_some() {
            transitions.saturating_add(1)
        } else {
            transitions
        });
        spec.acquire_time = Some(now.clone());
        spec.holder_identity = Some(config.identity.clone());
    }
    // Rounded up: others wait rather too long than too short.
    spec.lease_duration_seconds = Some(config.lease_duration.as_secs_f64().ceil() as i32);
    spec.renew_time = Some(now);
    spec
}

/// The lease given back, as client-go gives it back: nobody's, and over in a second even for those who look only at that.
pub(super) fn released(before: &Lease) -> LeaseSpec {
    let now = Some(MicroTime(Timestamp::now()));
    LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        acquire_time: now.clone(),
        renew_time: now,
        ..before.spec.clone().unwrap_or_default()
    }
}
