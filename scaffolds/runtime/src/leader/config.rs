//! The configuration of the leader election: names and durations.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use crate::{
    error::{Error, Result},
    options::Options,
};

/// Each delay between two tries to acquire is lengthened by up to this factor (client-go,
/// `tools/leaderelection/leaderelection.go`: `JitterFactor`).
pub(super) const JITTER: f64 = 1.2;

/// The lease, and how to acquire and renew it.
#[derive(Clone, Debug)]
pub struct ElectionConfig {
    /// The lease's namespace.
    pub namespace: String,
    /// The lease's name: the same for all competing processes.
    pub name: String,
    /// The identity of this process: never used by another one.
    pub identity: String,
    /// The time that other processes wait for a lease that is not renewed. 15 s as in controller-runtime.
    pub lease_duration: Duration,
    /// The time that the leader continues without a successful renewal. 10 s as in controller-runtime.
    pub renew_deadline: Duration,
    /// The delay between two tries. 2 s as in controller-runtime.
    pub retry_period: Duration,
    /// Whether [`Election::release`](super::Election::release) clears the holder of the lease, or leaves it to expire.
    pub release_on_cancel: bool,
}

impl ElectionConfig {
    /// The default durations, a new identity, and release enabled.
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

    /// The configuration from the flags.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the durations are inconsistent.
    pub fn from_options(options: &Options, name: &str, namespace: &str) -> Result<Self> {
        let config = Self {
            lease_duration: options.leader_elect_lease_duration,
            renew_deadline: options.leader_elect_renew_deadline,
            retry_period: options.leader_elect_retry_period,
            ..Self::new(name, namespace)
        };
        config.validate().map(|()| config)
    }

    /// client-go's rules: the leader has to stop before others may take over, and to try more than once before that.
    pub(super) fn validate(&self) -> Result<()> {
        let refuse = |text: &str| Err(Error::Setup(format!("leader election: {text}")));
        if self.lease_duration < Duration::from_secs(1) {
            return refuse("the lease duration must be a second or more");
        }
        if self.lease_duration <= self.renew_deadline {
            return refuse("the lease duration must be longer than the renew deadline");
        }
        if self.retry_period.is_zero() || self.renew_deadline <= self.retry_period.mul_f64(JITTER) {
            return refuse(
                "the renew deadline must be longer than 1.2 retry periods, and the retry period longer than 0",
            );
        }
        if self.identity.is_empty() || self.name.is_empty() || self.namespace.is_empty() {
            return refuse("lease, namespace and identity must have names");
        }
        Ok(())
    }

    /// The time limit of one request, so that a hanging request does not lose the lease (controller-runtime,
    /// `pkg/leaderelection/leader_election.go`).
    pub(super) fn call_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }
}

/// `<host name>_<uuid>`: the host name, in a pod the pod's name, is for people; the rest distinguishes this process
/// from all others, and from itself after a restart.
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
    fn inconsistent_durations_are_refused() {
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
    fn identities_are_unique() {
        let (one, two) = (identity(), identity());
        assert_ne!(one, two);
        let (_, uuid) = one.rsplit_once('_').unwrap();
        assert_eq!(uuid.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert_eq!(&uuid[14..15], "4");
    }
}
