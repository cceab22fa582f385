//! A resource in one version as served: its names, scope, verbs and subresources, and the strategy for its objects.
//! Discovery and the routing of requests use the catalogue of all resources.

use std::sync::Arc;

use crate::strategy::{Rules, Strategy};

/// The verbs of most resources, in the order in which discovery lists them.
pub const ALL_VERBS: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// One resource in one version: `apps/v1 deployments`.
pub struct Resource {
    /// Empty for the core group.
    pub group: String,
    /// For example `v1`.
    pub version: String,
    /// The names of the resource.
    pub names: Names,
    /// Whether it is namespaced.
    pub namespaced: bool,
    /// The verbs of the resource itself, as discovery lists them: `ALL_VERBS`, or some of them.
    pub verbs: &'static [&'static str],
    /// For example `status` and `scale`.
    pub subresources: Vec<Subresource>,
    /// The storage version; all versions of a resource share the store's keys.
    pub storage_version: String,
    /// The hash of the storage version in discovery; empty if there is none.
    pub storage_version_hash: String,
    /// The strategy for its objects.
    pub strategy: Arc<dyn Strategy>,
}

/// The names of a resource.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// For example `deployments`, the segment of the path.
    pub plural: String,
    /// For example `deployment`.
    pub singular: String,
    /// For example `Deployment`.
    pub kind: String,
    /// For example `DeploymentList`.
    pub list_kind: String,
    /// For example `deploy`.
    pub short_names: Vec<String>,
    /// For example `all`.
    pub categories: Vec<String>,
}

/// A subresource, for example `status`.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// The last segment of the path.
    pub name: String,
    /// The group of its kind: the resource's own kind for `status`, `autoscaling/v1 Scale` for `scale`.
    pub group: String,
    /// The version of its kind.
    pub version: String,
    /// Its kind.
    pub kind: String,
    /// Usually `get`, `patch` and `update`.
    pub verbs: &'static [&'static str],
}

impl Resource {
    /// The rules for all its objects.
    pub fn rules(&self) -> &Rules {
        self.strategy.rules()
    }

    /// The `apiVersion` of its objects: `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The resource in the store's keys: `/configmaps`, `apps/deployments`. All versions share it.
    pub fn store_name(&self) -> String {
        match self.rules().storage.name {
            Some(name) => name.to_owned(),
            None => format!("{}/{}", self.group, self.names.plural),
        }
    }

    /// Whether upstream has a Go type for the kind, as for all but custom kinds. Items of its lists have no
    /// `apiVersion` and `kind`.
    pub fn is_typed(&self) -> bool {
        self.rules().is_built_in()
    }

    /// The name of the resource in messages: `configmaps` or `deployments.apps`.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.names.plural.clone()
        } else {
            format!("{}.{}", self.names.plural, self.group)
        }
    }
}
