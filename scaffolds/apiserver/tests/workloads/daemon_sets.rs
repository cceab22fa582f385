//! DaemonSets: one Pod for each node that they fit, rolling updates, revisions.

use serde_json::{Value, json};

use crate::{
    cluster::{PODS, cluster, image, template},
    common::Wire,
};

const SETS: &str = "/apis/apps/v1/namespaces/default/daemonsets";
const NODES: &str = "/api/v1/nodes";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

/// A DaemonSet `agent`, with an annotation of its Pods for the kubelet.
fn set(behaviour: &str) -> Value {
    json!({
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": template("agent", behaviour)},
    })
}

fn rolling(unavailable: &Value, surge: &Value) -> Value {
    let limits = json!({"maxUnavailable": unavailable, "maxSurge": surge});
    json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits}}})
}

impl Wire {
    /// Adds nodes with a kubelet.
    async fn add_nodes(&self, names: &[&str]) {
        for name in names {
            let metadata =
                json!({"name": name, "labels": {"zone": name}, "annotations": {"kubewright.dev/kubelet": ""}});
            self.make(NODES, &json!({"metadata": metadata})).await;
        }
        self.pass(1).await;
    }

    async fn roll_agent(&self, patch: &Value) {
        self.change(&format!("{SETS}/agent"), patch).await;
    }

    /// Wanted, present, misplaced, ready, updated and available.
    async fn daemon_counts(&self) -> [i64; 6] {
        let status = self.object(&format!("{SETS}/agent")).await["status"].clone();
        [
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "numberMisscheduled",
            "numberReady",
            "updatedNumberScheduled",
            "numberAvailable",
        ]
        .map(|it| status[it].as_i64().unwrap_or_default())
    }

    /// The node of each Pod, its image and whether it is being deleted.
    async fn daemons(&self) -> Vec<String> {
        let daemon = |pod: &Value| {
            let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
            let node = pod["spec"]["nodeName"].as_str().unwrap_or("none");
            let going = pod["metadata"]["deletionTimestamp"].is_string();
            format!(
                "{node} {}{}",
                image.rsplit(':').next().unwrap(),
                if going { " going" } else { "" }
            )
        };
        let mut daemons: Vec<String> = self.items(PODS).await.iter().map(daemon).collect();
        daemons.sort();
        daemons
    }
}

#[tokio::test(start_paused = true)]
async fn each_node_gets_a_pod_of_its_own() {
    let wire = cluster();
    wire.make(SETS, &set("ready-after=5s")).await;
    wire.pass(1).await;
    assert_eq!(wire.daemon_counts().await, [1, 1, 0, 0, 1, 0]);
    wire.add_nodes(&["a", "b"]).await;
    wire.pass(5).await;
    assert_eq!(wire.daemons().await, ["a 1", "b 1", "dev 1"]);
    assert_eq!(wire.daemon_counts().await, [3, 3, 0, 3, 3, 3]);
    let pods = wire.items(PODS).await;
    let pod = pods.iter().find(|pod| pod["spec"]["nodeName"] == "a").unwrap();
    let revision = &wire.items(REVISIONS).await[0];
    assert_eq!(
        pod["metadata"]["labels"]["controller-revision-hash"],
        revision["metadata"]["labels"]["controller-revision-hash"]
    );
    assert_eq!(pod["metadata"]["labels"]["pod-template-generation"], "1");
    let tolerations = pod["spec"]["tolerations"].as_array().unwrap();
    let keys: Vec<&str> = tolerations.iter().map(|it| it["key"].as_str().unwrap()).collect();
    let conditions = [
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    ];
    assert_eq!(keys, conditions.map(|it| format!("node.kubernetes.io/{it}")));
    assert_eq!(wire.send("DELETE", &format!("{NODES}/b"), "").await.code, 200);
    wire.pass(1).await;
    assert_eq!(wire.daemon_counts().await, [2, 2, 0, 2, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn selectors_and_taints_decide_which_nodes_get_a_pod_and_which_keep_theirs() {
    let wire = cluster();
    wire.add_nodes(&["a", "b"]).await;
    let mut some = set("");
    some["spec"]["template"]["spec"]["nodeSelector"] = json!({"zone": "a"});
    wire.make(SETS, &some).await;
    wire.pass(1).await;
    assert_eq!(wire.daemons().await, ["a 1"]);
    let node = format!("{NODES}/a");
    let taint = |effect: &str| json!({"spec": {"taints": [{"key": "k", "effect": effect}]}});
    wire.change(&node, &taint("NoSchedule")).await;
    wire.pass(1).await;
    assert_eq!(wire.daemons().await, ["a 1"]);
    assert_eq!(wire.daemon_counts().await, [0, 0, 1, 0, 0, 0]);
    wire.change(&node, &taint("NoExecute")).await;
    wire.pass(1).await;
    assert_eq!((wire.daemons().await.len(), wire.daemon_counts().await), (0, [0; 6]));
    wire.change(&node, &json!({"spec": {"taints": null, "unschedulable": true}}))
        .await;
    wire.change(&format!("{NODES}/b"), &json!({"metadata": {"labels": {"zone": "a"}}}))
        .await;
    wire.pass(1).await;
    // A cordoned node gets Pods of DaemonSets, but no others.
    assert_eq!(wire.daemons().await, ["a 1", "b 1"]);
}

#[tokio::test(start_paused = true)]
async fn an_update_leaves_as_many_pods_as_may_be_unavailable() {
    let wire = cluster();
    wire.add_nodes(&["a", "b", "c"]).await;
    wire.make(SETS, &set("ready-after=5s,stop-after=2s")).await;
    wire.pass(6).await;
    wire.roll_agent(&rolling(&json!("50%"), &json!(0))).await;
    wire.roll_agent(&image(2)).await;
    wire.pass(1).await;
    assert_eq!(wire.daemons().await, ["a 1 going", "b 1 going", "c 1", "dev 1"]);
    wire.pass(3).await;
    assert_eq!(wire.daemons().await, ["a 2", "b 2", "c 1", "dev 1"]);
    assert_eq!(wire.daemon_counts().await, [4, 4, 0, 2, 2, 2]);
    wire.pass(20).await;
    assert_eq!(wire.daemons().await, ["a 2", "b 2", "c 2", "dev 2"]);
    assert_eq!(wire.daemon_counts().await, [4, 4, 0, 4, 4, 4]);
}

#[tokio::test(start_paused = true)]
async fn with_a_surge_the_old_pod_stays_until_the_new_one_is_available() {
    let wire = cluster();
    wire.add_nodes(&["a", "b"]).await;
    wire.make(SETS, &set("ready-after=5s")).await;
    wire.pass(6).await;
    wire.roll_agent(&rolling(&json!(0), &json!(1))).await;
    wire.roll_agent(&image(2)).await;
    wire.pass(1).await;
    assert_eq!(wire.daemons().await, ["a 1", "a 2", "b 1", "dev 1"]);
    wire.pass(5).await;
    assert_eq!(wire.daemons().await, ["a 2", "b 1", "b 2", "dev 1"]);
    wire.pass(20).await;
    assert_eq!(wire.daemons().await, ["a 2", "b 2", "dev 2"]);
}

#[tokio::test(start_paused = true)]
async fn an_update_by_hand_waits_for_the_deletion_of_each_pod() {
    let wire = cluster();
    let mut by_hand = set("");
    by_hand["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    wire.make(SETS, &by_hand).await;
    wire.pass(1).await;
    wire.roll_agent(&image(2)).await;
    wire.pass(5).await;
    assert_eq!(wire.daemons().await, ["dev 1"]);
    assert_eq!(wire.daemon_counts().await, [1, 1, 0, 1, 0, 1]);
    let name = wire.items(PODS).await[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(wire.send("DELETE", &format!("{PODS}/{name}"), "").await.code, 200);
    wire.pass(1).await;
    assert_eq!(wire.daemons().await, ["dev 2"]);
}

#[tokio::test(start_paused = true)]
async fn failed_pods_are_replaced_with_growing_delays() {
    let wire = cluster();
    wire.make(SETS, &set("")).await;
    wire.pass(1).await;
    for delay in [0, 1, 2, 4] {
        let name = wire.items(PODS).await[0]["metadata"]["name"]
            .as_str()
            .unwrap()
            .to_owned();
        wire.change(
            &format!("{PODS}/{name}/status"),
            &json!({"status": {"phase": "Failed"}}),
        )
        .await;
        let mut waited = 0;
        while wire
            .items(PODS)
            .await
            .iter()
            .any(|pod| pod["metadata"]["name"] == name.as_str())
        {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            waited += 1;
        }
        assert!(
            (delay * 10 - 10..=delay * 10 + 10).contains(&waited),
            "{waited} instead of {delay}"
        );
        wire.pass(0).await;
    }
}

#[tokio::test(start_paused = true)]
async fn old_revisions_are_kept_up_to_the_limit_and_come_back() {
    let wire = cluster();
    let mut limited = set("");
    limited["spec"]["revisionHistoryLimit"] = json!(1);
    wire.make(SETS, &limited).await;
    wire.pass(1).await;
    for version in [2, 3, 2] {
        wire.roll_agent(&image(version)).await;
        wire.pass(5).await;
    }
    let revisions = wire.items(REVISIONS).await;
    let mut numbers: Vec<i64> = revisions.iter().map(|it| it["revision"].as_i64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [3, 4]);
    assert_eq!(wire.daemons().await, ["dev 2"]);
}
