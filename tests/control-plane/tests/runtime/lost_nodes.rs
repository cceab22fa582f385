//! Nodes that are lost, come back, and are deleted, on the in-process API server and with kube-controller-manager: nodes and Pods
//! end in the same state. kube-controller-manager notices sooner, so that the test waits for the in-process server alone.

use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::BoxFuture;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    daemon_sets::add_nodes,
    workloads::{Both, PODS, items, send},
};

const NODES: &str = "/api/v1/nodes";
const NODE: &str = "/api/v1/nodes/a";
const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
const FLAGS: [&str; 4] = [
    "--controllers=node-lifecycle-controller,taint-eviction-controller,pod-garbage-collector-controller",
    "--node-monitor-period=1s",
    "--node-monitor-grace-period=6s",
    "--node-startup-grace-period=20s",
];

fn is_lost(node: &Value) -> bool {
    node["metadata"]["annotations"]["kubewright.dev/kubelet"] == "lost"
}

/// The names of the nodes whose kubelet is lost.
pub(super) async fn names(client: &Client) -> Vec<Value> {
    let nodes = items(client, NODES).await.unwrap_or_default().into_iter();
    nodes
        .filter(is_lost)
        .map(|node| node["metadata"]["name"].clone())
        .collect()
}

/// Reports the nodes of a server that are not lost, as a kubelet does: a Lease, and a status if they have none, or are unknown.
async fn heartbeats(client: &Client, status: &Value) {
    loop {
        for mut node in items(client, NODES).await.unwrap_or_default() {
            if is_lost(&node) {
                continue;
            }
            let name = node["metadata"]["name"].clone();
            let spec = json!({"spec": {"holderIdentity": name, "leaseDurationSeconds": 40,
                "renewTime": format!("{:.6}", Timestamp::now())}});
            let path = format!("{LEASES}/{}", name.as_str().unwrap_or_default());
            if send(client, "PATCH", &path, &spec).await.is_err() {
                let lease = json!({"metadata": {"name": name}, "spec": spec["spec"]});
                drop(send(client, "POST", LEASES, &lease).await);
            }
            if conditions(&node, &["Ready"])[0][1] != "True" {
                node["apiVersion"] = json!("v1");
                node["kind"] = json!("Node");
                node["status"] = status.clone();
                let path = format!("{NODES}/{}/status", name.as_str().unwrap_or_default());
                // A conflict: the next round sees the new state.
                drop(send(client, "PUT", &path, &node).await);
            }
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// Type, status, reason and message of these conditions.
fn conditions(object: &Value, names: &[&str]) -> Vec<Value> {
    let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let one = |name: &&str| {
        let found = all.iter().find(|it| it["type"] == *name).cloned().unwrap_or_default();
        json!([name, found["status"], found["reason"], found["message"]])
    };
    names.iter().map(one).collect()
}

fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut nodes = items(client, NODES).await?;
        for node in &mut nodes {
            let taints = node["spec"]["taints"].as_array().into_iter().flatten();
            let mut taints: Vec<Value> = taints.map(|it| json!([it["key"], it["value"], it["effect"]])).collect();
            taints.sort_by_key(Value::to_string);
            let conditions = conditions(node, &["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"]);
            *node = json!([node["metadata"]["name"], taints, conditions]);
        }
        let mut pods = items(client, PODS).await?;
        for pod in &mut pods {
            let conditions = conditions(pod, &["Ready", "DisruptionTarget"]);
            let is_deleted = pod["metadata"]["deletionTimestamp"].is_string();
            let (name, node) = (&pod["metadata"]["name"], &pod["spec"]["nodeName"]);
            *pod = json!([name, node, pod["status"]["phase"], is_deleted, conditions]);
        }
        nodes.sort_by_key(Value::to_string);
        pods.sort_by_key(Value::to_string);
        Ok(json!({"nodes": nodes, "pods": pods}))
    })
}

/// A spec of Pods on the node, which tolerate its loss for some seconds; for ever without seconds.
fn on_node(seconds: Option<Option<u32>>) -> Value {
    let fields = json!([{"key": "metadata.name", "operator": "In", "values": ["a"]}]);
    let affinity =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}});
    let toleration = |seconds| {
        json!({"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": seconds})
    };
    let tolerations: Vec<Value> = seconds.into_iter().map(toleration).collect();
    json!({
        "containers": [{"name": "main", "image": "example.com/main:1"}],
        "affinity": {"nodeAffinity": affinity}, "tolerations": tolerations,
    })
}

#[tokio::test]
#[ignore = "waits for three minutes: make nightly"]
async fn lost_nodes_end_as_with_kube_controller_manager() -> Result<()> {
    Both::with_flags(&FLAGS, state, async |both| {
        add_nodes(both).await?;
        let dev = send(&both.ours, "GET", "/api/v1/nodes/dev", &Value::Null).await?;
        tokio::select! {
            () = heartbeats(&both.real, &dev["status"]) => Ok(()),
            done = life(both) => done,
        }
    })
    .await
}

async fn life(both: &Both) -> Result<()> {
    let pods = [
        ("usual", None),
        ("patient", Some(None)),
        ("short", Some(Some(5))),
        ("hasty", Some(Some(0))),
    ];
    let ready = json!({"kubewright.dev/kubelet": ""});
    for (name, seconds) in pods {
        let metadata = json!({"name": name, "annotations": ready, "finalizers": ["example.com/look"]});
        let pod = json!({"metadata": metadata, "spec": on_node(seconds)});
        for client in [&both.ours, &both.real] {
            send(client, "POST", PODS, &pod).await?;
        }
    }
    let template = json!({"metadata": {"labels": {"app": "db"}, "annotations": ready}, "spec": on_node(Some(Some(2)))});
    let spec =
        json!({"serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}}, "template": template});
    let set = json!({"metadata": {"name": "db"}, "spec": spec});
    let running = both.step("running", ["POST", SETS], set).await?;
    assert_eq!(running["pods"].as_array().map(Vec::len), Some(5), "{running}");
    let kubelet = |word: &str| json!({"metadata": {"annotations": {"kubewright.dev/kubelet": word}}});
    let evicted = |state: &Value| state.to_string().matches("DeletionByTaintManager").count() == 3;
    both.step_until("lost", ["PATCH", NODE], kubelet("lost"), evicted)
        .await?;
    let is_ready = |state: &Value| !state.to_string().contains("NodeStatusUnknown");
    let back = both.step_until("back", ["PATCH", NODE], kubelet(""), is_ready).await?;
    let db = back["pods"]
        .as_array()
        .and_then(|pods| pods.iter().find(|it| it[0] == "db-0"));
    assert_eq!(db.context("db-0")?[3], json!(false), "{back}");
    both.step("without members", ["PATCH", SET], json!({"spec": {"replicas": 0}}))
        .await?;
    let collected = |state: &Value| state.to_string().matches("DeletionByPodGC").count() == 2;
    both.step_until("deleted", ["DELETE", NODE], Value::Null, collected)
        .await?;
    Ok(())
}
