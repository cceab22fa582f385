//! The rules of Roles and ClusterRoles.

use crate::kinds::{faults::Faults, labels::selector, located::Located};

/// Validates a Role or ClusterRole.
pub(in crate::kinds) fn validate(at: &Located<'_>, of_cluster: bool, faults: &mut Faults) {
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
        for item in selectors.items() {
            let before = faults.len();
            selector(&item, faults);
            if faults.len() > before {
                faults.invalid_as(&item, "null", "invalid label selector.");
            }
        }
    }
}

fn policy_rule(rule: &Located<'_>, of_cluster: bool, faults: &mut Faults) {
    if rule.get("verbs").len() == 0 {
        faults.declared(|faults| faults.required(&rule.get("verbs"), ""));
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
