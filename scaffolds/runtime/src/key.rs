//! The name of one object of a known kind: what the work queue holds and what a reconciler is called with.

use std::{any::TypeId, fmt, sync::Arc};

use kube::Resource;

use crate::Object;

/// Namespace and name of an object; the namespace is absent for cluster-scoped kinds.
///
/// Cheap to clone (two reference counts). Displays as `namespace/name`, or `name` without a namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    namespace: Option<Arc<str>>,
    name: Arc<str>,
}

impl ObjectKey {
    /// The key of the object `name` in `namespace`. An empty namespace means none, as in the Kubernetes API.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self {
            namespace: namespace.filter(|ns| !ns.is_empty()).map(Arc::from),
            name: Arc::from(name),
        }
    }

    /// The key of an object as the API server returned it. An object without a name (one not created yet)
    /// has the empty name.
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self::new(meta.namespace.as_deref(), meta.name.as_deref().unwrap_or_default())
    }

    /// The namespace, unless the kind is cluster-scoped.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Whether the kind lives in namespaces.
pub(crate) fn is_namespaced<K: Object>() -> bool {
    TypeId::of::<K::Scope>() != TypeId::of::<k8s_openapi::ClusterResourceScope>()
}
