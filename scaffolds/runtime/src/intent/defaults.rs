//! Values that API servers add or drop, so that they make no difference between an intent and an object.

use serde_json::Value;

/// The list of claims in the spec of StatefulSets, which is one value for field managers.
pub(super) const CLAIMS: &str = "volumeClaimTemplates";

/// Values that API servers add to each of the [`CLAIMS`]: from `SetDefaults_PersistentVolumeClaim` and
/// `SetDefaults_PersistentVolumeClaimSpec` of Kubernetes, and the type.
const CLAIM_DEFAULTS: [(&str, &str, &str); 4] = [
    ("", "apiVersion", "v1"),
    ("", "kind", "PersistentVolumeClaim"),
    ("/spec", "volumeMode", "Filesystem"),
    ("/status", "phase", "Pending"),
];

/// Maps that are one value for field managers, in which API servers set a field: `SetDefaults_ObjectFieldSelector` of Kubernetes, and the
/// quantity 0.
const MAP_DEFAULTS: [(&str, &str, &str); 2] = [("fieldRef", "apiVersion", "v1"), ("resourceFieldRef", "divisor", "0")];

/// Maps that servers drop if they are empty, or always store: they are no pointers in Kubernetes' types. An empty map of another name may
/// have a meaning, as `namespaceSelector: {}`.
const DROPPED_MAPS: [&str; 25] = [
    "annotations",
    "binaryData",
    "capacity",
    "conditions",
    "data",
    "default",
    "defaultRequest",
    "extra",
    "hard",
    "labels",
    "limits",
    "matchLabels",
    "max",
    "maxLimitRequestRatio",
    "min",
    "nodeSelector",
    "options",
    "overhead",
    "parameters",
    "podFixed",
    "requests",
    "resources",
    "status",
    "stringData",
    "volumeAttributes",
];

/// Maps whose fields have owners of their own, in every kind.
pub(super) const FIELD_MAPS: [&str; 3] = ["annotations", "data", "labels"];

pub(super) fn without_claim_defaults(claims: &Value) -> Value {
    let mut claims = claims.clone();
    for claim in claims.as_array_mut().into_iter().flatten() {
        for (parent, field, default) in CLAIM_DEFAULTS {
            if let Some(Value::Object(fields)) = claim.pointer_mut(parent)
                && fields.get(field).is_some_and(|value| value == default)
            {
                fields.remove(field);
            }
        }
    }
    claims
}

/// Whether API servers set a field of a map of this name, which is one value.
pub(super) fn has_default(name: &str) -> bool {
    MAP_DEFAULTS.iter().any(|(map, ..)| *map == name)
}

pub(super) fn without_default(name: &str, map: &Value) -> Value {
    let mut map = map.clone();
    for (_, field, default) in MAP_DEFAULTS.iter().filter(|(of, ..)| *of == name) {
        if let Some(fields) = map.as_object_mut()
            && fields.get(*field).is_some_and(|value| value == default)
        {
            fields.remove(*field);
        }
    }
    map
}

/// Whether an absent field has this value for every reader.
pub(super) fn is_absent(name: &str, value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty() && DROPPED_MAPS.contains(&name),
        value => is_empty(value),
    }
}

pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
