//! The kinds of the group resource.k8s.io: devices, and claims to them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{keep_all_metadata, set_number, shown, texts};
use crate::{
    kinds::{
        edit::{Fields, each, set, set_text, text, within},
        faults::quoted,
        kind::{BuiltInKind, Change, Selectable, Warnings},
        located::Located,
        semantic,
    },
    meta,
};

pub(in crate::kinds) fn device_class() -> BuiltInKind {
    BuiltInKind::default().with_generation().returned_when_deleted()
}

pub(in crate::kinds) fn device_taint_rule() -> BuiltInKind {
    let mut rule = shown(|row| {
        let mut cells = vec![row.name()];
        cells.extend(["key", "value", "effect"].map(|field| row.text(&format!("spec.taint.{field}"))));
        cells.extend([json!(row.since("spec.taint.timeAdded")), row.age()]);
        cells
    })
    .with_generation()
    .with_separate_status();
    rule.rules.stamps.default = Some(|rule, now| {
        if let Some(taint) = rule.pointer_mut("/spec/taint").and_then(Value::as_object_mut) {
            set(taint, "timeAdded", now);
        }
    });
    rule.rules.stamps.update = Some(date_effect);
    rule
}

/// A change of the effect dates the taint anew.
fn date_effect(new: &mut Value, old: &Value, now: &str) {
    let before = &old["spec"]["taint"];
    if let Some(taint) = new.pointer_mut("/spec/taint")
        && taint["effect"] != before["effect"]
        && taint["timeAdded"] == before["timeAdded"]
    {
        taint["timeAdded"] = json!(now);
    }
}

pub(in crate::kinds) fn resource_claim() -> BuiltInKind {
    let claim = shown(|row| {
        let is_allocated = row.get("status.allocation").is_set();
        let states = [
            ("deleted", row.is_deleted()),
            ("pending", !is_allocated && !row.is_deleted()),
            ("allocated", is_allocated),
            ("reserved", is_allocated && row.get("status.reservedFor").len() > 0),
        ];
        let states: Vec<&str> = states
            .iter()
            .filter(|(_, is_so)| *is_so)
            .map(|(name, _)| *name)
            .collect();
        vec![row.name(), json!(states.join(",")), row.age()]
    });
    BuiltInKind {
        drops_disabled_from_status: true,
        prepare_status: |new, old| {
            keep_all_metadata(new, old);
            drop_deallocated(new, old);
        },
        ..claim.returned_when_deleted().with_separate_status().with_defaults(&[
            ("resource.v1.ExactDeviceRequest", default_request),
            ("resource.v1.DeviceSubRequest", default_request),
        ])
    }
}

fn default_request(request: &mut Fields) {
    set_text(request, "allocationMode", "ExactCount");
    if text(request, "allocationMode") == "ExactCount" {
        set_number(request, "count", 1);
    }
}

/// Removes the statuses of devices that are no longer allocated.
fn drop_deallocated(new: &mut Value, old: &Value) {
    let [next, before] = [&*new, old].map(|claim| {
        let results = Located::root(claim).at("status.allocation.devices.results");
        results
            .items()
            .map(|result| device_id(result.value))
            .collect::<BTreeSet<_>>()
    });
    let Some(status) = new.get_mut("status").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(devices) = status.get_mut("devices").and_then(Value::as_array_mut) {
        devices.retain(|device| {
            let id = device_id(device);
            !before.contains(&id) || next.contains(&id)
        });
        if devices.is_empty() {
            status.remove("devices");
        }
    }
}

/// Driver, pool, device and share.
fn device_id(fields: &Value) -> [String; 4] {
    ["driver", "pool", "device", "shareID"].map(|name| fields[name].as_str().unwrap_or_default().to_owned())
}

pub(in crate::kinds) fn resource_claim_template() -> BuiltInKind {
    BuiltInKind::default().returned_when_deleted()
}

pub(in crate::kinds) fn resource_slice() -> BuiltInKind {
    let mut slice = shown(|row| texts(row, &["spec.nodeName", "spec.driver", "spec.pool.name"]))
        .with_generation()
        .returned_when_deleted();
    slice.rules.stamps.default = Some(date_taints);
    BuiltInKind {
        selectable: const {
            &[
                Selectable::new("spec.nodeName", "/spec/nodeName"),
                Selectable::new("spec.driver", "/spec/driver"),
                Selectable::new("spec.pool.name", "/spec/pool/name"),
            ]
        },
        prepare_create: |slice| _ = without_disabled(slice),
        prepare_update: |new, old| {
            // Upstream counts a change before it removes the fields.
            if without_disabled(new) && semantic::equal("resource.v1.ResourceSliceSpec", &new["spec"], &old["spec"]) {
                meta::system::next_generation(new);
            }
        },
        warnings: upper_case_warnings,
        ..slice
    }
}

/// Removes the fields of features that are off by default, and returns whether there were any.
fn without_disabled(slice: &mut Value) -> bool {
    let Some(spec) = slice.as_object_mut().and_then(|slice| within(slice, "spec")) else {
        return false;
    };
    let mut has_any = removes(spec, &["partitionTypeAttribute", "skipNodeOperations"]);
    for device in each(spec, "devices") {
        has_any |= removes(device, &["nodeAllocatableResources"]);
        for consumption in each(device, "consumesCounters") {
            has_any |= removes(consumption, &["compatibilityGroups"]);
        }
        let attributes = within(device, "attributes").into_iter().flat_map(Fields::values_mut);
        for attribute in attributes.filter_map(Value::as_object_mut) {
            has_any |= removes(attribute, &["bools", "ints", "strings", "versions"]);
        }
    }
    has_any
}

/// Removes fields, and returns whether one was there.
fn removes(fields: &mut Fields, names: &[&str]) -> bool {
    names.iter().filter_map(|name| fields.remove(*name)).count() > 0
}

fn date_taints(slice: &mut Value, now: &str) {
    let spec = slice.as_object_mut().and_then(|slice| within(slice, "spec"));
    for device in spec.into_iter().flat_map(|spec| each(spec, "devices")) {
        each(device, "taints").for_each(|taint| set(taint, "timeAdded", now));
    }
}

fn upper_case_warnings(Change { new, .. }: Change<'_, '_>) -> Warnings {
    let driver = new.at("spec.driver").str();
    if driver.to_lowercase() == driver {
        return Warnings::new();
    }
    let driver = quoted(driver);
    vec![format!(
        "spec.driver: driver names should be lowercase; {driver} contains uppercase characters"
    )]
}
