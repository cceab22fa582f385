//! `--pattern deployment`: a Deployment for each Site, whose rollout is reported in the Site's status.

use anyhow::{Context, Result, ensure};
use control_plane::eventually;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};
use serde_json::json;

use super::{controller, counts, ready};
use crate::stage::{Case, PATIENCE, case};

impl Case<'_> {
    /// Acts as the kubelet until the Site is rolled out, with this many Pods for this target.
    async fn rolled_out(&self, replicas: usize, target: &str) -> Result<()> {
        let sites = self.objects("Site");
        eventually(&format!("{replicas} Pods for `{target}`"), PATIENCE, async || {
            self.run_pods().await?;
            let site = sites.get("web").await?;
            let wanted = i64::try_from(replicas)?;
            ensure!(ready(&site) == ("True", "Available"), "{}", site.data["status"]);
            ensure!(counts(&site) == (wanted, wanted), "{}", site.data["status"]);
            let pods = self.active_pods().await?;
            ensure!(pods.len() == replicas, "{} Pods", pods.len());
            for pod in pods {
                let spec = pod.spec.context("a Pod has a spec")?;
                let variable = spec.containers[0].env.iter().flatten().find(|env| env.name == "TARGET");
                ensure!(
                    variable.and_then(|env| env.value.as_deref()) == Some(target),
                    "{variable:?}"
                );
            }
            Ok(Some(()))
        })
        .await
    }

    async fn deployments_and_replica_sets(&self) -> Result<(Vec<Deployment>, Vec<ReplicaSet>)> {
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), &self.namespace);
        let sets: Api<ReplicaSet> = Api::namespaced(self.client.clone(), &self.namespace);
        let all = ListParams::default();
        Ok((deployments.list(&all).await?.items, sets.list(&all).await?.items))
    }
}

#[test]
fn a_deployment_is_created_reported_and_deleted_with_its_owner() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let operator = case.run_patterns().await?;
        let sites = case.objects("Site");
        case.create("Site", "web", json!({"target": "world", "replicas": 2}))
            .await?;
        // Pods that no kubelet runs are not ready, and the Site reports that.
        eventually("two Pods that are not ready", PATIENCE, async || {
            let site = sites.get("web").await?;
            ensure!(ready(&site) == ("False", "Progressing"), "{}", site.data["status"]);
            ensure!(counts(&site) == (2, 0), "{}", site.data["status"]);
            Ok(Some(()))
        })
        .await?;
        let (deployments, sets) = case.deployments_and_replica_sets().await?;
        ensure!(deployments.len() == 1 && sets.len() == 1, "{deployments:?} {sets:?}");
        ensure!(controller(&deployments[0]).as_deref() == Some("Site/web"));
        ensure!(controller(&sets[0]) == Some(format!("Deployment/{}", deployments[0].name_any())));

        case.rolled_out(2, "world").await?;
        let operator = case.restart_writes_nothing(operator).await?;
        case.change("Site", "web", json!({"target": "moon"})).await?;
        case.rolled_out(2, "moon").await?;
        case.kubectl(&["scale", "sites.shop.example.com/web", "--replicas=3"])?;
        case.rolled_out(3, "moon").await?;
        let _operator = case.restart_writes_nothing(operator).await?;

        sites.delete("web", &DeleteParams::default()).await?;
        eventually("all that was the Site's to go", PATIENCE, async || {
            let (deployments, sets) = case.deployments_and_replica_sets().await?;
            let left = deployments.len() + sets.len() + case.active_pods().await?.len();
            ensure!(left == 0, "{left} objects are left");
            Ok(Some(()))
        })
        .await
    })
}
