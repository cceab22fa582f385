//! The rules of the smaller groups.

use super::{
    check, events,
    kind::{PLAIN, Rules},
    prepare, warn,
};
use crate::strategy::NameRule;

pub(super) fn rules(group: &str, kind: &str) -> Option<Rules> {
    Some(match (group, kind) {
        ("autoscaling", "HorizontalPodAutoscaler") => Rules {
            validate: check::autoscaler,
            validate_update: check::autoscaler_update,
            ..PLAIN
        },
        ("coordination.k8s.io", "Lease") => Rules {
            creates_on_update: true,
            updates_unconditionally: false,
            create: prepare::lease,
            update: |new, _| prepare::lease(new),
            validate: check::lease,
            validate_update: |new, _, faults| check::lease(new, faults),
            ..PLAIN
        },
        ("events.k8s.io", "Event") => Rules {
            creates_on_update: true,
            validate: check::new_event,
            validate_update: check::new_event_update,
            stored_as: Some("/events"),
            write: events::to_core,
            read: events::from_core,
            fields: events::FIELDS,
            ..PLAIN
        },
        ("discovery.k8s.io", "EndpointSlice") => Rules {
            counts_generation: true,
            counts_metadata: Some("labels"),
            validate: check::endpoint_slice,
            validate_update: check::endpoint_slice_update,
            warnings: warn::endpoint_slice,
            ..PLAIN
        },
        ("policy", "PodDisruptionBudget") => Rules {
            counts_generation: true,
            updates_unconditionally: false,
            validate: check::budget,
            validate_update: |new, _, faults| check::budget(new, faults),
            ..PLAIN
        },
        ("networking.k8s.io", _) => return networking(kind),
        ("rbac.authorization.k8s.io", _) => return rbac(kind),
        ("scheduling.k8s.io", "PriorityClass") => Rules {
            counts_generation: true,
            validate: check::priority_class,
            validate_update: check::priority_class_update,
            ..PLAIN
        },
        ("storage.k8s.io", "StorageClass") => Rules {
            validate: check::storage_class,
            validate_update: check::storage_class_update,
            ..PLAIN
        },
        _ => return None,
    })
}

fn networking(kind: &str) -> Option<Rules> {
    Some(match kind {
        "Ingress" => Rules {
            counts_generation: true,
            validate: check::ingress,
            validate_update: |new, _, faults| check::ingress(new, faults),
            validate_status: |new, _, faults| check::ingress_status(new, faults),
            warnings: warn::ingress,
            status_warnings: warn::ingress_status,
            ..PLAIN
        },
        "IngressClass" => Rules {
            counts_generation: true,
            validate: check::ingress_class,
            validate_update: check::ingress_class_update,
            ..PLAIN
        },
        "NetworkPolicy" => Rules {
            counts_generation: true,
            tells_empty: &["spec"],
            counts_empty: true,
            validate: check::network_policy,
            validate_update: |new, _, faults| check::network_policy(new, faults),
            warnings: warn::network_policy,
            ..PLAIN
        },
        _ => return None,
    })
}

fn rbac(kind: &str) -> Option<Rules> {
    let plain = Rules {
        name: NameRule::PathSegment,
        creates_on_update: true,
        ..PLAIN
    };
    Some(match kind {
        "Role" => Rules {
            validate: |at, faults| check::role(at, false, faults),
            validate_update: |at, _, faults| check::role(at, false, faults),
            ..plain
        },
        "ClusterRole" => Rules {
            validate: |at, faults| check::role(at, true, faults),
            validate_update: |at, _, faults| check::role(at, true, faults),
            ..plain
        },
        "RoleBinding" | "ClusterRoleBinding" => Rules {
            validate: check::binding,
            validate_update: check::binding_update,
            ..plain
        },
        _ => return None,
    })
}
