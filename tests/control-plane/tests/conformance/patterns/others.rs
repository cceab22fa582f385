//! Foreign kinds, along with their own controllers; and a kind in two versions.

use anyhow::{Context, Result, ensure};
use control_plane::eventually;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{IMAGE, ready};
use crate::stage::{Case, PATIENCE, case};

const GREETING: &str = "patterns-operator.example.com/greeting";

fn objects(case: &Case<'_>, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let of = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    Api::namespaced_with(case.client.clone(), &case.namespace, &of)
}

/// An object for which a ConfigMap should be created.
fn sample(group: &str, version: &str, kind: &str, spec: Value) -> DynamicObject {
    let of = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let mut object = DynamicObject::new("sample", &of);
    object.metadata.annotations = Some([(GREETING.to_owned(), "hello".to_owned())].into());
    object.data = json!({ "spec": spec });
    object
}

/// Waits for the ConfigMap with the expected data, whose only owner is the object.
async fn child(case: &Case<'_>, name: &str, owner: Option<&str>) -> Result<()> {
    eventually(name, PATIENCE, async || {
        let child = case.children.get(name).await?;
        let data = child.data.unwrap_or_default();
        let owners = child.metadata.owner_references.unwrap_or_default();
        let owned = owners.len() == 1 && owners.iter().all(|it| Some(it.uid.as_str()) == owner);
        Ok((data.get("greeting").is_some_and(|it| it == "hello") && owned).then_some(()))
    })
    .await
}

async fn collected(case: &Case<'_>, name: &str) -> Result<()> {
    let gone = async || Ok(case.children.get_opt(name).await?.is_none().then_some(()));
    eventually(&format!("the end of {name}"), PATIENCE, gone).await
}

#[test]
fn foreign_kinds_are_reconciled_and_their_status_is_not_written() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let operator = case.run_patterns().await?;
        let post = PostParams::default();

        // The Deployment's own controller handles it too; the test acts as the Well's.
        let pod = json!({"containers": [{"name": "main", "image": IMAGE}]});
        let template = json!({"metadata": {"labels": {"app": "sample"}}, "spec": pod});
        let spec = json!({"replicas": 0, "selector": {"matchLabels": {"app": "sample"}}, "template": template});
        let deployments = objects(case, "apps", "v1", "Deployment");
        let deployment = sample("apps", "v1", "Deployment", spec);
        let deployment = deployments.create(&post, &deployment).await?;
        let spec = json!({"depth": 20, "pump": {"port": "http"}, "self": "x", "type": "dug"});
        let wells = objects(case, "water.example.org", "v1", "Well");
        let well = wells
            .create(&post, &sample("water.example.org", "v1", "Well", spec))
            .await?;
        let phase = json!({"phase": "Pending"});
        let patch = Patch::Merge(json!({ "status": phase }));
        wells.patch_status("sample", &PatchParams::default(), &patch).await?;
        child(case, "sample-deployment", deployment.metadata.uid.as_deref()).await?;
        child(case, "sample-well", well.metadata.uid.as_deref()).await?;

        let typed: Api<Deployment> = Api::namespaced(case.client.clone(), &case.namespace);
        eventually("the Deployment's own status", PATIENCE, async || {
            let status = typed.get("sample").await?.status;
            Ok(status.and_then(|status| status.observed_generation))
        })
        .await?;
        let well = wells.get("sample").await?;
        ensure!(well.data["status"] == phase, "{well:#?}");

        // No finalizer delays their deletion, and the created objects are deleted with them.
        deployments.delete("sample", &DeleteParams::default()).await?;
        wells.delete("sample", &DeleteParams::default()).await?;
        collected(case, "sample-deployment").await?;
        collected(case, "sample-well").await?;
        operator.terminate(PATIENCE).await?;
        let written = case.patterns_wrote(case.began())?;
        let kinds: Vec<_> = written.iter().map(|request| request.resource.as_str()).collect();
        ensure!(
            !kinds.is_empty() && kinds.iter().all(|kind| *kind == "configmaps"),
            "{written:#?}"
        );
        Ok(())
    })
}

#[test]
fn one_controller_handles_two_versions_of_a_kind() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let operator = case.run_patterns().await?;
        let [old, new] = ["v1", "v2"].map(|version| objects(case, "shop.example.com", version, "Widget"));
        let served = async |target: &str| {
            eventually(&format!("`{target}` to be served"), PATIENCE, async || {
                let child = case.children.get("sample-widget").await?.data.unwrap_or_default();
                let followed = child.get("target").is_some_and(|it| it == target);
                Ok((followed && ready(&new.get("sample").await?).0 == "True").then_some(()))
            })
            .await
        };

        // Created as v2, stored as v1, and the same object in both versions.
        let made = sample("shop.example.com", "v2", "Widget", json!({"target": "world"}));
        new.create(&PostParams::default(), &made).await?;
        served("world").await?;
        let patch = Patch::Merge(json!({"spec": {"target": "moon"}}));
        old.patch("sample", &PatchParams::default(), &patch).await?;
        served("moon").await?;
        let (in_old, in_new) = (old.get("sample").await?, new.get("sample").await?);
        ensure!(in_old.data == in_new.data, "{in_old:#?} is not {in_new:#?}");

        let crd = case.kubectl(&["get", "crd", "widgets.shop.example.com", "-o", "json"])?;
        let crd: Value = serde_json::from_str(&crd)?;
        ensure!(crd["status"]["storedVersions"] == json!(["v1"]), "{}", crd["status"]);
        let versions = crd["spec"]["versions"].as_array().context("no versions")?;
        ensure!(versions.len() == 2 && versions.iter().all(|it| it["served"] == true));

        new.delete("sample", &DeleteParams::default()).await?;
        eventually("the end", PATIENCE, async || {
            Ok(old.get_opt("sample").await?.is_none().then_some(()))
        })
        .await?;
        operator.terminate(PATIENCE).await?;
        case.patterns_wrote(case.began())?;
        Ok(())
    })
}
