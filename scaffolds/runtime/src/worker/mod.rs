//! The workers of a controller: they take keys from its queue, run the reconciler, and handle the result.

mod alarms;
mod frequent;
mod outage;
mod primary;
#[cfg(feature = "testing")]
mod rehearsal;
mod run;
mod settle;
mod trace;

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{task::yield_now, time::Instant};
use tracing::{Instrument, Span, error, field, info_span, warn};

use self::frequent::{Frequent, MANY, WINDOW};
pub(crate) use self::{
    alarms::Alarms,
    outage::Outage,
    primary::{PrimaryEvents, priority},
    trace::Traces,
};
use crate::{
    condition_types::ConditionTypes,
    context::{Context, ReconcileShared},
    heartbeat::Heartbeat,
    informer::Delta,
    isolate::{isolated, isolated_future},
    key::ObjectKey,
    metrics::{ControllerMetrics, Outcome},
    object::AnyObject,
    priority::Priority,
    queue::Held,
    reconciler::AnyReconciler,
};

/// Numbers every reconcile of this process, to find its lines in the log.
static RECONCILES: AtomicU64 = AtomicU64::new(1);

/// A controller as its workers use it.
pub(crate) struct Worker<K: AnyObject> {
    pub(crate) name: String,
    pub(crate) shared: Arc<ReconcileShared<K>>,
    pub(crate) reconciler: Box<dyn AnyReconciler<K>>,
    pub(crate) metrics: ControllerMetrics,
    pub(crate) conditions: ConditionTypes,
    pub(crate) traces: Traces,
    pub(crate) outage: Arc<Outage>,
    pub(crate) alarms: Arc<Alarms>,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) timeout: Option<Duration>,
    pub(crate) primary: Arc<PrimaryEvents<K>>,
}

/// Work of a controller that is under way.
pub(crate) type Pending<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// After this many objects the task that queues them lets others run: predicates and the decoding of objects take some
/// microseconds for each.
const AT_ONCE: usize = 256;

/// A controller of any kind, as the manager starts and stops it.
pub(crate) trait Runnable: Send + Sync {
    fn name(&self) -> &str;
    /// Queues every existing object, and all later changes. To be called before the first [`work`](Self::work).
    fn start(&self) -> Pending<'_>;
    /// Queues every existing object of a namespace, which has joined, and every owner that waits to write in it.
    fn queue_namespace<'a>(&'a self, namespace: &'a str) -> Pending<'a>;
    /// Processes keys until the queue is shut down, and ends after the current key.
    fn work(self: Arc<Self>) -> Pending<'static>;
    /// The number of times that [`work`](Self::work) has to run for this many workers: the queue hands out additional keys if one
    /// namespace holds too many.
    fn tasks(&self, workers: usize) -> usize {
        2 * workers - 1
    }
    /// Shuts the queue down: no more keys are handed out.
    fn shut_down(&self);
    /// Whether workers are to end.
    fn is_shut_down(&self) -> bool;
    /// Reconciles that have begun and not ended.
    fn under_way(&self) -> usize;
}

impl<K: AnyObject> Runnable for Worker<K> {
    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self) -> Pending<'_> {
        Box::pin(async {
            // In this order: a change that is not delivered after this call is in the store already.
            self.shared.state.queue.wake();
            self.primary.start();
            self.enqueue_all(|_| true).await;
        })
    }

    fn queue_namespace<'a>(&'a self, namespace: &'a str) -> Pending<'a> {
        Box::pin(async move {
            for owner in self.shared.state.unchosen.wake(namespace) {
                self.shared.state.queue.add(owner, Priority::Normal);
            }
            self.enqueue_all(|key| key.namespace() == Some(namespace)).await;
        })
    }

    fn work(self: Arc<Self>) -> Pending<'static> {
        Box::pin(async move {
            let polls = self.heartbeat.polls(&self.name);
            let mut frequent = Frequent::default();
            while let Some(held) = self.shared.state.queue.next().await {
                let id = RECONCILES.fetch_add(1, Ordering::Relaxed);
                let span = info_span!(
                    "reconcile",
                    controller = self.name,
                    object = %held.key(),
                    reconcile_id = id,
                    result = field::Empty,
                    // OpenTelemetry's field for failures; only exporters read it.
                    otel.status_code = field::Empty,
                );
                let (key, priority) = (held.key().clone(), held.priority());
                if frequent.count(&key, Instant::now()) {
                    span.in_scope(|| warn!("reconciled {MANY} times within {WINDOW:?}"));
                }
                let processed = self.process(held, id).instrument(span.clone());
                // Also catches panics of the author's types outside of the reconciler: `Display`, `Serialize`.
                if let Err(panic) = isolated_future(polls.observed(&key, processed)).await {
                    self.metrics.panicked();
                    span.in_scope(|| error!("a panic outside of the reconciler: {panic}"));
                    self.shared.state.queue.add_rate_limited(key, priority);
                }
                // A run need not wait for anything: then other controllers, watches and probes have their turn here.
                yield_now().await;
            }
        })
    }

    fn shut_down(&self) {
        self.shared.state.queue.shut_down();
    }

    fn is_shut_down(&self) -> bool {
        self.shared.state.queue.is_shut_down()
    }

    fn under_way(&self) -> usize {
        self.shared.state.queue.held()
    }
}

impl<K: AnyObject> Worker<K> {
    /// Queues the objects of these keys as those of a first list.
    async fn enqueue_all(&self, of: impl Fn(&ObjectKey) -> bool) {
        let store = self.shared.main.informer.store();
        let keys: Vec<_> = store.keys().into_iter().filter(of).collect();
        for some in keys.chunks(AT_ONCE) {
            for key in some {
                if let Some(object) = store.get(key) {
                    self.primary.enqueue(&Delta::Added { object, initial: true });
                }
            }
            yield_now().await;
        }
    }

    async fn process(&self, held: Held, reconcile_id: u64) {
        // This run waits again if it has to.
        self.shared.state.unchosen.forget_owner(held.key());
        let key = held.key().clone();
        self.alarms.clear(&key);
        // Also if its namespace was deleted right after it.
        if self.primary.take_deleted(&key) {
            // Another object of this name may exist already, and has not failed yet.
            self.shared.state.queue.forget(&key);
            self.traces.forget(&key);
            if let Err(panic) = isolated(|| self.reconciler.deleted(&key)) {
                self.metrics.panicked();
                error!("`deleted` panicked; it is not called again for this object: {panic}");
            }
        }
        let Some(_pass) = self.shared.state.gate.pass(held.key()) else {
            // Its namespace joins, and then it is queued again; or it leaves.
            self.shared.state.queue.forget(held.key());
            self.traces.forget(held.key());
            return;
        };
        let _active = self.metrics.active();
        let _under_way = self.shared.recorder.reconciles().begin();
        let Some(object) = self.shared.main.informer.store().get(&key) else {
            // Gone, or undecodable, which the informer reports.
            self.shared.state.queue.forget(&key);
            self.shared.state.losses.forget_owner(&key);
            self.shared.state.disowned.forget_owner(&key);
            self.traces.forget(&key);
            return;
        };
        let attempt = self.shared.state.queue.failures(&key);
        let cx = Context {
            shared: self.shared.clone(),
            key,
            object,
            attempt,
            reconcile_id,
            priority: Arc::default(),
            patched: Arc::default(),
        };
        let started = Instant::now();
        let end = self.run(&cx).await;
        let outcome = self.settle(&cx, end, held.priority()).await;
        let span = Span::current();
        span.record("result", outcome.label());
        if outcome == Outcome::Error {
            span.record("otel.status_code", "ERROR");
        }
        self.metrics.reconciled(outcome, started.elapsed());
    }
}
