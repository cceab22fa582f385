//! The roles that grant the operator its rules, and their bindings, as `config/rbac/role.yaml` has them.

use std::collections::BTreeMap;

use kubewright_schema::rbac::{PolicyRule, role};
use serde_json::{Value, json};

use super::rule::{Rule, RuleScope};
use crate::error::{Error, Result};

/// The main role. Its binding is in `role_binding.yaml`, which is the project's.
const MANAGER: &str = "manager-role";
/// The operator's service account, as in `service_account.yaml`.
const ACCOUNT: &str = "controller-manager";
/// Kustomize replaces this namespace by the operator's own.
const OWN: &str = "system";
/// The annotation with the namespace of an object that is in another namespace than the operator's. Kustomize moves
/// every object into the operator's; `config/rbac/namespaces` moves these back.
pub(crate) const NAMESPACE: &str = "kubewright.dev/namespace";

/// The main role with `inferred` and the rules without a role or namespace of their own; then the other roles in the
/// order of their names and namespaces, each followed by its binding. If `namespaced`, no rule is in a ClusterRole.
///
/// # Errors
///
/// [`Error::Setup`] if `namespaced` and a rule is about URLs, which no Role grants; or if two roles have one name.
pub(crate) fn roles(inferred: Vec<PolicyRule>, declared: Vec<Rule>, namespaced: bool) -> Result<Vec<Value>> {
    let mut main = inferred;
    let mut others = BTreeMap::<_, Vec<_>>::new();
    for rule in declared {
        let is_cluster_wide = rule.place == RuleScope::Watched && !namespaced;
        if !is_cluster_wide && let Some(url) = rule.policy.non_resource_urls.first() {
            let text = format!("no Role grants the URL `{url}`, only a ClusterRole does");
            let hint =
                "leave the rule out, or let an administrator bind a ClusterRole to the operator's service account";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        if rule.role.is_none() && rule.place == RuleScope::Watched {
            main.push(rule.policy);
        } else {
            others.entry((rule.role, rule.place)).or_default().push(rule.policy);
        }
    }
    let mut documents = vec![role(MANAGER, namespaced.then_some(OWN), main)];
    for ((name, place), rules) in others {
        let name = named(name.as_deref().unwrap_or(MANAGER), &place);
        let namespace = match &place {
            RuleScope::Watched => namespaced.then_some(OWN),
            RuleScope::Own => Some(OWN),
            RuleScope::Named(namespace) => Some(namespace.as_str()),
        };
        let role = role(&name, namespace, rules);
        if documents.iter().any(|known| identity(known) == identity(&role)) {
            let text = format!("two roles of config/rbac/role.yaml are named `{name}`");
            return Err(Error::Setup(format!(
                "{text}\n\nhint: pass another name to `Rule::role`"
            )));
        }
        let binding = binding(&role);
        for mut document in [role, binding] {
            if let RuleScope::Named(namespace) = &place {
                document["metadata"]["annotations"] = json!({NAMESPACE: namespace});
            }
            documents.push(document);
        }
    }
    Ok(documents)
}

/// Kustomize gives all roles one namespace for a moment, so their names differ.
fn named(role: &str, place: &RuleScope) -> String {
    match place {
        RuleScope::Watched => role.to_owned(),
        RuleScope::Own => format!("{role}-own"),
        RuleScope::Named(namespace) => format!("{role}-in-{namespace}"),
    }
}

fn identity(role: &Value) -> (&Value, &Value) {
    (&role["kind"], &role["metadata"]["name"])
}

/// The binding of a role to the operator's service account, where the role is.
fn binding(role: &Value) -> Value {
    let name = role["metadata"]["name"].as_str().unwrap_or_default();
    let kind = role["kind"].as_str().unwrap_or_default();
    let mut binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": format!("{kind}Binding"),
        "metadata": {"name": format!("{name}-binding")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": OWN}],
    });
    if let Some(namespace) = role["metadata"].get("namespace") {
        binding["metadata"]["namespace"] = namespace.clone();
    }
    binding
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(name: &str) -> Rule {
        Rule::new(&[""], &["secrets"], &["get"]).names(&[name])
    }

    /// Kind, namespace and name of each document.
    fn outline(documents: &[Value]) -> Vec<String> {
        let line = |it: &Value| {
            let namespace = it["metadata"]["namespace"].as_str().unwrap_or("-");
            let (kind, name) = (it["kind"].as_str().unwrap(), it["metadata"]["name"].as_str().unwrap());
            format!("{kind} {namespace}/{name}")
        };
        documents.iter().map(line).collect()
    }

    fn declared() -> Vec<Rule> {
        vec![
            secrets("d").role("extra").in_namespace("b"),
            secrets("c").in_own_namespace(),
            secrets("b").in_namespace("kube-system"),
            secrets("e").role("extra"),
            secrets("a"),
            secrets("f").in_namespace("kube-system"),
        ]
    }

    #[test]
    fn each_role_has_its_place_and_its_binding_in_a_fixed_order() {
        let written = roles(Vec::new(), declared(), false).unwrap();
        assert_eq!(
            outline(&written),
            [
                "ClusterRole -/manager-role",
                "Role system/manager-role-own",
                "RoleBinding system/manager-role-own-binding",
                "Role kube-system/manager-role-in-kube-system",
                "RoleBinding kube-system/manager-role-in-kube-system-binding",
                "ClusterRole -/extra",
                "ClusterRoleBinding -/extra-binding",
                "Role b/extra-in-b",
                "RoleBinding b/extra-in-b-binding",
            ]
        );
        assert_eq!(written[0]["rules"][0]["resourceNames"], json!(["a"]));
        assert_eq!(written[3]["rules"][1]["resourceNames"], json!(["f"]));
        assert_eq!(written[4]["subjects"][0]["namespace"], OWN);
        let mut reversed = declared();
        reversed.reverse();
        assert_eq!(roles(Vec::new(), reversed, false).unwrap(), written);
        assert_eq!(written[3]["metadata"]["annotations"][NAMESPACE], "kube-system");
        assert_eq!(written[1]["metadata"].get("annotations"), None);
    }

    #[test]
    fn a_namespaced_operator_has_no_cluster_role() {
        let written = roles(Vec::new(), declared(), true).unwrap();
        let cluster_wide = |line: &String| line.starts_with("Cluster");
        assert!(!outline(&written).iter().any(cluster_wide));
        assert_eq!(outline(&written)[0], "Role system/manager-role");
        assert_eq!(outline(&written)[6], "RoleBinding system/extra-binding");
    }

    #[test]
    fn urls_are_granted_by_a_cluster_role_only() {
        let url = Rule::urls(&["/metrics"], &["get"]);
        let written = roles(Vec::new(), vec![url.clone()], false).unwrap();
        assert_eq!(
            written[0]["rules"],
            json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}])
        );
        for (rule, namespaced) in [(url.clone(), true), (url.in_own_namespace(), false)] {
            let error = roles(Vec::new(), vec![rule], namespaced).unwrap_err().to_string();
            assert!(error.starts_with("no Role grants the URL `/metrics`"), "{error}");
        }
    }

    #[test]
    fn two_roles_of_one_name_are_refused() {
        let rules = vec![secrets("a").role("x-own"), secrets("b").role("x").in_own_namespace()];
        assert!(
            roles(Vec::new(), rules.clone(), false).is_ok(),
            "one of them is a ClusterRole"
        );
        let error = roles(Vec::new(), rules, true).unwrap_err().to_string();
        assert!(
            error.starts_with("two roles of config/rbac/role.yaml are named `x-own`"),
            "{error}"
        );
    }
}
