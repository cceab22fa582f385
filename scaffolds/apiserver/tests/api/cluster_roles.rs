//! ClusterRoles that aggregate others, compared with the rules that kube-controller-manager 1.37.2 gave them.

use crate::common::{Wire, wire};
use serde_json::{Value, json};
use std::time::Duration;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

fn rule(resource: &str, verb: &str) -> Value {
    json!({"apiGroups": [""], "resources": [resource], "verbs": [verb]})
}

async fn make(wire: &Wire, name: &str, labels: Value, rest: Value) {
    let mut role = json!({"metadata": {"name": name, "labels": labels}});
    role.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    let answer = wire.post(ROLES, role.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
}

/// Waits until a role has these rules.
async fn has(wire: &Wire, name: &str, rules: &[Value]) -> Value {
    until(wire, name, |found| found == rules).await
}

/// Waits until the rules of a role are as expected.
async fn until(wire: &Wire, name: &str, expected: impl Fn(&[Value]) -> bool) -> Value {
    let mut last = Value::Null;
    for _ in 0..200 {
        last = wire.get(&format!("{ROLES}/{name}")).await.json();
        if expected(last["rules"].as_array().map(Vec::as_slice).unwrap_or_default()) {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    panic!("{last:#} does not have the expected rules");
}

#[tokio::test(start_paused = true)]
async fn an_aggregate_has_each_rule_of_the_selected_roles_once_ordered_by_selector_and_name() {
    let wire = wire();
    let (get, list, watch) = (rule("pods", "get"), rule("services", "list"), rule("nodes", "watch"));
    make(&wire, "c", json!({"y": "1"}), json!({"rules": [watch]})).await;
    make(&wire, "b", json!({"x": "1"}), json!({"rules": [list, get]})).await;
    make(&wire, "a", json!({"x": "1", "y": "2"}), json!({"rules": [get]})).await;
    let selectors = json!([{"matchLabels": {"x": "1"}}, {"matchExpressions": [{"key": "y", "operator": "Exists"}]}]);
    let gathers = json!({"aggregationRule": {"clusterRoleSelectors": selectors}, "rules": [rule("secrets", "get")]});
    make(&wire, "inner", json!({"outer": "yes"}), gathers).await;
    let outer = json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"outer": "yes"}}]}});
    make(&wire, "outer", json!({}), outer).await;

    let all = [get.clone(), list.clone(), watch.clone()];
    let inner = has(&wire, "inner", &all).await;
    let managers = inner["metadata"]["managedFields"].as_array().unwrap();
    let gathered = managers
        .iter()
        .find(|it| it["manager"] == "clusterrole-aggregation-controller")
        .unwrap();
    assert_eq!(gathered["operation"], "Apply");
    assert_eq!(gathered["fieldsV1"], json!({"f:rules": {}}));
    has(&wire, "outer", &all).await;

    wire.send("DELETE", &format!("{ROLES}/b"), "").await;
    has(&wire, "inner", &[get.clone(), watch.clone()]).await;
    has(&wire, "outer", &[get, watch]).await;
    for name in ["a", "c"] {
        wire.send("DELETE", &format!("{ROLES}/{name}"), "").await;
    }
    let outer = has(&wire, "outer", &[]).await;
    assert_eq!(outer["rules"], Value::Null);
    let managers = outer["metadata"]["managedFields"].as_array().unwrap();
    assert!(managers.iter().all(|it| it["operation"] == "Update"), "{managers:?}");
}

#[tokio::test(start_paused = true)]
async fn rules_aggregated_to_view_reach_edit_and_admin() {
    let wire = wire();
    let rules = json!({"rules": [rule("foobars", "get")]});
    let labels = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    let before = wire.get(&format!("{ROLES}/admin")).await.json();
    make(&wire, "foobar-viewer", labels, rules).await;
    for name in ["view", "edit", "admin"] {
        until(&wire, name, |rules| rules.contains(&rule("foobars", "get"))).await;
    }
    wire.send("DELETE", &format!("{ROLES}/foobar-viewer"), "").await;
    has(&wire, "admin", before["rules"].as_array().unwrap()).await;
}

#[tokio::test(start_paused = true)]
async fn a_new_server_needs_no_aggregation() {
    let wire = wire();
    let before = wire.get(ROLES).await.json();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(
        wire.get(ROLES).await.json()["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
}
