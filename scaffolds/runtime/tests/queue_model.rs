//! The work queue against a model of a page, under random interleavings: the model keeps a list and sorts it each time.

#[path = "support/cases.rs"]
mod cases;

use std::{collections::BTreeMap, time::Duration};

use cases::cases;
use futures::FutureExt;
use kubewright_runtime::{Backoff, Held, Metrics, ObjectKey, Priority, WorkQueue};
use proptest::prelude::*;
use tokio::time::advance;

const BASE: u64 = 5;
const MAX: u64 = 45;

#[derive(Debug, Clone)]
enum Step {
    Add(u8, Priority),
    AddAfter(u8, Priority, u64),
    RateLimited(u8, Priority),
    Forget(u8),
    Next,
    Drop(usize),
    Advance(u64),
    ShutDown,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || 0_u8..6;
    let priority = || prop_oneof![Just(Priority::Low), Just(Priority::Normal)];
    let step = prop_oneof![
        6 => (key(), priority()).prop_map(|(key, priority)| Step::Add(key, priority)),
        4 => (key(), priority(), 0_u64..50).prop_map(|(key, priority, delay)| Step::AddAfter(key, priority, delay)),
        4 => (key(), priority()).prop_map(|(key, priority)| Step::RateLimited(key, priority)),
        2 => key().prop_map(Step::Forget),
        8 => Just(Step::Next),
        6 => any::<usize>().prop_map(Step::Drop),
        6 => (0_u64..30).prop_map(Step::Advance),
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

/// When a key is or becomes ready: those that waited come before those added in the same instant, then by arrival.
type Place = (u64, bool, u64);

#[derive(Default)]
struct Model {
    now: u64,
    arrivals: u64,
    shut_down: bool,
    failures: BTreeMap<u8, u32>,
    /// Asked for and not held.
    queued: BTreeMap<u8, (Place, Priority)>,
    /// Held, and when and how it was asked for meanwhile.
    held: BTreeMap<u8, Option<(u64, Priority)>>,
}

impl Model {
    fn add(&mut self, key: u8, priority: Priority, delay: u64) {
        if self.shut_down {
            return;
        }
        let due = self.now + delay;
        if let Some(again) = self.held.get_mut(&key) {
            let (earlier, higher) = again.unwrap_or((due, priority));
            // What is already overdue is as early as what is asked for now.
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
        let delay = (BASE << (failures - 1).min(20)).min(MAX);
        if !self.shut_down {
            self.failures.insert(key, failures);
            self.add(key, priority, delay);
        }
        delay
    }

    fn next(&mut self) -> Option<(u8, Priority)> {
        let ready = self.queued.iter().filter(|(_, (place, _))| place.0 <= self.now);
        let first = ready.min_by_key(|(_, (place, priority))| (std::cmp::Reverse(*priority), *place));
        let (key, priority) = first.map(|(key, (_, priority))| (*key, *priority))?;
        self.queued.remove(&key);
        self.held.insert(key, None);
        Some((key, priority))
    }

    fn drop(&mut self, key: u8) {
        if let Some(Some((due, priority))) = self.held.remove(&key) {
            self.arrivals += 1;
            let due = due.max(self.now);
            self.queued
                .insert(key, ((due, due == self.now, self.arrivals), priority));
        }
    }

    fn shut_down(&mut self) {
        self.shut_down = true;
        self.failures.clear();
        self.queued.clear();
        self.held.values_mut().for_each(|again| *again = None);
    }

    fn tracked(&self) -> usize {
        let keys = self.queued.keys().chain(self.held.keys());
        let failed = self
            .failures
            .iter()
            .filter(|(_, failures)| **failures > 0)
            .map(|(key, _)| key);
        keys.chain(failed).collect::<std::collections::BTreeSet<_>>().len()
    }
}

fn name(key: u8) -> ObjectKey {
    ObjectKey::new(None, &key.to_string())
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

async fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let backoff = Backoff {
        base: Duration::from_millis(BASE),
        max: Duration::from_millis(MAX),
        jitter: 0.0,
    };
    let queue = WorkQueue::new(backoff, Metrics::new().queue("test"));
    let (mut model, mut held) = (Model::default(), BTreeMap::new());
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
            Step::Forget(key) => {
                queue.forget(&name(key));
                model.failures.remove(&key);
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
        let ready = model.queued.values().filter(|(place, _)| place.0 <= model.now).count();
        prop_assert_eq!((queue.len(), queue.tracked()), (ready, model.tracked()));
        for key in 0..6 {
            prop_assert_eq!(queue.failures(&name(key)), *model.failures.get(&key).unwrap_or(&0));
        }
    }
    drain(queue, model, held).await
}

/// Everything asked for comes out in the end, and then nothing is left.
async fn drain(queue: WorkQueue, mut model: Model, mut held: BTreeMap<u8, Held>) -> Result<(), TestCaseError> {
    for _ in 0..2 {
        for key in std::mem::take(&mut held).into_keys() {
            model.drop(key);
        }
        advance(Duration::from_millis(1000)).await;
        model.now += 1000;
        while check(&queue, &mut model, &mut held)? {}
    }
    held.clear();
    (0..6).for_each(|key| queue.forget(&name(key)));
    prop_assert_eq!((queue.len(), queue.tracked()), (0, 0));
    Ok(())
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn the_queue_does_what_the_model_does(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        runtime.block_on(run(steps))?;
    }
}
