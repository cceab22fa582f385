//! The rules of the core group's kinds.

use super::{
    check,
    kind::{PLAIN, Rules},
    prepare, warn,
};
use crate::strategy::NameRule;

pub(super) fn rules(kind: &str) -> Option<Rules> {
    Some(match kind {
        "ConfigMap" => Rules {
            tells_empty: &["binaryData"],
            validate: check::config_map,
            validate_update: check::config_map_update,
            ..PLAIN
        },
        "Secret" => Rules {
            decoded: prepare::secret,
            tells_empty: &["data"],
            validate: check::secret,
            validate_update: check::secret_update,
            warnings: warn::secret,
            fields: &[("type", "/type", "")],
            ..PLAIN
        },
        "ServiceAccount" => Rules {
            warnings: warn::service_account,
            ..PLAIN
        },
        "Service" => service_rules(),
        "Endpoints" => Rules {
            creates_on_update: true,
            validate: check::endpoints,
            validate_update: |new, _, faults| check::endpoints(new, faults),
            warnings: warn::endpoints,
            deprecation: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
            ..PLAIN
        },
        "Event" => Rules {
            creates_on_update: true,
            validate: check::event,
            validate_update: |new, _, faults| check::event_update(new, faults),
            fields: EVENT_FIELDS,
            ..PLAIN
        },
        "LimitRange" => Rules {
            creates_on_update: true,
            ..PLAIN
        },
        "ResourceQuota" => Rules {
            validate: check::quota,
            validate_update: |new, _, faults| check::quota(new, faults),
            ..PLAIN
        },
        "PodTemplate" => Rules {
            counts_generation: true,
            validate: |at, faults| check::pod_template(&at.get("template"), faults),
            validate_update: |at, _, faults| check::pod_template(&at.get("template"), faults),
            warnings: warn::pod_template,
            ..PLAIN
        },
        "Pod" => pod_rules(),
        "ReplicationController" => Rules {
            counts_generation: true,
            scale: Some([".spec.replicas", ".status.replicas", ".spec.selector"]),
            validate: check::replication_controller,
            validate_update: |new, _, faults| check::replication_controller(new, faults),
            warnings: warn::named_set,
            fields: &[("status.replicas", "/status/replicas", "0")],
            ..PLAIN
        },
        _ => return cluster(kind),
    })
}

/// Of the cluster rather than of namespaces, and claims.
fn cluster(kind: &str) -> Option<Rules> {
    Some(match kind {
        "Namespace" => Rules {
            name: NameRule::Label,
            create: prepare::namespace,
            update: prepare::namespace_update,
            validate: check::namespace,
            fields: &[("status.phase", "/status/phase", "")],
            ..PLAIN
        },
        "Node" => Rules {
            clears_status: false,
            create: prepare::node,
            warnings: warn::node,
            fields: &[("spec.unschedulable", "/spec/unschedulable", "false")],
            ..PLAIN
        },
        "PersistentVolume" => Rules {
            create: prepare::volume,
            validate: check::persistent_volume,
            validate_update: check::volume_update,
            warnings: warn::volume,
            ..PLAIN
        },
        "PersistentVolumeClaim" => Rules {
            create: prepare::claim,
            validate: check::claim,
            validate_update: check::claim_update,
            warnings: warn::claim,
            ..PLAIN
        },
        _ => return None,
    })
}

const EVENT_FIELDS: &[(&str, &str, &str)] = &[
    ("involvedObject.kind", "/involvedObject/kind", ""),
    ("involvedObject.namespace", "/involvedObject/namespace", ""),
    ("involvedObject.name", "/involvedObject/name", ""),
    ("involvedObject.uid", "/involvedObject/uid", ""),
    ("involvedObject.apiVersion", "/involvedObject/apiVersion", ""),
    ("involvedObject.resourceVersion", "/involvedObject/resourceVersion", ""),
    ("involvedObject.fieldPath", "/involvedObject/fieldPath", ""),
    ("reason", "/reason", ""),
    ("reportingComponent", "/reportingComponent", ""),
    ("source", "/source/component", "/reportingComponent"),
    ("type", "/type", ""),
];

fn service_rules() -> Rules {
    Rules {
        name: NameRule::Label,
        creates_on_update: true,
        allocates: true,
        validate: check::service,
        validate_update: check::service_update,
        validate_status: |new, _, faults| check::service_status(new, faults),
        warnings: warn::service,
        status_warnings: warn::service_status,
        fields: &[
            ("spec.clusterIP", "/spec/clusterIP", ""),
            ("spec.type", "/spec/type", ""),
        ],
        ..PLAIN
    }
}

fn pod_rules() -> Rules {
    Rules {
        counts_generation: true,
        create: prepare::pod,
        update: prepare::pod_update,
        update_status: prepare::pod_status,
        validate: check::pod,
        validate_update: check::pod_update,
        validate_status: |new, _, faults| check::pod_status(new, faults),
        warnings: warn::pod,
        status_warnings: warn::pod_status,
        fields: &[
            ("spec.nodeName", "/spec/nodeName", ""),
            ("spec.restartPolicy", "/spec/restartPolicy", ""),
            ("spec.schedulerName", "/spec/schedulerName", ""),
            ("spec.serviceAccountName", "/spec/serviceAccountName", ""),
            ("spec.hostNetwork", "/spec/hostNetwork", "false"),
            ("status.phase", "/status/phase", ""),
            ("status.podIP", "/status/podIPs/0/ip", ""),
            // An old name, and one that is accepted and has no value whatever the Pod.
            ("spec.host", "/spec/nodeName", ""),
            ("status.podIPs", "/-", ""),
            ("status.nominatedNodeName", "/status/nominatedNodeName", ""),
        ],
        ..PLAIN
    }
}
