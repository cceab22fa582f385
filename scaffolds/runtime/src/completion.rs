//! The outcome of a Job, from its status alone.

use k8s_openapi::api::batch::v1::{Job, JobCondition};

/// Whether a Job has ended, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// It has not ended: its Pods run, or wait, or a failed one will be replaced.
    Running,
    /// `spec.suspend` has taken effect: no Pod runs until it is resumed.
    Suspended,
    /// It has succeeded.
    Complete,
    /// It has failed, and no Pod will be created for it any more.
    Failed {
        /// One CamelCase word, such as `BackoffLimitExceeded`.
        reason: String,
        /// For people.
        message: String,
    },
}

impl Completion {
    /// Reads the Job's conditions. A Job ends with `Complete` or `Failed`, and never leaves them; `SuccessCriteriaMet` and
    /// `FailureTarget` come earlier, while its last Pods are being removed, and are [`Running`](Self::Running).
    pub fn of(job: &Job) -> Self {
        let conditions = job.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let is = |type_: &'static str| {
            let mut conditions = conditions.clone();
            conditions.find(move |condition: &&JobCondition| condition.type_ == type_ && condition.status == "True")
        };
        if let Some(failed) = is("Failed") {
            return Self::Failed {
                reason: failed.reason.clone().unwrap_or_default(),
                message: failed.message.clone().unwrap_or_default(),
            };
        }
        match (is("Complete"), is("Suspended")) {
            (Some(_), _) => Self::Complete,
            (None, Some(_)) => Self::Suspended,
            (None, None) => Self::Running,
        }
    }

    /// Whether the Job has ended.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Complete | Self::Failed { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(conditions: &[Value]) -> Completion {
        let job = json!({"metadata": {"name": "a"}, "status": {"conditions": conditions}});
        Completion::of(&serde_json::from_str(&job.to_string()).unwrap())
    }

    #[test]
    fn a_job_has_ended_once_it_is_complete_or_failed() {
        assert_eq!(Completion::of(&Job::default()), Completion::Running);
        let is = |type_: &str| json!({"type": type_, "status": "True"});
        assert_eq!(of(&[is("SuccessCriteriaMet")]), Completion::Running);
        assert_eq!(of(&[is("SuccessCriteriaMet"), is("Complete")]), Completion::Complete);
        assert_eq!(of(&[is("Suspended")]), Completion::Suspended);
        let resumed = json!({"type": "Suspended", "status": "False"});
        assert_eq!(of(std::slice::from_ref(&resumed)), Completion::Running);
        assert_eq!(of(&[resumed, is("Complete")]), Completion::Complete);
        let failed = json!({"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too slow"});
        let ended = of(&[is("FailureTarget"), failed]);
        assert!(ended.is_final());
        let (reason, message) = ("DeadlineExceeded".to_owned(), "too slow".to_owned());
        assert_eq!(ended, Completion::Failed { reason, message });
    }
}
