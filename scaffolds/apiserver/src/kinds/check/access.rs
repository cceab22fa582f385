//! Role-based access control.

use super::{
    format::{path_segment, subdomain},
    labels::selector,
};
use crate::kinds::at::{At, Faults};

const GROUP: &str = "rbac.authorization.k8s.io";

/// A Role or ClusterRole.
pub(in crate::kinds) fn role(at: &At<'_>, of_cluster: bool, faults: &mut Faults) {
    for rule in at.get("rules").items() {
        policy_rule(&rule, of_cluster, faults);
    }
    let aggregation = at.get("aggregationRule");
    if of_cluster && aggregation.is_set() {
        let selectors = aggregation.get("clusterRoleSelectors");
        if selectors.len() == 0 {
            faults.required(
                &selectors,
                "at least one clusterRoleSelector required if aggregationRule is non-nil",
            );
        }
        selectors.items().for_each(|item| selector(&item, faults));
    }
}

fn policy_rule(rule: &At<'_>, of_cluster: bool, faults: &mut Faults) {
    if rule.get("verbs").len() == 0 {
        faults.required(&rule.get("verbs"), "verbs must contain at least one value");
    }
    let (urls, groups, resources) = (
        rule.get("nonResourceURLs"),
        rule.get("apiGroups"),
        rule.get("resources"),
    );
    if urls.len() > 0 {
        if !of_cluster {
            faults.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if groups.len() + resources.len() + rule.get("resourceNames").len() > 0 {
            faults.invalid(
                &urls,
                "rules cannot apply to both regular resources and non-resource URLs",
            );
        }
        return;
    }
    if groups.len() == 0 {
        faults.required(&groups, "resource rules must supply at least one api group");
    }
    if resources.len() == 0 {
        faults.required(&resources, "resource rules must supply at least one resource");
    }
}

/// A RoleBinding or ClusterRoleBinding.
pub(in crate::kinds) fn binding(at: &At<'_>, faults: &mut Faults) {
    let of_cluster = at.get("kind").str() == "ClusterRoleBinding";
    let role = at.get("roleRef");
    faults.one_of(&role.get("apiGroup"), &[GROUP]);
    let kinds: &[&str] = if of_cluster {
        &["ClusterRole"]
    } else {
        &["Role", "ClusterRole"]
    };
    faults.one_of(&role.get("kind"), kinds);
    faults.required_format(&role.get("name"), path_segment);
    for subject in at.get("subjects").items() {
        subject_of(&subject, of_cluster, faults);
    }
}

fn subject_of(subject: &At<'_>, of_cluster: bool, faults: &mut Faults) {
    let (name, group, namespace) = (subject.get("name"), subject.get("apiGroup"), subject.get("namespace"));
    if name.str().is_empty() {
        faults.required(&name, "");
    }
    match subject.get("kind").str() {
        "ServiceAccount" => {
            if !name.str().is_empty() {
                faults.format(&name, subdomain);
            }
            if !group.str().is_empty() {
                faults.not_supported(&group, &[""]);
            }
            if of_cluster && namespace.str().is_empty() {
                faults.required(&namespace, "");
            }
        }
        "User" | "Group" => faults.one_of(&group, &[GROUP]),
        _ => faults.not_supported(&subject.get("kind"), &["ServiceAccount", "User", "Group"]),
    }
}

pub(in crate::kinds) fn binding_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    binding(new, faults);
    let role = new.get("roleRef");
    if role.value != old.get("roleRef").value {
        let part = |name: &str| role.get(name).value.to_string();
        let shown = format!(
            r#"{{"APIGroup":{},"Kind":{},"Name":{}}}"#,
            part("apiGroup"),
            part("kind"),
            part("name")
        );
        faults.invalid_as(&role, &shown, "cannot change roleRef");
    }
}
