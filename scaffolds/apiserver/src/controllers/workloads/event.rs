//! Events, by which controllers say what they did.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::fields::text;
use crate::meta::{self, generate};

/// An Event of the type `Normal` about an object, with its reason and message.
pub(super) fn normal(object: &Value, component: &str, [reason, message]: [&str; 2], now: i64) -> Value {
    let [namespace, name, uid, version] =
        ["namespace", "name", "uid", "resourceVersion"].map(|field| meta::text(object, field));
    let now = time::text(now);
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": generate::name(&format!("{name}.")), "namespace": namespace},
        "involvedObject": {
            "apiVersion": text(object, "/apiVersion"), "kind": text(object, "/kind"), "namespace": namespace, "name": name,
            "uid": uid, "resourceVersion": version,
        },
        "type": "Normal", "reason": reason, "message": message, "count": 1, "firstTimestamp": now, "lastTimestamp": now,
        "source": {"component": component}, "reportingComponent": component,
    })
}
