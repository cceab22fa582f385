//! The trait that the operator's author implements: it brings the cluster in line with one object.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use k8s_openapi::jiff::Timestamp;
use kube::Resource;

use crate::{context::Context, error::Result, key::ObjectKey};

/// The next step after a successful reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The reconcile runs again when the object or something it owns or watches changes.
    Done,
    /// The object is reconciled again after this delay at the latest. With less than a millisecond, as for a time that has
    /// passed meanwhile, this is [`RequeueWithBackoff`](Self::RequeueWithBackoff): controller-runtime does not reconcile the
    /// object again.
    RequeueAfter(Duration),
    /// The object is reconciled again at this time of the [manager's clock](crate::Context::now), at the latest: for work that
    /// is due at a time of day. If the clock is set ahead, or the machine has slept, it is reconciled within a minute; if it
    /// is set back, after the delay for which it would have waited. A time that has passed is [`RequeueWithBackoff`](Self::RequeueWithBackoff).
    At(Timestamp),
    /// The object is reconciled again after its own growing delay, as after a failure ([`Backoff`](crate::Backoff)), but
    /// nothing has failed: for something that is expected to become ready soon, or much later. The delays grow until a
    /// run returns another action. Any change reconciles it at once, also one of its status alone.
    RequeueWithBackoff,
}

/// The result of a cleanup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// Everything outside the cluster is gone: the finalizer is removed, and the API server deletes the object.
    Done,
    /// Not yet. The finalizer stays, and cleanup runs again after this delay at the latest; with less than a millisecond, as
    /// [`PendingWithBackoff`](Self::PendingWithBackoff).
    Pending(Duration),
    /// Not yet. The finalizer stays, and cleanup runs again after the object's own growing delay, as with
    /// [`Action::RequeueWithBackoff`].
    PendingWithBackoff,
}

/// Brings the cluster in line with one object of kind `K`.
///
/// # Flow
///
/// The controller calls [`reconcile`](Self::reconcile) with the newest cached state of an object whenever the object, a
/// child or a watched object may have changed, after a failure, and at the cache's resync. The call does not contain what
/// changed: compare the cluster with the spec, act, and do nothing if nothing differs.
///
/// An object under deletion (`metadata.deletionTimestamp`) is passed to [`cleanup`](Self::cleanup) instead, as long as
/// it has the [`finalizer`](Self::finalizer). Once the object is gone from the cache, [`deleted`](Self::deleted) is
/// called.
///
/// # Guarantees
///
/// - Two calls for one object never overlap, whatever the number of workers.
/// - `reconcile` runs only after the finalizer, if there is one, is stored; so everything it creates is cleaned up.
/// - The object is never older than the writes that this process made to it through its [`Context`].
/// - A panic or a time-out counts as a failure of that object alone.
///
/// # Caveats
///
/// The process may be killed between any two lines. Both functions must have the same result if they are run again from
/// the start. After a restart every object is reconciled once.
pub trait Reconciler<K: Resource>: Send + Sync + 'static {
    /// The finalizer that keeps a deleted object until [`cleanup`](Self::cleanup) is done, as `domain/name`. None by
    /// default: Kubernetes itself deletes children with an owner reference.
    fn finalizer(&self) -> Option<&str> {
        None
    }

    /// Brings the cluster in line with the spec of `object`.
    ///
    /// # Errors
    ///
    /// See [`Error::class`](crate::Error::class) for which errors are retried, and how soon.
    fn reconcile(&self, cx: &Context<K>, object: Arc<K>) -> impl Future<Output = Result<Action>> + Send;

    /// Removes what Kubernetes' garbage collector does not, before the finalizer is removed. It may run more than once
    /// for one object.
    ///
    /// # Errors
    ///
    /// As for `reconcile`; the finalizer stays until a run returns [`Cleanup::Done`].
    fn cleanup(&self, cx: &Context<K>, object: Arc<K>) -> impl Future<Output = Result<Cleanup>> + Send {
        let _ = (cx, object);
        async { Ok(Cleanup::Done) }
    }

    /// Called after the object is gone, so that this process can drop what it remembers of it. Not called for objects
    /// that were deleted while no operator ran.
    fn deleted(&self, key: &ObjectKey) {
        let _ = key;
    }
}

/// A run of a reconciler.
pub(crate) type Running<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// Any [`Reconciler`] of a kind, so that workers are compiled once for the kind.
pub(crate) trait AnyReconciler<K: Resource>: Send + Sync + 'static {
    fn finalizer(&self) -> Option<&str>;
    fn reconcile<'a>(&'a self, cx: &'a Context<K>, object: Arc<K>) -> Running<'a, Action>;
    fn cleanup<'a>(&'a self, cx: &'a Context<K>, object: Arc<K>) -> Running<'a, Cleanup>;
    fn deleted(&self, key: &ObjectKey);
}

impl<K: Resource, R: Reconciler<K>> AnyReconciler<K> for R {
    fn finalizer(&self) -> Option<&str> {
        Reconciler::finalizer(self)
    }

    fn reconcile<'a>(&'a self, cx: &'a Context<K>, object: Arc<K>) -> Running<'a, Action> {
        Box::pin(Reconciler::reconcile(self, cx, object))
    }

    fn cleanup<'a>(&'a self, cx: &'a Context<K>, object: Arc<K>) -> Running<'a, Cleanup> {
        Box::pin(Reconciler::cleanup(self, cx, object))
    }

    fn deleted(&self, key: &ObjectKey) {
        Reconciler::deleted(self, key);
    }
}
