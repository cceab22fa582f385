//! PersistentVolumeClaimResize: a claim grows if it is bound, and its class allows that.

use kubewright_machinery::quantity::Quantity;
use serde_json::Value;
use std::cmp::Ordering;

use super::{Attributes, Objects, Operation};
use crate::{
    meta,
    state::Core,
    status::{Status, Subject},
    store::Key,
};

/// The path of StorageClasses in the store.
const CLASSES: &str = "storage.k8s.io/storageclasses";
/// The former place of a claim's class.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Checks an update of a claim.
///
/// # Errors
/// 403 for a claim that grows without being bound, or without a class that allows it.
pub(super) fn validate(core: &Core, attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    let is_asked =
        attributes.operation == Operation::Update && attributes.is_about(Subject::new("", "persistentvolumeclaims"));
    let Some(old) = objects.old.filter(|_| is_asked) else {
        return Ok(());
    };
    let new = objects.present();
    let [Some(size), Some(before)] = [new, old].map(size) else {
        return Ok(());
    };
    if size.compare(&before) != Ordering::Greater {
        return Ok(());
    }
    let why = if old.pointer("/status/phase").and_then(Value::as_str) != Some("Bound") {
        "Only bound persistent volume claims can be expanded"
    } else if class(new) != class(old) || !grows(core, class(new))? {
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
    } else {
        return Ok(());
    };
    Err(attributes.forbid(objects, why))
}

fn size(claim: &Value) -> Option<Quantity> {
    let size = claim.pointer("/spec/resources/requests/storage")?.as_str()?;
    Quantity::parse(size).ok()
}

fn class(claim: &Value) -> &str {
    let former = meta::of(claim)
        .get("annotations")
        .and_then(|annotations| annotations.get(CLASS));
    let class = former.or_else(|| claim.pointer("/spec/storageClassName"));
    class.and_then(Value::as_str).unwrap_or_default()
}

fn grows(core: &Core, class: &str) -> Result<bool, Status> {
    let Some(record) = core.store.get(&Key::new(CLASSES, "", class)) else {
        return Ok(false);
    };
    let class: Value = record.read()?;
    Ok(class["allowVolumeExpansion"] == true)
}
