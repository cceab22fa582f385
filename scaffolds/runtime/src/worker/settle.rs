//! Handles the result of a run: the class of its error decides when it runs again, and whether a person is informed.

use std::time::Duration;

use tracing::{debug, error, field::display, info, warn};

use super::{
    Worker,
    run::{End, Next},
};
use crate::{
    context::Context,
    error::{Class, Error, FORBIDDEN_MAX_DELAY, REJECTED_MIN_DELAY, refusal},
    metrics::Outcome,
    object::AnyObject,
    priority::Priority,
    reconciler::Reconciler,
};

impl<K: AnyObject, R: Reconciler<K>> Worker<K, R> {
    /// Decides when to run again, and reports errors that a person has to act on.
    pub(super) async fn settle(&self, cx: &Context<K>, end: End, priority: Priority) -> Outcome {
        let priority = cx.next_priority().unwrap_or(priority);
        let error = match end {
            End::Returned(Ok(next)) => return self.succeed(cx, next, priority).await,
            End::Returned(Err(error)) if is_gone(cx, &error).await => {
                return self.succeed(cx, Next::Nothing, priority).await;
            }
            End::Returned(Err(error)) => error,
            End::Panicked(message) => {
                self.metrics.panicked();
                Error::retry(format!("the reconciler panicked: {message}"))
            }
            End::TimedOut(cut_off) => {
                self.metrics.timed_out();
                Error::retry(cut_off.to_string())
            }
        };
        self.fail(cx, &error, priority).await
    }

    async fn succeed(&self, cx: &Context<K>, next: Next, priority: Priority) -> Outcome {
        self.clear_trace(cx).await;
        match next {
            Next::Nothing => {
                self.queue.forget(&cx.key);
                Outcome::Success
            }
            Next::After(delay) => {
                self.queue.forget(&cx.key);
                self.queue.add_after(cx.key.clone(), priority, delay);
                Outcome::RequeueAfter
            }
            // Counted as a failure is: the delays grow.
            Next::Backoff => {
                self.queue.add_unfinished(cx.key.clone(), priority);
                Outcome::Requeue
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
            Class::Retry | Class::Forbidden | Class::Rejected => {
                let delays = match class {
                    Class::Forbidden => Duration::ZERO..=FORBIDDEN_MAX_DELAY,
                    Class::Rejected => REJECTED_MIN_DELAY..=Duration::MAX,
                    _ => Duration::ZERO..=Duration::MAX,
                };
                let delay = self.queue.add_rate_limited_within(cx.key.clone(), priority, delays);
                let hint = (class == Class::Forbidden).then(|| refusal::hint(&error.to_string()));
                let hint = hint.flatten().map(display);
                warn!(attempt = cx.attempt, ?delay, hint, "reconcile failed: {error}");
            }
            Class::RetryAfter(delay) => {
                self.queue.count_failure(&cx.key);
                self.queue.add_after(cx.key.clone(), priority, delay);
                warn!(attempt = cx.attempt, ?delay, "reconcile failed: {error}");
            }
            Class::Terminal => {
                self.queue.count_failure(&cx.key);
                self.metrics.terminal();
                error!("reconcile failed, and is not retried before the object changes: {error}");
            }
            // The lease may be renewed in time; if it is not, the process ends.
            Class::NotLeader => {
                let delay = self.queue.add_rate_limited(cx.key.clone(), priority);
                info!(?delay, "not written: {error}");
            }
        }
        if matches!(class, Class::Forbidden | Class::Rejected | Class::Terminal) {
            self.leave_trace(cx, error).await;
        }
        Outcome::Error
    }
}

/// A 404 about the reconciled object itself: it was deleted during the reconcile, and nothing is left to do.
///
/// The response names group, plural and name, but no namespace: it could be about an object of this kind and name in
/// another namespace. So this object is read from the API server.
async fn is_gone<K: AnyObject>(cx: &Context<K>, error: &Error) -> bool {
    let Error::Kube(source) = error else { return false };
    let kube::Error::Api(status) = &**source else {
        return false;
    };
    let Some(about) = &status.details else { return false };
    let kind = cx.shared.kind();
    let own = (cx.key.name(), kind.group(), kind.plural());
    status.code == 404
        && (about.name.as_str(), about.group.as_str(), about.kind.as_str()) == own
        && matches!(cx.live().await, Ok(None))
}
