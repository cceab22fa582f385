//! Reports a failure in the status: changes one entry of the conditions, and nothing else.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};
use tracing::debug;

use super::Worker;
use crate::{
    context::Context, error::Error, events::EventType, key::ObjectKey, object::AnyObject, reconciler::Reconciler,
};

/// Reason and message of the failures that this process wrote into a status, until the object's next success.
#[derive(Default)]
pub(crate) struct Traces(Mutex<HashMap<ObjectKey, [String; 2]>>);

impl Traces {
    /// Removes an object's entry, and returns it.
    pub(super) fn take(&self, key: &ObjectKey) -> Option<[String; 2]> {
        self.entries().remove(key)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<ObjectKey, [String; 2]>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: AnyObject, R: Reconciler<K>> Worker<K, R> {
    /// Writes `False` with the error's reason into this controller's condition, and records an event. If the kind has
    /// no such status, it only records the event: the API server would drop unknown fields. The status of a foreign
    /// kind is not changed.
    pub(super) async fn leave_trace(&self, cx: &Context<K>, error: &Error) {
        cx.event(EventType::Warning, error.reason(), error.to_string());
        if self.shared.foreign {
            return;
        }
        let condition = cx.condition(&self.condition(), false, error.reason(), error.to_string());
        let written = [condition.reason.clone(), condition.message.clone()];
        self.traces.entries().insert(cx.key.clone(), written);
        self.write_condition(cx, condition, |_| true).await;
    }

    /// After a success: if the condition is still the one that [`leave_trace`](Self::leave_trace) wrote, the reconciler
    /// does not write this condition, so it is set to `True` here.
    pub(super) async fn clear_trace(&self, cx: &Context<K>) {
        let Some([reason, message]) = self.traces.take(&cx.key) else {
            return;
        };
        if cx.object.meta().deletion_timestamp.is_some() {
            return;
        }
        let condition = cx.condition(&self.condition(), true, "Reconciled", "");
        self.write_condition(cx, condition, |known| {
            known["status"] == "False" && known["reason"] == *reason && known["message"] == *message
        })
        .await;
    }

    fn condition(&self) -> String {
        self.conditions.of(&self.name)
    }

    /// Writes this one condition if the existing entry of its type (`null` if there is none) passes `if_`.
    async fn write_condition(&self, cx: &Context<K>, condition: Condition, if_: impl FnOnce(&Value) -> bool) {
        let latest = cx.latest();
        let before = serde_json::to_value(&*latest)
            .map(|mut object| object["status"].take())
            .unwrap_or_default();
        let mut after = if before.is_object() { before.clone() } else { json!({}) };
        if !if_(entry(&after, &condition.type_)) {
            return;
        }
        set(&mut after, condition);
        if let Err(error) = cx.send_status(&latest, &before, after).await {
            debug!("the condition could not be written into the status: {error}");
        }
    }
}

fn entry<'a>(status: &'a Value, type_: &str) -> &'a Value {
    let mut entries = status["conditions"].as_array().into_iter().flatten();
    entries.find(|entry| entry["type"] == type_).unwrap_or(&Value::Null)
}

/// Replaces the entry of the same type, or appends `condition`. Other entries, and fields that Kubernetes' own
/// conditions do not have, stay as they are; `lastTransitionTime` changes only with the status.
fn set(status: &mut Value, condition: Condition) {
    let mut new = json!(condition);
    let conditions = &mut status["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(entries) = conditions.as_array_mut() else {
        return;
    };
    match entries.iter_mut().find(|entry| entry["type"] == condition.type_) {
        Some(known) => {
            if known["status"] == new["status"] && known["lastTransitionTime"].is_string() {
                new["lastTransitionTime"] = known["lastTransitionTime"].take();
            }
            if let (Some(known), Value::Object(new)) = (known.as_object_mut(), new) {
                known.extend(new);
            }
        }
        None => entries.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::condition;

    #[test]
    fn one_condition_changes_and_the_others_stay() {
        let theirs = json!({"type": "Synced", "status": "True", "lastUpdateTime": "2026-01-01T00:00:00Z"});
        let ours = json!({"type": "Ready", "status": "False", "severity": "high", "lastTransitionTime": "2020-01-01T00:00:00Z"});
        let mut status = json!({"phase": "Bound", "conditions": ["a text", theirs, ours]});
        set(&mut status, condition("Ready", false, "Rejected", "no"));

        assert_eq!(status["phase"], "Bound");
        assert_eq!(status["conditions"][0], "a text");
        assert_eq!(status["conditions"][1], theirs);
        let ready = &status["conditions"][2];
        assert_eq!(
            [&ready["severity"], &ready["reason"], &ready["lastTransitionTime"]],
            ["high", "Rejected", "2020-01-01T00:00:00Z"]
        );
        set(&mut status, condition("Ready", true, "Reconciled", ""));
        assert_ne!(status["conditions"][2]["lastTransitionTime"], "2020-01-01T00:00:00Z");
        assert_eq!(status["conditions"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn a_status_without_conditions_gets_one() {
        for mut status in [json!({}), json!({"conditions": null})] {
            set(&mut status, condition("Ready", false, "Rejected", "no"));
            assert_eq!(status["conditions"][0]["type"], "Ready");
        }
    }
}
