//! Reconciles objects at times of the manager's clock.

use std::{
    collections::{BTreeSet, HashMap},
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::jiff::Timestamp;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

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
    of: HashMap<ObjectKey, Alarm>,
    order: BTreeSet<(Timestamp, ObjectKey)>,
    /// If the clock is set back, a time can be hours away that was seconds away when it was set. An object that is reconciled early
    /// sets its next time by the clock as it is then.
    deadlines: BTreeSet<(Instant, ObjectKey)>,
}

/// The time of an object.
#[derive(Debug)]
struct Alarm {
    at: Timestamp,
    deadline: Option<Instant>,
    priority: Priority,
}

impl Times {
    fn insert(&mut self, key: &ObjectKey, alarm: Alarm) {
        self.remove(key);
        self.order.insert((alarm.at, key.clone()));
        self.deadlines
            .extend(alarm.deadline.map(|deadline| (deadline, key.clone())));
        self.of.insert(key.clone(), alarm);
    }

    fn remove(&mut self, key: &ObjectKey) -> Option<Priority> {
        let alarm = self.of.remove(key)?;
        self.order.remove(&(alarm.at, key.clone()));
        if let Some(deadline) = alarm.deadline {
            self.deadlines.remove(&(deadline, key.clone()));
        }
        Some(alarm.priority)
    }

    /// An object whose time or deadline is reached.
    fn reached(&self, now: Timestamp) -> Option<&ObjectKey> {
        let by_time = self.order.first().filter(|(at, _)| *at <= now);
        let by_deadline = || self.deadlines.first().filter(|(at, _)| *at <= Instant::now());
        by_time
            .map(|(_, key)| key)
            .or_else(|| by_deadline().map(|(_, key)| key))
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
        let deadline = self.clock.deadline(at);
        let alarm = Alarm { at, deadline, priority };
        self.times().insert(key, alarm);
        self.changed.notify_one();
    }

    /// Removes the time of an object.
    pub(super) fn clear(&self, key: &ObjectKey) {
        self.times().remove(key);
    }

    /// Requests each object at its time, for ever.
    pub(crate) async fn ring(self: Arc<Self>, queue: WorkQueue) {
        loop {
            let (earliest, deadline) = {
                let times = self.times();
                let earliest = times.order.first().map(|(at, _)| *at);
                (earliest, times.deadlines.first().map(|(deadline, _)| *deadline))
            };
            let reached = async {
                match earliest {
                    Some(at) => self.clock.reached(at).await,
                    None => pending().await,
                }
            };
            let passed = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = reached => {}
                () = passed => {}
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
        while let Some(key) = times.reached(now).cloned() {
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

    #[tokio::test(start_paused = true)]
    async fn an_object_waits_no_longer_if_the_system_s_clock_is_set_back() {
        let alarms = Arc::new(Alarms::new(Clock::system()));
        let queue = WorkQueue::new(Backoff::default(), QueueMetrics::new(&Metrics::new(), "test"));
        tokio::spawn(alarms.clone().ring(queue.clone()));
        let start = Instant::now();
        let hour = Duration::from_secs(3_600);
        for (name, hours) in [("late", 2), ("cleared", 1), ("early", 1)] {
            alarms.set(&key(name), Timestamp::now() + hour * hours, Priority::Normal);
        }
        alarms.clear(&key("cleared"));
        // The paused clock of tokio passes hours in which the system's stands still, as if that were set back again and again.
        for (name, hours) in [("early", 1), ("late", 2)] {
            assert_eq!(queue.next().await.unwrap().key(), &key(name));
            let late = start.elapsed().saturating_sub(hour * hours);
            assert!(late < Duration::from_secs(10), "{name}: {late:?}");
            assert!(start.elapsed() > hour * hours - Duration::from_secs(10));
        }
        assert!(timeout(hour * 3, queue.next()).await.is_err());
    }
}
