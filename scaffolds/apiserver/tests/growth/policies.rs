//! Requests do not read admission policies, unless one has changed.

use serde_json::{Value, json};

use crate::{
    common::Wire,
    step::{Looks, counted, send, server},
};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

async fn looks(wire: &Wire, name: &str) -> u64 {
    let map = json!({"metadata": {"name": name}, "data": {"a": "1"}});
    let mut looks = Looks::new();
    counted(wire, &mut looks, "create", (("POST", MAPS), &map)).await;
    looks[0].1
}

fn policies(number: usize) -> [(String, Value); 4] {
    let name = format!("p{number}");
    let rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"]});
    let validating = json!({"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}]}});
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name, "validationActions": ["Deny"]}});
    let patch =
        json!({"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/data'}]"}});
    let mutating = json!({"metadata": {"name": name}, "spec": {"reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [rule]}, "mutations": [patch]}});
    [
        ("validatingadmissionpolicies", validating),
        ("validatingadmissionpolicybindings", binding),
        ("mutatingadmissionpolicies", mutating),
        (
            "mutatingadmissionpolicybindings",
            json!({"metadata": {"name": name}, "spec": {"policyName": name}}),
        ),
    ]
    .map(|(plural, object)| (format!("{GROUP}/{plural}"), object))
}

#[tokio::test(start_paused = true)]
async fn policies_that_have_not_changed_are_not_read_again() {
    let wire = server();
    // The first request reads the flow schemas as well.
    looks(&wire, "start").await;
    let none = looks(&wire, "none").await;
    for (path, object) in (0..50).flat_map(policies) {
        send(&wire, ("POST", &path), &object).await;
    }
    let first = looks(&wire, "first").await;
    assert!(first >= none + 200, "{none} {first}");
    assert_eq!(looks(&wire, "next").await, none);
}
