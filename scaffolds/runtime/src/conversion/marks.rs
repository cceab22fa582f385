//! Labels that mark objects which a version shows incompletely, so that they are not written back. A read never fails: it would
//! fail the list of all objects.

use std::{collections::BTreeMap, fmt};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use crate::informer::decode::NOT_CONVERTIBLE;

/// The value of a mark: the object has fields that only the version of the mark has, and there is no room for them.
const TOO_LARGE: &str = "too-large";

/// The marks of an object: labels with the names of the annotations that are missing. There is always room for labels.
#[derive(Default)]
pub(super) struct Marks(BTreeMap<String, String>);

impl Marks {
    /// Removes the labels of these names.
    pub(super) fn take(object: &mut Value, names: Vec<String>) -> Self {
        let Some(Value::Object(labels)) = object.pointer_mut("/metadata/labels") else {
            return Self::default();
        };
        let mut marks = BTreeMap::new();
        for name in names {
            if let Some(Value::String(mark)) = labels.remove(&name) {
                marks.insert(name, mark);
            }
        }
        Self(marks)
    }

    pub(super) fn add_too_large(&mut self, name: String) {
        self.0.insert(name, TOO_LARGE.to_owned());
    }

    /// Whether an object with these marks may be stored: only if it is being deleted, because finalizers have to be removed.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(super) fn permit_write(&self, object: &Value) -> Result<(), String> {
        let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
        let mut refusing = self
            .0
            .iter()
            .filter(|(_, mark)| *mark == NOT_CONVERTIBLE || !is_deleted);
        match refusing.next() {
            None => Ok(()),
            Some((name, mark)) => {
                let version = name.rsplit_once('/').map_or(name.as_str(), |(_, rest)| rest);
                let version = version.trim_end_matches("-only");
                Err(format!(
                    "the label `{name}: {mark}` says that this version does not show all of the object: write it in {version}"
                ))
            }
        }
    }

    pub(super) fn put(self, object: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        let labels = &mut object["metadata"]["labels"];
        if !labels.is_object() {
            *labels = Value::Object(Map::new());
        }
        for (name, mark) in self.0 {
            labels[name] = json!(mark);
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

    /// The object as another version shows it: with a mark, and without anything but its metadata.
    pub(super) fn shown_in(mut self, api_version: &str) -> Value {
        // They are as deep as the object. API servers restore all metadata but labels and annotations.
        self.metadata.remove("managedFields");
        let mut object = json!({"apiVersion": api_version, "kind": self.kind, "metadata": self.metadata});
        let mark = format!("{}-only", self.api_version);
        Marks(BTreeMap::from([(mark, NOT_CONVERTIBLE.to_owned())])).put(&mut object);
        object
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
