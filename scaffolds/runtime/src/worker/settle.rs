//! What comes after a run: the class of its error decides about the next one, and whether a person is told.

use serde_json::json;
use tracing::{debug, error, info, warn};

use super::{
    Worker,
    run::{End, Next},
};
use crate::{
    Object,
    context::Context,
    error::{Class, Error, FORBIDDEN_MAX_DELAY},
    events::EventType,
    metrics::Outcome,
    queue::Priority,
    reconciler::Reconciler,
    status::Conditions,
};

impl<K: Object, R: Reconciler<K>> Worker<K, R> {
    /// Decides about the next run, and leaves a trace where a person has to act.
    pub(super) async fn settle(&self, cx: &Context<K>, end: End, priority: Priority) -> Outcome {
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
            // The lease may be renewed in time; where it is not, the process ends.
            Class::NotLeader => {
                let delay = self.queue.add_rate_limited(cx.key.clone(), priority);
                info!(?delay, "not written: {error}");
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
