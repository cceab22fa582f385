//! Whether an object is newer than the stored one of its name, and which changes storing it causes.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use super::delta::Delta;
use crate::{
    key::ObjectKey,
    store::{Contents, Invalid, ResourceVersion, Text},
};

/// A version of an object that a list, a watch or a response shows.
#[derive(Debug)]
pub(super) struct Fresh<K> {
    pub object: K,
    /// The text from which it was decoded, if that can be stored in its place.
    pub text: Option<Text>,
}

/// Stores a valid object; `None` if the stored one is at least as new.
pub(super) fn merge<K: Resource + Clone>(
    contents: &mut Contents<K>,
    key: ObjectKey,
    fresh: Fresh<K>,
    initial: bool,
) -> Option<Vec<Delta<K>>> {
    let metadata = fresh.object.meta();
    if let Some(old) = contents.invalid(&key) {
        // The same version can be decoded once the API server has another schema or converter for it.
        let old = old.metadata();
        let is_same = old.uid == metadata.uid && old.resource_version == metadata.resource_version;
        if !is_same && !supersedes(metadata, &old) {
            return None;
        }
        let last = contents.remove_invalid(&key).and_then(|old| old.last);
        let gone = last.filter(|last| last.meta().uid != metadata.uid).map(Delta::Deleted);
        let (object, _) = fresh.store(contents, key);
        return Some(gone.into_iter().chain([Delta::Added { object, initial }]).collect());
    }
    let version = metadata.resource_version.as_deref().into();
    if let Some(known) = contents.version(&key)
        && !is_newer(version, known)
    {
        if version == known {
            confirm(contents, key, fresh);
        }
        return None;
    }
    Some(match fresh.store(contents, key) {
        (object, None) => vec![Delta::Added { object, initial }],
        (new, Some(old)) if old.meta().uid == new.meta().uid => vec![Delta::Updated { old, new }],
        (object, Some(old)) => vec![Delta::Deleted(old), Delta::Added { object, initial: false }],
    })
}

/// The stored version is shown once more. It may have been stored without the `managedFields` that are kept now; and a response of
/// our own write was stored decoded, which is not needed for long.
fn confirm<K: Resource + Clone>(contents: &mut Contents<K>, key: ObjectKey, fresh: Fresh<K>) {
    let has_records = fresh.object.meta().managed_fields.is_some();
    if has_records && !contents.has_records(&key) {
        fresh.store(contents, key);
    } else if let Some(text) = fresh.text.filter(|_| has_records == contents.has_records(&key)) {
        contents.pack(&key, text);
    }
}

impl<K: Clone> Fresh<K> {
    /// Stores it, and returns it with the version that it replaces. A decoder does not know how long a list will be, and
    /// allocates four items where most lists have one; a copy allocates only what is used, which saves a third of an object with
    /// an owner and a condition.
    fn store(self, contents: &mut Contents<K>, key: ObjectKey) -> (Arc<K>, Option<Arc<K>>) {
        let object = match self.text {
            Some(_) => Arc::new(self.object),
            None => Arc::new(self.object.clone()),
        };
        let old = contents.insert(key, object.clone(), self.text);
        (object, old)
    }
}

/// Removes an object, decodable or not.
pub(super) fn take_away<K>(contents: &mut Contents<K>, key: &ObjectKey) -> Vec<Delta<K>> {
    let valid = contents.remove(key);
    let last = valid.or_else(|| contents.remove_invalid(key).and_then(|invalid| invalid.last));
    last.map(Delta::Deleted).into_iter().collect()
}

/// Removes these objects, decodable or not.
pub(super) fn take_all_away<K>(contents: &mut Contents<K>, keys: &[ObjectKey]) -> Vec<Delta<K>> {
    keys.iter().flat_map(|key| take_away(contents, key)).collect()
}

/// Whether `new` is newer than `old`. An object of the same version is equal, so it is not newer.
pub(super) fn supersedes(new: &ObjectMeta, old: &ObjectMeta) -> bool {
    let [new, old] = [new, old].map(|metadata| metadata.resource_version.as_deref().into());
    is_newer(new, old)
}

pub(super) fn is_newer(new: ResourceVersion<'_>, old: ResourceVersion<'_>) -> bool {
    match (new, old) {
        (ResourceVersion::Number(new), ResourceVersion::Number(old)) => new > old,
        _ => new != old,
    }
}

/// Whether the version is a number, so that it can be compared.
pub(super) fn has_number(metadata: &ObjectMeta) -> bool {
    metadata.resource_version.as_deref().and_then(number).is_some()
}

pub(super) fn number(version: &str) -> Option<u64> {
    match ResourceVersion::from(Some(version)) {
        ResourceVersion::Number(number) => Some(number),
        ResourceVersion::Other(_) => None,
    }
}

impl<K> Invalid<K> {
    pub(super) fn metadata(&self) -> ObjectMeta {
        ObjectMeta {
            uid: self.uid.clone(),
            resource_version: self.version.clone(),
            ..ObjectMeta::default()
        }
    }
}
