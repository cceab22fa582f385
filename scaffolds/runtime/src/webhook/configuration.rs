//! The entry of a webhook in its configuration, as `make manifests` writes it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use serde_json::{Value, json};

use super::{
    component::{NAMESPACE, SERVICE},
    declare::{Declared, FailurePolicy},
    review::Operation,
};

/// The name of the condition that leaves out objects that are being deleted.
pub(crate) const UNLESS_DELETING: &str = "unless-deleting";
/// A creation has an object without that field, a deletion has no object.
pub(crate) const IS_KEPT: &str = "object == null || !has(object.metadata.deletionTimestamp)";
/// The label that the API server gives each namespace, with its name.
const NAME_OF_NAMESPACE: &str = "kubernetes.io/metadata.name";
/// The domain of names for groups that are none.
const DOMAIN: &str = "kubewright.dev";

/// Name and path of a webhook, and its entry in the configuration.
pub(super) fn of(declared: &Declared) -> ([String; 2], Value) {
    let (name, path) = (name(declared), path(declared));
    let resources: Vec<_> = [declared.plural.clone()]
        .into_iter()
        .chain(
            declared
                .subresources
                .iter()
                .map(|it| format!("{}/{it}", declared.plural)),
        )
        .collect();
    let mut entry = json!({
        "name": name,
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": path}},
        "failurePolicy": match declared.failure_policy {
            Some(FailurePolicy::Ignore) => "Ignore",
            Some(FailurePolicy::Fail) | None => "Fail",
        },
        "matchPolicy": "Equivalent",
        "rules": [{
            "apiGroups": [declared.group],
            "apiVersions": [declared.version],
            "operations": declared.operations,
            "resources": resources,
            "scope": if declared.namespaced { "Namespaced" } else { "Cluster" },
        }],
        "sideEffects": "None",
        "timeoutSeconds": declared.timeout.as_secs(),
    });
    if let Some(namespaces) = namespaces(declared) {
        entry["namespaceSelector"] = json!(namespaces);
    }
    if let Some(objects) = &declared.objects {
        entry["objectSelector"] = json!(objects);
    }
    let conditions = conditions(declared);
    if !conditions.is_empty() {
        entry["matchConditions"] = json!(conditions);
    }
    if declared.mutating {
        let policy = if declared.reinvoked { "IfNeeded" } else { "Never" };
        entry["reinvocationPolicy"] = json!(policy);
    }
    ([name, path], entry)
}

/// `vfoobar-v1.test.example.com`: the API server demands a domain of three segments.
fn name(declared: &Declared) -> String {
    let Declared {
        mutating,
        group,
        version,
        kind,
        ..
    } = declared;
    let (form, kind) = (if *mutating { "m" } else { "v" }, kind.to_lowercase());
    let domain = match group.as_str() {
        "" => DOMAIN.to_owned(),
        group if group.contains('.') => group.to_owned(),
        group => format!("{group}.{DOMAIN}"),
    };
    format!("{form}{kind}-{version}.{domain}")
}

/// kubebuilder's path: `/validate-test-example-com-v1-foobar`.
fn path(declared: &Declared) -> String {
    let verb = if declared.mutating { "mutate" } else { "validate" };
    let (group, version) = (declared.group.replace('.', "-"), &declared.version);
    format!("/{verb}-{group}-{version}-{}", declared.kind.to_lowercase())
}

/// The selector of the author; of a kind of others, the operator's own namespace is left out as well, so that an operator
/// that is down can start again. Kustomize replaces the placeholder by its name.
fn namespaces(declared: &Declared) -> Option<LabelSelector> {
    if !declared.namespaced || !declared.foreign {
        return declared.namespaces.clone();
    }
    let mut selector = declared.namespaces.clone().unwrap_or_default();
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

fn conditions(declared: &Declared) -> Vec<Value> {
    let unless_deleting = declared.unless_deleting && declared.operations.contains(&Operation::Update);
    let ours = unless_deleting.then(|| json!({"name": UNLESS_DELETING, "expression": IS_KEPT}));
    let theirs = declared.conditions.iter();
    let theirs = theirs.map(|[name, expression]| json!({"name": name, "expression": expression.trim()}));
    ours.into_iter().chain(theirs).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Namespace, Pod};

    use super::*;
    use crate::{
        error::Result,
        object::Object,
        webhook::{Admission, Defaulter, Webhook},
    };

    struct Nothing;

    impl<K: Object> Defaulter<K> for Nothing {
        async fn default(&self, _: &Admission, _: &mut K) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn our_own_condition_compiles() {
        kubewright_schema::condition::Condition::compile(IS_KEPT).unwrap();
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
