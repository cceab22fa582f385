//! Children that are known by their labels: orphans that match are adopted, children that no longer match are let go, and of
//! Pods as many are kept as are wanted. What a ReplicaSet does.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use k8s_openapi::{api::core::v1::Pod, apimachinery::pkg::apis::meta::v1::OwnerReference, jiff::Timestamp};
use kube::api::Patch;
use serde_json::{Value, json};

use crate::{
    Object,
    api::Requests,
    child::{child_name, controller_of},
    context::Context,
    error::{Error, Result},
    informer::Delta,
    isolate::Authored,
    key::ObjectKey,
    pods,
    queue::{Priority, WorkQueue},
    store::Store,
};

/// The most Pods that one run of a reconcile creates or deletes, as the ReplicaSet controller's `BurstReplicas` (Kubernetes 1.36):
/// what is left waits until other objects have had their turn.
const BURST: usize = 500;

/// The index of every claimed kind: the namespace of an object that nobody controls.
pub(crate) const ORPHAN_INDEX: &str = "orphan-namespace";

/// Gives the labels by which an object knows its children.
pub(crate) type Selector<K> = Authored<dyn Fn(&K) -> BTreeMap<String, String> + Send + Sync>;

/// Objects (by uid) that this process has deleted and the cache still shows.
#[derive(Default)]
pub(crate) struct Deleted(Mutex<HashSet<String>>);

impl Deleted {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object does not count any more from now on; if the request to delete it is given up, it counts again.
    fn begin(&self, uid: &str) -> Deleting<'_> {
        self.lock().insert(uid.to_owned());
        Deleting {
            of: self,
            uid: uid.to_owned(),
            stays: false,
        }
    }

    /// The cache has seen it go.
    pub(crate) fn forget<C: Object>(&self, object: &C) {
        self.lock().remove(uid(object));
    }
}

/// A deletion that is under way.
struct Deleting<'a> {
    of: &'a Deleted,
    uid: String,
    /// Whether the object is deleted, and the cache has still to see it.
    stays: bool,
}

impl Drop for Deleting<'_> {
    fn drop(&mut self) {
        if !self.stays {
            self.of.lock().remove(&self.uid);
        }
    }
}

/// What [`Context::keep_pods`] found and did.
#[derive(Clone, Debug, Default)]
pub struct KeptPods {
    /// The Pods that count now, those made in this call included.
    pub pods: Vec<Arc<Pod>>,
    /// How many were made.
    pub created: usize,
    /// How many were deleted.
    pub deleted: usize,
}

impl KeptPods {
    /// How many of them are ready.
    pub fn ready(&self) -> usize {
        self.pods.iter().filter(|pod| pods::is_ready(pod)).count()
    }
}

impl<K: Object> Context<K> {
    /// The children of kind `C`, with the claim to them settled: an object that matches the selector of
    /// [`claims`](crate::Controller::claims) and that nobody controls becomes a child, a child that no longer matches is
    /// released (it stays, without an owner). What somebody else controls is not touched.
    ///
    /// # Guarantees
    ///
    /// - Nothing is adopted for an object that is being deleted or is gone: it is read anew before the first adoption.
    /// - Each patch names the version of the child that was judged. If it changed meanwhile the call ends in a conflict and
    ///   the reconcile is soon run again.
    /// - Orphans that are on their way out are left to it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] where the controller does not declare [`claims`](crate::Controller::claims), or its selector has no
    /// label, which would release every child; [`Error::Kube`] when a request fails.
    pub async fn claim<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        let Some(selector) = self.shared.claims.get(&TypeId::of::<C>()) else {
            let (controller, kind) = (&self.shared.manager, C::kind(&()));
            let text = format!("`{controller}` does not say how it knows its {kind}s");
            return Err(Error::Setup(format!(
                "{text}\n\nhint: add `.claims::<{kind}>(…)` to it"
            )));
        };
        let wanted = selector
            .call(|selector| selector(&self.object))
            .map_err(|panic| Error::retry(format!("the selector of `claims` panicked: {panic}")))?;
        if wanted.is_empty() {
            let (controller, kind) = (&self.shared.manager, C::kind(&()));
            return Err(Error::Setup(format!(
                "`{controller}` knows the {kind}s of `{}` by no label\n\nhint: return at least one label from `.claims::<{kind}>(…)`",
                self.key
            )));
        }
        let mut claimed = Vec::new();
        for child in self.children::<C>()? {
            if matches(&*child, &wanted) {
                claimed.push(child);
            } else {
                self.release(&*child).await?;
            }
        }
        let orphans = self.store::<C>()?.by_index(ORPHAN_INDEX, self.namespace());
        let orphans: Vec<_> = orphans
            .iter()
            .filter(|orphan| is_adoptable(&***orphan, &wanted))
            .collect();
        if !orphans.is_empty() && self.may_adopt().await? {
            for orphan in orphans {
                claimed.extend(self.adopt(&**orphan).await?);
            }
        }
        Ok(claimed)
    }

    /// Keeps `wanted` Pods, made from `template`: claims those that there are ([`claim`](Self::claim)), makes what is missing, and
    /// deletes what is too much, chosen by [`victims`](crate::pods::victims). A negative number counts as 0. Pods that are there
    /// stay as they are, whatever `template` says by now: as with a ReplicaSet, a change is for Pods to come.
    ///
    /// One call makes or deletes at most 500 Pods, as a ReplicaSet does. Where more is to be done this object is reconciled again,
    /// after those that wait already, whatever the reconciler returns.
    ///
    /// Pods that are being deleted or have ended do not count; they are neither waited for nor removed. The Pods are named after
    /// `template`, with a number.
    ///
    /// # Guarantees
    ///
    /// No Pod is made twice.
    ///
    /// - Within a process: what it has made is in the cache before the call returns, and what it has deleted does not count,
    ///   however late the watch is.
    /// - If the answer to a create is lost, or the process is killed: the next try uses the same name, the lowest number that is
    ///   free, so the API server refuses what is there already, and that one is counted.
    /// - After a restart: the first list of an informer is a quorum read.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] where the controller does not declare `claims::<Pod>`; [`Error::Kube`] when a request fails: the rest is
    /// left to the next reconcile, so a quota that is used up is not stormed.
    ///
    /// # Caveats
    ///
    /// A create that the API server takes up only after another process has listed the Pods, and that had another number because its
    /// sender saw an older state, is one too many until the next reconcile deletes it.
    pub async fn keep_pods(&self, wanted: i32, template: &Pod) -> Result<KeptPods> {
        let wanted = usize::try_from(wanted).unwrap_or(0);
        let mut pods = self.claim::<Pod>().await?;
        // Those of a cluster-scoped object are where its template is: elsewhere anybody may name it as a controller.
        let namespace = template.metadata.namespace.as_deref().unwrap_or(self.namespace());
        pods.retain(|pod| self.counts(pod) && pod.metadata.namespace.as_deref() == Some(namespace));
        let mut kept = KeptPods {
            pods,
            ..KeptPods::default()
        };
        self.delete_surplus(wanted, &mut kept).await?;
        self.create_missing(wanted, template, &mut kept).await?;
        if kept.pods.len() != wanted {
            self.shared.queue.add(self.key.clone(), Priority::Low);
        }
        Ok(kept)
    }

    async fn delete_surplus(&self, wanted: usize, kept: &mut KeptPods) -> Result<()> {
        let surplus = kept.pods.len().saturating_sub(wanted);
        for victim in pods::victims(&kept.pods, surplus.min(BURST), Timestamp::now()) {
            kept.deleted += usize::from(self.delete_known(&*victim).await?);
            kept.pods.retain(|pod| !Arc::ptr_eq(pod, &victim));
        }
        Ok(())
    }

    async fn create_missing(&self, wanted: usize, template: &Pod, kept: &mut KeptPods) -> Result<()> {
        let owner = self.owner_reference();
        let Some(base) = template.metadata.name.as_deref() else {
            return Err(Error::Setup("a template of Pods has no name".to_owned()));
        };
        // Names that are taken count, too: somebody may take a great many.
        let mut sent = kept.deleted;
        for number in 0.. {
            if kept.pods.len() >= wanted || sent >= BURST {
                break;
            }
            let mut pod = template.clone();
            pod.metadata.name = Some(child_name(base, &number.to_string()));
            let key = self.key_of_child(&pod)?;
            if self.find::<Pod>(&key)?.is_some() {
                continue;
            }
            sent += 1;
            let requests = Requests::<Pod>::beside(&self.shared.client, &key);
            let made = match requests
                .create(&self.complete(pod, &key, &owner)?, &self.shared.manager)
                .await
            {
                Ok(made) => {
                    kept.created += 1;
                    made
                }
                // Made by an earlier try that we know nothing of, or somebody else's.
                Err(error) if error.code() == Some(409) => match requests.get(key.name()).await? {
                    Some(found) => found,
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            };
            self.observe_child(made.clone())?;
            if controller_of(&made).is_some_and(|controller| controller.uid == owner.uid) && self.counts(&made) {
                kept.pods.push(Arc::new(made));
            }
        }
        Ok(())
    }

    fn counts(&self, pod: &Pod) -> bool {
        pods::is_active(pod) && !self.shared.deleted.lock().contains(uid(pod))
    }

    /// Deletes a child, and does not count it any more from then on.
    async fn delete_known<C: Object>(&self, child: &C) -> Result<bool> {
        let (key, uid) = (ObjectKey::of(child), uid(child).to_owned());
        // Dropped with this call if the reconcile is given up, and the request with it: it may not have arrived.
        let mut deleting = self.shared.deleted.begin(&uid);
        let requests = Requests::<C>::beside(&self.shared.client, &key);
        let deleted = requests.delete(key.name(), &uid).await;
        // A request that failed, and one that came too late for the watch to clear the entry, leave nothing behind.
        let shown = self
            .store::<C>()?
            .get(&key)
            .is_some_and(|cached| self::uid(&*cached) == uid);
        deleting.stays = deleted.is_ok() && shown;
        deleted
    }

    async fn may_adopt(&self) -> Result<bool> {
        let live = self.live().await?;
        Ok(live.is_some_and(|live| live.meta().deletion_timestamp.is_none()))
    }

    async fn adopt<C: Object>(&self, orphan: &C) -> Result<Option<Arc<C>>> {
        let ours = self.owner_reference();
        let mut owners = other_owners(orphan, &ours.uid);
        owners.push(ours);
        let written = self.set_owners(orphan, owners).await?;
        if let Some(written) = &written {
            let source = self.source::<C>()?;
            source
                .informer
                .observe_write(C::clone(written), Some(source.subscription));
        }
        Ok(written)
    }

    async fn release<C: Object>(&self, child: &C) -> Result<()> {
        let owners = other_owners(child, uid(&*self.object));
        if let Some(written) = self.set_owners(child, owners).await? {
            // This controller is told as well: another of its objects may adopt what this one has let go.
            self.source::<C>()?.informer.observe_write(C::clone(&written), None);
        }
        Ok(())
    }

    /// `None` when the object is gone.
    async fn set_owners<C: Object>(&self, object: &C, owners: Vec<OwnerReference>) -> Result<Option<Arc<C>>> {
        let meta = object.meta();
        // A merge patch replaces the whole list, so it names the version that it was read from.
        let owners = if owners.is_empty() { Value::Null } else { json!(owners) };
        let patch = json!({"metadata": {
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "ownerReferences": owners,
        }});
        let requests = Requests::<C>::beside(&self.shared.client, &ObjectKey::of(object));
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

    fn store<C: Object>(&self) -> Result<Store<C>> {
        Ok(self.source::<C>()?.informer.store())
    }

    fn observe_child<C: Object>(&self, written: C) -> Result<()> {
        let source = self.source::<C>()?;
        source.informer.observe_write(written, Some(source.subscription));
        Ok(())
    }
}

/// What an orphan's change means: whoever would adopt it is woken. Only live changes; at the start every object is reconciled
/// anyway.
pub(crate) fn orphan_handler<K: Object, C: Object>(
    queue: WorkQueue,
    owners: Store<K>,
    selector: Selector<K>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    move |delta| {
        let Some(orphan) = delta.object().filter(|object| controller_of(&***object).is_none()) else {
            return;
        };
        if delta.is_routine() || matches!(delta, Delta::Deleted(_)) {
            return;
        }
        let namespace = orphan.meta().namespace.as_deref();
        for owner in owners.list() {
            let beside = owner.meta().namespace.is_none() || owner.meta().namespace.as_deref() == namespace;
            if !beside {
                continue;
            }
            let key = ObjectKey::of(&*owner);
            match selector.call(|selector| selector(&owner)) {
                Ok(wanted) if is_adoptable(&**orphan, &wanted) => queue.add(key, Priority::Normal),
                Ok(_) => {}
                Err(panic) => tracing::error!(object = %key, "the selector of `claims` panicked: {panic}"),
            }
        }
    }
}

/// Under what an object is found among the orphans.
pub(crate) fn orphan_namespace<C: Object>(object: &C) -> Vec<String> {
    let orphan = controller_of(object).is_none();
    orphan
        .then(|| object.meta().namespace.clone().unwrap_or_default())
        .into_iter()
        .collect()
}

/// A selector without labels matches nothing: it would take the whole namespace.
fn matches<C: Object>(object: &C, wanted: &BTreeMap<String, String>) -> bool {
    let labels = object.meta().labels.as_ref();
    let has = |(name, value): (&String, &String)| labels.is_some_and(|labels| labels.get(name) == Some(value));
    !wanted.is_empty() && wanted.iter().all(has)
}

fn is_adoptable<C: Object>(object: &C, wanted: &BTreeMap<String, String>) -> bool {
    object.meta().deletion_timestamp.is_none() && matches(object, wanted)
}

fn other_owners<C: Object>(object: &C, uid: &str) -> Vec<OwnerReference> {
    let mut owners = object.meta().owner_references.clone().unwrap_or_default();
    owners.retain(|owner| owner.uid != uid);
    owners
}

fn uid<K: Object>(object: &K) -> &str {
    object.meta().uid.as_deref().unwrap_or_default()
}
