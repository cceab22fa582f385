//! The status of a Deployment: counts, and the conditions Available, Progressing and ReplicaFailure.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    Decision,
    fields::{self, int, text},
    replica_set::FAILURE,
    sets::{Bounds, Set, total},
};
use crate::meta;

pub(super) const PROGRESSING: &str = "Progressing";
/// The reasons of Progressing that later decisions depend on.
const COMPLETE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const PAUSED: &str = "DeploymentPaused";

/// The seconds without progress after which a rollout has failed, unless that is switched off.
pub(super) fn deadline(deployment: &Value) -> Option<i64> {
    let seconds = deployment["spec"]["progressDeadlineSeconds"].as_i64()?;
    (seconds != i64::from(i32::MAX)).then_some(seconds)
}

/// Sets Progressing to a status, a reason and a message.
pub(super) fn set(status: &mut Value, values: [&str; 3], now: i64) {
    fields::set_condition(status, new(PROGRESSING, values, now));
}

fn new(name: &str, [status, reason, message]: [&str; 3], now: i64) -> Value {
    let now = time::text(now);
    json!({
        "type": name, "status": status, "reason": reason, "message": message, "lastUpdateTime": now,
        "lastTransitionTime": now,
    })
}

/// The Deployment with the condition that it is paused or resumed, if it has yet to get that.
pub(super) fn paused(deployment: &Value, now: i64) -> Option<Value> {
    deadline(deployment)?;
    let reason = fields::condition(&deployment["status"], PROGRESSING).map_or("", |it| text(it, "/reason"));
    if reason == TIMED_OUT {
        return None;
    }
    let values = match (deployment["spec"]["paused"] == true, reason == PAUSED) {
        (true, false) => ["Unknown", PAUSED, "Deployment is paused"],
        (false, true) => ["Unknown", "DeploymentResumed", "Deployment is resumed"],
        _ => return None,
    };
    let mut changed = deployment.clone();
    set(&mut changed["status"], values, now);
    Some(changed)
}

/// The ReplicaSets from which a status is computed.
pub(super) struct Seen<'a> {
    pub deployment: &'a Value,
    pub new: Option<&'a Set>,
    /// Those of other templates.
    pub old: &'a [Set],
}

impl Seen<'_> {
    fn sum(&self, pointer: &str) -> i64 {
        let sets = self.old.iter().chain(self.new);
        sets.map(|set| int(&set.object, pointer)).sum()
    }

    /// The counts and the condition Available.
    fn counted(&self, now: i64) -> Value {
        let bounds = Bounds::of(self.deployment);
        let mut status = self.deployment["status"].clone();
        let available = self.sum("/status/availableReplicas");
        let wanted = total(self.old, Set::replicas) + self.new.map_or(0, Set::replicas);
        let updated = self.new.map_or(0, |new| int(&new.object, "/status/replicas"));
        let generation = meta::number(self.deployment, "generation").unwrap_or_default();
        let counts = [
            ("observedGeneration", generation),
            ("replicas", self.sum("/status/replicas")),
            ("updatedReplicas", updated),
            ("readyReplicas", self.sum("/status/readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (wanted - available).max(0)),
        ];
        if !status.is_object() {
            status = json!({});
        }
        for (field, count) in counts {
            fields::set_count(&mut status, field, count);
        }
        let is_counted = |set: &Set| set.object["status"]["terminatingReplicas"].is_i64();
        if self.old.iter().chain(self.new).all(is_counted) {
            status["terminatingReplicas"] = json!(self.sum("/status/terminatingReplicas"));
        } else if let Some(status) = status.as_object_mut() {
            status.remove("terminatingReplicas");
        }
        let values = match available >= bounds.replicas - bounds.unavailable {
            true => [
                "True",
                "MinimumReplicasAvailable",
                "Deployment has minimum availability.",
            ],
            false => [
                "False",
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.",
            ],
        };
        fields::set_condition(&mut status, new("Available", values, now));
        status
    }

    /// The status while it is paused, scaled or deleted: nothing about progress.
    pub fn status(&self, now: i64) -> Decision {
        Decision::about_status(self.deployment, self.counted(now), None)
    }

    /// The status during and after a rollout.
    pub fn rollout_status(&self, now: i64) -> Decision {
        let mut status = self.counted(now);
        match deadline(self.deployment) {
            Some(deadline) => self.estimate(&mut status, deadline, now),
            None => fields::remove_condition(&mut status, PROGRESSING),
        }
        let failed = |set: &Set| fields::condition(&set.object["status"], FAILURE).cloned();
        match self.new.into_iter().chain(self.old).find_map(failed) {
            Some(mut failure) => {
                failure["lastUpdateTime"] = failure["lastTransitionTime"].clone();
                fields::set_condition(&mut status, failure);
            }
            None => fields::remove_condition(&mut status, FAILURE),
        }
        let again = deadline(self.deployment).and_then(|deadline| self.stuck_at(&status, deadline));
        Decision::about_status(self.deployment, status, again)
    }

    /// Sets Progressing: complete, further than before, or late.
    fn estimate(&self, status: &mut Value, deadline: i64, now: i64) {
        let before = &self.deployment["status"];
        let current = fields::condition(before, PROGRESSING).cloned();
        let reason = current.as_ref().map_or("", |it| text(it, "/reason"));
        let count = |field: &str| int(status, field);
        if count("/replicas") == count("/updatedReplicas") && reason == COMPLETE {
            return;
        }
        let (kind, name) = match self.new {
            Some(new) => ("ReplicaSet", new.name()),
            None => ("Deployment", meta::text(self.deployment, "name")),
        };
        let updated = current
            .as_ref()
            .and_then(|it| time::seconds(text(it, "/lastUpdateTime")));
        if is_complete(self.deployment, status) {
            let message = format!("{kind} {name:?} has successfully progressed.");
            set(status, ["True", COMPLETE, &message], now);
        } else if has_progressed(before, status) {
            let message = format!("{kind} {name:?} is progressing.");
            let mut next = new(PROGRESSING, ["True", "ReplicaSetUpdated", &message], now);
            if let Some(current) = current.filter(|it| it["status"] == "True") {
                next["lastTransitionTime"] = current["lastTransitionTime"].clone();
            }
            // Even with the same reason: the deadline counts from the last progress.
            fields::remove_condition(status, PROGRESSING);
            fields::set_condition(status, next);
        } else if reason != COMPLETE && updated.is_some_and(|at| at + deadline < now) {
            let message = format!("{kind} {name:?} has timed out progressing.");
            set(status, ["False", TIMED_OUT, &message], now);
        }
    }

    /// When a rollout without further progress will be late.
    fn stuck_at(&self, status: &Value, deadline: i64) -> Option<i64> {
        let current = fields::condition(status, PROGRESSING)?;
        if is_complete(self.deployment, status) || [TIMED_OUT, COMPLETE].contains(&text(current, "/reason")) {
            return None;
        }
        Some(time::seconds(text(current, "/lastUpdateTime"))? + deadline + 1)
    }
}

/// Whether all replicas are updated and available, and no other replicas exist.
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = int(deployment, "/spec/replicas");
    let counts = ["/updatedReplicas", "/replicas", "/availableReplicas"];
    let is_observed = int(status, "/observedGeneration") >= int(deployment, "/metadata/generation");
    is_observed && counts.iter().all(|count| int(status, count) == wanted)
}

fn has_progressed(before: &Value, after: &Value) -> bool {
    let old = |status: &Value| int(status, "/replicas") - int(status, "/updatedReplicas");
    let more = |count: &str| int(after, count) > int(before, count);
    more("/updatedReplicas") || old(after) < old(before) || more("/readyReplicas") || more("/availableReplicas")
}
