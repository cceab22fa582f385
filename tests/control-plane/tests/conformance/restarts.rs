//! The API server killed in the middle of work, its store stalled, and the operator told to end.

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
    /// All Ready, each with one right child, no child made twice, and quiet.
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
fn an_api_server_that_is_killed_and_comes_back_is_worked_with_again() -> Result<()> {
    case(async |case| {
        // Right after its start the API server knows no roles yet, and refuses everybody but the administrators.
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
fn what_was_missed_while_the_api_server_was_away_is_found() -> Result<()> {
    case(async |case| {
        // Right after its start the API server knows no roles yet, and refuses everybody but the administrators.
        case.may_be_refused();
        let _operator = case.operator(&[]).await?;
        case.one_ready("missed").await?;
        // The connection of the operator is cut before the child is deleted, and made again some time after.
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
fn a_store_that_stalls_is_waited_for() -> Result<()> {
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
fn sigterm_finishes_what_is_in_hand_and_ends_with_zero() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        create(&case.foobars, &names("drained", 200)).await?;
        let status = operator.terminate(Duration::from_secs(30)).await?;
        ensure!(status.success(), "{status}");
        // In hand means: to the end. Nobody who has a child is without a status.
        let foobars = case.foobars.list(&ListParams::default()).await?.items;
        let children = case.children.list(&ListParams::default()).await?.items.len();
        let ready = foobars.iter().filter(|foobar| foobar.is_ready()).count();
        // The cluster's own ConfigMap of root certificates is not there: no controller makes it.
        ensure!(children == ready, "{children} children, {ready} Ready");
        let _operator = case.operator(&["--max-concurrent-reconciles", "4"]).await?;
        case.ends_well(200, mark).await
    })
}
