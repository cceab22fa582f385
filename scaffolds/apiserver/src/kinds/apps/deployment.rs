//! Deployments.

use serde_json::{Value, json};

use crate::{
    kinds::{
        edit::{Fields, keep_metadata, made, set, set_text, text, within},
        faults::Faults,
        int_or_percent::{amount, at_most_all, share},
        kind::BuiltInKind,
        located::Located,
        row::Row,
        workload::{self, counts, decrement, not_more, not_more_than_replicas, replicated, selection},
    },
    strategy::{Generation, Resets, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            scale: Some(workload::scale()),
            generation: Generation {
                metadata: Some("annotations"),
                ..Generation::COUNTED
            },
            resets: Resets {
                status: &["spec", "metadata.labels"],
                ..Resets::default()
            },
            ..Rules::default()
        },
        defaults: &[("apps.v1.Deployment", default)],
        prepare_status: |new, old| keep_metadata(new, old, "labels"),
        validate,
        validate_update,
        validate_status,
        warnings: workload::template_warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    set(spec, "progressDeadlineSeconds", 600);
    let Some(strategy) = made(spec, "strategy") else { return };
    set_text(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = made(strategy, "rollingUpdate")
    {
        set(rolling, "maxUnavailable", "25%");
        set(rolling, "maxSurge", "25%");
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    faults.not_negative(&spec.get("replicas"));
    selection(&spec, "deployment", faults);
    replicated(&spec, faults);
    strategy(&spec.get("strategy"), faults);
    let ready = spec.get("minReadySeconds");
    faults.not_negative(&ready);
    faults.not_negative(&spec.get("revisionHistoryLimit"));
    let deadline = spec.get("progressDeadlineSeconds");
    faults.not_negative(&deadline);
    if deadline.is_set() && deadline.int() <= ready.int() {
        faults.invalid(&deadline, "must be greater than minReadySeconds");
    }
}

fn strategy(at: &Located<'_>, faults: &mut Faults) {
    let rolling = at.get("rollingUpdate");
    match at.get("type").str() {
        "Recreate" if rolling.is_set() => {
            faults.forbidden(&rolling, "may not be specified when strategy `type` is 'Recreate'");
        }
        "Recreate" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            amount(&unavailable, faults);
            amount(&surge, faults);
            if share(&unavailable) == 0 && share(&surge) == 0 {
                faults.invalid(&unavailable, "may not be 0 when `maxSurge` is 0");
            }
            at_most_all(&unavailable, faults);
        }
        _ => {
            let r#type = at.get("type").value.to_string();
            let rolling = if rolling.is_set() {
                let part = |name: &str| rolling.get(name).value.to_string();
                format!(
                    r#"{{"MaxUnavailable":{},"MaxSurge":{}}}"#,
                    part("maxUnavailable"),
                    part("maxSurge")
                )
            } else {
                "null".to_owned()
            };
            let shown = format!(r#"{{"Type":{type},"RollingUpdate":{rolling}}}"#);
            faults.not_supported_as(at, &shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    faults.immutable(&new.at("spec.selector"), &old.at("spec.selector"));
}

fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    counts(&status, &names, faults);
    not_more_than_replicas(
        &status,
        &["updatedReplicas", "readyReplicas", "availableReplicas"],
        faults,
    );
    not_more(
        &status.get("availableReplicas"),
        &status.get("readyReplicas"),
        "cannot be greater than readyReplicas",
        faults,
    );
    decrement(&status, &old.get("status"), faults);
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let ready = json!(workload::print_ready(row));
    let mut cells = vec![row.name(), ready, row.int("status.updatedReplicas")];
    cells.extend([row.int("status.availableReplicas"), row.age()]);
    workload::with_containers(cells, row, true)
}
