//! A Deployment's ReplicaSets: how many replicas they may have together, and how one of them is scaled.

use serde_json::{Value, json};

use super::{
    fields::{annotation, created, int},
    write::Write,
};
use crate::meta;

pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";

/// The replicas that a Deployment wants, and by how many it may deviate during a rollout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub replicas: i64,
    pub surge: i64,
    pub unavailable: i64,
}

impl Bounds {
    /// The bounds of a Deployment; those of the strategy Recreate are 0.
    pub fn of(deployment: &Value) -> Self {
        let replicas = int(deployment, "/spec/replicas");
        let strategy = &deployment["spec"]["strategy"];
        if !is_rolling(deployment) {
            return Self {
                replicas,
                surge: 0,
                unavailable: 0,
            };
        }
        let amount = |field: &str, round_up: bool| amount(&strategy["rollingUpdate"][field], replicas, round_up);
        let (surge, mut unavailable) = (amount("maxSurge", true), amount("maxUnavailable", false));
        // Otherwise a percentage that is rounded down would stop every rollout.
        if surge == 0 && unavailable == 0 {
            unavailable = 1;
        }
        Self {
            replicas,
            surge,
            unavailable: unavailable.min(replicas),
        }
    }

    /// The replicas of all ReplicaSets together are at most as many.
    pub fn maximum(self) -> i64 {
        self.replicas + self.surge
    }
}

/// A number, or a percentage of `total`.
pub(super) fn amount(value: &Value, total: i64, round_up: bool) -> i64 {
    let percent = value
        .as_str()
        .and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    let part = |percent: i64| (percent * total + if round_up { 99 } else { 0 }) / 100;
    percent.map_or_else(|| value.as_i64().unwrap_or_default(), part)
}

pub(super) fn is_rolling(deployment: &Value) -> bool {
    deployment["spec"]["strategy"]["type"] == "RollingUpdate"
}

/// A ReplicaSet of a Deployment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Set {
    pub object: Value,
    /// Whether Pods of it have not finished, even if they are being deleted.
    pub runs: bool,
}

impl Set {
    pub fn name(&self) -> &str {
        meta::text(&self.object, "name")
    }

    /// The replicas in the spec.
    pub fn replicas(&self) -> i64 {
        int(&self.object, "/spec/replicas")
    }

    pub fn available(&self) -> i64 {
        int(&self.object, "/status/availableReplicas")
    }

    /// Its place in the order of creation.
    pub fn age(&self) -> (i64, String) {
        (created(&self.object), self.name().to_owned())
    }

    pub fn number(&self, name: &str) -> Option<i64> {
        annotation(&self.object, name)?.parse().ok()
    }

    /// Whether it has all replicas of the Deployment, and all are available.
    pub fn is_saturated(&self, bounds: Bounds) -> bool {
        let wanted = bounds.replicas;
        self.number(DESIRED) == Some(wanted) && self.replicas() == wanted && self.available() == wanted
    }

    /// Sets the replicas, and the annotations that tell later scalings from rollouts. `None` if it is like that.
    pub fn scale(&mut self, replicas: i64, bounds: Bounds) -> Option<Write> {
        let is_noted = self.number(DESIRED) == Some(bounds.replicas) && self.number(MAXIMUM) == Some(bounds.maximum());
        if self.replicas() == replicas && is_noted {
            return None;
        }
        self.object["spec"]["replicas"] = json!(replicas);
        note(&mut self.object, bounds);
        Some(Write::Update(self.object.clone()))
    }
}

/// Notes the bounds in the annotations of a ReplicaSet.
pub(super) fn note(set: &mut Value, bounds: Bounds) {
    annotate(set, DESIRED, bounds.replicas.to_string());
    annotate(set, MAXIMUM, bounds.maximum().to_string());
}

/// Sets an annotation.
pub(super) fn annotate(object: &mut Value, name: &str, value: String) {
    object["metadata"]["annotations"][name] = value.into();
}

/// The sum over ReplicaSets.
pub(super) fn total(sets: &[Set], count: fn(&Set) -> i64) -> i64 {
    sets.iter().map(count).sum()
}
