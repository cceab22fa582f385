//! The usage of claims of volumes and of devices under a quota.

use kubewright_machinery::quantity::Quantity;
use serde_json::Value;

use super::amounts::Amounts;

/// The former place of a claim's class.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const BY_STORAGE_CLASS: &str = ".storageclass.storage.k8s.io/";
const BY_DEVICE_CLASS: &str = ".deviceclass.resource.k8s.io/devices";
/// The most devices that a claim can get (`AllocationResultsMaxSize`): the count of a request for all devices.
const MOST_DEVICES: i64 = 32;

/// Whether PersistentVolumeClaims use a resource.
pub(super) fn concerns_volumes(name: &str) -> bool {
    const COUNTED: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
    let of_class = name.rsplit_once(BY_STORAGE_CLASS).map(|(_, name)| name);
    name == "count/persistentvolumeclaims" || COUNTED.contains(&of_class.unwrap_or(name))
}

/// The usage of a PersistentVolumeClaim.
pub(super) fn volume_usage(claim: &Value) -> Amounts {
    let former = claim.pointer("/metadata/annotations").and_then(|all| all.get(CLASS));
    let class = former.or_else(|| claim.pointer("/spec/storageClassName"));
    let class = class.and_then(Value::as_str).filter(|class| !class.is_empty());
    let mut usage = Amounts::default();
    usage.count("count/persistentvolumeclaims", 1);
    usage.count("persistentvolumeclaims", 1);
    let storage = storage(claim);
    if let Some(storage) = &storage {
        usage.set("requests.storage", storage.clone());
    }
    if let Some(class) = class {
        usage.count(&format!("{class}{BY_STORAGE_CLASS}persistentvolumeclaims"), 1);
        if let Some(storage) = storage {
            usage.set(&format!("{class}{BY_STORAGE_CLASS}requests.storage"), storage);
        }
    }
    usage
}

/// The size of a volume in whole bytes: the requested one, or the allocated one if that is larger.
fn storage(claim: &Value) -> Option<Quantity> {
    let mut size = Amounts::of(claim.pointer("/spec/resources/requests")).only(|name| name == "storage");
    if !size.is_empty() {
        size.raise(&Amounts::of(claim.pointer("/status/allocatedResources")));
    }
    size.get("storage").map(Quantity::rounded_up)
}

/// Whether ResourceClaims use a resource.
pub(super) fn concerns_devices(name: &str) -> bool {
    name == "count/resourceclaims.resource.k8s.io" || name.ends_with(BY_DEVICE_CLASS)
}

/// The usage of a ResourceClaim: of alternatives, the largest number for each class.
pub(super) fn device_usage(claim: &Value) -> Amounts {
    let mut usage = Amounts::default();
    usage.count("count/resourceclaims.resource.k8s.io", 1);
    let requests = claim.pointer("/spec/devices/requests").and_then(Value::as_array);
    for request in requests.into_iter().flatten() {
        let alternatives = request["firstAvailable"].as_array().filter(|list| !list.is_empty());
        let mut most = Amounts::default();
        match alternatives {
            Some(list) => list.iter().for_each(|it| most.raise(&devices(it))),
            None if request["exactly"].is_object() => most = devices(&request["exactly"]),
            None => {}
        }
        usage.add(&most);
    }
    usage
}

fn devices(request: &Value) -> Amounts {
    let number = match request["allocationMode"].as_str() {
        Some("ExactCount") => request["count"].as_i64().unwrap_or_default(),
        Some("All") => MOST_DEVICES,
        _ => 0,
    };
    let class = request["deviceClassName"].as_str().unwrap_or_default();
    let mut devices = Amounts::default();
    devices.set(&format!("{class}{BY_DEVICE_CLASS}"), Quantity::of(number));
    devices
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_claim_is_counted_for_its_class_too() {
        let claim = json!({"spec": {"storageClassName": "gold", "resources": {"requests": {"storage": "1500m"}}},
            "status": {"allocatedResources": {"storage": "1"}}});
        assert_eq!(
            volume_usage(&claim).shown(),
            "count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,\
             gold.storageclass.storage.k8s.io/requests.storage=2,persistentvolumeclaims=1,requests.storage=2"
        );
        assert!(concerns_volumes("gold.storageclass.storage.k8s.io/requests.storage"));
        assert!(!concerns_volumes("gold.storageclass.storage.k8s.io/requests.cpu"));
    }

    #[test]
    fn devices_are_counted_by_class_and_alternatives_once() {
        let exactly =
            |class: &str, count: i64| json!({"deviceClassName": class, "allocationMode": "ExactCount", "count": count});
        let all = json!({"deviceClassName": "b", "allocationMode": "All"});
        let claim = json!({"spec": {"devices": {"requests": [
            {"name": "one", "exactly": exactly("a", 2)},
            {"name": "two", "firstAvailable": [exactly("a", 1), exactly("a", 3), all]},
        ]}}});
        assert_eq!(
            device_usage(&claim).shown(),
            "a.deviceclass.resource.k8s.io/devices=5,b.deviceclass.resource.k8s.io/devices=32,count/resourceclaims.resource.k8s.io=1"
        );
    }
}
