//! How far the rollout of a Deployment is, judged by its status alone.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus};

/// Whether all of a Deployment's replicas run what it asks for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollout {
    /// As many replicas as asked for are available, all of them made from the newest template, and no older one is left.
    Complete,
    /// On its way; the text says what is waited for.
    Progressing(String),
    /// It has not moved for `progressDeadlineSeconds`, or its Pods cannot be made; the text says why. It may still come.
    Failed(String),
}

impl Rollout {
    /// Judges by the rules of `kubectl rollout status`, and of kstatus where that is stricter.
    ///
    /// # Guarantees
    ///
    /// A status of an earlier generation than that of the Deployment is ignored, so a change of
    /// the spec is [`Progressing`](Self::Progressing) from the moment it is written.
    pub fn of(deployment: &Deployment) -> Self {
        let status = deployment.status.clone().unwrap_or_default();
        if status.observed_generation < deployment.metadata.generation {
            return Self::Progressing("the change has not been taken up yet".to_owned());
        }
        if let Some(why) = failure(&status) {
            return Self::Failed(why);
        }
        let spec = deployment.spec.as_ref();
        // The API server's default for what is not said.
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

/// The condition that says that it is stuck.
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

    /// Of generation 3, with 2 replicas asked for.
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
    fn complete_is_only_what_is_available_in_full() {
        assert_eq!(counts(3, 2, 2, 2), Rollout::Complete);
        waits_for(counts(3, 2, 1, 2), "1 of 2 replicas are up to date");
        waits_for(counts(3, 3, 2, 2), "1 earlier");
        waits_for(counts(3, 2, 2, 1), "1 of 2 replicas are available");
        waits_for(counts(3, 3, 3, 3), "1 replicas too many");
    }

    #[test]
    fn what_a_status_says_of_an_earlier_generation_does_not_count() {
        waits_for(counts(2, 2, 2, 2), "not been taken up");
        waits_for(of(json!({})), "not been taken up");
    }

    #[test]
    fn a_deployment_that_is_stuck_says_why() {
        let condition = json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "too slow"});
        let status = json!({"observedGeneration": 3, "conditions": [condition]});
        assert_eq!(of(status.clone()), Rollout::Failed("too slow".to_owned()));
        // Until it has taken up a change: that may be the remedy.
        let mut earlier = status;
        earlier["observedGeneration"] = json!(2);
        waits_for(of(earlier), "not been taken up");
        let quota = json!({"type": "ReplicaFailure", "status": "True", "message": "quota"});
        let status = json!({"observedGeneration": 3, "conditions": [quota]});
        assert_eq!(of(status), Rollout::Failed("quota".to_owned()));
    }

    #[test]
    fn none_asked_for_and_none_there_is_complete() {
        let deployment = json!({"metadata": {"generation": 1}, "spec": {"replicas": 0, "selector": {}, "template": {}},
            "status": {"observedGeneration": 1}});
        let deployment = serde_json::from_value(deployment).unwrap();
        assert_eq!(Rollout::of(&deployment), Rollout::Complete);
    }
}
