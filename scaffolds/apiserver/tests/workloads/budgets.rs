//! Disruption budgets and evictions.

use serde_json::{Value, json};

use crate::{
    cluster::{DEPLOYMENTS, PODS, cluster, condition, deployment},
    common::Wire,
};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

fn budget(limit: &Value) -> Value {
    let mut budget = json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}});
    for (field, value) in limit.as_object().unwrap() {
        budget["spec"][field] = value.clone();
    }
    budget
}

impl Wire {
    /// Expected, healthy, wanted and allowed.
    async fn counts(&self) -> [i64; 4] {
        let status = self.object(&format!("{BUDGETS}/web")).await["status"].clone();
        ["expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"]
            .map(|it| status[it].as_i64().unwrap())
    }

    async fn evict(&self, pod: &str) -> u16 {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}});
        let answer = self.post(&format!("{PODS}/{pod}/eviction"), eviction.to_string()).await;
        answer.code
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_counts_its_pods_and_lets_as_many_be_evicted() {
    let wire = cluster();
    wire.make(BUDGETS, &budget(&json!({"minAvailable": 2}))).await;
    wire.pass(1).await;
    assert_eq!(wire.counts().await, [0, 0, 2, 0]);
    wire.make(DEPLOYMENTS, &deployment("web", 3, "ready-after=10s")).await;
    wire.pass(1).await;
    assert_eq!(wire.counts().await, [3, 0, 2, 0]);
    wire.pass(10).await;
    assert_eq!(wire.counts().await, [3, 3, 2, 1]);
    let budget = wire.object(&format!("{BUDGETS}/web")).await;
    assert_eq!(condition(&budget, "DisruptionAllowed"), "True SufficientPods");
    let pods = wire.items(PODS).await;
    let names: Vec<&str> = pods
        .iter()
        .map(|pod| pod["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!((wire.evict(names[0]).await, wire.evict(names[1]).await), (201, 429));
    wire.pass(1).await;
    assert_eq!(wire.counts().await, [3, 2, 2, 0]);
    let budget = wire.object(&format!("{BUDGETS}/web")).await;
    assert_eq!(condition(&budget, "DisruptionAllowed"), "False InsufficientPods");
    wire.pass(10).await;
    assert_eq!(wire.counts().await, [3, 3, 2, 1]);
    assert_eq!(wire.evict(names[1]).await, 201);
}

#[tokio::test(start_paused = true)]
async fn a_share_is_one_of_the_replicas_that_the_controllers_want() {
    let wire = cluster();
    wire.make(DEPLOYMENTS, &deployment("web", 5, "")).await;
    wire.make(BUDGETS, &budget(&json!({"maxUnavailable": "30%"}))).await;
    wire.pass(1).await;
    assert_eq!(wire.counts().await, [5, 5, 3, 2]);
    wire.change(
        &format!("{BUDGETS}/web"),
        &json!({"spec": {"maxUnavailable": null, "minAvailable": "50%"}}),
    )
    .await;
    wire.pass(1).await;
    assert_eq!(wire.counts().await, [5, 5, 3, 2]);
    wire.change(&format!("{DEPLOYMENTS}/web"), &json!({"spec": {"replicas": 2}}))
        .await;
    wire.pass(1).await;
    assert_eq!(wire.counts().await, [2, 2, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_budget_whose_pods_have_a_controller_without_a_scale_says_so() {
    let wire = cluster();
    let mut pod = crate::cluster::template("web", "");
    pod["metadata"]["name"] = json!("one");
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1", "controller": true});
    let made = wire
        .make(
            "/api/v1/namespaces/default/configmaps",
            &json!({"metadata": {"name": "x"}}),
        )
        .await;
    pod["metadata"]["ownerReferences"] = json!([owner]);
    pod["metadata"]["ownerReferences"][0]["uid"] = made["metadata"]["uid"].clone();
    wire.make(PODS, &pod).await;
    wire.make(BUDGETS, &budget(&json!({"maxUnavailable": 1}))).await;
    wire.pass(1).await;
    let budget = wire.object(&format!("{BUDGETS}/web")).await;
    assert_eq!(condition(&budget, "DisruptionAllowed"), "False SyncFailed");
    assert_eq!(
        budget["status"]["conditions"][0]["message"],
        "configmaps does not implement the scale subresource"
    );
}

#[tokio::test(start_paused = true)]
async fn a_status_that_the_server_stores_in_another_form_is_written_once() {
    let wire = cluster();
    // Its status has no evicted Pods, for which the server stores nothing.
    wire.make(BUDGETS, &budget(&json!({"minAvailable": 2}))).await;
    let work = async || {
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        wire.server.looked()
    };
    let before = work().await;
    assert_eq!(work().await, before);
}
