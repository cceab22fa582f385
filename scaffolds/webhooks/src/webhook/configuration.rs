//! The entry of a webhook in its configuration, as `make manifests` writes it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use kubewright_schema::webhook::SERVICE;
use serde_json::{Value, json};

use super::{component::NAMESPACE, declare::DeclaredWebhook};
use crate::scope::Scope;

/// The label that the API server gives each namespace, with its name.
const NAME_OF_NAMESPACE: &str = "kubernetes.io/metadata.name";
/// The domain of names for groups that are none.
const DOMAIN: &str = "kubewright.dev";

/// Name and path of a webhook, and its entry in the configuration.
pub(super) fn of(declared: &DeclaredWebhook) -> ([String; 2], Value) {
    let (name, path) = (name(declared), path(declared));
    let scope = &declared.scope;
    let mut entry = json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": path}},
        "failurePolicy": scope.failures(),
        "matchPolicy": "Equivalent",
        "rules": [scope.rule()],
        "sideEffects": "None",
        "timeoutSeconds": declared.timeout.as_secs(),
    });
    scope.select(&mut entry);
    if let Some(namespaces) = namespaces(declared) {
        entry["namespaceSelector"] = json!(namespaces);
    }
    if let Some(conditions) = scope.match_conditions() {
        entry["matchConditions"] = conditions;
    }
    if declared.mutating {
        let policy = if declared.reinvoked { "IfNeeded" } else { "Never" };
        entry["reinvocationPolicy"] = json!(policy);
    }
    ([name, path], entry)
}

/// `vfoobar-v1.test.example.com`: the API server demands a domain of three segments.
fn name(declared: &DeclaredWebhook) -> String {
    let Scope {
        group, version, kind, ..
    } = &declared.scope;
    let (form, kind) = (if declared.mutating { "m" } else { "v" }, kind.to_lowercase());
    let domain = match group.as_str() {
        "" => DOMAIN.to_owned(),
        group if group.contains('.') => group.to_owned(),
        group => format!("{group}.{DOMAIN}"),
    };
    format!("{form}{kind}-{version}.{domain}")
}

/// kubebuilder's path: `/validate-test-example-com-v1-foobar`.
fn path(declared: &DeclaredWebhook) -> String {
    let verb = if declared.mutating { "mutate" } else { "validate" };
    let Scope {
        group, version, kind, ..
    } = &declared.scope;
    format!("/{verb}-{}-{version}-{}", group.replace('.', "-"), kind.to_lowercase())
}

/// The selector of namespaces for a kind of another owner: the author's selector, without the operator's own namespace, so
/// that an operator that is down can start again. Kustomize replaces the placeholder by the name of that namespace.
fn namespaces(declared: &DeclaredWebhook) -> Option<LabelSelector> {
    if !declared.scope.namespaced || !declared.foreign {
        return None;
    }
    let mut selector = declared.scope.namespaces.clone().unwrap_or_default();
    selector
        .match_expressions
        .get_or_insert_default()
        .push(LabelSelectorRequirement {
            key: NAME_OF_NAMESPACE.to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(vec![NAMESPACE.to_owned()]),
        });
    Some(selector)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Namespace, Pod};
    use kubewright_runtime::{Object, Result};

    use super::*;
    use crate::{
        scope::{FailurePolicy, IS_KEPT, Operation},
        webhook::{Admission, Defaulter, Webhook},
    };

    struct Nothing;

    impl<K: Object> Defaulter<K> for Nothing {
        async fn default(&self, _: &Admission, _: &mut K) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_entry_is_kubebuilders_with_safe_defaults() {
        let webhook = Webhook::<Pod, _>::defaulting(Nothing)
            .failure_policy(FailurePolicy::Ignore)
            .subresource("status")
            .when("named", " object.metadata.name != '' ");
        let (names, entry) = of(&webhook.declared);
        assert_eq!(names, ["mpod-v1.kubewright.dev", "/mutate--v1-pod"]);
        assert_eq!(
            entry,
            json!({
                "name": "mpod-v1.kubewright.dev",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {
                    "service": {"name": "webhook-service", "namespace": "system", "path": "/mutate--v1-pod"},
                },
                "failurePolicy": "Ignore",
                "matchPolicy": "Equivalent",
                "rules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                    "resources": ["pods", "pods/status"], "scope": "Namespaced",
                }],
                "sideEffects": "None",
                "timeoutSeconds": 5,
                "namespaceSelector": {"matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["system"]},
                ]},
                "matchConditions": [
                    {"name": "unless-deleting", "expression": IS_KEPT},
                    {"name": "named", "expression": "object.metadata.name != ''"},
                ],
                "reinvocationPolicy": "Never",
            })
        );
    }

    #[test]
    fn an_entry_says_no_more_than_it_needs() {
        let webhook = Webhook::<Namespace, _>::defaulting(Nothing)
            .operations([Operation::Create])
            .reinvoked();
        let (_, entry) = of(&webhook.declared);
        assert_eq!(entry["rules"][0]["scope"], "Cluster");
        assert_eq!(entry["reinvocationPolicy"], "IfNeeded");
        for absent in ["namespaceSelector", "objectSelector", "matchConditions"] {
            assert!(entry.get(absent).is_none(), "{absent}");
        }
    }
}
