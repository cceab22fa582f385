//! The contents of a store, behind its lock.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use kube::Resource;
use serde::de::DeserializeOwned;

use super::{
    index::{Index, IndexFn},
    packed::{Packed, Packing},
    recent::Recent,
    text::{ResourceVersion, Text},
};
use crate::key::ObjectKey;

/// Objects, those that cannot be decoded, and indexes.
#[derive(Debug)]
pub(crate) struct Contents<K> {
    objects: HashMap<ObjectKey, Stored<K>>,
    invalid: HashMap<ObjectKey, Invalid<K>>,
    indexes: Vec<Index<K>>,
    recent: Recent<K>,
    packing: Packing,
    decode: fn(&Packed) -> K,
    copy: fn(&K) -> K,
}

#[derive(Debug)]
enum Stored<K> {
    Decoded(Arc<K>),
    Packed(Packed),
}

/// An object that exists but cannot be decoded.
#[derive(Debug)]
pub(crate) struct Invalid<K> {
    pub error: Arc<str>,
    pub uid: Option<String>,
    pub version: Option<String>,
    /// The last version that could be decoded: its deletion is still to be delivered.
    pub last: Option<Arc<K>>,
}

impl<K: Resource + DeserializeOwned + Clone> Contents<K> {
    pub(super) fn new() -> Self {
        Self {
            objects: HashMap::new(),
            invalid: HashMap::new(),
            indexes: Vec::new(),
            recent: Recent::new(),
            packing: Packing::default(),
            decode: Packed::decode,
            copy: K::clone,
        }
    }
}

impl<K: Resource> Contents<K> {
    /// The resource version of an object, without decoding it; `None` if there is no such object.
    pub(crate) fn version(&self, key: &ObjectKey) -> Option<ResourceVersion<'_>> {
        Some(match self.objects.get(key)? {
            Stored::Decoded(object) => object.meta().resource_version.as_deref().into(),
            Stored::Packed(packed) => ResourceVersion::Number(packed.version()),
        })
    }

    /// As [`pack`](Self::pack), with the object's JSON without its `managedFields`: they stay those that are stored.
    pub(crate) fn pack_json(&mut self, key: &ObjectKey, json: Box<str>) {
        if let Some(Stored::Decoded(object)) = self.objects.get(key)
            && let Some(text) = Text::new(json, object.meta().managed_fields.as_ref())
        {
            self.pack(key, text);
        }
    }

    /// Whether an object is stored with `managedFields`.
    pub(crate) fn has_records(&self, key: &ObjectKey) -> bool {
        match self.objects.get(key) {
            Some(Stored::Decoded(object)) => object.meta().managed_fields.is_some(),
            Some(Stored::Packed(packed)) => packed.has_records(),
            None => false,
        }
    }
}

impl<K> Contents<K> {
    pub(crate) fn contains(&self, key: &ObjectKey) -> bool {
        self.objects.contains_key(key)
    }

    /// The object of this name.
    pub(crate) fn object(&self, key: &ObjectKey) -> Option<Arc<K>> {
        let packed = match self.objects.get(key)? {
            Stored::Decoded(object) => return Some(object.clone()),
            Stored::Packed(packed) => packed,
        };
        let hash = self.hash(key);
        Some(self.recent.get(hash, key).unwrap_or_else(|| {
            let object = Arc::new((self.decode)(packed));
            self.recent.put(hash, key.clone(), object.clone());
            object
        }))
    }

    pub(crate) fn keys(&self) -> impl ExactSizeIterator<Item = &ObjectKey> {
        self.objects.keys()
    }

    /// The keys of the objects, decodable or not, for which `holds` returns true, in their order.
    pub(crate) fn keys_where(&self, holds: impl Fn(&ObjectKey) -> bool) -> Vec<ObjectKey> {
        let keys = self.objects.keys().chain(self.invalid.keys());
        let mut keys: Vec<_> = keys.filter(|key| holds(key)).cloned().collect();
        keys.sort_unstable();
        keys
    }

    /// All objects, in the order of their keys.
    pub(crate) fn all(&self) -> Vec<Arc<K>> {
        let mut objects: Vec<_> = self.objects.iter().collect();
        objects.sort_unstable_by_key(|(key, _)| *key);
        objects.into_iter().map(|(_, stored)| self.decoded(stored)).collect()
    }

    pub(super) fn by_index(&self, name: &str, value: &str) -> Option<Vec<Arc<K>>> {
        let index = self.indexes.iter().find(|index| index.name == name)?;
        Some(index.keys(value).filter_map(|key| self.object(key)).collect())
    }

    pub(super) fn has_index(&self, name: &str) -> bool {
        self.indexes.iter().any(|index| index.name == name)
    }

    pub(crate) fn invalids(&self) -> impl ExactSizeIterator<Item = (&ObjectKey, &Invalid<K>)> {
        self.invalid.iter()
    }

    pub(crate) fn invalid(&self, key: &ObjectKey) -> Option<&Invalid<K>> {
        self.invalid.get(key)
    }

    /// Stores a version of an object, as its text if there is one, and returns the version that it replaces.
    pub(crate) fn insert(&mut self, key: ObjectKey, object: Arc<K>, text: Option<Text>) -> Option<Arc<K>> {
        let old = self.object(&key);
        self.indexes.iter_mut().for_each(|index| index.insert(&key, &object));
        if let Some(old) = &old {
            // After the insertion, so that values that both versions have are kept.
            let indexes = self.indexes.iter_mut();
            indexes.for_each(|index| index.remove(&key, old, Some(&object)));
        }
        let stored = self.stored(&key, object, text);
        self.objects.insert(key, stored);
        old
    }

    /// Stores the text of an object in its place.
    pub(crate) fn pack(&mut self, key: &ObjectKey, text: Text) {
        if let Some(Stored::Decoded(object)) = self.objects.get(key) {
            let object = object.clone();
            let stored = self.stored(key, object, Some(text));
            self.objects.insert(key.clone(), stored);
        }
    }

    fn stored(&mut self, key: &ObjectKey, object: Arc<K>, text: Option<Text>) -> Stored<K> {
        let hash = self.hash(key);
        match text {
            Some(text) => {
                self.recent.put(hash, key.clone(), object);
                Stored::Packed(self.packing.pack(&text))
            }
            None => {
                self.recent.forget(hash, key);
                Stored::Decoded(object)
            }
        }
    }

    /// The keys of the objects that are stored as texts.
    pub(super) fn packed(&self) -> Vec<ObjectKey> {
        let packed = self.objects.iter();
        let packed = packed.filter(|(_, stored)| matches!(stored, Stored::Packed(_)));
        packed.map(|(key, _)| key.clone()).collect()
    }

    /// Decodes the objects that are still stored as texts, until they change. As everywhere, a copy is stored, which has no
    /// spare capacity.
    pub(super) fn unpack(&mut self, keys: &[ObjectKey]) {
        for key in keys {
            if !matches!(self.objects.get(key), Some(Stored::Packed(_))) {
                continue;
            }
            if let Some(object) = self.object(key) {
                let stored = self.stored(key, Arc::new((self.copy)(&object)), None);
                self.objects.insert(key.clone(), stored);
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<K>> {
        let old = self.object(key)?;
        self.objects.remove(key);
        self.recent.forget(self.hash(key), key);
        self.indexes.iter_mut().for_each(|index| index.remove(key, &old, None));
        shrink(&mut self.objects);
        Some(old)
    }

    pub(crate) fn set_invalid(&mut self, key: ObjectKey, invalid: Invalid<K>) -> Option<Invalid<K>> {
        self.invalid.insert(key, invalid)
    }

    pub(crate) fn remove_invalid(&mut self, key: &ObjectKey) -> Option<Invalid<K>> {
        let old = self.invalid.remove(key)?;
        shrink(&mut self.invalid);
        Some(old)
    }

    /// Adds an index over current and future objects; false if there is one of that name.
    pub(crate) fn add_index(&mut self, name: &'static str, values: IndexFn<K>) -> bool {
        if self.has_index(name) {
            return false;
        }
        let mut index = Index::new(name, values);
        let objects = self.objects.iter();
        objects.for_each(|(key, stored)| index.insert(key, &self.decoded(stored)));
        self.indexes.push(index);
        true
    }

    /// Removes the index of this name, if there is one.
    pub(crate) fn remove_index(&mut self, name: &str) {
        self.indexes.retain(|index| index.name != name);
    }

    /// An object, which is not kept.
    fn decoded(&self, stored: &Stored<K>) -> Arc<K> {
        match stored {
            Stored::Decoded(object) => object.clone(),
            Stored::Packed(packed) => Arc::new((self.decode)(packed)),
        }
    }

    fn hash(&self, key: &ObjectKey) -> u64 {
        self.objects.hasher().hash_one(key)
    }
}

/// Frees the memory of a table once most of it is unused.
pub(super) fn shrink<Q: Hash + Eq, V>(table: &mut HashMap<Q, V>) {
    if table.capacity() > 64 && table.len() * 8 < table.capacity() {
        table.shrink_to(table.len() * 2);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;
    use crate::{isolate::Authored, store::Store};

    fn key(name: usize) -> ObjectKey {
        ObjectKey::new(Some("default"), &name.to_string())
    }

    /// Stores an object with a value, as its text.
    fn show(store: &Store<ConfigMap>, name: usize, version: u64, value: &str) -> Option<Arc<ConfigMap>> {
        let metadata =
            json!({"name": name.to_string(), "namespace": "default", "resourceVersion": version.to_string()});
        let text = json!({"metadata": metadata, "data": {"value": value}}).to_string();
        let object = Arc::new(serde_json::from_str(&text).unwrap());
        store.write().insert(key(name), object, Text::new(text.into(), None))
    }

    fn value(object: &ConfigMap) -> Option<&str> {
        object.data.as_ref()?.get("value").map(String::as_str)
    }

    fn indexed() -> Store<ConfigMap> {
        let store = Store::new();
        let values = |object: &ConfigMap| value(object).map(str::to_owned).into_iter().collect();
        assert!(store.write().add_index("value", Authored::new(Arc::new(values))));
        store
    }

    #[test]
    fn an_object_is_what_was_stored_last_however_many_others_are_read() {
        let store = indexed();
        for name in 0..1_000 {
            assert!(show(&store, name, 1, "a").is_none());
        }
        for name in (0..1_000).step_by(2) {
            let old = show(&store, name, 2, "b").unwrap();
            assert_eq!(value(&old), Some("a"));
        }
        for name in 0..1_000 {
            let now = store.get(&key(name)).unwrap();
            assert_eq!(value(&now), Some(if name % 2 == 0 { "b" } else { "a" }));
        }
        assert_eq!(store.by_index("value", "a").len(), 500);
        assert_eq!(store.read().version(&key(2)), Some(ResourceVersion::Number(2)));
        let gone = store.write().remove(&key(2)).unwrap();
        assert_eq!(value(&gone), Some("b"));
        assert!(store.get(&key(2)).is_none() && !store.contains(&key(2)));
        assert_eq!(store.by_index("value", "b").len(), 499);
    }

    #[test]
    fn objects_are_listed_by_namespace_and_name() {
        let store = indexed();
        for name in 0..1_000 {
            show(&store, name, 1, if name % 2 == 0 { "a" } else { "b" });
        }
        let keys = |objects: Vec<Arc<ConfigMap>>| objects.iter().map(|it| ObjectKey::of(&**it)).collect::<Vec<_>>();
        let all = keys(store.list());
        assert!(all.is_sorted() && all == store.keys());
        assert!(keys(store.by_index("value", "a")).is_sorted());
    }

    #[test]
    fn an_object_is_decoded_once_while_it_is_used_and_once_for_all_lists() {
        let store = indexed();
        for name in 0..1_000 {
            show(&store, name, 1, "a");
        }
        let [first, second] = [(), ()].map(|()| store.get(&key(7)).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(store.read().packed().len(), 1_000);
        let by_name = |list: Vec<Arc<ConfigMap>>| -> BTreeMap<_, _> {
            let named = list.into_iter().map(|object| (object.metadata.name.clone(), object));
            named.collect()
        };
        let [once, twice] = [(), ()].map(|()| by_name(store.list()));
        assert_eq!(once.len(), 1_000);
        assert!(once.iter().all(|(name, object)| Arc::ptr_eq(object, &twice[name])));
        show(&store, 7, 2, "b");
        assert_eq!(store.read().packed().len(), 1);
        assert_eq!(value(&by_name(store.list())[&Some("7".to_owned())]), Some("b"));
    }

    #[test]
    fn our_own_write_is_stored_as_a_text_once_it_is_shown() {
        let store = indexed();
        let own = Arc::new(ConfigMap::default());
        store.write().insert(key(1), own.clone(), None);
        assert_eq!(store.read().packed().len(), 0);
        let text = r#"{"metadata":{"resourceVersion":"1"}}"#;
        store.write().pack(&key(1), Text::new(text.into(), None).unwrap());
        assert_eq!(store.read().packed().len(), 1);
        assert!(Arc::ptr_eq(&store.get(&key(1)).unwrap(), &own), "it was used lately");
    }
}
