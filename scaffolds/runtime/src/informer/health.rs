//! Whether an informer has synced, and the errors of its watches.

use std::sync::Mutex;
use std::time::Duration;

use kube::Error;
use tokio::{sync::watch, time::Instant};

use super::list_watch::ListWatchError;
use crate::{error::chain, isolate::lock, jitter::Jitter};

/// The state of each watch, readable by other tasks.
#[derive(Debug)]
pub(super) struct Health {
    sources: Mutex<Vec<SourceHealth>>,
    synced: watch::Sender<bool>,
    /// Whether every source is served.
    served: watch::Sender<bool>,
}

#[derive(Debug, Clone)]
struct SourceHealth {
    /// Listed, or found to be absent.
    listed: bool,
    absent: bool,
    round: u64,
    error: Option<String>,
    /// The most objects that one attempt at the first list has received, and when it received the last of them.
    most: usize,
    progressed: Instant,
}

impl Health {
    pub(super) fn new(sources: usize) -> Self {
        Self {
            sources: Mutex::new(vec![
                SourceHealth {
                    listed: false,
                    absent: false,
                    round: 0,
                    error: None,
                    most: 0,
                    progressed: Instant::now(),
                };
                sources
            ]),
            synced: watch::Sender::new(sources == 0),
            served: watch::Sender::new(true),
        }
    }

    /// Records that the first list of `source` in this [round](Self::round) has been delivered to the subscribers. Returns
    /// whether all sources are served again.
    pub(super) fn listed(&self, source: usize, round: u64) -> bool {
        self.change(source, |health| {
            if health.round == round {
                (health.listed, health.absent) = (true, false);
            }
        });
        self.settled()
    }

    /// Records that the API server does not serve the kind to `source`. Returns whether all sources were served before.
    pub(super) fn absent(&self, source: usize) -> bool {
        self.change(source, |health| (health.listed, health.absent) = (true, true));
        self.settled()
    }

    /// Notifies those who wait. Returns whether the kind is served by now, if it was not before, or the reverse.
    fn settled(&self) -> bool {
        let served = {
            let sources = lock(&self.sources);
            let all = sources.iter().all(|health| health.listed);
            self.synced
                .send_if_modified(|synced| !std::mem::replace(synced, all) && all);
            sources.iter().all(|health| !health.absent)
        };
        self.served
            .send_if_modified(|known| std::mem::replace(known, served) != served)
    }

    pub(super) fn is_served(&self) -> bool {
        *self.served.borrow()
    }

    pub(super) async fn until_served_is(&self, served: bool) {
        // Fails only when the sender is dropped, but `self` owns the sender.
        let _ = self.served.subscribe().wait_for(|known| *known == served).await;
    }

    /// Records that the sources are watched from now on.
    pub(super) fn started(&self) {
        let mut sources = lock(&self.sources);
        sources.iter_mut().for_each(|health| health.progressed = Instant::now());
    }

    /// Records that these sources start again with a list, which counts as their first. An earlier list that is still to
    /// be [recorded](Self::listed) does not count.
    pub(super) fn starts_over(&self, restarted: &[usize]) {
        let mut sources = lock(&self.sources);
        for number in restarted {
            let health = &mut sources[*number];
            (health.listed, health.most, health.progressed) = (false, 0, Instant::now());
            health.round += 1;
        }
        let all = sources.iter().all(|health| health.listed);
        self.synced.send_replace(all);
    }

    /// The number of times that `source` has started over.
    pub(super) fn round(&self, source: usize) -> u64 {
        self.change(source, |health| health.round)
    }

    /// Records that an attempt at the first list of `source` has received this many objects. It is progress only if no
    /// earlier attempt has received as many: a list that always fails at its second page makes no progress.
    pub(super) fn shown(&self, source: usize, objects: usize) {
        self.change(source, |health| {
            if !health.listed && objects > health.most {
                (health.most, health.progressed) = (objects, Instant::now());
            }
        });
    }

    /// The time of the last progress of the source that waits longest, among the sources that are not listed yet.
    /// `None` once all are listed.
    pub(super) fn progressed(&self) -> Option<Instant> {
        let sources = lock(&self.sources);
        let waiting = sources.iter().filter(|health| !health.listed);
        waiting.map(|health| health.progressed).min()
    }

    pub(super) fn set_error(&self, source: usize, error: String) {
        self.change(source, |health| health.error = Some(error));
    }

    /// Clears the error, and returns whether there was one.
    pub(super) fn clear_error(&self, source: usize) -> bool {
        self.change(source, |health| health.error.take().is_some())
    }

    pub(super) fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    pub(super) async fn synced(&self) {
        // Fails only when the sender is dropped, but `self` owns the sender.
        let _ = self.synced.subscribe().wait_for(|synced| *synced).await;
    }

    /// The number of failing watches.
    pub(super) fn failing(&self) -> usize {
        let sources = lock(&self.sources);
        sources.iter().filter(|health| health.error.is_some()).count()
    }

    /// The current errors, one for each failing watch.
    pub(super) fn last_error(&self) -> Option<String> {
        let sources = lock(&self.sources);
        let errors: Vec<_> = sources.iter().filter_map(|health| health.error.as_deref()).collect();
        (!errors.is_empty()).then(|| errors.join("; "))
    }

    fn change<T>(&self, source: usize, change: impl FnOnce(&mut SourceHealth) -> T) -> T {
        change(&mut lock(&self.sources)[source])
    }
}

/// Delays between the attempts of one watch: 0.8 s, doubled up to 20 s, times a random factor in `[1, 1.5)`, hence
/// never over 30 s (client-go's reflector: 0.8 s to 30 s, doubled). A live event, or two minutes without a failure,
/// reset the delay; a list alone does not, or a server that answers each watch with 410 would be listed endlessly.
#[derive(Debug)]
pub(super) struct Retry {
    failures: u32,
    last: Option<Instant>,
    jitter: Jitter,
}

const FIRST_DELAY: Duration = Duration::from_millis(800);
const LONGEST_DELAY: Duration = Duration::from_secs(20);
const CALM: Duration = Duration::from_secs(120);

impl Retry {
    pub(super) fn new() -> Self {
        Self {
            failures: 0,
            last: None,
            jitter: Jitter::random(),
        }
    }

    /// Counts a failure and returns the delay before the next attempt.
    pub(super) fn failed(&mut self, now: Instant) -> Duration {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) > CALM) {
            self.failures = 0;
        }
        let delay = FIRST_DELAY.saturating_mul(1 << self.failures.min(5)).min(LONGEST_DELAY);
        self.failures = self.failures.saturating_add(1);
        let delay = self.jitter.scale(delay, 1.0, 1.5);
        self.last = Some(now + delay);
        delay
    }

    /// Consecutive failures.
    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
    }
}

/// The server's message, after the status code, or why the request could not be sent.
pub(super) fn reason(error: &ListWatchError) -> String {
    let status = match error {
        ListWatchError::List(Error::Api(status)) | ListWatchError::Watch(Error::Api(status)) => status,
        ListWatchError::List(error) | ListWatchError::Watch(error) => return chain(error),
        ListWatchError::Short => {
            return "the server ended a watch at once, without an event (does a proxy buffer or cut responses?)"
                .to_owned();
        }
        ListWatchError::NoVersion => return "a list or an object has no `metadata.resourceVersion`".to_owned(),
    };
    let hint = if status.code == 404 {
        " (is its CustomResourceDefinition installed?)"
    } else {
        ""
    };
    // Go's plain response, "404 page not found", already contains its code.
    let (code, message) = (status.code.to_string(), status.message.trim());
    format!(
        "{code} {}{hint}",
        message.strip_prefix(&code).unwrap_or(message).trim_start()
    )
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_informer_that_starts_over_is_synced_after_its_next_list() {
        let health = Health::new(2);
        health.started();
        health.listed(0, 0);
        health.absent(1);
        assert!(health.has_synced());
        health.starts_over(&[0]);
        assert!(!health.has_synced());
        assert_eq!(health.progressed(), Some(Instant::now()));
        health.listed(0, 0);
        assert!(!health.has_synced(), "the list before it started over");
        health.listed(0, health.round(0));
        assert!(health.has_synced(), "an absent kind is not waited for");
    }

    #[tokio::test(start_paused = true)]
    async fn only_an_attempt_that_lists_more_objects_than_before_is_progress() {
        let health = Health::new(2);
        health.started();
        let started = Instant::now();
        health.listed(1, 0);
        let at = async |objects| {
            advance(Duration::from_secs(1)).await;
            health.shown(0, objects);
            health.progressed().map(|progressed| (progressed - started).as_secs())
        };
        assert_eq!(at(1).await, Some(1));
        assert_eq!(at(500).await, Some(2));
        // The second page failed, and the list started again.
        assert_eq!(at(1).await, Some(2));
        assert_eq!(at(500).await, Some(2));
        assert_eq!(at(501).await, Some(5));
        health.listed(0, 0);
        assert_eq!(at(1).await, None);
    }
}
