//! Removing the operator and its kinds.

use std::{process::Command, thread, time::Duration};

use anyhow::{Result, ensure};

use control_plane::{
    foobar::{all_ready, create, names},
    run,
};
use kube::api::{ListParams, PostParams};
use serde_json::json;

use crate::{
    accepted::path_with,
    stage::{Case, PATIENCE, case, say},
};

impl Case<'_> {
    /// `make TARGET` in the project, with the control plane's kubectl.
    fn make(&self, target: &str) -> Result<String> {
        run(&mut self.command(target))
    }

    fn command(&self, target: &str) -> Command {
        let kubectl = self.stage.plane.assets().kubectl();
        let mut make = self.stage.project.make();
        make.args([target, "KUBECTL=kubectl"])
            .env("PATH", path_with(kubectl.parent()))
            .env("KUBECONFIG", self.stage.plane.kubeconfig());
        make
    }
}

#[test]
fn undeploy_with_fifty_foobars_leaves_no_objects() -> Result<()> {
    case(async |case| {
        if !case.stage.plane.has_controllers() {
            say("SKIPPED: no kube-controller-manager, so namespaces and children are not deleted");
            return Ok(());
        }
        case.make("deploy")?;
        // Its service account is deleted while it runs, as for a Pod that is being stopped.
        case.may_be_refused();
        let _operator = case
            .operator(&["--max-concurrent-reconciles", "4", "--leader-elect"])
            .await?;
        create(&case.foobars, &names("live", 50)).await?;
        all_ready(&case.foobars, 50, PATIENCE).await?;
        case.stage.spoil();
        let said = case.make("undeploy")?;
        let namespace = case.stage.project.namespace();
        ensure!(said.contains(&format!("namespace \"{namespace}\" deleted")), "{said}");

        let all = "namespaces,crds,clusterroles,clusterrolebindings";
        let left = case.kubectl(&["get", all, "-o", "name"])?;
        let ours = ["foobar", case.stage.project.name()];
        let left = left.lines().filter(|name| ours.iter().any(|part| name.contains(part)));
        let left: Vec<_> = left.collect();
        ensure!(left.is_empty(), "left behind: {left:#?}");
        // At once: the garbage collector may not know the kind any more.
        let children = case.children.list(&ListParams::default()).await?.items;
        ensure!(children.is_empty(), "{} children are left", children.len());
        // Again: it is an error that nothing is there to delete, unless `ignore-not-found=true` is set.
        ensure!(case.make("undeploy").is_err());
        case.make_ignoring_what_is_gone()
    })
}

#[test]
fn children_that_the_garbage_collector_missed_are_deleted_before_their_kind() -> Result<()> {
    case(async |case| {
        if !case.stage.plane.has_controllers() {
            say("SKIPPED: no kube-controller-manager, so children are not deleted");
            return Ok(());
        }
        case.make("install")?;
        case.stage.spoil();
        // A child as a garbage collector that lags behind leaves it: its owner is already deleted.
        let child = json!({
            "metadata": {
                "name": "left",
                "labels": {"kubewright.dev/operator": case.stage.project.name()},
                "ownerReferences": [{
                    "apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "gone", "uid": "11111111-2222-3333-4444-555555555555",
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
        });
        let plane = &case.stage.plane;
        plane.pause_controllers()?;
        case.children
            .create(&PostParams::default(), &serde_json::from_value(child)?)
            .await?;
        let uninstalled = thread::scope(|scope| {
            let mut uninstall = case.command("uninstall");
            let uninstalled = scope.spawn(move || run(&mut uninstall));
            // Longer than `make` takes if it does not wait for children.
            thread::sleep(Duration::from_secs(4));
            let waits = !uninstalled.is_finished();
            plane.resume_controllers()?;
            ensure!(waits, "the CRD was deleted before the child");
            uninstalled
                .join()
                .unwrap_or_else(|_| anyhow::bail!("`make uninstall` panicked"))
        });
        uninstalled?;
        let children = case.children.list(&ListParams::default()).await?.items;
        ensure!(children.is_empty(), "{} children are left", children.len());
        Ok(())
    })
}

impl Case<'_> {
    fn make_ignoring_what_is_gone(&self) -> Result<()> {
        run(self.command("undeploy").arg("ignore-not-found=true")).map(|_| ())
    }
}
