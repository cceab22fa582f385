//! Keeps as many Pods as are wanted, as a ReplicaSet does.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};

use super::{Context, claim::uid};
use crate::{
    api::Requests,
    child::{child_name, controller_of},
    error::{Error, Result},
    key::ObjectKey,
    object::Object,
    pods,
    priority::Priority,
};

/// The most Pods that one reconcile creates or deletes: `BurstReplicas` of the ReplicaSet controller (Kubernetes 1.36). The rest
/// waits until other objects have been reconciled.
const BURST: usize = 500;

/// Objects (by uid) that this process has deleted and the cache still shows.
#[derive(Default)]
pub(crate) struct Deleted(Mutex<HashSet<String>>);

impl Deleted {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the object does not count. If the request to delete it is given up, it counts again.
    fn begin(&self, uid: &str) -> Deleting<'_> {
        self.lock().insert(uid.to_owned());
        Deleting {
            of: self,
            uid: uid.to_owned(),
            stays: false,
        }
    }

    /// The cache no longer shows the object.
    pub(crate) fn forget<C: Object>(&self, object: &C) {
        self.lock().remove(uid(object));
    }
}

/// A deletion that is under way.
struct Deleting<'a> {
    of: &'a Deleted,
    uid: String,
    /// Whether the object is deleted while the cache still shows it.
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
                // An earlier try made it and its answer was lost, or somebody else made it.
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
            .is_some_and(|cached| super::claim::uid(&*cached) == uid);
        deleting.stays = deleted.is_ok() && shown;
        deleted
    }
}
