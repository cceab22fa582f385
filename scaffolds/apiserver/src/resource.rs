//! A kind in one version, as the server serves it: its names, scope, verbs and subresources, and the strategy that
//! knows its objects. The catalogue of all of them is what discovery prints and requests are resolved against.

use std::sync::Arc;

use crate::strategy::{Rules, Strategy};

/// One resource in one version: `apps/v1 deployments`.
pub struct Resource {
    /// Empty for the core group.
    pub group: String,
    /// `v1`.
    pub version: String,
    /// What it is called.
    pub names: Names,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// What may be done with the resource itself, as discovery prints it: `create`, `delete`, `deletecollection`,
    /// `get`, `list`, `patch`, `update`, `watch`.
    pub verbs: &'static [&'static str],
    /// `status`, `scale` and others.
    pub subresources: Vec<Subresource>,
    /// The version that the store keeps; all versions of a resource share the store's keys.
    pub storage_version: String,
    /// The hash that discovery prints for the storage version, empty where there is none.
    pub storage_version_hash: String,
    /// Knows the objects.
    pub strategy: Arc<dyn Strategy>,
}

/// The names of a resource.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// `deployments`: the segment of the path.
    pub plural: String,
    /// `deployment`.
    pub singular: String,
    /// `Deployment`.
    pub kind: String,
    /// `DeploymentList`.
    pub list_kind: String,
    /// `deploy`.
    pub short_names: Vec<String>,
    /// `all`.
    pub categories: Vec<String>,
}

/// A subresource, `status` for example.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// The last segment of the path.
    pub name: String,
    /// The kind that it speaks: the resource's own for `status`, `autoscaling/v1 Scale` for `scale`.
    pub group: String,
    /// Its version.
    pub version: String,
    /// Its kind.
    pub kind: String,
    /// Most have `get`, `patch`, `update`.
    pub verbs: &'static [&'static str],
}

impl Resource {
    /// What is the same for all its objects.
    pub fn rules(&self) -> &Rules {
        self.strategy.rules()
    }

    /// `v1` or `apps/v1`: the `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The resource in the store's keys: `/configmaps`, `apps/deployments`. All versions share one.
    pub fn store_name(&self) -> String {
        match self.rules().stored_as {
            Some(name) => name.to_owned(),
            None => format!("{}/{}", self.group, self.names.plural),
        }
    }

    /// Whether upstream has a Go type for it: all but custom kinds. Lists of those leave out what each object is.
    pub fn is_typed(&self) -> bool {
        self.rules().is_built_in
    }

    /// `configmaps` or `deployments.apps`: how messages name it.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.names.plural.clone()
        } else {
            format!("{}.{}", self.names.plural, self.group)
        }
    }

    /// `ConfigMap` or `Deployment.apps`: how messages about invalid objects name it.
    pub fn qualified_kind(&self) -> String {
        if self.group.is_empty() {
            self.names.kind.clone()
        } else {
            format!("{}.{}", self.names.kind, self.group)
        }
    }
}
