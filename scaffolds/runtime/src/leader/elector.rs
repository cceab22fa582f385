//! The rules of the election: when to try, when another holder counts as gone, when to stop leading.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, timeout_at},
};
use tracing::{debug, info, warn};

use super::{
    LostReason, Orders, Parting, State,
    config::{ElectionConfig, JITTER},
    lease::{Failure, Leases, held, holder, released},
};
use crate::{heartbeat::Heartbeat, jitter::Jitter, metrics::Gauge};

/// The time before the lease is released again, after a request that failed.
const RELEASE_PAUSE: Duration = Duration::from_millis(250);

/// One process that takes part in the election.
pub(super) struct Elector {
    config: ElectionConfig,
    leases: Leases,
    state: watch::Sender<State>,
    orders: Orders,
    gauge: Gauge,
    jitter: Jitter,
    /// The lease as we wrote it, unless a request has failed since.
    ours: Option<Lease>,
    /// The last changed spec of the lease, and when we saw it, by our own clock.
    seen: Option<(LeaseSpec, Instant)>,
    known_holder: String,
    /// We sent a write that acquires the lease, and it was not refused.
    perhaps_ours: bool,
}

/// The result of one try.
enum Tried {
    /// We hold the lease; the request that acquired or renewed it was sent at this time.
    Held { sent: Instant },
    /// Another process holds it.
    HeldBy(String),
    /// Another process wrote first; the next try shows which one holds the lease.
    Beaten,
    /// The result is unknown.
    Failed(String),
}

impl Elector {
    pub(super) fn new(
        config: ElectionConfig,
        leases: Leases,
        state: watch::Sender<State>,
        orders: Orders,
        gauge: Gauge,
    ) -> Self {
        let (ours, seen, known_holder, perhaps_ours) = Default::default();
        let jitter = Jitter::random();
        Self {
            config,
            leases,
            state,
            orders,
            gauge,
            jitter,
            ours,
            seen,
            known_holder,
            perhaps_ours,
        }
    }

    /// Acquires the lease, holds it, and ends when it is lost or to be released.
    pub(super) async fn run(mut self) {
        let mut stop = self.orders.stopped.clone();
        let asked = async { stop.wait_for(Option::is_some).await.map_or(None, |asked| *asked) };
        let reason = select! {
            biased;
            // Cancelled at any await: the release reads the lease again.
            asked = asked => {
                if asked == Some(Parting::Release) {
                    self.release().await;
                }
                LostReason::Released
            }
            reason = self.compete() => reason,
        };
        self.gauge.set(0.0);
        self.state.send_replace(State::Ended(reason));
    }

    async fn compete(&mut self) -> LostReason {
        // An error means that the handle was dropped, and `run` ends.
        let _ = self.orders.want.wait_for(|wanted| *wanted).await;
        let sent = self.acquire().await;
        info!(lease = self.config.name, "leading");
        self.gauge.set(1.0);
        let reason = self.renew(sent).await;
        warn!(lease = self.config.name, "the leader lease is lost: {reason}");
        reason
    }

    /// Tries until we hold the lease.
    async fn acquire(&mut self) -> Instant {
        info!(
            lease = self.config.name,
            identity = self.config.identity,
            "running for the leader lease"
        );
        loop {
            match self.try_once(false).await {
                Tried::Held { sent } => return sent,
                Tried::HeldBy(holder) => self.stand_by(holder),
                Tried::Beaten => debug!("another process was faster"),
                Tried::Failed(error) => warn!("the leader lease could not be acquired: {error}"),
            }
            sleep(self.jitter.scale(self.config.retry_period, 1.0, 1.0 + JITTER)).await;
        }
    }

    fn stand_by(&mut self, holder: String) {
        if self.known_holder != holder {
            info!(lease = self.config.name, holder, "standing by");
            self.known_holder = holder;
        }
    }

    /// Renews until that fails for too long or another process holds the lease. `sent` is when the lease was acquired.
    async fn renew(&mut self, sent: Instant) -> LostReason {
        let mut until = sent + self.config.renew_deadline;
        let mut failure = "no answer".to_owned();
        loop {
            self.state.send_replace(State::Leading { until });
            let pause = self.config.retry_period;
            let tried = timeout_at(until, async {
                sleep(pause).await;
                self.try_once(true).await
            });
            match tried.await {
                Ok(Tried::Held { sent }) => until = sent + self.config.renew_deadline,
                Ok(Tried::HeldBy(holder)) => return LostReason::TakenOver(holder),
                Ok(Tried::Beaten) => "another process writes the lease".clone_into(&mut failure),
                Ok(Tried::Failed(error)) => {
                    debug!("the leader lease could not be renewed: {error}");
                    failure = error;
                }
                Err(_) => return LostReason::NotRenewed(failure),
            }
        }
    }

    /// Tries to acquire or renew the lease. A leader replaces the version it wrote last; after a failure, and in a
    /// candidate, the lease is read first.
    async fn try_once(&mut self, leading: bool) -> Tried {
        if let Some(Err(stuck)) = self.orders.heartbeat.get().map(Heartbeat::check) {
            return Tried::Failed(stuck);
        }
        if let Some(ours) = self.ours.take() {
            let sent = Instant::now();
            if let Ok(lease) = self.leases.replace(&ours, held(Some(&ours), &self.config)).await {
                return self.hold(lease, sent);
            }
        }
        let read = match self.leases.get().await {
            Ok(read) => read,
            Err(failure) => return Tried::from(failure),
        };
        if let Some(lease) = &read {
            let holder = holder(lease).to_owned();
            // A leader does not acquire: another process may have led since the holder was cleared.
            if holder != self.config.identity && (leading || !self.is_free(lease)) {
                return Tried::HeldBy(holder);
            }
        }
        let (spec, sent) = (held(read.as_ref(), &self.config), Instant::now());
        self.perhaps_ours = true;
        let written = match &read {
            None => self.leases.create(spec).await,
            Some(lease) => self.leases.replace(lease, spec).await,
        };
        match written {
            Ok(lease) => self.hold(lease, sent),
            Err(failure) => {
                self.perhaps_ours = leading || !matches!(failure, Failure::Conflict);
                Tried::from(failure)
            }
        }
    }

    fn hold(&mut self, lease: Lease, sent: Instant) -> Tried {
        self.ours = Some(lease);
        Tried::Held { sent }
    }

    /// Whether the lease has no holder, or its holder has not renewed it for its whole duration. The duration counts
    /// from when *we* first saw the current spec, never from the times in it: those are of another clock.
    fn is_free(&mut self, lease: &Lease) -> bool {
        if holder(lease).is_empty() {
            return true;
        }
        let spec = lease.spec.clone().unwrap_or_default();
        let now = Instant::now();
        let promised = spec
            .lease_duration_seconds
            .and_then(|seconds| u64::try_from(seconds).ok());
        let duration = promised.map_or(self.config.lease_duration, Duration::from_secs);
        match &self.seen {
            Some((seen, since)) if *seen == spec => now.saturating_duration_since(*since) > duration,
            _ => {
                self.seen = Some((spec, now));
                false
            }
        }
    }

    /// Releases the lease, if we hold it. A request that fails is repeated for the time limit of one request.
    async fn release(&mut self) {
        // Before the request: from here on this process must not write.
        self.state.send_replace(State::Candidate);
        if !self.perhaps_ours || !self.config.release_on_cancel {
            return;
        }
        let give_back = async || -> Result<bool, Failure> {
            while let Some(lease) = self
                .leases
                .get()
                .await?
                .filter(|lease| holder(lease) == self.config.identity)
            {
                match self.leases.replace(&lease, released(&lease)).await {
                    // Our own last renewal was carried out in between.
                    Err(Failure::Conflict) => {}
                    replaced => return replaced.map(|_| true),
                }
            }
            Ok(false)
        };
        let deadline = Instant::now() + self.config.call_timeout();
        let mut last = "no response".to_owned();
        let outcome = loop {
            match timeout_at(deadline, give_back()).await {
                Ok(Ok(given_back)) => break Some(given_back),
                // The next leader would wait for the lease to expire.
                Ok(Err(failure)) => last = failure.to_string(),
                Err(_) => break None,
            }
            debug!("the leader lease could not be released, and is tried again: {last}");
            sleep(RELEASE_PAUSE).await;
            if Instant::now() >= deadline {
                break None;
            }
        };
        match outcome {
            Some(true) => info!(lease = self.config.name, "released the leader lease"),
            Some(false) => {}
            None => warn!("the leader lease could not be released in time, and will expire: {last}"),
        }
    }
}

impl From<Failure> for Tried {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Conflict => Self::Beaten,
            Failure::Refused(error) | Failure::Unknown(error) => Self::Failed(error),
        }
    }
}
