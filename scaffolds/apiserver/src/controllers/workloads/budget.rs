//! PodDisruptionBudgets: how many Pods are expected, healthy, and may be evicted, as a function of the selected Pods and of
//! the scale of their controllers.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision,
    fields::{condition, int, part, put_condition, set_count},
    replica_set::Pod,
};
use crate::meta;

/// The seconds within which an evicted Pod is to be deleted; afterwards it counts as not evicted.
const DELETION_TIMEOUT: i64 = 120;
const ALLOWED: &str = "DisruptionAllowed";

/// Whether a budget compares its Pods with the scale of their controllers.
pub(super) fn needs_scale(budget: &Value) -> bool {
    let spec = &budget["spec"];
    !spec["maxUnavailable"].is_null() || spec["minAvailable"].is_string()
}

/// The status of a budget, and when it has to be computed again. `scale` is the sum over the controllers of its Pods, or why
/// there is none.
pub(super) fn decide(budget: &Value, pods: &[Pod], scale: Result<i64, String>, now: i64) -> Decision {
    let mut status = budget["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    let scale = match scale {
        Ok(scale) => scale,
        Err(why) => {
            status["disruptionsAllowed"] = json!(0);
            allow(&mut status, ["False", "SyncFailed", &why], now);
            return Decision::about_status(budget, status, None);
        }
    };
    let spec = &budget["spec"];
    let expected = match needs_scale(budget) {
        true => scale,
        false if spec["minAvailable"].is_null() => 0,
        false => i64::try_from(pods.len()).unwrap_or(i64::MAX),
    };
    let desired = match (&spec["maxUnavailable"], &spec["minAvailable"]) {
        (Value::Null, least) => part(least, expected),
        (most, _) => (expected - part(most, expected)).max(0),
    };
    let (disrupted, again) = disrupted(budget, pods, now);
    let is_healthy = |pod: &&Pod| {
        let is_leaving = meta::is_deleting(&pod.object) || disrupted.get(meta::text(&pod.object, "name")).is_some();
        pod.ready.is_some() && !is_leaving
    };
    let healthy = i64::try_from(pods.iter().filter(is_healthy).count()).unwrap_or(i64::MAX);
    let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
    for (field, number) in [
        ("expectedPods", expected),
        ("desiredHealthy", desired),
        ("currentHealthy", healthy),
        ("disruptionsAllowed", allowed),
        (
            "observedGeneration",
            meta::number(budget, "generation").unwrap_or_default(),
        ),
    ] {
        status[field] = json!(number);
    }
    status["disruptedPods"] = disrupted;
    let values = match allowed > 0 {
        true => ["True", "SufficientPods", ""],
        false => ["False", "InsufficientPods", ""],
    };
    allow(&mut status, values, now);
    Decision::about_status(budget, status, again)
}

/// The Pods whose eviction was recorded, and that are not yet being deleted, and when the first of them counts again.
fn disrupted(budget: &Value, pods: &[Pod], now: i64) -> (Value, Option<i64>) {
    let mut left = json!({});
    let mut again: Option<i64> = None;
    for pod in pods.iter().filter(|pod| !meta::is_deleting(&pod.object)) {
        let name = meta::text(&pod.object, "name");
        let recorded = &budget["status"]["disruptedPods"][name];
        let end = time::seconds(recorded.as_str().unwrap_or_default()).map(|at| at + DELETION_TIMEOUT);
        if let Some(end) = end.filter(|end| *end >= now) {
            left[name] = recorded.clone();
            again = Some(again.map_or(end + 1, |again| again.min(end + 1)));
        }
    }
    (left, again)
}

/// Sets the condition that disruptions are allowed. The time of its transition changes with its status.
fn allow(status: &mut Value, [value, reason, message]: [&str; 3], now: i64) {
    let before = condition(status, ALLOWED).filter(|it| it["status"] == value);
    let since = before.map_or_else(|| json!(time::text(now)), |it| it["lastTransitionTime"].clone());
    let mut new = json!({
        "type": ALLOWED, "status": value, "reason": reason, "message": message, "lastTransitionTime": since,
    });
    set_count(&mut new, "observedGeneration", int(status, "/observedGeneration"));
    put_condition(status, new);
}
