//! DefaultTolerationSeconds: a Pod tolerates a failing node for five minutes.

use serde_json::{Value, json};

use super::{Attributes, Objects, Operation};
use crate::status::Subject;

/// The taints of failing nodes.
const TAINTS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS: i64 = 300;

/// Adds the tolerations that a written Pod lacks.
pub(super) fn admit(attributes: &Attributes<'_>, objects: &mut Objects<'_>) {
    let is_write = matches!(attributes.operation, Operation::Create | Operation::Update);
    if let Some(pod) = objects.new.as_deref_mut()
        && is_write
        && attributes.is_about(Subject::new("", "pods"))
    {
        tolerate(pod);
    }
}

/// Adds the tolerations that the Pod lacks.
pub fn tolerate(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(tolerations) = tolerations.as_array_mut() else {
        return;
    };
    for taint in TAINTS {
        let text = |toleration: &Value, field: &str| toleration[field].as_str().unwrap_or_default().to_owned();
        let covers = |toleration: &Value| {
            let (key, effect) = (text(toleration, "key"), text(toleration, "effect"));
            (key == taint || key.is_empty()) && matches!(effect.as_str(), "NoExecute" | "")
        };
        if !tolerations.iter().any(covers) {
            tolerations
                .push(json!({"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS}));
        }
    }
}
