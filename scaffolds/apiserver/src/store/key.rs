//! What an object is found by, and the object as it is kept.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde::Deserialize;

/// An object's place.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Key {
    /// `apps/deployments`, `/configmaps`: group and plural. All versions of a kind share it.
    pub resource: Arc<str>,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Never empty.
    pub name: String,
}

/// Which objects of a resource.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Range {
    /// As in [`Key`].
    pub resource: Arc<str>,
    /// Only those of this namespace.
    pub namespace: Option<String>,
    /// Only those of this name: one object, when the namespace is given too or there is none.
    pub name: Option<String>,
}

/// One state of one object.
pub struct Record {
    /// Where it is.
    pub key: Key,
    /// Of the change that made this state; also the `resourceVersion` inside the object.
    pub revision: u64,
    /// The object in its storage version: JSON text, ready to be sent.
    pub object: Bytes,
    labels: OnceLock<BTreeMap<String, String>>,
}

impl Key {
    /// Of an object; the namespace is empty for cluster-scoped ones.
    pub fn new(resource: &str, namespace: &str, name: &str) -> Self {
        Self {
            resource: resource.into(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Namespace and name in one text, as etcd's keys end: this is what lists are sorted by, and `-` and `.` come
    /// before the slash, so the namespace `a-b` comes before `a`.
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
    /// All objects of a resource; those of one namespace, unless it is empty.
    pub fn new(resource: &str, namespace: &str) -> Self {
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        Self {
            resource: resource.into(),
            namespace,
            name: None,
        }
    }

    /// Only the one of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Whether the object at this place of the same resource is one of them.
    pub(super) fn holds(&self, key: &Key) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|namespace| *namespace == key.namespace)
            && self.name.as_ref().is_none_or(|name| *name == key.name)
    }

    /// What all paths of the range begin with.
    pub(crate) fn prefix(&self) -> String {
        self.namespace
            .as_ref()
            .map(|namespace| format!("{namespace}/"))
            .unwrap_or_default()
    }
}

impl Record {
    /// A state of an object.
    pub fn new(key: Key, revision: u64, object: Bytes) -> Self {
        Self {
            key,
            revision,
            object,
            labels: OnceLock::new(),
        }
    }

    /// The labels, read from the object once. Empty when it has none.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        #[derive(Default, Deserialize)]
        struct Object {
            #[serde(default)]
            metadata: Metadata,
        }
        #[derive(Default, Deserialize)]
        struct Metadata {
            #[serde(default)]
            labels: Option<BTreeMap<String, String>>,
        }
        self.labels.get_or_init(|| {
            let object: Object = serde_json::from_slice(&self.object).unwrap_or_default();
            object.metadata.labels.unwrap_or_default()
        })
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
