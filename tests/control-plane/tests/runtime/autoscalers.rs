//! HorizontalPodAutoscalers on the in-process API server and with kube-controller-manager, without metrics: the bounds have
//! the same effect, and the conditions the same reasons.

use anyhow::Result;
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::workloads::{Both, items};

const SCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const SCALER: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";

/// Without times, and without the text about missing metrics and targets.
fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut scalers = items(client, SCALERS).await?;
        for scaler in &mut scalers {
            let mut status = scaler["status"].clone();
            // kube-controller-manager lists metrics without a type that it could not read.
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

#[tokio::test]
async fn autoscalers_without_metrics_end_as_with_kube_controller_manager() -> Result<()> {
    Both::with(state, bounds).await
}

async fn bounds(both: &Both) -> Result<()> {
    let template = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "example.com/main:1"}]},
    });
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    let deployment = json!({"metadata": {"name": "web"}, "spec": spec});
    both.step("a Deployment", ["POST", DEPLOYMENTS], deployment).await?;
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let scaler =
        json!({"metadata": {"name": "web"}, "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4}});
    let grown = both.step("too small", ["POST", SCALERS], scaler).await?;
    assert_eq!(grown["sizes"], json!([2]));
    let larger = json!({"spec": {"replicas": 9}});
    let shrunk = both.step("too large", ["PATCH", DEPLOYMENT], larger).await?;
    assert_eq!(shrunk["sizes"], json!([4]));
    let bounds = json!({"spec": {"minReplicas": 1, "maxReplicas": 8}});
    both.step("within the bounds", ["PATCH", SCALER], bounds).await?;
    let none = json!({"spec": {"replicas": 0}});
    both.step("without replicas", ["PATCH", DEPLOYMENT], none).await?;
    both.step("without a target", ["DELETE", DEPLOYMENT], Value::Null)
        .await?;
    Ok(())
}
