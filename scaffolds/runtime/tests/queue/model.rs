//! The work queue against a simple model, under random interleavings: the model keeps a list and sorts it each time.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::FutureExt;
use kubewright_runtime::{Backoff, Held, Metrics, ObjectKey, Priority, WorkQueue};
use proptest::prelude::*;
use tokio::time::advance;

use crate::cases::cases;

const BASE: u64 = 5;
const MAX: u64 = 45;
/// The longest wait of a namespace for its first worker.
const PATIENCE: u64 = 500;
/// Keys `0..KEYS`; every third one is in the same namespace.
const KEYS: u8 = 9;

fn namespace(key: u8) -> u8 {
    key % 3
}

#[derive(Debug, Clone)]
enum Step {
    Add(u8, Priority),
    AddAfter(u8, Priority, u64),
    RateLimited(u8, Priority),
    Unfinished(u8, Priority),
    WithinBackoff(u8, Priority),
    CountFailure(u8),
    Forget(u8),
    Next,
    Drop(usize),
    Advance(u64),
    ShutDown,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0..KEYS;
    let priority = || prop_oneof![Just(Priority::Low), Just(Priority::Normal), Just(Priority::High)];
    let step = prop_oneof![
        6 => (key(), priority()).prop_map(|(key, priority)| Step::Add(key, priority)),
        4 => (key(), priority(), 0_u64..50).prop_map(|(key, priority, delay)| Step::AddAfter(key, priority, delay)),
        4 => (key(), priority()).prop_map(|(key, priority)| Step::RateLimited(key, priority)),
        3 => (key(), priority()).prop_map(|(key, priority)| Step::Unfinished(key, priority)),
        4 => (key(), priority()).prop_map(|(key, priority)| Step::WithinBackoff(key, priority)),
        2 => key().prop_map(Step::CountFailure),
        2 => key().prop_map(Step::Forget),
        8 => Just(Step::Next),
        6 => any::<usize>().prop_map(Step::Drop),
        6 => (0_u64..30).prop_map(Step::Advance),
        1 => (400_u64..600).prop_map(Step::Advance),
    ];
    // Most runs are not shut down, so that they can be drained to the end.
    let end = prop_oneof![3 => Just(None), 1 => (0_usize..120).prop_map(Some)];
    (prop::collection::vec(step, 1..120), end).prop_map(|(mut steps, end)| {
        if let Some(end) = end {
            steps.insert(end.min(steps.len()), Step::ShutDown);
        }
        steps
    })
}

/// When a key is or becomes ready: keys that waited come before those added in the same instant, then by arrival.
type Place = (u64, bool, u64);

/// The requests for a held key.
#[derive(Default)]
struct Meanwhile {
    again: Option<(u64, Priority)>,
    within_backoff: Option<Priority>,
}

#[derive(Default)]
struct Model {
    workers: usize,
    now: u64,
    arrivals: u64,
    shut_down: bool,
    failures: BTreeMap<u8, u32>,
    /// Keys whose last run failed.
    failed: BTreeSet<u8>,
    /// Requested and not held.
    queued: BTreeMap<u8, (Place, Priority)>,
    held: BTreeMap<u8, Meanwhile>,
    /// The namespaces with ready keys of each priority; those that were served the longest ago first.
    turns: BTreeMap<Priority, Vec<u8>>,
    /// Since when a namespace has had ready keys and no worker, in that order.
    without: Vec<(u64, u8)>,
    /// Since when all workers have been busy.
    full: Option<u64>,
}

impl Model {
    fn add(&mut self, key: u8, priority: Priority, delay: u64) {
        if self.shut_down {
            return;
        }
        let due = self.now + delay;
        if let Some(Meanwhile { again, .. }) = self.held.get_mut(&key) {
            let (earlier, higher) = again.unwrap_or((due, priority));
            // An overdue request is as early as one made now.
            *again = Some((earlier.min(due), higher.max(priority)));
            return;
        }
        let next = self.arrivals + 1;
        match self.queued.get_mut(&key) {
            None => _ = self.queued.insert(key, ((due, delay == 0, next), priority)),
            Some((place, higher)) if place.0 <= self.now => {
                let _ = place;
                *higher = priority.max(*higher);
                return;
            }
            Some((place, higher)) => {
                let (earlier, raised) = (place.0.min(due), priority.max(*higher));
                if (earlier, raised) == (place.0, *higher) {
                    return;
                }
                (*place, *higher) = ((earlier, earlier == self.now, next), raised);
            }
        }
        self.arrivals = next;
    }

    fn rate_limited(&mut self, key: u8, priority: Priority) -> u64 {
        let failures = self.failures.get(&key).unwrap_or(&0) + 1;
        let delay = delay(failures);
        if !self.shut_down {
            self.failures.insert(key, failures);
            self.failed.insert(key);
            self.add(key, priority, delay);
        }
        delay
    }

    fn unfinished(&mut self, key: u8, priority: Priority) -> u64 {
        let delay = self.rate_limited(key, priority);
        self.failed.remove(&key);
        delay
    }

    fn within_backoff(&mut self, key: u8, priority: Priority) {
        let failures = *self.failures.get(&key).unwrap_or(&0);
        if self.shut_down {
        } else if let Some(meanwhile) = self.held.get_mut(&key) {
            meanwhile.within_backoff = meanwhile.within_backoff.max(Some(priority));
        } else if !self.failed.contains(&key) {
            self.add(key, priority, 0);
        } else if !self.queued.contains_key(&key) {
            self.add(key, priority, delay(failures));
        }
    }

    fn holds(&self, of: u8) -> usize {
        self.held.keys().filter(|key| namespace(**key) == of).count()
    }

    fn ready(&self) -> Vec<(Place, Priority, u8)> {
        let ready = self.queued.iter().filter(|(_, (place, _))| place.0 <= self.now);
        let mut ready: Vec<_> = ready
            .map(|(key, (place, priority))| (*place, *priority, *key))
            .collect();
        ready.sort();
        ready
    }

    /// Updates what follows from the ready keys: turns, and namespaces that wait without a worker.
    fn look(&mut self) {
        let ready = self.ready();
        let has = |of: u8, priority| {
            let mut ready = ready.iter();
            ready.any(|(_, p, key)| namespace(*key) == of && priority == *p)
        };
        for (priority, turns) in &mut self.turns {
            turns.retain(|of| has(*of, *priority));
        }
        let held: Vec<_> = (0..3).map(|of| self.holds(of)).collect();
        self.without
            .retain(|(_, of)| held[usize::from(*of)] == 0 && Priority::ALL.iter().any(|p| has(*of, *p)));
        for (_, priority, key) in &ready {
            let of = namespace(*key);
            let turns = self.turns.entry(*priority).or_default();
            if !turns.contains(&of) {
                turns.push(of);
            }
            if held[usize::from(of)] == 0 && !self.without.iter().any(|(_, known)| *known == of) {
                self.without.push((self.now, of));
            }
        }
        self.without.sort_by_key(|(since, _)| *since);
    }

    fn next(&mut self) -> Option<(u8, Priority)> {
        self.look();
        let of = if self.held.len() < self.workers {
            let order = [Priority::High, Priority::Normal, Priority::Low].map(|priority| self.turns.get(&priority));
            let turns = order.into_iter().flatten().find(|turns| !turns.is_empty())?;
            // The first of those that hold the fewest.
            *turns.iter().min_by_key(|of| self.holds(**of))?
        } else {
            let holders = (0..3).filter(|of| self.holds(*of) > 0).count();
            let (since, of) = *self.without.first()?;
            let due = since.min(self.full.unwrap_or(u64::MAX)) + PATIENCE;
            (holders < self.workers && due <= self.now).then_some(of)?
        };
        let first = self.ready().into_iter().filter(|(_, _, key)| namespace(*key) == of);
        let (_, priority, key) = first.min_by_key(|(place, priority, _)| (std::cmp::Reverse(*priority), *place))?;
        self.queued.remove(&key);
        self.held.insert(key, Meanwhile::default());
        if self.held.len() == self.workers {
            self.full = Some(self.now);
        }
        // Its next turn comes after all others.
        self.turns.entry(priority).or_default().retain(|known| *known != of);
        self.look();
        Some((key, priority))
    }

    fn drop(&mut self, key: u8) {
        let Some(Meanwhile { again, within_backoff }) = self.held.remove(&key) else {
            return;
        };
        if self.held.len() < self.workers {
            self.full = None;
        }
        self.look();
        if let Some((due, priority)) = again {
            self.arrivals += 1;
            let due = due.max(self.now);
            self.queued
                .insert(key, ((due, due == self.now, self.arrivals), priority));
        }
        if let Some(priority) = within_backoff {
            self.within_backoff(key, priority);
        }
        self.look();
    }

    fn shut_down(&mut self) {
        self.shut_down = true;
        self.failures.clear();
        self.failed.clear();
        self.queued.clear();
        self.held
            .values_mut()
            .for_each(|meanwhile| *meanwhile = Meanwhile::default());
    }

    fn tracked(&self) -> usize {
        let keys = self.queued.keys().chain(self.held.keys());
        let failed = self
            .failures
            .iter()
            .filter(|(_, failures)| **failures > 0)
            .map(|(key, _)| key);
        keys.chain(failed).collect::<BTreeSet<_>>().len()
    }
}

fn delay(failures: u32) -> u64 {
    (BASE << (failures - 1).min(20)).min(MAX)
}

fn name(key: u8) -> ObjectKey {
    let namespace = ["", "one", "two"][usize::from(namespace(key))];
    ObjectKey::new(Some(namespace), &key.to_string())
}

fn check(queue: &WorkQueue, model: &mut Model, held: &mut BTreeMap<u8, Held>) -> Result<bool, TestCaseError> {
    let got = queue.next().now_or_never().flatten();
    let expected = model.next();
    prop_assert_eq!(
        got.as_ref().map(|held| (held.key().clone(), held.priority())),
        expected.map(|(key, p)| (name(key), p))
    );
    if let (Some(got), Some((key, _))) = (got, expected) {
        prop_assert!(held.insert(key, got).is_none(), "held twice");
    }
    Ok(expected.is_some())
}

async fn run(workers: usize, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let backoff = Backoff {
        base: Duration::from_millis(BASE),
        max: Duration::from_millis(MAX),
        jitter: 0.0,
    };
    let queue = WorkQueue::new(backoff, Metrics::new().queue("test")).shared_by(workers);
    let mut held = BTreeMap::new();
    let mut model = Model {
        workers,
        ..Model::default()
    };
    for step in steps {
        match step {
            Step::Add(key, priority) => {
                queue.add(name(key), priority);
                model.add(key, priority, 0);
            }
            Step::AddAfter(key, priority, delay) => {
                queue.add_after(name(key), priority, Duration::from_millis(delay));
                model.add(key, priority, delay);
            }
            Step::RateLimited(key, priority) => {
                let delay = queue.add_rate_limited(name(key), priority);
                prop_assert_eq!(delay, Duration::from_millis(model.rate_limited(key, priority)));
            }
            Step::Unfinished(key, priority) => {
                let delay = queue.add_unfinished(name(key), priority);
                prop_assert_eq!(delay, Duration::from_millis(model.unfinished(key, priority)));
            }
            Step::WithinBackoff(key, priority) => {
                queue.add_within_backoff(name(key), priority);
                model.within_backoff(key, priority);
            }
            Step::CountFailure(key) => {
                queue.count_failure(&name(key));
                if !model.shut_down {
                    *model.failures.entry(key).or_default() += 1;
                    model.failed.insert(key);
                }
            }
            Step::Forget(key) => {
                queue.forget(&name(key));
                model.failures.remove(&key);
                model.failed.remove(&key);
            }
            Step::Next => _ = check(&queue, &mut model, &mut held)?,
            Step::Drop(n) if !held.is_empty() => {
                let key = *held.keys().nth(n % held.len()).expect("in range");
                held.remove(&key);
                model.drop(key);
            }
            Step::Drop(_) => {}
            Step::Advance(ms) => {
                advance(Duration::from_millis(ms)).await;
                model.now += ms;
            }
            Step::ShutDown => {
                queue.shut_down();
                model.shut_down();
            }
        }
        model.look();
        prop_assert_eq!((queue.len(), queue.tracked()), (model.ready().len(), model.tracked()));
        prop_assert!(model.held.len() < 2 * workers, "{} keys held", model.held.len());
        for key in 0..KEYS {
            prop_assert_eq!(queue.failures(&name(key)), *model.failures.get(&key).unwrap_or(&0));
        }
    }
    drain(queue, model, held).await
}

/// Every request is handed out in the end, and then nothing is left.
async fn drain(queue: WorkQueue, mut model: Model, mut held: BTreeMap<u8, Held>) -> Result<(), TestCaseError> {
    for _ in 0..2 * usize::from(KEYS) {
        while let Some((key, given_back)) = held.pop_first() {
            drop(given_back);
            model.drop(key);
        }
        advance(Duration::from_millis(1000)).await;
        model.now += 1000;
        while check(&queue, &mut model, &mut held)? {}
    }
    held.clear();
    (0..KEYS).for_each(|key| queue.forget(&name(key)));
    prop_assert_eq!((queue.len(), queue.tracked()), (0, 0));
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_queue_equals_the_model(workers in 1_usize..6, steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        runtime.block_on(run(workers, steps))?;
    }
}
