//! PodDisruptionBudgets.

use serde_json::Value;

use crate::{
    kinds::{
        conditions::conditions,
        faults::Faults,
        int_or_percent::{amount, at_most_all},
        kind::BuiltInKind,
        labels::selector,
        located::Located,
        row::{Row, shown_or},
    },
    strategy::{Generation, Passes, Put, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            put: Put::CONDITIONAL,
            passes: Passes::NONE,
            ..Rules::default()
        },
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        validate_status: |new, _, faults| validate_status(&new.get("status"), faults),
        cells,
        ..BuiltInKind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let limits = [spec.get("minAvailable"), spec.get("maxUnavailable")];
    if limits.iter().all(Located::is_set) {
        let part = |name: &str| spec.get(name).value.to_string();
        let shown = format!(
            r#"{{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}}"#,
            part("minAvailable"),
            part("selector"),
            part("maxUnavailable"),
            part("unhealthyPodEvictionPolicy")
        );
        faults.invalid_as(&spec, &shown, "minAvailable and maxUnavailable cannot be both set");
    }
    for limit in limits.iter().filter(|limit| limit.is_set()) {
        amount(limit, faults);
        at_most_all(limit, faults);
    }
    selector(&spec.get("selector"), faults);
    let policy = spec.get("unhealthyPodEvictionPolicy");
    if policy.is_set() {
        faults.one_of(&policy, &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

fn validate_status(status: &Located<'_>, faults: &mut Faults) {
    conditions(&status.get("conditions"), faults);
    for count in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        faults.not_negative(&status.get(count));
    }
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let limit = |path: &str| shown_or(&row.get(path), "N/A");
    let (least, most) = (limit("spec.minAvailable"), limit("spec.maxUnavailable"));
    vec![row.name(), least, most, row.int("status.disruptionsAllowed"), row.age()]
}
