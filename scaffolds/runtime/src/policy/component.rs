//! The kustomize component `config/policy`: the policies, and where kustomize finds their names.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::manager::Stated;

/// The files of `config/policy`; none if there are no policies. The API server evaluates policies in the order of their names.
pub(crate) fn files(policies: &[Stated]) -> BTreeMap<String, Vec<Value>> {
    if policies.is_empty() {
        return BTreeMap::new();
    }
    let mut sorted: Vec<_> = policies.iter().collect();
    sorted.sort_by_key(|policy| &policy.name);
    let documents = sorted.into_iter().flat_map(|policy| policy.documents.clone());
    let kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": ["manifests.yaml"],
        "configurations": ["kustomizeconfig.yaml"],
    });
    [
        ("kustomization.yaml", vec![kustomization]),
        ("kustomizeconfig.yaml", vec![references()]),
        ("manifests.yaml", documents.collect()),
    ]
    .map(|(name, documents)| (name.to_owned(), documents))
    .into()
}

/// A binding names its policy.
fn references() -> Value {
    let group = "admissionregistration.k8s.io";
    let kind = "ValidatingAdmissionPolicy";
    let binding = json!({"kind": format!("{kind}Binding"), "group": group, "path": "spec/policyName"});
    json!({"nameReference": [{"kind": kind, "group": group, "fieldSpecs": [binding]}]})
}
