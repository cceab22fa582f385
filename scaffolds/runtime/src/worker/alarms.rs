//! Reconciles objects at times of the manager's clock.

use std::{
    collections::{BTreeSet, HashMap},
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::jiff::Timestamp;
use tokio::sync::Notify;

use crate::{clock::Clock, key::ObjectKey, priority::Priority, queue::WorkQueue};

/// The objects of a controller that are to be reconciled at a time. An object has one time; its next reconcile, for whatever
/// reason, ends it.
#[derive(Debug)]
pub(crate) struct Alarms {
    clock: Clock,
    set: Mutex<Times>,
    /// Notified when a time may have become the earliest one.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Times {
    of: HashMap<ObjectKey, (Timestamp, Priority)>,
    order: BTreeSet<(Timestamp, ObjectKey)>,
}

impl Times {
    fn remove(&mut self, key: &ObjectKey) -> Option<Priority> {
        let (at, priority) = self.of.remove(key)?;
        self.order.remove(&(at, key.clone()));
        Some(priority)
    }
}

impl Alarms {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            set: Mutex::default(),
            changed: Notify::new(),
        }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sets the time of an object, in place of an earlier call's.
    pub(super) fn set(&self, key: &ObjectKey, at: Timestamp, priority: Priority) {
        let mut times = self.times();
        times.remove(key);
        times.of.insert(key.clone(), (at, priority));
        times.order.insert((at, key.clone()));
        drop(times);
        self.changed.notify_one();
    }

    /// Removes the time of an object.
    pub(super) fn clear(&self, key: &ObjectKey) {
        self.times().remove(key);
    }

    /// Requests each object at its time, for ever.
    pub(crate) async fn ring(self: Arc<Self>, queue: WorkQueue) {
        loop {
            let earliest = self.times().order.first().map(|(at, _)| *at);
            let reached = async {
                match earliest {
                    Some(at) => self.clock.reached(at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = reached => {}
                () = self.changed.notified() => continue,
            }
            for (key, priority) in self.due() {
                queue.add(key, priority);
            }
        }
    }

    /// Removes the objects whose time is reached, and returns them in the order of their times.
    fn due(&self) -> Vec<(ObjectKey, Priority)> {
        let now = self.clock.now();
        let mut times = self.times();
        let mut due = Vec::new();
        while let Some((at, key)) = times.order.first().cloned()
            && at <= now
        {
            let priority = times.remove(&key).unwrap_or(Priority::Normal);
            due.push((key, priority));
        }
        due
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::{
        metrics::{Metrics, QueueMetrics},
        queue::Backoff,
    };

    fn key(name: &str) -> ObjectKey {
        ObjectKey::new(Some("default"), name)
    }

    #[tokio::test(start_paused = true)]
    async fn objects_are_requested_at_their_times_once_and_in_order() {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock = Clock::stopped_at(start);
        let alarms = Arc::new(Alarms::new(clock.clone()));
        let queue = WorkQueue::new(Backoff::default(), QueueMetrics::new(&Metrics::new(), "test"));
        tokio::spawn(alarms.clone().ring(queue.clone()));
        let minute = |n: i64| Timestamp::from_second(start.as_second() + 60 * n).unwrap();
        for (name, time) in [("late", 20), ("moved", 5), ("early", 10), ("cleared", 10)] {
            alarms.set(&key(name), minute(time), Priority::Normal);
        }
        alarms.set(&key("moved"), minute(15), Priority::High);
        alarms.clear(&key("cleared"));
        clock.advance(Duration::from_secs(600));
        assert_eq!(queue.next().await.unwrap().key(), &key("early"));
        // A jump over several times: the higher priority first.
        clock.advance(Duration::from_secs(3_600));
        tokio::task::yield_now().await;
        assert_eq!(queue.next().await.unwrap().key(), &key("moved"));
        assert_eq!(queue.next().await.unwrap().key(), &key("late"));
        clock.advance(Duration::from_secs(3_600));
        assert!(timeout(Duration::from_secs(3_600), queue.next()).await.is_err());
    }
}
