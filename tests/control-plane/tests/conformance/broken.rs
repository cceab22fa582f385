//! Objects that cannot be reconciled, temporarily or permanently, do not affect others.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use control_plane::{
    eventually,
    foobar::{FooBar, FooBarSpec, becomes, child_of, of_any_form},
};
use k8s_openapi::{
    api::admissionregistration::v1::ValidatingWebhookConfiguration,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams},
};
use serde_json::json;

use crate::stage::{Case, PATIENCE, case};

impl Case<'_> {
    /// Stores FooBars that the schema forbids: relaxes the schema, writes them, restores the schema.
    async fn store_malformed(&mut self, names: &[&str]) -> Result<()> {
        let crds: Api<CustomResourceDefinition> = Api::all(self.client.clone());
        let mut crd = serde_json::to_value(crds.get("foobars.test.example.com").await?)?;
        let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = anything;
        let loose = Patch::Merge(json!({"spec": crd["spec"]}));
        crds.patch("foobars.test.example.com", &PatchParams::default(), &loose)
            .await?;
        let kind = ApiResource::erase::<FooBar>(&());
        let objects = of_any_form(self.client.clone(), Some(&self.namespace));
        for name in names {
            let mut object = DynamicObject::new(name, &kind);
            object.data = json!({"spec": {"target": {"not": "a string"}}});
            // The API server takes a moment to apply the new schema.
            eventually("the malformed object to be stored", PATIENCE, async || {
                Ok(Some(objects.create(&PostParams::default(), &object).await?))
            })
            .await?;
        }
        self.stage.deploy().await
    }
}

#[test]
fn a_malformed_object_is_reported_and_blocks_no_other() -> Result<()> {
    case(async |case| {
        let operator = case.operator(&[]).await?;
        case.one_ready("good").await?;
        case.store_malformed(&["bad", "worse"]).await?;
        // Seen by the watch,
        case.one_ready("better").await?;
        operator.kill()?;
        // and by the list.
        let operator = case.operator(&[]).await?;
        case.one_ready("best").await?;
        case.merge("good", json!({"spec": {"target": "still served"}})).await?;
        case.child_in_step("good").await?;
        let log = std::fs::read_to_string(operator.log())?;
        let reported = |name: &str| {
            log.lines()
                .any(|line| line.contains(&format!("{}/{name}", case.namespace)))
        };
        ensure!(
            reported("bad") && reported("worse"),
            "not a word of them in the log:\n{log}"
        );

        // One is corrected, the other one is deleted.
        case.merge("bad", json!({"spec": {"target": "repaired"}})).await?;
        becomes(&case.foobars, "bad", "Ready", PATIENCE, FooBar::is_ready).await?;
        case.foobars.delete("worse", &DeleteParams::default()).await?;
        case.one_ready("last").await?;
        Ok(())
    })
}

#[test]
fn an_invalid_child_is_reported_once_and_not_retried_at_once() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let mark = case.mark()?;
        // A ConfigMap contains at most 1 MiB, an object in etcd half as much again.
        let spec = FooBarSpec {
            target: "x".repeat(1_100_000),
            r#type: None,
        };
        case.foobars
            .create(&PostParams::default(), &FooBar::new("too-big", spec))
            .await?;
        let not_ready = |foobar: &FooBar| foobar.ready().is_some_and(|ready| ready.status == "False");
        becomes(&case.foobars, "too-big", "not Ready", PATIENCE, not_ready).await?;
        case.stays_quiet().await?;
        let tries = || -> Result<usize> {
            let written = case.written(mark)?;
            Ok(written
                .iter()
                .filter(|request| request.resource == "configmaps")
                .count())
        };
        // The status that reports it is the operator's own write, which must not cause a retry.
        ensure!(tries()? == 1, "tried {} times", tries()?);
        case.merge("too-big", json!({"spec": {"target": "small"}})).await?;
        becomes(&case.foobars, "too-big", "Ready", PATIENCE, FooBar::is_ready).await?;
        Ok(())
    })
}

#[test]
fn a_temporary_error_is_retried_with_growing_delays() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let webhooks: Api<ValidatingWebhookConfiguration> = Api::all(case.client.clone());
        let unreachable_webhook = json!({
            "metadata": {"name": "unreachable"},
            "webhooks": [{
                "name": "unreachable.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "clientConfig": {"url": "https://127.0.0.1:1/"}, "failurePolicy": "Fail", "timeoutSeconds": 1,
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": case.namespace}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}],
            }],
        });
        webhooks
            .create(&PostParams::default(), &serde_json::from_value(unreachable_webhook)?)
            .await?;
        // It is active once a ConfigMap is refused.
        eventually("the webhook to be in force", PATIENCE, async || {
            let probe = serde_json::from_value(json!({"metadata": {"generateName": "probe-"}}))?;
            Ok(case
                .children
                .create(&PostParams::default(), &probe)
                .await
                .is_err()
                .then_some(()))
        })
        .await?;
        let mark = case.mark()?;
        case.foobars
            .create(&PostParams::default(), &FooBar::named("later"))
            .await?;
        tokio::time::sleep(Duration::from_secs(8)).await;
        let mut tries = case.written(mark)?;
        tries.retain(|request| request.name == child_of("later"));
        webhooks.delete("unreachable", &DeleteParams::default()).await?;
        let gaps: Vec<_> = tries
            .windows(2)
            .map(|pair| pair[1].received - pair[0].received)
            .collect();
        ensure!(tries.iter().all(|request| request.code >= 500), "{tries:#?}");
        // 5 ms, doubled each time: ten tries in the first five seconds, and by then more than a second apart.
        ensure!(
            (6..=14).contains(&tries.len()),
            "{} tries, {gaps:?} s apart",
            tries.len()
        );
        let last = gaps.last().context("no second try")?;
        ensure!(*last > 1.0 && *last > 8.0 * gaps[0], "{gaps:?}");
        becomes(&case.foobars, "later", "Ready", PATIENCE, FooBar::is_ready).await?;
        Ok(())
    })
}
