//! ControllerRevisions.

use serde_json::{Value, json};

use crate::{
    kinds::{faults::Faults, kind::BuiltInKind, located::Located, row::Row},
    strategy::{Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            passes: Passes::VALIDATE_THEN_UPDATE,
            ..Rules::default()
        },
        validate,
        validate_update,
        cells: |row| vec![row.name(), json!(print_controller(row)), row.int("revision"), row.age()],
        ..BuiltInKind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    faults.not_negative(&at.get("revision"));
    let data = at.get("data");
    match data.value {
        Value::Object(_) => {}
        Value::Null => faults.required(&data, "data is mandatory"),
        _ => faults.required(&data, "data must be a valid JSON object"),
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    faults.not_negative(&new.get("revision"));
    faults.immutable(&new.get("data"), &old.get("data"));
}

fn print_controller(row: &Row<'_>) -> String {
    let mut owners = row.get("metadata.ownerReferences").items();
    let Some(owner) = owners.find(|owner| owner.get("controller").is_true()) else {
        return "<none>".to_owned();
    };
    let kind = owner.get("kind").str().to_lowercase();
    let group = owner
        .get("apiVersion")
        .str()
        .rsplit_once('/')
        .map_or("", |(group, _)| group);
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{}", owner.get("name").str())
}
