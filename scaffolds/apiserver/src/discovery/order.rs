//! The order in which groups are listed: clients that look up a resource by its bare name take the first group that has
//! it.

use crate::catalogue::Snapshot;

/// The built-in groups, by their priority in kube-aggregator's registrations (v1.37).
const BUILT_IN: [&str; 21] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "storagemigration.k8s.io",
];

/// The groups below `/apis`, by descending priority; those of custom kinds come last, by name.
pub(super) fn groups(snapshot: &Snapshot) -> Vec<&str> {
    let mut groups: Vec<&str> = snapshot.groups().filter(|group| !group.is_empty()).collect();
    groups.sort_by_key(|group| (place(group), *group));
    groups
}

fn place(group: &str) -> usize {
    BUILT_IN.iter().position(|it| *it == group).unwrap_or(BUILT_IN.len())
}
