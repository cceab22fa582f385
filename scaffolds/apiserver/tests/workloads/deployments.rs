//! Rollouts.

use serde_json::json;

use crate::cluster::{DEPLOYMENTS, PODS, SETS, cluster, condition, deployment, image};

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_available_and_is_scaled() {
    let wire = cluster();
    let path = format!("{DEPLOYMENTS}/web");
    wire.make(DEPLOYMENTS, &deployment("web", 3, "")).await;
    wire.pass(1).await;
    let web = wire.object(&path).await;
    let counts = json!({
        "observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3,
        "terminatingReplicas": 0, "conditions": web["status"]["conditions"],
    });
    assert_eq!(web["status"], counts);
    assert_eq!(condition(&web, "Available"), "True MinimumReplicasAvailable");
    assert_eq!(condition(&web, "Progressing"), "True NewReplicaSetAvailable");
    assert_eq!(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "1");
    wire.change(&path, &json!({"spec": {"replicas": 1}})).await;
    wire.pass(1).await;
    assert_eq!(wire.items(PODS).await.len(), 1);
    assert_eq!(wire.object(&path).await["status"]["availableReplicas"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_rollout_keeps_within_surge_and_unavailable() {
    let wire = cluster();
    let path = format!("{DEPLOYMENTS}/web");
    let mut web = deployment("web", 4, "ready-after=10s");
    web["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}});
    wire.make(DEPLOYMENTS, &web).await;
    wire.pass(15).await;
    wire.change(&path, &image(2)).await;
    let mut steps = Vec::new();
    for _ in 0..60 {
        wire.pass(1).await;
        let sizes = wire.sizes().await;
        let all: i64 = sizes.iter().map(|size| size.1).sum();
        let available: i64 = sizes.iter().map(|size| size.2).sum();
        assert!(all <= 5 && available >= 3, "{sizes:?}");
        if steps.last() != Some(&sizes) {
            steps.push(sizes);
        }
    }
    let last = wire.sizes().await;
    assert_eq!(
        last,
        [
            ("example.com/main:1".to_owned(), 0, 0),
            ("example.com/main:2".to_owned(), 4, 4)
        ]
    );
    assert!(steps.len() > 2, "{steps:?}");
    assert_eq!(
        condition(&wire.object(&path).await, "Progressing"),
        "True NewReplicaSetAvailable"
    );
}

#[tokio::test(start_paused = true)]
async fn a_rollout_that_gets_stuck_fails_after_its_deadline_and_is_rolled_back() {
    let wire = cluster();
    let path = format!("{DEPLOYMENTS}/web");
    let mut web = deployment("web", 2, "");
    web["spec"]["progressDeadlineSeconds"] = json!(60);
    wire.make(DEPLOYMENTS, &web).await;
    wire.pass(1).await;
    let annotate =
        |value: &str| json!({"spec": {"template": {"metadata": {"annotations": {"kubewright.dev/kubelet": value}}}}});
    wire.change(&path, &annotate("image-pull-fails")).await;
    wire.pass(50).await;
    assert_eq!(
        condition(&wire.object(&path).await, "Progressing"),
        "True ReplicaSetUpdated"
    );
    wire.pass(20).await;
    let stuck = wire.object(&path).await;
    assert_eq!(condition(&stuck, "Progressing"), "False ProgressDeadlineExceeded");
    assert_eq!(condition(&stuck, "Available"), "True MinimumReplicasAvailable");
    wire.change(&path, &annotate("")).await;
    wire.pass(1).await;
    let back = wire.object(&path).await;
    assert_eq!(condition(&back, "Progressing"), "True NewReplicaSetAvailable");
    assert_eq!(
        back["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "3"
    );
    let sets = wire.items(SETS).await;
    let current = sets.iter().find(|set| set["spec"]["replicas"] == 2).unwrap();
    let annotations = &current["metadata"]["annotations"];
    assert_eq!(annotations["deployment.kubernetes.io/revision-history"], "1");
    assert_eq!(sets.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn old_revisions_beyond_the_limit_are_deleted() {
    let wire = cluster();
    let mut web = deployment("web", 1, "");
    web["spec"]["revisionHistoryLimit"] = json!(1);
    wire.make(DEPLOYMENTS, &web).await;
    for version in 2..6 {
        wire.pass(1).await;
        wire.change(&format!("{DEPLOYMENTS}/web"), &image(version)).await;
    }
    wire.pass(1).await;
    let images: Vec<_> = wire.sizes().await.into_iter().map(|size| (size.0, size.1)).collect();
    assert_eq!(
        images,
        [
            ("example.com/main:4".to_owned(), 0),
            ("example.com/main:5".to_owned(), 1)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_paused_deployment_is_scaled_and_rolled_out_later() {
    let wire = cluster();
    let path = format!("{DEPLOYMENTS}/web");
    wire.make(DEPLOYMENTS, &deployment("web", 1, "")).await;
    wire.pass(1).await;
    wire.change(&path, &json!({"spec": {"paused": true, "replicas": 2}}))
        .await;
    wire.change(&path, &image(2)).await;
    wire.pass(1).await;
    assert_eq!(
        condition(&wire.object(&path).await, "Progressing"),
        "Unknown DeploymentPaused"
    );
    assert_eq!(wire.sizes().await, [("example.com/main:1".to_owned(), 2, 2)]);
    wire.change(&path, &json!({"spec": {"paused": false}})).await;
    wire.pass(1).await;
    assert_eq!(wire.sizes().await[1], ("example.com/main:2".to_owned(), 2, 2));
    assert_eq!(
        condition(&wire.object(&path).await, "Progressing"),
        "True NewReplicaSetAvailable"
    );
}

#[tokio::test(start_paused = true)]
async fn recreate_starts_no_new_pod_while_an_old_one_stops() {
    let wire = cluster();
    let path = format!("{DEPLOYMENTS}/web");
    let mut web = deployment("web", 2, "stop-after=10s");
    web["spec"]["strategy"] = json!({"type": "Recreate"});
    wire.make(DEPLOYMENTS, &web).await;
    wire.pass(1).await;
    wire.change(&path, &image(2)).await;
    wire.pass(5).await;
    assert_eq!(wire.sizes().await, [("example.com/main:1".to_owned(), 0, 0)]);
    assert_eq!(wire.object(&path).await["status"]["terminatingReplicas"], 2);
    wire.pass(10).await;
    assert_eq!(wire.sizes().await[1], ("example.com/main:2".to_owned(), 2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_scaling_in_the_middle_of_a_rollout_is_shared_by_the_sets() {
    let wire = cluster();
    let path = format!("{DEPLOYMENTS}/web");
    let mut web = deployment("web", 10, "");
    web["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}});
    wire.make(DEPLOYMENTS, &web).await;
    wire.pass(1).await;
    let mut stuck = image(2);
    stuck["spec"]["template"]["metadata"] = json!({"annotations": {"kubewright.dev/kubelet": "never-ready"}});
    wire.change(&path, &stuck).await;
    wire.pass(1).await;
    let sizes = |all: Vec<(String, i64, i64)>| all.into_iter().map(|size| size.1).collect::<Vec<_>>();
    assert_eq!(sizes(wire.sizes().await), [8, 5]);
    wire.change(&path, &json!({"spec": {"replicas": 15}})).await;
    wire.pass(1).await;
    assert_eq!(sizes(wire.sizes().await), [11, 7]);
}

#[tokio::test(start_paused = true)]
async fn a_foreign_object_of_the_same_name_causes_another_hash() {
    let wire = cluster();
    wire.make(DEPLOYMENTS, &deployment("web", 1, "")).await;
    wire.pass(1).await;
    let name = wire.items(SETS).await[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    wire.send("DELETE", &format!("{DEPLOYMENTS}/web"), "").await;
    wire.pass(1).await;
    let mut other = deployment(&name, 0, "");
    other["metadata"]["labels"] = json!({"foreign": "yes"});
    wire.make(SETS, &other).await;
    wire.make(DEPLOYMENTS, &deployment("web", 1, "")).await;
    wire.pass(5).await;
    let web = wire.object(&format!("{DEPLOYMENTS}/web")).await;
    assert_eq!(
        (&web["status"]["collisionCount"], &web["status"]["availableReplicas"]),
        (&json!(1), &json!(1))
    );
}
