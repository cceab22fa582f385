//! Labels that mark objects which a version shows incompletely, so that they are not written back. A read never fails: it would
//! fail the list of all objects.

use std::collections::BTreeMap;

use kubewright_runtime::component::NOT_CONVERTIBLE;
use serde_json::{Map, Value, json};

/// The value of a mark: the object has fields that only the version of the mark has, and there is no room for them.
const TOO_LARGE: &str = "too-large";

/// The marks of an object: labels with the names of the annotations that are missing. There is always room for labels. Each
/// value is a reason and, after a dot, the fingerprint of the object as it was shown.
#[derive(Default)]
pub(super) struct Marks {
    /// Reasons by names.
    reasons: BTreeMap<String, String>,
    fingerprint: String,
}

impl Marks {
    /// Removes the labels of these names.
    pub(super) fn take(object: &mut Value, names: Vec<String>) -> Self {
        let mut marks = Self::default();
        if let Some(Value::Object(labels)) = object.pointer_mut("/metadata/labels") {
            for name in names {
                if let Some(Value::String(mark)) = labels.remove(&name) {
                    let (reason, fingerprint) = mark.split_once('.').unwrap_or((&mark, ""));
                    fingerprint.clone_into(&mut marks.fingerprint);
                    marks.reasons.insert(name, reason.to_owned());
                }
            }
        }
        marks
    }

    /// The mark of an object that could not be converted.
    pub(super) fn of_a_shell(name: String) -> Self {
        Self {
            reasons: BTreeMap::from([(name, NOT_CONVERTIBLE.to_owned())]),
            fingerprint: String::new(),
        }
    }

    pub(super) fn add_too_large(&mut self, name: String) {
        self.reasons.insert(name, TOO_LARGE.to_owned());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Whether one marks an object that could not be converted, and so has nothing but its metadata. Every writer of the
    /// object can write marks.
    pub(super) fn are_of_a_shell(&self) -> bool {
        self.reasons.values().any(|reason| reason == NOT_CONVERTIBLE)
    }

    /// Whether an object with these marks and this fingerprint may be converted to the version that is stored: unchanged, as API
    /// servers convert each object that they are about to delete or replace; or while it is being deleted, so that its finalizers
    /// can be removed.
    ///
    /// # Errors
    ///
    /// The reason to refuse the write.
    pub(super) fn permit_write(&self, object: &Value, fingerprint: &str) -> Result<(), String> {
        let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
        if self.is_empty() || self.fingerprint == fingerprint || is_deleted {
            return Ok(());
        }
        Err(self.refusal())
    }

    /// The reason that an object with these marks is not written.
    pub(super) fn refusal(&self) -> String {
        let Some((name, reason)) = self.reasons.first_key_value() else {
            return String::new();
        };
        let version = name.rsplit_once('/').map_or(name.as_str(), |(_, rest)| rest);
        let version = version.trim_end_matches("-only");
        format!(
            "the label `{name}: {reason}` says that this version does not show all of the object: write it in {version}"
        )
    }

    /// Adds the labels.
    pub(super) fn put(self, object: &mut Value, fingerprint: &str) {
        let labels = &mut object["metadata"]["labels"];
        if !labels.is_object() {
            *labels = Value::Object(Map::new());
        }
        for (name, reason) in self.reasons {
            labels[name] = json!(format!("{reason}.{fingerprint}"));
        }
    }
}
