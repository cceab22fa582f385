//! Admission webhooks: the traits that an author implements, and the declaration that joins an implementation to a
//! manager. HTTP is the server's business.

mod admission;
pub(crate) mod component;
mod conditions;
mod configuration;
mod decide;
mod declare;
pub(crate) mod envelope;
mod hook;
mod lint;
pub(crate) mod merge;
mod patch;
mod registered;
mod review;
mod verdict;

use std::future::Future;

use kube::Resource;
use kubewright_runtime::Result;

pub(crate) use self::registered::{Hooked, Purpose, hook};
#[cfg(test)]
pub(crate) use self::registered::{IDENTITY, hooks};
pub use self::{
    admission::{Admission, ReadKind},
    declare::Webhook,
    verdict::Verdict,
};

/// The change of a request.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a, K> {
    /// The object is created; or it is changed, and the stored object does not fit the type `K`.
    Create(&'a K),
    /// The object is changed.
    Update {
        /// As it is stored.
        old: &'a K,
        /// As it will be.
        new: &'a K,
    },
    /// The object is deleted. Asked about only with [`Operation::Delete`](crate::Operation::Delete).
    Delete(&'a K),
}

impl<'a, K> Change<'a, K> {
    /// The object as it will be; `None` for a deletion.
    pub fn new_object(&self) -> Option<&'a K> {
        match self {
            Self::Create(new) | Self::Update { new, .. } => Some(new),
            Self::Delete(_) => None,
        }
    }

    /// The object as it is stored; `None` for a creation.
    pub fn old_object(&self) -> Option<&'a K> {
        match self {
            Self::Create(_) => None,
            Self::Update { old, .. } | Self::Delete(old) => Some(old),
        }
    }
}

/// Decides which changes of objects of kind `K` are allowed.
///
/// # Flow
///
/// The API server asks after it has validated the object against its schema, on every replica of the operator, not the
/// leader alone. It asks all validating webhooks at the same time, each about the final object.
///
/// # Guarantees
///
/// - A panic, an error and a time-out concern that one request: it fails, or goes on, as the
///   [`failure_policy`](Webhook::failure_policy) says, and clients see the message.
/// - Of an object that is being deleted, it is not asked about changes of metadata and status, unless it [wants to
///   be](Webhook::even_if_deleting): otherwise an operator that is down would keep finalizers from being removed.
/// - A new object that does not fit the type `K` is refused with 400, without calling the validator. If the stored object
///   does not fit, the update is validated as a creation. A deletion of such an object is allowed. All of it is so where the
///   failure policy is `Fail`; where it is `Ignore`, the object is allowed, with a warning to the client.
///
/// # Caveats
///
/// It must not change anything: the configuration declares `sideEffects: None`, and the API server asks for a dry run
/// too. Caches lag behind: what another client has just written may not be in them, so a rule about several objects can
/// be broken by two requests at the same time.
pub trait Validator<K: Resource>: Send + Sync + 'static {
    /// The verdict on one change, with all objections to it.
    ///
    /// # Errors
    ///
    /// If it cannot be decided: the request fails with 500, or goes on, as the failure policy says.
    fn validate(&self, cx: &Admission, change: Change<'_, K>) -> impl Future<Output = Result<Verdict>> + Send;
}

/// Sets defaults in objects of kind `K` that depend on more than the type: constants belong into the type itself.
///
/// # Flow
///
/// The API server asks before it validates the object against its schema, so the object may be invalid. Only the
/// difference between the object as decoded and as changed is sent back: fields that the type does not know keep their
/// values.
///
/// # Guarantees
///
/// As for [`Validator`].
///
/// # Caveats
///
/// It must be idempotent: the API server may ask again after another webhook has changed the object. For an update, set
/// only what is missing, or the object cannot be changed any more.
pub trait Defaulter<K: Resource>: Send + Sync + 'static {
    /// Changes the object. Its name, namespace and uid, its `apiVersion` and `kind` must stay as they are.
    ///
    /// # Errors
    ///
    /// As for [`Validator::validate`].
    fn default(&self, cx: &Admission, object: &mut K) -> impl Future<Output = Result<()>> + Send;
}

#[cfg(test)]
mod tests;
