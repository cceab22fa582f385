//! The rules of the election: when to try, when another holder is gone, when to give up.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, timeout, timeout_at},
};
use tracing::{debug, info, warn};

use super::{
    LostReason, Orders, Parting, State,
    config::{ElectionConfig, JITTER},
    lease::{Failure, Leases, held, holder, released},
};
use crate::{jitter::Jitter, metrics::Gauge};

/// One process' part in the election.
pub(super) struct Elector {
    config: ElectionConfig,
    leases: Leases,
    state: watch::Sender<State>,
    orders: Orders,
    gauge: Gauge,
    jitter: Jitter,
    /// The lease as we wrote it, unless something has gone wrong since.
    ours: Option<Lease>,
    /// What the lease said when it last said something new, and when that was, by our clock.
    seen: Option<(LeaseSpec, Instant)>,
    known_holder: String,
    /// A write that would make the lease ours was sent, and was not refused.
    perhaps_ours: bool,
}

/// What one try came to.
enum Tried {
    /// The lease is ours; the request that made it so was sent at this time.
    Held { sent: Instant },
    /// It is somebody else's.
    HeldBy(String),
    /// Another process wrote first; whose it is shows the next try.
    Beaten,
    /// Nobody knows.
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

    /// Runs for the lease, holds it, and ends when it is lost or to be released.
    pub(super) async fn run(mut self) {
        let mut stop = self.orders.stopped.clone();
        let asked = async { stop.wait_for(Option::is_some).await.map_or(None, |asked| *asked) };
        let reason = select! {
            biased;
            // Cut off wherever it is: the release reads the lease anew.
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
        // An error means that the handle is gone, and `run` ends.
        let _ = self.orders.want.wait_for(|wanted| *wanted).await;
        let sent = self.acquire().await;
        info!(lease = self.config.name, "leading");
        self.gauge.set(1.0);
        let reason = self.renew(sent).await;
        warn!(lease = self.config.name, "the leader lease is lost: {reason}");
        reason
    }

    /// Tries until the lease is ours.
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

    /// Renews until that fails for too long or somebody else holds the lease. `sent` is when the lease became ours.
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

    /// Tries to take the lease, or to keep it. A leader writes over the version it wrote last; if that fails, and for
    /// everybody else, what is there is read first.
    async fn try_once(&mut self, leading: bool) -> Tried {
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
            // A leader takes nothing: whoever emptied the lease may have led in between.
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

    /// Whether the lease is nobody's, or its holder was seen not to renew it for its whole duration. The duration counts
    /// from when *we* first saw what it says, never from the times in it: those are of another clock.
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

    /// Gives the lease back, if it is ours.
    async fn release(&mut self) {
        // Before the request: from here on nothing may be written in the lease's name.
        self.state.send_replace(State::Candidate);
        if !self.perhaps_ours || !self.config.release_on_cancel {
            return;
        }
        let give_back = async {
            while let Some(lease) = self
                .leases
                .get()
                .await?
                .filter(|lease| holder(lease) == self.config.identity)
            {
                match self.leases.replace(&lease, released(&lease)).await {
                    // Our own last renewal arrived in between.
                    Err(Failure::Conflict) => {}
                    replaced => return replaced.map(|_| true),
                }
            }
            Ok(false)
        };
        match timeout(self.config.call_timeout(), give_back).await {
            Ok(Ok(true)) => info!(lease = self.config.name, "released the leader lease"),
            Ok(Ok(false)) => {}
            Ok(Err(failure)) => warn!("the leader lease could not be released, and will expire: {failure}"),
            Err(_) => warn!("the leader lease could not be released in time, and will expire"),
        }
    }
}

impl From<Failure> for Tried {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Conflict => Self::Beaten,
            Failure::Unknown(error) => Self::Failed(error),
        }
    }
}
