//! `--pattern replicas`: as many Pods for each Worker as its spec says, under all conditions.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Result, ensure};
use control_plane::{Fault, Mark, Proxy, eventually};
use fastrand::Rng;
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{IMAGE, controller, counts, ready};
use crate::stage::{Case, PATIENCE, case};

const LABEL: &str = "shop.example.com/worker";

impl Case<'_> {
    /// Waits until there are exactly so many Pods of the Worker, and its status says so.
    async fn has_pods(&self, worker: &str, count: usize) -> Result<()> {
        let (workers, owner) = (self.objects("Worker"), format!("Worker/{worker}"));
        eventually(&format!("`{worker}` to have {count} Pods"), PATIENCE, async || {
            let object = workers.get(worker).await?;
            let pods = self.active_pods().await?;
            let ours = pods
                .iter()
                .filter(|pod| controller(*pod).as_deref() == Some(&owner))
                .count();
            ensure!(ours == count, "{ours} are there");
            let said = counts(&object).0;
            ensure!(
                said == i64::try_from(count)? && !ready(&object).0.is_empty(),
                "{}",
                object.data["status"]
            );
            Ok(Some(()))
        })
        .await
    }

    async fn active_uids(&self) -> Result<BTreeSet<String>> {
        Ok(self.active_pods().await?.iter().filter_map(ResourceExt::uid).collect())
    }

    /// The numbers of Pods that the operator has created and deleted since then; fails if one was created twice.
    fn made_and_deleted(&self, since: Mark) -> Result<(usize, usize)> {
        let (mut made, mut deleted) = (BTreeMap::<_, usize>::new(), 0);
        for request in self.patterns_wrote(since)? {
            match (request.resource.as_str(), request.verb.as_str(), request.code) {
                ("pods", "create", 201) => *made.entry(request.name).or_default() += 1,
                ("pods", "delete", 200) => deleted += 1,
                _ => {}
            }
        }
        Ok((made.values().sum(), deleted))
    }
}

fn orphan(name: &str, worker: &str) -> Value {
    let spec = json!({"containers": [{"name": "main", "image": IMAGE}]});
    json!({"metadata": {"name": name, "labels": {LABEL: worker}}, "spec": spec})
}

#[test]
fn pods_are_scaled_adopted_released_and_deleted_with_their_owner() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let operator = case.run_patterns().await?;
        let (pods, mark) = (case.pods(), case.mark()?);
        let stray = serde_json::from_value(orphan("stray", "crew"))?;
        pods.create(&PostParams::default(), &stray).await?;
        case.create("Worker", "crew", json!({"target": "world", "replicas": 3}))
            .await?;
        case.has_pods("crew", 3).await?;
        ensure!(
            controller(&pods.get("stray").await?).as_deref() == Some("Worker/crew"),
            "not adopted"
        );
        ensure!(
            case.made_and_deleted(mark)? == (2, 0),
            "{:?}",
            case.made_and_deleted(mark)?
        );

        // A kubelet reports readiness.
        eventually("all to be ready", PATIENCE, async || {
            case.run_pods().await?;
            let crew = case.objects("Worker").get("crew").await?;
            ensure!(
                ready(&crew) == ("True", "Available") && counts(&crew) == (3, 3),
                "{}",
                crew.data["status"]
            );
            Ok(Some(()))
        })
        .await?;
        let _operator = case.restart_writes_nothing(operator).await?;

        let unlabelled = Patch::Merge(json!({"metadata": {"labels": {LABEL: null}}}));
        pods.patch("stray", &PatchParams::default(), &unlabelled).await?;
        eventually("the Pod that no longer matches to be released", PATIENCE, async || {
            Ok(controller(&pods.get("stray").await?).is_none().then_some(()))
        })
        .await?;
        case.has_pods("crew", 3).await?;
        case.kubectl(&["scale", "workers.shop.example.com/crew", "--replicas=5"])?;
        case.has_pods("crew", 5).await?;
        case.kubectl(&["scale", "workers.shop.example.com/crew", "--replicas=1"])?;
        case.has_pods("crew", 1).await?;
        ensure!(
            case.made_and_deleted(mark)? == (5, 4),
            "{:?}",
            case.made_and_deleted(mark)?
        );

        case.objects("Worker").delete("crew", &DeleteParams::default()).await?;
        eventually("the Pods to go with their owner", PATIENCE, async || {
            let left: Vec<_> = case.active_pods().await?.iter().map(ResourceExt::name_any).collect();
            ensure!(left == ["stray"], "{left:?} are left");
            Ok(Some(()))
        })
        .await
    })
}

#[test]
fn after_kills_during_scaling_no_pod_is_created_or_deleted_twice() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let (mut chance, mark) = (Rng::with_seed(7), case.mark()?);
        case.create("Worker", "crew", json!({"target": "world", "replicas": 0}))
            .await?;
        let (mut pods, mut expected) = (BTreeSet::new(), (0, 0));
        for wanted in [15, 4, 20, 0, 12] {
            let mut operator = case.start_patterns()?;
            case.change("Worker", "crew", json!({"replicas": wanted})).await?;
            for _ in 0..2 {
                tokio::time::sleep(Duration::from_millis(chance.u64(20..700))).await;
                operator.kill()?;
                operator = case.start_patterns()?;
            }
            case.has_pods("crew", wanted).await?;
            operator.kill()?;
            let before = std::mem::replace(&mut pods, case.active_uids().await?);
            ensure!(
                before.is_subset(&pods) || pods.is_subset(&before),
                "Pods were replaced: {before:?} {pods:?}"
            );
            expected.0 += pods.difference(&before).count();
            expected.1 += before.difference(&pods).count();
        }
        // The audit log does not show that a request was carried out if its client was killed, so there may be fewer.
        let done = case.made_and_deleted(mark)?;
        ensure!(
            done.0 <= expected.0 && done.1 <= expected.1,
            "made and deleted {done:?} instead of {expected:?}"
        );
        Ok(())
    })
}

#[test]
fn with_a_muted_watch_each_pod_is_created_and_deleted_once() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let (project, kubeconfig) = case.patterns()?;
        let proxy = Proxy::start(kubeconfig).await?;
        let mut operator = case.start(&project.operator(), &[], &proxy.kubeconfig(kubeconfig)?)?;
        operator.ready(PATIENCE).await?;
        let mark = case.mark()?;
        case.create("Worker", "crew", json!({"target": "world", "replicas": 2}))
            .await?;
        case.has_pods("crew", 2).await?;

        // The operator gets no more events of Pods, not even of its own creates and deletes.
        proxy.set(Fault::Mute("pods"));
        for wanted in [6, 1, 4, 3, 8] {
            case.change("Worker", "crew", json!({"replicas": wanted})).await?;
            case.has_pods("crew", wanted).await?;
        }
        let done = case.made_and_deleted(mark)?;
        ensure!(done == (2 + 4 + 3 + 5, 5 + 1), "made and deleted {done:?}");
        proxy.set(Fault::None);
        tokio::time::sleep(Duration::from_secs(2)).await;
        case.has_pods("crew", 8).await?;
        ensure!(
            case.made_and_deleted(mark)? == done,
            "further requests after the watch continued"
        );
        Ok(())
    })
}
