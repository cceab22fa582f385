//! Errors of a reconciler, and which of them are retried.

pub(crate) mod refusal;

use std::{error::Error as StdError, time::Duration};

use k8s_openapi::jiff::Timestamp;

use crate::{key::ObjectKey, status};

/// The runtime's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error, as a reconciler may wrap it.
pub type BoxError = Box<dyn StdError + Send + Sync + 'static>;

/// An error of a reconciler or of the runtime. [`Error::class`] decides what the controller does with it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request to the API server failed.
    #[error("{}", describe(.0))]
    Kube(#[source] Box<kube::Error>),
    /// Something failed that may succeed next time: retried with the object's own growing delay.
    #[error("{}", with_causes(.0))]
    Retry(#[source] BoxError),
    /// Something failed that is worth another try only after this delay.
    #[error("{}", with_causes(.error))]
    RetryAfter {
        /// The cause.
        #[source]
        error: BoxError,
        /// The time to wait.
        after: Duration,
    },
    /// An error with a time at which the object is reconciled again: see [`Error::with_deadline`].
    #[error("{error}")]
    WithDeadline {
        /// The cause, which decides on everything else.
        error: Box<Error>,
        /// The time of the manager's clock.
        at: Timestamp,
    },
    /// A retry is useless until somebody changes the object: not retried, and reported in its status.
    #[error("{message}")]
    Terminal {
        /// One CamelCase word, the reason of the `Ready` condition.
        reason: String,
        /// For people: what is wrong and how to fix it.
        message: String,
    },
    /// An object of the child's name exists, and this object is not its controller (controller-runtime's
    /// `AlreadyOwnedError`). It was not changed, and this object is reconciled again when that object changes or is
    /// deleted.
    #[error("{0}")]
    NotOwned(NotOwned),
    /// The child's kind may be [absent](crate::Controller::optional), and is: the API server does not serve it. Nothing
    /// was sent, and this object is reconciled again when the kind is served.
    #[error("the API server does not serve {0}")]
    Absent(String),
    /// This process does not hold the leader lease (any more), so it writes nothing.
    #[error("not the leader: nothing is written")]
    NotLeader,
    /// The operator's own code or flags ask for something impossible, such as two controllers of one name.
    #[error("{0}")]
    Setup(String),
}

/// The message as [`Display`](std::fmt::Display) prints it, then each cause with more information: a test that returns the error is read by people.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut said = self.to_string();
        f.write_str(&said)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !said.contains(&text) {
                write!(f, "\n\ncaused by: {text}")?;
            }
            said = text;
            cause = error.source();
        }
        Ok(())
    }
}

/// The existing object that has the name of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOwned {
    /// The child's kind.
    pub kind: String,
    /// The child's name.
    pub key: ObjectKey,
    /// Its controller, as `Kind/name`; `None` if it has none.
    pub owner: Option<String>,
    /// Whether the controller watches the kind, and so is notified when the object changes or is deleted.
    pub watched: bool,
}

impl std::fmt::Display for NotOwned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} `{}` exists and ", self.kind, self.key)?;
        match &self.owner {
            Some(owner) => write!(f, "is controlled by {owner}"),
            None => f.write_str("is not controlled by this object"),
        }
    }
}

/// The reaction of a controller to an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Another client was faster: as [`Class::Retry`], at most [`CONFLICT_MAX_DELAY`] apart; the first nine in a row are not
    /// logged as errors.
    Conflict,
    /// Run again with the object's own growing delay (5 ms to 1000 s).
    Retry,
    /// Run again after exactly this delay, if it is the author's; after this delay or the object's own growing one, whichever is
    /// longer, if it is the API server's. With less than a millisecond the class is [`Retry`](Self::Retry).
    RetryAfter(Duration),
    /// The API server refused the request (401, 403): as [`Class::Retry`], at most [`FORBIDDEN_MAX_DELAY`] apart, and
    /// reported in the object's status, because only a person can fix it.
    Forbidden,
    /// The API server found the request invalid (400, 405, 422): as [`Class::Retry`], at least [`REJECTED_MIN_DELAY`] apart,
    /// and reported in the object's status. Most need a change of the object, but not all: a `nodePort` or `clusterIP`
    /// that another Service uses is a 422 until that Service is deleted, and a create is a 405 while its kind is replaced.
    Rejected,
    /// Not run again until something wakes the object or the cache is resynced; reported in the object's status.
    Terminal,
    /// Run again as after any failure: the lease may be renewed in time. If it is not, the process ends.
    NotLeader,
}

/// The longest delay after a conflict. If the cache is old, its watch is tried again within half a minute; then the next attempt
/// succeeds, although the delay for so many failures would be minutes.
pub const CONFLICT_MAX_DELAY: Duration = Duration::from_secs(30);

/// The longest delay after a 401 or 403. People fix RBAC and then wait for the effect: a minute, not the 17 minutes
/// that the normal backoff reaches.
pub const FORBIDDEN_MAX_DELAY: Duration = Duration::from_secs(60);

/// The shortest delay after a 400, 405 or 422. A cause that passes, such as the deletion of another object, takes seconds; a
/// request that stays invalid is repeated twice a minute at first, and after a quarter of an hour as rarely as after
/// any failure.
pub const REJECTED_MIN_DELAY: Duration = Duration::from_secs(30);

/// A shorter delay counts as none, so that no object is reconciled without a pause: the object's own growing delay takes
/// its place.
pub(crate) const SHORTEST_DELAY: Duration = Duration::from_millis(1);

impl Error {
    /// Wraps an error that may go away by itself.
    pub fn retry(error: impl Into<BoxError>) -> Self {
        Self::Retry(error.into())
    }

    /// Wraps an error that is to be retried only after `after`.
    pub fn retry_after(error: impl Into<BoxError>, after: Duration) -> Self {
        Self::RetryAfter {
            error: error.into(),
            after,
        }
    }

    /// An error that only a change of the object can fix. `reason` is one CamelCase word; any text that no reason of a
    /// condition can be is reported as `ReconcileFailed`.
    pub fn terminal(reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Terminal {
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// This error, with a time of the [manager's clock](crate::Context::now) at which the object is reconciled again at the latest,
    /// whatever the class of the error: for work that goes on later although this part of it has failed for good.
    /// A time that has passed is ignored.
    pub fn with_deadline(self, at: Timestamp) -> Self {
        Self::WithDeadline {
            error: Box::new(self),
            at,
        }
    }

    /// The error itself.
    pub(crate) fn without_deadline(&self) -> &Self {
        match self {
            Self::WithDeadline { error, .. } => error.without_deadline(),
            error => error,
        }
    }

    /// The reaction of a controller to this error.
    ///
    /// Responses of the API server: 409 `Conflict` is [`Class::Conflict`]; 401 and 403 are [`Class::Forbidden`], except
    /// in a namespace that is being deleted, where the request is retried; 400, 405 and 422 are [`Class::Rejected`]; 413 is
    /// [`Class::Terminal`], because the same request will be refused again. [`Error::NotOwned`] is
    /// [`Class::Terminal`] too if the controller watches the kind, because a change of the object wakes it; so is
    /// [`Error::Absent`], because the controller is notified when the kind is served. Everything else (404, 409 `AlreadyExists`, 410, 429, 5xx, time-outs, broken connections) is [`Class::Retry`].
    pub fn class(&self) -> Class {
        match self {
            Self::Kube(error) => class_of(error),
            Self::WithDeadline { error, .. } => error.class(),
            // The watch delivers its changes, so there is no need to poll.
            Self::NotOwned(other) if other.watched => Class::Terminal,
            Self::RetryAfter { after, .. } if *after >= SHORTEST_DELAY => Class::RetryAfter(*after),
            Self::Retry(_) | Self::RetryAfter { .. } | Self::NotOwned(_) => Class::Retry,
            // The informer notifies the controller when the kind is served.
            Self::Terminal { .. } | Self::Setup(_) | Self::Absent(_) => Class::Terminal,
            Self::NotLeader => Class::NotLeader,
        }
    }

    /// The HTTP status code, if the API server responded at all.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Kube(error) => code_of(error),
            Self::WithDeadline { error, .. } => error.code(),
            _ => None,
        }
    }

    /// Whether the API server refused to create an object because its namespace is being deleted (403 with the cause
    /// `NamespaceTerminating`). [`class`](Self::class) is [`Class::Retry`], so a cleanup that waits for the object never ends.
    pub fn is_namespace_terminating(&self) -> bool {
        match self {
            Self::Kube(error) => matches!(&**error, kube::Error::Api(status) if is_terminating_namespace(status)),
            Self::WithDeadline { error, .. } => error.is_namespace_terminating(),
            _ => false,
        }
    }

    /// The token of a list that has expired (410), with which it goes on where it was, with the objects as they are now.
    pub(crate) fn next_page(&self) -> Option<String> {
        let Self::Kube(error) = self else { return None };
        match error.as_ref() {
            kube::Error::Api(status) if status.code == 410 => {
                let token = status.metadata.as_ref()?.continue_.clone();
                token.filter(|token| !token.is_empty())
            }
            _ => None,
        }
    }

    /// The reason for a condition: one CamelCase word.
    pub(crate) fn reason(&self) -> &str {
        match (self, self.class()) {
            // The API server would refuse a condition with any other reason, each time.
            (Self::Terminal { reason, .. }, _) if status::is_reason(reason) => reason,
            (Self::Terminal { .. }, _) => "ReconcileFailed",
            (Self::WithDeadline { error, .. }, _) => error.reason(),
            (Self::NotOwned(_), _) => "ChildNotOwned",
            (Self::Absent(_), _) => "KindAbsent",
            (_, Class::Forbidden) => "Forbidden",
            (_, Class::Conflict) => "Conflict",
            (_, Class::Rejected | Class::Terminal) => "Rejected",
            _ => "ReconcileFailed",
        }
    }
}

/// Refuses a request before it is sent: this process must not write (any more).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the leader: nothing is written")]
pub(crate) struct NotLeader;

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        // The client's write gate is a layer below kube, which wraps its errors.
        if let kube::Error::Service(inner) = &error
            && inner.downcast_ref::<NotLeader>().is_some()
        {
            return Self::NotLeader;
        }
        Self::Kube(Box::new(error))
    }
}

fn code_of(error: &kube::Error) -> Option<u16> {
    match error {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

fn class_of(error: &kube::Error) -> Class {
    let kube::Error::Api(status) = error else {
        return Class::Retry;
    };
    match status.code {
        409 if status.reason == "Conflict" => Class::Conflict,
        403 if is_terminating_namespace(status) => Class::Retry,
        401 | 403 => Class::Forbidden,
        // Kubernetes until 1.33 answers 405 to a create while the kind's definition is being replaced.
        400 | 405 | 422 => Class::Rejected,
        413 => Class::Terminal,
        429 | 500.. => retry_after(status),
        _ => Class::Retry,
    }
}

/// The time for which the API server, or a proxy, asks not to repeat a request.
pub(crate) fn asked_delay(error: &kube::Error) -> Duration {
    match class_of(error) {
        Class::RetryAfter(delay) => delay,
        _ => Duration::ZERO,
    }
}

/// The class of a response with `retryAfterSeconds`.
fn retry_after(status: &kube::core::Status) -> Class {
    match status.details.as_ref().map_or(0, |details| details.retry_after_seconds) {
        0 => Class::Retry,
        seconds => Class::RetryAfter(Duration::from_secs(u64::from(seconds))),
    }
}

/// Whether the namespace is being deleted, so that nothing can be created in it.
pub(crate) fn is_terminating_namespace(status: &kube::core::Status) -> bool {
    status
        .details
        .iter()
        .flat_map(|details| &details.causes)
        .any(|cause| cause.reason == "NamespaceTerminating")
}

/// The message of the API server alone: kube's own text appends the whole `Status`.
pub(crate) fn describe(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => format!("{} ({})", status.message, status.code),
        other => chain(other),
    }
}

/// An error of a reconciler with its causes. One of the API server may be wrapped, in an error of this crate too.
fn with_causes(error: &BoxError) -> String {
    if let Some(error) = error.downcast_ref::<kube::Error>() {
        return describe(error);
    }
    match error.downcast_ref::<Error>() {
        Some(error) => error.to_string(),
        None => chain(&**error),
    }
}

/// An error with its causes, each once: many of kube's messages already quote their cause.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn a_wrapped_error_has_its_causes_each_once() {
        let refused = || std::io::Error::other(std::io::Error::other("connection refused"));
        let service = || kube::Error::Service(Box::new(refused()));
        let expected = Error::from(service()).to_string();
        assert_eq!(expected.matches("connection refused").count(), 1, "{expected}");
        let after = std::time::Duration::from_secs(1);
        for error in [
            Error::retry(service()),
            Error::retry(Error::from(service())),
            Error::retry_after(service(), after),
        ] {
            assert_eq!(error.to_string(), expected);
        }
        let status = kube::core::Status::failure("it is down", "ServiceUnavailable").with_code(503);
        let status = kube::Error::Api(Box::new(status));
        assert_eq!(Error::retry(status).to_string(), "it is down (503)");
    }

    #[test]
    fn a_test_that_fails_prints_the_message_and_each_cause_that_says_more() {
        let setup = Error::Setup("two lines\n\nhint: a \"remedy\"".to_owned());
        assert_eq!(format!("{setup:?}"), "two lines\n\nhint: a \"remedy\"");
        let inner = std::io::Error::other("the disk is full");
        let retry = Error::retry(kube::Error::ReadEvents(inner));
        let shown = format!("{retry:?}");
        assert!(
            shown.ends_with("the disk is full") && shown.matches("the disk is full").count() == 1,
            "{shown}"
        );
    }
}
