//! Labels that mark objects which a version shows incompletely, so that they are not written back. A read never fails: it would
//! fail the list of all objects.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::informer::decode::NOT_CONVERTIBLE;

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

    pub(super) fn add_too_large(&mut self, name: String) {
        self.reasons.insert(name, TOO_LARGE.to_owned());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// Whether the object has nothing but its metadata.
    pub(super) fn are_of_a_shell(&self) -> bool {
        self.reasons.values().any(|reason| reason == NOT_CONVERTIBLE)
    }

    /// Whether an object with these marks and this fingerprint may be converted to the version that is stored: unchanged, as API
    /// servers convert each object that they are about to delete or replace; or so that finalizers of an object with a spec can
    /// be removed.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(super) fn permit_write(&self, object: &Value, fingerprint: &str) -> Result<(), String> {
        let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
        if self.fingerprint == fingerprint || (is_deleted && !self.are_of_a_shell()) {
            return Ok(());
        }
        match self.reasons.first_key_value() {
            None => Ok(()),
            Some((name, reason)) => {
                let version = name.rsplit_once('/').map_or(name.as_str(), |(_, rest)| rest);
                let version = version.trim_end_matches("-only");
                Err(format!(
                    "the label `{name}: {reason}` says that this version does not show all of the object: write it in {version}"
                ))
            }
        }
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

/// An object that cannot be converted: its type and metadata, which are read however deep the rest is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shell<'a> {
    pub(super) api_version: String,
    kind: String,
    #[serde(borrow)]
    metadata: BTreeMap<String, &'a RawValue>,
}

impl<'a> Shell<'a> {
    pub(super) fn of(object: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(object)
    }

    /// The object as another version shows it, with nothing but its metadata, and its mark.
    pub(super) fn shown_in(mut self, api_version: &str) -> (Value, Marks) {
        // They are as deep as the object. API servers restore all metadata but labels and annotations.
        self.metadata.remove("managedFields");
        let object = json!({"apiVersion": api_version, "kind": self.kind, "metadata": self.metadata});
        let mut marks = Marks::default();
        let name = format!("{}-only", self.api_version);
        marks.reasons.insert(name, NOT_CONVERTIBLE.to_owned());
        (object, marks)
    }
}

impl fmt::Display for Shell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name| serde_json::from_str::<String>(self.metadata.get(name).map_or("", |it| it.get()));
        let [namespace, name] = ["namespace", "name"].map(|field| text(field).unwrap_or_default());
        let slash = if namespace.is_empty() { "" } else { "/" };
        write!(f, "{} {namespace}{slash}{name}", self.kind)
    }
}
