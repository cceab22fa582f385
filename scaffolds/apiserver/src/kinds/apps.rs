//! The rules of `apps/v1`.

use super::{
    check,
    kind::{PLAIN, Rules, keep_metadata},
    prepare, warn,
};
use crate::strategy::NameRule;

const SCALE: [&str; 3] = [".spec.replicas", ".status.replicas", ".spec.selector"];

pub(super) fn rules(kind: &str) -> Option<Rules> {
    Some(match kind {
        "Deployment" => Rules {
            counts_generation: true,
            counts_metadata: Some("annotations"),
            scale: Some(SCALE),
            update_status: |new, old| keep_metadata(new, old, "labels"),
            validate: check::deployment,
            validate_update: check::deployment_update,
            validate_status: |new, old, faults| check::deployment_status(new, old, faults),
            warnings: warn::named_set,
            ..PLAIN
        },
        "ReplicaSet" => Rules {
            counts_generation: true,
            scale: Some(SCALE),
            validate: check::replica_set,
            validate_update: check::replica_set_update,
            validate_status: |new, _, faults| check::replica_set_status(new, faults),
            warnings: warn::named_set,
            ..PLAIN
        },
        "StatefulSet" => Rules {
            name: NameRule::Label,
            counts_generation: true,
            scale: Some(SCALE),
            validate: check::stateful_set,
            validate_update: check::stateful_set_update,
            validate_status: |new, old, faults| check::stateful_set_status(new, old, faults),
            warnings: warn::stateful_set,
            ..PLAIN
        },
        "DaemonSet" => Rules {
            counts_generation: true,
            decoded: prepare::daemon_set_decoded,
            create: prepare::daemon_set,
            update: prepare::daemon_set_update,
            validate: check::daemon_set,
            validate_update: check::daemon_set_update,
            warnings: warn::daemon_set,
            ..PLAIN
        },
        "ControllerRevision" => Rules {
            validate: check::controller_revision,
            validate_update: check::controller_revision_update,
            ..PLAIN
        },
        _ => return None,
    })
}
