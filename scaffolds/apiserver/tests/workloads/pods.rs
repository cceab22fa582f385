//! Pods as their annotation says.

use serde_json::{Value, json};

use crate::{
    cluster::{PODS, cluster, condition, template},
    common::Wire,
};

/// Creates a Pod.
async fn make(wire: &Wire, behaviour: &str, spec: Value) -> String {
    let mut pod = template("web", behaviour);
    pod["metadata"]["name"] = json!("web");
    for (field, value) in spec.as_object().unwrap() {
        pod["spec"][field] = value.clone();
    }
    wire.make(PODS, &pod).await;
    wire.pass(1).await;
    format!("{PODS}/web")
}

fn state(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]["state"]
}

#[tokio::test(start_paused = true)]
async fn a_pod_runs_on_the_node_and_is_ready_when_its_annotation_says() {
    let wire = cluster();
    let path = make(&wire, "ready-after=30s", json!({})).await;
    let pod = wire.object(&path).await;
    assert_eq!(
        (&pod["spec"]["nodeName"], &pod["status"]["phase"]),
        (&json!("dev"), &json!("Running"))
    );
    assert_eq!(condition(&pod, "Ready"), "False ContainersNotReady");
    wire.pass(30).await;
    assert_eq!(condition(&wire.object(&path).await, "Ready"), "True");
    let node = wire.object("/api/v1/nodes/dev").await;
    assert_eq!(
        (condition(&node, "Ready"), &node["spec"]["taints"]),
        ("True KubeletReady".to_owned(), &Value::Null)
    );
}

#[tokio::test(start_paused = true)]
async fn a_container_that_exits_is_restarted_with_growing_delays() {
    let wire = cluster();
    let path = make(&wire, "exit=3,exit-after=5s", json!({})).await;
    wire.pass(10).await;
    let pod = wire.object(&path).await;
    assert_eq!(state(&pod)["waiting"]["reason"], "CrashLoopBackOff");
    assert_eq!(
        pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"],
        3
    );
    assert_eq!(
        (&pod["status"]["phase"], condition(&pod, "Ready").as_str()),
        (&json!("Running"), "False ContainersNotReady")
    );
    wire.pass(3600).await;
    let restarts = wire.object(&path).await["status"]["containerStatuses"][0]["restartCount"]
        .as_i64()
        .unwrap();
    assert!((12..20).contains(&restarts), "{restarts}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_not_restarted_ends() {
    for (behaviour, phase) in [
        ("", "Succeeded"),
        ("exit=1", "Failed"),
        ("out-of-memory", "Failed"),
        ("runs", "Running"),
    ] {
        let wire = cluster();
        let path = make(&wire, behaviour, json!({"restartPolicy": "Never"})).await;
        assert_eq!(wire.object(&path).await["status"]["phase"], phase, "{behaviour}");
    }
}

#[tokio::test(start_paused = true)]
async fn init_containers_complete_before_and_an_image_that_is_missing_stops_both() {
    let init = json!({"initContainers": [{"name": "init", "image": "example.com/init:1"}]});
    let wire = cluster();
    let path = make(&wire, "", init.clone()).await;
    let pod = wire.object(&path).await;
    assert_eq!(
        pod["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"],
        0
    );
    assert_eq!(condition(&pod, "Ready"), "True");
    let wire = cluster();
    let path = make(&wire, "image-pull-fails", init).await;
    let pod = wire.object(&path).await;
    assert_eq!(state(&pod)["waiting"]["reason"], "PodInitializing");
    assert_eq!(
        pod["status"]["initContainerStatuses"][0]["state"]["waiting"]["reason"],
        "ImagePullBackOff"
    );
    assert_eq!(
        (&pod["status"]["phase"], condition(&pod, "Initialized").as_str()),
        (&json!("Pending"), "False ContainersNotInitialized")
    );
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_goes_once_it_has_stopped_at_the_latest_after_its_grace_period() {
    for (behaviour, seconds) in [("", 0), ("stop-after=10s", 10), ("stop-after=5m", 30)] {
        let wire = cluster();
        let path = make(&wire, behaviour, json!({})).await;
        wire.send("DELETE", &path, "").await;
        if seconds > 0 {
            wire.pass(seconds - 2).await;
            assert_eq!(condition(&wire.object(&path).await, "Ready"), "True", "{behaviour}");
        }
        wire.pass(4).await;
        assert_eq!(wire.get(&path).await.code, 404, "{behaviour}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_keeps_a_stopped_pod() {
    let wire = cluster();
    let path = make(&wire, "", json!({})).await;
    wire.change(&path, &json!({"metadata": {"finalizers": ["test.example.com/keep"]}}))
        .await;
    wire.send("DELETE", &path, "").await;
    wire.pass(60).await;
    assert_eq!(wire.object(&path).await["status"]["phase"], "Succeeded");
    wire.change(&path, &json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(wire.get(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_while_the_node_takes_none_or_nothing_can_schedule_it() {
    let wire = cluster();
    wire.pass(1).await;
    wire.change("/api/v1/nodes/dev", &json!({"spec": {"unschedulable": true}}))
        .await;
    let path = make(&wire, "", json!({})).await;
    assert_eq!(wire.object(&path).await["spec"]["nodeName"], Value::Null);
    wire.change("/api/v1/nodes/dev", &json!({"spec": {"unschedulable": false}}))
        .await;
    wire.pass(1).await;
    assert_eq!(condition(&wire.object(&path).await, "Ready"), "True");
    let wire = cluster();
    let path = make(&wire, "unschedulable", json!({})).await;
    assert_eq!(
        condition(&wire.object(&path).await, "PodScheduled"),
        "False Unschedulable"
    );
}

#[tokio::test(start_paused = true)]
async fn a_word_that_is_not_understood_is_in_the_status() {
    let wire = cluster();
    let path = make(&wire, "ready-after=soon", json!({})).await;
    let pod = wire.object(&path).await;
    assert_eq!(
        state(&pod)["waiting"],
        json!({
            "reason": "CreateContainerConfigError",
            "message": "annotation kubewright.dev/kubelet: `ready-after=soon` needs a duration, such as 30s or 5m",
        })
    );
    let fixed = json!({"metadata": {"annotations": {"kubewright.dev/kubelet": "never-ready"}}});
    wire.change(&path, &fixed).await;
    wire.pass(1).await;
    assert_eq!(wire.object(&path).await["status"]["phase"], "Running");
}

#[tokio::test(start_paused = true)]
async fn a_claim_goes_with_the_last_pod_that_uses_it_and_a_namespace_with_its_claims() {
    let wire = cluster();
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = |name: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        })
    };
    wire.make(claims, &claim("data")).await;
    wire.make(claims, &claim("other")).await;
    let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    let pod = make(&wire, "exit=0", json!({"volumes": volumes, "restartPolicy": "Never"})).await;
    for name in ["data", "other"] {
        wire.send("DELETE", &format!("{claims}/{name}"), "").await;
    }
    wire.pass(60).await;
    assert_eq!(wire.object(&pod).await["status"]["phase"], "Succeeded");
    // A finished Pod still uses its claim.
    let left = wire.items(claims).await;
    assert_eq!(
        left.iter().map(|it| &it["metadata"]["name"]).collect::<Vec<_>>(),
        ["data"]
    );
    wire.send("DELETE", &pod, "").await;
    wire.pass(60).await;
    assert!(wire.items(claims).await.is_empty());

    wire.make("/api/v1/namespaces", &json!({"metadata": {"name": "tenant"}}))
        .await;
    wire.make("/api/v1/namespaces/tenant/persistentvolumeclaims", &claim("data"))
        .await;
    wire.send("DELETE", "/api/v1/namespaces/tenant", "").await;
    wire.pass(60).await;
    assert_eq!(wire.get("/api/v1/namespaces/tenant").await.code, 404);
}
