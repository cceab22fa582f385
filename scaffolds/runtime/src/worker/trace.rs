//! Reports a failure in the status: changes one entry of the conditions, and nothing else.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, atomic::Ordering},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::PartialObjectMeta;
use serde_json::{Value, json};

use super::Worker;
use crate::{
    api::Requests,
    context::Context,
    error::{Class, Error, Result},
    events::EventType,
    isolate::lock,
    key::ObjectKey,
    object::AnyObject,
};

/// This process' records of the conditions of objects, and of their last failures.
pub(crate) struct Traces {
    /// Whether the condition is `True` if something is wrong.
    abnormal: bool,
    objects: Mutex<HashMap<ObjectKey, Trace>>,
}

#[derive(Default)]
struct Trace {
    author: Author,
    /// The last runs, in a row, that failed because another client wrote first.
    conflicts: u32,
    /// The last run succeeded, but its write that sets the condition back failed.
    is_stuck: bool,
}

/// The author of the condition.
#[derive(Clone, Default)]
enum Author {
    /// An earlier process may have written it, as this controller or as its reconciler.
    #[default]
    Unknown,
    /// The runtime, because of this failure.
    Runtime(Box<WrittenFailure>),
    /// The reconciler or another client, or the runtime because of a success.
    Other,
}

#[derive(Clone)]
struct WrittenFailure {
    reason: String,
    message: String,
    /// The top-level `observedGeneration`, if the runtime wrote it with this failure or one before.
    generation: Option<i64>,
}

/// The parts of a status that the runtime wrote because of a failure.
struct OwnParts {
    condition: bool,
    /// A top-level `observedGeneration`, which is older than this run's.
    generation: bool,
}

impl Traces {
    pub(crate) fn new(abnormal: bool) -> Self {
        Self {
            abnormal,
            objects: Mutex::default(),
        }
    }

    /// Removes an object's entry.
    pub(super) fn forget(&self, key: &ObjectKey) {
        lock(&self.objects).remove(key);
    }

    /// Counts a conflict, and returns how many there were in a row; any other result ends the row.
    pub(super) fn conflicts(&self, key: &ObjectKey, conflict: bool) -> u32 {
        let mut objects = lock(&self.objects);
        if conflict {
            let trace = objects.entry(key.clone()).or_default();
            trace.conflicts += 1;
            return trace.conflicts;
        }
        if let Some(trace) = objects.get_mut(key) {
            trace.conflicts = 0;
        }
        0
    }

    /// Records whether a run that succeeded could not set the condition back, and returns whether this was so after the run
    /// before.
    pub(super) fn stuck(&self, key: &ObjectKey, is_stuck: bool) -> bool {
        let mut objects = lock(&self.objects);
        if is_stuck {
            return mem::replace(&mut objects.entry(key.clone()).or_default().is_stuck, true);
        }
        objects.get_mut(key).is_some_and(|trace| mem::take(&mut trace.is_stuck))
    }

    fn author(&self, key: &ObjectKey) -> Author {
        lock(&self.objects)
            .get(key)
            .map(|trace| trace.author.clone())
            .unwrap_or_default()
    }

    fn set_author(&self, key: &ObjectKey, author: Author) {
        lock(&self.objects).entry(key.clone()).or_default().author = author;
    }

    /// Whether an entry says that something is wrong.
    fn is_wrong(&self, entry: &Value) -> bool {
        entry["status"] == if self.abnormal { "True" } else { "False" }
    }
}

impl<K: AnyObject> Worker<K> {
    /// Writes the error's reason and message into this controller's condition, and records an event. If the kind has
    /// no such status, it only records the event: the API server would drop unknown fields. The status of a foreign
    /// kind is not changed, nor a condition with which the reconciler itself has reported a failure in this run.
    ///
    /// After a terminal error no run follows until something changes, so the generation counts as observed: the kind's main
    /// controller also writes it into a top-level `observedGeneration` that exists.
    ///
    /// # Errors
    ///
    /// If the request fails.
    pub(super) async fn leave_trace(&self, cx: &Context<K>, error: &Error) -> Result<()> {
        cx.event(EventType::Warning, error.reason(), error.to_string());
        if self.shared.foreign {
            return Ok(());
        }
        let condition = cx.condition(
            &self.condition(),
            self.traces.abnormal,
            error.reason(),
            error.to_string(),
        );
        let before = status(&*cx.latest());
        let existing = entry(&before, &condition.type_);
        if self.reports(cx, existing, error) && !self.own_parts(cx, &before).await?.condition {
            self.traces.set_author(&cx.key, Author::Other);
            return Ok(());
        }
        // A reconciler that never writes the generation has a status without it.
        let is_observed = error.class() == Class::Terminal
            && self.conditions.is_main(&self.name)
            && before["observedGeneration"].is_i64();
        let generation = cx.object.meta().generation.filter(|_| is_observed);
        let earlier = match self.traces.author(&cx.key) {
            Author::Runtime(earlier) => earlier.generation,
            Author::Unknown | Author::Other => None,
        };
        let written = WrittenFailure {
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            generation: generation.or(earlier),
        };
        self.write(cx, Some(condition), generation).await?;
        self.traces.set_author(&cx.key, Author::Runtime(Box::new(written)));
        Ok(())
    }

    /// Whether the reconciler may have reported this failure in the condition: it has looked at the status in this run, and
    /// the condition says that something is wrong. A terminal error brings its own reason and message for the condition.
    fn reports(&self, cx: &Context<K>, existing: &Value, error: &Error) -> bool {
        let same = match error {
            Error::Terminal { reason, message } => existing["reason"] == **reason || existing["message"] == **message,
            _ => true,
        };
        same && cx.patched.load(Ordering::Relaxed) && self.traces.is_wrong(existing)
    }

    /// After a success: if the condition is still one that [`leave_trace`](Self::leave_trace) wrote, in this process or an
    /// earlier one, the reconciler does not write this condition, so it is set back here; and so is the generation.
    ///
    /// # Errors
    ///
    /// If a request fails.
    pub(super) async fn clear_trace(&self, cx: &Context<K>) -> Result<()> {
        let known = self.traces.author(&cx.key);
        let deleted = cx.object.meta().deletion_timestamp.is_some();
        if self.shared.foreign || deleted || matches!(known, Author::Other) {
            return Ok(());
        }
        let own = self.own_parts(cx, &status(&*cx.latest())).await?;
        let condition = || cx.condition(&self.condition(), !self.traces.abnormal, "Reconciled", "");
        let generation = cx.object.meta().generation.filter(|_| own.generation);
        self.write(cx, own.condition.then(condition), generation).await?;
        self.traces.set_author(&cx.key, Author::Other);
        Ok(())
    }

    fn condition(&self) -> String {
        self.conditions.of(&self.name)
    }

    /// The parts of this status that the runtime wrote because of a failure. An earlier process is recognised by the field
    /// manager of reason and message, or of the generation.
    async fn own_parts(&self, cx: &Context<K>, status_now: &Value) -> Result<OwnParts> {
        let existing = entry(status_now, &self.condition());
        let observed = status_now["observedGeneration"].as_i64();
        let mut own = OwnParts {
            condition: self.traces.is_wrong(existing),
            generation: observed.is_some_and(|observed| Some(observed) < cx.object.meta().generation),
        };
        match self.traces.author(&cx.key) {
            Author::Runtime(written) => {
                own.condition &= existing["reason"] == written.reason && existing["message"] == written.message;
                own.generation &= observed == written.generation;
            }
            Author::Other => own = OwnParts::NONE,
            Author::Unknown => {
                let before = status(&*cx.object);
                own.condition &= entry(&before, &self.condition()) == existing;
                own.generation &= before["observedGeneration"].as_i64() == observed;
                let manager = manager(cx);
                if manager == cx.shared.manager || !(own.condition || own.generation) {
                    return Ok(OwnParts::NONE);
                }
                let requests = Requests::beside(&cx.shared.client, cx.shared.kind(), &cx.key);
                let live = Box::pin(requests.get_metadata(cx.key.name())).await?;
                let written = live.map_or(OwnParts::NONE, |live| OwnParts::of(&live, &manager, &self.condition()));
                own.condition &= written.condition;
                own.generation &= written.generation;
            }
        }
        Ok(own)
    }

    /// Writes this one condition, and the generation if the kind's status has one. A kind without a status, and an object
    /// that is gone, have none.
    async fn write(&self, cx: &Context<K>, condition: Option<Condition>, generation: Option<i64>) -> Result<()> {
        if condition.is_none() && generation.is_none() {
            return Ok(());
        }
        let latest = cx.latest();
        let before = status(&*latest);
        let mut after = if before.is_object() { before.clone() } else { json!({}) };
        if let Some(condition) = condition {
            set(&mut after, condition);
        }
        if let Some(generation) = generation {
            observe(&*latest, &mut after, generation);
        }
        match cx.send_status(&latest, [&before, &after], &manager(cx)).await {
            Err(error) if !matches!(error.code(), Some(404 | 405)) => Err(error),
            _ => Ok(()),
        }
    }
}

impl OwnParts {
    const NONE: Self = Self {
        condition: false,
        generation: false,
    };

    /// The parts that this field manager wrote: reason and message of the condition, or all conditions if the schema has
    /// them as one value; and the generation.
    fn of<K>(live: &PartialObjectMeta<K>, manager: &str, type_: &str) -> Self {
        let ours = live.metadata.managed_fields.iter().flatten();
        let ours = ours.filter(|entry| entry.manager.as_deref() == Some(manager));
        let item = format!("k:{}", json!({"type": type_}));
        let mut own = Self::NONE;
        for entry in ours {
            let fields = entry.fields_v1.as_ref().map_or(&Value::Null, |fields| &fields.0);
            let fields = &fields["f:status"];
            let (conditions, item) = (&fields["f:conditions"], &fields["f:conditions"][&item]);
            own.condition |=
                *conditions == json!({}) || (item["f:reason"].is_object() && item["f:message"].is_object());
            own.generation |= fields["f:observedGeneration"].is_object();
        }
        own
    }
}

/// The field manager of the conditions that the runtime writes: a name of its own, so that a later process tells them from
/// those that the reconciler writes. Kubernetes accepts at most 128 bytes: with a longer name none is recognised.
fn manager<K: AnyObject>(cx: &Context<K>) -> String {
    let name = format!("{}/failures", cx.shared.manager);
    if name.len() > 128 {
        cx.shared.manager.clone()
    } else {
        name
    }
}

fn status<K: AnyObject>(object: &K) -> Value {
    serde_json::to_value(object)
        .map(|mut object| object["status"].take())
        .unwrap_or_default()
}

fn entry<'a>(status: &'a Value, type_: &str) -> &'a Value {
    let mut entries = status["conditions"].as_array().into_iter().flatten();
    entries.find(|entry| entry["type"] == type_).unwrap_or(&Value::Null)
}

/// Sets the top-level `observedGeneration`, unless the kind's Rust type has no such field: the API server would drop it.
fn observe<K: AnyObject>(object: &K, status: &mut Value, generation: i64) {
    let mut observed = status.clone();
    observed["observedGeneration"] = json!(generation);
    let mut object = serde_json::to_value(object).unwrap_or_default();
    object["status"] = observed.clone();
    let typed = serde_json::from_str::<K>(&object.to_string()).and_then(serde_json::to_value);
    if typed.is_ok_and(|typed| typed["status"]["observedGeneration"] == generation) {
        *status = observed;
    }
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
