//! The kind of objects as a value: of a Rust type, or known only while the operator runs.

use std::{any::TypeId, borrow::Cow, fmt, hash, marker::PhantomData, sync::Arc};

use k8s_openapi::ClusterResourceScope;
use kube::{
    Client, Resource,
    core::{ApiResource, GroupVersionKind},
    discovery::{Scope, pinned_kind},
};

use crate::error::{Error, Result};

/// The kind of objects of type `K`, with its group, version and resource. Cheap to clone for a kind that has a Rust
/// type.
///
/// A kind of `K = DynamicObject` has no Rust type. Two such kinds are equal if group, version and resource (the plural)
/// are: each has a cache of its own. A kind with a Rust type and a kind of `DynamicObject` are never equal, because
/// their caches hold values of different types.
pub struct Kind<K> {
    group: Cow<'static, str>,
    version: Cow<'static, str>,
    kind: Cow<'static, str>,
    plural: Cow<'static, str>,
    namespaced: bool,
    id: KindId,
    object: PhantomData<fn() -> K>,
}

/// The identity of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId {
    object: TypeId,
    /// Group, version and resource, unless they follow from the Rust type.
    resource: Option<Arc<str>>,
}

impl<K: Resource<DynamicType = ()> + 'static> Kind<K> {
    /// The kind of a Rust type.
    pub fn of() -> Self {
        Self {
            group: K::group(&()),
            version: K::version(&()),
            kind: K::kind(&()),
            plural: K::plural(&()),
            namespaced: TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>(),
            id: KindId {
                object: TypeId::of::<K>(),
                resource: None,
            },
            object: PhantomData,
        }
    }
}

impl<K: Resource<DynamicType = ApiResource> + 'static> Kind<K> {
    /// A namespaced kind without a Rust type. `K` is [`DynamicObject`](kube::core::DynamicObject), or
    /// `PartialObjectMeta<DynamicObject>` for metadata only.
    pub fn namespaced(resource: ApiResource) -> Self {
        Self::dynamic(resource, true)
    }

    /// As [`namespaced`](Self::namespaced), for a cluster-scoped kind.
    pub fn cluster_scoped(resource: ApiResource) -> Self {
        Self::dynamic(resource, false)
    }

    /// Reads the resource and the scope of a kind from the API server's discovery.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the request fails; [`Error::Setup`] if the API server does not serve the kind.
    pub async fn discover(client: &Client, kind: &GroupVersionKind) -> Result<Self> {
        match pinned_kind(client, kind).await {
            Ok((resource, capabilities)) => Ok(Self::dynamic(resource, capabilities.scope == Scope::Namespaced)),
            Err(kube::Error::Discovery(error)) => Err(Error::Setup(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn dynamic(resource: ApiResource, namespaced: bool) -> Self {
        let id = format!("{}/{}/{}", resource.group, resource.version, resource.plural);
        Self {
            group: resource.group.into(),
            version: resource.version.into(),
            kind: resource.kind.into(),
            plural: resource.plural.into(),
            namespaced,
            id: KindId {
                object: TypeId::of::<K>(),
                resource: Some(id.into()),
            },
            object: PhantomData,
        }
    }
}

impl<K> Kind<K> {
    /// The group; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The version, such as `v1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The name of the kind, such as `ConfigMap`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The resource, such as `configmaps`.
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Whether its objects are in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Group and version, such as `apps/v1`, or `v1` for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone().into_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether it is the kind of a Rust type.
    pub fn has_type(&self) -> bool {
        self.id.resource.is_none()
    }

    /// Its identity.
    pub fn id(&self) -> &KindId {
        &self.id
    }

    /// The path of the collection in a namespace; without a namespace, in all namespaces, or of a cluster-scoped kind.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "api" } else { "apis" };
        let (api_version, plural) = (self.api_version(), &self.plural);
        match namespace {
            Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{root}/{api_version}/{plural}"),
        }
    }

    /// `foobars.test.example.com`.
    pub(crate) fn resource(&self) -> String {
        with_group(&self.plural, &self.group)
    }

    /// `FooBar.test.example.com`.
    pub fn full_name(&self) -> String {
        with_group(&self.kind, &self.group)
    }
}

fn with_group(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

impl<K> Clone for Kind<K> {
    fn clone(&self) -> Self {
        Self {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
            plural: self.plural.clone(),
            namespaced: self.namespaced,
            id: self.id.clone(),
            object: PhantomData,
        }
    }
}

impl<K> PartialEq for Kind<K> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<K> Eq for Kind<K> {}

impl<K> hash::Hash for Kind<K> {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// Displays as `foobars.test.example.com/v1`.
impl<K> fmt::Display for Kind<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.resource(), self.version)
    }
}

impl<K> fmt::Debug for Kind<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({self})")
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};
    use kube::core::{DynamicObject, PartialObjectMeta};

    use super::*;

    fn dynamic(version: &str, plural: &str) -> Kind<DynamicObject> {
        let kind = GroupVersionKind::gvk("test.example.com", version, "FooBar");
        Kind::namespaced(ApiResource::from_gvk_with_plural(&kind, plural))
    }

    #[test]
    fn a_kind_of_a_rust_type_has_its_names_and_paths() {
        let (deployment, namespace) = (Kind::<Deployment>::of(), Kind::<Namespace>::of());
        assert_eq!(deployment.path(Some("a")), "/apis/apps/v1/namespaces/a/deployments");
        assert_eq!(namespace.path(None), "/api/v1/namespaces");
        assert_eq!((deployment.is_namespaced(), namespace.is_namespaced()), (true, false));
        assert_eq!([deployment.api_version(), namespace.api_version()], ["apps/v1", "v1"]);
        assert_eq!(
            [deployment.to_string(), namespace.to_string()],
            ["deployments.apps/v1", "namespaces/v1"]
        );
    }

    #[test]
    fn kinds_without_a_rust_type_differ_in_group_version_or_resource() {
        assert_eq!(dynamic("v1", "foobars"), dynamic("v1", "foobars"));
        for other in [dynamic("v2", "foobars"), dynamic("v1", "foos")] {
            assert_ne!(dynamic("v1", "foobars"), other);
        }
        let metadata = Kind::<PartialObjectMeta<DynamicObject>>::namespaced(ApiResource::erase::<Deployment>(&()));
        let typed = Kind::<PartialObjectMeta<Deployment>>::of();
        assert_ne!(metadata.id(), typed.id());
        assert_eq!(metadata.path(None), typed.path(None));
        assert_eq!(
            dynamic("v1", "foobars").path(Some("a")),
            "/apis/test.example.com/v1/namespaces/a/foobars"
        );
    }
}
