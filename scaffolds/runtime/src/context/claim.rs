//! Children that are selected by their labels: orphans that match are adopted, children that no longer match are
//! released.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::Patch;
use serde_json::{Value, json};

use super::{
    Context,
    orphans::{ORPHAN_INDEX, is_adoptable, matches},
};
use crate::{
    api::Requests,
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
    object::{AnyObject, Object},
    store::Store,
};

impl<K: AnyObject> Context<K> {
    /// Adopts and releases children of kind `C`, and returns the resulting children: an object that matches the
    /// selector of [`claims`](crate::Controller::claims) and has no controller becomes a child; a child that no longer
    /// matches is released (it stays, without this owner). An object with another controller is not changed.
    ///
    /// # Guarantees
    ///
    /// - Nothing is adopted for an object that is being deleted or is gone: it is read from the API server before the
    ///   first adoption.
    /// - Each patch names the resource version of the child that was compared. If the child changed meanwhile, the call
    ///   returns a conflict, and the object is soon reconciled again.
    /// - Orphans that are being deleted are not adopted.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`claims`](crate::Controller::claims), or if its selector
    /// returns no label, which would release every child; [`Error::Kube`] if a request fails.
    pub async fn claim<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        self.claim_of(&Kind::<C>::of()).await
    }

    pub(super) async fn claim_of<C: AnyObject>(&self, kind: &Kind<C>) -> Result<Vec<Arc<C>>> {
        // The index has no namespace for a cluster-scoped kind.
        let place = if kind.is_namespaced() { self.namespace() } else { "" };
        self.claim_in(kind, place).await
    }

    /// As [`claim`](Self::claim); orphans of this namespace are adopted.
    pub(super) async fn claim_in<C: AnyObject>(&self, kind: &Kind<C>, place: &str) -> Result<Vec<Arc<C>>> {
        let wanted = self.claimed_labels(kind)?;
        let mut claimed = Vec::new();
        for child in self.of(kind).children()? {
            if matches(&*child, &wanted) {
                claimed.push(child);
            } else {
                self.release(kind, &*child).await?;
            }
        }
        let orphans = self.store(kind)?.by_index(ORPHAN_INDEX, place);
        let orphans: Vec<_> = orphans
            .iter()
            .filter(|orphan| is_adoptable(&***orphan, &wanted))
            .collect();
        if !orphans.is_empty() && self.may_adopt().await? {
            for orphan in orphans {
                claimed.extend(self.adopt(kind, &**orphan).await?);
            }
        }
        Ok(claimed)
    }

    /// The labels of the objects of this kind that this object claims.
    pub(super) fn claimed_labels<C: AnyObject>(&self, kind: &Kind<C>) -> Result<BTreeMap<String, String>> {
        let Some(selector) = self.shared.claims.get(kind.id()) else {
            let (controller, kind) = (&self.shared.manager, kind.kind());
            let text = format!("`{controller}` declares no selector for {kind}");
            return Err(Error::Setup(format!(
                "{text}\n\nhint: add `.claims::<{kind}>(…)` to it"
            )));
        };
        let wanted = selector
            .call(|selector| selector(&self.object))
            .map_err(|panic| Error::retry(format!("the selector of `claims` panicked: {panic}")))?;
        if wanted.is_empty() {
            let (controller, kind) = (&self.shared.manager, kind.kind());
            return Err(Error::Setup(format!(
                "the selector of `{controller}` for {kind} returned no label for `{}`\n\nhint: return at least one label from `.claims::<{kind}>(…)`",
                self.key
            )));
        }
        Ok(wanted)
    }

    /// Whether the API server has this object, and it is not being deleted. The cache may be late.
    pub(super) async fn may_adopt(&self) -> Result<bool> {
        let live = self.live().await?;
        Ok(live.is_some_and(|live| live.meta().deletion_timestamp.is_none()))
    }

    async fn adopt<C: AnyObject>(&self, kind: &Kind<C>, orphan: &C) -> Result<Option<Arc<C>>> {
        let ours = self.owner_reference();
        let mut owners = other_owners(orphan, &ours.uid);
        owners.push(ours);
        let written = self.set_owners(kind, orphan, owners).await?;
        if let Some(written) = &written {
            self.observe_child(kind, C::clone(written))?;
        }
        Ok(written)
    }

    pub(super) async fn release<C: AnyObject>(&self, kind: &Kind<C>, child: &C) -> Result<()> {
        let owners = other_owners(child, uid(&*self.object));
        if let Some(written) = self.set_owners(kind, child, owners).await? {
            // This controller is notified too: another of its objects may adopt the released one.
            self.source(kind)?.informer.observe_write(C::clone(&written), None);
        }
        Ok(())
    }

    /// `None` when the object is gone.
    pub(super) async fn set_owners<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        object: &C,
        owners: Vec<OwnerReference>,
    ) -> Result<Option<Arc<C>>> {
        let meta = object.meta();
        // A merge patch replaces the whole list, so it names the resource version that the list was read from.
        let owners = if owners.is_empty() { Value::Null } else { json!(owners) };
        let patch = json!({"metadata": {
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "ownerReferences": owners,
        }});
        let requests = Requests::beside(&self.shared.client, kind, &ObjectKey::of(object));
        let name = meta.name.as_deref().unwrap_or_default();
        match requests
            .patch(name, None, &Patch::Merge(patch), &self.shared.manager)
            .await
        {
            Ok(written) => Ok(Some(Arc::new(written))),
            Err(error) if error.code() == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn store<C: AnyObject>(&self, kind: &Kind<C>) -> Result<Store<C>> {
        Ok(self.source(kind)?.informer.store())
    }

    /// Stores the response to a write in the cache. Returns whether the object belongs there.
    pub(super) fn observe_child<C: AnyObject>(&self, kind: &Kind<C>, written: C) -> Result<bool> {
        let source = self.source(kind)?;
        Ok(source.informer.observe_write(written, Some(source.subscription)))
    }
}

pub(super) fn other_owners<C: AnyObject>(object: &C, uid: &str) -> Vec<OwnerReference> {
    let mut owners = object.meta().owner_references.clone().unwrap_or_default();
    owners.retain(|owner| owner.uid != uid);
    owners
}

pub(super) fn uid<K: AnyObject>(object: &K) -> &str {
    object.meta().uid.as_deref().unwrap_or_default()
}
