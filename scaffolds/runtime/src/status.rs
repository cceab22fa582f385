//! Conditions in the form of the Kubernetes API conventions: one entry per type, and a transition time that changes
//! only with the status.

use k8s_openapi::{
    apimachinery::pkg::apis::meta::v1::Condition, apimachinery::pkg::apis::meta::v1::Time, jiff::Timestamp,
};

/// The maximum length of the message of a condition, in characters (k8s.io/apimachinery, pkg/apis/meta/v1/types.go).
const MESSAGE: usize = 32_768;

/// The maximum length of the reason of a condition (ibid.).
const REASON: usize = 1024;

/// A condition of the given type: true, false, or unknown (`None`). `lastTransitionTime` is now; [`Conditions::set`] keeps the earlier time if the status
/// is unchanged. A condition without an `observed_generation` of its own does not refer to a generation.
///
/// `reason` is one CamelCase word; `message` is for people, and cut at 32,768 bytes, the most characters that the API server
/// accepts.
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
        message: cut(message, MESSAGE),
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

/// Whether `text` is a valid reason of a condition: `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$` (ibid.).
pub(crate) fn is_reason(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte);
    text.len() <= REASON
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with([',', ':'])
        && text.bytes().all(is_inner)
}

/// The longest prefix of `text` that fits into `max` bytes, with an ellipsis if it was cut.
pub(crate) fn cut(text: impl Into<String>, max: usize) -> String {
    let mut text = text.into();
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max - '…'.len_utf8()));
        text.push('…');
    }
    text
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
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("short", 1024), "short");
        let cut = cut("ä".repeat(1000), 1024);
        assert!(
            cut.len() <= 1024 && cut.len() > 1020 && cut.ends_with("ä…"),
            "{}",
            cut.len()
        );
        assert_eq!(
            condition("Ready", false, "Failed", "x".repeat(40_000)).message.len(),
            MESSAGE
        );
    }

    #[test]
    fn reasons_are_those_that_the_api_server_accepts() {
        for reason in ["A", "PlanFailed", "a_1:b,c_", &"a".repeat(REASON)] {
            assert!(is_reason(reason), "{reason}");
        }
        for reason in ["", "1a", "_a", "plan failed", "a:", "a,", "ä", &"a".repeat(REASON + 1)] {
            assert!(!is_reason(reason), "{reason}");
        }
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
