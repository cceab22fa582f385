//! Compares normalised rules with controller-gen's.

use kubewright_schema::rbac::{PolicyRule, normalise};
use recordings::Exchange;
use serde_json::json;

/// Rules, and controller-gen's rules for them.
pub type Recorded = Exchange<Vec<PolicyRule>, Vec<PolicyRule>>;

/// The result of comparing controller-gen's rules with ours.
pub enum Verdict {
    Same,
    /// Of two rules that differ only in their verbs after joining, controller-gen has kept one, chosen at random.
    Cut,
    Different(String),
}

pub fn compare(recorded: &Recorded) -> Verdict {
    let (rules, theirs) = (&recorded.asked, &recorded.answered);
    let ours = normalise(rules.clone());
    if ours == *theirs {
        return Verdict::Same;
    }
    let alike = |one: &PolicyRule, other: &PolicyRule| {
        let verbs = other.verbs.clone();
        PolicyRule { verbs, ..one.clone() } == *other
    };
    let (kept, cut): (Vec<_>, Vec<_>) = ours.iter().partition(|rule| theirs.contains(rule));
    let is_cut = cut.iter().all(|rule| theirs.iter().any(|their| alike(rule, their)));
    if is_cut && kept.into_iter().eq(theirs) {
        return Verdict::Cut;
    }
    Verdict::Different(format!("{}\n  theirs {theirs:?}\n  ours   {ours:?}\n", json!(rules)))
}
