//! Leases.

use serde_json::Value;

use crate::{
    kinds::{edit::section, faults::Faults, kind::BuiltInKind, located::Located},
    strategy::{Passes, Put, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            put: Put::CREATES_CONDITIONALLY,
            passes: Passes::UPDATE,
            ..Rules::default()
        },
        prepare_create: prepare,
        prepare_update: |new, _| prepare(new),
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        cells: |row| vec![row.name(), row.text("spec.holderIdentity"), row.age()],
        ..BuiltInKind::default()
    }
}

/// Removes the fields of a feature that is disabled.
fn prepare(object: &mut Value) {
    if let Some(spec) = section(object, "spec") {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let (seconds, transitions) = (spec.get("leaseDurationSeconds"), spec.get("leaseTransitions"));
    if seconds.is_set() && seconds.int() <= 0 {
        faults.invalid(&seconds, "must be greater than 0");
    }
    faults.not_negative(&transitions);
}
