//! PodDisruptionBudgets on the in-process API server and with kube-controller-manager: the same Pods lead to the same
//! status.

use anyhow::{Context, Result};
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::workloads::{Both, PODS, items, send};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const BUDGET: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// Budgets without times, and the number of Pods.
pub(super) fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut budgets = items(client, BUDGETS).await?;
        for budget in &mut budgets {
            let mut status = budget["status"].clone();
            for condition in status["conditions"].as_array_mut().into_iter().flatten() {
                condition["lastTransitionTime"] = Value::Null;
            }
            *budget = json!({"spec": budget["spec"], "generation": budget["metadata"]["generation"], "status": status});
        }
        Ok(json!({"budgets": budgets, "pods": items(client, PODS).await?.len()}))
    })
}

fn budget(limit: &Value) -> Value {
    let mut budget = json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}});
    for (field, value) in limit.as_object().into_iter().flatten() {
        budget["spec"][field] = value.clone();
    }
    budget
}

fn template(behaviour: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"kubewright.dev/kubelet": behaviour}},
        "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
    })
}

fn deployment(replicas: u32, behaviour: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template(behaviour),
        },
    })
}

/// Evicts a Pod on both servers; whether both allow it.
async fn evict(both: &Both) -> Result<[bool; 2]> {
    let mut allowed = [false; 2];
    for (client, is_allowed) in [&both.ours, &both.real].into_iter().zip(&mut allowed) {
        let pods = items(client, PODS).await?;
        let live = pods.iter().find(|pod| pod["metadata"]["deletionTimestamp"].is_null());
        let name = live.context("a Pod")?["metadata"]["name"].as_str().context("a name")?;
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        let sent = send(client, "POST", &format!("{PODS}/{name}/eviction"), &eviction).await;
        *is_allowed = sent.is_ok();
    }
    Ok(allowed)
}

#[tokio::test]
async fn disruption_budgets_end_as_with_kube_controller_manager() -> Result<()> {
    Both::with(state, counts).await
}

#[tokio::test]
async fn budgets_of_other_pods_end_as_with_kube_controller_manager() -> Result<()> {
    Both::with(state, owners).await
}

/// Numbers, shares, Pods that are not ready, evictions.
async fn counts(both: &Both) -> Result<()> {
    let patch = ["PATCH", BUDGET];
    let limit = |least: Value, most: Value| json!({"spec": {"minAvailable": least, "maxUnavailable": most}});
    both.step("without Pods", ["POST", BUDGETS], budget(&json!({"minAvailable": 2})))
        .await?;
    both.step(
        "three Pods",
        ["POST", DEPLOYMENTS],
        deployment(3, "ready-after=1s,stop-after=1s"),
    )
    .await?;
    assert_eq!(evict(both).await?, [true, true]);
    let evicted = both.step("one was evicted", patch, json!({"metadata": {"labels": {"a": "b"}}}));
    assert_eq!(evicted.await?["budgets"][0]["status"]["disruptionsAllowed"], 1);
    both.step("a share of all", patch, limit(json!("67%"), Value::Null))
        .await?;
    assert_eq!(evict(both).await?, [false, false]);
    both.step("a share that may be missing", patch, limit(Value::Null, json!("34%")))
        .await?;
    both.step(
        "more Pods are wanted",
        ["PATCH", DEPLOYMENT],
        json!({"spec": {"replicas": 7}}),
    )
    .await?;
    both.step("a number that may be missing", patch, limit(Value::Null, json!(9)))
        .await?;
    let stuck = json!({"spec": {"template": template("never-ready")}});
    both.step("a rollout is stuck", ["PATCH", DEPLOYMENT], stuck).await?;
    both.step("none may be missing", patch, limit(Value::Null, json!(0)))
        .await?;
    both.step(
        "fewer Pods are wanted",
        ["PATCH", DEPLOYMENT],
        json!({"spec": {"replicas": 0}}),
    )
    .await?;
    Ok(())
}

/// Pods without a controller, and with one that has no scale.
async fn owners(both: &Both) -> Result<()> {
    let budget = budget(&json!({"maxUnavailable": 0}));
    both.step("a budget", ["POST", BUDGETS], budget).await?;
    let mut pod = template("");
    pod["metadata"]["name"] = json!("alone");
    both.step("a Pod without a controller", ["POST", PODS], pod.clone())
        .await?;
    let numbers = json!({"spec": {"minAvailable": 1, "maxUnavailable": null}});
    both.step("a number of those", ["PATCH", BUDGET], numbers).await?;
    pod["metadata"]["name"] = json!("owned");
    let maps = "/api/v1/namespaces/default/configmaps";
    for client in [&both.ours, &both.real] {
        let map = send(client, "POST", maps, &json!({"metadata": {"name": "x"}})).await?;
        let uid = &map["metadata"]["uid"];
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": uid, "controller": true});
        pod["metadata"]["ownerReferences"] = json!([owner]);
        send(client, "POST", PODS, &pod).await?;
    }
    both.step(
        "an owned Pod",
        ["PATCH", BUDGET],
        json!({"metadata": {"labels": {"a": "c"}}}),
    )
    .await?;
    let shares = json!({"spec": {"minAvailable": "50%"}});
    let without = both
        .step("a controller without a scale", ["PATCH", BUDGET], shares)
        .await?;
    assert_eq!(without["budgets"][0]["status"]["conditions"][0]["reason"], "SyncFailed");
    both.step("deleted", ["DELETE", BUDGET], Value::Null).await?;
    Ok(())
}
