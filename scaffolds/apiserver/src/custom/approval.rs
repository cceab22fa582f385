//! The approval annotation that CRDs in the groups of the Kubernetes community need, and the condition that reports it.

use super::conditions::DefinitionCondition;
use kubewright_machinery::{go, url::Url};
use serde_json::Value;

/// Holds the URL of the approval or a sentence that starts with `unapproved`.
pub(crate) const ANNOTATION: &str = "api-approved.kubernetes.io";

const CONDITION: &str = "KubernetesAPIApprovalPolicyConformant";

/// The meaning of the annotation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Approval {
    Missing,
    Bypassed,
    Approved,
    Invalid,
}

/// Whether `group` is protected as a group of the Kubernetes community.
pub(crate) fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        group
            .strip_suffix(domain)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// The approval of `crd`.
pub(crate) fn of(crd: &Value) -> Approval {
    let annotation = text(crd);
    match annotation {
        "" => Approval::Missing,
        it if it.starts_with("unapproved") => Approval::Bypassed,
        it if Url::names_host(it) => Approval::Approved,
        _ => Approval::Invalid,
    }
}

/// The condition for `crd`; `None` for groups that are not protected.
pub(crate) fn condition(crd: &Value) -> Option<DefinitionCondition> {
    if !is_protected(crd["spec"]["group"].as_str().unwrap_or_default()) {
        return None;
    }
    let annotation = text(crd);
    let (status, reason, message) = match of(crd) {
        Approval::Approved => (true, "ApprovedAnnotation", format!("approved in {annotation}")),
        Approval::Bypassed => (
            false,
            "UnapprovedAnnotation",
            format!("not approved: {}", go::quote(annotation)),
        ),
        Approval::Missing => (
            false,
            "MissingAnnotation",
            format!(
                "protected groups must have approval annotation \"{ANNOTATION}\", see \
                 https://github.com/kubernetes/enhancements/pull/1111"
            ),
        ),
        Approval::Invalid => (
            false,
            "InvalidAnnotation",
            format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting \
                 with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111"
            ),
        ),
    };
    Some(DefinitionCondition::new(CONDITION, status, reason, &message))
}

fn text(crd: &Value) -> &str {
    crd["metadata"]["annotations"][ANNOTATION].as_str().unwrap_or_default()
}
