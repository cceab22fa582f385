//! The writes that the workload controllers decide on, as values: a decision is a pure function, and its writes are sent
//! afterwards.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{controllers::act, effects::Cluster, meta, registry::Reply, state::Core, status::Status, store::Key};

pub(super) const DEPLOYMENTS: &str = "apps/deployments";
pub(super) const REPLICA_SETS: &str = "apps/replicasets";
pub(super) const REPLICATION_CONTROLLERS: &str = "/replicationcontrollers";
pub(super) const STATEFUL_SETS: &str = "apps/statefulsets";
pub(super) const DAEMON_SETS: &str = "apps/daemonsets";
pub(super) const REVISIONS: &str = "apps/controllerrevisions";
pub(super) const PODS: &str = "/pods";
pub(super) const SERVICES: &str = "/services";
pub(super) const ENDPOINTS: &str = "/endpoints";
pub(super) const SLICES: &str = "discovery.k8s.io/endpointslices";
pub(super) const EVENTS: &str = "/events";
pub(super) const NODES: &str = "/nodes";
pub(super) const BUDGETS: &str = "policy/poddisruptionbudgets";
pub(super) const CLAIMS: &str = "/persistentvolumeclaims";
pub(super) const VOLUMES: &str = "/persistentvolumes";
/// The finalizer of Pods that their Job has not yet counted.
pub(super) const TRACKING: &str = "batch.kubernetes.io/job-tracking";
pub(super) const CLASSES: &str = "storage.k8s.io/storageclasses";

/// One write. Updates have the resourceVersion of the object that the decision is about, so they are refused if the
/// object has changed meanwhile, and that change causes another decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Creates the object.
    Create(Value),
    /// Replaces the object.
    Update(Value),
    /// Replaces the status of the object.
    Status(Value),
    /// Deletes the object, with this grace period or its own.
    Delete(Value, Option<i64>),
    /// Deletes the object, with this propagation policy.
    Cascade(Value, &'static str),
    /// Assigns the Pod to the node that its spec names here.
    Bind(Value),
}

impl Write {
    /// The object to write.
    pub fn object(&self) -> &Value {
        match self {
            Self::Create(object)
            | Self::Update(object)
            | Self::Status(object)
            | Self::Delete(object, _)
            | Self::Cascade(object, _)
            | Self::Bind(object) => object,
        }
    }

    /// The key of the object; the key of a new object may lack a name.
    pub(super) fn key(&self) -> Key {
        let resource = match self.object()["kind"].as_str() {
            Some("Deployment") => DEPLOYMENTS,
            Some("ReplicaSet") => REPLICA_SETS,
            Some("ReplicationController") => REPLICATION_CONTROLLERS,
            Some("Job") => super::jobs::JOBS,
            Some("CronJob") => super::cron_jobs::CRON_JOBS,
            Some("StatefulSet") => STATEFUL_SETS,
            Some("DaemonSet") => DAEMON_SETS,
            Some("ControllerRevision") => REVISIONS,
            Some("PodDisruptionBudget") => BUDGETS,
            Some("Service") => SERVICES,
            Some("Endpoints") => ENDPOINTS,
            Some("EndpointSlice") => SLICES,
            Some("Node") => NODES,
            Some("PersistentVolumeClaim") => CLAIMS,
            Some("PersistentVolume") => VOLUMES,
            Some("StorageClass") => CLASSES,
            Some("HorizontalPodAutoscaler") => super::autoscale::AUTOSCALERS,
            Some("Event") => EVENTS,
            _ => PODS,
        };
        let [namespace, name] = ["namespace", "name"].map(|field| meta::text(self.object(), field));
        Key::new(resource, namespace, name)
    }

    /// Whether the object has changed since the decision, or is gone. A refusal does not show it: webhooks choose its code.
    pub(super) fn is_outdated(&self, core: &Core) -> bool {
        let now = core.store.get(&self.key()).map(|record| record.revision.to_string());
        let is_new = matches!(self, Self::Create(_));
        !is_new && now.as_deref() != Some(meta::text(self.object(), "resourceVersion"))
    }

    /// Sends the write; returns the key of the written object.
    ///
    /// # Errors
    /// The Status of the refused write.
    pub(super) async fn send(&self, cluster: &Arc<Cluster>) -> Result<Key, Status> {
        let key = self.key();
        match self {
            Self::Create(object) => {
                let reply: Reply = act::post(cluster, &key, object).await?;
                let created: Value = serde_json::from_slice(&reply.object).unwrap_or_default();
                return Ok(Key::new(&key.resource, &key.namespace, meta::text(&created, "name")));
            }
            Self::Update(object) => _ = act::put(cluster, &key, "", object).await?,
            Self::Status(object) => _ = act::put(cluster, &key, "status", object).await?,
            Self::Delete(object, grace) => {
                let mut options = json!({"preconditions": {"uid": meta::text(object, "uid")}});
                if let Some(grace) = grace {
                    options["gracePeriodSeconds"] = json!(grace);
                }
                act::delete(cluster, &key, &options).await?;
            }
            Self::Cascade(object, policy) => {
                let preconditions = json!({"uid": meta::text(object, "uid")});
                let options = json!({"preconditions": preconditions, "propagationPolicy": policy});
                act::delete(cluster, &key, &options).await?;
            }
            Self::Bind(pod) => act::bind(cluster, &key, super::fields::text(pod, "/spec/nodeName")).await?,
        }
        Ok(key)
    }
}

/// The object with its controller: adoption. A Job tracks the Pods that it adopts.
pub(super) fn adopt(mut object: Value, owner: &Value) -> Write {
    if owner["kind"] == "Job" {
        object = without_finalizer(object, TRACKING);
        let mut finalizers = meta::texts(&object, "finalizers");
        finalizers.push(TRACKING);
        let finalizers = json!(finalizers);
        meta::set(&mut object, "finalizers", Some(finalizers));
    }
    let mut owners = super::fields::items(&object, "/metadata/ownerReferences").to_vec();
    owners.push(super::fields::reference(owner));
    meta::set(&mut object, "ownerReferences", Some(owners.into()));
    Write::Update(object)
}

/// The object without the reference to this owner: release.
pub(super) fn release(mut object: Value, owner: &Value) -> Write {
    let owners = super::fields::items(&object, "/metadata/ownerReferences").iter();
    let left: Vec<_> = owners
        .filter(|it| it["uid"] != meta::text(owner, "uid"))
        .cloned()
        .collect();
    meta::set(&mut object, "ownerReferences", (!left.is_empty()).then(|| left.into()));
    match owner["kind"] == "Job" {
        true => Write::Update(without_finalizer(object, TRACKING)),
        false => Write::Update(object),
    }
}

/// The object without this finalizer.
pub(super) fn without_finalizer(mut object: Value, finalizer: &str) -> Value {
    let mut left = meta::texts(&object, "finalizers");
    left.retain(|it| *it != finalizer);
    let left = (!left.is_empty()).then(|| json!(left));
    meta::set(&mut object, "finalizers", left);
    object
}
