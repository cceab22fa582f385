//! MutatingAdmissionPolicies and ValidatingAdmissionPolicies.

use kubewright_machinery::names::{Unit, label_1035};
use kubewright_schema::policy::{Policy, Purpose};
use serde_json::{Value, json};

use super::{configuration::name, expressions, matching, mutations, webhook::one_of};
use crate::{
    kinds::{
        conditions::conditions,
        edit::{Fields, keep_metadata, set},
        faults::{Faults, quoted},
        format::subdomain,
        kind::BuiltInKind,
        located::Located,
        row::Row,
    },
    strategy::{Generation, MetadataPass, Passes, Put, Resets, Rules},
};

pub(in crate::kinds) fn mutating() -> BuiltInKind {
    BuiltInKind {
        defaults: &[
            ("admissionregistration.v1.MutatingAdmissionPolicySpec", default),
            matching::DEFAULTS[0],
            matching::DEFAULTS[1],
        ],
        validate: |at, faults| {
            mutates(at, None, faults);
            name(at, faults);
        },
        validate_update: |new, old, faults| mutates(new, Some(old), faults),
        cells: |row| cells(row, "spec.mutations"),
        ..policy()
    }
}

pub(in crate::kinds) fn validating() -> BuiltInKind {
    let kind = policy();
    BuiltInKind {
        rules: Rules {
            passes: Passes {
                status: MetadataPass::NONE,
                ..kind.rules.passes
            },
            resets: Resets {
                status: &["spec", "metadata"],
                ..Resets::default()
            },
            ..kind.rules
        },
        defaults: &[
            ("admissionregistration.v1.ValidatingAdmissionPolicySpec", default),
            matching::DEFAULTS[0],
            matching::DEFAULTS[1],
        ],
        prepare_status,
        validate: |at, faults| {
            validates(at, None, faults);
            name(at, faults);
        },
        validate_update: |new, old, faults| validates(new, Some(old), faults),
        validate_status: |new, _, faults| validate_status(&new.get("status"), faults),
        cells: |row| cells(row, "spec.validations"),
        ..kind
    }
}

fn policy() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            put: Put::CONDITIONAL,
            passes: Passes::VALIDATE,
            ..Rules::default()
        },
        ..BuiltInKind::default()
    }
}

fn default(spec: &mut Fields) {
    set(spec, "failurePolicy", "Fail");
}

/// Fields of the metadata that a write of the status does not change.
const KEPT: [&str; 6] = [
    "annotations",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "labels",
    "ownerReferences",
];

fn prepare_status(new: &mut Value, old: &Value) {
    for field in KEPT {
        keep_metadata(new, old, field);
    }
}

fn mutates(at: &Located<'_>, old: Option<&Located<'_>>, faults: &mut Faults) {
    let spec = at.get("spec");
    head(&spec, faults);
    matching::mutable(&spec.get("matchConstraints"), faults);
    conditions_unless_same(&spec, old, faults);
    mutations::validate(&spec, faults);
    let reinvocation = spec.get("reinvocationPolicy");
    if reinvocation.str().is_empty() {
        faults.required(&reinvocation, "");
    } else {
        faults.one_of(&reinvocation, &["IfNeeded", "Never"]);
    }
}

fn validates(at: &Located<'_>, old: Option<&Located<'_>>, faults: &mut Faults) {
    let spec = at.get("spec");
    head(&spec, faults);
    conditions_unless_same(&spec, old, faults);
    expressions::validate(at, faults);
}

fn head(spec: &Located<'_>, faults: &mut Faults) {
    one_of(&spec.get("failurePolicy"), &["Fail", "Ignore"], faults);
    let kind = spec.get("paramKind");
    if kind.is_set() {
        parameter_kind(&kind, faults);
    }
    constraints(&spec.get("matchConstraints"), faults);
}

/// Validates the match conditions, unless they and what they are compiled with are as they were.
fn conditions_unless_same(spec: &Located<'_>, old: Option<&Located<'_>>, faults: &mut Faults) {
    let is_same = |old: &Located<'_>| {
        let fields = ["paramKind", "matchConditions"];
        fields
            .iter()
            .all(|field| spec.get(field).is_like(&old.at("spec").get(field)))
    };
    if !old.is_some_and(is_same) {
        let policy = Policy::new(spec.get("paramKind").is_set(), false);
        let refuse = |text: &str| policy.compile(Purpose::Condition, text).err();
        expressions::conditions(&spec.get("matchConditions"), refuse, faults);
    }
}

fn constraints(at: &Located<'_>, faults: &mut Faults) {
    if !at.is_set() {
        return faults.required(at, "");
    }
    matching::validate(at, faults);
    let rules = at.get("resourceRules");
    if rules.len() == 0 {
        faults.required(&rules, "");
    }
}

fn parameter_kind(at: &Located<'_>, faults: &mut Faults) {
    let (version, kind) = (at.get("apiVersion"), at.get("kind"));
    match version.str().split('/').collect::<Vec<_>>().as_slice() {
        [""] => faults.required(&version, ""),
        ["", ""] => faults.invalid(&version, "version must be specified"),
        [name] => group_version(&version, "", name, faults),
        [group, name] => group_version(&version, group, name, faults),
        _ => {
            let detail = format!("unexpected GroupVersion string: {}", version.str());
            faults.invalid(&version, &detail);
        }
    }
    let wrong = label_1035(&kind.str().to_lowercase(), Unit::Bytes);
    if kind.str().is_empty() {
        faults.required(&kind, "");
    } else if !wrong.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", wrong.join(","));
        faults.invalid(&kind, &detail);
    }
}

fn group_version(at: &Located<'_>, group: &str, version: &str, faults: &mut Faults) {
    let mut wrong = |text: &str, found: Vec<String>| {
        if !found.is_empty() {
            faults.invalid_as(at, &quoted(text), &found.join(","));
        }
    };
    if !group.is_empty() {
        wrong(group, subdomain(group));
    }
    if version.is_empty() {
        wrong(at.str(), vec!["version must be specified".to_owned()]);
    } else {
        wrong(version, label_1035(version, Unit::Bytes));
    }
}

fn validate_status(at: &Located<'_>, faults: &mut Faults) {
    for warning in at.at("typeChecking.expressionWarnings").items() {
        let (text, field) = (warning.get("warning"), warning.get("fieldRef"));
        if text.str().is_empty() {
            faults.required(&text, "");
        }
        if field.str().trim().is_empty() {
            faults.required(&field, "");
        }
    }
    conditions(&at.get("conditions"), faults);
}

fn cells(row: &Row<'_>, counted: &str) -> Vec<Value> {
    let kind = row.get("spec.paramKind");
    let shown = match kind.is_set() {
        true => format!("{}/{}", kind.get("apiVersion").str(), kind.get("kind").str()),
        false => "<unset>".to_owned(),
    };
    vec![row.name(), json!(row.get(counted).len()), json!(shown), row.age()]
}
