//! Defaults of HorizontalPodAutoscalers.

use serde_json::{Value, json};

use super::{Fields, set, within};

pub(super) fn rule(kind: &str) -> Option<fn(&mut Fields)> {
    (kind == "HorizontalPodAutoscaler").then_some(autoscaler as fn(&mut Fields))
}

fn autoscaler(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "minReplicas", 1);
    if spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let metrics = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
        spec.insert("metrics".to_owned(), metrics);
    }
    if let Some(behavior) = within(spec, "behavior") {
        let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
        let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
        rules(
            behavior,
            "scaleUp",
            json!({"stabilizationWindowSeconds": 0, "policies": [pods, percent.clone()]}),
        );
        rules(behavior, "scaleDown", json!({"policies": [percent]}));
    }
}

/// The rules for one direction: what is not said is taken from `fallback`.
fn rules(behavior: &mut Fields, name: &str, fallback: Value) {
    let Some(rules) = super::made(behavior, name) else {
        return;
    };
    set(rules, "selectPolicy", "Max");
    for (name, value) in fallback.as_object().into_iter().flatten() {
        set(rules, name, value.clone());
    }
}
