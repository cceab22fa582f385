//! HorizontalPodAutoscalers: the size of a target between its bounds, and by the metrics that an annotation gives.

use std::{collections::HashMap, sync::Arc};

use kubewright_machinery::{quantity::Quantity, time};
use serde_json::{Value, json};

use super::{
    Decision, Workloads,
    fields::{annotation, int, items, set_condition, text},
    scales,
};
use crate::{controllers::act, effects::Cluster, status::Status, store::Key};

pub(super) const AUTOSCALERS: &str = "autoscaling/horizontalpodautoscalers";
/// The annotation with the present values, such as `cpu=90`: each in the unit of its target.
const METRICS: &str = "kubewright.dev/metrics";
/// The seconds between two looks at the metrics (`--horizontal-pod-autoscaler-sync-period`).
const PERIOD: i64 = 15;
/// The seconds for which a higher recommendation holds (`--horizontal-pod-autoscaler-downscale-stabilization`).
const STABLE: i64 = 300;
/// The deviation from a target that changes nothing (`--horizontal-pod-autoscaler-tolerance`).
const TOLERANCE: f64 = 0.1;

/// The last decision about each autoscaler.
pub(super) type ScalerStates = HashMap<Key, ScalerState>;

#[derive(Default)]
pub(super) struct ScalerState {
    /// The spec and the metrics that were decided about last.
    decided: (i64, String),
    /// When to decide again.
    next: i64,
    /// The recommendations within the window, with their times.
    history: Vec<(i64, i64)>,
}

/// The size that an autoscaler wants, with the conditions that say why.
struct ScalingPlan {
    status: Value,
    desired: i64,
}

impl ScalingPlan {
    fn set(&mut self, values: [&str; 4], now: i64) {
        let [name, status, reason, message] = values;
        let transition = time::text(now);
        let condition = json!({
            "type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": transition,
        });
        set_condition(&mut self.status, condition);
    }
}

impl Workloads {
    pub(super) async fn autoscaler(&mut self, cluster: &Arc<Cluster>, key: &Key, scaler: &Value) -> Result<(), Status> {
        let now = cluster.core.now();
        let state = self.scalers.entry(key.clone()).or_default();
        let metrics = annotation(scaler, METRICS).unwrap_or_default();
        let seen = (int(scaler, "/metadata/generation"), metrics.to_owned());
        // A write of the status causes no decision.
        if state.decided == seen && now < state.next {
            return Ok(());
        }
        (state.decided, state.next) = (seen, now + PERIOD);
        self.queue.add_at(now + PERIOD, key.clone());
        let mut plan = ScalingPlan {
            status: scaler["status"].clone(),
            desired: 0,
        };
        if !plan.status.is_object() {
            plan.status = json!({});
        }
        let target = scales::named(&cluster.core, &key.namespace, &scaler["spec"]["scaleTargetRef"]);
        let (target, current) = match target {
            Ok(found) => found,
            Err(why) => {
                let why = format!("the HPA controller was unable to get the target's current scale: {why}");
                plan.set(["AbleToScale", "False", "FailedGetScale", &why], now);
                return self
                    .act(cluster, key, Decision::about_status(scaler, plan.status, None))
                    .await;
            }
        };
        let why = "the HPA controller was able to get the target's current scale";
        plan.set(["AbleToScale", "True", "SucceededGetScale", why], now);
        plan.desired = int(&plan.status, "/desiredReplicas");
        let is_decided = decide(scaler, &mut plan, &mut state.history, [current, now]);
        if is_decided && plan.desired != current {
            let metadata = json!({"namespace": target.namespace, "name": target.name});
            let scale = json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": plan.desired},
            });
            act::put(cluster, &target, "scale", &scale).await?;
            let why = format!(
                "the HPA controller was able to update the target scale to {}",
                plan.desired
            );
            plan.set(["AbleToScale", "True", "SucceededRescale", &why], now);
            plan.status["lastScaleTime"] = json!(time::text(now));
        }
        plan.status["currentReplicas"] = json!(current);
        plan.status["desiredReplicas"] = json!(plan.desired);
        let decision = Decision::about_status(scaler, plan.status, None);
        self.act(cluster, key, decision).await
    }
}

/// Sets the desired size and the conditions. Returns `false` if the size is within its bounds and the annotation gives no metric:
/// then the target keeps its size.
fn decide(scaler: &Value, plan: &mut ScalingPlan, history: &mut Vec<(i64, i64)>, [current, now]: [i64; 2]) -> bool {
    let [least, most] = ["minReplicas", "maxReplicas"].map(|field| scaler["spec"][field].as_i64().unwrap_or(1));
    if current == 0 && least != 0 {
        plan.desired = 0;
        let why = "scaling is disabled since the replica count of the target is zero";
        plan.set(["ScalingActive", "False", "ScalingDisabled", why], now);
        return true;
    }
    if current > most || current < least {
        plan.desired = current.clamp(least, most);
        return true;
    }
    let metrics = items(scaler, "/spec/metrics").iter();
    let found: Vec<(f64, &Value)> = metrics.filter_map(|it| Some((ratio(scaler, it)?, it))).collect();
    let Some((ratio, metric)) = found.into_iter().max_by(|one, other| one.0.total_cmp(&other.0)) else {
        let kind = text(scaler, "/spec/metrics/0/type");
        let why = format!(
            "the HPA was unable to compute the replica count: no metrics are served, and the annotation {METRICS} has none"
        );
        plan.set(["ScalingActive", "False", &format!("FailedGet{kind}Metric"), &why], now);
        return false;
    };
    let why = format!(
        "the HPA was able to successfully calculate a replica count from {}",
        described(metric)
    );
    plan.set(["ScalingActive", "True", "ValidMetricFound", &why], now);
    let wanted = match (ratio - 1.0).abs() <= TOLERANCE {
        true => current,
        false => (ratio * current as f64).ceil() as i64,
    };
    let window = scaler["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"].as_i64();
    history.retain(|(at, _)| *at > now - window.unwrap_or(STABLE));
    if history.is_empty() && window != Some(0) {
        history.push((now, current));
    }
    history.push((now, wanted));
    let highest = history.iter().map(|(_, size)| *size).max().unwrap_or(wanted);
    let stable = if wanted < current { highest.min(current) } else { wanted };
    match stable > wanted {
        true => {
            let why = "recent recommendations were higher than current one, applying the highest recent recommendation";
            plan.set(["AbleToScale", "True", "ScaleDownStabilized", why], now);
        }
        false => {
            let why = "recommended size matches current size";
            plan.set(["AbleToScale", "True", "ReadyForNewScale", why], now);
        }
    }
    let fastest = (2 * current).max(4);
    let limited = if stable < least {
        [
            "True",
            "TooFewReplicas",
            "the desired replica count is less than the minimum replica count",
        ]
    } else if stable > most.min(fastest) && fastest < most {
        [
            "True",
            "ScaleUpLimit",
            "the desired replica count is increasing faster than the maximum scale rate",
        ]
    } else if stable > most {
        [
            "True",
            "TooManyReplicas",
            "the desired replica count is more than the maximum replica count",
        ]
    } else {
        [
            "False",
            "DesiredWithinRange",
            "the desired count is within the acceptable range",
        ]
    };
    let [status, reason, message] = limited;
    plan.set(["ScalingLimited", status, reason, message], now);
    plan.desired = stable.clamp(least, most.min(fastest).max(least));
    true
}

/// The present value of a metric through its target; `None` if the annotation does not give it.
fn ratio(scaler: &Value, metric: &Value) -> Option<f64> {
    let source = source(metric);
    let name = named(source);
    let given = annotation(scaler, METRICS)?
        .split(',')
        .filter_map(|word| word.split_once('='));
    let (_, present) = given.into_iter().find(|(given, _)| given.trim() == name)?;
    let target = &source["target"];
    let wanted = match target["averageUtilization"].as_i64() {
        Some(percent) => percent as f64,
        None => amount(target["averageValue"].as_str().or(target["value"].as_str())?)?,
    };
    (wanted > 0.0).then_some(amount(present.trim())? / wanted)
}

fn amount(text: &str) -> Option<f64> {
    Quantity::parse(text).ok().map(|quantity| quantity.float())
}

/// The description of a metric's source.
fn source(metric: &Value) -> &Value {
    let kind = text(metric, "/type");
    let mut letters = kind.chars();
    let field = letters
        .next()
        .map(|first| format!("{}{}", first.to_ascii_lowercase(), letters.as_str()));
    &metric[field.unwrap_or_default()]
}

fn named(source: &Value) -> &str {
    source["name"].as_str().unwrap_or(text(source, "/metric/name"))
}

/// A metric, as a condition names it.
fn described(metric: &Value) -> String {
    let source = source(metric);
    let name = named(source);
    match (text(metric, "/type"), source["target"]["averageUtilization"].is_i64()) {
        ("Resource", true) => format!("{name} resource utilization (percentage of request)"),
        ("Resource", false) => format!("{name} resource"),
        ("ContainerResource", true) => format!("{name} container resource utilization (percentage of request)"),
        ("ContainerResource", false) => format!("{name} container resource"),
        ("Pods", _) => format!("pods metric {name}"),
        ("External", _) => format!("external metric {name}(nil)"),
        _ => format!("{} metric {name}", text(source, "/describedObject/kind")),
    }
}
