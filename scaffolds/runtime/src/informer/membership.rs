//! The namespaces whose objects an informer stores, if they are chosen while it runs: its watch shows all of them. The objects of one
//! that joins are listed once, beside the watch; a deletion that the watch shows meanwhile is newer than that list. Pure state, without
//! objects.

use std::collections::HashMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{merge::number, place::WatchRequest, reflection::key_of};
use crate::key::ObjectKey;

/// The namespaces whose objects are stored.
#[derive(Debug, Default)]
pub(super) struct Membership {
    /// `None` if they are not chosen: objects of every namespace are stored.
    chosen: Option<HashMap<String, Admission>>,
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
pub(super) enum Join {
    /// No step: its objects are stored.
    Done,
    /// Ask again later: all namespaces are being listed.
    Wait,
    /// List its objects, under this number.
    List(u64),
}

impl Membership {
    /// Only objects of these namespaces are stored, from the first list on.
    pub(super) fn choose(&mut self, namespaces: impl IntoIterator<Item = String>) {
        let joined = namespaces.into_iter().map(|name| (name, Admission::Joined));
        self.chosen = Some(joined.collect());
    }

    /// Whether objects of this namespace are stored.
    pub(super) fn admits(&self, namespace: Option<&str>) -> bool {
        let chosen = self.chosen.as_ref().zip(namespace);
        chosen.is_none_or(|(chosen, namespace)| chosen.contains_key(namespace))
    }

    /// A namespace joins. Its watch is absent, if the API server does not serve the kind, or listing, or neither.
    pub(super) fn join(&mut self, namespace: &str, absent: bool, listing: bool) -> Join {
        let Some(chosen) = &mut self.chosen else {
            return Join::Done;
        };
        let (admission, next) = match chosen.get(namespace) {
            Some(Admission::Joined) => return Join::Done,
            Some(Admission::Listing) => return Join::Wait,
            _ if absent => (Admission::Joined, Join::Done),
            // The list may have skipped the namespace.
            _ if listing => return Join::Wait,
            _ => {
                self.lists += 1;
                (Admission::Joining(self.lists, HashMap::new()), Join::List(self.lists))
            }
        };
        chosen.insert(namespace.to_owned(), admission);
        next
    }

    /// Whether the list with this number is still in progress, and shows a version that was not deleted since.
    pub(super) fn lists(&self, list: u64, metadata: &ObjectMeta) -> bool {
        let chosen = self.chosen.as_ref().zip(metadata.namespace.as_deref());
        let Some(Admission::Joining(number, gone)) = chosen.and_then(|(chosen, namespace)| chosen.get(namespace))
        else {
            return false;
        };
        let gone = gone.get(&key_of(metadata));
        *number == list && gone.is_none_or(|gone| version(metadata).is_some_and(|version| version > *gone))
    }

    /// The list with this number is complete.
    pub(super) fn joined(&mut self, list: u64, namespace: &str) {
        let admission = self.chosen.as_mut().and_then(|chosen| chosen.get_mut(namespace));
        if let Some(admission) = admission
            && matches!(admission, Admission::Joining(number, _) if *number == list)
        {
            *admission = Admission::Joined;
        }
    }

    /// Objects of this namespace are not stored any more. Returns whether namespaces are chosen.
    pub(super) fn leave(&mut self, namespace: &str) -> bool {
        self.chosen.as_mut().map(|chosen| chosen.remove(namespace)).is_some()
    }

    /// A list of all namespaces begins: it includes those that are joining.
    pub(super) fn list_begins(&mut self, place: &WatchRequest) {
        let joining = |admission: &Admission| matches!(admission, Admission::Joining(..));
        self.change(place, joining, || Admission::Listing);
    }

    /// A list of all namespaces is complete, or the kind is absent.
    pub(super) fn list_ends(&mut self, place: &WatchRequest) {
        self.change(place, |_| true, || Admission::Joined);
    }

    /// The watch shows that an object of a namespace that may be joining was deleted.
    pub(super) fn gone(&mut self, key: &ObjectKey, metadata: &ObjectMeta) {
        let chosen = self.chosen.as_mut().zip(key.namespace());
        if let Some(Admission::Joining(_, gone)) = chosen.and_then(|(chosen, namespace)| chosen.get_mut(namespace)) {
            gone.insert(key.clone(), version(metadata).unwrap_or(u64::MAX));
        }
    }

    fn change(&mut self, place: &WatchRequest, which: impl Fn(&Admission) -> bool, to: impl Fn() -> Admission) {
        for (namespace, admission) in self.chosen.iter_mut().flatten() {
            if which(admission) && place.covers(&ObjectKey::new(Some(namespace), "")) {
                *admission = to();
            }
        }
    }
}

fn version(metadata: &ObjectMeta) -> Option<u64> {
    metadata.resource_version.as_deref().and_then(number)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;
    use crate::{
        informer::{InformerConfig, merge::Fresh, reflection::Reflection},
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
        reflection.membership.choose(["a".to_owned()]);
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

    /// As some aggregated API servers number versions.
    #[test]
    fn versions_that_are_no_numbers_have_no_order_so_a_deletion_counts() {
        let (mut reflection, store) = reflection();
        let version = |version: &str| {
            let mut shown = object("a", "old", 0);
            shown.object.metadata.resource_version = Some(version.to_owned());
            shown
        };
        for versions in [["a7", "a8"], ["11", "a8"], ["a7", "12"]] {
            reflection.shown(0, version(versions[0]));
            assert_eq!(names(&store), ["a/old"], "{versions:?}");
            assert_eq!(
                reflection.gone(0, &version(versions[1]).object.metadata).len(),
                1,
                "{versions:?}"
            );
            assert!(store.is_empty(), "{versions:?}");
        }
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
        reflection.membership.joined(list, "b");
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
        reflection.membership.joined(list, "b");
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
