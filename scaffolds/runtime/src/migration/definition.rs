//! A CRD as a migration needs it: which version is stored, which others objects may still be stored in, and the end of
//! these in its status.

use k8s_openapi::jiff::Timestamp;
use kube::{
    Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Object, Patch},
};
use serde::Deserialize;
use serde_json::json;

use super::{MANAGER, patience::patiently};
use crate::{
    api::Requests,
    error::{Error, Result},
    kind::Kind,
};

/// The maximum number of changes of the CRD, outside of its spec, between reading it and writing its status.
const TRIES: usize = 10;

/// The fields that are read of a CRD. Kubernetes' own type contains every keyword of a schema, which is much code for
/// so few fields.
type Crd = Object<Spec, Status>;

#[derive(Clone, Debug, Deserialize, serde::Serialize)]
struct Spec {
    group: String,
    scope: String,
    names: Names,
    versions: Vec<DefinitionVersion>,
}

#[derive(Clone, Debug, Deserialize, serde::Serialize)]
struct Names {
    kind: String,
    plural: String,
}

#[derive(Clone, Debug, Deserialize, serde::Serialize)]
struct DefinitionVersion {
    name: String,
    served: bool,
    storage: bool,
}

#[derive(Clone, Debug, Default, Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    stored_versions: Option<Vec<String>>,
}

/// A CRD, at one resourceVersion.
pub(super) struct Definition(Crd);

impl Definition {
    /// Reads the CRD of this name; `None` if it is not installed.
    pub(super) async fn read(client: &Client, name: &str) -> Result<Option<Self>> {
        let kind = kind();
        let found = Requests::within(client, &kind, None).get(name).await?;
        Ok(found.map(Self))
    }

    fn name(&self) -> &str {
        self.0.metadata.name.as_deref().unwrap_or_default()
    }

    /// Whether it is being deleted, and all objects of the kind with it.
    pub(super) fn is_deleting(&self) -> bool {
        self.0.metadata.deletion_timestamp.is_some()
    }

    /// The version in which objects are stored when they are written. API servers accept no CRD without one.
    pub(super) fn storage(&self) -> &str {
        let versions = &self.0.spec.versions;
        let storage = versions.iter().find(|version| version.storage);
        storage.map_or("", |version| &version.name)
    }

    /// The other versions in which objects may be stored.
    pub(super) fn others(&self) -> Vec<String> {
        let stored = self
            .0
            .status
            .iter()
            .flat_map(|status| &status.stored_versions)
            .flatten();
        stored.filter(|version| *version != self.storage()).cloned().collect()
    }

    /// When anybody last changed it, but for its status.
    pub(super) fn changed(&self) -> Option<Timestamp> {
        let fields = self.0.metadata.managed_fields.iter().flatten();
        let spec = fields.filter(|entry| entry.subresource.as_deref().unwrap_or_default().is_empty());
        spec.filter_map(|entry| entry.time.as_ref().map(|time| time.0)).max()
    }

    /// The kind, in the storage version if that is served, so that objects are converted once; else in another one.
    ///
    /// # Errors
    /// If no version is served.
    pub(super) fn kind(&self) -> Result<Kind<DynamicObject>> {
        let spec = &self.0.spec;
        let served = || spec.versions.iter().filter(|version| version.served);
        let version = served().find(|version| version.storage).or_else(|| served().next());
        let Some(version) = version else {
            let text = format!("`{}` serves no version: its objects cannot be written", self.name());
            return Err(Error::Setup(format!(
                "{text}\n\nhint: serve one until they are migrated"
            )));
        };
        let names = GroupVersionKind::gvk(&spec.group, &version.name, &spec.names.kind);
        let resource = ApiResource::from_gvk_with_plural(&names, &spec.names.plural);
        Ok(match spec.scope.as_str() {
            "Cluster" => Kind::cluster_scoped(resource),
            _ => Kind::namespaced(resource),
        })
    }

    /// Leaves the storage version alone in `status.storedVersions`. Returns false, and changes nothing, if the spec has
    /// changed since the CRD was read: another version may have been the storage version meanwhile.
    pub(super) async fn cut(&self, client: &Client) -> Result<bool> {
        let kind = kind();
        let requests = Requests::within(client, &kind, None);
        let mut version = self.0.metadata.resource_version.clone();
        for _ in 0..TRIES {
            let patch = Patch::Merge(json!({
                "metadata": {"resourceVersion": version},
                "status": {"storedVersions": [self.storage()]},
            }));
            let write = async || match requests.patch(self.name(), Some("status"), &patch, MANAGER).await {
                Ok(_) => Ok(true),
                Err(error) if error.code() == Some(409) => Ok(false),
                Err(error) => Err(error),
            };
            if patiently(write).await? {
                return Ok(true);
            }
            let now = patiently(async || requests.get(self.name()).await).await?;
            match now.map(|it| it.metadata) {
                // The generation counts changes of the spec; a CRD that was created anew has another uid.
                Some(now) if (&now.uid, now.generation) == (&self.0.metadata.uid, self.0.metadata.generation) => {
                    version = now.resource_version;
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

fn kind() -> Kind<Crd> {
    let names = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Kind::cluster_scoped(ApiResource::from_gvk(&names))
}
