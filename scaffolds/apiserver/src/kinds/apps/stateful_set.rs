//! StatefulSets.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    kinds::{
        edit::{Fields, each, made, set, set_text, text, within},
        faults::{Faults, quoted, shown as value_shown},
        format::label,
        int_or_percent::{amount, at_most_all, share},
        internal::fields_in_go,
        kind::{BuiltInKind, Change, Warnings},
        labels::{annotations, is_sound, labels, shown},
        located::Located,
        pod::{template::pod_template, warnings::template},
        semantic,
        volume::{claim_spec, warn_of_claim_spec},
        workload::{
            self, counts, decrement, forever, is_another, is_selective, matches, not_more, not_more_than_replicas,
            selection,
        },
    },
    strategy::{Generation, NameRule, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            name: NameRule::Label,
            scale: Some(workload::scale()),
            generation: Generation::COUNTED,
            ..Rules::default()
        },
        defaults: &[("apps.v1.StatefulSet", default)],
        validate,
        validate_update,
        validate_status,
        warnings,
        cells: |row| {
            let cells = vec![row.name(), json!(workload::print_ready(row)), row.age()];
            workload::with_containers(cells, row, false)
        },
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set_text(spec, "podManagementPolicy", "OrderedReady");
    set(spec, "replicas", 1);
    set(spec, "revisionHistoryLimit", 10);
    if let Some(strategy) = made(spec, "updateStrategy") {
        if text(strategy, "type").is_empty() {
            set_text(strategy, "type", "RollingUpdate");
            set(strategy, "rollingUpdate", json!({}));
        }
        if text(strategy, "type") == "RollingUpdate"
            && let Some(rolling) = within(strategy, "rollingUpdate")
        {
            set(rolling, "partition", 0);
            set(rolling, "maxUnavailable", 1);
        }
    }
    for claim in each(spec, "volumeClaimTemplates") {
        claim.insert("apiVersion".to_owned(), json!("v1"));
        claim.insert("kind".to_owned(), json!("PersistentVolumeClaim"));
    }
    if let Some(retention) = made(spec, "persistentVolumeClaimRetentionPolicy") {
        set_text(retention, "whenDeleted", "Retain");
        set_text(retention, "whenScaled", "Retain");
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    basics(&spec, faults);
    for claim in spec.get("volumeClaimTemplates").items() {
        claim_spec(&claim.get("spec"), faults);
    }
    rest(&spec, faults);
}

fn basics(spec: &Located<'_>, faults: &mut Faults) {
    let policy = spec.get("podManagementPolicy");
    if !matches!(policy.str(), "OrderedReady" | "Parallel") {
        faults.invalid(&policy, "must be 'OrderedReady' or 'Parallel'");
    }
    let strategy = spec.get("updateStrategy");
    let rolling = strategy.get("rollingUpdate");
    match strategy.get("type").str() {
        "OnDelete" if rolling.is_set() => {
            faults.invalid_as(
                &rolling,
                &rolling_in_go(&rolling),
                "only allowed for updateStrategy 'RollingUpdate'",
            );
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            faults.not_negative(&rolling.get("partition"));
            let unavailable = rolling.get("maxUnavailable");
            if unavailable.is_set() {
                amount(&unavailable, faults);
                if share(&unavailable) == 0 {
                    faults.invalid(&unavailable, "cannot be 0");
                }
                at_most_all(&unavailable, faults);
            }
        }
        other => {
            let rolling = rolling_in_go(&rolling);
            let shown = format!(r#"{{"Type":{},"RollingUpdate":{rolling}}}"#, quoted(other));
            faults.invalid_as(&strategy, &shown, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
    let retention = spec.get("persistentVolumeClaimRetentionPolicy");
    for name in ["whenDeleted", "whenScaled"] {
        faults.one_of(&retention.get(name), &["Retain", "Delete"]);
    }
}

/// The strategy of updates in Go's syntax, with the defaults that the server sets in it.
fn rolling_in_go(at: &Located<'_>) -> String {
    if !at.is_set() {
        return "null".to_owned();
    }
    let (partition, unavailable) = (at.get("partition").int(), at.get("maxUnavailable").value);
    format!(r#"{{"Partition":{partition},"MaxUnavailable":{unavailable}}}"#)
}

fn rest(spec: &Located<'_>, faults: &mut Faults) {
    for path in ["replicas", "minReadySeconds", "ordinals.start"] {
        faults.not_negative(&spec.at(path));
    }
    if !spec.get("serviceName").str().is_empty() {
        faults.format(&spec.get("serviceName"), label);
    }
    selection(spec, "statefulset", faults);
    let template = with_claims(spec);
    let at = Located {
        value: &template,
        path: format!("{}.template", spec.path),
    };
    let selector = spec.get("selector");
    if is_sound(&selector) {
        if !selector.is_set() || is_selective(spec) {
            matches(spec, faults);
        }
        // The server checks these twice.
        labels(&at.at("metadata.labels").called(&format!("{}.labels", at.path)), faults);
        let notes = at.at("metadata.annotations");
        annotations(&notes.called(&format!("{}.annotations", at.path)), faults);
        pod_template(&at, faults);
    } else {
        faults.invalid_as(&selector, &shown(&selector), "");
    }
    forever(&at, "StatefulSet", faults);
}

/// The template as it is validated: with a volume for each claim, and with the host name that the set gives.
fn with_claims(spec: &Located<'_>) -> Value {
    let mut template = spec.get("template").value.clone();
    let names: BTreeSet<&str> = spec
        .get("volumeClaimTemplates")
        .items()
        .map(|claim| claim.at("metadata.name").str())
        .collect();
    let Some(fields) = template.get_mut("spec").and_then(Value::as_object_mut) else {
        return template;
    };
    fields.remove("hostname");
    fields.remove("subdomain");
    if !names.is_empty() {
        let volume = |name: &&str| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let mut volumes: Vec<Value> = names.iter().map(volume).collect();
        let others = fields
            .get("volumes")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_other = |volume: &Value| !names.contains(&volume["name"].as_str().unwrap_or_default());
        volumes.extend(others.into_iter().filter(is_other));
        fields.insert("volumes".to_owned(), Value::Array(volumes));
    }
    template
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
    basics(&spec, faults);
    let without_name = without(spec.value, &["serviceName"]);
    rest(
        &Located {
            value: &without_name,
            path: spec.path.clone(),
        },
        faults,
    );
    for field in ["selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"] {
        let (now, was) = (spec.get(field), before.get(field));
        let [alone, before] = [&now, &was].map(|it| json!({field: it.value}));
        if !semantic::equal("apps.v1.StatefulSetSpec", &alone, &before) {
            let shown = match field {
                "volumeClaimTemplates" => claims_in_go(&now),
                _ => value_shown(now.value),
            };
            faults.invalid_as(&now, &shown, "field is immutable");
        }
    }
}

/// The fields of the metadata that a template may have, in Go's order.
const METADATA: [&str; 12] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
];

/// The claims in Go's syntax: only the metadata of the internal type has the names of JSON.
fn claims_in_go(at: &Located<'_>) -> String {
    if !at.is_set() {
        return "null".to_owned();
    }
    let claims: Vec<String> = at.items().map(|claim| claim_in_go(&claim)).collect();
    format!("[{}]", claims.join(","))
}

fn claim_in_go(claim: &Located<'_>) -> String {
    let metadata: Vec<String> = METADATA
        .iter()
        .filter(|name| claim.get("metadata").get(name).is_set())
        .map(|name| format!("\"{name}\":{},", claim.get("metadata").get(name).value))
        .collect();
    let spec = [
        "accessModes",
        "selector",
        "resources",
        "volumeName",
        "storageClassName",
        "volumeMode",
        "dataSource",
        "dataSourceRef",
        "volumeAttributesClassName",
    ];
    let status = [
        "phase",
        "accessModes",
        "capacity",
        "conditions",
        "allocatedResources",
        "allocatedResourceStatuses",
        "currentVolumeAttributesClassName",
        "modifyVolumeStatus",
        "healthStatus",
    ];
    format!(
        r#"{{{}"Spec":{{{}}},"Status":{{{}}}}}"#,
        metadata.concat(),
        fields_in_go("core.v1.PersistentVolumeClaimSpec", &claim.get("spec"), &spec),
        fields_in_go("core.v1.PersistentVolumeClaimStatus", &claim.get("status"), &status),
    )
}

fn without(value: &Value, names: &[&str]) -> Value {
    let mut value = value.clone();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
    value
}

fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
    ];
    counts(&status, &names, faults);
    let names = [
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
    ];
    not_more_than_replicas(&status, &names, faults);
    not_more(
        &status.get("availableReplicas"),
        &status.get("readyReplicas"),
        "cannot be greater than status.readyReplicas",
        faults,
    );
    decrement(&status, &old.get("status"), faults);
}

fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    let spec = at.get("spec");
    if is_another(Change { new: at, old }) {
        template(&spec.get("template"), &mut warnings);
    }
    for claim in spec.get("volumeClaimTemplates").items() {
        let path = match old {
            None => claim.path.clone(),
            Some(_) => format!("{}.Spec", claim.path),
        };
        warn_of_claim_spec(&claim.get("spec").called(&path), &mut warnings);
    }
    if spec.get("revisionHistoryLimit").int() < 0 {
        warnings.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                .to_owned(),
        );
    }
    warnings
}
