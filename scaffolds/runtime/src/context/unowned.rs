//! Objects that are applied without an owner: in another namespace, or cluster-scoped for a namespaced object. An
//! annotation names the object that they are applied for.

use std::sync::Arc;

use super::{Context, apply::Wanted};
use crate::{
    api::Requests,
    child::{Applied, Existing, Ownership, mark, mark_of},
    error::{Error, Result},
    key::{ObjectKey, check_name, check_namespace},
    kind::Kind,
    object::{AnyObject, Object},
};

/// The index of kinds that are applied without an owner, by the annotation.
pub(crate) const MARK_INDEX: &str = "applied-for";

impl<K: AnyObject> Context<K> {
    /// Applies `intent` as [`apply_child`](Self::apply_child) does, to an object without an owner: one that this object
    /// cannot own, because it is in another namespace, or is cluster-scoped and this object is not; or one that outlives
    /// this object. The namespace is the intent's, or else [`namespace`](Self::namespace).
    ///
    /// # Guarantees
    ///
    /// - The annotation `kubewright.dev/applied-for` names this object by kind, namespace and name. A change or deletion
    ///   of the applied object wakes it, also after a restart.
    /// - An existing object is changed only if its annotation names this object, and it has no controller.
    ///
    /// # Caveats
    ///
    /// Kubernetes does not delete it with this object: use a [finalizer](crate::Reconciler::finalizer), and call
    /// [`delete_unowned`](Self::delete_unowned) in the cleanup. The annotation has no uid: an object that is created
    /// again under the same name continues with what was applied for the first one.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_child`](Self::apply_child), and [`Error::Setup`], without a request, if the controller does not
    /// declare [`applies_unowned`](crate::Controller::applies_unowned), or the object is in a namespace that is not
    /// watched. In a namespace that a [selector](crate::ManagerBuilder::namespace_selector) does not choose, the error is
    /// retried, also without a request, and this object is reconciled at once when the namespace is chosen.
    pub async fn apply_unowned<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_marked(&Kind::of(), intent, Existing::Repaired)).await
    }

    /// As [`apply_unowned`](Self::apply_unowned), but an existing object of that name with neither a controller nor the
    /// annotation is taken over. Its other fields stay.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_unowned`](Self::apply_unowned).
    pub async fn adopt_unowned<C: Object>(&self, intent: C) -> Result<Applied<C>> {
        Box::pin(self.apply_marked(&Kind::of(), intent, Existing::Adopted)).await
    }

    /// The cached objects of kind `C` that were [applied](Self::apply_unowned) for this object, in all namespaces, in no
    /// particular order.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`applies_unowned`](crate::Controller::applies_unowned).
    pub fn unowned_objects<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        self.marked(&Kind::<C>::of())
    }

    /// Deletes the objects of kind `C` that were [applied](Self::apply_unowned) for this object, but for those in `keep`.
    /// Returns how many. In a reconcile, `keep` has the keys of the objects that are applied; in a
    /// [cleanup](crate::Reconciler::cleanup) it is empty.
    ///
    /// # Guarantees
    ///
    /// - The objects are observed, never remembered: they are found after any restart. If there is nothing to delete, no
    ///   request is sent.
    /// - An object is deleted only if it has the operator's label, its annotation names this object, no other controller
    ///   has made it, and it is still in the version that was observed. Objects that are being deleted already are skipped.
    ///
    /// # Caveats
    ///
    /// It reads the cache: an object whose creation had no response is found once the watch has shown it, and one
    /// without the label or the annotation is not found.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare [`applies_unowned`](crate::Controller::applies_unowned) and
    /// [`prunes`](crate::Controller::prunes); [`Error::Kube`] if a request fails. A conflict, because an object changed
    /// meanwhile, is soon retried.
    pub async fn delete_unowned<C: Object>(&self, keep: &[ObjectKey]) -> Result<usize> {
        Box::pin(self.delete_marked(&Kind::<C>::of(), keep)).await
    }

    pub(super) async fn apply_marked<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        intent: C,
        existing: Existing,
    ) -> Result<Applied<C>> {
        self.check_unowned(kind)?;
        let wanted = Wanted {
            key: self.key_of_unowned(kind, &intent)?,
            intent,
            ownership: Ownership::Unowned(self.mark()),
            existing,
        };
        Box::pin(self.apply(kind, wanted)).await
    }

    pub(super) fn marked<C: AnyObject>(&self, kind: &Kind<C>) -> Result<Vec<Arc<C>>> {
        self.check_unowned(kind)?;
        let mut found = self.store(kind)?.by_index(MARK_INDEX, &self.mark());
        found.retain(|object| self.shared.label.is_on(object.meta()));
        Ok(found)
    }

    pub(super) async fn delete_marked<C: AnyObject>(&self, kind: &Kind<C>, keep: &[ObjectKey]) -> Result<usize> {
        let mut objects = self.marked(kind)?;
        self.check_prunes(kind)?;
        objects.retain(|object| self.made(&**object));
        let mut deleted = 0;
        for object in objects {
            let key = ObjectKey::of(&*object);
            if keep.contains(&key) || object.meta().deletion_timestamp.is_some() {
                continue;
            }
            let requests = Requests::beside(&self.shared.client, kind, &key);
            deleted += usize::from(requests.delete_version(key.name(), object.meta()).await?);
        }
        Ok(deleted)
    }

    fn mark(&self) -> String {
        mark(self.shared.kind(), &self.key)
    }

    fn check_unowned<C: AnyObject>(&self, kind: &Kind<C>) -> Result<()> {
        if self.writes(kind).unowned {
            return Ok(());
        }
        let (controller, kind) = (&self.shared.manager, kind.kind());
        let text = format!("`{controller}` does not declare that it applies {kind} without an owner");
        let hint = format!("add `.applies_unowned::<{kind}>()` to it");
        Err(Error::Setup(format!("{text}\n\nhint: {hint}")))
    }

    fn key_of_unowned<C: AnyObject>(&self, kind: &Kind<C>, intent: &C) -> Result<ObjectKey> {
        let meta = intent.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        let refuse = |text: &str| Err(Error::Setup(format!("a {} without an owner {text}", kind.kind())));
        if let Err(why) = check_name(name) {
            return refuse(&format!("cannot be named `{}`: {why}", name.escape_debug()));
        }
        let namespace = kind
            .is_namespaced()
            .then(|| meta.namespace.as_deref().unwrap_or(self.namespace()));
        if let Some(Err(why)) = namespace.map(check_namespace) {
            let namespace = namespace.unwrap_or_default().escape_debug();
            return refuse(&format!("cannot be in namespace `{namespace}`: {why}"));
        }
        let key = ObjectKey::new(namespace, name);
        let informer = &self.source(kind)?.informer;
        if !informer.covers(&key) {
            let hint = "hint: name the namespace in `--namespace`, or in the configuration of the cache";
            return refuse(&format!("cannot be `{key}`: its namespace is not watched\n\n{hint}"));
        }
        if let Some(namespace) = namespace {
            // Not the gate: a cache that is configured with namespaces of its own keeps those.
            self.check_chosen(kind, namespace, || informer.admits(Some(namespace)))?;
        }
        Ok(key)
    }
}

/// The values of an object in [`MARK_INDEX`].
pub(crate) fn marks<C: AnyObject>(object: &C) -> Vec<String> {
    mark_of(object).map(str::to_owned).into_iter().collect()
}
