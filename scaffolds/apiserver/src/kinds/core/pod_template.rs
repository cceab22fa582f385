//! PodTemplates.

use serde_json::Value;

use crate::{
    kinds::{
        kind::{BuiltInKind, Change, Warnings},
        labels::print_labels,
        pod::{template::pod_template, warnings::template},
        row::Row,
        workload::{is_another, print_containers},
    },
    strategy::{Deletion, Generation, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            generation: Generation::COUNTED,
            ..Rules::default()
        },
        validate: |object, faults| pod_template(&object.get("template"), faults),
        validate_update: |new, _, faults| pod_template(&new.get("template"), faults),
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    if is_another(Change { new: at, old }) {
        template(&at.get("template"), &mut warnings);
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let mut cells = vec![row.name()];
    cells.extend(print_containers(&row.get("template.spec.containers")));
    cells.push(print_labels(&row.get("template.metadata.labels")));
    cells
}
