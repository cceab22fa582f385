//! All resources that are served, by group, version and plural. Readers take a snapshot and are never blocked; a change
//! (a CRD comes or goes) makes a new one.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use kubewright_schema::version::priority;

use crate::resource::Resource;

/// Which resources there are. Cheap to clone; all clones see the same.
#[derive(Clone, Default)]
pub struct Catalogue(Arc<RwLock<Arc<Snapshot>>>);

/// The resources at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// Goes up with every change: what discovery and OpenAPI print may be kept as long as it stays.
    pub generation: u64,
    groups: BTreeMap<String, Group>,
}

/// An API group.
#[derive(Clone, Default)]
struct Group {
    /// Whether the server itself has this group; the others come from CRDs.
    built_in: bool,
    /// By version, then by plural.
    versions: BTreeMap<String, BTreeMap<String, Arc<Resource>>>,
}

impl Catalogue {
    /// The resources as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A resource as it is now.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.snapshot().resource(group, version, plural)
    }

    /// Adds what the server has of itself, at start.
    pub fn add_built_in(&self, resources: impl IntoIterator<Item = Resource>) {
        self.change(|snapshot| {
            for resource in resources {
                snapshot.groups.entry(resource.group.clone()).or_default().built_in = true;
                snapshot.add(resource);
            }
        });
    }

    /// Serves these versions of a custom kind and no others: a CRD came, or changed.
    pub fn replace_custom(&self, group: &str, plural: &str, resources: impl IntoIterator<Item = Resource>) {
        self.change(|snapshot| {
            snapshot.remove(group, plural);
            resources.into_iter().for_each(|resource| snapshot.add(resource));
            snapshot.sweep();
        });
    }

    /// Serves no version of this resource any more: its CRD went.
    pub fn remove_custom(&self, group: &str, plural: &str) {
        self.replace_custom(group, plural, []);
    }

    fn change(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&current);
        change(&mut next);
        next.generation += 1;
        *current = Arc::new(next);
    }
}

impl Snapshot {
    /// The resource of this plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.groups.get(group)?.versions.get(version)?.get(plural).cloned()
    }

    /// The names of all groups, the core group (empty) first.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Whether this group is the server's own, so that the rest of its paths answer as such.
    pub fn is_built_in(&self, group: &str) -> bool {
        self.groups.get(group).is_some_and(|group| group.built_in)
    }

    /// The versions of a group, the preferred one first (GA before beta before alpha, then the highest).
    pub fn versions(&self, group: &str) -> Vec<&str> {
        let versions = self.groups.get(group).map(|group| group.versions.keys());
        let mut versions: Vec<&str> = versions.into_iter().flatten().map(String::as_str).collect();
        versions.sort_by(|a, b| priority(a, b));
        versions
    }

    /// The resources of a version, by plural.
    pub fn resources(&self, group: &str, version: &str) -> impl Iterator<Item = &Arc<Resource>> {
        let version = self.groups.get(group).and_then(|group| group.versions.get(version));
        version.into_iter().flat_map(BTreeMap::values)
    }

    /// Every resource in every version.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.groups
            .values()
            .flat_map(|group| group.versions.values())
            .flat_map(BTreeMap::values)
    }

    fn add(&mut self, resource: Resource) {
        let group = self.groups.entry(resource.group.clone()).or_default();
        let version = group.versions.entry(resource.version.clone()).or_default();
        version.insert(resource.names.plural.clone(), Arc::new(resource));
    }

    fn remove(&mut self, group: &str, plural: &str) {
        if let Some(group) = self.groups.get_mut(group) {
            for version in group.versions.values_mut() {
                version.remove(plural);
            }
        }
    }

    /// Versions and groups go with their last resource.
    fn sweep(&mut self) {
        for group in self.groups.values_mut() {
            group.versions.retain(|_, resources| !resources.is_empty());
        }
        self.groups.retain(|_, group| !group.versions.is_empty());
    }
}
