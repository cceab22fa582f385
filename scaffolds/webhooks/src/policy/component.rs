//! The kustomize component `config/policy`: the policies, and where kustomize finds their names.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{form::PolicyForm, mutating::Mutating, registered::RegisteredPolicy, validating::Validating};

/// The files of `config/policy`; none if there are no policies. The API server evaluates policies in the order of their names.
pub(crate) fn files(policies: &[RegisteredPolicy]) -> BTreeMap<String, Vec<Value>> {
    if policies.is_empty() {
        return BTreeMap::new();
    }
    let mut sorted: Vec<_> = policies.iter().collect();
    sorted.sort_by_key(|policy| &policy.name);
    let documents: Vec<_> = sorted.into_iter().flat_map(|policy| policy.documents.clone()).collect();
    let kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": ["manifests.yaml"],
        "configurations": ["kustomizeconfig.yaml"],
    });
    [
        ("kustomization.yaml", vec![kustomization]),
        ("kustomizeconfig.yaml", vec![references(&documents)]),
        ("manifests.yaml", documents),
    ]
    .map(|(name, documents)| (name.to_owned(), documents))
    .into()
}

/// A binding names its policy.
fn references(documents: &[Value]) -> Value {
    let group = "admissionregistration.k8s.io";
    let is_used = |kind: &&str| documents.iter().any(|it| it["kind"] == **kind);
    let kinds = [Mutating::KIND, Validating::KIND].into_iter().filter(is_used);
    let of_kind = |kind: &str| {
        let binding = json!({"kind": format!("{kind}Binding"), "group": group, "path": "spec/policyName"});
        json!({"kind": kind, "group": group, "fieldSpecs": [binding]})
    };
    json!({"nameReference": kinds.map(of_kind).collect::<Vec<_>>()})
}
