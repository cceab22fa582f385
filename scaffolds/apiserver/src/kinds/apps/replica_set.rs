//! ReplicaSets.

use crate::{
    kinds::{
        edit::{Fields, set, within},
        faults::Faults,
        kind::BuiltInKind,
        located::Located,
        workload::{self, counts, not_more, not_more_than_replicas, replicated, selection},
    },
    strategy::{Generation, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            scale: Some(workload::scale()),
            generation: Generation::COUNTED,
            ..Rules::default()
        },
        defaults: &[("apps.v1.ReplicaSet", default)],
        validate,
        validate_update,
        validate_status: |new, _, faults| validate_status(new, faults),
        warnings: workload::template_warnings,
        cells: workload::replica_cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    if let Some(spec) = within(object, "spec") {
        set(spec, "replicas", 1);
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    faults.not_negative(&spec.get("replicas"));
    faults.not_negative(&spec.get("minReadySeconds"));
    selection(&spec, "deployment", faults);
    replicated(&spec, faults);
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    faults.immutable(&new.at("spec.selector"), &old.at("spec.selector"));
}

/// Validates the status of a ReplicaSet or a ReplicationController.
pub(in crate::kinds) fn validate_status(new: &Located<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    counts(&status, &names, faults);
    not_more_than_replicas(
        &status,
        &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
        faults,
    );
    not_more(
        &status.get("availableReplicas"),
        &status.get("readyReplicas"),
        "cannot be greater than readyReplicas",
        faults,
    );
}
