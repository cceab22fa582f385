//! What the server warns of in objects that it accepts: fields that do nothing, names that surprise, forms that go out of
//! use. A sentence each, in the server's words, order and all.

mod address;
mod network;
mod paths;
mod ports;
mod storage;
mod template;
mod workload;

pub(super) use self::{
    network::{
        endpoint_slice, endpoints, ingress, ingress_status, network_policy, node, pod_status, service, service_status,
    },
    storage::{claim, secret, service_account, volume},
    workload::{cron_job, daemon_set, job, named_set, pod, pod_template, stateful_set},
};

use super::at::At;

/// The sentences of one object, in order.
type Said = Vec<String>;

/// The object, and what it was before an update.
type Change<'c, 'v> = (&'c At<'v>, Option<&'c At<'v>>);

/// Whether a new object is spoken of, or one whose spec changed.
fn is_another((new, old): Change<'_, '_>) -> bool {
    let generation = |at: &At<'_>| at.at("metadata.generation").int();
    old.is_none_or(|old| generation(new) != generation(old))
}
