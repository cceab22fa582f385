//! The limits of autoscalers, as horizontal.go of kube-controller-manager has them: a recommended size is stabilized by the
//! recommendations of a window, and then limited by the bounds and the rate of changes.

use kubewright_machinery::quantity::Quantity;
use serde_json::Value;

use super::fields::{int, items};

/// The seconds for which a higher recommendation holds (`--horizontal-pod-autoscaler-downscale-stabilization`).
const STABLE: i64 = 300;
/// The deviation from a target that changes nothing (`--horizontal-pod-autoscaler-tolerance`).
const TOLERANCE: f64 = 0.1;

/// Times with sizes, or with changes of a size.
type Samples = Vec<(i64, i64)>;

/// The past of an autoscaler, as far as its limits depend on it.
#[derive(Default)]
pub(super) struct ScaleHistory {
    /// The recommendations before they were stabilized.
    recommendations: Samples,
    /// The numbers of added replicas, and of removed ones.
    changes: [Samples; 2],
}

/// A size that metrics recommend.
#[derive(Clone, Copy)]
pub(super) struct Recommendation {
    pub size: i64,
    pub current: i64,
    /// `minReplicas` and `maxReplicas`.
    pub bounds: [i64; 2],
    pub now: i64,
}

/// The size within the limits, with reasons and messages of the conditions.
pub(super) struct LimitedSize {
    pub size: i64,
    pub stability: [&'static str; 2],
    pub is_limited: bool,
    pub limit: [&'static str; 2],
}

const LOWER: [&str; 2] = [
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
];
const HIGHER: [&str; 2] = [
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
];
const STEADY: [&str; 2] = ["ReadyForNewScale", "recommended size matches current size"];
const WITHIN: [&str; 2] = ["DesiredWithinRange", "the desired count is within the acceptable range"];
const TOO_FEW: [&str; 2] = [
    "TooFewReplicas",
    "the desired replica count is less than the minimum replica count",
];
const TOO_MANY: [&str; 2] = [
    "TooManyReplicas",
    "the desired replica count is more than the maximum replica count",
];
const UP_LIMIT: [&str; 2] = [
    "ScaleUpLimit",
    "the desired replica count is increasing faster than the maximum scale rate",
];
const DOWN_LIMIT: [&str; 2] = [
    "ScaleDownLimit",
    "the desired replica count is decreasing faster than the maximum scale rate",
];

/// Whether a metric is within the tolerance of its target, so that the size stays.
pub(super) fn is_near(scaler: &Value, ratio: f64) -> bool {
    let [up, down] = ["scaleUp", "scaleDown"].map(|direction| {
        let tolerance = scaler["spec"]["behavior"][direction]["tolerance"].as_str();
        let tolerance = tolerance.and_then(|text| Quantity::parse(text).ok());
        tolerance.map_or(TOLERANCE, |tolerance| tolerance.float())
    });
    (1.0 - down..=1.0 + up).contains(&ratio)
}

/// Adds a sample, in the place of the last one that is too old, if there is one.
fn add(samples: &mut Samples, sample: (i64, i64), is_old: impl Fn(i64) -> bool) {
    match samples.iter().rposition(|(at, _)| is_old(*at)) {
        Some(old) => samples[old] = sample,
        None => samples.push(sample),
    }
}

impl ScaleHistory {
    /// Records the size before the first recommendation as a recommendation.
    pub fn begin(&mut self, current: i64, now: i64) {
        if self.recommendations.is_empty() {
            self.recommendations.push((now, current));
        }
    }

    pub fn limit(&mut self, behavior: &Value, it: Recommendation) -> LimitedSize {
        let (stable, why) = self.stabilize(behavior, it);
        let (size, limit) = match behavior.is_object() {
            true => self.rated(behavior, stable, it),
            false => bounded(stable, it),
        };
        LimitedSize {
            size,
            stability: if stable == it.size { STEADY } else { why },
            is_limited: size != stable,
            limit,
        }
    }

    fn stabilize(&mut self, behavior: &Value, it: Recommendation) -> (i64, [&'static str; 2]) {
        let [up, down] = ["scaleUp", "scaleDown"].map(|direction| {
            let window = behavior[direction]["stabilizationWindowSeconds"].as_i64();
            it.now - window.unwrap_or(STABLE)
        });
        let samples = self.recommendations.iter();
        let sizes = |is_recent: &dyn Fn(i64) -> bool| -> Vec<i64> {
            let recent = samples.clone().filter(|(at, _)| is_recent(*at));
            recent.map(|(_, size)| *size).chain([it.size]).collect()
        };
        let highest = |sizes: Vec<i64>| sizes.into_iter().max().unwrap_or(it.size);
        let (size, why) = match behavior.is_object() {
            true => {
                let lowest = sizes(&|at| at > up).into_iter().min().unwrap_or(it.size);
                let highest = highest(sizes(&|at| at > down));
                let why = if it.size >= it.current { LOWER } else { HIGHER };
                (it.current.max(lowest).min(highest), why)
            }
            false => (highest(sizes(&|at| at >= down)), HIGHER),
        };
        let is_old = |at| at < down && at < up;
        add(&mut self.recommendations, (it.now, it.size), is_old);
        (size, why)
    }

    /// The size within the bounds and the policies.
    fn rated(&self, behavior: &Value, stable: i64, it: Recommendation) -> (i64, [&'static str; 2]) {
        let [least, most] = it.bounds;
        if stable > it.current {
            let fastest = self.fastest(&behavior["scaleUp"], true, it).max(it.current);
            let limit = if most > fastest { UP_LIMIT } else { TOO_MANY };
            if stable > most.min(fastest) {
                return (most.min(fastest), limit);
            }
        } else if stable < it.current {
            let fastest = self.fastest(&behavior["scaleDown"], false, it).min(it.current);
            let limit = if least < fastest { DOWN_LIMIT } else { TOO_FEW };
            if stable < least.max(fastest) {
                return (least.max(fastest), limit);
            }
        }
        (stable, WITHIN)
    }

    /// The size that the policies of a direction permit.
    fn fastest(&self, rules: &Value, is_up: bool, it: Recommendation) -> i64 {
        let permitted = items(rules, "/policies").iter().map(|policy| {
            let cutoff = it.now - int(policy, "/periodSeconds");
            let [added, removed] = self.changes.each_ref().map(|changes| {
                let recent = changes.iter().filter(|(at, _)| *at > cutoff);
                recent.map(|(_, change)| change).sum::<i64>()
            });
            let before = it.current - added + removed;
            let value = int(policy, "/value");
            let part = value as f64 / 100.0;
            match (policy["type"] == "Pods", is_up) {
                (true, true) => before + value,
                (true, false) => before - value,
                (false, true) => (before as f64 * (1.0 + part)).ceil() as i64,
                (false, false) => (before as f64 * (1.0 - part)) as i64,
            }
        });
        // The greatest change, unless the policy is the least one.
        let selected = match rules["selectPolicy"].as_str() {
            Some("Disabled") => None,
            Some("Min") if is_up => permitted.min(),
            Some("Min") => permitted.max(),
            _ if is_up => permitted.max(),
            _ => permitted.min(),
        };
        selected.unwrap_or(it.current)
    }

    /// Notes a change of the target's size, if policies limit such changes.
    pub fn changed(&mut self, behavior: &Value, [before, after]: [i64; 2], now: i64) {
        let (direction, changes) = match after > before {
            true => ("scaleUp", &mut self.changes[0]),
            false => ("scaleDown", &mut self.changes[1]),
        };
        let policies = items(&behavior[direction], "/policies").iter();
        let Some(longest) = policies.map(|policy| int(policy, "/periodSeconds")).max() else {
            return;
        };
        add(changes, (now, (after - before).abs()), |at| at < now - longest);
    }
}

/// The size within the bounds, and at most twice the current one.
fn bounded(stable: i64, it: Recommendation) -> (i64, [&'static str; 2]) {
    let [least, most] = it.bounds;
    let fastest = (2 * it.current).max(4);
    match stable {
        _ if stable < least => (least, TOO_FEW),
        _ if stable > most.min(fastest) => (most.min(fastest), if most > fastest { UP_LIMIT } else { TOO_MANY }),
        _ => (stable, WITHIN),
    }
}
