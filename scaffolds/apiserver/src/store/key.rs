//! The keys of objects, and the records that the store keeps.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// The key of an object.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key {
    /// Group and plural, for example `apps/deployments` or `/configmaps`. All versions of a kind share it.
    pub resource: Arc<str>,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Never empty.
    pub name: String,
}

/// A range of objects of one resource.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Range {
    /// Group and plural, as in [`Key`].
    pub resource: Arc<str>,
    /// Restricts the range to this namespace.
    pub namespace: Option<String>,
    /// Restricts the range to this name: to one object, if the namespace is given too or the resource is
    /// cluster-scoped.
    pub name: Option<String>,
}

/// One state of one object.
pub struct Record {
    /// The object's key.
    pub key: Key,
    /// The revision of the change that created this state; also the `resourceVersion` in the object.
    pub revision: u64,
    /// The object in its storage version, as JSON text that can be sent unchanged.
    pub object: Bytes,
    labels: OnceLock<BTreeMap<String, String>>,
    fields: OnceLock<Box<Mutex<Vec<SelectedField>>>>,
}

/// A field that a field selector has read.
struct SelectedField {
    api: [Box<str>; 2],
    path: Box<str>,
    value: Arc<str>,
}

impl Key {
    /// The key of an object; the namespace is empty for cluster-scoped resources.
    pub fn new(resource: &str, namespace: &str, name: &str) -> Self {
        Self {
            resource: resource.into(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Namespace and name as one path, like the end of an etcd key. Lists are sorted by it. `-` and `.` sort before the
    /// slash, so the namespace `a-b` comes before `a`.
    pub(crate) fn path(&self) -> String {
        if self.namespace.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.resource, self.path())
    }
}

impl Range {
    /// All objects of a resource; only those of one namespace, unless it is empty.
    pub fn new(resource: &str, namespace: &str) -> Self {
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        Self {
            resource: resource.into(),
            namespace,
            name: None,
        }
    }

    /// Restricts the range to the object of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Whether a key of the same resource is in the range.
    pub(super) fn holds(&self, key: &Key) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|namespace| *namespace == key.namespace)
            && self.name.as_ref().is_none_or(|name| *name == key.name)
    }

    /// The common prefix of all paths in the range.
    pub(crate) fn prefix(&self) -> String {
        self.namespace
            .as_ref()
            .map(|namespace| format!("{namespace}/"))
            .unwrap_or_default()
    }
}

impl Record {
    /// A record of an object.
    pub fn new(key: Key, revision: u64, object: Bytes) -> Self {
        Self {
            key,
            revision,
            object,
            labels: OnceLock::new(),
            fields: OnceLock::new(),
        }
    }

    /// The object, decoded.
    ///
    /// # Errors
    /// The object is not JSON, which this server never writes, or not of this type.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.object)
    }

    /// The object, decoded; null if it is not JSON.
    pub fn value(&self) -> Value {
        self.read().unwrap_or_default()
    }

    /// The labels, decoded from the object once. Empty if it has none.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        #[derive(Default, Deserialize)]
        struct LabelledObject {
            #[serde(default)]
            metadata: LabelMetadata,
        }
        #[derive(Default, Deserialize)]
        struct LabelMetadata {
            #[serde(default)]
            labels: Option<BTreeMap<String, String>>,
        }
        self.labels.get_or_init(|| {
            let object: LabelledObject = self.read().unwrap_or_default();
            object.metadata.labels.unwrap_or_default()
        })
    }
}

impl Record {
    /// The value of a field in a group and version. `read` computes it the first time, so of many watchers with the
    /// same field selector only one decodes the object.
    pub(crate) fn field(&self, api: [&str; 2], path: &str, read: impl FnOnce() -> String) -> Arc<str> {
        let fields = self.fields.get_or_init(Box::default);
        let mut fields = fields.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |field: &&SelectedField| *field.path == *path && *field.api[0] == *api[0] && *field.api[1] == *api[1];
        if let Some(known) = fields.iter().find(is_it) {
            return Arc::clone(&known.value);
        }
        let value: Arc<str> = read().into();
        fields.push(SelectedField {
            api: api.map(Box::from),
            path: path.into(),
            value: Arc::clone(&value),
        });
        value
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}@{} {}",
            self.key,
            self.revision,
            String::from_utf8_lossy(&self.object)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selected_field_is_decoded_once_per_version() {
        let record = Record::new(Key::new("/pods", "default", "a"), 1, Bytes::new());
        let read = |api, path, value: &str| record.field(api, path, || value.to_owned());
        assert_eq!(&*read(["", "v1"], "spec.nodeName", "one"), "one");
        assert_eq!(&*read(["", "v1"], "status.phase", "Running"), "Running");
        assert_eq!(&*read(["", "v2"], "spec.nodeName", "two"), "two");
        let again = record.field(["", "v1"], "spec.nodeName", || unreachable!("it is known"));
        assert_eq!(&*again, "one");
    }
}
