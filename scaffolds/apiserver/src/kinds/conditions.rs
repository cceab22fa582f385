//! The conditions of a status, of the type that many kinds share.

use std::collections::BTreeSet;

use kubewright_machinery::go;

use crate::kinds::{faults::Faults, format::qualified, located::Located};

const REASON: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
     alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  \
     or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
     '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// Each type once, and each condition by its rules.
pub(in crate::kinds) fn conditions(at: &Located<'_>, faults: &mut Faults) {
    let mut seen = BTreeSet::new();
    for condition in at.items() {
        let name = condition.get("type");
        if !seen.insert(name.str()) {
            faults.duplicate_as(&condition, &go::quote(name.str()));
        }
        one(&condition, faults);
    }
}

fn one(condition: &Located<'_>, faults: &mut Faults) {
    let name = condition.get("type");
    match name.str() {
        "" => faults.required(&name, "is required"),
        _ => faults.format(&name, qualified),
    }
    let status = condition.get("status");
    match status.str() {
        "" => faults.required(&status, ""),
        _ => faults.one_of(&status, &["False", "True", "Unknown"]),
    }
    let generation = condition.get("observedGeneration");
    if generation.int() < 0 {
        faults.invalid(&generation, "must be greater than or equal to zero");
    }
    let since = condition.get("lastTransitionTime");
    if !since.is_set() {
        faults.required(&since, "");
    }
    let (reason, message) = (condition.get("reason"), condition.get("message"));
    if reason.str().is_empty() {
        faults.required(&reason, "");
    } else if !is_reason(reason.str()) {
        faults.invalid(&reason, REASON);
    }
    for (text, most) in [(reason, 1024), (message, 32 * 1024)] {
        if text.str().len() > most {
            faults.too_long(&text, most);
        }
    }
}

fn is_reason(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte);
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    begins && text.bytes().all(inner) && !text.ends_with([',', ':'])
}
