//! Namespaces.

use serde_json::{Value, json};

use crate::{
    kinds::{
        edit::{Fields, default_phase, keep, made, section, text, within},
        faults::{Faults, quoted},
        format::qualified,
        kind::{BuiltInKind, Selectable},
        located::Located,
    },
    strategy::{Deletion, NameRule, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            name: NameRule::Label,
            has_spec_finalizers: true,
            deletion: Deletion {
                only_readable: true,
                ..Deletion::default()
            },
            passes: Passes::VALIDATE_THEN_UPDATE,
            ..Rules::default()
        },
        defaults: &[("core.v1.Namespace", default)],
        prepare_create,
        prepare_update,
        begin_deletion: Some(begin_deletion),
        validate,
        validate_status: |new, _, faults| {
            let (phase, is_deleted) = (new.at("status.phase"), new.at("metadata.deletionTimestamp").is_set());
            let (expected, detail) = match is_deleted {
                false => ("Active", "may only be 'Active' if `deletionTimestamp` is empty"),
                true => (
                    "Terminating",
                    "may only be 'Terminating' if `deletionTimestamp` is not empty",
                ),
            };
            if phase.str() != expected {
                faults.invalid_as(&phase.called("status.Phase"), &quoted(phase.str()), detail);
            }
        },
        selectable: const { &[Selectable::new("status.phase", "/status/phase")] },
        cells: |row| vec![row.name(), row.text("status.phase"), row.age()],
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    default_phase(object, "Active");
    label_with_name(object);
}

/// Selectors of webhooks and network policies find a namespace by this label.
fn label_with_name(object: &mut Fields) {
    let Some(metadata) = within(object, "metadata") else {
        return;
    };
    let name = text(metadata, "name").to_owned();
    if name.is_empty() {
        return;
    }
    if let Some(labels) = made(metadata, "labels") {
        labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
    }
}

fn prepare_create(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("status".to_owned(), json!({"phase": "Active"}));
        // A name of `generateName` did not exist yet when the defaults were set.
        label_with_name(fields);
    }
    let Some(spec) = section(object, "spec") else { return };
    let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(names) = finalizers.as_array_mut()
        && !names.iter().any(|name| name == "kubernetes")
    {
        names.push(json!("kubernetes"));
    }
}

/// The finalizers in a Namespace's spec are changed only through a subresource.
fn prepare_update(new: &mut Value, old: &Value) {
    keep(new, old, "spec");
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    for name in at.at("spec.finalizers").items() {
        let place = name.called("spec.finalizers");
        faults.format(&place, qualified);
        let standard = ["kubernetes", "orphan", "foregroundDeletion"].contains(&name.str());
        if !name.str().contains('/') && !standard {
            faults.invalid(
                &place,
                "name is neither a standard finalizer name nor is it fully qualified",
            );
        }
    }
}

/// Marks a Namespace whose content must be deleted first.
fn begin_deletion(namespace: &mut Value, now: &str) {
    namespace["metadata"]["deletionTimestamp"] = json!(now);
    namespace["status"]["phase"] = json!("Terminating");
}
