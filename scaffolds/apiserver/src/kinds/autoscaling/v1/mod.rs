//! HorizontalPodAutoscalers of `autoscaling/v1`. They are stored in version v2; what v1 has no field for is in annotations
//! (upstream's `pkg/apis/autoscaling/v1/conversion.go`). Between a request and the store, the annotations leave out what v2
//! leaves out.

mod annotations;
mod metrics;

use serde_json::{Map, Value, json};

use super::horizontal_pod_autoscaler as v2;
use crate::{
    kinds::{
        decode,
        edit::{Fields, section, set, within},
        faults::Faults,
        kind::BuiltInKind,
        located::Located,
        row::Row,
    },
    strategy::{Generation, Internal, Rules, Storage},
};
use annotations::{BEHAVIOR, CONDITIONS, METRICS, STATUSES};
use metrics::Zeros;

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            storage: Storage {
                verbatim_after: None,
                ..Storage::default()
            },
            internal: Internal {
                field_annotations: &annotations::ALL,
                ..Internal::default()
            },
            ..Rules::default()
        },
        decoded: |object| {
            to_v2(object, Zeros::Filled);
            to_v1(object, Zeros::Absent);
        },
        defaults: &[("autoscaling.v1.HorizontalPodAutoscaler", default)],
        prepare_create: |object| annotations::keep(object, &Value::Null, &[STATUSES, CONDITIONS]),
        prepare_update: |new, old| annotations::keep(new, old, &[STATUSES, CONDITIONS]),
        prepare_status: |new, old| annotations::keep(new, old, &[METRICS, BEHAVIOR]),
        validate: |at, faults| v2::validate(&Located::root(&in_v2(at.value)), faults),
        validate_update,
        to_stored: |object| to_v2(object, Zeros::Absent),
        from_stored: |object| to_v1(object, Zeros::Filled),
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    if let Some(spec) = within(object, "spec") {
        set(spec, "minReplicas", 1);
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (new, old) = (in_v2(new.value), in_v2(old.value));
    v2::validate_update(&Located::root(&new), &Located::root(&old), faults);
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    v2::cells(&Row {
        at: Located::root(&in_v2(row.at.value)),
        now: row.now,
    })
}

fn in_v2(object: &Value) -> Value {
    let mut object = object.clone();
    to_v2(&mut object, Zeros::Absent);
    object
}

/// Whether a metric, or the status of one, is that of the CPU for which v1 has a field; `part` is `target` or `current`.
fn is_cpu(metric: &Value, part: &str) -> bool {
    let resource = &metric["resource"];
    metric["type"] == "Resource" && resource["name"] == "cpu" && !resource[part]["averageUtilization"].is_null()
}

/// The metric of the CPU, or its status.
fn cpu(part: &str, mut values: Value, utilization: &Value) -> Value {
    values["averageUtilization"] = utilization.clone();
    json!({"type": "Resource", "resource": {"name": "cpu", part: values}})
}

/// Converts from v1 to v2.
fn to_v2(object: &mut Value, zeros: Zeros) {
    object["apiVersion"] = json!("autoscaling/v2");
    let found = annotations::take(object);
    let spec = section(object, "spec").map(std::mem::take).unwrap_or_default();
    object["spec"] = spec_to_v2(spec, &found, zeros);
    let status = section(object, "status").map(std::mem::take).unwrap_or_default();
    object["status"] = status_to_v2(status, &found, zeros);
    // Left-out fields get their form of v2; all types are valid.
    let _ = decode::convert("autoscaling.v2.HorizontalPodAutoscaler", object);
}

fn spec_to_v2(mut spec: Fields, found: &Fields, zeros: Zeros) -> Value {
    let own = spec.remove("targetCPUUtilizationPercentage").filter(|it| !it.is_null());
    let target = || json!({"type": "Utilization"});
    let mut metrics = metrics::read(found.get(METRICS), &metrics::SPECS, zeros).unwrap_or_default();
    metrics.extend(own.map(|percent| cpu("target", target(), &percent)));
    if metrics.is_empty() {
        metrics.push(cpu("target", target(), &json!(v2::CPU_UTILIZATION)));
    }
    spec.insert("metrics".to_owned(), metrics.into());
    if let Some(behavior) = annotations::behavior(found.get(BEHAVIOR)) {
        spec.insert("behavior".to_owned(), behavior);
    }
    spec.into()
}

fn status_to_v2(mut status: Fields, found: &Fields, zeros: Zeros) -> Value {
    let own = status
        .remove("currentCPUUtilizationPercentage")
        .filter(|it| !it.is_null());
    let own = own.map(|percent| vec![cpu("current", json!({}), &percent)]);
    if let Some(metrics) = metrics::read(found.get(STATUSES), &metrics::STATUSES, zeros).or(own) {
        status.insert("currentMetrics".to_owned(), metrics.into());
    }
    if let Some(conditions) = annotations::conditions(found.get(CONDITIONS)) {
        status.insert("conditions".to_owned(), conditions);
    }
    status.into()
}

/// Converts from v2 to v1.
fn to_v1(object: &mut Value, zeros: Zeros) {
    object["apiVersion"] = json!("autoscaling/v1");
    annotations::take(object);
    let mut kept = Map::new();
    if let Some(spec) = section(object, "spec") {
        spec_to_v1(spec, &mut kept, zeros);
    }
    if let Some(status) = section(object, "status") {
        status_to_v1(status, &mut kept, zeros);
    }
    annotations::put(object, kept);
    // As for v2.
    let _ = decode::convert("autoscaling.v1.HorizontalPodAutoscaler", object);
}

fn list(fields: &mut Fields, name: &str) -> Vec<Value> {
    match fields.remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

fn spec_to_v1(spec: &mut Fields, kept: &mut Fields, zeros: Zeros) {
    let (own, others): (Vec<Value>, Vec<Value>) =
        list(spec, "metrics").into_iter().partition(|it| is_cpu(it, "target"));
    if let Some(first) = own.first() {
        let percent = first["resource"]["target"]["averageUtilization"].clone();
        spec.insert("targetCPUUtilizationPercentage".to_owned(), percent);
    }
    if !others.is_empty() {
        kept.insert(METRICS.to_owned(), metrics::written(&others, &metrics::SPECS, zeros));
    }
    if let Some(behavior) = spec.remove("behavior").filter(Value::is_object) {
        kept.insert(BEHAVIOR.to_owned(), annotations::behavior_text(&behavior));
    }
}

fn status_to_v1(status: &mut Fields, kept: &mut Fields, zeros: Zeros) {
    let metrics = list(status, "currentMetrics");
    if let Some(last) = metrics.iter().rfind(|it| is_cpu(it, "current")) {
        let percent = last["resource"]["current"]["averageUtilization"].clone();
        status.insert("currentCPUUtilizationPercentage".to_owned(), percent);
    }
    if !metrics.is_empty() {
        kept.insert(
            STATUSES.to_owned(),
            metrics::written(&metrics, &metrics::STATUSES, zeros),
        );
    }
    let conditions = list(status, "conditions");
    if !conditions.is_empty() {
        kept.insert(CONDITIONS.to_owned(), annotations::conditions_text(&conditions));
    }
}
