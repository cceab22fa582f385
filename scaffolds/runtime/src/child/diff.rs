//! The request that an existing child needs: a pure function of its intent, the child, and the last write of this process.

use serde_json::Value;

use super::{
    name::{creator, hash_of},
    record::Last,
    view::View,
};
use crate::intent::fields;

/// A request that brings a child to its intent.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Apply the intent.
    Apply,
    /// Patch the child: these fields have left the intent, and an apply would not remove all of them.
    Remove(Value),
}

/// The desired state of a child.
pub(super) struct Desired<'a> {
    pub intent: &'a Value,
    /// The hash of the intent.
    pub hash: u64,
    pub manager: &'a str,
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
    (!dropped.is_null() || !is_met()).then_some(Action::Apply)
}

/// The fields that have left the intent, among those that we own. A create records fields that the server adds too; they
/// have not left it: those that were there after the last write are still the same, and those in an entry of this same
/// intent are not counted.
fn dropped(desired: &Desired<'_>, existing: &View, last: Option<&Last>) -> Value {
    let all = hash_of(&existing.surplus(desired.intent, None));
    if last.is_some_and(|last| last.surplus == all) {
        return Value::Null;
    }
    existing.surplus(desired.intent, Some(&creator(desired.manager, desired.hash)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::view::ManagerEntry, *};

    fn existing(entries: &[(&str, bool, Value)]) -> View {
        let entries = entries.iter().map(|(manager, applied, fields)| ManagerEntry {
            manager: (*manager).to_owned(),
            applied: *applied,
            fields: fields.clone(),
        });
        View::new(json!({"data": {"a": "1", "b": "2"}}), entries.collect())
    }

    #[test]
    fn a_child_needs_the_request_that_removes_what_left_its_intent() {
        let fields = |names: &[&str]| {
            let names = names.iter().map(|name| (format!("f:{name}"), json!({})));
            json!({"f:data": names.collect::<serde_json::Map<_, _>>()})
        };
        let both = || fields(&["a", "b"]);
        let made = |intent: &Value| creator("m", hash_of(intent));
        let (full, less, other) = (
            json!({"data": {"a": "1", "b": "2"}}),
            json!({"data": {"a": "1"}}),
            json!({"data": {"a": "3", "b": "2"}}),
        );
        let removal = Action::Remove(fields(&["b"]));
        for (intent, existing, expected) in [
            (&full, existing(&[]), Some(Action::Apply)),
            (&full, existing(&[("m", true, both())]), None),
            (&full, existing(&[(&made(&less), false, both())]), None),
            (&less, existing(&[("m", true, both())]), Some(Action::Apply)),
            (&less, existing(&[(&made(&less), false, both())]), None),
            (&less, existing(&[(&made(&full), false, both())]), Some(removal)),
            (&other, existing(&[(&made(&other), false, both())]), Some(Action::Apply)),
        ] {
            let (hash, manager) = (hash_of(intent), "m");
            let desired = Desired { intent, hash, manager };
            assert_eq!(diff(&desired, &existing, None), expected, "{intent}");
            let mut last = Last {
                intent: hash,
                surplus: hash_of(&existing.surplus(intent, None)),
                values: Some(existing.values(intent)),
                ..Last::default()
            };
            let is_recorded = existing.is_recorded();
            assert_eq!(
                diff(&desired, &existing, Some(&last)).is_some(),
                !is_recorded,
                "{intent}"
            );
            last.intent += 1;
            let remembered = diff(&desired, &existing, Some(&last));
            assert_eq!(remembered.is_some(), !is_recorded || intent == &other, "{intent}");
        }
    }
}
