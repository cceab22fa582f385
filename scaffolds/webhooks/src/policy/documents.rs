//! A policy and its binding, as `make manifests` writes them.

use serde_json::{Value, json};

use super::{
    declare::{DeclaredPolicy, Policy},
    form::PolicyForm,
};
use crate::scope::named;

/// The group of policies.
const GROUP: &str = "admissionregistration.k8s.io/v1";
/// The annotation by which `config/rbac/namespaces` puts objects into another namespace than the operator's: kustomize takes
/// policies for namespaced objects, and they are in none.
const NAMESPACE: &str = "kubewright.dev/namespace";

/// The policy and its binding, for the operator of this name.
pub(crate) fn documents<F: PolicyForm>(policy: &Policy<F>, operator: &str) -> [Value; 2] {
    let declared = &policy.declared;
    let mut spec = spec(declared);
    let mut bound = json!({"policyName": declared.name});
    policy.form.write(&mut spec, &mut bound);
    if let Some(params) = &declared.params {
        bound["paramRef"] = params.reference();
    }
    let document = |kind: String, spec: Value| {
        json!({
            "apiVersion": GROUP,
            "kind": kind,
            "metadata": {
                "name": declared.name,
                "annotations": {NAMESPACE: ""},
                "labels": {"app.kubernetes.io/name": operator},
            },
            "spec": spec,
        })
    };
    [
        document(F::KIND.to_owned(), spec),
        document(format!("{}Binding", F::KIND), bound),
    ]
}

/// The common part of both forms.
fn spec(declared: &DeclaredPolicy) -> Value {
    let scope = &declared.scope;
    let mut constraints = json!({"matchPolicy": "Equivalent", "resourceRules": [scope.rule()]});
    scope.select(&mut constraints);
    let mut spec = json!({"failurePolicy": scope.failures(), "matchConstraints": constraints});
    if let Some(conditions) = scope.match_conditions() {
        spec["matchConditions"] = conditions;
    }
    if !declared.variables.is_empty() {
        spec["variables"] = declared.variables.iter().map(named).collect();
    }
    if let Some(params) = &declared.params {
        spec["paramKind"] = params.kind();
    }
    spec
}
