//! ReplicaSets and ReplicationControllers: number of Pods, adoption and release.

use serde_json::{Value, json};

use crate::cluster::{DEPLOYMENTS, PODS, SETS, cluster, condition, deployment, template};

fn owner(object: &Value) -> &Value {
    &object["metadata"]["ownerReferences"][0]["name"]
}

#[tokio::test(start_paused = true)]
async fn a_matching_orphan_is_adopted_and_a_relabelled_pod_is_released_and_replaced() {
    let wire = cluster();
    let mut orphan = template("web", "");
    orphan["metadata"]["name"] = json!("orphan");
    wire.make(PODS, &orphan).await;
    wire.make(SETS, &deployment("web", 2, "")).await;
    wire.pass(1).await;
    let pods = wire.items(PODS).await;
    assert_eq!(pods.iter().map(owner).collect::<Vec<_>>(), ["web", "web"]);
    let labels = json!({"metadata": {"labels": {"app": "other"}}});
    wire.change(&format!("{PODS}/orphan"), &labels).await;
    wire.pass(1).await;
    let released = wire.object(&format!("{PODS}/orphan")).await;
    assert_eq!(released["metadata"]["ownerReferences"], Value::Null);
    assert_eq!(wire.items(PODS).await.len(), 3);
    assert_eq!(
        wire.object(&format!("{SETS}/web")).await["status"]["availableReplicas"],
        2
    );
}

#[tokio::test(start_paused = true)]
async fn a_replication_controller_keeps_the_number_of_its_pods() {
    const CONTROLLERS: &str = "/api/v1/namespaces/default/replicationcontrollers";
    let wire = cluster();
    let mut orphan = template("web", "");
    orphan["metadata"]["name"] = json!("orphan");
    wire.make(PODS, &orphan).await;
    let spec = json!({"replicas": 2, "selector": {"app": "web"}, "template": template("web", "")});
    wire.make(CONTROLLERS, &json!({"metadata": {"name": "web"}, "spec": spec}))
        .await;
    wire.pass(1).await;
    let pods = wire.items(PODS).await;
    assert_eq!(pods.iter().map(owner).collect::<Vec<_>>(), ["web", "web"]);
    let references = &pods[0]["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&references["apiVersion"], &references["kind"]),
        (&json!("v1"), &json!("ReplicationController"))
    );
    let status = wire.object(&format!("{CONTROLLERS}/web")).await["status"].clone();
    let counts = json!({
        "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 1,
    });
    assert_eq!(status, counts);
    wire.change(&format!("{CONTROLLERS}/web"), &json!({"spec": {"replicas": 0}}))
        .await;
    wire.pass(1).await;
    assert_eq!(wire.items(PODS).await.len(), 0);
    let revision = || async { wire.object(CONTROLLERS).await["metadata"]["resourceVersion"].clone() };
    let settled = revision().await;
    wire.pass(60).await;
    assert_eq!(revision().await, settled);
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_an_orphaning_deletion_are_adopted_by_the_next_owner() {
    let wire = cluster();
    wire.make(DEPLOYMENTS, &deployment("web", 2, "")).await;
    wire.pass(1).await;
    let names = |pods: Vec<Value>| -> Vec<String> {
        pods.iter()
            .map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let before = names(wire.items(PODS).await);
    let path = format!("{DEPLOYMENTS}/web");
    wire.send("DELETE", &format!("{path}?propagationPolicy=Orphan"), "")
        .await;
    wire.pass(1).await;
    assert_eq!(owner(&wire.items(SETS).await[0]), &Value::Null);
    wire.make(DEPLOYMENTS, &deployment("web", 2, "")).await;
    wire.pass(1).await;
    assert_eq!(owner(&wire.items(SETS).await[0]), "web");
    assert_eq!(names(wire.items(PODS).await), before);
    wire.send("DELETE", &path, "").await;
    wire.pass(1).await;
    assert_eq!((wire.items(SETS).await.len(), wire.items(PODS).await.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_cannot_be_created_is_a_condition_until_it_can() {
    let wire = cluster();
    let mut set = deployment("web", 1, "");
    set["spec"]["template"]["spec"]["priorityClassName"] = json!("missing");
    wire.make(SETS, &set).await;
    wire.pass(1).await;
    let path = format!("{SETS}/web");
    assert_eq!(
        condition(&wire.object(&path).await, "ReplicaFailure"),
        "True FailedCreate"
    );
    let class = json!({"metadata": {"name": "missing"}, "value": 7});
    wire.make("/apis/scheduling.k8s.io/v1/priorityclasses", &class).await;
    wire.pass(120).await;
    let set = wire.object(&path).await;
    assert_eq!(
        (condition(&set, "ReplicaFailure"), &set["status"]["readyReplicas"]),
        (String::new(), &json!(1))
    );
}

#[tokio::test(start_paused = true)]
async fn unready_pods_are_deleted_first_and_then_those_of_less_cost() {
    let wire = cluster();
    wire.make(SETS, &deployment("web", 3, "")).await;
    wire.pass(1).await;
    let names: Vec<String> = wire
        .items(PODS)
        .await
        .iter()
        .map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    let annotate = |name: &str, value: &str| json!({"metadata": {"annotations": {name: value}}});
    wire.change(
        &format!("{PODS}/{}", names[1]),
        &annotate("kubewright.dev/kubelet", "never-ready"),
    )
    .await;
    wire.change(
        &format!("{PODS}/{}", names[2]),
        &annotate("controller.kubernetes.io/pod-deletion-cost", "-1"),
    )
    .await;
    wire.pass(1).await;
    for (replicas, left) in [(2, vec![&names[0], &names[2]]), (1, vec![&names[0]])] {
        wire.change(&format!("{SETS}/web"), &json!({"spec": {"replicas": replicas}}))
            .await;
        wire.pass(1).await;
        let pods = wire.items(PODS).await;
        let kept: Vec<_> = pods
            .iter()
            .map(|pod| pod["metadata"]["name"].as_str().unwrap())
            .collect();
        assert_eq!(kept, left);
    }
}

/// The objects that are visited for a rollout of three Pods beside so many others.
async fn visited(others: usize) -> u64 {
    let wire = cluster();
    for number in 0..others {
        let mut pod = template("other", "");
        pod["metadata"]["name"] = json!(format!("other-{number}"));
        pod["spec"]["schedulerName"] = json!("none");
        wire.make(PODS, &pod).await;
    }
    wire.pass(1).await;
    let before = wire.server.looked();
    wire.make(DEPLOYMENTS, &deployment("web", 3, "")).await;
    wire.pass(1).await;
    wire.server.looked() - before
}

#[tokio::test(start_paused = true)]
async fn a_rollout_visits_no_other_pods() {
    let (few, many) = (visited(5).await, visited(300).await);
    assert!(many <= few + 20, "{many} instead of {few}");
}
