//! Handles the result of a run: the class of its error decides when it runs again, and whether a person is informed.

use std::{ops::RangeInclusive, time::Duration};

use tracing::{debug, error, info, warn};

use super::{
    Worker,
    run::{End, Next},
};
use crate::{
    context::Context,
    error::{CONFLICT_MAX_DELAY, Class, Error, FORBIDDEN_MAX_DELAY, REJECTED_MIN_DELAY, refusal},
    metrics::Outcome,
    object::AnyObject,
    priority::Priority,
};

/// From this conflict in a row on, which is five seconds after the first one with the default backoff, conflicts count as
/// failures: another client overwrites what the reconciler writes, or the cache is old.
const LASTING_CONFLICT: u32 = 10;

/// The least delay that a reconciler can request while its condition cannot be set back: each run writes it again.
const UNWRITTEN_MIN_DELAY: Duration = Duration::from_secs(30);

impl<K: AnyObject> Worker<K> {
    /// Decides when to run again, and reports errors that a person has to act on.
    pub(super) async fn settle(&self, cx: &Context<K>, end: End, priority: Priority) -> Outcome {
        let priority = cx.next_priority().unwrap_or(priority);
        let error = match end {
            End::Returned(Ok(next)) => return self.succeed(cx, next, priority).await,
            End::Returned(Err(error)) if is_gone(cx, error.without_deadline()).await => {
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
        self.traces.conflicts(&cx.key, false);
        let cleared = self.clear_trace(cx).await;
        let was_stuck = self.traces.stuck(&cx.key, cleared.is_err());
        if let Err(error) = cleared {
            // From here on, only failures of this write count.
            if !was_stuck {
                self.shared.state.queue.forget(&cx.key);
            }
            self.write_again(cx, &error, priority);
            // The work of this run has succeeded, so its next run comes in time, as long as that is no loop.
            match next {
                Next::After(delay) => {
                    let delay = delay.max(UNWRITTEN_MIN_DELAY);
                    self.shared.state.queue.add_after(cx.key.clone(), priority, delay);
                }
                Next::At(at) => {
                    let soonest = cx.now().saturating_add(UNWRITTEN_MIN_DELAY);
                    self.alarms
                        .set(&cx.key, soonest.map_or(at, |soonest| at.max(soonest)), priority);
                }
                Next::Nothing | Next::Backoff => {}
            }
            return Outcome::Requeue;
        }
        match next {
            Next::Nothing => {
                self.shared.state.queue.forget(&cx.key);
                Outcome::Success
            }
            Next::After(delay) => {
                self.shared.state.queue.forget(&cx.key);
                self.shared.state.queue.add_after(cx.key.clone(), priority, delay);
                Outcome::RequeueAfter
            }
            Next::At(at) => {
                self.shared.state.queue.forget(&cx.key);
                self.alarms.set(&cx.key, at, priority);
                Outcome::RequeueAfter
            }
            // Counted as a failure is: the delays grow.
            Next::Backoff => {
                self.shared.state.queue.add_unfinished(cx.key.clone(), priority);
                Outcome::Requeue
            }
        }
    }

    async fn fail(&self, cx: &Context<K>, error: &Error, priority: Priority) -> Outcome {
        if let Error::WithDeadline { error, at } = error {
            if !self.alarms.clock().until(*at).is_zero() {
                self.alarms.set(&cx.key, *at, priority);
            }
            return Box::pin(self.fail(cx, error, priority)).await;
        }
        self.traces.stuck(&cx.key, false);
        let class = error.class();
        let conflicts = self.traces.conflicts(&cx.key, class == Class::Conflict);
        match class {
            Class::Conflict if conflicts < LASTING_CONFLICT => {
                let delay = self.retry(cx, class, priority);
                debug!(?delay, "the object changed meanwhile: {error}");
                return Outcome::Requeue;
            }
            // The author's delay is exact. That of the API server, which may be overloaded for longer, is the shortest one.
            Class::RetryAfter(delay) if error.code().is_none() => {
                self.shared.state.queue.count_failure(&cx.key);
                self.shared.state.queue.add_after(cx.key.clone(), priority, delay);
                self.log_failure(cx, error, delay);
            }
            Class::Conflict | Class::Retry | Class::RetryAfter(_) | Class::Forbidden | Class::Rejected => {
                let delay = self.retry(cx, class, priority);
                self.log_failure(cx, error, delay);
            }
            Class::Terminal => {
                self.metrics.terminal();
                // It runs again while its condition cannot be written.
                if self.outage.is_first(&cx.key, error) {
                    error!("reconcile failed, and is not retried before the object changes: {error}");
                }
            }
            // The lease may be renewed in time; if it is not, the process ends.
            Class::NotLeader => {
                let delay = self.retry(cx, class, priority);
                if self.outage.is_first(&cx.key, error) {
                    info!(?delay, "not written: {error}");
                }
            }
        }
        let reported = match class {
            Class::Conflict | Class::Forbidden | Class::Rejected | Class::Terminal => self.leave_trace(cx, error).await,
            Class::Retry | Class::RetryAfter(_) | Class::NotLeader => Ok(()),
        };
        match (class, reported) {
            (Class::Terminal, Err(unwritten)) => self.write_again(cx, &unwritten, priority),
            (Class::Terminal, Ok(())) => self.shared.state.queue.count_failure(&cx.key),
            // The next run, which is requested already, writes it.
            (_, Err(unwritten)) => debug!("the condition could not be written into the status: {unwritten}"),
            (_, Ok(())) => {}
        }
        Outcome::Error
    }

    /// Counts a failure, and requests another run after the delay for an error of this class, which is returned.
    fn retry(&self, cx: &Context<K>, class: Class, priority: Priority) -> Duration {
        let (queue, key) = (&self.shared.state.queue, cx.key.clone());
        queue.add_rate_limited_within(key, priority, delays(class))
    }

    /// Requests another run, which finds what this one has found, and writes the condition again.
    fn write_again(&self, cx: &Context<K>, error: &Error, priority: Priority) {
        let delay = self.retry(cx, error.class(), priority);
        if self.outage.is_first(&cx.key, error) {
            info!(
                ?delay,
                "reconciled again, because the condition could not be written into the status: {error}"
            );
        }
    }

    /// Logs a failure, unless it is one of many with the same cause, which are counted.
    fn log_failure(&self, cx: &Context<K>, error: &Error, delay: Duration) {
        let attempt = cx.attempt;
        if !self.outage.is_first(&cx.key, error) {
            debug!(attempt, ?delay, "reconcile failed: {error}");
            return;
        }
        let is_forbidden = error.class() == Class::Forbidden;
        let hint = is_forbidden.then(|| refusal::hint(&error.to_string())).flatten();
        warn!(attempt, ?delay, hint = hint.map(display), "reconcile failed: {error}");
    }
}

/// The range of the delays after an error of this class.
fn delays(class: Class) -> RangeInclusive<Duration> {
    match class {
        Class::Conflict => Duration::ZERO..=CONFLICT_MAX_DELAY,
        Class::Forbidden => Duration::ZERO..=FORBIDDEN_MAX_DELAY,
        Class::Rejected => REJECTED_MIN_DELAY..=Duration::MAX,
        Class::RetryAfter(delay) => delay..=Duration::MAX,
        _ => Duration::ZERO..=Duration::MAX,
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
