//! The owned children of an object: applied, adopted, pruned.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::{Context, apply::Wanted};
use crate::{
    api::Requests,
    child::{Applied, Existing, Ownership, controller_of, has_written},
    error::{Error, Result},
    key::{ObjectKey, check_name, check_namespace},
    kind::Kind,
    object::{AnyObject, Object},
};

impl<K: AnyObject> Context<K> {
    /// Applies `intent` to one child: creates it if it is missing, repairs it if it differs, and sends no request if it
    /// is as intended. `intent` is complete: a field that an earlier intent had and this one does not is removed.
    /// Fields of other field managers stay.
    ///
    /// The child gets this object as its controller, the operator's [label](Self::child_label), and its namespace if
    /// the intent names none: see [`namespace`](Self::namespace). Kubernetes deletes it with its owner.
    ///
    /// A child that exists although the cache did not contain it, because somebody removed its label or the watch is late,
    /// is not changed, since the intent was made without it: it is labelled and stored in the cache, the error is
    /// retried, and the next reconcile finds the child.
    ///
    /// If two children of this object were deleted within a minute, this object is read from the API server before a child is
    /// created. If it is gone, this fails with a 404, and the controller ends the reconcile without a retry: the garbage collector
    /// would delete the child again.
    ///
    /// Values are compared, regardless of their recorded field manager. A value that the server stores in another form
    /// is applied once in each process; quantities (`1000m`, `1`) are compared by their amounts.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] if an object of that name exists and this object is not its controller; it is not changed,
    /// and this object is reconciled again once the other is deleted or gets another controller: at once if a cache of
    /// this controller contains it, else it is polled, with delays that double from 1 s to 5 minutes. [`Error::Kube`]
    /// if a request fails. [`Error::Absent`], without a request, while the API server does not serve an
    /// [optional](crate::Controller::optional) kind. [`Error::Setup`], without a request, if this object cannot own such a child: the child has
    /// no name, or one that is invalid in a path, it is in another namespace than its namespaced owner, or it is
    /// cluster-scoped and its owner is not.
    pub async fn apply_child<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_owned(&Kind::of(), intent, Existing::Repaired)).await
    }

    /// Creates one child if it is missing, and never changes it afterwards: a Secret with a generated password, a Job. The
    /// result for an existing child is [`Applied::Unchanged`]; [`child`](Self::child) then returns it, as it is.
    ///
    /// An existing child that lacks the operator's label, because somebody has removed it, gets the label again.
    ///
    /// # Errors
    ///
    /// As [`apply_child`](Self::apply_child).
    pub async fn create_once<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_owned(&Kind::of(), intent, Existing::Kept)).await
    }

    /// As [`apply_child`](Self::apply_child), but an existing object of that name without a controller becomes a child
    /// of this object: its fields are set to those of `intent`, and it is deleted with its owner from now on. Its other
    /// fields stay. If two owners adopt one object, one of them gets it. Before an adoption, this object is read from the
    /// API server. If it is being deleted, nothing is adopted.
    ///
    /// # Errors
    ///
    /// As [`apply_child`](Self::apply_child): an object that another object controls is never changed.
    pub async fn adopt_child<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_owned(&Kind::of(), intent, Existing::Adopted)).await
    }

    pub(super) async fn apply_owned<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        intent: C,
        existing: Existing,
    ) -> Result<Applied<C>> {
        let wanted = Wanted {
            key: self.key_of_child(kind, &intent)?,
            intent,
            ownership: Ownership::Controller(self.owner_reference()),
            existing,
        };
        Box::pin(self.apply(kind, wanted)).await
    }

    /// Deletes the children of kind `C` whose names are not in `keep`: children of an earlier spec. Returns how many.
    ///
    /// # Guarantees
    ///
    /// - The children to delete are observed, never remembered: they are found after any restart. Call it after the
    ///   children of this spec are applied, in every reconcile; if there is nothing to delete, no request is sent.
    /// - An object is deleted only if this object (by uid) is its controller, and only if its uid is still the observed
    ///   one. Objects that are being deleted already are skipped.
    /// - Only objects that this controller has written are deleted, by their `managedFields`, and those with the operator's
    ///   label that no other controller of the operator has written.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`prunes`](crate::Controller::prunes); [`Error::Kube`] if a
    /// request fails; the next reconcile finds the remaining children.
    pub async fn prune_children<C: Object>(&self, keep: &[&str]) -> Result<usize> {
        self.prune(&Kind::<C>::of(), keep).await
    }

    /// Deletes these children, in their order, and returns how many: the oldest of many, or one. Deleting goes on in the
    /// background, as with [`prune_children`](Self::prune_children): what a child owns goes after it, as with `kubectl delete`.
    ///
    /// # Guarantees
    ///
    /// An object is deleted only if its uid is still the observed one. Children that are being deleted already are skipped.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`], before any request, if an object is not a child of this one, or the controller does not declare
    /// [`prunes`](crate::Controller::prunes); [`Error::Kube`] if a request fails; the rest is left to the next reconcile.
    pub async fn delete_children<C: Object>(&self, children: &[Arc<C>]) -> Result<usize> {
        self.delete(&Kind::<C>::of(), children).await
    }

    pub(super) async fn delete<C: AnyObject>(&self, kind: &Kind<C>, children: &[Arc<C>]) -> Result<usize> {
        self.check_prunes(kind)?;
        let uid = self.object.meta().uid.as_deref();
        for child in children {
            if controller_of(&**child).map(|owner| owner.uid.as_str()) != uid || !self.is_beside(&**child) {
                let (kind, child) = (kind.kind(), ObjectKey::of(&**child));
                return Err(Error::Setup(format!("{kind} `{child}` is not a child of this object")));
            }
        }
        let mut deleted = 0;
        for child in children {
            let meta = child.meta();
            if meta.deletion_timestamp.is_some() {
                continue;
            }
            let (name, uid) = (meta.name.as_deref(), meta.uid.as_deref());
            let requests = Requests::beside(&self.shared.client, kind, &ObjectKey::of(&**child));
            deleted += usize::from(
                requests
                    .delete(name.unwrap_or_default(), uid.unwrap_or_default())
                    .await?,
            );
        }
        Ok(deleted)
    }

    pub(super) async fn prune<C: AnyObject>(&self, kind: &Kind<C>, keep: &[&str]) -> Result<usize> {
        let mut children = self.of(kind).children()?;
        children
            .retain(|child| !keep.contains(&child.meta().name.as_deref().unwrap_or_default()) && self.made(&**child));
        self.delete(kind, &children).await
    }

    /// Whether an object of this one may be deleted as surplus: others may have objects with the same owner. If no known
    /// controller is recorded, the operator's label decides.
    pub(super) fn made<C: AnyObject>(&self, object: &C) -> bool {
        let written = has_written(&self.shared.manager, object, &self.shared.knows);
        written.unwrap_or_else(|| self.shared.label.is_on(object.meta()))
    }

    /// Whether the controller declares that it deletes objects of this kind.
    pub(super) fn check_prunes<C: AnyObject>(&self, kind: &Kind<C>) -> Result<()> {
        if self.shared.prunes.contains(kind.id()) {
            return Ok(());
        }
        let (controller, kind) = (&self.shared.manager, kind.kind());
        let text = format!("`{controller}` does not declare that it prunes {kind}");
        Err(Error::Setup(format!("{text}\n\nhint: add `.prunes::<{kind}>()` to it")))
    }

    /// The key of a child, if this object can own it: the garbage collector considers an owner absent if it is neither
    /// in its child's namespace nor cluster-scoped.
    pub(crate) fn key_of_child<C: AnyObject>(&self, kind: &Kind<C>, intent: &C) -> Result<ObjectKey> {
        let meta = intent.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        let refuse = |text: &str| Err(Error::Setup(format!("a child of kind {} {text}", kind.kind())));
        if name.is_empty() {
            return refuse("has no name");
        }
        if let Err(why) = check_name(name) {
            return refuse(&format!("cannot be named `{}`: {why}", name.escape_debug()));
        }
        if !kind.is_namespaced() {
            if self.key.namespace().is_some() {
                return refuse("is cluster-scoped, but its owner is not");
            }
            return Ok(ObjectKey::new(None, name));
        }
        let asked = meta.namespace.as_deref();
        if self.key.namespace().is_some() && asked.is_some_and(|asked| asked != self.namespace()) {
            return refuse("has another namespace than its owner");
        }
        let namespace = asked.unwrap_or(self.namespace());
        if let Err(why) = check_namespace(namespace) {
            return refuse(&format!("cannot be in namespace `{}`: {why}", namespace.escape_debug()));
        }
        self.check_chosen(kind, namespace, || self.shared.state.gate.admits(namespace))?;
        Ok(ObjectKey::new(Some(namespace), name))
    }

    pub(crate) fn owner_reference(&self) -> OwnerReference {
        let (kind, meta) = (self.shared.kind(), self.object.meta());
        OwnerReference {
            api_version: kind.api_version(),
            kind: kind.kind().to_owned(),
            name: meta.name.clone().unwrap_or_default(),
            uid: meta.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }
}
