//! HorizontalPodAutoscalers: bounds, and metrics that an annotation gives.

use std::time::{Duration, UNIX_EPOCH};

use recordings::Exchange;
use serde_json::{Value, json};

use crate::{
    cluster::{DEPLOYMENTS, cluster, cluster_at, condition, deployment},
    common::Wire,
};

const SCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

impl Wire {
    async fn measure(&self, metrics: &str) {
        let annotations = json!({"kubewright.dev/metrics": metrics});
        self.change(
            &format!("{SCALERS}/web"),
            &json!({"metadata": {"annotations": annotations}}),
        )
        .await;
        self.pass(1).await;
    }

    async fn replicas(&self) -> i64 {
        let web = self.object(&format!("{DEPLOYMENTS}/web")).await;
        web["spec"]["replicas"].as_i64().unwrap()
    }

    async fn scaler(&self) -> Value {
        self.object(&format!("{SCALERS}/web")).await
    }
}

async fn scaled(replicas: i64, bounds: [i64; 2]) -> Wire {
    let wire = cluster();
    wire.make(DEPLOYMENTS, &deployment("web", replicas, "")).await;
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"scaleTargetRef": target, "minReplicas": bounds[0], "maxReplicas": bounds[1]});
    wire.make(SCALERS, &json!({"metadata": {"name": "web"}, "spec": spec}))
        .await;
    wire.pass(1).await;
    wire
}

#[tokio::test(start_paused = true)]
async fn the_size_is_within_the_bounds_though_no_metrics_are_served() {
    for (replicas, bounds, wanted) in [(1, [2, 5], 2), (9, [2, 5], 5)] {
        let wire = scaled(replicas, bounds).await;
        assert_eq!(wire.replicas().await, wanted);
        assert_eq!(condition(&wire.scaler().await, "AbleToScale"), "True SucceededRescale");
        wire.pass(20).await;
        let scaler = wire.scaler().await;
        assert_eq!(condition(&scaler, "AbleToScale"), "True SucceededGetScale");
        assert_eq!(condition(&scaler, "ScalingActive"), "False FailedGetResourceMetric");
        assert_eq!(
            (
                &scaler["status"]["currentReplicas"],
                &scaler["status"]["desiredReplicas"]
            ),
            (&json!(wanted), &json!(wanted))
        );
    }
    let wire = scaled(0, [1, 5]).await;
    assert_eq!(wire.replicas().await, 0);
    assert_eq!(
        condition(&wire.scaler().await, "ScalingActive"),
        "False ScalingDisabled"
    );
}

#[tokio::test(start_paused = true)]
async fn a_metric_of_the_annotation_scales_up_at_once_and_down_after_five_minutes() {
    let wire = scaled(2, [1, 10]).await;
    // The target is a utilization of 80 %.
    wire.measure("cpu=84").await;
    assert_eq!(wire.replicas().await, 2);
    wire.measure("cpu=160").await;
    assert_eq!(wire.replicas().await, 4);
    wire.measure("cpu=800").await;
    assert_eq!(wire.replicas().await, 8);
    assert_eq!(condition(&wire.scaler().await, "ScalingLimited"), "True ScaleUpLimit");
    wire.pass(15).await;
    assert_eq!(wire.replicas().await, 10);
    assert_eq!(
        condition(&wire.scaler().await, "ScalingLimited"),
        "True TooManyReplicas"
    );
    wire.measure("cpu=8").await;
    assert_eq!(wire.replicas().await, 10);
    assert_eq!(
        condition(&wire.scaler().await, "AbleToScale"),
        "True ScaleDownStabilized"
    );
    wire.pass(330).await;
    assert_eq!(wire.replicas().await, 1);
    let active = condition(&wire.scaler().await, "ScalingActive");
    assert_eq!(active, "True ValidMetricFound");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_missing_is_in_the_condition() {
    let wire = scaled(1, [1, 2]).await;
    wire.send("DELETE", &format!("{DEPLOYMENTS}/web"), "").await;
    wire.pass(20).await;
    assert_eq!(condition(&wire.scaler().await, "AbleToScale"), "False FailedGetScale");
}

/// The decisions of kube-controller-manager's autoscaler about arbitrary specs and metrics, each ten seconds
/// (`fidelity record autoscalers`).
const RECORDED: &str = include_str!("autoscalers.jsonl");

#[tokio::test(start_paused = true)]
async fn behaviours_and_metrics_have_the_effects_that_kube_controller_manager_gives_them() {
    let recorded = recordings::read::<Value, Vec<Value>>(RECORDED);
    for (number, Exchange { asked, answered }) in recorded.into_iter().enumerate() {
        // At a whole second, so that ten seconds later are ten seconds on the clock.
        let wire = cluster_at(UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let replicas = asked["replicas"].as_i64().unwrap();
        wire.make(DEPLOYMENTS, &deployment("web", replicas, "")).await;
        let steps = asked["steps"].as_array().unwrap();
        assert_eq!(steps.len(), answered.len());
        for (at, (step, wanted)) in steps.iter().zip(&answered).enumerate() {
            if let Some(replicas) = step[1].as_i64() {
                let scale = json!({"spec": {"replicas": replicas}});
                wire.change(&format!("{DEPLOYMENTS}/web"), &scale).await;
            }
            // The number of the step makes each annotation another one, so that each is looked at.
            let metrics = format!("{},step={at}", step[0].as_str().unwrap());
            match at {
                0 => {
                    let metadata = json!({"name": "web", "annotations": {"kubewright.dev/metrics": metrics}});
                    let scaler = json!({"metadata": metadata, "spec": asked["spec"]});
                    wire.make(SCALERS, &scaler).await;
                    wire.pass(1).await;
                }
                _ => wire.measure(&metrics).await,
            }
            let scaler = wire.scaler().await;
            let reason = |name: &str| {
                let condition = condition(&scaler, name);
                condition.split(' ').nth(1).unwrap_or_default().to_owned()
            };
            let reasons = ["AbleToScale", "ScalingActive", "ScalingLimited"].map(reason).join(" ");
            let status = &scaler["status"];
            let found = json!([
                wire.replicas().await,
                status["currentReplicas"].as_i64().unwrap_or_default(),
                status["desiredReplicas"],
                reasons
            ]);
            assert_eq!(&found, wanted, "autoscaler {number}, step {at}: {}", asked["spec"]);
            wire.pass(9).await;
        }
    }
}
