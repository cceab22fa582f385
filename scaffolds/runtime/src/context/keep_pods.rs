//! Keeps a desired number of Pods, as a ReplicaSet does.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};
use serde_json::Value;

use super::{Context, claim::uid, orphans::matches};
use crate::{
    api::Requests,
    child::{Ownership, child_name, controller_of},
    error::{Error, Result},
    isolate::lock,
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
    pods,
    priority::Priority,
};

/// The most Pods that one reconcile creates or deletes: `BurstReplicas` of the ReplicaSet controller (Kubernetes 1.37).
/// The rest is left to a later reconcile, after reconciles of other objects.
const BURST: usize = 500;

/// The time after which another Pod is tried, if the API server's admission has changed the last one.
const DISOWNED_DELAY: Duration = Duration::from_secs(5 * 60);

/// Objects (by uid) that this process has deleted and that are still cached.
#[derive(Default)]
pub(crate) struct Deleted(Mutex<HashSet<String>>);

impl Deleted {
    /// Excludes the object from the count. If the request to delete it is cancelled, it counts again.
    fn begin(&self, uid: &str) -> Deleting<'_> {
        lock(&self.0).insert(uid.to_owned());
        Deleting {
            of: self,
            uid: uid.to_owned(),
            stays: false,
        }
    }

    /// Removes an object that is no longer cached.
    pub(crate) fn forget<C: AnyObject>(&self, object: &C) {
        lock(&self.0).remove(uid(object));
    }
}

/// A deletion in progress.
struct Deleting<'a> {
    of: &'a Deleted,
    uid: String,
    /// Whether the entry stays until the object leaves the cache.
    stays: bool,
}

impl Drop for Deleting<'_> {
    fn drop(&mut self) {
        if !self.stays {
            lock(&self.of.0).remove(&self.uid);
        }
    }
}

/// Owners whose last created Pod was not theirs as the API server has stored it: its admission had changed a claimed label, or
/// the owner. Their next Pod is tried by a dry run first: a created one would wake the owner, which would create the next.
#[derive(Default)]
pub(crate) struct Disowned(Mutex<HashSet<ObjectKey>>);

impl Disowned {
    fn has(&self, owner: &ObjectKey) -> bool {
        lock(&self.0).contains(owner)
    }

    fn add(&self, owner: &ObjectKey) {
        lock(&self.0).insert(owner.clone());
    }

    /// Removes an owner that is gone, or whose Pods are its own again.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        lock(&self.0).remove(owner);
    }
}

/// The result of [`Context::keep_pods`].
#[derive(Clone, Debug, Default)]
pub struct KeptPods {
    /// The Pods that count now, including those created by this call.
    pub pods: Vec<Arc<Pod>>,
    /// The number of created Pods.
    pub created: usize,
    /// The number of deleted Pods.
    pub deleted: usize,
}

impl KeptPods {
    /// The number of ready Pods among them.
    pub fn ready(&self) -> usize {
        self.pods.iter().filter(|pod| pods::is_ready(pod)).count()
    }
}

impl<K: AnyObject> Context<K> {
    /// Keeps `wanted` Pods, created from `template`: claims the existing ones ([`claim`](Self::claim)), creates missing
    /// ones, and deletes surplus ones, chosen by [`victims`](crate::pods::victims). A negative number counts as 0.
    /// Existing Pods are not changed to match `template`: as with a ReplicaSet, a changed template applies to new Pods.
    ///
    /// One call creates or deletes at most 500 Pods, as a ReplicaSet does. If more are needed, this object is requeued,
    /// after the objects that wait already, whatever the reconciler returns.
    ///
    /// Pods that are being deleted or have ended do not count; they are neither waited for nor removed. The names of
    /// the Pods are the name of `template` and a number.
    ///
    /// # Guarantees
    ///
    /// No Pod is created twice.
    ///
    /// - Within a process: a created Pod is in the cache before the call returns, and a deleted one does not count,
    ///   even if the watch is late.
    /// - If the response to a create is lost, or the process is killed: the next try uses the same name, with the
    ///   lowest free number, so the API server refuses to create a Pod that exists. That Pod is counted if it
    ///   has the claimed labels, and released otherwise.
    /// - After a restart: the first list of an informer is a quorum read.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the controller does not declare `claims::<Pod>`, or if a Pod is to be created and the template lacks
    /// labels that it selects; [`Error::Kube`] if a request fails: the
    /// rest is left to the next reconcile, so an exhausted quota does not cause many failing requests; [`Error::Terminal`] with
    /// the reason `PodChanged` if the API server's admission, such as a webhook, changes a claimed label or the owner of a
    /// created Pod: the Pod is deleted, and the next one is tried after five minutes, by a dry run.
    ///
    /// # Caveats
    ///
    /// There is one Pod too many, until the next reconcile deletes it, if the API server carries out a create only
    /// after another process has listed the Pods, and the name in that create has another number because its sender saw
    /// an older state.
    pub async fn keep_pods(&self, wanted: i32, template: &Pod) -> Result<KeptPods> {
        let wanted = usize::try_from(wanted).unwrap_or(0);
        // The Pods of a cluster-scoped object are in the namespace of its template: in others anybody may name the
        // object as a controller.
        let namespace = template.metadata.namespace.as_deref().unwrap_or(self.namespace());
        let mut pods = Box::pin(self.claim_in(&Kind::<Pod>::of(), namespace)).await?;
        pods.retain(|pod| self.counts(pod) && pod.metadata.namespace.as_deref() == Some(namespace));
        let mut kept = KeptPods {
            pods,
            ..KeptPods::default()
        };
        Box::pin(self.delete_surplus(wanted, &mut kept)).await?;
        Box::pin(self.create_missing(wanted, template, &mut kept)).await?;
        if kept.pods.len() != wanted {
            self.shared.state.queue.add(self.key.clone(), Priority::Low);
        }
        Ok(kept)
    }

    async fn delete_surplus(&self, wanted: usize, kept: &mut KeptPods) -> Result<()> {
        let surplus = kept.pods.len().saturating_sub(wanted);
        for victim in pods::victims(&kept.pods, surplus.min(BURST), self.now()) {
            kept.deleted += usize::from(self.delete_known(&victim).await?);
            kept.pods.retain(|pod| !Arc::ptr_eq(pod, &victim));
        }
        Ok(())
    }

    async fn create_missing(&self, wanted: usize, template: &Pod, kept: &mut KeptPods) -> Result<()> {
        let (kind, owner) = (Kind::<Pod>::of(), self.owner_reference());
        let ownership = Ownership::Controller(owner.clone());
        let claimed = self.claimed_labels(&kind)?;
        let Some(base) = template.metadata.name.as_deref() else {
            return Err(Error::Setup("a Pod template has no name".to_owned()));
        };
        // Names that are already taken count too: others may use many of them.
        let mut sent = kept.deleted;
        for number in 0.. {
            if kept.pods.len() >= wanted || sent >= BURST {
                break;
            }
            let mut pod = template.clone();
            pod.metadata.name = Some(child_name(base, &number.to_string()));
            let key = self.key_of_child(&kind, &pod)?;
            if self.find::<Pod>(&key)?.is_some() {
                continue;
            }
            sent += 1;
            self.check_losses().await?;
            let requests = Requests::beside(&self.shared.client, &kind, &key);
            let complete = self.complete(&kind, pod, &key, &ownership)?;
            check_claim(&complete["metadata"]["labels"], &claimed)?;
            let is_own = |pod: &Pod| controller_of(pod).is_some_and(|controller| controller.uid == owner.uid);
            if self.shared.state.disowned.has(&self.key) {
                match requests.try_create(&complete, &self.shared.manager).await {
                    Ok(made) if is_own(&made) && matches(&made, &claimed) => {
                        self.shared.state.disowned.forget_owner(&self.key);
                    }
                    Ok(made) => return Err(self.changed(&made, &claimed)),
                    // It exists: see below.
                    Err(error) if error.code() == Some(409) => {}
                    Err(error) => return Err(error),
                }
            }
            let (made, found) = match requests.create(&complete, &self.shared.manager).await {
                Ok(made) => {
                    kept.created += 1;
                    (made, false)
                }
                // An earlier try created the Pod and its response was lost, or another client created it.
                Err(error) if error.code() == Some(409) => match requests.get(key.name()).await? {
                    Some(found) => (found, true),
                    None => return Err(error),
                },
                Err(error) => return Err(error),
            };
            let is_own = is_own(&made);
            let is_claimed = is_own && matches(&made, &claimed);
            // One that is found may be left of a deletion that failed.
            if !is_claimed && (!found || is_own && self.shared.state.disowned.has(&self.key)) {
                self.shared.state.disowned.add(&self.key);
                requests.delete(key.name(), uid(&made)).await?;
                return Err(self.changed(&made, &claimed));
            }
            // A cache that selects by labels may not have it, so it is compared here.
            if found && is_own && !is_claimed {
                self.release(&kind, &made).await?;
                continue;
            }
            if self.observe_child(&kind, made.clone())? && found {
                // The next reconcile finds it in the cache, and adopts it if it is an orphan.
                self.shared.state.queue.add(self.key.clone(), Priority::Normal);
            }
            if is_own && self.counts(&made) {
                kept.pods.push(Arc::new(made));
            }
        }
        Ok(())
    }

    /// The error about a Pod that is not this object's, although its creator meant it to be.
    fn changed(&self, made: &Pod, claimed: &BTreeMap<String, String>) -> Error {
        let labels = made.metadata.labels.as_ref();
        let changed = claimed
            .iter()
            .find(|(name, value)| labels.and_then(|labels| labels.get(*name)) != Some(value));
        let what = match changed {
            Some((name, value)) => format!("the label `{name}={value}`, by which it is claimed"),
            None => "its owner".to_owned(),
        };
        let name = made.metadata.name.as_deref().unwrap_or_default();
        let text = format!(
            "Pod `{name}`: the API server's admission has changed {what}, so it is not kept\n\nhint: a mutating webhook or policy of the cluster does that: exclude these Pods from it"
        );
        let later = self.now().saturating_add(DISOWNED_DELAY).unwrap_or(Timestamp::MAX);
        Error::terminal("PodChanged", text).with_deadline(later)
    }

    fn counts(&self, pod: &Pod) -> bool {
        pods::is_active(pod) && !lock(&self.shared.state.deleted.0).contains(uid(pod))
    }

    /// Deletes a Pod, and excludes it from the count from then on.
    async fn delete_known(&self, pod: &Pod) -> Result<bool> {
        let (kind, key, uid) = (Kind::<Pod>::of(), ObjectKey::of(pod), uid(pod).to_owned());
        // Dropped with this call if the reconcile is cancelled, and the request with it: the request may not have
        // arrived.
        let mut deleting = self.shared.state.deleted.begin(&uid);
        let requests = Requests::beside(&self.shared.client, &kind, &key);
        let deleted = requests.delete(key.name(), &uid).await;
        // The entry is removed if the request failed, or if the watch has already reported the deletion.
        let shown = self
            .store(&kind)?
            .get(&key)
            .is_some_and(|cached| super::claim::uid(&*cached) == uid);
        deleting.stays = deleted.is_ok() && shown;
        deleted
    }
}

/// Refuses labels that the claim does not select: each Pod would be released, and another one created for it, without end.
fn check_claim(labels: &Value, claimed: &BTreeMap<String, String>) -> Result<()> {
    match claimed.iter().find(|(name, value)| labels[*name] != **value) {
        None => Ok(()),
        Some((name, value)) => Err(Error::Setup(format!(
            "the template of `keep_pods` lacks the label `{name}={value}`, which `.claims::<Pod>` selects\n\nhint: set it in the template"
        ))),
    }
}
