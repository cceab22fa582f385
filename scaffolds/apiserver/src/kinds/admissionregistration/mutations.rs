//! The mutations of a MutatingAdmissionPolicy.

use kubewright_schema::policy::{Policy, Purpose};

use super::expressions;
use crate::kinds::{
    faults::{Faults, quoted},
    located::Located,
};

/// A way to write a mutation.
struct Form {
    /// Its value of `patchType`.
    name: &'static str,
    /// Its field.
    field: &'static str,
    purpose: Purpose,
}

/// In the order of their names.
const FORMS: [Form; 2] = [
    Form {
        name: "ApplyConfiguration",
        field: "applyConfiguration",
        purpose: Purpose::ApplyConfiguration,
    },
    Form {
        name: "JSONPatch",
        field: "jsonPatch",
        purpose: Purpose::JsonPatch,
    },
];

/// Validates variables and mutations.
pub(super) fn validate(spec: &Located<'_>, faults: &mut Faults) {
    let policy = expressions::variables(spec, true, faults);
    let mutations = spec.get("mutations");
    if mutations.len() == 0 {
        faults.required(&mutations, "mutations must contain at least one item");
    }
    for mutation in mutations.items() {
        validate_one(&mutation, &policy, faults);
    }
}

fn validate_one(at: &Located<'_>, policy: &Policy, faults: &mut Faults) {
    let kind = at.get("patchType");
    let (form, other) = match (kind.str(), &FORMS) {
        ("", _) => return faults.required(&kind, ""),
        ("ApplyConfiguration", [apply, json]) => (apply, json),
        ("JSONPatch", [apply, json]) => (json, apply),
        (_, forms) => return faults.not_supported(&kind, &forms.each_ref().map(|form| form.name)),
    };
    let given = at.get(form.field);
    if given.is_set() {
        expression(&given.get("expression"), policy, form.purpose, faults);
    } else {
        let detail = format!("must be specified when patchType is {}", form.name);
        faults.required(&given, &detail);
    }
    let unused = at.get(other.field);
    if unused.is_set() {
        let detail = format!("must not be specified when patchType is {}", form.name);
        faults.invalid_as(&unused, &quoted(&format!("{{{}}}", other.field)), &detail);
    }
}

fn expression(at: &Located<'_>, policy: &Policy, purpose: Purpose, faults: &mut Faults) {
    let text = at.str().trim();
    if text.is_empty() {
        faults.required(at, "");
    } else if let Err(refused) = policy.compile(purpose, text) {
        expressions::note(at, text, &refused, faults);
    }
}
