//! Leader election: of several processes with one lease, one is active. This file has the handle for the rest of the
//! process; the rules are in `elector.rs`.

mod config;
mod elector;
mod lease;

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use kube::{Client, Config};
use tokio::{
    runtime, select,
    sync::watch,
    time::{Instant, sleep_until, timeout},
};
use tracing::warn;

pub use self::config::ElectionConfig;
use self::{elector::Elector, lease::Leases};
use crate::{
    client::{self, WriteGate},
    error::{Error, Result},
    heartbeat::Heartbeat,
    metrics::Metrics,
};

/// Acquires a lease and renews it.
///
/// # Guarantees
///
/// - The API server has at most one holder: every write of the lease names the version it was read at.
/// - A holder counts as gone only after this process has *observed* no renewal for the whole lease duration, by its own
///   monotonic clock. Wall clocks are not compared.
/// - [`is_leader`](Self::is_leader) is false once the renew deadline has passed since the last renewal that succeeded
///   was *sent*, by the clock at the moment of the call: also if this process was stopped or starved.
///
/// # Caveats
///
/// A request that was sent in time may arrive late, when another process leads. This window is short, but it exists:
/// the Kubernetes API has no fencing.
///
/// # Threads
///
/// The election has its own thread, runtime and connection, so that neither a reconcile that uses much CPU nor many
/// concurrent requests delay its renewals. A process whose main runtime is stuck loses the lease all the same: see
/// [`depend_on`](Self::depend_on).
pub struct Election {
    state: watch::Receiver<State>,
    /// If it is dropped, the election ends as with [`Parting::Abandon`].
    stop: watch::Sender<Option<Parting>>,
    /// Whether this process is to run for the lease.
    wanted: watch::Sender<bool>,
    heartbeat: Arc<OnceLock<Heartbeat>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
    /// The time limit for the end of the election's thread.
    patience: Duration,
}

/// The end of an election.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Parting {
    /// The lease is released.
    Release,
    /// The lease is left to expire.
    Abandon,
}

/// Messages to the elector.
struct Orders {
    stopped: watch::Receiver<Option<Parting>>,
    want: watch::Receiver<bool>,
    /// While it has stalled, the lease is neither acquired nor renewed.
    heartbeat: Arc<OnceLock<Heartbeat>>,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Candidate,
    Leading { until: Instant },
    Ended(LostReason),
}

/// The reason that this process no longer leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// No renewal succeeded in time; with the last failure.
    NotRenewed(String),
    /// Another process holds the lease, or the lease has no holder.
    TakenOver(String),
    /// It was released.
    Released,
    /// The election's thread has ended, which should not happen.
    Ended,
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRenewed(error) => write!(f, "it could not be renewed in time: {error}"),
            Self::TakenOver(holder) if holder.is_empty() => f.write_str("its holder was removed"),
            Self::TakenOver(holder) => write!(f, "`{holder}` holds it"),
            Self::Released => f.write_str("it was released"),
            Self::Ended => f.write_str("the election ended unexpectedly"),
        }
    }
}

impl Election {
    /// Prepares to acquire the lease, on a thread of its own, once [`begin`](Self::begin) is called.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the durations are inconsistent or no thread can be started, [`Error::Kube`] if the
    /// credentials cannot be used.
    pub fn start(config: ElectionConfig, kube: Config, metrics: &Metrics) -> Result<Self> {
        config.validate()?;
        let thread = |error| Error::Setup(format!("cannot start the thread of the leader election: {error}"));
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(thread)?;
        let built = {
            let _inside = runtime.enter();
            client::build(
                kube,
                &format!("{} leader-election", config.name),
                metrics,
                WriteGate::open(),
            )
        };
        let client = match built {
            Ok(client) => client,
            Err(error) => {
                // Dropping a runtime inside another one panics.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let (election, elector) = Self::new(config, client, metrics);
        let name = "leader-election".to_owned();
        let handle = thread::Builder::new()
            .name(name)
            .spawn(move || runtime.block_on(elector.run()))
            .map_err(thread)?;
        *election.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
        Ok(election)
    }

    /// As [`start`](Self::start), as a task of the current runtime; for tests with a paused clock.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the durations are inconsistent.
    pub fn spawn(config: ElectionConfig, client: Client, metrics: &Metrics) -> Result<Self> {
        config.validate()?;
        let (election, elector) = Self::new(config, client, metrics);
        tokio::spawn(elector.run());
        Ok(election)
    }

    fn new(config: ElectionConfig, client: Client, metrics: &Metrics) -> (Self, Elector) {
        let (publish, state) = watch::channel(State::Candidate);
        let (stop, stopped) = watch::channel(None);
        let (wanted, want) = watch::channel(false);
        let gauge = metrics.leader(&config.name);
        let leases = Leases::new(client, &config);
        let heartbeat = Arc::<OnceLock<Heartbeat>>::default();
        let orders = Orders {
            stopped,
            want,
            heartbeat: heartbeat.clone(),
        };
        (
            Self {
                state,
                stop,
                wanted,
                heartbeat: heartbeat.clone(),
                thread: Mutex::default(),
                patience: config.call_timeout() * 2,
            },
            Elector::new(config, leases, publish, orders, gauge),
        )
    }

    /// From now on, acquires and renews the lease only while this heartbeat's runtime makes progress: the election's own
    /// thread would keep the lease of a process whose reconcilers are stuck. Only the first call counts.
    pub fn depend_on(&self, heartbeat: &Heartbeat) {
        self.heartbeat.get_or_init(|| heartbeat.clone());
    }

    /// Starts to acquire the lease. [`Manager::run`](crate::Manager::run) calls it once its caches are filled, so that
    /// only a process that can work acquires the lease.
    pub fn begin(&self) {
        self.wanted.send_replace(true);
    }

    /// Waits until this process leads, after [`begin`](Self::begin). Also returns when the election ends;
    /// [`lost`](Self::lost) then returns the reason at once.
    pub async fn acquired(&self) {
        // An error means that the election has ended.
        let _ = self.state.clone().wait_for(|state| *state != State::Candidate).await;
    }

    /// Waits until this process, after it has led, does not lead any more.
    pub async fn lost(&self) -> LostReason {
        let mut state = self.state.clone();
        loop {
            let until = match &*state.borrow_and_update() {
                State::Ended(reason) => return reason.clone(),
                State::Leading { until } => Some(*until),
                State::Candidate => None,
            };
            let deadline = async {
                match until {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            select! {
                biased;
                changed = state.changed() => if changed.is_err() {
                    return LostReason::Ended;
                },
                // The elector reports this itself, unless it hangs.
                () = deadline => return LostReason::NotRenewed("the renew deadline has passed".to_owned()),
            }
        }
    }

    /// Whether this process leads at this moment.
    pub fn is_leader(&self) -> bool {
        matches!(*self.state.borrow(), State::Leading { until } if Instant::now() < until)
    }

    /// Releases the lease, so that another process can take over at once, and ends the election. Call it when all work
    /// has ended. Waits for the API server for half the renew deadline at most.
    pub async fn release(&self) {
        self.part(Parting::Release).await;
    }

    /// Ends the election and leaves the lease to expire: for work that may not have ended, such as a cancelled
    /// reconcile whose last request may still be in progress. Another process takes over after the lease duration.
    pub async fn abandon(&self) {
        self.part(Parting::Abandon).await;
    }

    async fn part(&self, how: Parting) {
        self.stop.send_replace(Some(how));
        let mut state = self.state.clone();
        let ended = state.wait_for(|state| matches!(state, State::Ended(_)));
        // A release takes half of this time at most; a thread that hangs must not keep the process.
        if timeout(self.patience, ended).await.is_err() {
            warn!("the leader election did not end in time");
        }
    }
}
