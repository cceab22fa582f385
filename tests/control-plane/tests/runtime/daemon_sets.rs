//! DaemonSets on the in-process API server and with kube-controller-manager: each step of a life ends in the same state.

use anyhow::{Context, Result};
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::workloads::{Both, PODS, items, send};

const SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const SET: &str = "/apis/apps/v1/namespaces/default/daemonsets/agent";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";
const NODES: &str = "/api/v1/nodes";

/// Without names, times and hashes. In the middle of an update, kube-controller-manager takes the nodes in random order.
pub(super) fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut sets = items(client, SETS).await?;
        for set in &mut sets {
            let metadata = &set["metadata"];
            *set = json!([metadata["annotations"], metadata["generation"], set["status"]]);
        }
        let (mut pods, mut nodes) = (Vec::new(), Vec::new());
        for mut pod in items(client, PODS).await? {
            nodes.push(pod["spec"]["nodeName"].clone());
            plain(&mut pod);
            let affinity = pod["spec"]["affinity"].to_string();
            let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
            let affinity = affinity.replace(&format!("[\"{node}\"]"), "[NODE]");
            let image = &pod["spec"]["containers"][0]["image"];
            let phase = &pod["status"]["phase"];
            pods.push(json!([
                pod["metadata"],
                image,
                pod["spec"]["tolerations"],
                affinity,
                phase
            ]));
        }
        let mut revisions = items(client, REVISIONS).await?;
        for revision in &mut revisions {
            plain(revision);
            *revision = json!([revision["metadata"], revision["revision"], revision["data"]]);
        }
        for list in [&mut pods, &mut nodes, &mut revisions] {
            list.sort_by_key(Value::to_string);
        }
        nodes.dedup();
        Ok(json!({"sets": sets, "pods": pods, "nodes": nodes, "revisions": revisions}))
    })
}

/// Labels, annotations and owner.
fn plain(object: &mut Value) {
    let metadata = object["metadata"].clone();
    let mut labels = metadata["labels"].clone();
    for name in [
        "controller-revision-hash",
        "pod-template-hash",
        "controller-uid",
        "batch.kubernetes.io/controller-uid",
    ] {
        if let Some(hash) = labels.get_mut(name) {
            *hash = json!("hash");
        }
    }
    object["metadata"] = json!([labels, metadata["annotations"], metadata["ownerReferences"][0]["kind"]]);
}

/// Adds nodes to both: the one that the in-process server has, and two others.
pub(super) async fn add_nodes(both: &Both) -> Result<()> {
    for (client, names) in [(&both.ours, &["a", "b"][..]), (&both.real, &["a", "b", "dev"])] {
        for name in names {
            let metadata =
                json!({"name": name, "labels": {"zone": name}, "annotations": {"kubewright.dev/kubelet": ""}});
            send(client, "POST", NODES, &json!({"metadata": metadata})).await?;
            let untainted = json!({"spec": {"taints": null}});
            send(client, "PATCH", &format!("{NODES}/{name}"), &untainted).await?;
        }
    }
    Ok(())
}

/// Changes a node of both.
async fn change_node(both: &Both, name: &str, patch: &Value) -> Result<()> {
    for client in [&both.ours, &both.real] {
        send(client, "PATCH", &format!("{NODES}/{name}"), patch).await?;
    }
    Ok(())
}

/// Changes or deletes a Pod of both: the one on this node, which has an image of this version.
async fn on_pod(both: &Both, [method, node, suffix]: [&str; 3], body: &Value) -> Result<()> {
    for client in [&both.ours, &both.real] {
        let pods = items(client, PODS).await?;
        let pod = pods.iter().find(|pod| pod["spec"]["nodeName"] == node);
        let name = pod.context("a Pod")?["metadata"]["name"].as_str().context("a name")?;
        send(client, method, &format!("{PODS}/{name}{suffix}"), body).await?;
    }
    Ok(())
}

fn template(image: u32, behaviour: &str) -> Value {
    let preferred = json!([{"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]);
    json!({
        "metadata": {"labels": {"app": "agent"}, "annotations": {"kubewright.dev/kubelet": behaviour}},
        "spec": {
            "containers": [{"name": "main", "image": format!("example.com/main:{image}")}],
            "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 5}],
        },
    })
}

fn rolled(image: u32, behaviour: &str) -> Value {
    json!({"spec": {"template": template(image, behaviour)}})
}

fn set() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "annotations": {"team": "a"}},
        "spec": {
            "revisionHistoryLimit": 2, "selector": {"matchLabels": {"app": "agent"}},
            "template": template(1, "ready-after=1s"),
        },
    })
}

fn limits(unavailable: &Value, surge: &Value) -> Value {
    let rolling = json!({"maxUnavailable": unavailable, "maxSurge": surge});
    json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling}}})
}

async fn on_both(part: impl AsyncFnOnce(&Both) -> Result<()>) -> Result<()> {
    Both::with(state, async |both| {
        add_nodes(both).await?;
        part(both).await
    })
    .await
}

#[tokio::test]
async fn updates_of_daemon_sets_end_as_with_kube_controller_manager() -> Result<()> {
    on_both(updates).await
}

#[tokio::test]
async fn nodes_and_owners_of_daemon_sets_end_as_with_kube_controller_manager() -> Result<()> {
    on_both(async |both| {
        nodes(both).await?;
        owners(both).await
    })
    .await
}

/// Limits, stuck updates, rollback, revisions, deletion by hand.
async fn updates(both: &Both) -> Result<()> {
    let ready = "ready-after=1s";
    let patch = ["PATCH", SET];
    both.step("created", ["POST", SETS], set()).await?;
    both.step("rolled out", patch, rolled(2, ready)).await?;
    both.step("stuck", patch, rolled(3, "never-ready")).await?;
    both.step("more may be unavailable", patch, limits(&json!("50%"), &json!(0)))
        .await?;
    both.step("rolled back", patch, rolled(2, ready)).await?;
    both.step("surging", patch, limits(&json!(0), &json!("34%"))).await?;
    both.step("rolled out with a surge", patch, rolled(4, ready)).await?;
    let stuck = both
        .step("stuck beside the old Pods", patch, rolled(5, "never-ready"))
        .await?;
    assert_eq!(stuck["pods"].as_array().map(Vec::len), Some(5));
    both.step("another one", patch, rolled(6, "image-pull-fails")).await?;
    both.step("mended", patch, rolled(7, ready)).await?;
    both.step("seconds of readiness", patch, json!({"spec": {"minReadySeconds": 1}}))
        .await?;
    both.step("rolled out slowly", patch, rolled(8, "")).await?;
    let by_hand = json!({"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": null}}});
    both.step("by hand", patch, by_hand).await?;
    both.step("changed by hand", patch, rolled(9, ready)).await?;
    on_pod(both, ["DELETE", "a", ""], &Value::Null).await?;
    both.step("deleted by hand", patch, json!({"spec": {"revisionHistoryLimit": 1}}))
        .await?;
    Ok(())
}

/// Selectors, taints, nodes that come and go, Pods that fail.
async fn nodes(both: &Both) -> Result<()> {
    let patch = ["PATCH", SET];
    let selector = |zone: Value| json!({"spec": {"template": {"spec": {"nodeSelector": {"zone": zone}}}}});
    both.step("created", ["POST", SETS], set()).await?;
    both.step("one zone", patch, selector(json!("a"))).await?;
    both.step("another zone", patch, selector(json!("b"))).await?;
    both.step("all zones", patch, selector(Value::Null)).await?;
    let label = |name: &str| json!({"metadata": {"labels": {"step": name}}});
    let taint = |effect: &str| json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": effect}]}});
    change_node(both, "a", &taint("NoSchedule")).await?;
    let tainted = both.step("a taint", patch, label("1")).await?;
    assert_eq!(tainted["sets"][0][2]["numberMisscheduled"], 1);
    change_node(both, "a", &taint("NoExecute")).await?;
    both.step("a taint that evicts", patch, label("2")).await?;
    change_node(both, "a", &json!({"spec": {"taints": null, "unschedulable": true}})).await?;
    both.step("a cordoned node", patch, label("3")).await?;
    on_pod(both, ["PATCH", "b", "/status"], &json!({"status": {"phase": "Failed"}})).await?;
    both.step("a failed Pod", patch, label("4")).await?;
    on_pod(
        both,
        ["PATCH", "b", "/status"],
        &json!({"status": {"phase": "Succeeded"}}),
    )
    .await?;
    both.step("one that has ended", patch, label("5")).await?;
    let node =
        json!({"metadata": {"name": "c", "annotations": {"kubewright.dev/kubelet": ""}}, "spec": {"taints": []}});
    for client in [&both.ours, &both.real] {
        send(client, "POST", NODES, &node).await?;
    }
    change_node(both, "c", &json!({"spec": {"taints": null}})).await?;
    both.step("a new node", patch, label("6")).await?;
    Ok(())
}

/// Orphans, adoption, release, deletion.
async fn owners(both: &Both) -> Result<()> {
    let orphan = ["DELETE", &format!("{SET}?propagationPolicy=Orphan")];
    let left = both.step("orphaned", orphan, Value::Null).await?;
    assert_eq!(left["pods"].as_array().map(Vec::len), Some(4));
    let mut next = set();
    next["spec"]["template"] = template(2, "ready-after=1s");
    both.step("adopted", ["POST", SETS], next).await?;
    on_pod(
        both,
        ["PATCH", "dev", ""],
        &json!({"metadata": {"labels": {"app": "other"}}}),
    )
    .await?;
    both.step("released", ["PATCH", SET], json!({"metadata": {"labels": {"a": "b"}}}))
        .await?;
    both.step("deleted", ["DELETE", SET], Value::Null).await?;
    Ok(())
}
