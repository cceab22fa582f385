//! Requests that must not be sent to the API server.

use anyhow::{Result, ensure};
use control_plane::{
    eventually,
    foobar::{FooBar, all_ready, becomes, create, names},
};
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::{
    patterns::ready,
    stage::{PATIENCE, case},
};

#[test]
fn nothing_is_written_once_the_desired_state_is_reached() -> Result<()> {
    case(async |case| {
        let operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        let began = case.mark()?;
        create(&case.foobars, &names("calm", 50)).await?;
        all_ready(&case.foobars, 50, PATIENCE).await?;
        // A finalizer, a child, a status: three writes each, and no status update that causes another one.
        case.stays_quiet().await?;
        let written = case.written(began)?;
        ensure!(
            written.len() == 150,
            "{} writes for 50 FooBars: {:#?}",
            written.len(),
            &written[..4]
        );

        // A change without an effect is reconciled without a write.
        let mark = case.mark()?;
        case.merge("calm-0000", json!({"metadata": {"labels": {"seen": "yes"}}}))
            .await?;
        case.stays_quiet().await?;
        ensure!(case.written(mark)?.is_empty());

        // A new process has nothing to write either.
        operator.kill()?;
        let mark = case.mark()?;
        let _operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        case.stays_quiet().await?;
        let written = case.written(mark)?;
        ensure!(written.is_empty(), "written after a restart: {written:#?}");
        Ok(())
    })
}

#[test]
fn a_cleared_status_is_restored_once() -> Result<()> {
    case(async |case| {
        let _operator = case.operator(&[]).await?;
        let before = case.one_ready("wiped").await?;
        let mark = case.mark()?;
        let wipe = Patch::Merge(json!({"status": null}));
        case.foobars
            .patch_status("wiped", &PatchParams::default(), &wipe)
            .await?;
        let after = becomes(&case.foobars, "wiped", "Ready again", PATIENCE, FooBar::is_ready).await?;
        ensure!(before.metadata.generation == after.metadata.generation);
        case.stays_quiet().await?;
        let written = case.written(mark)?;
        ensure!(
            written.len() == 1 && written[0].resource == "foobars/status",
            "{written:#?}"
        );
        Ok(())
    })
}

#[test]
fn two_controllers_share_one_list_and_one_watch_of_config_maps_and_search_once_for_unlabelled_children() -> Result<()> {
    case(async |case| {
        case.deploy_patterns().await?;
        let mark = case.mark()?;
        let _operator = case.run_patterns().await?;
        for kind in ["Widget", "OrderRun"] {
            case.create(kind, "one", json!({"target": "world"})).await?;
            let objects = case.objects(kind);
            eventually(&format!("the {kind} to be Ready"), PATIENCE, async || {
                let object = objects.get("one").await?;
                Ok((ready(&object).0 == "True").then_some(()))
            })
            .await?;
        }
        let mut asked = case.stage.plane.audit().since(mark)?;
        asked.retain(|request| {
            request.user.contains("patterns-operator") && request.resource == "configmaps" && request.code == 200
        });
        // `kubewright.dev/operator!=…`, in a query.
        let (looks, asked): (Vec<_>, Vec<_>) = asked.into_iter().partition(|request| request.uri.contains("%21%3D"));
        let count = |verb: &str| asked.iter().filter(|request| request.verb == verb).count();
        ensure!(count("list") <= 1 && count("watch") == 1, "{asked:#?}");
        ensure!(looks.len() == 1 && looks[0].verb == "list", "{looks:#?}");
        Ok(())
    })
}
