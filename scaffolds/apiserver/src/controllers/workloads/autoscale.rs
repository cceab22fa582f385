//! HorizontalPodAutoscalers: the size of a target between its bounds, and by the metrics that an annotation gives.

use std::{collections::HashMap, sync::Arc};

use kubewright_machinery::{quantity::Quantity, time};
use serde_json::{Value, json};

use super::{
    Decision, Workloads,
    fields::{annotation, condition, int, items, put_condition, text},
    scale_limits::{Recommendation, ScaleHistory, is_near},
    scales,
};
use crate::{controllers::act, effects::Cluster, status::Status, store::Key};

pub(super) const AUTOSCALERS: &str = "autoscaling/horizontalpodautoscalers";
/// The annotation with the present values, such as `cpu=90`: each in the unit of its target.
const METRICS: &str = "kubewright.dev/metrics";
/// The seconds between two looks at the metrics (`--horizontal-pod-autoscaler-sync-period`).
const PERIOD: i64 = 15;
/// The last decision about each autoscaler.
pub(super) type ScalerStates = HashMap<Key, ScalerState>;

#[derive(Default)]
pub(super) struct ScalerState {
    /// The spec and the metrics that were decided about last.
    decided: (i64, String),
    /// When to decide again.
    next: i64,
    history: ScaleHistory,
}

/// The size that an autoscaler wants, with the conditions that say why.
struct ScalingPlan {
    status: Value,
    desired: i64,
}

impl ScalingPlan {
    /// Sets a condition in its place. Its time changes with its status alone.
    fn set(&mut self, [name, status, reason, message]: [&str; 4], now: i64) {
        let same = condition(&self.status, name).filter(|it| it["status"] == status);
        let since = same.map_or_else(|| json!(time::text(now)), |it| it["lastTransitionTime"].clone());
        let new = json!({
            "type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
        });
        put_condition(&mut self.status, new);
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
        state.history.begin(current, now);
        let is_decided = decide(scaler, &mut plan, &mut state.history, [current, now]);
        if is_decided && plan.desired != current {
            let metadata = json!({"namespace": target.namespace, "name": target.name});
            let scale = json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": plan.desired},
            });
            act::put(cluster, &target, "scale", &scale).await?;
            let behavior = &scaler["spec"]["behavior"];
            state.history.changed(behavior, [current, plan.desired], now);
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

/// Sets the desired size and the conditions. Returns `false` if metrics are needed that the annotation does not give: then the
/// target keeps its size.
fn decide(scaler: &Value, plan: &mut ScalingPlan, history: &mut ScaleHistory, [current, now]: [i64; 2]) -> bool {
    let [least, most] = ["minReplicas", "maxReplicas"].map(|field| scaler["spec"][field].as_i64().unwrap_or(1));
    if current == 0 {
        plan.desired = 0;
        let why = "scaling is disabled since the replica count of the target is zero";
        plan.set(["ScalingActive", "False", "ScalingDisabled", why], now);
        return true;
    }
    if current > most || current < least {
        plan.desired = current.clamp(least, most);
        return true;
    }
    let (mut best, mut missing) = (None, None);
    for metric in items(scaler, "/spec/metrics") {
        let higher = |best: Option<(i64, _)>, size| best.is_none_or(|(before, _)| before == 0 || size > before);
        match proposal(scaler, metric, current) {
            None => _ = missing.get_or_insert(metric),
            Some(size) if higher(best, size) => best = Some((size, metric)),
            Some(_) => {}
        }
    }
    // A metric that is missing could forbid to scale down.
    let Some((size, metric)) = best.filter(|(size, _)| missing.is_none() || *size >= current) else {
        let kind = missing.map_or("", |it| text(it, "/type"));
        let why = format!(
            "the HPA was unable to compute the replica count: no metrics are served, and the annotation {METRICS} has not all"
        );
        plan.set(["ScalingActive", "False", &format!("FailedGet{kind}Metric"), &why], now);
        return false;
    };
    let why = format!(
        "the HPA was able to successfully calculate a replica count from {}",
        described(metric)
    );
    plan.set(["ScalingActive", "True", "ValidMetricFound", &why], now);
    let recommendation = Recommendation {
        size,
        current,
        bounds: [least, most],
        now,
    };
    let limited = history.limit(&scaler["spec"]["behavior"], recommendation);
    let [reason, why] = limited.stability;
    plan.set(["AbleToScale", "True", reason, why], now);
    let [reason, why] = limited.limit;
    let status = if limited.is_limited { "True" } else { "False" };
    plan.set(["ScalingLimited", status, reason, why], now);
    plan.desired = limited.size;
    true
}

/// The size that a metric proposes; `None` if the annotation does not give it. All Pods count as ready and measured.
fn proposal(scaler: &Value, metric: &Value, current: i64) -> Option<i64> {
    let source = source(metric);
    let name = named(source);
    let mut given = annotation(scaler, METRICS)?
        .split(',')
        .filter_map(|word| word.split_once('='));
    let (_, present) = given.find(|(given, _)| given.trim() == name)?;
    let present = milli(present.trim())?;
    let target = &source["target"];
    if let Some(percent) = target["averageUtilization"].as_i64() {
        return Some(by_ratio(scaler, (present / 1000) as f64 / percent as f64, current));
    }
    let average = target["averageValue"].as_str();
    let wanted = milli(average.or(target["value"].as_str())?)? as f64;
    let is_total = ["Object", "External"].contains(&text(metric, "/type")) && average.is_some();
    match is_total {
        // The Pods share the amount.
        true if is_near(scaler, present as f64 / (wanted * current as f64)) => Some(current),
        true => Some((present as f64 / wanted).ceil() as i64),
        false => Some(by_ratio(scaler, present as f64 / wanted, current)),
    }
}

fn by_ratio(scaler: &Value, ratio: f64, current: i64) -> i64 {
    match is_near(scaler, ratio) {
        true => current,
        false => (ratio * current as f64).ceil() as i64,
    }
}

/// A quantity in thousandths.
fn milli(text: &str) -> Option<i64> {
    let quantity = Quantity::parse(text).ok()?.rounded_to_milli();
    Some((quantity.float() * 1000.0).round() as i64)
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
