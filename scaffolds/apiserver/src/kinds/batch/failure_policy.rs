//! The podFailurePolicy of a Job.

use std::collections::BTreeSet;

use crate::kinds::{faults::Faults, format::qualified, located::Located};

const MOST_RULES: usize = 20;

const MOST_CONDITIONS: usize = 20;

const MOST_VALUES: usize = 255;

/// Validates the policy in the spec of a Job.
pub(in crate::kinds) fn failure_policy(spec: &Located<'_>, faults: &mut Faults) {
    let rules = spec.at("podFailurePolicy.rules");
    if rules.len() > MOST_RULES {
        faults.too_many(&rules, MOST_RULES);
    }
    for rule in rules.items() {
        action(&rule, spec, faults);
        let (codes, conditions) = (rule.get("onExitCodes"), rule.get("onPodConditions"));
        if codes.is_set() {
            exit_codes(&codes, spec, faults);
        }
        pod_conditions(&conditions, faults);
        match (codes.is_set(), conditions.len() > 0) {
            (true, true) => faults.wrong(
                &rule,
                "specifying both OnExitCodes and OnPodConditions is not supported",
            ),
            (false, false) => faults.wrong(&rule, "specifying one of OnExitCodes and OnPodConditions is required"),
            _ => {}
        }
    }
}

fn action(rule: &Located<'_>, spec: &Located<'_>, faults: &mut Faults) {
    let at = rule.get("action");
    match at.str() {
        "" => faults.required(&at, "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]"),
        "FailIndex" if !spec.get("backoffLimitPerIndex").is_set() => {
            faults.invalid(&at, "requires the backoffLimitPerIndex to be set");
        }
        _ => faults.one_of(&at, &["Count", "FailIndex", "FailJob", "Ignore"]),
    }
}

fn exit_codes(at: &Located<'_>, spec: &Located<'_>, faults: &mut Faults) {
    let (operator, container, values) = (at.get("operator"), at.get("containerName"), at.get("values"));
    match operator.str() {
        "" => faults.required(&operator, "valid values: [\"In\" \"NotIn\"]"),
        _ => faults.one_of(&operator, &["In", "NotIn"]),
    }
    let pod = spec.at("template.spec");
    let has_name = |list: &str| pod.get(list).items().any(|it| it.get("name").str() == container.str());
    if container.is_set() && !has_name("containers") && !has_name("initContainers") {
        faults.invalid(
            &container,
            "must be one of the container or initContainer names in the pod template",
        );
    }
    if values.len() == 0 {
        faults.invalid(&values, "at least one value is required");
    } else if values.len() > MOST_VALUES {
        faults.too_many(&values, MOST_VALUES);
    }
    let mut seen = BTreeSet::new();
    for value in values.items() {
        if operator.str() == "In" && value.int() == 0 {
            faults.invalid(&value, "must not be 0 for the In operator");
        }
        if !seen.insert(value.int()) {
            faults.duplicate(&value);
        }
    }
    if !values.items().map(|value| value.int()).is_sorted() {
        faults.invalid(&values, "must be ordered");
    }
}

fn pod_conditions(at: &Located<'_>, faults: &mut Faults) {
    if at.len() > MOST_CONDITIONS {
        faults.too_many(at, MOST_CONDITIONS);
    }
    for pattern in at.items() {
        let status = pattern.get("status");
        faults.format(&pattern.get("type"), qualified);
        match status.str() {
            "" => faults.required(&status, "valid values: [\"False\" \"True\" \"Unknown\"]"),
            _ => faults.one_of(&status, &["False", "True", "Unknown"]),
        }
    }
}
