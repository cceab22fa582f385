//! What the operator's author writes: a function that brings the cluster in line with one object.

use std::{future::Future, sync::Arc, time::Duration};

use kube::Resource;

use crate::{context::Context, error::Result, key::ObjectKey};

/// What happens after a reconcile that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing, until the object or something it owns or watches changes.
    Done,
    /// The object is reconciled again after this delay at the latest.
    RequeueAfter(Duration),
}

/// How far a cleanup has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// Everything outside the cluster is gone: the finalizer is removed, and with it the object.
    Done,
    /// Not yet. The finalizer stays, and cleanup runs again after this delay at the latest.
    Pending(Duration),
}

/// Brings the world in line with one object of kind `K`.
///
/// # Flow
///
/// The controller calls [`reconcile`](Self::reconcile) with the newest cached state of an object whenever the
/// object, a child or a watched object may have changed, after a failure, and at the cache's resync. The
/// call does not say what changed: compare the cluster with the spec, act, and do nothing where nothing differs.
///
/// An object under deletion (`metadata.deletionTimestamp`) is passed to [`cleanup`](Self::cleanup) instead, as long
/// as it carries [`finalizer`](Self::finalizer). Once the object is gone from the cache,
/// [`deleted`](Self::deleted) is called.
///
/// # Guarantees
///
/// - Two calls for one object never overlap, whatever the number of workers.
/// - `reconcile` runs only after the finalizer, if there is one, is stored; so whatever it makes gets cleaned up.
/// - The object is never older than the writes that this process made to it through its [`Context`].
/// - A panic or a time-out counts as a failure of that object alone.
///
/// # Caveats
///
/// The process may be killed between any two lines. Both functions must come to the same end when run again from
/// the start. After a restart every object is reconciled once.
pub trait Reconciler<K: Resource>: Send + Sync + 'static {
    /// The finalizer that keeps a deleted object until [`cleanup`](Self::cleanup) is done, as `domain/name`.
    /// None by default: children with an owner reference are collected by Kubernetes itself.
    fn finalizer(&self) -> Option<&str> {
        None
    }

    /// Makes the world as `object` asks.
    ///
    /// # Errors
    ///
    /// See [`Error::class`](crate::Error::class) for which errors are retried, and how soon.
    fn reconcile(&self, cx: &Context<K>, object: Arc<K>) -> impl Future<Output = Result<Action>> + Send;

    /// Removes what Kubernetes' garbage collector cannot see, before the finalizer is taken off. It may run more than
    /// once for one object.
    ///
    /// # Errors
    ///
    /// As for `reconcile`; the finalizer stays until a run returns [`Cleanup::Done`].
    fn cleanup(&self, cx: &Context<K>, object: Arc<K>) -> impl Future<Output = Result<Cleanup>> + Send {
        let _ = (cx, object);
        async { Ok(Cleanup::Done) }
    }

    /// The object is gone: the place to drop what this process remembers of it. Not called for objects that went
    /// while no operator ran.
    fn deleted(&self, key: &ObjectKey) {
        let _ = key;
    }
}
