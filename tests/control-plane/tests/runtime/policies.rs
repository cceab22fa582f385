//! ValidatingAdmissionPolicies on the in-process API server and with kube-controller-manager: each finds the same errors of types.

use anyhow::{Result, ensure};
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::{
    crd, install,
    workloads::{Both, items, send},
};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";

/// Groups, versions and resources, and expressions whose types are right or wrong for them.
const CHECKED: [([&str; 3], &[&str]); 7] = [
    (
        ["apps", "v1", "deployments"],
        &[
            "object.spec.replicas > 1",
            "object.spec.replicas > '1'",
            "object.spec.none == 1",
            "object.spec.strategy.rollingUpdate.maxSurge == 1",
            "object.spec.template.spec.containers.all(c, c.resources.limits['cpu'] != '')",
            "object.spec.template.spec.containers[0].ports.exists(p, p.containerPort == 'a')",
            "object.metadata.labels['a'] == 1",
            "object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')",
            "object.metadata.managedFields[0].fieldsV1.x == 1",
            "object.spec == 1",
            "oldObject == 'a'",
            "authorizer.group('').resource('pods').check('get').allowed()",
            "authorizer.requestResource.check('get').allowed()",
            "variables.count > 'a'",
            "variables.wrong.x == 1",
            "variables.spec.none == 1",
        ],
    ),
    (
        ["", "v1", "events"],
        &["object.reason == 1", "object.involvedObject.kind == 'Pod'"],
    ),
    (["", "v1", "deployment"], &["object.data.a == 1"]),
    (["*", "v1", "pods"], &["object.none == 1"]),
    (["", "v1", "pods/status"], &["object.none == 1"]),
    (
        ["", "v1", "secrets"],
        &["object.data['a'] == 'a'", "object.data['a'] == b'a'"],
    ),
    (
        ["apiextensions.k8s.io", "v1", "customresourcedefinitions"],
        &[
            "object.spec.versions[0].schema.openAPIV3Schema.items.x == 1",
            "object.spec.versions[0].schema.openAPIV3Schema.not.not == 1",
            "object.spec.versions[0].schema.openAPIV3Schema.not.type == 1",
        ],
    ),
];

fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let policies = items(client, POLICIES).await?;
        let status = policies.iter().map(|it| plain(&it["status"]));
        Ok(status.collect())
    })
}

/// Without the number in the name of a type, which is a time upstream.
fn plain(status: &Value) -> Value {
    let text = status.to_string();
    let mut plain = String::new();
    let mut is_number = false;
    for (at, char) in text.char_indices() {
        let begins = char.is_ascii_digit() && text[..at].ends_with(|before: char| before.is_ascii_alphabetic());
        is_number = char.is_ascii_digit() && (is_number || begins);
        if !is_number {
            plain.push(char);
        }
    }
    Value::String(plain)
}

fn policy(name: &str, rules: &Value, validations: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
        "spec": {"matchConstraints": {"resourceRules": rules}, "validations": validations},
    })
}

fn rule([group, version, resource]: [&str; 3]) -> Value {
    json!({"apiGroups": [group], "apiVersions": [version], "resources": [resource], "operations": ["*"]})
}

#[tokio::test]
async fn policies_have_the_warnings_of_kube_controller_manager() -> Result<()> {
    let checks = async |both: &Both| {
        for (at, (kind, expressions)) in CHECKED.into_iter().enumerate() {
            let validation = |expression: &&str| json!({"expression": expression});
            let validations = expressions.iter().map(validation).collect();
            let mut wanted = policy(&format!("policy-{at}"), &json!([rule(kind)]), &validations);
            wanted["spec"]["variables"] = json!([
                {"name": "count", "expression": "object.spec.replicas"}, {"name": "wrong", "expression": "object.spec.none"},
                {"name": "spec", "expression": "object.spec"},
            ]);
            for client in [&both.ours, &both.real] {
                send(client, "POST", POLICIES, &wanted).await?;
            }
        }
        messages(both).await?;
        let all = customs(both).await?;
        ensure!(all.to_string().contains("undefined field 'none'"), "{all}");
        Ok(())
    };
    Both::with(state, checks).await
}

/// Messages, parameters, and a rule for several kinds.
async fn messages(both: &Both) -> Result<()> {
    let validations = json!([{"expression": "params.data.a == object.metadata.name && params.spec == 1",
        "messageExpression": "'got ' + object.spec.replicas"}]);
    let rules = json!([{"apiGroups": ["apps", ""], "apiVersions": ["v1"], "resources": ["replicasets", "pods", "statefulsets"],
        "operations": ["CREATE"]}]);
    let mut wanted = policy("several", &rules, &validations);
    wanted["spec"]["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    both.step("several kinds", ["POST", POLICIES], wanted.clone()).await?;
    wanted["metadata"]["name"] = json!("unknown");
    wanted["spec"]["paramKind"] = json!({"apiVersion": "none.example.com/v1", "kind": "None"});
    both.step("unknown parameters", ["POST", POLICIES], wanted).await?;
    Ok(())
}

/// A custom kind, whose policy is checked again when it changes.
async fn customs(both: &Both) -> Result<Value> {
    for client in [&both.ours, &both.real] {
        install(client, &crd("gadgets", "Gadget", &[("v1", true)])).await?;
    }
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    let validations = json!([{"expression": "object.spec.size > 'a'"}, {"expression": "object.spec.none == 1"},
        {"expression": "object.metadata.namespace == 1"}]);
    let rules = json!([rule(["other.example.com", "v1", "gadgets"])]);
    let wanted = policy("custom", &rules, &validations);
    both.step("a custom kind", ["POST", POLICIES], wanted).await?;
    let right = json!({"spec": {"validations": [{"expression": "object.spec.size > 1"}]}});
    both.step("corrected", ["PATCH", &format!("{POLICIES}/custom")], right)
        .await
}
