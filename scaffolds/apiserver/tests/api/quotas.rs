//! ResourceQuotas with their controller: what kube-apiserver and kube-controller-manager 1.37.2 keep in a quota's status.

use crate::common::{Answer, Wire, wire};
use futures::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;

const IN: &str = "/api/v1/namespaces/default";

async fn limit(wire: &Wire, hard: Value) {
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    let answer = wire.post(&format!("{IN}/resourcequotas"), quota.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    settle().await;
}

/// The clock is paused, so a sleep ends when all tasks are idle.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

async fn status(wire: &Wire) -> Value {
    settle().await;
    let quota = wire.get(&format!("{IN}/resourcequotas/q")).await.json();
    quota["status"].clone()
}

async fn used(wire: &Wire) -> Value {
    status(wire).await["used"].clone()
}

async fn map(wire: &Wire, name: &str) -> Answer {
    let body = json!({"metadata": {"name": name}});
    wire.post(&format!("{IN}/configmaps"), body.to_string()).await
}

async fn merge(wire: &Wire, path: &str, patch: Value) -> Answer {
    let wire = wire.with("content-type", "application/merge-patch+json");
    wire.send("PATCH", path, patch.to_string()).await
}

#[tokio::test(start_paused = true)]
async fn a_new_quota_counts_what_is_there_and_limits_what_comes() {
    let wire = wire();
    map(&wire, "a").await;
    limit(
        &wire,
        json!({"configmaps": "2", "count/widgets.example.com": "1", "pods": "1k"}),
    )
    .await;
    let expected = json!({
        "hard": {"configmaps": "2", "count/widgets.example.com": "1", "pods": "1k"},
        "used": {"configmaps": "1", "pods": "0"},
    });
    assert_eq!(status(&wire).await, expected);
    assert_eq!(map(&wire, "b").await.code, 201);
    let refused = map(&wire, "c").await;
    assert_eq!(refused.code, 403);
    let why = "exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2";
    assert_eq!(
        refused.json()["message"],
        format!("configmaps \"c\" is forbidden: {why}")
    );
}

#[tokio::test(start_paused = true)]
async fn usage_falls_with_a_deletion_and_limits_follow_the_spec() {
    let wire = wire();
    limit(&wire, json!({"configmaps": "1"})).await;
    map(&wire, "a").await;
    assert_eq!(map(&wire, "b").await.code, 403);
    wire.send("DELETE", &format!("{IN}/configmaps/a"), "").await;
    assert_eq!(used(&wire).await, json!({"configmaps": "0"}));
    assert_eq!(map(&wire, "b").await.code, 201);
    let quota = format!("{IN}/resourcequotas/q");
    merge(
        &wire,
        &quota,
        json!({"spec": {"hard": {"configmaps": "2", "secrets": "5"}}}),
    )
    .await;
    let expected = json!({"hard": {"configmaps": "2", "secrets": "5"}, "used": {"configmaps": "1", "secrets": "0"}});
    assert_eq!(status(&wire).await, expected);
    merge(&wire, &quota, json!({"spec": {"hard": {"configmaps": null}}})).await;
    assert_eq!(used(&wire).await, json!({"secrets": "0"}));
    assert_eq!(map(&wire, "c").await.code, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn creates_at_the_same_time_never_pass_the_limit() {
    let wire = wire();
    limit(&wire, json!({"configmaps": "20"})).await;
    while used(&wire).await != json!({"configmaps": "0"}) {}
    let creates = (0..200).map(|number| {
        let wire = wire.clone();
        tokio::spawn(async move {
            let name = format!("m{number}");
            let code = map(&wire, &name).await.code;
            if code == 201 && number % 3 == 0 {
                wire.send("DELETE", &format!("{IN}/configmaps/{name}"), "").await;
            }
            let list = wire.get(&format!("{IN}/configmaps")).await.json();
            (code, list["items"].as_array().unwrap().len())
        })
    });
    let outcomes: Vec<(u16, usize)> = join_all(creates).await.into_iter().map(Result::unwrap).collect();
    assert!(
        outcomes.iter().all(|(code, _)| [201, 403].contains(code)),
        "{outcomes:?}"
    );
    assert!(outcomes.iter().all(|(_, count)| *count <= 20), "{outcomes:?}");
    let list = wire.get(&format!("{IN}/configmaps")).await.json();
    let left = list["items"].as_array().unwrap().len().to_string();
    let mut seen = Value::Null;
    for _ in 0..100 {
        seen = used(&wire).await;
        if seen == json!({"configmaps": left}) {
            return;
        }
    }
    panic!("{left} ConfigMaps, but the quota says {seen}");
}

#[tokio::test(start_paused = true)]
async fn a_write_that_fails_after_it_was_charged_is_given_back() {
    let wire = wire();
    map(&wire, "a").await;
    limit(&wire, json!({"configmaps": "2"})).await;
    assert_eq!(map(&wire, "a").await.code, 409);
    assert_eq!(used(&wire).await, json!({"configmaps": "1"}));
    let path = format!("{IN}/configmaps?dryRun=All");
    assert_eq!(wire.post(&path, r#"{"metadata":{"name":"b"}}"#).await.code, 201);
    assert_eq!(used(&wire).await, json!({"configmaps": "1"}));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_ends_and_a_service_that_changes_give_back_what_they_used() {
    let wire = wire();
    limit(
        &wire,
        json!({"pods": "2", "count/pods": "2", "requests.cpu": "1", "services.nodeports": "3"}),
    )
    .await;
    let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": "300m"}}});
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [container]}});
    assert_eq!(wire.post(&format!("{IN}/pods"), pod.to_string()).await.code, 201);
    let ports = json!([{"name": "a", "port": 80}, {"name": "b", "port": 81}]);
    let service = json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": ports}});
    assert_eq!(
        wire.post(&format!("{IN}/services"), service.to_string()).await.code,
        201
    );
    let before = json!({"pods": "1", "count/pods": "1", "requests.cpu": "300m", "services.nodeports": "2"});
    assert_eq!(used(&wire).await, before);
    merge(
        &wire,
        &format!("{IN}/pods/a/status"),
        json!({"status": {"phase": "Succeeded"}}),
    )
    .await;
    merge(
        &wire,
        &format!("{IN}/services/s"),
        json!({"spec": {"type": "ClusterIP"}}),
    )
    .await;
    let after = json!({"pods": "0", "count/pods": "1", "requests.cpu": "0", "services.nodeports": "0"});
    assert_eq!(used(&wire).await, after);
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_custom_kind_are_counted_once_it_is_served() {
    let wire = wire();
    limit(&wire, json!({"count/widgets.example.com": "1"})).await;
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(wire.post(path, crd.to_string()).await.code, 201);
    assert_eq!(used(&wire).await, json!({"count/widgets.example.com": "0"}));
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let widget =
        |name: &str| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}}).to_string();
    assert_eq!(wire.post(widgets, widget("a")).await.code, 201);
    assert_eq!(wire.post(widgets, widget("b")).await.code, 403);
    assert_eq!(used(&wire).await, json!({"count/widgets.example.com": "1"}));
    wire.send("DELETE", &format!("{widgets}/a"), "").await;
    assert_eq!(used(&wire).await, json!({"count/widgets.example.com": "0"}));
}
