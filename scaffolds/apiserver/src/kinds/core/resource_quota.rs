//! ResourceQuotas.

use serde_json::{Value, json};

use crate::{
    kinds::{amounts::quota_resource, faults::Faults, kind::Kind, located::Located, row::Row},
    strategy::{Deletion, Rules},
};

pub(in crate::kinds) fn kind() -> Kind {
    Kind {
        rules: Rules {
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            ..Rules::default()
        },
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        cells,
        ..Kind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    for (name, amount) in at.at("spec.hard").entries() {
        quota_resource(name, &amount, faults);
    }
    for scope in at.at("spec.scopes").items() {
        let known = [
            "BestEffort",
            "CrossNamespacePodAffinity",
            "NotBestEffort",
            "NotTerminating",
            "PriorityClass",
            "Terminating",
            "VolumeAttributesClass",
        ];
        if !known.contains(&scope.str()) {
            let place = Located {
                value: at.at("spec.scopes").value,
                path: "spec.scopes".to_owned(),
            };
            faults.invalid(&place, "unsupported scope");
        }
    }
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let used = row.get("status.used");
    let hard = row.get("status.hard");
    let text = |limits: bool| {
        let each = hard.entries().filter(|(name, _)| name.starts_with("limits.") == limits);
        let each = each.map(|(name, hard)| {
            let used = used.get(name).str();
            format!("{name}: {}/{}", if used.is_empty() { "0" } else { used }, hard.str())
        });
        json!(each.collect::<Vec<_>>().join(", "))
    };
    vec![row.name(), text(false), text(true), row.age()]
}
