//! A policy and its binding, as `make manifests` writes them.

use serde_json::{Value, json};

use super::declare::{Declared, Policy, Validating, ValidationAction};
use crate::webhook::{FailurePolicy, IS_KEPT, Operation, UNLESS_DELETING};

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
    let mut spec = json!({
        "failurePolicy": match declared.failure_policy {
            Some(FailurePolicy::Ignore) => "Ignore",
            Some(FailurePolicy::Fail) | None => "Fail",
        },
        "matchConstraints": constraints(declared),
    });
    let named = |[name, expression]: &[String; 2]| json!({"name": name, "expression": expression.trim()});
    let conditions = conditions(declared);
    if !conditions.is_empty() {
        spec["matchConditions"] = conditions.iter().map(named).collect();
    }
    if !declared.variables.is_empty() {
        spec["variables"] = declared.variables.iter().map(named).collect();
    }
    if let Some(params) = &declared.params {
        spec["paramKind"] = params.kind();
    }
    spec
}

fn constraints(declared: &Declared) -> Value {
    let plural = &declared.plural;
    let parts = declared.subresources.iter().map(|it| format!("{plural}/{it}"));
    let resources: Vec<_> = [plural.clone()].into_iter().chain(parts).collect();
    let mut constraints = json!({
        "matchPolicy": "Equivalent",
        "resourceRules": [{
            "apiGroups": [declared.group],
            "apiVersions": [declared.version],
            "operations": declared.operations,
            "resources": resources,
            "scope": if declared.namespaced { "Namespaced" } else { "Cluster" },
        }],
    });
    if let Some(namespaces) = &declared.namespaces {
        constraints["namespaceSelector"] = json!(namespaces);
    }
    if let Some(objects) = &declared.objects {
        constraints["objectSelector"] = json!(objects);
    }
    constraints
}

/// The match conditions: ours, and those of the author.
pub(super) fn conditions(declared: &Declared) -> Vec<[String; 2]> {
    let unless_deleting = declared.unless_deleting && declared.operations.contains(&Operation::Update);
    let ours = unless_deleting.then(|| [UNLESS_DELETING.to_owned(), IS_KEPT.to_owned()]);
    ours.into_iter().chain(declared.conditions.iter().cloned()).collect()
}
