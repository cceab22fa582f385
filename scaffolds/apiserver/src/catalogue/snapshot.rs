//! The resources at one moment, found by the path of a request, by the kind in an owner reference, or by the name of
//! the resource in the store.

use std::{collections::BTreeMap, sync::Arc};

use kubewright_machinery::{go, names::group_version};
use kubewright_schema::version::priority;

use crate::resource::Resource;

/// The resources at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// Increases with every change: documents of discovery and OpenAPI are valid while it stays the same.
    pub generation: u64,
    groups: BTreeMap<String, Group>,
    /// By resource name in the store: all versions of a resource, and of those resources that share its objects.
    stored: BTreeMap<String, Vec<Arc<Resource>>>,
}

/// An API group.
#[derive(Clone, Default)]
struct Group {
    /// Whether the group is built in; the others come from CRDs.
    built_in: bool,
    versions: BTreeMap<String, Version>,
}

#[derive(Clone, Default)]
struct Version {
    by_plural: BTreeMap<String, Arc<Resource>>,
    /// A kind has one resource in a version: no two definitions in a group are accepted with the same kind.
    by_kind: BTreeMap<String, Arc<Resource>>,
}

impl Snapshot {
    /// The resource of this plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.version(group, version)?.by_plural.get(plural).cloned()
    }

    /// The resource of this kind.
    pub fn kind(&self, group: &str, version: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.version(group, version)?.by_kind.get(kind)
    }

    /// The resource with this name in the store: in the storage version, if that is served.
    pub fn stored(&self, name: &str) -> Option<&Arc<Resource>> {
        let all = self.stored.get(name)?;
        let kept = all.iter().find(|it| it.version == it.storage_version);
        kept.or_else(|| all.first())
    }

    /// The resources whose objects have this name in the store: all versions, and other groups that share them.
    pub fn sharing(&self, name: &str) -> &[Arc<Resource>] {
        self.stored.get(name).map_or(&[], Vec::as_slice)
    }

    /// The names of all groups, the core group (empty) first.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// The real server's sentence about an object of another type than that of `resource`, which is built in. It names Go's
    /// types.
    pub fn another_type(&self, resource: &Resource, api_version: &str, kind: &str) -> String {
        let (group, version) = group_version(api_version);
        let known = self.is_built_in(group) && self.resources(group, version).any(|it| it.names.kind == kind);
        if known || ["Status", "DeleteOptions"].contains(&kind) {
            let package = match resource.group.split('.').next() {
                None | Some("") => "core",
                Some(package) => package,
            };
            return format!(
                "converting ({version}.{kind}) to ({package}.{}): unknown conversion",
                resource.names.kind
            );
        }
        let (kind, version) = (go::quote(kind), go::quote(api_version));
        format!("no kind {kind} is registered for version {version} in scheme \"pkg/runtime/scheme.go:111\"")
    }

    /// Whether this group is built in, which determines the answers to unknown paths below it.
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
        let version = self.version(group, version);
        version.into_iter().flat_map(|version| version.by_plural.values())
    }

    /// Every resource in every version.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.groups
            .values()
            .flat_map(|group| group.versions.values())
            .flat_map(|version| version.by_plural.values())
    }

    pub(super) fn add_built_in(&mut self, resource: Resource) {
        self.groups.entry(resource.group.clone()).or_default().built_in = true;
        self.add(resource);
    }

    pub(super) fn add(&mut self, resource: Resource) {
        let resource = Arc::new(resource);
        let names = &resource.names;
        let group = self.groups.entry(resource.group.clone()).or_default();
        let version = group.versions.entry(resource.version.clone()).or_default();
        let by_kind = version.by_kind.entry(names.kind.clone());
        by_kind.or_insert_with(|| Arc::clone(&resource));
        version.by_plural.insert(names.plural.clone(), Arc::clone(&resource));
        let stored = self.stored.entry(resource.store_name()).or_default();
        stored.push(resource);
        stored.sort_by(|a, b| (&a.group, &a.version).cmp(&(&b.group, &b.version)));
    }

    pub(super) fn remove(&mut self, group: &str, plural: &str) {
        let versions = self.groups.get_mut(group).map(|group| group.versions.values_mut());
        for version in versions.into_iter().flatten() {
            let Some(gone) = version.by_plural.remove(plural) else {
                continue;
            };
            let kind = &gone.names.kind;
            if version.by_kind.get(kind).is_some_and(|it| Arc::ptr_eq(it, &gone)) {
                version.by_kind.remove(kind);
            }
            let name = gone.store_name();
            if let Some(stored) = self.stored.get_mut(&name) {
                stored.retain(|it| !Arc::ptr_eq(it, &gone));
                if stored.is_empty() {
                    self.stored.remove(&name);
                }
            }
        }
    }

    /// Removes versions without resources, and the group if it has no versions left.
    pub(super) fn sweep(&mut self, name: &str) {
        let Some(group) = self.groups.get_mut(name) else {
            return;
        };
        group.versions.retain(|_, version| !version.by_plural.is_empty());
        if group.versions.is_empty() {
            self.groups.remove(name);
        }
    }

    fn version(&self, group: &str, version: &str) -> Option<&Version> {
        self.groups.get(group)?.versions.get(version)
    }
}
