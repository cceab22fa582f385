//! One run of a reconciler: isolated, timed, and with the step that the object's state requires.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tracing::warn;

use super::Worker;
use crate::{
    context::{Context, Sent},
    error::{Result, SHORTEST_DELAY},
    isolate::{Panic, isolated_future},
    object::AnyObject,
    reconciler::{Action, Cleanup},
};

/// The end of a run: by itself, by a panic, or by its time limit.
pub(super) enum End {
    Returned(Result<Next>),
    Panicked(Panic),
    TimedOut(CutOff),
}

/// The cancelled function, and its time limit.
pub(super) struct CutOff {
    part: &'static str,
    limit: Duration,
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` did not end within {:?}, and was cut off",
            self.part, self.limit
        )
    }
}

/// The next step after a successful run.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Nothing,
    After(Duration),
    At(Timestamp),
    Backoff,
}

/// After this many runs in a row, an object that is to be requeued without a delay is named in the log.
const WITHOUT_DELAY: u32 = 8;

impl Next {
    fn after(delay: Duration, attempt: u32) -> Self {
        if delay >= SHORTEST_DELAY {
            return Self::After(delay);
        }
        if attempt == WITHOUT_DELAY {
            warn!(
                attempt,
                "a requeue without a delay was requested again and again: the delays grow"
            );
        }
        Self::Backoff
    }

    /// The time `at`, which is `left` from now.
    fn at(at: Timestamp, left: Duration, attempt: u32) -> Self {
        match Self::after(left, attempt) {
            Self::After(_) => Self::At(at),
            next => next,
        }
    }
}

impl<K: AnyObject> Worker<K> {
    /// Runs the reconciler so that neither a panic nor a hang affects another object.
    pub(super) async fn run(&self, cx: &Context<K>) -> End {
        let guarded = isolated_future(Box::pin(self.step(cx)));
        let result = match self.timeout {
            Some(limit) => match tokio::time::timeout(limit, guarded).await {
                Ok(result) => result,
                Err(_) => {
                    let deleted = cx.object.meta().deletion_timestamp.is_some();
                    let part = if deleted { "cleanup" } else { "reconcile" };
                    return End::TimedOut(CutOff { part, limit });
                }
            },
            None => guarded.await,
        };
        match result {
            Ok(result) => End::Returned(result),
            Err(panic) => End::Panicked(panic),
        }
    }

    /// Determines the object's state (new, deleted, finalized), and takes the step for it.
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
                    priority: cx.priority.clone(),
                    patched: cx.patched.clone(),
                    ..*cx
                };
                self.reconciler.reconcile(&cx, stored).await?
            }
            _ => self.reconciler.reconcile(cx, cx.object.clone()).await?,
        };
        Ok(match action {
            Action::Done => Next::Nothing,
            Action::RequeueAfter(delay) => Next::after(delay, cx.attempt),
            Action::At(at) => Next::at(at, cx.shared.clock.until(at), cx.attempt),
            Action::RequeueWithBackoff => Next::Backoff,
        })
    }

    async fn add_finalizer(&self, cx: &Context<K>, name: &str) -> Result<Arc<K>> {
        let mut finalizers = cx.object.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(name.to_owned());
        let patch = finalizers_patch(&*cx.object, &finalizers);
        let guard = cx.shared.state.in_flight.begin(&cx.key, Sent::Finalizers(finalizers));
        let stored = cx.patch(None, patch, &cx.shared.manager).await?;
        cx.observe(stored.clone());
        drop(guard);
        Ok(Arc::new(stored))
    }

    async fn clean_up(&self, cx: &Context<K>) -> Result<Next> {
        let uid = cx.object.meta().uid.clone().unwrap_or_default();
        if self.primary.is_released(&uid) {
            return Ok(Next::Nothing);
        }
        match self.reconciler.cleanup(cx, cx.object.clone()).await? {
            Cleanup::Pending(delay) => return Ok(Next::after(delay, cx.attempt)),
            Cleanup::PendingWithBackoff => return Ok(Next::Backoff),
            Cleanup::Done => {}
        }
        // The cleanup may have written the status: the patch has to name the resulting resource version.
        let latest = cx.latest();
        let mut finalizers = latest.meta().finalizers.clone().unwrap_or_default();
        finalizers.retain(|name| Some(name.as_str()) != self.reconciler.finalizer());
        let patch = finalizers_patch(&*latest, &finalizers);
        let removed = cx.patch(None, patch, &cx.shared.manager).await?;
        if removed.meta().finalizers.as_ref().is_none_or(Vec::is_empty) {
            // The object is deleted with its last finalizer: the response is not stored in the cache, the watch
            // delivers the deletion.
            self.primary.note_released(&uid);
            // The watch may have delivered the deletion already, and will not deliver it again.
            let cached = self.shared.main.informer.store().get(&cx.key);
            if cached.is_none_or(|cached| cached.meta().uid.as_ref() != Some(&uid)) {
                self.primary.note_deleted(&uid);
            }
        } else {
            cx.observe(removed);
        }
        Ok(Next::Nothing)
    }
}

/// A merge patch replaces the whole list, so it names the resource version that the list was read from.
fn finalizers_patch<K: AnyObject>(object: &K, finalizers: &[String]) -> Value {
    json!({"metadata": {"resourceVersion": object.meta().resource_version, "finalizers": finalizers}})
}
