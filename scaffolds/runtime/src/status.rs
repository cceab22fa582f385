//! Conditions in the form of the Kubernetes API conventions: one entry per type, and a transition time that changes
//! only with the status.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::Condition, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp,
};

/// A condition of the given type: true, false, or unknown (`None`). `lastTransitionTime` is now; [`Conditions::set`] keeps the earlier time if the status
/// is unchanged. A condition without an `observed_generation` of its own does not refer to a generation.
///
/// `reason` is one CamelCase word; `message` is for people.
pub fn condition(type_: &str, verdict: impl Into<Option<bool>>, reason: &str, message: impl Into<String>) -> Condition {
    let verdict = match verdict.into() {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    Condition {
        type_: type_.to_owned(),
        status: verdict.to_owned(),
        reason: reason.to_owned(),
        message: message.into(),
        observed_generation: None,
        last_transition_time: Time(in_seconds(Timestamp::now())),
    }
}

/// A list of conditions with one entry per type.
pub trait Conditions {
    /// Replaces the condition of the same type, or appends `condition`. The earlier `lastTransitionTime` is kept unless
    /// the status (`True`, `False`, `Unknown`) differs, so an unchanged condition stays byte for byte equal and is not
    /// written again.
    fn set(&mut self, condition: Condition);

    /// The condition of this type.
    fn find(&self, type_: &str) -> Option<&Condition>;

    /// Whether the condition of this type exists and is `True`.
    fn is_true(&self, type_: &str) -> bool {
        self.find(type_).is_some_and(|condition| condition.status == "True")
    }
}

impl Conditions for Vec<Condition> {
    fn set(&mut self, mut condition: Condition) {
        match self.iter_mut().find(|known| known.type_ == condition.type_) {
            Some(known) => {
                if known.status == condition.status {
                    condition.last_transition_time = known.last_transition_time.clone();
                }
                *known = condition;
            }
            None => self.push(condition),
        }
    }

    fn find(&self, type_: &str) -> Option<&Condition> {
        self.iter().find(|condition| condition.type_ == type_)
    }
}

/// Kubernetes stores times in whole seconds; a more precise time would never equal the stored one.
pub(crate) fn in_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_time_changes_only_with_the_status() {
        let long_ago = Time(Timestamp::UNIX_EPOCH);
        let mut conditions = vec![Condition {
            last_transition_time: long_ago.clone(),
            ..condition("Ready", true, "Old", "")
        }];

        conditions.set(condition("Ready", true, "New", "another reason"));
        assert_eq!(conditions[0].last_transition_time, long_ago);
        assert_eq!(conditions[0].reason, "New");

        conditions.set(condition("Ready", false, "Broken", ""));
        assert_ne!(conditions[0].last_transition_time, long_ago);
        assert_eq!(conditions.len(), 1);
    }

    #[test]
    fn each_type_has_one_entry_and_the_order_stays() {
        let mut conditions = Vec::new();
        for type_ in ["Ready", "Progressing", "Ready"] {
            conditions.set(condition(type_, true, "Ok", ""));
        }
        let types: Vec<_> = conditions.iter().map(|condition| condition.type_.as_str()).collect();
        assert_eq!(types, ["Ready", "Progressing"]);
        assert!(conditions.is_true("Ready") && !conditions.is_true("Degraded"));
    }
}
