//! Notices when the main runtime or the manager makes no progress, and which reconcile blocks a thread. It observes from a
//! thread of its own, and only reports: probes and the leader election act on it.

mod polls;
mod pulse;

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

pub(crate) use self::polls::Polls;
use self::{polls::Registry, pulse::Pulses};
use crate::error::{Error, Result};

/// The name of the part that beats from the start on.
const RUNTIME: &str = "the main runtime";

/// The interval of the runtime's beats, and of their observation.
const TICK: Duration = Duration::from_secs(1);

/// After this many ticks without a beat the runtime counts as stuck: as long as kube-controller-manager's probe lets an
/// expired lease pass (Kubernetes 1.35, `cmd/kube-controller-manager/app/controllermanager.go`:
/// `NewLeaderHealthzAdaptor`).
const LIMIT: u32 = 20;

/// Whether the main runtime and the manager make progress. Clones share the state; before [`start`](Self::start) they count
/// as making progress.
///
/// A task of the runtime beats each second, and a thread counts the seconds without a beat: not the time that has
/// passed, but its own turns. So a process that was stopped as a whole, a suspended machine or a changed clock does not
/// count as stuck, and on a machine that is short of CPU the thread starves with the runtime.
///
/// With several threads the runtime makes progress as long as one of them does; a reconcile that blocks another one is
/// logged. The operator's `setup` and [`Manager::run`](crate::Manager::run) beat as well, in their own task: code of the
/// author that blocks there, such as a predicate, would stop the start of workers, the loss of the lease and the signals
/// from being noticed. They may wait for as long as they like.
#[derive(Clone, Debug, Default)]
pub struct Heartbeat(Arc<HeartbeatState>);

#[derive(Debug, Default)]
struct HeartbeatState {
    /// The length of a tick, once it is started.
    tick: OnceLock<Duration>,
    pulses: Pulses,
    /// The most ticks that one of them has been without a beat.
    silent: AtomicU32,
    polls: Registry,
}

impl Heartbeat {
    /// Beats as a task of the current runtime, and observes it from a thread of its own. Both end with the last clone.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the thread cannot be started.
    pub fn start(&self) -> Result<()> {
        self.start_every(TICK)
    }

    /// As [`start`](Self::start), with another length of a tick: for tests.
    ///
    /// # Errors
    ///
    /// See [`start`](Self::start).
    #[cfg_attr(not(feature = "testing"), doc(hidden))]
    pub fn start_every(&self, tick: Duration) -> Result<()> {
        self.0.tick.get_or_init(|| tick);
        let (beating, pulse) = (Arc::downgrade(&self.0), self.0.pulses.add(RUNTIME));
        tokio::spawn(async move {
            while beating.strong_count() > 0 {
                pulse.beat();
                tokio::time::sleep(tick).await;
            }
        });
        let observed = Arc::downgrade(&self.0);
        let observe = move || {
            loop {
                thread::sleep(tick);
                let Some(state) = observed.upgrade() else { return };
                state.observe();
            }
        };
        let started = thread::Builder::new().name("heartbeat".to_owned()).spawn(observe);
        started.map_err(|error| Error::Setup(format!("cannot start the thread of the heartbeat: {error}")))?;
        Ok(())
    }

    /// Runs `future`, which counts as stuck when one of its polls takes too long. `name` is the subject of the error. Not
    /// observed unless the heartbeat was started before.
    pub(crate) async fn beside<T>(&self, name: &'static str, future: impl Future<Output = T>) -> T {
        match self.0.tick.get() {
            Some(tick) => self.0.pulses.add(name).beside(*tick, future).await,
            None => future.await,
        }
    }

    /// The time without progress, once the process counts as stuck: after 20 s.
    pub fn stalled(&self) -> Option<Duration> {
        let silent = self.0.silent.load(Ordering::Relaxed);
        (silent >= LIMIT).then(|| TICK * silent)
    }

    /// An error with the part that has made no progress, and the time without progress, if the process counts as stuck.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.stalled() {
            Some(silent) => {
                let name = self.0.pulses.most_silent().unwrap_or(RUNTIME);
                Err(format!("{name} has made no progress for {silent:?}"))
            }
            None => Ok(()),
        }
    }

    /// The polls of one worker of this controller, to be observed.
    pub(crate) fn polls(&self, controller: &str) -> Polls {
        self.0.polls.add(controller)
    }

    /// Sets the seconds without progress, for tests with a paused clock.
    #[cfg(feature = "testing")]
    pub fn pretend_silence(&self, silent: Duration) {
        let seconds = u32::try_from(silent.as_secs()).unwrap_or(u32::MAX);
        self.0.silent.store(seconds, Ordering::Relaxed);
    }
}

impl HeartbeatState {
    /// One tick.
    fn observe(&self) {
        self.polls.observe();
        self.silent.store(self.pulses.observe(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures::FutureExt;

    use super::*;

    #[test]
    fn only_ticks_without_a_beat_count() {
        let heartbeat = Heartbeat::default();
        let (state, pulse) = (&heartbeat.0, heartbeat.0.pulses.add(RUNTIME));
        for _ in 0..5 {
            for _ in 1..LIMIT {
                state.observe();
            }
            assert_eq!(heartbeat.stalled(), None);
            pulse.beat();
            state.observe();
        }
        for _ in 0..LIMIT + 3 {
            state.observe();
        }
        assert_eq!(heartbeat.stalled(), Some(Duration::from_secs(23)));
        assert!(heartbeat.check().is_err_and(|text| text.contains("23s")));
        pulse.beat();
        state.observe();
        assert_eq!(heartbeat.check(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_waits_makes_progress_and_one_that_is_not_polled_is_named() {
        let heartbeat = Heartbeat::default();
        heartbeat.0.tick.set(TICK).unwrap();
        let runtime = heartbeat.0.pulses.add(RUNTIME);
        let mut waits = Box::pin(heartbeat.beside("`setup`", pending::<()>()));
        for polled in [true, false] {
            for _ in 0..LIMIT {
                runtime.beat();
                if polled {
                    assert!(waits.as_mut().now_or_never().is_none());
                }
                heartbeat.0.observe();
                tokio::time::advance(TICK).await;
            }
            assert_eq!(heartbeat.stalled().is_none(), polled);
        }
        let error = heartbeat.check().unwrap_err();
        assert_eq!(error, "`setup` has made no progress for 20s");
        drop(waits);
        heartbeat.0.observe();
        assert_eq!(heartbeat.stalled(), None, "it has ended");
    }
}
