//! The rules of the API server that webhooks and policies share, and what neither may be about.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_machinery::{
    labels,
    names::{is_label, is_subdomain},
};

use super::Scope;

/// The most match conditions that the API allows.
const MOST_CONDITIONS: usize = 64;
/// Groups whose objects the API server, its leases or admission itself depend on. Neither webhooks nor policies are
/// about the last one's configurations anyway.
const UNTOUCHABLE: [(&str, &str); 4] = [
    (
        "coordination.k8s.io",
        "every controller of the cluster needs its leases",
    ),
    ("authentication.k8s.io", "every request may need it"),
    ("authorization.k8s.io", "every request may need it"),
    (
        "admissionregistration.k8s.io",
        "nobody could repair a webhook that is broken",
    ),
];

/// `Ok`, or the error with a hint.
pub(crate) type Checked = Result<(), [String; 2]>;

pub(crate) fn wrong(why: impl Into<String>, hint: &str) -> Checked {
    Err([why.into(), hint.to_owned()])
}

/// Checks operations, subresources, selectors and the names of conditions. `asked` is how a sentence about the subject goes
/// on, such as `it is about`.
pub(crate) fn check(scope: &Scope, asked: &str) -> Checked {
    if scope.operations.is_empty() {
        return wrong(format!("{asked} no operation"), "name one in `.operations(…)`");
    }
    if let Some(name) = scope.subresources.iter().find(|name| !is_label(name)) {
        return wrong(format!("`{name}` is not a subresource"), "write it as `status`");
    }
    selector("namespaces", scope.namespaces.as_ref())?;
    selector("objects", scope.objects.as_ref())?;
    conditions(&scope.conditions())
}

/// The number and the names of conditions.
fn conditions(all: &[[String; 2]]) -> Checked {
    if all.len() > MOST_CONDITIONS {
        return wrong("it has more than 64 conditions", "join some of them by `&&`");
    }
    let mut seen = BTreeSet::new();
    for [name, _] in all {
        if !labels::key(name).is_empty() {
            let why = format!("`{name}` cannot be the name of a condition");
            return wrong(why, "use a name such as `spec-changes`");
        }
        if !seen.insert(name) {
            return wrong(format!("two conditions are named `{name}`"), "give each its own name");
        }
    }
    Ok(())
}

/// The rules of label selectors (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`).
pub(crate) fn selector(of: &str, selector: Option<&LabelSelector>) -> Checked {
    let Some(selector) = selector else { return Ok(()) };
    let (mut faults, mut keys) = (Vec::new(), Vec::new());
    for (key, value) in selector.match_labels.iter().flatten() {
        keys.push(key);
        faults.extend(labels::value(value));
    }
    for requirement in selector.match_expressions.iter().flatten() {
        keys.push(&requirement.key);
        let has_values = requirement.values.as_ref().is_some_and(|values| !values.is_empty());
        match (requirement.operator.as_str(), has_values) {
            ("In" | "NotIn", true) | ("Exists" | "DoesNotExist", false) => {}
            (operator, _) => faults.push(format!("operator `{operator}` does not fit its values")),
        }
        faults.extend(
            requirement
                .values
                .iter()
                .flatten()
                .flat_map(|value| labels::value(value)),
        );
    }
    faults.extend(keys.into_iter().flat_map(|key| labels::key(key)));
    match faults.first() {
        None => Ok(()),
        Some(fault) => wrong(fault.clone(), &format!("change the selector of `.{of}(…)`")),
    }
}

/// Refuses a group whose objects no webhook and no policy may be about. `subject` begins the sentence, such as
/// `no policy may be about`.
pub(crate) fn touchable(scope: &Scope, subject: &str) -> Checked {
    match UNTOUCHABLE.iter().find(|(group, _)| *group == scope.group) {
        Some((group, why)) => wrong(format!("{subject} {group}: {why}"), "leave it out"),
        None => Ok(()),
    }
}

/// Whether Kubernetes itself has kinds of this group: groups of other owners have a domain of their own.
pub(crate) fn is_of_kubernetes(group: &str) -> bool {
    !is_subdomain(group) || !group.contains('.') || group.ends_with(".k8s.io")
}
