//! Nodes that are lost or deleted, and their Pods.

use serde_json::{Value, json};

use crate::{
    cluster::{DEPLOYMENTS, PODS, cluster, condition, deployment, template},
    common::Wire,
};

const DEV: &str = "/api/v1/nodes/dev";
const NODES: &str = "/api/v1/nodes";
const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";

impl Wire {
    async fn lose_node(&self, is_lost: bool) {
        let word = if is_lost { "lost" } else { "" };
        let annotations = json!({"kubewright.dev/kubelet": word});
        self.change(DEV, &json!({"metadata": {"annotations": annotations}}))
            .await;
    }

    /// The node, the readiness and the end of each Pod.
    async fn placed(&self) -> Vec<String> {
        let pods = self.items(PODS).await;
        let placed = |pod: &Value| {
            let node = pod["spec"]["nodeName"].as_str().unwrap_or("none").to_owned();
            let ready = condition(pod, "Ready").split(' ').next().unwrap_or_default().to_owned();
            let going = pod["metadata"]["deletionTimestamp"].is_string();
            format!("{node} {ready}{}", if going { " going" } else { "" })
        };
        let mut placed: Vec<String> = pods.iter().map(placed).collect();
        placed.sort();
        placed
    }

    async fn taints(&self) -> Vec<Value> {
        let taints = self.object(DEV).await["spec"]["taints"].clone();
        let taints = taints.as_array().cloned().unwrap_or_default();
        taints.into_iter().map(|taint| taint["effect"].clone()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_member_on_a_lost_node_is_not_replaced_until_the_node_is_back() {
    let wire = cluster();
    let spec = json!({"serviceName": "db", "replicas": 1, "selector": {"matchLabels": {"app": "db"}}});
    let mut set = json!({"metadata": {"name": "db"}, "spec": spec});
    set["spec"]["template"] = template("db", "");
    wire.make(SETS, &set).await;
    wire.pass(1).await;
    let uid = wire.items(PODS).await[0]["metadata"]["uid"].clone();
    wire.lose_node(true).await;
    wire.pass(49).await;
    assert_eq!(
        (condition(&wire.object(DEV).await, "Ready"), wire.placed().await),
        ("True KubeletReady".to_owned(), vec!["dev True".to_owned()])
    );
    wire.pass(2).await;
    assert_eq!(condition(&wire.object(DEV).await, "Ready"), "Unknown NodeStatusUnknown");
    assert_eq!(wire.taints().await, ["NoSchedule", "NoExecute"]);
    assert_eq!(wire.placed().await, ["dev False"]);
    // The Pod tolerates the taint for five minutes. Then it stays Terminating, because no kubelet stops it.
    wire.pass(298).await;
    assert_eq!(wire.placed().await, ["dev False"]);
    wire.pass(3600).await;
    let pod = wire.items(PODS).await.remove(0);
    assert_eq!(wire.placed().await, ["dev False going"]);
    assert_eq!(
        (&pod["metadata"]["uid"], condition(&pod, "DisruptionTarget"),),
        (&uid, "True DeletionByTaintManager".to_owned())
    );
    wire.lose_node(false).await;
    wire.pass(5).await;
    let back = wire.items(PODS).await;
    assert_eq!(
        (wire.taints().await, condition(&wire.object(DEV).await, "Ready")),
        (Vec::new(), "True KubeletReady".to_owned())
    );
    assert_eq!(wire.placed().await, ["dev True"]);
    assert_ne!(back[0]["metadata"]["uid"], uid);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_back_in_time_keeps_its_pods() {
    let wire = cluster();
    wire.make(DEPLOYMENTS, &deployment("web", 2, "")).await;
    wire.pass(1).await;
    wire.lose_node(true).await;
    wire.pass(200).await;
    assert_eq!(wire.placed().await, ["dev False", "dev False"]);
    wire.lose_node(false).await;
    wire.pass(600).await;
    assert_eq!(wire.placed().await, ["dev True", "dev True"]);
}

#[tokio::test(start_paused = true)]
async fn replicas_of_a_lost_node_run_on_another_one() {
    let wire = cluster();
    wire.make(DEPLOYMENTS, &deployment("web", 2, "")).await;
    wire.pass(1).await;
    let metadata = json!({"name": "other", "annotations": {"kubewright.dev/kubelet": ""}});
    wire.make(NODES, &json!({"metadata": metadata})).await;
    wire.lose_node(true).await;
    wire.pass(360).await;
    let placed = ["dev False going", "dev False going", "other True", "other True"];
    assert_eq!(wire.placed().await, placed);
    // Nobody will ever stop the Pods of a node that is deleted.
    wire.send("DELETE", DEV, "").await;
    wire.pass(41).await;
    assert_eq!(wire.placed().await, ["other True", "other True"]);
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_missing_node_fail_and_are_deleted_and_a_taint_evicts_at_once() {
    let wire = cluster();
    for (name, node) in [("lonely", "nowhere"), ("web", ""), ("stays", "")] {
        let mut pod = template("web", "");
        if name == "stays" {
            pod["spec"]["tolerations"] =
                json!([{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": i64::MAX}]);
        }
        pod["metadata"]["name"] = json!(name);
        pod["metadata"]["finalizers"] = json!(["example.com/look"]);
        if !node.is_empty() {
            pod["spec"]["nodeName"] = json!(node);
        }
        wire.make(PODS, &pod).await;
    }
    wire.pass(30).await;
    assert_eq!(wire.placed().await, ["dev True", "dev True", "nowhere "]);
    wire.pass(15).await;
    let lonely = wire.object(&format!("{PODS}/lonely")).await;
    assert_eq!(
        (
            &lonely["status"]["phase"],
            condition(&lonely, "DisruptionTarget").as_str()
        ),
        (&json!("Failed"), "True DeletionByPodGC")
    );
    let taint = json!({"key": "example.com/broken", "effect": "NoExecute"});
    wire.change(DEV, &json!({"spec": {"taints": [taint]}})).await;
    wire.pass(1).await;
    let evicted = wire.object(&format!("{PODS}/web")).await;
    assert_eq!(condition(&evicted, "DisruptionTarget"), "True DeletionByTaintManager");
    assert!(evicted["metadata"]["deletionTimestamp"].is_string());
    let stays = wire.object(&format!("{PODS}/stays")).await;
    assert!(stays["metadata"]["deletionTimestamp"].is_null(), "{stays}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_eviction_is_refused_is_written_once() {
    let wire = cluster();
    let mut pod = template("web", "");
    pod["metadata"]["name"] = json!("web");
    wire.make(PODS, &pod).await;
    wire.pass(30).await;
    wire.refuse("DELETE", "/pods").await;
    let taint = json!({"key": "example.com/broken", "effect": "NoExecute"});
    wire.change(DEV, &json!({"spec": {"taints": [taint]}})).await;
    wire.pass(2).await;
    let path = format!("{PODS}/web");
    let refused = wire.object(&path).await;
    assert_eq!(condition(&refused, "DisruptionTarget"), "True DeletionByTaintManager");
    wire.pass(60).await;
    assert_eq!(wire.object(&path).await, refused);
    wire.allow().await;
    wire.pass(64).await;
    assert_eq!(wire.placed().await, Vec::<String>::new());
}
