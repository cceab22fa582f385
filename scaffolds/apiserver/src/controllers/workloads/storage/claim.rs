//! PersistentVolumeClaims: the next step to their volume, its growth, and its loss.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::{
    DEFAULT, class_of, is_for,
    volume::{capacity, compare, fits, provisioned, size, smallest},
};
use crate::{
    controllers::workloads::{
        Decision,
        fields::{annotation, text},
        sets::annotate,
        write::Write,
    },
    meta,
};

const COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// The annotations with the provisioner that a claim waits for.
const PROVISIONERS: [&str; 2] = [
    "volume.beta.kubernetes.io/storage-provisioner",
    "volume.kubernetes.io/storage-provisioner",
];
/// The field of the status with the class of attributes that the volume has.
const ATTRIBUTES: &str = "currentVolumeAttributesClassName";
/// The annotation with which a person or a test lets the volume of a claim be lost.
const LOST: &str = "kubewright.dev/volume";

/// A claim, and what it can be bound to.
pub(super) struct ClaimView<'a> {
    pub claim: &'a Value,
    /// The volume that it names, or else one that is for it.
    pub volume: Option<Value>,
    /// The volumes for no claim.
    pub free: Vec<Value>,
    pub classes: Vec<Value>,
}

/// The next write for a claim.
pub(super) fn decide(seen: &ClaimView<'_>) -> Decision {
    let claim = seen.claim;
    if meta::is_deleting(claim) {
        return Decision::default();
    }
    let is_bound = annotation(claim, COMPLETED).is_some();
    match &seen.volume {
        Some(volume) if is_for(volume, claim) => bind(claim, volume),
        Some(volume) if volume["spec"]["claimRef"].is_null() && (is_bound || fits(volume, claim)) => {
            reserve(claim, volume)
        }
        _ if is_bound => lose(claim),
        Some(_) => Decision::default(),
        None if !text(claim, "/spec/volumeName").is_empty() => Decision::default(),
        None => match smallest(&seen.free, claim) {
            Some(volume) => reserve(claim, volume),
            None => provision(claim, &seen.classes),
        },
    }
}

/// Makes a volume one for the claim.
fn reserve(claim: &Value, volume: &Value) -> Decision {
    let mut reserved = volume.clone();
    let mut reference = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim"});
    for field in ["namespace", "name", "uid", "resourceVersion"] {
        reference[field] = json!(meta::text(claim, field));
    }
    if volume["spec"]["claimRef"].is_null() {
        annotate(&mut reserved, BY_CONTROLLER, "yes".to_owned());
    }
    reserved["spec"]["claimRef"] = reference;
    Write::Update(reserved).into()
}

/// The next write for a claim with a volume that is for it.
fn bind(claim: &Value, volume: &Value) -> Decision {
    if text(volume, "/spec/claimRef/uid").is_empty() {
        return reserve(claim, volume);
    }
    let mut bound = claim.clone();
    if text(claim, "/spec/volumeName").is_empty() {
        bound["spec"]["volumeName"] = json!(meta::text(volume, "name"));
        annotate(&mut bound, BY_CONTROLLER, "yes".to_owned());
    }
    annotate(&mut bound, COMPLETED, "yes".to_owned());
    if bound != *claim {
        return Write::Update(bound).into();
    }
    if annotation(claim, LOST) == Some("lost") {
        let mut unprotected = volume.clone();
        meta::set(&mut unprotected, "finalizers", None);
        return vec![Write::Update(unprotected), Write::Delete(volume.clone(), None)].into();
    }
    let request = &claim["spec"]["resources"]["requests"]["storage"];
    let wanted = size(claim, "/spec/resources/requests/storage");
    if text(claim, "/status/phase") == "Bound" && compare(wanted, capacity(volume)) == Ordering::Greater {
        let mut larger = volume.clone();
        larger["spec"]["capacity"]["storage"] = request.clone();
        return Write::Update(larger).into();
    }
    let mut status = claim["status"].clone();
    for (field, value) in [
        ("phase", json!("Bound")),
        ("accessModes", volume["spec"]["accessModes"].clone()),
        ("capacity", volume["spec"]["capacity"].clone()),
    ] {
        status[field] = value;
    }
    // Only the driver changes the class of a bound claim, or a test in place of the driver.
    if text(claim, "/status/phase") == "Pending"
        && let Some(class) = volume["spec"].get("volumeAttributesClassName")
    {
        status[ATTRIBUTES] = class.clone();
    }
    Decision::about_status(claim, status, None)
}

fn lose(claim: &Value) -> Decision {
    let mut status = claim["status"].clone();
    status["phase"] = json!("Lost");
    for field in ["accessModes", "capacity", ATTRIBUTES] {
        if let Some(status) = status.as_object_mut() {
            status.remove(field);
        }
    }
    Decision::about_status(claim, status, None)
}

/// Makes up a volume of the claim's class, or gives the claim the default class.
fn provision(claim: &Value, classes: &[Value]) -> Decision {
    let mut changed = claim.clone();
    if class_of(claim).is_empty() && claim["spec"]["storageClassName"].is_null() {
        let defaults = classes.iter().filter(|it| annotation(it, DEFAULT) == Some("true"));
        let newest = defaults.max_by_key(|it| meta::text(it, "creationTimestamp"));
        changed["spec"]["storageClassName"] = newest.map_or(Value::Null, |it| json!(meta::text(it, "name")));
        return match newest {
            Some(_) => Write::Update(changed).into(),
            None => Decision::default(),
        };
    }
    let named = classes.iter().find(|it| meta::text(it, "name") == class_of(claim));
    let Some(class) = named.filter(|it| it["provisioner"] != "kubernetes.io/no-provisioner") else {
        return Decision::default();
    };
    for name in PROVISIONERS {
        annotate(&mut changed, name, text(class, "/provisioner").to_owned());
    }
    match changed == *claim {
        true => Write::Create(provisioned(claim, class)).into(),
        false => Write::Update(changed).into(),
    }
}
