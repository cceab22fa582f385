//! The API server is killed during work, its store stalls, and the operator is terminated.

use std::time::Duration;

use anyhow::{Result, ensure};
use control_plane::{
    Mark,
    foobar::{all_ready, create, names},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};

use crate::stage::{Case, PATIENCE, case};

impl Case<'_> {
    /// All are Ready, each with one right child, no child was created twice, and no writes continue.
    async fn ends_well(&self, count: usize, since: Mark) -> Result<()> {
        let foobars = all_ready(&self.foobars, count, 2 * PATIENCE).await?;
        self.check_children(&foobars).await?;
        self.stays_quiet().await?;
        let mut made: Vec<_> = self.written(since)?;
        made.retain(|request| request.resource == "configmaps" && request.code == 201);
        made.sort_by(|a, b| a.name.cmp(&b.name));
        let twice = made.windows(2).find(|pair| pair[0].name == pair[1].name);
        ensure!(twice.is_none(), "made twice: {twice:#?}");
        Ok(())
    }
}

#[test]
fn after_a_restart_of_the_api_server_the_operator_continues() -> Result<()> {
    case(async |case| {
        // Right after its start the API server has not loaded the roles, and refuses all but the administrators.
        case.may_be_refused();
        let mark = case.mark()?;
        let mut operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        create(&case.foobars, &names("before", 300)).await?;
        case.stage.plane.kill_api_server()?;
        tokio::time::sleep(Duration::from_secs(2)).await;
        operator.check()?;
        case.stage.plane.restart_api_server().await?;
        create(&case.foobars, &names("later", 20)).await?;
        operator.check()?;
        case.ends_well(320, mark).await
    })
}

#[test]
fn changes_missed_while_the_api_server_was_down_are_found() -> Result<()> {
    case(async |case| {
        // Right after its start the API server has not loaded the roles, and refuses all but the administrators.
        case.may_be_refused();
        let _operator = case.operator(&[]).await?;
        case.one_ready("missed").await?;
        // The operator's connection is cut before the child is deleted, and restored some time later.
        case.stage.plane.kill_api_server()?;
        case.stage.plane.restart_api_server().await?;
        let children: Api<ConfigMap> = case.children.clone();
        for child in children.list(&ListParams::default()).await?.items {
            children.delete(&child.name_any(), &DeleteParams::default()).await?;
        }
        case.child_in_step("missed").await?;
        Ok(())
    })
}

#[test]
fn after_a_stall_of_the_store_the_operator_continues() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let mut operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        create(&case.foobars, &names("stalled", 100)).await?;
        case.stage.plane.pause_etcd()?;
        tokio::time::sleep(Duration::from_secs(5)).await;
        case.stage.plane.resume_etcd()?;
        operator.check()?;
        case.ends_well(100, mark).await
    })
}

#[test]
fn after_sigterm_running_reconciles_end_and_the_exit_code_is_zero() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        create(&case.foobars, &names("drained", 200)).await?;
        let status = operator.terminate(Duration::from_secs(30)).await?;
        ensure!(status.success(), "{status}");
        // Running reconciles have ended: every FooBar with a child has a status.
        let foobars = case.foobars.list(&ListParams::default()).await?.items;
        let children = case.children.list(&ListParams::default()).await?.items.len();
        let ready = foobars.iter().filter(|foobar| foobar.is_ready()).count();
        // The cluster's own ConfigMap of root certificates does not exist: no controller creates it.
        ensure!(children == ready, "{children} children, {ready} Ready");
        let _operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        case.ends_well(200, mark).await
    })
}
