//! A policy and its binding, as `make manifests` writes them.

use serde_json::{Value, json};

use super::declare::{Declared, Policy, Validating, ValidationAction};
use crate::scope::named;

/// The group of policies.
const GROUP: &str = "admissionregistration.k8s.io/v1";
/// The annotation by which `config/rbac/namespaces` puts objects into another namespace than the operator's: kustomize takes
/// policies for namespaced objects, and they are in none.
const NAMESPACE: &str = "kubewright.dev/namespace";

/// The policy and its binding, for the operator of this name.
pub(crate) fn documents(policy: &Policy<Validating>, operator: &str) -> Vec<Value> {
    let (declared, form) = (&policy.declared, &policy.form);
    let mut spec = spec(declared);
    if !form.validations.is_empty() {
        let all = form.validations.iter();
        spec["validations"] = all.map(super::Validation::document).collect();
    }
    if !form.annotations.is_empty() {
        let all = form.annotations.iter();
        spec["auditAnnotations"] = all
            .map(|[key, value]| json!({"key": key, "valueExpression": value.trim()}))
            .collect();
    }
    let mut bound = json!({"policyName": declared.name, "validationActions": actions(form)});
    if let Some(params) = &declared.params {
        bound["paramRef"] = params.reference();
    }
    let document = |kind: &str, spec: Value| {
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
    vec![
        document("ValidatingAdmissionPolicy", spec),
        document("ValidatingAdmissionPolicyBinding", bound),
    ]
}

/// What follows when a validation fails.
fn actions(form: &Validating) -> Vec<&'static str> {
    if form.actions.is_empty() {
        return vec!["Deny"];
    }
    let all = form.actions.iter();
    all.map(|action| match action {
        ValidationAction::Audit => "Audit",
        ValidationAction::Deny => "Deny",
        ValidationAction::Warn => "Warn",
    })
    .collect()
}

/// What both forms have.
fn spec(declared: &Declared) -> Value {
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
