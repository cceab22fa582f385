//! The annotations of v1, whose values are JSON as Go encodes its structs: fields in the order of their declarations.

use kubewright_machinery::go;
use serde_json::{Map, Value, json};

use crate::kinds::{
    decode,
    edit::{Fields, section},
};

pub(super) const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
pub(super) const STATUSES: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
pub(super) const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
pub(super) const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// All that a conversion drops; two of them are of no version that still exists.
pub(super) const ALL: [&str; 6] = [
    METRICS,
    STATUSES,
    CONDITIONS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
];

/// Removes the annotations of v1, and returns them.
pub(super) fn take(object: &mut Value) -> Fields {
    let mut taken = Map::new();
    let Some(metadata) = section(object, "metadata") else {
        return taken;
    };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        taken.extend(ALL.iter().filter_map(|name| annotations.remove_entry(*name)));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    taken
}

/// Adds annotations.
pub(super) fn put(object: &mut Value, added: Fields) {
    if added.is_empty() {
        return;
    }
    let annotations = section(object, "metadata").map(|it| it.entry("annotations").or_insert_with(|| json!({})));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.extend(added);
    }
}

/// Takes these annotations from the old object, because they are of a part that the request does not write.
pub(super) fn keep(new: &mut Value, old: &Value, names: &[&str]) {
    let mut all = take(new);
    let before = &old["metadata"]["annotations"];
    for name in names {
        match before.get(*name) {
            Some(value) => _ = all.insert((*name).to_owned(), value.clone()),
            None => _ = all.remove(*name),
        }
    }
    put(new, all);
}

/// The conditions of an annotation; `None` if it is missing or malformed, which Go ignores.
pub(super) fn conditions(annotation: Option<&Value>) -> Option<Value> {
    let mut conditions: Vec<Value> = serde_json::from_str(annotation?.as_str()?).ok()?;
    for condition in &mut conditions {
        condition.as_object()?;
        decode::decode("autoscaling.v2.HorizontalPodAutoscalerCondition", condition).ok()?;
    }
    Some(conditions.into())
}

/// The annotation for conditions.
pub(super) fn conditions_text(conditions: &[Value]) -> Value {
    let mut conditions = conditions.to_vec();
    for condition in conditions.iter_mut().filter_map(Value::as_object_mut) {
        condition.entry("lastTransitionTime").or_insert(Value::Null);
    }
    json!(text(&conditions.into()))
}

/// The fields of the behavior in v2 and in the annotation, which has the names of Go's fields.
const BEHAVIORS: [(&str, &str); 9] = [
    ("scaleUp", "ScaleUp"),
    ("scaleDown", "ScaleDown"),
    ("stabilizationWindowSeconds", "StabilizationWindowSeconds"),
    ("selectPolicy", "SelectPolicy"),
    ("policies", "Policies"),
    ("tolerance", "Tolerance"),
    ("type", "Type"),
    ("value", "Value"),
    ("periodSeconds", "PeriodSeconds"),
];

/// The behavior of an annotation; `None` if it is missing, empty or malformed.
pub(super) fn behavior(annotation: Option<&Value>) -> Option<Value> {
    let written: Map<String, Value> = serde_json::from_str(annotation?.as_str()?).ok()?;
    let mut behavior = renamed(&written.into(), &|name| {
        let found = BEHAVIORS.iter().find(|(_, go)| go.eq_ignore_ascii_case(name));
        found.map(|(name, _)| *name)
    });
    decode::decode("autoscaling.v2.HorizontalPodAutoscalerBehavior", &mut behavior).ok()?;
    let is_set = behavior.as_object().is_some_and(|it| !it.is_empty());
    is_set.then_some(behavior)
}

/// The annotation for a behavior. Go encodes all fields, even those that are not set.
pub(super) fn behavior_text(behavior: &Value) -> Value {
    let full = |value: &Value, names: &[&str]| -> Value {
        let fields = names.iter().map(|name| ((*name).to_owned(), value[*name].clone()));
        Value::Object(fields.collect())
    };
    let mut whole = full(behavior, &["scaleUp", "scaleDown"]);
    for direction in ["scaleUp", "scaleDown"] {
        if whole[direction].is_object() {
            let names = ["stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance"];
            whole[direction] = full(&whole[direction], &names);
        }
    }
    let go = |name: &str| BEHAVIORS.iter().find(|(own, _)| *own == name).map(|(_, go)| *go);
    json!(text(&renamed(&whole, &go)))
}

/// The value with other names of fields; those without another name are dropped.
fn renamed(value: &Value, name: &dyn Fn(&str) -> Option<&'static str>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| renamed(item, name)).collect(),
        Value::Object(map) => {
            let fields = map
                .iter()
                .filter_map(|(key, value)| Some((name(key)?.to_owned(), renamed(value, name))));
            Value::Object(fields.collect())
        }
        scalar => scalar.clone(),
    }
}

/// The fields of all these structs, in an order that agrees with each of them.
const ORDER: [&str; 39] = [
    "type",
    "status",
    "lastTransitionTime",
    "reason",
    "message",
    "object",
    "pods",
    "resource",
    "containerResource",
    "external",
    "target",
    "metricName",
    "kind",
    "name",
    "apiVersion",
    "targetAverageUtilization",
    "currentAverageUtilization",
    "metricSelector",
    "targetValue",
    "currentValue",
    "targetAverageValue",
    "currentAverageValue",
    "selector",
    "averageValue",
    "container",
    "matchLabels",
    "matchExpressions",
    "key",
    "operator",
    "values",
    "ScaleUp",
    "ScaleDown",
    "StabilizationWindowSeconds",
    "SelectPolicy",
    "Policies",
    "Tolerance",
    "Type",
    "Value",
    "PeriodSeconds",
];

/// `json.Marshal` of these structs.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(text).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let place = |name: &str| ORDER.iter().position(|it| *it == name);
            let mut fields: Vec<(&String, &Value)> = map.iter().collect();
            fields.sort_by_key(|(name, _)| place(name));
            let written = |(name, value): (&String, &Value)| {
                // The names in a map are sorted.
                let value = if name == "matchLabels" {
                    go::json(value)
                } else {
                    text(value)
                };
                format!("{}:{value}", go::json(&json!(name)))
            };
            let fields: Vec<String> = fields.into_iter().map(written).collect();
            format!("{{{}}}", fields.join(","))
        }
        scalar => go::json(scalar),
    }
}
