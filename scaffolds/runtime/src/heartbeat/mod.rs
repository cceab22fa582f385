//! Notices when the main runtime makes no progress, and which reconcile blocks a thread of it. It observes from a thread
//! of its own, and only reports: probes and the leader election act on it.

mod polls;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tracing::{error, info};

pub(crate) use self::polls::Polls;
use self::polls::Registry;
use crate::error::{Error, Result};

/// How often the runtime beats, and is observed.
const TICK: Duration = Duration::from_secs(1);

/// After this many ticks without a beat the runtime counts as stuck: as long as kube-controller-manager's probe lets an
/// expired lease pass (Kubernetes 1.35, `cmd/kube-controller-manager/app/controllermanager.go`:
/// `NewLeaderHealthzAdaptor`).
const LIMIT: u32 = 20;

/// Whether the main runtime makes progress. Clones share the state; before [`start`](Self::start) it counts as making
/// progress.
///
/// A task of the runtime beats each second, and a thread counts the seconds without a beat: not the time that has
/// passed, but its own turns. So a process that was stopped as a whole, a suspended machine or a changed clock does not
/// count as stuck, and on a machine that is short of CPU the thread starves with the runtime.
///
/// With several threads the runtime makes progress as long as one of them does; a reconcile that blocks another one is
/// logged.
#[derive(Clone, Debug, Default)]
pub struct Heartbeat(Arc<State>);

#[derive(Debug, Default)]
struct State {
    beats: AtomicU64,
    /// Ticks without a beat.
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
        let beating = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            while let Some(state) = beating.upgrade() {
                state.beats.fetch_add(1, Ordering::Relaxed);
                drop(state);
                tokio::time::sleep(tick).await;
            }
        });
        let observed = Arc::downgrade(&self.0);
        let observe = move || {
            let mut seen = 0;
            loop {
                thread::sleep(tick);
                let Some(state) = observed.upgrade() else { return };
                state.observe(&mut seen);
            }
        };
        let started = thread::Builder::new().name("heartbeat".to_owned()).spawn(observe);
        started.map_err(|error| Error::Setup(format!("cannot start the thread of the heartbeat: {error}")))?;
        Ok(())
    }

    /// How long the runtime has made no progress, once it counts as stuck: after 20 s.
    pub fn stalled(&self) -> Option<Duration> {
        let silent = self.0.silent.load(Ordering::Relaxed);
        (silent >= LIMIT).then(|| TICK * silent)
    }

    /// An error that says for how long the runtime has made no progress, if it counts as stuck.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.stalled() {
            Some(silent) => Err(format!("the main runtime has made no progress for {silent:?}")),
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

impl State {
    /// One tick. `seen` is the number of beats at the last one.
    fn observe(&self, seen: &mut u64) {
        self.polls.observe();
        let beats = self.beats.load(Ordering::Relaxed);
        if beats != *seen {
            *seen = beats;
            if self.silent.swap(0, Ordering::Relaxed) >= LIMIT {
                info!("the main runtime makes progress again");
            }
            return;
        }
        if self.silent.fetch_add(1, Ordering::Relaxed) + 1 == LIMIT {
            let hint = "do not block in async code: use `spawn_blocking`";
            error!(
                hint,
                "the main runtime has made no progress for {:?}: /healthz fails, and the leader lease is not renewed",
                TICK * LIMIT
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ticks_without_a_beat_count() {
        let heartbeat = Heartbeat::default();
        let (state, mut seen) = (&heartbeat.0, 0);
        for _ in 0..5 {
            for _ in 1..LIMIT {
                state.observe(&mut seen);
            }
            assert_eq!(heartbeat.stalled(), None);
            state.beats.fetch_add(1, Ordering::Relaxed);
            state.observe(&mut seen);
        }
        for _ in 0..LIMIT + 3 {
            state.observe(&mut seen);
        }
        assert_eq!(heartbeat.stalled(), Some(Duration::from_secs(23)));
        assert!(heartbeat.check().is_err_and(|text| text.contains("23s")));
        state.beats.fetch_add(1, Ordering::Relaxed);
        state.observe(&mut seen);
        assert_eq!(heartbeat.check(), Ok(()));
    }
}
