//! Events of the core group.

use crate::{
    kinds::{
        event::{self, Names},
        kind::{BuiltInKind, Selectable},
    },
    strategy::{Deletion, Passes, Put, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                leaves_dependents: true,
                ..Deletion::default()
            },
            put: Put::CREATES,
            passes: Passes::NONE,
            storage: Storage {
                is_uncached: true,
                ..Storage::default()
            },
            ..Rules::default()
        },
        validate: |object, faults| event::validate(object, &NAMES, faults),
        validate_update: |new, _, faults| event::validate(new, &NAMES, faults),
        selectable: SELECTABLE,
        cells: event::cells,
        ..BuiltInKind::default()
    }
}

const SELECTABLE: &[Selectable] = &[
    Selectable::new("involvedObject.kind", "/involvedObject/kind"),
    Selectable::new("involvedObject.namespace", "/involvedObject/namespace"),
    Selectable::new("involvedObject.name", "/involvedObject/name"),
    Selectable::new("involvedObject.uid", "/involvedObject/uid"),
    Selectable::new("involvedObject.apiVersion", "/involvedObject/apiVersion"),
    Selectable::new("involvedObject.resourceVersion", "/involvedObject/resourceVersion"),
    Selectable::new("involvedObject.fieldPath", "/involvedObject/fieldPath"),
    Selectable::new("reason", "/reason"),
    Selectable::new("reportingComponent", "/reportingComponent"),
    Selectable::new("source", "/source/component").or_at("/reportingComponent"),
    Selectable::new("type", "/type"),
];

const NAMES: Names = Names {
    object: "involvedObject",
    controller: "reportingComponent",
    note: "message",
    shown: "reportingComponent",
};
