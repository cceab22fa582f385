//! ConfigMaps.

use serde_json::json;

use crate::{
    kinds::{
        faults::{Faults, quoted},
        keyed_data::{MOST, bytes, fixed, keys},
        kind::BuiltInKind,
        located::Located,
    },
    strategy::{Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            passes: Passes::UPDATE_THEN_VALIDATE,
            ..Rules::default()
        },
        distinguishes_empty: &["binaryData"],
        validate,
        validate_update,
        cells: |row| {
            let count = row.get("data").len() + row.get("binaryData").len();
            vec![row.name(), json!(count), row.age()]
        },
        ..BuiltInKind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let (data, binary) = (at.get("data"), at.get("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        keys(key, &value, faults);
        if binary.get(key).is_set() {
            faults.invalid_as(&value, &quoted(key), "duplicate of key present in binaryData");
        }
        size += value.str().len();
    }
    for (key, value) in binary.entries() {
        keys(key, &value, faults);
        size += bytes(&value).len();
    }
    if size > MOST {
        faults.too_long(&at.called("[]"), MOST);
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    fixed(new, old, &["data", "binaryData"], faults);
    validate(new, faults);
}
