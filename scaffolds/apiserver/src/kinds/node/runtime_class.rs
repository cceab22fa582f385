//! RuntimeClasses.

use std::collections::BTreeSet;

use crate::{
    kinds::{
        amounts::requirements,
        faults::{Faults, quoted},
        format::label,
        kind::BuiltInKind,
        labels::labels,
        located::Located,
        pod::spec::tolerations,
    },
    strategy::{Put, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            put: Put::CREATES_CONDITIONALLY,
            ..Rules::default()
        },
        validate,
        validate_update: |new, old, faults| {
            validate(new, faults);
            faults.declared_immutable(&new.get("handler"), &old.get("handler"));
        },
        cells: |row| vec![row.name(), row.text("handler"), row.age()],
        ..BuiltInKind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    faults.required_format(&at.get("handler"), label);
    let fixed = serde_json::json!({"limits": at.at("overhead.podFixed").value});
    let overhead = Located {
        value: &fixed,
        path: at.get("overhead").path,
    };
    requirements(&overhead, faults);
    let scheduling = at.get("scheduling");
    labels(&scheduling.get("nodeSelector"), faults);
    let list = scheduling.get("tolerations");
    tolerations(&list, faults);
    let mut keys = BTreeSet::new();
    for toleration in list.items() {
        let key = ["key", "operator", "value", "effect"].map(|field| toleration.get(field).str());
        if !keys.insert(key) {
            let [key, operator, value, effect] = key.map(quoted);
            let seconds = toleration.get("tolerationSeconds").value;
            let shown = format!(
                r#"{{"Key":{key},"Operator":{operator},"Value":{value},"Effect":{effect},"TolerationSeconds":{seconds}}}"#
            );
            faults.duplicate_as(&toleration, &shown);
        }
    }
}
