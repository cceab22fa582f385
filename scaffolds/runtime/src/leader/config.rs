//! How to run for a lease: names and durations.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use crate::{
    error::{Error, Result},
    options::Options,
};

/// Each delay between two tries to acquire is stretched by up to this factor more (client-go,
/// `tools/leaderelection/leaderelection.go`: `JitterFactor`).
pub(super) const JITTER: f64 = 1.2;

/// What to run for, and how.
#[derive(Clone, Debug)]
pub struct ElectionConfig {
    /// The lease's namespace.
    pub namespace: String,
    /// The lease's name: one for all processes that compete.
    pub name: String,
    /// Who this process is: unique for ever.
    pub identity: String,
    /// How long a lease that is not renewed keeps others out. 15 s as in controller-runtime.
    pub lease_duration: Duration,
    /// How long the leader goes on without a successful renewal. 10 s as in controller-runtime.
    pub renew_deadline: Duration,
    /// The delay between two tries. 2 s as in controller-runtime.
    pub retry_period: Duration,
    /// Whether [`Election::release`](super::Election::release) empties the lease, or leaves it to expire.
    pub release_on_cancel: bool,
}

impl ElectionConfig {
    /// The default durations, a fresh identity, and release on.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
            identity: identity(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            release_on_cancel: true,
        }
    }

    /// As the flags say.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when the durations do not fit together.
    pub fn from_options(options: &Options, name: &str, namespace: &str) -> Result<Self> {
        let config = Self {
            lease_duration: options.leader_elect_lease_duration,
            renew_deadline: options.leader_elect_renew_deadline,
            retry_period: options.leader_elect_retry_period,
            ..Self::new(name, namespace)
        };
        config.validate().map(|()| config)
    }

    /// client-go's rules: the leader has to give up before others may take over, and to try more than once before that.
    pub(super) fn validate(&self) -> Result<()> {
        let refuse = |text: &str| Err(Error::Setup(format!("leader election: {text}")));
        if self.lease_duration < Duration::from_secs(1) {
            return refuse("the lease duration must be a second or more");
        }
        if self.lease_duration <= self.renew_deadline {
            return refuse("the lease duration must be longer than the renew deadline");
        }
        if self.retry_period.is_zero() || self.renew_deadline <= self.retry_period.mul_f64(JITTER) {
            return refuse("the renew deadline must be longer than 1.2 retry periods, and those longer than nothing");
        }
        if self.identity.is_empty() || self.name.is_empty() || self.namespace.is_empty() {
            return refuse("lease, namespace and identity must have names");
        }
        Ok(())
    }

    /// How long one request may take: so that one that hangs does not cost the lease (controller-runtime,
    /// `pkg/leaderelection/leader_election.go`).
    pub(super) fn call_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }
}

/// `<host name>_<uuid>`: the host name, in a pod the pod's, for people; the rest so that no other process, nor this one after
/// a restart, is mistaken for it.
fn identity() -> String {
    let host = hostname::get()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    // The hasher's keys come from the operating system's entropy.
    let [high, low] = [0_u64, 1].map(|half| RandomState::new().hash_one((half, std::process::id())));
    // Version 4 and variant 1 of RFC 9562.
    let (high, low) = ((high & !0xf000) | 0x4000, (low & !(0b11 << 62)) | (0b10 << 62));
    let uuid = format!("{high:016x}{low:016x}");
    format!(
        "{host}_{}-{}-{}-{}-{}",
        &uuid[..8],
        &uuid[8..12],
        &uuid[12..16],
        &uuid[16..20],
        &uuid[20..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_must_fit_together() {
        let seconds = |lease, renew, retry: f64| ElectionConfig {
            lease_duration: Duration::from_secs(lease),
            renew_deadline: Duration::from_secs(renew),
            retry_period: Duration::from_secs_f64(retry),
            ..ElectionConfig::new("op", "default")
        };
        assert!(seconds(15, 10, 2.0).validate().is_ok());
        for (lease, renew, retry) in [(10, 10, 2.0), (15, 2, 2.0), (15, 10, 8.4), (15, 10, 0.0), (0, 0, 0.0)] {
            assert!(
                seconds(lease, renew, retry).validate().is_err(),
                "{lease} {renew} {retry}"
            );
        }
    }

    #[test]
    fn an_identity_is_never_given_twice() {
        let (one, two) = (identity(), identity());
        assert_ne!(one, two);
        let (_, uuid) = one.rsplit_once('_').unwrap();
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert_eq!(&uuid[14..15], "4");
    }
}
