//! A controller as its author declares it: a name, its sources, and its limits. The reconciler implements what it does.

mod added;
mod register;
mod running;
mod sources;
mod uses;
mod wake;

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use kube::Resource;

use self::sources::SourceFn;
pub use self::{
    added::AddedWatches,
    running::{Controllers, RunningController},
    uses::Uses,
};
use crate::{
    context::Selector,
    kind::{Kind, KindId},
    limit::RateLimit,
    object::{AnyObject, Object},
    predicate::Predicate,
    queue::Backoff,
    rbac::{Rule, Use},
};

/// The default limit of one reconcile: three writes in a row that each wait for their 40 s, or the 500 children of one
/// run at a quarter of a second each. A reconcile that waits for longer should return `Action::RequeueAfter`.
const RECONCILE_TIMEOUT: Duration = Duration::from_secs(120);

/// A controller for objects of kind `K`, before it is registered with a [`Manager`](crate::Manager).
///
/// It is woken by every change of an object of kind `K`, of a child ([`owns`](Self::owns)) and of a watched
/// object ([`watches`](Self::watches)). Its own writes through the [`Context`](crate::Context) do not wake it.
///
/// # Defaults
///
/// Workers: `--max-concurrent-reconciles` (1). Time-out of one reconcile: two minutes. Backoff of a failing key: 5 ms,
/// doubled each time, at most 1000 s (client-go's default rate limiter), with up to 10 % jitter. A panic fails the one
/// reconcile it happened in.
pub struct Controller<K: Resource> {
    name: String,
    kind: Kind<K>,
    workers: Option<usize>,
    timeout: Option<Duration>,
    backoff: Backoff,
    limit: Option<RateLimit>,
    predicate: Option<Predicate<K>>,
    sources: Vec<SourceFn<K>>,
    indexed: Vec<Named>,
    optional: Vec<Named>,
    late: Vec<Named>,
    prunes: HashSet<KindId>,
    claims: HashMap<KindId, Selector<K>>,
    foreign: bool,
    condition: Option<String>,
    /// Whether that condition is `True` if something is wrong.
    abnormal: bool,
    uses: Vec<Use>,
    rules: Vec<Rule>,
}

/// A kind, and its name for messages.
struct Named {
    id: KindId,
    name: String,
}

impl Named {
    fn of<C>(kind: &Kind<C>) -> Self {
        Self {
            id: kind.id().clone(),
            name: kind.kind().to_owned(),
        }
    }
}

impl<K: Object> Controller<K> {
    /// A controller of this name, which is unique in its manager and labels its metrics, logs and events.
    pub fn new(name: impl Into<String>) -> Self {
        Self::of(name, Kind::of())
    }
}

impl<K: AnyObject> Controller<K> {
    /// As [`new`](Self::new), for a kind that may have no Rust type.
    pub fn of(name: impl Into<String>, kind: Kind<K>) -> Self {
        Self {
            name: name.into(),
            kind,
            workers: None,
            timeout: Some(RECONCILE_TIMEOUT),
            backoff: Backoff::default(),
            limit: None,
            predicate: None,
            sources: Vec::new(),
            indexed: Vec::new(),
            optional: Vec::new(),
            late: Vec::new(),
            prunes: HashSet::new(),
            claims: HashMap::new(),
            foreign: false,
            condition: None,
            abnormal: false,
            uses: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// The kind that the controller reconciles.
    #[cfg(feature = "testing")]
    pub(crate) fn kind(&self) -> &Kind<K> {
        &self.kind
    }

    /// For a kind of Kubernetes or of another operator: this controller does not write its status. A failure that a
    /// person has to act on is reported by an event and the log, not by a condition, and `config/rbac/role.yaml` grants
    /// no `/status`.
    pub fn foreign(mut self) -> Self {
        self.foreign = true;
        self
    }

    /// The type of the condition that failures are written into, `Ready` by default. If several controllers of one
    /// manager reconcile a kind, the one that is named after the kind, or else the one registered first, writes
    /// `Ready`; each other one writes `<Name>Ready`: `BackupReady` for a controller `backup`. Write the same type in
    /// the reconciler.
    ///
    /// Failures set it to `False`. A type that is `True` if something is wrong, such as `Degraded` or
    /// `DiskPressure`, is refused at the registration: use [`abnormal_condition`](Self::abnormal_condition).
    pub fn condition(mut self, type_: impl Into<String>) -> Self {
        self.condition = Some(type_.into());
        self
    }

    /// As [`condition`](Self::condition), for a type that is `True` if something is wrong, such as `Degraded`: failures
    /// set it to `True`, and the next success to `False`. `Ready` and other types that are `True` if all is well are refused.
    pub fn abnormal_condition(mut self, type_: impl Into<String>) -> Self {
        self.abnormal = true;
        self.condition(type_)
    }

    /// Wakes the controller only for changes of its own kind that pass the predicate; deletions always pass.
    pub fn predicate(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// The number of workers, instead of `--max-concurrent-reconciles`. At least one.
    pub fn concurrency(mut self, workers: usize) -> Self {
        self.workers = Some(workers.max(1));
        self
    }

    /// Cancels a reconcile or a cleanup that takes longer, at its next await: a failure, which is retried with the
    /// object's own growing delay. Two minutes by default; `None`, or a time of zero, sets no limit.
    pub fn reconcile_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = timeout.into().filter(|timeout| !timeout.is_zero());
        self
    }

    /// Sets the delays after failures.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Limits how many retries of this controller begin per second, of all objects together, besides each object's own
    /// backoff: as client-go's `BucketRateLimiter`. It delays retries after failures and
    /// [`Action::RequeueWithBackoff`](crate::Action::RequeueWithBackoff), not changes, new objects and
    /// [`Action::RequeueAfter`](crate::Action::RequeueAfter). For an API outside of the cluster that breaks down if many
    /// objects fail at the same time. No limit by default, as in controller-runtime with its priority queue.
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.limit = Some(limit);
        self
    }

    /// A permission that the reconciler needs in addition to those derived from the controller's declaration: it goes
    /// into `config/rbac/role.yaml`. [`grant`](Self::grant) restricts one to names or to a namespace.
    pub fn rule(self, groups: &[&str], resources: &[&str], verbs: &[&str]) -> Self {
        self.grant(Rule::new(groups, resources, verbs))
    }

    /// As [`rule`](Self::rule), for permissions on named objects, in one namespace, on URLs, or in a role of their own.
    pub fn grant(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }
}
