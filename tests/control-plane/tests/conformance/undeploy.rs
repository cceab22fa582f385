//! The way out.

use anyhow::{Result, ensure};
use control_plane::{
    eventually,
    foobar::{all_ready, create, names},
    run,
};
use kube::api::{DeleteParams, ListParams};

use crate::{
    accepted::path_with,
    stage::{Case, PATIENCE, case, say},
};

impl Case<'_> {
    /// `make TARGET` in the project, with the control plane's kubectl.
    fn make(&self, target: &str) -> Result<String> {
        let kubectl = self.stage.plane.assets().kubectl();
        let mut make = self.stage.project.make();
        make.args([target, "KUBECTL=kubectl"])
            .env("PATH", path_with(kubectl.parent()));
        run(make.env("KUBECONFIG", self.stage.plane.kubeconfig()))
    }
}

impl Case<'_> {
    /// Waits until the garbage collector has seen a FooBar and a child that are younger than all others. After a restart of
    /// the API server, which other cases cause, its watches come back one by one, within a minute: an owner that goes
    /// meanwhile goes without children that it has not seen.
    async fn collector_is_up_to_date(&self) -> Result<()> {
        create(&self.foobars, &names("youngest", 1)).await?;
        all_ready(&self.foobars, 51, PATIENCE).await?;
        let name = &names("youngest", 1)[0];
        self.foobars.delete(name, &DeleteParams::foreground()).await?;
        eventually("the youngest and its child to go", 2 * PATIENCE, async || {
            let owner = self.foobars.get_opt(name).await?;
            let child = self.children.get_opt(&format!("{name}-foobar")).await?;
            Ok((owner.is_none() && child.is_none()).then_some(()))
        })
        .await
    }
}

#[test]
fn undeploy_with_fifty_live_foobars_leaves_nothing() -> Result<()> {
    case(async |case| {
        if !case.stage.plane.has_controllers() {
            say("SKIPPED: no kube-controller-manager, so no namespace and no child ever goes");
            return Ok(());
        }
        case.make("deploy")?;
        // Its account goes while it runs, as it does under a Pod that is being stopped.
        case.may_be_refused();
        let _operator = case
            .operator(&["--max-concurrent-reconciles", "4", "--leader-elect"])
            .await?;
        create(&case.foobars, &names("live", 50)).await?;
        all_ready(&case.foobars, 50, PATIENCE).await?;
        case.collector_is_up_to_date().await?;
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
        // Not after a while: whoever collects garbage need not know the kind any more.
        let children = case.children.list(&ListParams::default()).await?.items;
        ensure!(children.is_empty(), "{} children are left", children.len());
        // Once more: nothing to delete is an error only for those who want to know.
        ensure!(case.make("undeploy").is_err());
        case.make_ignoring_what_is_gone()
    })
}

impl Case<'_> {
    fn make_ignoring_what_is_gone(&self) -> Result<()> {
        let kubectl = self.stage.plane.assets().kubectl();
        let mut make = self.stage.project.make();
        make.args(["undeploy", "KUBECTL=kubectl", "ignore-not-found=true"])
            .env("PATH", path_with(kubectl.parent()));
        run(make.env("KUBECONFIG", self.stage.plane.kubeconfig())).map(|_| ())
    }
}
