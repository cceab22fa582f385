//! One reconcile from its key to its result: isolated, timed, classified.

use std::{
    collections::HashSet,
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::{Instrument, Span, debug, error, field, info, info_span, warn};

use crate::{
    Object,
    context::{Context, InFlight, Shared},
    controller::priority,
    error::{Class, Error, FORBIDDEN_MAX_DELAY, Result},
    events::EventType,
    informer::Delta,
    key::ObjectKey,
    metrics::{ControllerMetrics, Outcome},
    predicate::Predicate,
    queue::{Held, Priority, WorkQueue},
    reconciler::{Action, Cleanup, Reconciler},
    status::Conditions,
};

/// Numbers every reconcile of this process, so that the lines of one can be found in the log.
static RECONCILES: AtomicU64 = AtomicU64::new(1);

/// A controller's changes of its own kind, between the informer and the worker.
pub(crate) struct Main<K> {
    queue: WorkQueue,
    in_flight: Arc<InFlight>,
    predicate: Option<Predicate<K>>,
    /// Objects that went since their key was last worked on: their memory has to be freed.
    gone: Arc<Mutex<HashSet<ObjectKey>>>,
    /// Whether there are workers. What goes before is remembered by nobody.
    started: Arc<AtomicBool>,
    /// Uids whose finalizer was removed by this process, until the cache shows them gone: no second cleanup.
    finalized: Arc<Mutex<HashSet<String>>>,
}

impl<K: Object> Main<K> {
    pub(crate) fn new(queue: WorkQueue, in_flight: Arc<InFlight>, predicate: Option<Predicate<K>>) -> Self {
        Self {
            queue,
            in_flight,
            predicate,
            gone: Arc::default(),
            started: Arc::default(),
            finalized: Arc::default(),
        }
    }

    pub(crate) fn handler(&self) -> impl Fn(&Delta<K>) + Send + Sync + 'static {
        let (queue, in_flight) = (self.queue.clone(), self.in_flight.clone());
        let (gone, finalized, predicate) = (self.gone.clone(), self.finalized.clone(), self.predicate.clone());
        let started = self.started.clone();
        move |delta| {
            if !started.load(Ordering::SeqCst) {
                return;
            }
            let key = delta.key();
            match delta {
                Delta::Updated { old, new } if is_own_status(&in_flight, &key, &**old, &**new) => return,
                Delta::Deleted(object) => {
                    lock(&finalized).remove(object.meta().uid.as_deref().unwrap_or_default());
                    lock(&gone).insert(key.clone());
                }
                // The informer tells of it; there is nothing to reconcile.
                Delta::Invalid { .. } => return,
                _ => {}
            }
            if predicate.as_ref().is_none_or(|predicate| predicate.test(delta)) {
                queue.add(key, priority(delta));
            }
        }
    }

    /// Queues what passes.
    fn see(&self, delta: &Delta<K>) {
        if self.predicate.as_ref().is_none_or(|predicate| predicate.test(delta)) {
            self.queue.add(delta.key(), priority(delta));
        }
    }
}

/// Whether an update is the echo of the status patch that this controller has under way: nothing else moved.
fn is_own_status<K: Object>(in_flight: &InFlight, key: &ObjectKey, old: &K, new: &K) -> bool {
    let Some(sent) = in_flight.get(key) else { return false };
    let stable = |object: &K| {
        let mut meta = object.meta().clone();
        meta.resource_version = None;
        meta.managed_fields = None;
        meta
    };
    let status = || serde_json::to_value(new).ok().map(|mut new| new["status"].take());
    // Without a generation nothing says that the spec stood still.
    new.meta().generation.is_some() && stable(old) == stable(new) && status() == Some(sent)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A controller as its workers see it.
pub(crate) struct Worker<K: Object, R> {
    pub(crate) name: String,
    pub(crate) queue: WorkQueue,
    pub(crate) shared: Arc<Shared<K>>,
    pub(crate) reconciler: R,
    pub(crate) metrics: ControllerMetrics,
    pub(crate) timeout: Option<Duration>,
    pub(crate) main: Main<K>,
}

/// A controller of any kind, as the manager starts and stops it.
pub(crate) trait Runnable: Send + Sync {
    fn name(&self) -> &str;
    /// Asks for every object there is, and for what happens from now on. Before the first [`work`](Self::work).
    fn start(&self);
    /// Works on keys until the queue is shut down, and ends after the key in hand.
    fn work(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    /// No key is handed out any more.
    fn shut_down(&self);
    /// Reconciles that have begun and not ended.
    fn under_way(&self) -> usize;
}

impl<K: Object, R: Reconciler<K>> Runnable for Worker<K, R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn start(&self) {
        // In this order: a change that is not told from here on is in the store already.
        self.queue.wake();
        self.main.started.store(true, Ordering::SeqCst);
        for object in self.shared.main.informer.store().list() {
            self.main.see(&Delta::Added { object, initial: true });
        }
    }

    fn work(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            while let Some(held) = self.queue.next().await {
                let id = RECONCILES.fetch_add(1, Ordering::Relaxed);
                let span = info_span!(
                    "reconcile",
                    controller = self.name,
                    object = %held.key(),
                    reconcile_id = id,
                    result = field::Empty,
                    // What OpenTelemetry calls a failure; nobody else reads it.
                    otel.status_code = field::Empty,
                );
                self.process(held, id).instrument(span).await;
            }
        })
    }

    fn shut_down(&self) {
        self.queue.shut_down();
    }

    fn under_way(&self) -> usize {
        self.queue.held()
    }
}

/// How a run ended: as the reconciler said, or from outside.
enum End {
    Returned(Result<Next>),
    Panicked(String),
    TimedOut(Duration),
}

/// What comes after a run that succeeded.
#[derive(Clone, Copy)]
enum Next {
    Nothing,
    After(Duration),
}

impl<K: Object, R: Reconciler<K>> Worker<K, R> {
    async fn process(&self, held: Held, reconcile_id: u64) {
        let _active = self.metrics.active();
        let _under_way = self.shared.recorder.reconciles().begin(!self.queue.is_empty());
        let key = held.key().clone();
        if lock(&self.main.gone).remove(&key) {
            self.reconciler.deleted(&key);
        }
        let Some(object) = self.shared.main.informer.store().get(&key) else {
            // Gone, or undecodable, of which the informer tells.
            self.queue.forget(&key);
            return;
        };
        let attempt = self.queue.failures(&key);
        let cx = Context {
            shared: self.shared.clone(),
            key,
            object,
            attempt,
            reconcile_id,
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

    /// One run for this object, outside of the queue: what the next one is to be, and nothing done about it.
    #[cfg(feature = "testing")]
    pub(crate) async fn rehearse(&self, key: &ObjectKey) -> Result<Option<Duration>> {
        let Some(object) = self.shared.main.informer.store().get(key) else {
            let reason = self.shared.main.informer.store().invalid(key);
            let reason = reason.unwrap_or_else(|| "it is not in the cache".into());
            return Err(Error::Setup(format!("`{key}` cannot be reconciled: {reason}")));
        };
        let cx = Context {
            shared: self.shared.clone(),
            key: key.clone(),
            object,
            attempt: 0,
            reconcile_id: RECONCILES.fetch_add(1, Ordering::Relaxed),
        };
        match self.run(&cx).await {
            End::Returned(Ok(Next::Nothing)) => Ok(None),
            End::Returned(Ok(Next::After(delay))) => Ok(Some(delay)),
            End::Returned(Err(error)) => Err(error),
            End::Panicked(message) => Err(Error::retry(format!("the reconciler panicked: {message}"))),
            End::TimedOut(limit) => Err(Error::retry(format!("the reconcile took longer than {limit:?}"))),
        }
    }

    /// Runs the reconciler so that neither a panic nor a hang gets further than this object.
    async fn run(&self, cx: &Context<K>) -> End {
        let guarded = AssertUnwindSafe(self.step(cx)).catch_unwind();
        let result = match self.timeout {
            Some(limit) => match tokio::time::timeout(limit, guarded).await {
                Ok(result) => result,
                Err(_) => return End::TimedOut(limit),
            },
            None => guarded.await,
        };
        match result {
            Ok(result) => End::Returned(result),
            Err(panic) => End::Panicked(panic_message(&*panic)),
        }
    }

    /// Observes where the object is in its life, and does what is due there.
    async fn step(&self, cx: &Context<K>) -> Result<Next> {
        let finalizer = self.reconciler.finalizer();
        let has =
            |object: &K| finalizer.is_some_and(|name| object.meta().finalizers.iter().flatten().any(|f| f == name));
        if cx.object.meta().deletion_timestamp.is_some() {
            return if has(&cx.object) {
                self.clean_up(cx).await
            } else {
                Ok(Next::Nothing)
            };
        }
        let action = match finalizer {
            Some(name) if !has(&cx.object) => {
                let stored = self.add_finalizer(cx, name).await?;
                let cx = Context {
                    shared: cx.shared.clone(),
                    key: cx.key.clone(),
                    object: stored.clone(),
                    ..*cx
                };
                self.reconciler.reconcile(&cx, stored).await?
            }
            _ => self.reconciler.reconcile(cx, cx.object.clone()).await?,
        };
        Ok(match action {
            Action::Done => Next::Nothing,
            Action::RequeueAfter(delay) => Next::After(delay),
        })
    }

    async fn add_finalizer(&self, cx: &Context<K>, name: &str) -> Result<Arc<K>> {
        let mut finalizers = cx.object.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(name.to_owned());
        let stored = cx.patch(None, finalizers_patch(&*cx.object, &finalizers)).await?;
        cx.observe(stored.clone());
        Ok(Arc::new(stored))
    }

    async fn clean_up(&self, cx: &Context<K>) -> Result<Next> {
        let uid = cx.object.meta().uid.clone().unwrap_or_default();
        if lock(&self.main.finalized).contains(&uid) {
            return Ok(Next::Nothing);
        }
        match self.reconciler.cleanup(cx, cx.object.clone()).await? {
            Cleanup::Pending(delay) => return Ok(Next::After(delay)),
            Cleanup::Done => {}
        }
        // The cleanup may have written the status: the patch has to name the version that came of it.
        let latest = cx.latest();
        let mut finalizers = latest.meta().finalizers.clone().unwrap_or_default();
        finalizers.retain(|name| Some(name.as_str()) != self.reconciler.finalizer());
        let removed = cx.patch(None, finalizers_patch(&*latest, &finalizers)).await?;
        if removed.meta().finalizers.as_ref().is_none_or(Vec::is_empty) {
            // Gone with its last finalizer: the answer is not put into the cache, the watch tells the end.
            lock(&self.main.finalized).insert(uid.clone());
            // The watch may have told it already, and will not tell it again.
            let cached = self.shared.main.informer.store().get(&cx.key);
            if cached.is_none_or(|cached| cached.meta().uid.as_ref() != Some(&uid)) {
                lock(&self.main.finalized).remove(&uid);
            }
        } else {
            cx.observe(removed);
        }
        Ok(Next::Nothing)
    }

    /// Decides about the next run, and leaves a trace where a person has to act.
    async fn settle(&self, cx: &Context<K>, end: End, priority: Priority) -> Outcome {
        let error = match end {
            End::Returned(Ok(next)) => return self.succeed(cx, next, priority),
            End::Returned(Err(error)) if self.is_gone(cx, &error) => return self.succeed(cx, Next::Nothing, priority),
            End::Returned(Err(error)) => error,
            End::Panicked(message) => {
                self.metrics.panicked();
                Error::retry(format!("the reconciler panicked: {message}"))
            }
            End::TimedOut(limit) => {
                self.metrics.timed_out();
                Error::retry(format!("the reconcile took longer than {limit:?}"))
            }
        };
        self.fail(cx, &error, priority).await
    }

    fn succeed(&self, cx: &Context<K>, next: Next, priority: Priority) -> Outcome {
        self.queue.forget(&cx.key);
        match next {
            Next::Nothing => Outcome::Success,
            Next::After(delay) => {
                self.queue.add_after(cx.key.clone(), priority, delay);
                Outcome::RequeueAfter
            }
        }
    }

    async fn fail(&self, cx: &Context<K>, error: &Error, priority: Priority) -> Outcome {
        let class = error.class();
        match class {
            Class::Conflict => {
                let delay = self.queue.add_rate_limited(cx.key.clone(), priority);
                debug!(?delay, "the object changed meanwhile: {error}");
                return Outcome::Requeue;
            }
            Class::Retry | Class::Forbidden => {
                let mut delay = self.queue.add_rate_limited(cx.key.clone(), priority);
                if class == Class::Forbidden && delay > FORBIDDEN_MAX_DELAY {
                    delay = FORBIDDEN_MAX_DELAY;
                    // The earlier of two times wins.
                    self.queue.add_after(cx.key.clone(), priority, delay);
                }
                warn!(attempt = cx.attempt, ?delay, "reconcile failed: {error}");
            }
            Class::RetryAfter(delay) => {
                self.queue.add_after(cx.key.clone(), priority, delay);
                warn!(attempt = cx.attempt, ?delay, "reconcile failed: {error}");
            }
            Class::Terminal => {
                self.queue.forget(&cx.key);
                self.metrics.terminal();
                error!("reconcile failed, and is not tried again before the object changes: {error}");
            }
            Class::NotLeader => {
                info!("dropped: {error}");
                return Outcome::Error;
            }
        }
        if matches!(class, Class::Forbidden | Class::Terminal) {
            self.leave_trace(cx, error).await;
        }
        Outcome::Error
    }

    /// A 404 about the very object: it went while it was worked on, and nothing is left to do.
    fn is_gone(&self, cx: &Context<K>, error: &Error) -> bool {
        let Error::Kube(source) = error else { return false };
        let kube::Error::Api(status) = &**source else {
            return false;
        };
        let about = status
            .details
            .as_ref()
            .map(|details| (details.name.as_str(), details.kind.as_str()));
        status.code == 404 && about == Some((cx.key.name(), &*K::plural(&())))
    }

    /// `Ready=False` with the error's reason, and an event. If the kind has no such status, the event alone: the API
    /// server drops what the schema does not know. The status of a foreign kind is left alone.
    async fn leave_trace(&self, cx: &Context<K>, error: &Error) {
        cx.event(EventType::Warning, error.reason(), error.to_string());
        if self.shared.foreign {
            return;
        }
        let latest = cx.latest();
        let before = serde_json::to_value(&*latest)
            .map(|mut object| object["status"].take())
            .unwrap_or_default();
        let mut conditions: Vec<_> = serde_json::from_value(before["conditions"].clone()).unwrap_or_default();
        conditions.set(cx.condition("Ready", false, error.reason(), error.to_string()));
        let mut after = if before.is_object() { before.clone() } else { json!({}) };
        after["conditions"] = json!(conditions);
        if let Err(error) = cx.send_status(&latest, &before, after).await {
            debug!("the failure could not be written into the status: {error}");
        }
    }
}

/// A merge patch replaces the whole list, so it names the version it was read from.
fn finalizers_patch<K: Object>(object: &K, finalizers: &[String]) -> Value {
    json!({"metadata": {"resourceVersion": object.meta().resource_version, "finalizers": finalizers}})
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}
