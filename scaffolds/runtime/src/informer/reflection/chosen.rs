//! Namespaces that are chosen while the informer runs, although its watch shows all of them. The objects of one that is
//! added are listed once, beside the watch; a deletion that the watch shows meanwhile is newer than that list.

use std::collections::HashMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use super::{Broken, Fresh, Reflection, key_of, merge, number};
use crate::{informer::delta::Delta, key::ObjectKey};

/// The namespaces whose objects are stored.
#[derive(Debug, Default)]
pub(super) struct ChosenNamespaces {
    namespaces: HashMap<String, Admission>,
    /// Counts started lists.
    lists: u64,
}

#[derive(Debug)]
enum Admission {
    /// Its own list with this number is in progress; with the versions of the deletions that the watch has shown since.
    Joining(u64, HashMap<ObjectKey, u64>),
    /// The list of all namespaces that is in progress includes it.
    Listing,
    Joined,
}

/// The next step for a namespace that joins.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::informer) enum Join {
    /// No step: its objects are stored.
    Done,
    /// Ask again later: all namespaces are being listed.
    Wait,
    /// List its objects, under this number.
    List(u64),
}

impl ChosenNamespaces {
    pub(super) fn admits(&self, namespace: Option<&str>) -> bool {
        namespace.is_none_or(|namespace| self.namespaces.contains_key(namespace))
    }
}

impl<K: Resource + Clone> Reflection<K> {
    /// Stores only objects of these namespaces, from the first list on.
    pub(in crate::informer) fn choose(&mut self, namespaces: impl IntoIterator<Item = String>) {
        let namespaces = namespaces.into_iter().map(|name| (name, Admission::Joined)).collect();
        self.chosen = Some(ChosenNamespaces { namespaces, lists: 0 });
    }

    /// Whether objects of this namespace are stored.
    pub(in crate::informer) fn admits(&self, namespace: Option<&str>) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.admits(namespace))
    }

    /// Begins to store the objects of a namespace.
    pub(in crate::informer) fn join_begins(&mut self, namespace: &str) -> Join {
        let key = ObjectKey::new(Some(namespace), "");
        let source = self.sources.iter().find(|source| source.place.covers(&key));
        let (absent, listing) = source.map_or((true, false), |source| (source.absent, source.is_listing()));
        let Some(chosen) = &mut self.chosen else {
            return Join::Done;
        };
        match chosen.namespaces.get(namespace) {
            Some(Admission::Joined) => return Join::Done,
            Some(Admission::Listing) => return Join::Wait,
            _ if absent => {
                chosen.namespaces.insert(namespace.to_owned(), Admission::Joined);
                return Join::Done;
            }
            // The list may have skipped the namespace.
            _ if listing => return Join::Wait,
            _ => {}
        }
        chosen.lists += 1;
        let joining = Admission::Joining(chosen.lists, HashMap::new());
        chosen.namespaces.insert(namespace.to_owned(), joining);
        Join::List(chosen.lists)
    }

    /// The list with this number shows an object.
    pub(in crate::informer) fn join_shows(&mut self, list: u64, shown: Result<Fresh<K>, Broken>) -> Vec<Delta<K>> {
        let metadata = match &shown {
            Ok(fresh) => fresh.object.meta(),
            Err(broken) => &*broken.metadata,
        };
        if !self.is_current(list, metadata) {
            return Vec::new();
        }
        match shown {
            Ok(fresh) => {
                let key = ObjectKey::of(&fresh.object);
                merge(&mut self.store.write(), key, fresh, true).unwrap_or_default()
            }
            Err(broken) => self.store_broken(key_of(&broken.metadata), broken),
        }
    }

    /// The list with this number is complete.
    pub(in crate::informer) fn join_ends(&mut self, list: u64, namespace: &str) {
        let admission = self
            .chosen
            .as_mut()
            .and_then(|chosen| chosen.namespaces.get_mut(namespace));
        if let Some(admission) = admission
            && matches!(admission, Admission::Joining(number, _) if *number == list)
        {
            *admission = Admission::Joined;
        }
    }

    /// Stores no objects of this namespace any more, and drops those that are stored.
    pub(in crate::informer) fn leave(&mut self, namespace: &str) -> Vec<Delta<K>> {
        let Some(chosen) = &mut self.chosen else {
            return Vec::new();
        };
        chosen.namespaces.remove(namespace);
        self.drop_all(|key| key.namespace() == Some(namespace))
    }

    /// A list of all namespaces begins: it includes those that are joining.
    pub(super) fn chosen_are_listed(&mut self, source: usize) {
        self.admissions(
            source,
            |admission| matches!(admission, Admission::Joining(..)),
            || Admission::Listing,
        );
    }

    /// A list of all namespaces is complete, or the kind is absent.
    pub(super) fn chosen_have_joined(&mut self, source: usize) {
        self.admissions(
            source,
            |admission| !matches!(admission, Admission::Joined),
            || Admission::Joined,
        );
    }

    /// The watch shows that an object of a namespace that may be joining was deleted.
    pub(super) fn note_gone(&mut self, key: &ObjectKey, metadata: &ObjectMeta) {
        let (Some(chosen), Some(namespace)) = (&mut self.chosen, key.namespace()) else {
            return;
        };
        if let Some(Admission::Joining(_, gone)) = chosen.namespaces.get_mut(namespace) {
            let version = metadata.resource_version.as_deref().and_then(number);
            gone.insert(key.clone(), version.unwrap_or(u64::MAX));
        }
    }

    fn admissions(&mut self, source: usize, which: impl Fn(&Admission) -> bool, to: impl Fn() -> Admission) {
        let place = &self.sources[source].place;
        for (namespace, admission) in self.chosen.iter_mut().flat_map(|chosen| &mut chosen.namespaces) {
            if which(admission) && place.covers(&ObjectKey::new(Some(namespace), "")) {
                *admission = to();
            }
        }
    }

    /// Whether the list with this number is still in progress, and shows a version that was not deleted since.
    fn is_current(&self, list: u64, metadata: &ObjectMeta) -> bool {
        let (Some(chosen), Some(namespace)) = (&self.chosen, metadata.namespace.as_deref()) else {
            return false;
        };
        let Some(Admission::Joining(number, gone)) = chosen.namespaces.get(namespace) else {
            return false;
        };
        let version = metadata.resource_version.as_deref().and_then(super::number);
        *number == list
            && gone
                .get(&key_of(metadata))
                .is_none_or(|gone| version.is_some_and(|version| version > *gone))
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;
    use crate::{
        informer::{InformerConfig, place::WatchRequest},
        kind::Kind,
        store::{Store, Text},
    };

    fn object(namespace: &str, name: &str, version: u64) -> Fresh<ConfigMap> {
        let metadata =
            json!({"namespace": namespace, "name": name, "uid": name, "resourceVersion": version.to_string()});
        let text = json!({"metadata": metadata}).to_string();
        Fresh {
            object: serde_json::from_str(&text).unwrap(),
            text: Text::new(text.into(), None),
        }
    }

    /// A reflection of namespace `a` of which the first list is complete, and its store.
    fn reflection() -> (Reflection<ConfigMap>, Store<ConfigMap>) {
        let places = WatchRequest::all(&Kind::<ConfigMap>::of(), &InformerConfig::default());
        let store = Store::new();
        let mut reflection = Reflection::new(store.clone(), places);
        reflection.choose(["a".to_owned()]);
        reflection.list_begins(0);
        for namespace in ["a", "b"] {
            reflection.shown(0, object(namespace, "old", 10));
        }
        reflection.list_ends(0);
        (reflection, store)
    }

    fn names(store: &Store<ConfigMap>) -> Vec<String> {
        let mut names: Vec<_> = store.keys().iter().map(ToString::to_string).collect();
        names.sort();
        names
    }

    #[test]
    fn only_chosen_namespaces_are_stored() {
        let (mut reflection, store) = reflection();
        assert!(reflection.shown(0, object("b", "new", 11)).is_empty());
        assert_eq!(reflection.shown(0, object("a", "new", 12)).len(), 1);
        assert_eq!(names(&store), ["a/new", "a/old"]);
        assert!(
            reflection
                .written(object("b", "own", 13).object, tokio::time::Instant::now())
                .is_none()
        );
        assert_eq!(reflection.leave("a").len(), 2);
        assert!(reflection.shown(0, object("a", "new", 14)).is_empty());
        assert!(store.is_empty());
    }

    #[test]
    fn a_deletion_is_newer_than_the_list_of_a_namespace_that_joins() {
        let (mut reflection, store) = reflection();
        let Join::List(list) = reflection.join_begins("b") else {
            panic!("not listed")
        };
        reflection.gone(0, &object("b", "old", 20).object.metadata);
        reflection.shown(0, object("b", "newer", 21));
        for listed in [
            object("b", "old", 10),
            object("b", "newer", 11),
            object("b", "rest", 12),
        ] {
            reflection.join_shows(list, Ok(listed));
        }
        reflection.join_ends(list, "b");
        assert_eq!(reflection.join_begins("b"), Join::Done);
        assert_eq!(names(&store), ["a/old", "b/newer", "b/rest"]);
        assert_eq!(
            store
                .get(&ObjectKey::new(Some("b"), "newer"))
                .unwrap()
                .metadata
                .resource_version
                .as_deref(),
            Some("21")
        );
    }

    #[test]
    fn a_list_of_all_namespaces_replaces_that_of_one_that_joins() {
        let (mut reflection, store) = reflection();
        let Join::List(list) = reflection.join_begins("b") else {
            panic!("not listed")
        };
        reflection.list_begins(0);
        assert_eq!(reflection.join_begins("b"), Join::Wait);
        reflection.shown(0, object("b", "here", 30));
        reflection.join_shows(list, Ok(object("b", "old", 10)));
        reflection.list_ends(0);
        reflection.join_shows(list, Ok(object("b", "late", 10)));
        reflection.join_ends(list, "b");
        assert_eq!(reflection.join_begins("b"), Join::Done);
        assert_eq!(names(&store), ["b/here"], "what the list did not show is gone");
    }

    #[test]
    fn a_namespace_waits_for_a_list_that_has_begun_before() {
        let (mut reflection, _) = reflection();
        reflection.list_begins(0);
        assert_eq!(reflection.join_begins("b"), Join::Wait);
        reflection.list_ends(0);
        assert_eq!(reflection.join_begins("b"), Join::List(1));
        reflection.leave("b");
        reflection.vanish(0);
        assert_eq!(reflection.join_begins("b"), Join::Done, "an absent kind has no objects");
    }
}
