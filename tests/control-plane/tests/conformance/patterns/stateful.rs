//! `--pattern stateful`: the life of a Store with kube-controller-manager, which creates the Pods and claims of its StatefulSet. The
//! case plays the kubelet, and the provisioner and resizer of volumes.

use anyhow::{Context, Result, ensure};
use control_plane::{Mark, eventually};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Secret};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::ready;
use crate::stage::{Case, PATIENCE, case};

const CLASS: &str = "expandable";

impl Case<'_> {
    fn claims(&self) -> Api<PersistentVolumeClaim> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn volumes(&self) -> Api<PersistentVolume> {
        Api::all(self.client.clone())
    }

    /// Creates the volume that a claim waits for, and lets it grow with its claim.
    async fn provide_volumes(&self) -> Result<()> {
        for claim in self.claims().list(&ListParams::default()).await?.items {
            let wanted = request(&claim).context("a claim requests storage")?;
            let status = claim.status.clone().unwrap_or_default();
            let capacity = status.capacity.unwrap_or_default();
            let (name, uid) = (claim.name_any(), claim.uid().unwrap_or_default());
            let volume = format!("pv-{uid}");
            match status.phase.as_deref() {
                Some("Pending") if self.volumes().get_opt(&volume).await?.is_none() => {
                    let made = json!({
                        "metadata": {"name": volume},
                        "spec": {
                            "capacity": {"storage": wanted},
                            "accessModes": ["ReadWriteOnce"],
                            "storageClassName": CLASS,
                            "persistentVolumeReclaimPolicy": "Retain",
                            "claimRef": {"namespace": self.namespace, "name": name, "uid": uid},
                            "hostPath": {"path": "/nowhere"},
                        },
                    });
                    let made = serde_json::from_value(made)?;
                    self.volumes().create(&PostParams::default(), &made).await?;
                }
                Some("Bound") if capacity.get("storage").is_none_or(|it| it.0 != wanted) => {
                    let capacity = json!({"capacity": {"storage": wanted}});
                    let patch = Patch::Merge(json!({"spec": capacity}));
                    let merge = PatchParams::default();
                    self.volumes().patch(&volume, &merge, &patch).await?;
                    let patch = Patch::Merge(json!({"status": capacity}));
                    self.claims().patch_status(&name, &merge, &patch).await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Plays kubelet and provisioner until the Store is ready, with these Pods and these volumes.
    async fn steady(&self, members: usize, version: &str, size: &str) -> Result<()> {
        let what = format!("{members} members of {version} with {size}");
        eventually(&what, PATIENCE, async || {
            self.provide_volumes().await?;
            self.run_pods().await?;
            let store = self.objects("Store").get("db").await?;
            ensure!(ready(&store) == ("True", "Steady"), "{}", store.data["status"]);
            let pods = self.active_pods().await?;
            let images = pods
                .iter()
                .filter_map(|pod| pod.spec.as_ref()?.containers[0].image.clone());
            let images: Vec<_> = images.collect();
            let are_new = images.iter().all(|image| image.ends_with(&format!(":{version}")));
            ensure!(images.len() == members && are_new, "{images:?}");
            let claims = self.claims().list(&ListParams::default()).await?.items;
            let sizes: Vec<_> = claims.iter().filter_map(request).collect();
            ensure!(sizes == vec![size; members], "{sizes:?}");
            Ok(Some(()))
        })
        .await
    }

    /// The names of the Pods that the operator has deleted since then, in order.
    fn restarted(&self, since: Mark) -> Result<Vec<String>> {
        let mut written = self.patterns_wrote(since)?;
        written.retain(|request| request.verb == "delete" && request.resource == "pods");
        Ok(written.into_iter().map(|request| request.name).collect())
    }
}

fn request(claim: &PersistentVolumeClaim) -> Option<String> {
    let requests = claim.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?;
    Some(requests.get("storage")?.0.clone())
}

#[test]
fn a_store_is_upgraded_scaled_grown_and_repaired_by_kube_controller_manager() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let class =
            json!({"metadata": {"name": CLASS}, "provisioner": "example.com/nobody", "allowVolumeExpansion": true});
        let class: StorageClass = serde_json::from_value(class)?;
        let classes: Api<StorageClass> = Api::all(case.client.clone());
        classes.create(&PostParams::default(), &class).await?;
        let operator = case.run_patterns().await?;
        let storage = |size: &str| json!({"size": size, "class": CLASS});
        let spec = json!({"target": "world", "version": "1.0.0", "storage": storage("1Gi")});
        case.create("Store", "db", spec).await?;
        case.steady(3, "1.0.0", "1Gi").await?;
        let secrets: Api<Secret> = Api::namespaced(case.client.clone(), &case.namespace);
        let password = secrets.get("db-store").await?.data;
        let _operator = case.restart_writes_nothing(operator).await?;

        let mark = case.mark()?;
        case.change("Store", "db", json!({"version": "2.0.0"})).await?;
        case.steady(3, "2.0.0", "1Gi").await?;
        let restarted = case.restarted(mark)?;
        ensure!(restarted == ["db-store-2", "db-store-1", "db-store-0"], "{restarted:?}");

        let mark = case.mark()?;
        case.kubectl(&["scale", "stores.shop.example.com/db", "--replicas=4"])?;
        case.steady(4, "2.0.0", "1Gi").await?;
        // kube-controller-manager deletes the claims of removed members.
        case.kubectl(&["scale", "stores.shop.example.com/db", "--replicas=2"])?;
        case.steady(2, "2.0.0", "1Gi").await?;

        // The StatefulSet is replaced, and its Pods are not.
        case.change("Store", "db", json!({"storage": storage("2Gi")})).await?;
        case.steady(2, "2.0.0", "2Gi").await?;
        let restarted = case.restarted(mark)?;
        ensure!(restarted.is_empty(), "{restarted:?} were restarted");

        // The volume of a member is lost.
        let lost = case.claims().get("data-db-store-1").await?.uid().unwrap_or_default();
        let volume = format!("pv-{lost}");
        case.volumes().delete(&volume, &DeleteParams::default()).await?;
        let freed = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        case.volumes().patch(&volume, &PatchParams::default(), &freed).await?;
        eventually("the claim to be lost", PATIENCE, async || {
            let Some(claim) = case.claims().get_opt("data-db-store-1").await? else {
                return Ok(Some(()));
            };
            // The operator may look at that moment, and replace the claim.
            let is_another = claim.uid().as_ref() != Some(&lost);
            let phase = claim.status.unwrap_or_default().phase;
            Ok((is_another || phase.as_deref() == Some("Lost")).then_some(()))
        })
        .await?;
        // Volumes do not report by themselves: any change of the Store has its members looked at.
        case.kubectl(&["annotate", "stores.shop.example.com/db", "look=now"])?;
        eventually("another claim", PATIENCE, async || {
            case.run_pods().await?;
            let claim = case.claims().get_opt("data-db-store-1").await?;
            Ok(claim.filter(|claim| claim.uid().as_ref() != Some(&lost)).map(drop))
        })
        .await?;
        case.steady(2, "2.0.0", "2Gi").await?;
        ensure!(secrets.get("db-store").await?.data == password, "another password");

        case.objects("Store").delete("db", &DeleteParams::default()).await?;
        eventually("the members to go", PATIENCE, async || {
            let pods = case.active_pods().await?;
            ensure!(pods.is_empty(), "{} Pods are left", pods.len());
            Ok(Some(()))
        })
        .await?;
        // The data stay.
        let claims = case.claims().list(&ListParams::default()).await?.items;
        ensure!(claims.len() == 2, "{} claims are left", claims.len());
        classes.delete(CLASS, &DeleteParams::default()).await?;
        Ok(())
    })
}
