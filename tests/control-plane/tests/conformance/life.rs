//! The life of a FooBar from its creation to its deletion, without faults.

use std::time::Duration;

use anyhow::{Result, ensure};
use control_plane::{
    eventually,
    foobar::{FINALIZER, FooBar, FooBarSpec, all_ready, becomes, check_child, child_of, create, names},
};
use k8s_openapi::api::{core::v1::ConfigMap, events::v1::Event};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::stage::{Case, PATIENCE, case, say};

impl Case<'_> {
    /// A running operator's first FooBar, Ready.
    pub async fn one_ready(&self, name: &str) -> Result<FooBar> {
        self.foobars
            .create(&PostParams::default(), &FooBar::named(name))
            .await?;
        becomes(&self.foobars, name, "Ready", PATIENCE, FooBar::is_ready).await
    }

    pub async fn merge(&self, name: &str, patch: Value) -> Result<FooBar> {
        Ok(self
            .foobars
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await?)
    }

    /// Waits until the ConfigMap matches its FooBar's current spec.
    pub async fn child_in_step(&self, name: &str) -> Result<ConfigMap> {
        eventually(
            &format!("the ConfigMap of `{name}` to be in step"),
            PATIENCE,
            async || {
                let (foobar, child) = (self.foobars.get(name).await?, self.children.get(&child_of(name)).await?);
                check_child(&foobar, &child)?;
                Ok(Some(child))
            },
        )
        .await
    }

    pub async fn gone(&self, name: &str) -> Result<()> {
        eventually(&format!("`{name}` to go"), PATIENCE, async || {
            Ok(self.foobars.get_opt(name).await?.is_none().then_some(()))
        })
        .await
    }
}

#[test]
fn five_hundred_foobars_become_ready_with_four_workers() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        let began = std::time::Instant::now();
        create(&case.foobars, &names("many", 500)).await?;
        let foobars = all_ready(&case.foobars, 500, Duration::from_secs(120)).await?;
        say(&format!("500 FooBars: {:.1} s", began.elapsed().as_secs_f64()));
        case.check_children(&foobars).await?;
        for foobar in &foobars {
            ensure!(foobar.finalizers() == [FINALIZER], "{:?}", foobar.finalizers());
            // The status is a subresource: writing it is not a change of the spec.
            ensure!(
                foobar.metadata.generation == Some(1),
                "generation {:?}",
                foobar.metadata.generation
            );
        }
        Ok(())
    })
}

#[test]
fn a_change_of_the_spec_reaches_the_child_and_the_status() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let before = case.one_ready("changed").await?;
        case.merge("changed", json!({"spec": {"target": "moon"}})).await?;
        let after = becomes(&case.foobars, "changed", "Ready for generation 2", PATIENCE, |foobar| {
            foobar.is_ready() && foobar.metadata.generation == Some(2)
        })
        .await?;
        case.child_in_step("changed").await?;
        let times = [&before, &after].map(|foobar| foobar.ready().map(|ready| ready.last_transition_time.clone()));
        ensure!(
            times[0] == times[1],
            "lastTransitionTime moved without a transition: {times:?}"
        );
        Ok(())
    })
}

#[test]
fn a_type_that_is_unset_again_is_removed_from_the_child() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        case.one_ready("typed").await?;
        case.merge("typed", json!({"spec": {"type": "greeting"}})).await?;
        let child = case.child_in_step("typed").await?;
        ensure!(child.data.unwrap_or_default().contains_key("type"));
        case.merge("typed", json!({"spec": {"type": null}})).await?;
        let child = case.child_in_step("typed").await?;
        ensure!(!child.data.unwrap_or_default().contains_key("type"));
        Ok(())
    })
}

#[test]
fn an_edited_or_deleted_child_is_repaired() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        case.one_ready("drift").await?;
        let name = child_of("drift");
        let uid = case.child_in_step("drift").await?.uid();
        for patch in [json!({"data": {"target": "elsewhere"}}), json!({"data": null})] {
            // As a user with kubectl edit would: under another field manager.
            case.children
                .patch(&name, &PatchParams::default(), &Patch::Merge(patch))
                .await?;
            case.child_in_step("drift").await?;
        }
        case.children.delete(&name, &DeleteParams::default()).await?;
        let child = case.child_in_step("drift").await?;
        ensure!(child.uid() != uid, "it was not deleted");
        Ok(())
    })
}

#[test]
fn a_child_without_its_owner_reference_is_reported_and_not_changed() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        case.one_ready("orphaned").await?;
        let orphan = Patch::Merge(json!({"metadata": {"ownerReferences": null}}));
        case.children
            .patch(&child_of("orphaned"), &PatchParams::default(), &orphan)
            .await?;
        // Removing the owner reference takes the child from its owner: it is not changed, and the FooBar reports that.
        let reported = |foobar: &FooBar| foobar.ready().is_some_and(|ready| ready.reason == "ChildNotOwned");
        becomes(&case.foobars, "orphaned", "ChildNotOwned", PATIENCE, reported).await?;
        let child = case.children.get(&child_of("orphaned")).await?;
        ensure!(child.metadata.owner_references.is_none(), "it was adopted");
        Ok(())
    })
}

#[test]
fn fields_that_others_add_to_a_child_stay() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        case.one_ready("shared").await?;
        let patch = json!({"metadata": {"labels": {"theirs": "yes"}}, "data": {"theirs": "too"}});
        case.children
            .patch(&child_of("shared"), &PatchParams::default(), &Patch::Merge(patch))
            .await?;
        case.merge("shared", json!({"spec": {"target": "moon"}})).await?;
        // The status is written after the child.
        becomes(
            &case.foobars,
            "shared",
            "Ready with the new spec",
            PATIENCE,
            FooBar::is_ready,
        )
        .await?;
        let child = eventually("the new target", PATIENCE, async || {
            let child = case.children.get(&child_of("shared")).await?;
            let target = child.data.as_ref().and_then(|data| data.get("target")).cloned();
            Ok((target.as_deref() == Some("moon")).then_some(child))
        })
        .await?;
        let data = child.data.clone().unwrap_or_default();
        ensure!(
            child.labels().contains_key("theirs") && data.contains_key("theirs"),
            "{child:?}"
        );
        case.stays_quiet().await
    })
}

#[test]
fn a_config_map_of_another_owner_is_never_changed() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let name = child_of("squatted");
        let theirs = json!({"metadata": {"name": name}, "data": {"target": "theirs"}});
        let theirs = case
            .children
            .create(&PostParams::default(), &serde_json::from_value(theirs)?)
            .await?;
        case.foobars
            .create(&PostParams::default(), &FooBar::named("squatted"))
            .await?;
        let reason = |foobar: &FooBar| foobar.ready().map(|ready| (ready.status.clone(), ready.reason.clone()));
        let not_owned = Some(("False".to_owned(), "ChildNotOwned".to_owned()));
        becomes(&case.foobars, "squatted", "ChildNotOwned", PATIENCE, |foobar| {
            reason(foobar) == not_owned
        })
        .await?;
        case.stays_quiet().await?;
        ensure!(
            case.children.get(&name).await?.resource_version() == theirs.resource_version(),
            "it was touched"
        );

        case.children.delete(&name, &DeleteParams::default()).await?;
        becomes(&case.foobars, "squatted", "Ready", PATIENCE, FooBar::is_ready).await?;
        case.child_in_step("squatted").await?;
        Ok(())
    })
}

#[test]
fn a_deleted_foobar_waits_for_its_cleanup() -> Result<()> {
    case(async |case| {
        let operator = case.operator(&[]).await?;
        case.one_ready("held").await?;
        case.one_ready("quick").await?;
        case.foobars.delete("quick", &DeleteParams::default()).await?;
        case.gone("quick").await?;

        operator.kill()?;
        case.foobars.delete("held", &DeleteParams::default()).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let held = case.foobars.get("held").await?;
        ensure!(held.metadata.deletion_timestamp.is_some() && held.finalizers() == [FINALIZER]);
        let _operator = case.operator(&[]).await?;
        case.gone("held").await
    })
}

#[test]
fn children_of_a_deleted_foobar_are_collected() -> Result<()> {
    case(async |case| {
        if !case.stage.plane.has_controllers() {
            say("SKIPPED: no kube-controller-manager, so children are not deleted");
            return Ok(());
        }
        let _operator = case.operator(&[]).await?;
        case.one_ready("collected").await?;
        case.child_in_step("collected").await?;
        case.foobars.delete("collected", &DeleteParams::background()).await?;
        case.gone("collected").await?;
        // The garbage collector discovers new kinds every 30 s.
        eventually("the ConfigMap to be collected", 2 * PATIENCE, async || {
            Ok(case
                .children
                .get_opt(&child_of("collected"))
                .await?
                .is_none()
                .then_some(()))
        })
        .await
    })
}

#[test]
fn a_foobar_with_foreground_deletion_is_deleted_after_its_child() -> Result<()> {
    case(async |case| {
        if !case.stage.plane.has_controllers() {
            say("SKIPPED: no kube-controller-manager, so children are not deleted");
            return Ok(());
        }
        let _operator = case.operator(&[]).await?;
        case.one_ready("foreground").await?;
        case.child_in_step("foreground").await?;
        case.foobars.delete("foreground", &DeleteParams::foreground()).await?;
        eventually("both to go", 2 * PATIENCE, async || {
            let child = case.children.get_opt(&child_of("foreground")).await?;
            Ok((child.is_none() && case.foobars.get_opt("foreground").await?.is_none()).then_some(()))
        })
        .await
    })
}

#[test]
fn a_recreated_foobar_gets_a_new_child() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        for round in 0..5 {
            let spec = FooBarSpec {
                target: format!("round {round}"),
                r#type: None,
            };
            case.foobars
                .create(&PostParams::default(), &FooBar::new("again", spec))
                .await?;
            if round % 2 == 0 {
                case.child_in_step("again").await?;
            }
            case.foobars.delete("again", &DeleteParams::background()).await?;
            case.gone("again").await?;
        }
        case.foobars
            .create(&PostParams::default(), &FooBar::named("again"))
            .await?;
        if !case.stage.plane.has_controllers() {
            // No controller removes the ConfigMap of the earlier object, and the operator must not change it.
            case.children
                .delete(&child_of("again"), &DeleteParams::default())
                .await?;
        }
        becomes(&case.foobars, "again", "Ready", 2 * PATIENCE, FooBar::is_ready).await?;
        case.child_in_step("again").await?;
        Ok(())
    })
}

#[test]
fn events_report_the_actions() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        case.one_ready("reported").await?;
        case.foobars.delete("reported", &DeleteParams::default()).await?;
        let events: Api<Event> = Api::namespaced(case.client.clone(), &case.namespace);
        eventually("the events Applied and CleanedUp", PATIENCE, async || {
            let found = events.list(&ListParams::default()).await?.items;
            let about = |reason: &str| {
                found.iter().any(|event| {
                    let regarding = event.regarding.clone().unwrap_or_default();
                    let is_about_it =
                        regarding.kind.as_deref() == Some("FooBar") && regarding.name.as_deref() == Some("reported");
                    is_about_it && event.reason.as_deref() == Some(reason)
                })
            };
            Ok((about("Applied") && about("CleanedUp")).then_some(()))
        })
        .await
    })
}
