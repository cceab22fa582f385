//! The request that an existing child needs: a pure function of its intent, the child, and the last write of this process.

use serde_json::Value;

use super::{
    name::{Creator, hash_of},
    record::Last,
    view::View,
};
use crate::intent::fields;

/// A request that brings a child to its intent.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Apply the intent.
    Apply,
    /// Patch the child: values alone have changed, of fields that this controller created.
    Change,
    /// Patch the child: these fields have left the intent, and an apply would not remove all of them.
    Remove(Value),
}

/// The desired state of a child.
pub(super) struct Desired<'a> {
    pub intent: &'a Value,
    /// The hash of the intent.
    pub hash: u64,
    pub creator: &'a Creator,
}

/// Compares a child with its intent; `None` if it needs no request. Values are compared regardless of their recorded field
/// manager: any client may write under this controller's field manager, with the intent's hash.
pub(super) fn diff(desired: &Desired<'_>, existing: &View, last: Option<&Last>) -> Option<Action> {
    if !existing.is_recorded() {
        // Without a record of the fields we own, fields that have left the intent cannot be detected: apply the intent,
        // and remember it.
        return Some(Action::Apply);
    }
    let dropped = dropped(desired, existing, last);
    if !fields::common(&dropped, existing.kept_by_apply().as_ref()).is_null() {
        return Some(Action::Remove(dropped));
    }
    let led_here = |last: &Last| last.intent == desired.hash && last.values == Some(existing.values(desired.intent));
    let is_met = || existing.meets(desired.intent) || last.is_some_and(led_here);
    if dropped.is_null() && is_met() {
        return None;
    }
    // Every change of values of an applied child is an apply: a patch would record the fields under `Update` too.
    let is_change = dropped.is_null() && !existing.is_applied() && existing.is_made_by(desired.creator);
    Some(if is_change { Action::Change } else { Action::Apply })
}

/// The fields that have left the intent, among those that we own. A create records fields that the server adds too; they
/// have not left it: those that were there after the last write are still the same, and those in an entry of this same
/// intent are not counted.
fn dropped(desired: &Desired<'_>, existing: &View, last: Option<&Last>) -> Value {
    let all = hash_of(&existing.surplus(desired.intent, None));
    if last.is_some_and(|last| last.surplus == all) {
        return Value::Null;
    }
    existing.surplus(desired.intent, Some(desired.creator))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::view::ManagerEntry, *};

    /// A child whose fields `a` and `b` are recorded in entries of these managers, applied or not.
    fn existing(entries: &[(&str, bool)]) -> View {
        let entry = |&(manager, applied): &(&str, bool)| ManagerEntry {
            manager: manager.to_owned(),
            applied,
            fields: json!({"f:data": {"f:a": {}, "f:b": {}}}),
        };
        let entries = entries.iter().map(entry).collect();
        View::new(json!({"data": {"a": "1", "b": "2"}}), entries)
    }

    #[test]
    fn a_child_needs_the_request_that_removes_what_left_its_intent() {
        let full = json!({"data": {"a": "1", "b": "2"}});
        let less = json!({"data": {"a": "1"}});
        let other = json!({"data": {"a": "3", "b": "2"}});
        let made = |intent: &Value| Creator::of("m", intent, hash_of(intent)).name().to_owned();
        let formerly = |intent: &Value| format!("m@{:016x}", hash_of(intent));
        let removal = Action::Remove(json!({"f:data": {"f:b": {}}}));
        for (intent, entries, expected) in [
            (&full, &[][..], Some(Action::Apply)),
            (&full, &[("m", true)], None),
            (&full, &[(&made(&less), false)], None),
            (&less, &[("m", true)], Some(Action::Apply)),
            (&less, &[(&made(&less), false)], None),
            (&less, &[(&formerly(&less), false)], None),
            (&less, &[(&made(&full), false)], Some(removal)),
            (&other, &[(&made(&full), false)], Some(Action::Change)),
            (&other, &[(&formerly(&other), false)], Some(Action::Change)),
            (&other, &[(&formerly(&full), false)], Some(Action::Apply)),
            (&other, &[(&made(&full), false), ("m", true)], Some(Action::Apply)),
        ] {
            let (existing, hash) = (existing(entries), hash_of(intent));
            let creator = &Creator::of("m", intent, hash);
            let desired = Desired { intent, hash, creator };
            assert_eq!(diff(&desired, &existing, None), expected, "{intent}");
            let mut last = Last {
                intent: hash,
                surplus: hash_of(&existing.surplus(intent, None)),
                values: Some(existing.values(intent)),
                ..Last::default()
            };
            let is_unrecorded = entries.is_empty();
            assert_eq!(
                diff(&desired, &existing, Some(&last)).is_some(),
                is_unrecorded,
                "{intent}"
            );
            // The last write was of another intent.
            last.intent += 1;
            let is_different = is_unrecorded || intent == &other;
            assert_eq!(
                diff(&desired, &existing, Some(&last)).is_some(),
                is_different,
                "{intent}"
            );
        }
    }
}
