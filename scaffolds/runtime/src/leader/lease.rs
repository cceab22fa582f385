//! Requests for the lease: read, create, replace, each with a time limit. The rules are in `elector.rs`.

use std::time::Duration;

use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
    jiff::Timestamp,
};
use kube::{Api, Client, api::PostParams};
use tokio::time::timeout;

use super::config::ElectionConfig;

/// The requests for one lease.
pub(super) struct Leases {
    api: Api<Lease>,
    name: String,
    timeout: Duration,
}

/// The reason that a request failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Another process wrote in between.
    #[error("another process wrote it first")]
    Conflict,
    /// The API server refused it, as it would again.
    #[error("{0}")]
    Refused(String),
    /// It is unknown whether the request was carried out.
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
        self.bounded(self.api.get_opt(&self.name), &[]).await
    }

    /// Fails with a conflict if the lease exists.
    pub(super) async fn create(&self, spec: LeaseSpec) -> Result<Lease, Failure> {
        let metadata = ObjectMeta {
            name: Some(self.name.clone()),
            ..ObjectMeta::default()
        };
        let lease = Lease {
            metadata,
            spec: Some(spec),
        };
        // A 404 is about the namespace.
        self.bounded(self.api.create(&PostParams::default(), &lease), &[409])
            .await
    }

    /// Fails with a conflict if the lease has changed since it was read.
    pub(super) async fn replace(&self, read: &Lease, spec: LeaseSpec) -> Result<Lease, Failure> {
        let lease = Lease {
            metadata: read.metadata.clone(),
            spec: Some(spec),
        };
        // A lease that was deleted after it was read cannot be replaced either.
        self.bounded(
            self.api.replace(&self.name, &PostParams::default(), &lease),
            &[404, 409],
        )
        .await
    }

    /// The answer within the time limit. An error with one of the codes `conflicts` is a conflict.
    async fn bounded<T>(&self, call: impl Future<Output = kube::Result<T>>, conflicts: &[u16]) -> Result<T, Failure> {
        match timeout(self.timeout, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(kube::Error::Api(status))) if conflicts.contains(&status.code) => Err(Failure::Conflict),
            Ok(Err(kube::Error::Api(status))) => {
                let text = format!("{} ({})", status.message, status.code);
                let is_refused = (400..500).contains(&status.code) && status.code != 429;
                Err(if is_refused {
                    Failure::Refused(text)
                } else {
                    Failure::Unknown(text)
                })
            }
            Ok(Err(error)) => Err(Failure::Unknown(error.to_string())),
            Err(_) => Err(Failure::Unknown(format!("no answer within {:?}", self.timeout))),
        }
    }
}

/// The holder of the lease; empty if it has none.
pub(super) fn holder(lease: &Lease) -> &str {
    lease
        .spec
        .as_ref()
        .and_then(|spec| spec.holder_identity.as_deref())
        .unwrap_or_default()
}

/// The spec with which `config`'s process acquires or renews the lease. Fields that others set stay.
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
    // Rounded up: others may wait too long, but never too short.
    spec.lease_duration_seconds = Some(config.lease_duration.as_secs_f64().ceil() as i32);
    spec.renew_time = Some(now);
    spec
}

/// The spec of a released lease, as client-go writes it: without a holder, and with a duration of one second for those
/// who only check that.
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
