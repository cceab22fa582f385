//! Objects with several owners, none of which is their controller: joined, and released. Kubernetes deletes such an
//! object with its last owner.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::{
    Context,
    apply::Wanted,
    claim::{other_owners, uid},
};
use crate::{
    api::Requests,
    child::{Applied, Existing, Ownership, owners_of},
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
    object::{AnyObject, Object},
};

/// The index of shared kinds, by the uids of an object's owners but for its controller.
pub(crate) const SHARED_INDEX: &str = "owner-uids";

impl<K: AnyObject> Context<K> {
    /// Applies `intent` as [`apply_child`](Self::apply_child) does, to an object that several objects of this kind own:
    /// each is named by an owner reference with `controller: false`. The first one creates it, the others join it, and
    /// Kubernetes deletes it with the last of them.
    ///
    /// # Guarantees
    ///
    /// - A change or deletion of the shared object wakes every owner. Writes of this controller do not, as usual.
    /// - No apply removes another owner's reference: each names all of them, and the version that they were read from. If
    ///   it has changed, the call returns a conflict, and this object is soon reconciled again.
    /// - An existing object is changed only if it has no controller, and an owner of this kind already.
    ///
    /// # Caveats
    ///
    /// All owners apply under one field manager, so the last one that is reconciled decides. Derive the intent from what
    /// all of them have in common, not from one owner.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_child`](Self::apply_child), and [`Error::Setup`], without a request, if the controller does not
    /// declare [`shares`](crate::Controller::shares).
    pub async fn apply_shared<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_co_owned(&Kind::of(), intent, Existing::Repaired)).await
    }

    /// As [`apply_shared`](Self::apply_shared), but an existing object of that name without a controller is taken over,
    /// also if it has no owner of this kind: it is deleted with its last owner from now on. Its other fields stay.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_shared`](Self::apply_shared).
    pub async fn adopt_shared<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_co_owned(&Kind::of(), intent, Existing::Adopted)).await
    }

    /// The cached objects of kind `C` of which this object is an owner, but not the controller, by namespace and name.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`shares`](crate::Controller::shares).
    pub fn shared_objects<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        self.co_owned(&Kind::<C>::of())
    }

    /// Removes this object from the owners of the shared objects of kind `C` whose names are not in `keep`. An object
    /// without another owner is deleted, because Kubernetes keeps objects without owners. Returns how many objects were
    /// released or deleted.
    ///
    /// # Guarantees
    ///
    /// Each request names the version that was observed: if another owner has joined meanwhile, it fails, and this object
    /// is soon reconciled again. If there is nothing to release, no request is sent. Objects that this controller would not
    /// [prune](Self::prune_children) stay as they are, such as one to which a user has added this owner.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`shares`](crate::Controller::shares) and
    /// [`prunes`](crate::Controller::prunes); [`Error::Kube`] if a request fails.
    pub async fn release_shared<C: Object>(&self, keep: &[&str]) -> Result<usize> {
        Box::pin(self.release_co_owned(&Kind::<C>::of(), keep)).await
    }

    pub(super) async fn apply_co_owned<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        intent: C,
        existing: Existing,
    ) -> Result<Applied<C>> {
        self.check_shares(kind)?;
        let owner = OwnerReference {
            controller: Some(false),
            block_owner_deletion: None,
            ..self.owner_reference()
        };
        let wanted = Wanted {
            key: self.key_of_child(kind, &intent)?,
            intent,
            ownership: Ownership::Shared(owner),
            existing,
        };
        Box::pin(self.apply(kind, wanted)).await
    }

    pub(super) fn co_owned<C: AnyObject>(&self, kind: &Kind<C>) -> Result<Vec<Arc<C>>> {
        self.check_shares(kind)?;
        let mut found = self.store(kind)?.by_index(SHARED_INDEX, uid(&*self.object));
        found.retain(|object| self.is_beside(&**object));
        Ok(found)
    }

    pub(super) async fn release_co_owned<C: AnyObject>(&self, kind: &Kind<C>, keep: &[&str]) -> Result<usize> {
        let mut objects = self.co_owned(kind)?;
        self.check_prunes(kind)?;
        objects.retain(|object| self.made(&**object));
        let mut released = 0;
        for object in objects {
            let key = ObjectKey::of(&*object);
            if keep.contains(&key.name()) || object.meta().deletion_timestamp.is_some() {
                continue;
            }
            let others = other_owners(&*object, uid(&*self.object));
            if others.is_empty() {
                let requests = Requests::beside(&self.shared.client, kind, &key);
                released += usize::from(requests.delete_version(key.name(), object.meta()).await?);
            } else if let Some(written) = self.set_owners(kind, &*object, others).await? {
                self.observe_child(kind, C::clone(&written))?;
                released += 1;
            }
            self.shared.state.applies.forget(kind.id(), &self.key, &key);
        }
        Ok(released)
    }

    fn check_shares<C: AnyObject>(&self, kind: &Kind<C>) -> Result<()> {
        if self.writes(kind).shares {
            return Ok(());
        }
        let (controller, kind) = (&self.shared.manager, kind.kind());
        let text = format!("`{controller}` does not declare that its objects share {kind}");
        Err(Error::Setup(format!("{text}\n\nhint: add `.shares::<{kind}>()` to it")))
    }
}

/// The values of an object in [`SHARED_INDEX`].
pub(crate) fn owner_uids<C: AnyObject>(object: &C) -> Vec<String> {
    owners_of(object).map(|owner| owner.uid.clone()).collect()
}
