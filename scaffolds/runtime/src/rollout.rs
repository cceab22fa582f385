//! The progress of a Deployment's rollout, from its status alone.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus};

/// Whether all replicas of a Deployment match its current spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollout {
    /// The desired number of replicas is available, all of them from the newest template, and no older one is left.
    Complete,
    /// In progress; the text says what it waits for.
    Progressing(String),
    /// No progress for `progressDeadlineSeconds`, or its Pods cannot be created; the text says why. It may still
    /// complete.
    Failed(String),
}

impl Rollout {
    /// Applies the rules of `kubectl rollout status`, and of kstatus where those are stricter.
    ///
    /// # Guarantees
    ///
    /// The status of an earlier generation of the Deployment is ignored, so a change of the spec is
    /// [`Progressing`](Self::Progressing) from the moment it is written.
    pub fn of(deployment: &Deployment) -> Self {
        let status = deployment.status.clone().unwrap_or_default();
        if status.observed_generation < deployment.metadata.generation {
            return Self::Progressing("the change has not been observed yet".to_owned());
        }
        if let Some(why) = failure(&status) {
            return Self::Failed(why);
        }
        let spec = deployment.spec.as_ref();
        // The API server's default.
        let wanted = spec.and_then(|spec| spec.replicas).unwrap_or(1);
        let count = |count: Option<i32>| count.unwrap_or(0);
        let (all, updated) = (count(status.replicas), count(status.updated_replicas));
        let available = count(status.available_replicas);
        if updated < wanted {
            Self::Progressing(format!("{updated} of {wanted} replicas are up to date"))
        } else if all > updated {
            Self::Progressing(format!("{} earlier replicas are still there", all - updated))
        } else if available < wanted {
            Self::Progressing(format!("{available} of {wanted} replicas are available"))
        } else if updated > wanted {
            Self::Progressing(format!("{} replicas too many are still there", updated - wanted))
        } else {
            Self::Complete
        }
    }
}

/// The condition with the failure.
fn failure(status: &DeploymentStatus) -> Option<String> {
    let stuck = |condition: &&DeploymentCondition| match condition.type_.as_str() {
        "Progressing" => condition.reason.as_deref() == Some("ProgressDeadlineExceeded"),
        "ReplicaFailure" => condition.status == "True",
        _ => false,
    };
    let condition = status.conditions.iter().flatten().find(stuck)?;
    Some(condition.message.clone().unwrap_or_else(|| condition.type_.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The rollout of generation 3, with 2 desired replicas.
    fn of(status: serde_json::Value) -> Rollout {
        let deployment = json!({"metadata": {"generation": 3},
            "spec": {"replicas": 2, "selector": {}, "template": {}}, "status": status});
        Rollout::of(&serde_json::from_value(deployment).unwrap())
    }

    fn counts(generation: i64, all: i32, updated: i32, available: i32) -> Rollout {
        of(
            json!({"observedGeneration": generation, "replicas": all, "updatedReplicas": updated,
            "availableReplicas": available, "readyReplicas": available}),
        )
    }

    fn waits_for(rollout: Rollout, word: &str) {
        let Rollout::Progressing(what) = &rollout else {
            panic!("{rollout:?}")
        };
        assert!(what.contains(word), "{what}");
    }

    #[test]
    fn a_rollout_is_complete_only_if_all_replicas_are_available() {
        assert_eq!(counts(3, 2, 2, 2), Rollout::Complete);
        waits_for(counts(3, 2, 1, 2), "1 of 2 replicas are up to date");
        waits_for(counts(3, 3, 2, 2), "1 earlier");
        waits_for(counts(3, 2, 2, 1), "1 of 2 replicas are available");
        waits_for(counts(3, 3, 3, 3), "1 replicas too many");
    }

    #[test]
    fn the_status_of_an_earlier_generation_is_ignored() {
        waits_for(counts(2, 2, 2, 2), "not been observed");
        waits_for(of(json!({})), "not been observed");
    }

    #[test]
    fn a_stuck_deployment_has_a_reason() {
        let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "too slow"});
        let status = json!({"observedGeneration": 3, "conditions": [condition]});
        assert_eq!(of(status.clone()), Rollout::Failed("too slow".to_owned()));
        // Until the controller has observed a change, which may be the remedy.
        let mut earlier = status;
        earlier["observedGeneration"] = json!(2);
        waits_for(of(earlier), "not been observed");
        let quota = json!({"type": "ReplicaFailure", "status": "True", "message": "quota"});
        let status = json!({"observedGeneration": 3, "conditions": [quota]});
        assert_eq!(of(status), Rollout::Failed("quota".to_owned()));
    }

    #[test]
    fn zero_replicas_of_zero_are_complete() {
        let deployment = json!({"metadata": {"generation": 1}, "spec": {"replicas": 0, "selector": {}, "template": {}},
            "status": {"observedGeneration": 1}});
        let deployment = serde_json::from_value(deployment).unwrap();
        assert_eq!(Rollout::of(&deployment), Rollout::Complete);
    }
}
