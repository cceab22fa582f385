//! PersistentVolumeClaims.

use std::cmp::Ordering;

use kubewright_machinery::quantity::Quantity;
use serde_json::{Value, json};

use crate::{
    kinds::{
        amounts::{is_native, quantity},
        edit::{Fields, add_finalizer, default_phase, section, set},
        faults::{Faults, quoted},
        format::qualified,
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
        row::{Row, or},
        semantic,
        volume::{CLASS, claim_spec, print_class, print_modes, print_or_unset, print_phase, warn_of_claim_spec},
    },
    strategy::{Deletion, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            passes: Passes::UPDATE_THEN_VALIDATE,
            ..Rules::default()
        },
        defaults: &[
            ("core.v1.PersistentVolumeClaim", |claim| default_phase(claim, "Pending")),
            ("core.v1.PersistentVolumeClaimSpec", |spec| {
                set(spec, "volumeMode", "Filesystem")
            }),
        ],
        prepare_create,
        prepare_update,
        // The feature is off by default.
        prepare_status: |new, old| {
            if let (Some(status), true) = (section(new, "status"), old["status"]["healthStatus"].is_null()) {
                status.remove("healthStatus");
            }
        },
        validate,
        validate_update,
        validate_status,
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn prepare_create(object: &mut Value) {
    add_finalizer(object, "kubernetes.io/pvc-protection");
    if let Some(status) = section(object, "status") {
        status.insert("phase".to_owned(), json!("Pending"));
    }
    let Some(spec) = section(object, "spec") else { return };
    data_sources(spec, None);
}

fn prepare_update(new: &mut Value, old: &Value) {
    if let Some(spec) = section(new, "spec") {
        data_sources(spec, old.get("spec").and_then(Value::as_object));
    }
}

/// Drops data sources that a claim may not have, unless it has them already, and completes the two fields for them by each other.
fn data_sources(spec: &mut Fields, before: Option<&Fields>) {
    let had = |field: &str| before.is_some_and(|before| before.get(field).is_some_and(Value::is_object));
    let is_elsewhere = |reference: &Value| !Located::root(reference).get("namespace").str().is_empty();
    if spec.get("dataSourceRef").is_some_and(is_elsewhere) && !had("dataSourceRef") {
        spec.remove("dataSourceRef");
    }
    // Data sources of other kinds than these two are dropped, for the sake of old clients.
    let known = [
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    ];
    let is_known = spec.get("dataSource").is_none_or(|source| {
        let at = Located::root(source);
        known.contains(&(at.get("apiGroup").str(), at.get("kind").str()))
    });
    if !is_known && !spec.contains_key("dataSourceRef") && !had("dataSource") {
        spec.remove("dataSource");
    }
    match (spec.get("dataSource").cloned(), spec.get("dataSourceRef").cloned()) {
        (Some(source), None) => _ = spec.insert("dataSourceRef".to_owned(), source),
        (None, Some(mut reference)) if !is_elsewhere(&reference) => {
            if let Some(fields) = reference.as_object_mut() {
                fields.remove("namespace");
            }
            spec.insert("dataSource".to_owned(), reference);
        }
        _ => {}
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    claim_spec(&at.get("spec"), faults);
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    validate(new, faults);
    let (spec, before) = (new.get("spec"), old.get("spec"));
    let bound = new.at("status.phase").str() == "Bound";
    let (mut now, mut was) = (spec.value.clone(), before.value.clone());
    if before.get("volumeName").str().is_empty() {
        forget(&mut now, "/volumeName");
        forget(&mut was, "/volumeName");
    }
    let class = spec.get("storageClassName");
    let [note, annotation] = [new, old].map(|claim| claim.at("metadata.annotations").get(CLASS));
    let completes = class.is_set() && !before.get("storageClassName").is_set();
    let is_annotated = annotation.is_set() && annotation.str() == class.str();
    if completes && (!annotation.is_set() || is_annotated) {
        forget(&mut now, "/storageClassName");
    }
    // The field may replace the annotation.
    let replaces = completes && is_annotated && (!note.is_set() || note.value == annotation.value);
    if !replaces {
        faults.immutable_text(&note, &annotation);
    }
    if bound {
        for place in ["/resources/requests/storage", "/volumeAttributesClassName"] {
            forget(&mut now, place);
            forget(&mut was, place);
        }
    }
    if !semantic::equal("core.v1.PersistentVolumeClaimSpec", &now, &was) {
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        faults.forbidden(&spec, detail);
    }
    // An absent amount is nothing.
    let size = |at: &Located<'_>| quantity(at).or_else(|| Quantity::parse_exact("0").ok());
    let wanted = spec.at("resources.requests.storage");
    let (asked, actual) = (
        before.at("resources.requests.storage"),
        old.at("status.capacity.storage"),
    );
    if let (Some(new), Some(asked), Some(actual)) = (size(&wanted), size(&asked), size(&actual))
        && new.compare(&asked) == Ordering::Less
        && new.compare(&actual) != Ordering::Greater
    {
        faults.forbidden(&wanted, "field can not be less than status.capacity");
    }
    faults.immutable(&spec.get("volumeMode").called("volumeMode"), &before.get("volumeMode"));
    let attributes = spec.get("volumeAttributesClassName");
    let is_applied = old.at("status.currentVolumeAttributesClassName").is_set();
    if is_applied && attributes.value != before.get("volumeAttributesClassName").value {
        attributes_class(&attributes, faults);
    }
}

/// Checks that an applied VolumeAttributesClass is replaced by another one.
fn attributes_class(at: &Located<'_>, faults: &mut Faults) {
    let what = match at.value {
        Value::Null => "nil",
        Value::String(name) if name.is_empty() => "empty string",
        _ => return,
    };
    let detail = format!("update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil");
    faults.forbidden(at, &detail);
}

const RESIZE_STATES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

fn validate_status(new: &Located<'_>, _: &Located<'_>, faults: &mut Faults) {
    let status = new.get("status");
    for (_, amount) in status.get("capacity").entries() {
        whole_amount(&amount, faults);
    }
    let states = status.get("allocatedResourceStatuses");
    for (name, state) in states.entries() {
        resource_key(name, &states, faults);
        if !RESIZE_STATES.contains(&state.str()) {
            let mut known = RESIZE_STATES;
            known.sort_unstable();
            faults.not_supported_as(&states, &quoted(name), &known);
        }
    }
    let allocated = status.get("allocatedResources");
    for (name, amount) in allocated.entries() {
        let before = faults.len();
        resource_key(name, &allocated, faults);
        if faults.len() == before {
            whole_amount(&amount, faults);
        }
    }
}

fn whole_amount(at: &Located<'_>, faults: &mut Faults) {
    let whole = quantity(at).and_then(|amount| amount.rounded_up().integer());
    if let Some(whole) = whole.filter(|whole| *whole < 0) {
        faults.invalid_as(at, &whole.to_string(), "must be a valid resource quantity");
    }
}

/// The name of a resource that the storage of a claim may have: `storage`, or one of a driver.
fn resource_key(name: &str, at: &Located<'_>, faults: &mut Faults) {
    let wrong = qualified(name);
    if wrong.is_empty() && is_native(name) && name != "storage" {
        faults.not_supported_as(at, &quoted(name), &["storage"]);
    }
    for sentence in wrong {
        faults.invalid_as(at, &quoted(name), &sentence);
    }
}

fn forget(value: &mut Value, place: &str) {
    let (outer, name) = place.rsplit_once('/').unwrap_or_default();
    if let Some(fields) = value.pointer_mut(outer).and_then(Value::as_object_mut) {
        fields.remove(name);
    }
}

fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    if at.at("metadata.annotations").get(CLASS).is_set() {
        warnings.push(format!(
            "metadata.annotations[{CLASS}]: deprecated since v1.8; use \"storageClassName\" attribute instead"
        ));
    }
    warn_of_claim_spec(&at.get("spec"), &mut warnings);
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let name = row.get("spec.volumeName").str();
    let (capacity, modes) = match name {
        "" => (json!(""), String::new()),
        _ => (
            or(row.get("status.capacity.storage").str(), "0"),
            print_modes(&row.get("status.accessModes")),
        ),
    };
    let attributes = print_or_unset(&row.get("spec.volumeAttributesClassName"));
    let mode = print_or_unset(&row.get("spec.volumeMode"));
    let class = json!(print_class(row));
    vec![
        row.name(),
        print_phase(row),
        json!(name),
        capacity,
        json!(modes),
        class,
        attributes,
        row.age(),
        mode,
    ]
}
