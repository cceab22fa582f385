//! What the server refuses, kind by kind, in its order and words. What is not checked here and refused there stands in
//! the ledger of fidelity.

mod access;
mod address;
mod container;
mod cron;
mod event;
mod failure_policy;
mod format;
mod ingress;
mod job;
mod labels;
mod network_policy;
mod objects;
mod pod;
mod pod_update;
mod resources;
mod scaling;
mod service;
mod spread;
mod storage;
mod success_policy;
mod sysctl;
mod system;
mod volume;
mod workload;

pub(in crate::kinds) use self::{
    access::{binding, binding_update, role},
    event::{event, event_update, new_event, new_event_update},
    format::{label, label_value},
    ingress::{ingress, ingress_class, ingress_class_update, ingress_status},
    job::{cron_job, job, job_update},
    network_policy::network_policy,
    objects::{
        config_map, config_map_update, lease, namespace, priority_class, priority_class_update, quota, secret,
        secret_update,
    },
    pod::{pod, pod_template},
    pod_update::{pod_status, pod_update},
    scaling::{autoscaler, autoscaler_update, budget},
    service::{endpoint_slice, endpoint_slice_update, endpoints, service, service_status, service_update},
    storage::{claim, claim_update, storage_class, storage_class_update, volume as persistent_volume, volume_update},
    workload::{
        controller_revision, controller_revision_update, daemon_set, daemon_set_update, deployment, deployment_status,
        deployment_update, replica_set, replica_set_status, replica_set_update, replication_controller, stateful_set,
        stateful_set_status, stateful_set_update,
    },
};
