//! The number of requests for an update of a child.

use anyhow::{Context, Result, ensure};
use control_plane::{
    Mark,
    foobar::{FooBar, becomes, child_of},
};
use kube::{
    Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::stage::{Case, PATIENCE, case};

impl Case<'_> {
    /// Changes the spec, and waits until the FooBar is Ready again.
    async fn respec(&self, name: &str, spec: Value) -> Result<Mark> {
        let mark = self.mark()?;
        self.merge(name, json!({"spec": spec})).await?;
        becomes(&self.foobars, name, "Ready", PATIENCE, FooBar::is_ready).await?;
        self.stays_quiet().await?;
        Ok(mark)
    }

    /// The operator's requests for this child since then, but for watches.
    fn about_child(&self, name: &str, since: Mark) -> Result<Vec<String>> {
        let mut asked = self.asked(since)?;
        asked.retain(|request| request.resource == "configmaps" && request.name == child_of(name));
        let line = |request: control_plane::Request| format!("{} {}", request.verb, request.code);
        Ok(asked.into_iter().map(line).collect())
    }

    async fn data_of(&self, name: &str) -> Result<Value> {
        Ok(json!(self.children.get(&child_of(name)).await?.data))
    }
}

#[test]
fn each_update_of_a_child_is_one_request() -> Result<()> {
    case(async |case| {
        let mut operator = case.operator(&[]).await?;
        case.one_ready("one").await?;
        for (spec, data) in [
            (json!({"target": "a"}), json!({"target": "a"})),
            (json!({"type": "t"}), json!({"target": "a", "type": "t"})),
            (json!({"type": null}), json!({"target": "a"})),
        ] {
            let mark = case.respec("one", spec).await?;
            ensure!(
                case.about_child("one", mark)? == ["patch 200"],
                "{:?}",
                case.about_child("one", mark)?
            );
            ensure!(case.data_of("one").await? == data);
        }

        // The first update removes a field, in this process and in the next one.
        for (name, restart) in [("two", false), ("three", true)] {
            let mut foobar = FooBar::named(name);
            foobar.spec.r#type = Some("t".to_owned());
            case.foobars.create(&PostParams::default(), &foobar).await?;
            becomes(&case.foobars, name, "Ready", PATIENCE, FooBar::is_ready).await?;
            if restart {
                operator.kill()?;
                operator = case.operator(&[]).await?;
            }
            let mark = case.respec(name, json!({"target": "b", "type": null})).await?;
            ensure!(
                case.about_child(name, mark)? == ["patch 200"],
                "{:?}",
                case.about_child(name, mark)?
            );
            ensure!(case.data_of(name).await? == json!({"target": "b"}));
        }
        Ok(())
    })
}

#[test]
fn a_removed_field_that_another_field_manager_applied_too_stays() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let mut foobar = FooBar::named("shared");
        foobar.spec.r#type = Some("t".to_owned());
        case.foobars.create(&PostParams::default(), &foobar).await?;
        becomes(&case.foobars, "shared", "Ready", PATIENCE, FooBar::is_ready).await?;
        let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"type": "t", "more": "1"}});
        let params = PatchParams::apply("theirs");
        case.children
            .patch(&child_of("shared"), &params, &Patch::Apply(theirs))
            .await?;
        case.stays_quiet().await?;
        let mark = case.respec("shared", json!({"target": "b", "type": null})).await?;
        // The others' fields are read before.
        ensure!(case.about_child("shared", mark)? == ["get 200", "patch 200"]);
        ensure!(case.data_of("shared").await? == json!({"target": "b", "type": "t", "more": "1"}));
        Ok(())
    })
}

#[test]
fn a_child_of_an_earlier_release_is_updated_by_one_request() -> Result<()> {
    case(async |case| {
        let params = PostParams {
            field_manager: Some("conformance-operator/foobar@0123456789abcdef".to_owned()),
            ..PostParams::default()
        };
        let foobar = case
            .foobars
            .create(&PostParams::default(), &FooBar::named("old"))
            .await?;
        let mut owner = foobar.controller_owner_ref(&()).context("it has a uid")?;
        owner.block_owner_deletion = Some(true);
        let metadata = json!({
            "name": child_of("old"),
            "labels": {"kubewright.dev/operator": "conformance-operator"},
            "ownerReferences": [owner],
        });
        let child = json!({"metadata": metadata, "data": {"target": foobar.name_any(), "type": "left"}});
        case.children.create(&params, &serde_json::from_value(child)?).await?;
        let mark = case.mark()?;
        let _operator = case.operator(&[]).await?;
        becomes(&case.foobars, "old", "Ready", PATIENCE, FooBar::is_ready).await?;
        ensure!(
            case.about_child("old", mark)? == ["patch 200"],
            "{:?}",
            case.about_child("old", mark)?
        );
        ensure!(case.data_of("old").await? == json!({"target": "old"}));
        Ok(())
    })
}
