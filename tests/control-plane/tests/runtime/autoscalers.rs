//! HorizontalPodAutoscalers on the in-process API server, with metrics of the annotation, and with kube-controller-manager, with the
//! same metrics from the metrics APIs, which CRDs imitate: both end with the same sizes and conditions.

use std::{collections::BTreeMap, sync::Mutex, time::Duration};

use anyhow::Result;
use futures::future::BoxFuture;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::workloads::{Both, PODS, items, send};

const SCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const SCALER: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MEASURED: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";
const QUEUES: &str = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue";
const FLAGS: [&str; 5] = [
    "--controllers=horizontal-pod-autoscaler-controller",
    "--horizontal-pod-autoscaler-sync-period=1s",
    "--horizontal-pod-autoscaler-cpu-initialization-period=0s",
    "--horizontal-pod-autoscaler-initial-readiness-delay=0s",
    // Custom resources have no form in Protobuf.
    "--kube-api-content-type=application/json",
];

/// Without times, without values of metrics, and without the texts about missing metrics and targets.
fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut scalers = items(client, SCALERS).await?;
        for scaler in &mut scalers {
            let mut status = scaler["status"].clone();
            status["currentMetrics"] = Value::Null;
            status["lastScaleTime"] = json!(status["lastScaleTime"].is_string());
            for condition in status["conditions"].as_array_mut().into_iter().flatten() {
                condition["lastTransitionTime"] = Value::Null;
                let reason = condition["reason"].as_str().unwrap_or_default();
                if reason.starts_with("FailedGet") {
                    condition["message"] = Value::Null;
                }
            }
            *scaler = status;
        }
        let deployments = items(client, DEPLOYMENTS).await?;
        let sizes: Vec<&Value> = deployments.iter().map(|it| &it["spec"]["replicas"]).collect();
        Ok(json!({"scalers": scalers, "sizes": sizes}))
    })
}

/// The metrics that the annotation has, for the real server.
type Metrics = Mutex<BTreeMap<&'static str, u32>>;

async fn define(client: &Client, [group, plural, kind]: [&str; 3]) -> Result<()> {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1beta1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let annotations = json!({"api-approved.kubernetes.io": "unapproved, for a test"});
    let crd = json!({
        "metadata": {"name": format!("{plural}.{group}"), "annotations": annotations},
        "spec": {"group": group, "scope": "Namespaced", "versions": [version],
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural}},
    });
    send(client, "POST", CRDS, &crd).await?;
    Ok(())
}

/// Serves the metrics of all Pods, and of a queue, until the task is dropped.
async fn measure(client: &Client, metrics: &Metrics) {
    let put = async |collection: &str, name: &str, object: &Value| {
        let path = format!("{collection}/{name}");
        if send(client, "PATCH", &path, object).await.is_err() {
            // The definition may be missing yet.
            drop(send(client, "POST", collection, object).await);
        }
    };
    loop {
        sleep(Duration::from_millis(200)).await;
        let now = Timestamp::now();
        let metrics = metrics.lock().unwrap().clone();
        if let Some(cpu) = metrics.get("cpu") {
            for pod in items(client, PODS).await.unwrap_or_default() {
                let name = pod["metadata"]["name"].as_str().unwrap_or_default();
                // The request is a core.
                let usage = json!([{"name": "main", "usage": {"cpu": format!("{}m", cpu * 10)}}]);
                let metadata = json!({"name": name, "labels": pod["metadata"]["labels"]});
                let object = json!({
                    "apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": metadata,
                    "timestamp": now.to_string(), "window": "1s", "containers": usage,
                });
                put(MEASURED, name, &object).await;
            }
        }
        if let Some(queue) = metrics.get("queue") {
            let object = json!({
                "apiVersion": "external.metrics.k8s.io/v1beta1", "kind": "ExternalMetricValue", "metadata": {"name": "one"},
                "metricName": "queue", "metricLabels": {}, "timestamp": now.to_string(), "value": queue.to_string(),
            });
            put(QUEUES, "one", &object).await;
        }
    }
}

#[tokio::test]
#[ignore = "waits for three minutes: make nightly"]
async fn autoscalers_end_as_with_kube_controller_manager() -> Result<()> {
    let metrics = Metrics::default();
    Both::with_flags(&FLAGS, state, async |both| {
        bounds(both).await?;
        define(&both.real, ["metrics.k8s.io", "pods", "PodMetrics"]).await?;
        define(&both.real, ["external.metrics.k8s.io", "queue", "ExternalMetricValue"]).await?;
        tokio::select! {
            () = measure(&both.real, &metrics) => Ok(()),
            done = life(both, &metrics) => done,
        }
    })
    .await
}

/// Without metrics.
async fn bounds(both: &Both) -> Result<()> {
    let container = json!({"name": "main", "image": "example.com/main:1", "resources": {"requests": {"cpu": "1"}}});
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    let deployment = json!({"metadata": {"name": "web"}, "spec": spec});
    both.step("a Deployment", ["POST", DEPLOYMENTS], deployment).await?;
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4});
    let scaler = json!({"metadata": {"name": "web"}, "spec": spec});
    let grown = both.step("below the bounds", ["POST", SCALERS], scaler).await?;
    assert_eq!(grown["sizes"], json!([2]));
    let many = json!({"spec": {"replicas": 9}});
    step(both, "above the bounds", ["PATCH", DEPLOYMENT], many, 4).await
}

/// Sends the request to both, and compares them once the size is this one.
async fn step(both: &Both, name: &str, request: [&str; 2], body: Value, size: u32) -> Result<()> {
    let is_reached = |state: &Value| state["sizes"] == json!([size]) && state["scalers"][0]["desiredReplicas"] == size;
    both.step_until(name, request, body, is_reached).await?;
    Ok(())
}

async fn life(both: &Both, metrics: &Metrics) -> Result<()> {
    let measured = async |name: &'static str, value: u32, size: u32| {
        metrics.lock().unwrap().insert(name, value);
        let annotations = json!({"kubewright.dev/metrics": format!("{name}={value}")});
        let patch = json!({"metadata": {"annotations": annotations}});
        step(both, &format!("{name}={value}"), ["PATCH", SCALER], patch, size).await
    };
    measured("cpu", 40, 2).await?;
    measured("cpu", 160, 4).await?;
    // A higher recommendation holds.
    measured("cpu", 40, 4).await?;
    let policies = json!([{"type": "Pods", "value": 1, "periodSeconds": 1800}]);
    let behavior = json!({"scaleDown": {"stabilizationWindowSeconds": 0}, "scaleUp": {"policies": policies}});
    let behavior = json!({"spec": {"behavior": behavior}});
    step(both, "down at once", ["PATCH", SCALER], behavior, 2).await?;
    // The policy counts from the four replicas before.
    measured("cpu", 160, 4).await?;
    measured("cpu", 84, 4).await?;
    let target = json!({"type": "AverageValue", "averageValue": "10"});
    let queue = json!([{"type": "External", "external": {"metric": {"name": "queue"}, "target": target}}]);
    metrics.lock().unwrap().insert("queue", 30);
    let annotations = json!({"kubewright.dev/metrics": "queue=30"});
    let patch = json!({"metadata": {"annotations": annotations}, "spec": {"metrics": queue}});
    step(both, "a queue", ["PATCH", SCALER], patch, 3).await?;
    let none = json!({"spec": {"replicas": 0}});
    let is_disabled = |state: &Value| state.to_string().contains("ScalingDisabled");
    both.step_until("disabled", ["PATCH", DEPLOYMENT], none, is_disabled)
        .await?;
    let is_missing = |state: &Value| state.to_string().contains("FailedGetScale");
    both.step_until("without a target", ["DELETE", DEPLOYMENT], Value::Null, is_missing)
        .await?;
    Ok(())
}
