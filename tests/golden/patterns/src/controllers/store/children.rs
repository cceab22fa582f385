//! The children of a Store, as manifests. The context adds the namespace and the owner.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::serde::de::DeserializeOwned;
use k8s_openapi::serde_json::{self, Value, json};
use kube::ResourceExt;
use kubewright_runtime::{Error, Result, child_name, label_value};

use super::Work;

/// The label that names the owner of a member.
const LABEL: &str = "test.example.com/store";

/// The annotation of a member with its configuration.
const CONFIG: &str = "test.example.com/config";

/// The port of clients.
const PORT: i32 = 7000;

/// The parts of a StatefulSet that follow the spec in steps.
pub struct Shape<'a> {
    pub members: i32,
    /// The size of claims, which cannot be changed.
    pub storage: &'a Quantity,
}

impl<'a> Shape<'a> {
    pub fn of(set: &'a StatefulSet) -> Option<Self> {
        let spec = &set.spec;
        let claim = spec.volume_claim_templates.as_ref()?.first()?;
        let resources = claim.spec.as_ref()?.resources.as_ref()?;
        Some(Self {
            members: spec.replicas?,
            storage: resources.requests.as_ref()?.get("storage")?,
        })
    }
}

impl<M> Work<'_, M> {
    /// Applies all children, but creates no StatefulSet. An existing StatefulSet keeps its shape and gets the newest template, from
    /// which the Pod of a member is created when the member is restarted.
    pub async fn apply_children(&self) -> Result<()> {
        // The password is made once, and never changed.
        self.cx.create_once(self.secret()?).await?;
        self.cx.apply_child(self.config()?).await?;
        self.cx.apply_child(self.peers()?).await?;
        self.cx.apply_child(self.service()?).await?;
        self.cx.apply_child(self.budget()?).await?;
        let found = self.cx.child::<StatefulSet>(&self.name)?;
        if let Some(shape) = found.as_deref().and_then(Shape::of) {
            self.cx.apply_child(self.set(&shape)?).await?;
        }
        Ok(())
    }

    pub fn pod(&self, ordinal: i32) -> String {
        format!("{}-{ordinal}", self.name)
    }

    pub fn claim(&self, ordinal: i32) -> String {
        format!("data-{}", self.pod(ordinal))
    }

    /// The name of a member for its peers and its clients.
    pub fn host(&self, ordinal: i32) -> String {
        let (pod, peers) = (self.pod(ordinal), self.peers_name());
        format!("{pod}.{peers}.{}.svc", self.cx.namespace())
    }

    fn peers_name(&self) -> String {
        child_name(&self.name, "members")
    }

    /// Selects the Pods and claims of all members.
    pub fn selector(&self) -> String {
        format!("{LABEL}={}", label_value(&self.object.name_any()))
    }

    fn labels(&self) -> Value {
        json!({ LABEL: label_value(&self.object.name_any()) })
    }

    fn secret(&self) -> Result<Secret> {
        let password = u128::from_ne_bytes(self.cx.random("password")?);
        let password = format!("{password:032x}");
        of(json!({
            "metadata": { "name": self.name },
            "stringData": { "PASSWORD": password },
        }))
    }

    fn config(&self) -> Result<ConfigMap> {
        of(json!({ "metadata": { "name": self.name }, "data": self.data() }))
    }

    fn data(&self) -> Value {
        let type_ = self.object.spec.r#type.as_deref().unwrap_or_default();
        json!({ "TARGET": self.object.spec.target, "TYPE": type_ })
    }

    /// Gives each member a host name.
    fn peers(&self) -> Result<Service> {
        of(json!({
            "metadata": { "name": self.peers_name() },
            "spec": {
                "clusterIP": "None",
                // Members find each other before they are ready.
                "publishNotReadyAddresses": true,
                "selector": self.labels(),
                "ports": [{ "name": "main", "port": PORT }],
            },
        }))
    }

    /// For clients: leads to ready members.
    fn service(&self) -> Result<Service> {
        of(json!({
            "metadata": { "name": self.name },
            "spec": {
                "selector": self.labels(),
                "ports": [{ "name": "main", "port": PORT }],
            },
        }))
    }

    /// Lets the drain of a node stop one member at a time.
    fn budget(&self) -> Result<PodDisruptionBudget> {
        of(json!({
            "metadata": { "name": self.name },
            "spec": {
                "maxUnavailable": 1,
                "selector": { "matchLabels": self.labels() },
            },
        }))
    }

    pub fn set(&self, shape: &Shape<'_>) -> Result<StatefulSet> {
        let name = &self.name;
        let image = format!("{}:{}", self.image, self.object.spec.version);
        let container = json!({
            "name": "main",
            "image": image,
            "envFrom": [{ "configMapRef": { "name": name } }, { "secretRef": { "name": name } }],
            "ports": [{ "name": "main", "containerPort": PORT }],
            "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": { "drop": ["ALL"] },
            },
        });
        of(json!({
            "metadata": { "name": name },
            "spec": {
                "serviceName": self.peers_name(),
                "replicas": shape.members,
                "selector": { "matchLabels": self.labels() },
                // The operator decides which member is stopped, and when.
                "updateStrategy": { "type": "OnDelete" },
                // A member that cannot start does not keep others from being replaced.
                "podManagementPolicy": "Parallel",
                // The data outlives the Store, but not a member that was removed.
                "persistentVolumeClaimRetentionPolicy": { "whenDeleted": "Retain", "whenScaled": "Delete" },
                "template": {
                    "metadata": {
                        "labels": self.labels(),
                        // Members read it when they start, so a change restarts them, as another version does.
                        "annotations": { CONFIG: self.data().to_string() },
                    },
                    "spec": {
                        "containers": [container],
                        // The Pod has no access to the API server.
                        "automountServiceAccountToken": false,
                        "securityContext": {
                            "runAsNonRoot": true,
                            "fsGroup": 65532,
                            "seccompProfile": { "type": "RuntimeDefault" },
                        },
                        "topologySpreadConstraints": [{
                            "maxSkew": 1,
                            "topologyKey": "kubernetes.io/hostname",
                            "whenUnsatisfiable": "ScheduleAnyway",
                            "labelSelector": { "matchLabels": self.labels() },
                        }],
                    },
                },
                "volumeClaimTemplates": [{
                    "metadata": { "name": "data" },
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": self.object.spec.storage.class,
                        "resources": { "requests": { "storage": shape.storage } },
                    },
                }],
            },
        }))
    }
}

pub fn of<K: DeserializeOwned>(manifest: Value) -> Result<K> {
    let invalid = |error: serde_json::Error| Error::terminal("Manifest", error.to_string());
    serde_json::from_value(manifest).map_err(invalid)
}
