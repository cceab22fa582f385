//! ReplicationControllers.

use serde_json::{Map, Value};

use crate::{
    kinds::{
        apps::replica_set,
        edit::{Fields, within},
        faults::Faults,
        kind::{BuiltInKind, Change, Selectable, Warnings},
        labels::print_labels,
        located::Located,
        pod::warnings,
        row::Row,
        workload::{self, MISMATCH, is_another, template},
    },
    strategy::{Deletion, Generation, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            scale: Some(workload::scale()),
            deletion: Deletion {
                orphans_dependents: true,
                ..Deletion::default()
            },
            generation: Generation::COUNTED,
            storage: Storage {
                etcd_directory: Some("controllers"),
                ..Storage::default()
            },
            ..Rules::default()
        },
        defaults: &[("core.v1.ReplicationController", default)],
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        validate_status: |new, _, faults| replica_set::validate_status(new, faults),
        warnings: template_warnings,
        selectable: const { &[Selectable::new("status.replicas", "/status/replicas").or("0")] },
        cells,
        ..BuiltInKind::default()
    }
}

/// Upstream confuses the templates of an update: it warns about the former one.
fn template_warnings(change: Change<'_, '_>) -> Warnings {
    match change.old {
        Some(old) if is_another(change) => {
            let mut warnings = Warnings::new();
            warnings::template(&old.at("spec.template"), &mut warnings);
            warnings
        }
        Some(_) => Warnings::new(),
        None => workload::template_warnings(change),
    }
}

fn default(object: &mut Fields) {
    let labels = object
        .get("spec")
        .and_then(|spec| spec.pointer("/template/metadata/labels"))
        .cloned();
    let Some(labels) = labels else { return };
    let is_empty = |value: Option<&Value>| value.and_then(Value::as_object).is_none_or(Map::is_empty);
    for (outer, name) in [("spec", "selector"), ("metadata", "labels")] {
        if let Some(fields) = within(object, outer)
            && is_empty(fields.get(name))
        {
            fields.insert(name.to_owned(), labels.clone());
        }
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    for name in ["replicas", "minReadySeconds"] {
        faults.declared(|faults| faults.not_negative(&spec.get(name)));
    }
    let selector = spec.get("selector");
    if selector.len() == 0 {
        faults.required(&selector, "");
    }
    if !spec.get("template").is_set() {
        return faults.required(&spec.get("template"), "");
    }
    let found = spec.at("template.metadata.labels");
    if selector
        .entries()
        .any(|(key, value)| found.get(key).value != value.value)
    {
        faults.invalid(&found, MISMATCH);
    }
    template(&spec, "ReplicationController", faults);
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let mut cells = workload::replica_cells(row);
    if let Some(last) = cells.last_mut() {
        *last = print_labels(&row.get("spec.selector"));
    }
    cells
}
