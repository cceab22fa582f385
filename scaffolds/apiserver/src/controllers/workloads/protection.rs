//! The use of claims and volumes: the finalizers that the API server gives them are removed once nothing uses the object, and a
//! condition says whether a Pod names a claim.

use std::collections::{BTreeMap, HashMap};

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision,
    fields::{condition, controller, items, put_condition, text},
    write::{CLAIMS, VOLUMES, Write},
};
use crate::{meta, store::Key};

/// Whether a claim or a volume is being deleted, and protected.
pub(super) fn is_waiting(key: &Key, object: &Value) -> bool {
    meta::is_deleting(object) && finalizers(object).any(|it| Some(it) == finalizer(key))
}

/// The write for a claim or a volume that is being deleted. A claim is used by each Pod on a node that names it, finished or
/// not, as in kube-controller-manager (`pkg/controller/volume/pvcprotection`); a volume is used while it is bound.
pub(super) fn decide(key: &Key, object: &Value, pods: &[Value]) -> Decision {
    let is_used = match &*key.resource {
        CLAIMS => pods.iter().any(|pod| uses(pod, object)),
        _ => text(object, "/status/phase") == "Bound",
    };
    if is_used || !is_waiting(key, object) {
        return Decision::default();
    }
    let left: Vec<&str> = finalizers(object).filter(|it| Some(*it) != finalizer(key)).collect();
    let mut released = object.clone();
    released["metadata"]["finalizers"] = json!(left);
    Write::Update(released).into()
}

/// The Pods that name claims and have not ended, on a node or not.
#[derive(Default)]
pub(super) struct ClaimUsers {
    /// By claim: the names of Pods, with the uid of a Pod that the claim is made for.
    by_claim: HashMap<Key, BTreeMap<String, Option<String>>>,
    by_pod: HashMap<Key, Vec<Key>>,
}

impl ClaimUsers {
    /// Indexes the state of a Pod, or that it is gone; returns the claims that this concerns.
    pub fn look(&mut self, key: &Key, pod: Option<&Value>) -> Vec<Key> {
        let mut concerned = self.by_pod.remove(key).unwrap_or_default();
        for claim in &concerned {
            if let Some(pods) = self.by_claim.get_mut(claim) {
                pods.remove(&key.name);
                if pods.is_empty() {
                    self.by_claim.remove(claim);
                }
            }
        }
        let Some(pod) = pod.filter(|pod| !has_ended(pod)) else {
            return concerned;
        };
        let mut named = Vec::new();
        for volume in items(pod, "/spec/volumes") {
            let (name, uid) = match volume.get("ephemeral") {
                Some(_) => (made_for(pod, volume), Some(meta::text(pod, "uid").to_owned())),
                None => (text(volume, "/persistentVolumeClaim/claimName").to_owned(), None),
            };
            if !name.is_empty() {
                let claim = Key::new(CLAIMS, &key.namespace, &name);
                let pods = self.by_claim.entry(claim.clone()).or_default();
                pods.insert(key.name.clone(), uid);
                named.push(claim);
            }
        }
        concerned.extend(named.iter().cloned());
        if !named.is_empty() {
            self.by_pod.insert(key.clone(), named);
        }
        concerned
    }

    fn has_user(&self, key: &Key, claim: &Value) -> bool {
        let owner = controller(claim).map(|owner| text(owner, "/uid"));
        let mut pods = self.by_claim.get(key).into_iter().flat_map(BTreeMap::values);
        pods.any(|uid| uid.is_none() || uid.as_deref() == owner)
    }

    /// The write of a bound claim's condition `Unused`, which changes with the use of the claim.
    pub fn decide(&self, key: &Key, claim: &Value, now: i64) -> Decision {
        let values = match self.has_user(key, claim) {
            true => ["False", "PodUsingPVC", "A pod is currently referencing this PVC"],
            false => ["True", "NoPodsUsingPVC", "No pods are currently referencing this PVC"],
        };
        let before = condition(&claim["status"], UNUSED).map_or("", |it| text(it, "/status"));
        if text(claim, "/status/phase") != "Bound" || before == values[0] {
            return Decision::default();
        }
        let new = json!({
            "type": UNUSED, "status": values[0], "reason": values[1], "message": values[2],
            "lastTransitionTime": time::text(now),
        });
        let mut status = claim["status"].clone();
        put_condition(&mut status, new);
        Decision::about_status(claim, status, None)
    }
}

/// The condition of a claim that no Pod names, since Kubernetes 1.37.
const UNUSED: &str = "Unused";

/// Whether the containers of a Pod have stopped.
fn has_ended(pod: &Value) -> bool {
    let is_stopped = |status: &Value| {
        ["terminated", "waiting"]
            .iter()
            .any(|it| status["state"][it].is_object())
    };
    ["Succeeded", "Failed"].contains(&text(pod, "/status/phase"))
        || meta::is_deleting(pod) && items(pod, "/status/containerStatuses").iter().all(is_stopped)
}

/// The name of the claim that is made for an ephemeral volume.
fn made_for(pod: &Value, volume: &Value) -> String {
    format!("{}-{}", meta::text(pod, "name"), text(volume, "/name"))
}

fn finalizer(key: &Key) -> Option<&'static str> {
    match &*key.resource {
        CLAIMS => Some("kubernetes.io/pvc-protection"),
        VOLUMES => Some("kubernetes.io/pv-protection"),
        _ => None,
    }
}

fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    items(object, "/metadata/finalizers").iter().filter_map(Value::as_str)
}

fn uses(pod: &Value, claim: &Value) -> bool {
    let name = meta::text(claim, "name");
    let is_own = controller(claim).is_some_and(|owner| owner["uid"] == meta::text(pod, "uid"));
    let is_shut_down = meta::is_deleting(pod) && meta::number(pod, "deletionGracePeriodSeconds") == Some(0);
    let has = |volume: &Value| {
        let is_made = volume.get("ephemeral").is_some() && made_for(pod, volume) == name;
        text(volume, "/persistentVolumeClaim/claimName") == name || is_made && is_own && !is_shut_down
    };
    !text(pod, "/spec/nodeName").is_empty() && items(pod, "/spec/volumes").iter().any(has)
}
