//! The finalizers that the API server gives claims and volumes: they are removed once nothing uses the object.

use serde_json::{Value, json};

use super::{
    Decision,
    fields::{controller, items, text},
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
        let made = format!("{}-{}", meta::text(pod, "name"), text(volume, "/name"));
        let is_made = volume.get("ephemeral").is_some() && made == name;
        text(volume, "/persistentVolumeClaim/claimName") == name || is_made && is_own && !is_shut_down
    };
    !text(pod, "/spec/nodeName").is_empty() && items(pod, "/spec/volumes").iter().any(has)
}
