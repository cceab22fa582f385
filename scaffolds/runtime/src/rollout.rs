//! The progress of a rollout, from the status of a Deployment, StatefulSet or DaemonSet alone.

use k8s_openapi::api::apps::v1::{
    DaemonSet, DaemonSetSpec, Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus, StatefulSet,
    StatefulSetSpec,
};
use kube::Resource;

/// Whether all replicas of a workload match its current spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rollout {
    /// The desired number of replicas is available, all of them from the newest template, and no older one is left.
    Complete,
    /// In progress; the text describes the missing replicas.
    Progressing(String),
    /// No progress for `progressDeadlineSeconds`, or its Pods cannot be created; the text is the reason. It may still
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
    pub fn of(workload: &impl RolledOut) -> Self {
        if workload.observed_generation() < workload.meta().generation {
            return Self::Progressing("the change has not been observed yet".to_owned());
        }
        workload.progress()
    }
}

/// A workload whose progress [`Rollout::of`] reads: Deployment, StatefulSet, DaemonSet.
pub trait RolledOut: Resource + sealed::Sealed {
    /// The generation of the spec that the status describes.
    #[doc(hidden)]
    fn observed_generation(&self) -> Option<i64>;
    /// The progress by a status of this generation.
    #[doc(hidden)]
    fn progress(&self) -> Rollout;
}

mod sealed {
    use super::{DaemonSet, Deployment, StatefulSet};

    pub trait Sealed {}
    impl Sealed for Deployment {}
    impl Sealed for StatefulSet {}
    impl Sealed for DaemonSet {}
}

impl RolledOut for Deployment {
    fn observed_generation(&self) -> Option<i64> {
        self.status.as_ref()?.observed_generation
    }

    fn progress(&self) -> Rollout {
        let status = self.status.clone().unwrap_or_default();
        if let Some(why) = failure(&status) {
            return Rollout::Failed(why);
        }
        let spec = optional::<DeploymentSpec>(self.spec.clone()).unwrap_or_default();
        // The API server's default.
        let wanted = spec.replicas.unwrap_or(1);
        let count = |count: Option<i32>| count.unwrap_or(0);
        let (all, updated) = (count(status.replicas), count(status.updated_replicas));
        let available = count(status.available_replicas);
        if updated < wanted {
            Rollout::Progressing(format!("{updated} of {wanted} replicas are up to date"))
        } else if all > updated {
            Rollout::Progressing(format!("{} earlier replicas are still there", all - updated))
        } else if available < wanted {
            Rollout::Progressing(format!("{available} of {wanted} replicas are available"))
        } else if updated > wanted {
            Rollout::Progressing(format!("{} replicas too many are still there", updated - wanted))
        } else {
            Rollout::Complete
        }
    }
}

/// With `updateStrategy: OnDelete` no rollout replaces a Pod: it is complete once all replicas are available. With a
/// partition, the replicas from that ordinal on have to be up to date.
impl RolledOut for StatefulSet {
    fn observed_generation(&self) -> Option<i64> {
        self.status.as_ref()?.observed_generation
    }

    fn progress(&self) -> Rollout {
        let (spec, status) = (
            optional::<StatefulSetSpec>(self.spec.clone()).unwrap_or_default(),
            self.status.clone().unwrap_or_default(),
        );
        let strategy = spec.update_strategy.unwrap_or_default();
        let partition = strategy.rolling_update.and_then(|rolling| rolling.partition);
        let count = |count: Option<i32>| count.unwrap_or(0);
        // The API server's default.
        let wanted = spec.replicas.unwrap_or(1);
        let to_update = if strategy.type_.as_deref() == Some("OnDelete") {
            0
        } else {
            (wanted - count(partition)).max(0)
        };
        let (updated, available) = (count(status.updated_replicas), count(status.available_replicas));
        if updated < to_update {
            Rollout::Progressing(format!("{updated} of {to_update} replicas are up to date"))
        } else if available < wanted {
            Rollout::Progressing(format!("{available} of {wanted} replicas are available"))
        } else if status.replicas > wanted {
            Rollout::Progressing(format!(
                "{} replicas too many are still there",
                status.replicas - wanted
            ))
        } else {
            Rollout::Complete
        }
    }
}

/// With `updateStrategy: OnDelete` no rollout replaces a Pod: it is complete once all Pods are available.
impl RolledOut for DaemonSet {
    fn observed_generation(&self) -> Option<i64> {
        self.status.as_ref()?.observed_generation
    }

    fn progress(&self) -> Rollout {
        let (spec, status) = (
            optional::<DaemonSetSpec>(self.spec.clone()).unwrap_or_default(),
            self.status.clone().unwrap_or_default(),
        );
        let on_delete = spec.update_strategy.and_then(|strategy| strategy.type_).as_deref() == Some("OnDelete");
        let wanted = status.desired_number_scheduled;
        let (updated, available) = (
            status.updated_number_scheduled.unwrap_or(0),
            status.number_available.unwrap_or(0),
        );
        if !on_delete && updated < wanted {
            Rollout::Progressing(format!("{updated} of {wanted} Pods are up to date"))
        } else if available < wanted {
            Rollout::Progressing(format!("{available} of {wanted} Pods are available"))
        } else {
            Rollout::Complete
        }
    }
}

/// The condition with the failure.
fn failure(status: &DeploymentStatus) -> Option<String> {
    let stuck = |condition: &&DeploymentCondition| match optional::<String>(condition.type_.clone()).as_deref() {
        Some("Progressing") => condition.reason.as_deref() == Some("ProgressDeadlineExceeded"),
        Some("ReplicaFailure") => optional::<String>(condition.status.clone()).as_deref() == Some("True"),
        _ => false,
    };
    let condition = status.conditions.iter().flatten().find(stuck)?;
    condition.message.clone().or_else(|| optional(condition.type_.clone()))
}

/// A field that is required in the types of some releases of Kubernetes, and optional in others.
fn optional<T>(field: impl Into<Option<T>>) -> Option<T> {
    field.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The rollout of generation 3, with 2 desired replicas.
    fn of(status: serde_json::Value) -> Rollout {
        let deployment = json!({"metadata": {"generation": 3},
            "spec": {"replicas": 2, "selector": {}, "template": {}}, "status": status});
        Rollout::of(&serde_json::from_str::<Deployment>(&deployment.to_string()).unwrap())
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
    fn a_stateful_set_is_complete_once_the_replicas_above_its_partition_are_up_to_date() {
        let of = |strategy: serde_json::Value, [all, updated, available]: [i32; 3]| {
            let set = json!({"metadata": {"generation": 2},
                "spec": {"replicas": 3, "selector": {}, "template": {}, "updateStrategy": strategy},
                "status": {"observedGeneration": 2, "replicas": all, "updatedReplicas": updated, "availableReplicas": available}});
            Rollout::of(&serde_json::from_str::<StatefulSet>(&set.to_string()).unwrap())
        };
        let rolling = json!({"type": "RollingUpdate"});
        waits_for(of(rolling.clone(), [3, 3, 2]), "2 of 3 replicas are available");
        waits_for(of(rolling.clone(), [3, 1, 3]), "1 of 3 replicas are up to date");
        waits_for(of(rolling.clone(), [4, 4, 4]), "1 replicas too many");
        assert_eq!(of(rolling, [3, 3, 3]), Rollout::Complete);
        let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
        assert_eq!(of(partition, [3, 1, 3]), Rollout::Complete);
        assert_eq!(of(json!({"type": "OnDelete"}), [3, 0, 3]), Rollout::Complete);
    }

    #[test]
    fn a_daemon_set_is_complete_once_each_node_has_an_available_pod_of_its_template() {
        let of = |updated: i32, available: i32| {
            let set = json!({"metadata": {"generation": 1}, "spec": {"selector": {}, "template": {}}, "status": {
                "observedGeneration": 1, "desiredNumberScheduled": 2, "currentNumberScheduled": 2, "numberMisscheduled": 0,
                "numberReady": available, "updatedNumberScheduled": updated, "numberAvailable": available}});
            Rollout::of(&serde_json::from_str::<DaemonSet>(&set.to_string()).unwrap())
        };
        waits_for(of(1, 2), "1 of 2 Pods are up to date");
        waits_for(of(2, 1), "1 of 2 Pods are available");
        assert_eq!(of(2, 2), Rollout::Complete);
    }

    #[test]
    fn zero_replicas_of_zero_are_complete() {
        let deployment = json!({"metadata": {"generation": 1}, "spec": {"replicas": 0, "selector": {}, "template": {}},
            "status": {"observedGeneration": 1}});
        let deployment: Deployment = serde_json::from_str(&deployment.to_string()).unwrap();
        assert_eq!(Rollout::of(&deployment), Rollout::Complete);
    }
}
