//! Several replicas, one of which is active.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use control_plane::{
    Operator, eventually,
    foobar::{all_ready, create, names},
    free_ports, get,
};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, api::ListParams};

use crate::stage::{Case, PATIENCE, case, say};

/// A lease short enough for a test, and long enough for a busy machine.
pub const LEASE: Duration = Duration::from_secs(6);
const SHORT_LEASE: [&str; 4] = [
    "--leader-elect-lease-duration=6s",
    "--leader-elect-renew-deadline=4s",
    "--leader-elect-retry-period=500ms",
    "--max-concurrent-reconciles=4",
];

/// An operator and the port of its metrics.
pub struct Replica {
    pub operator: Operator,
    metrics: u16,
}

impl Replica {
    /// As deployed.
    fn start(case: &Case<'_>) -> Result<Self> {
        Self::with(&[], |arguments| case.start_operator(arguments))
    }

    /// With a user of its own in the audit log, and a short lease in the case's namespace.
    pub fn candidate(case: &Case<'_>, binary: &Path, kubeconfig: &Path) -> Result<Self> {
        let namespace = format!("--leader-election-namespace={}", case.namespace);
        let flags = [namespace.as_str()].into_iter().chain(SHORT_LEASE).collect::<Vec<_>>();
        Self::with(&flags, |arguments| case.start(binary, arguments, kubeconfig))
    }

    fn with(flags: &[&str], start: impl FnOnce(&[&str]) -> Result<Operator>) -> Result<Self> {
        let [metrics] = free_ports()?;
        let address = format!("--metrics-bind-address=127.0.0.1:{metrics}");
        let mut arguments = vec!["--leader-elect", &address, "--metrics-secure=false"];
        arguments.extend(flags);
        let operator = start(&arguments)?;
        Ok(Self { operator, metrics })
    }

    /// The sum of a counter or gauge over its labels.
    pub async fn metric(&self, name: &str) -> Result<f64> {
        let page = get(self.metrics, "/metrics").await?;
        let lines = page
            .lines()
            .filter(|line| line.starts_with(name) && !line.starts_with('#'));
        Ok(lines
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum())
    }

    pub async fn leads(&self) -> Result<()> {
        eventually("the replica to lead", PATIENCE, async || {
            Ok((self.metric("leader_election_master_status").await? == 1.0).then_some(()))
        })
        .await
    }
}

/// The holder of the only lease in the operator's namespace; empty if it is released.
async fn holder(case: &Case<'_>) -> Result<String> {
    let leases: Api<Lease> = Api::namespaced(case.client.clone(), &case.stage.project.namespace());
    let found = leases.list(&ListParams::default()).await?.items;
    ensure!(found.len() == 1, "{} leases", found.len());
    let spec = found[0].spec.clone().context("no spec")?;
    Ok(spec.holder_identity.unwrap_or_default())
}

#[test]
fn one_of_two_replicas_is_active_and_the_other_takes_over() -> Result<()> {
    case(async |case| {
        let first = Replica::start(case)?;
        first.leads().await?;
        create(&case.foobars, &names("first", 20)).await?;
        all_ready(&case.foobars, 20, PATIENCE).await?;

        let mut second = Replica::start(case)?;
        second.operator.ready(PATIENCE).await?;
        create(&case.foobars, &names("still", 20)).await?;
        all_ready(&case.foobars, 40, PATIENCE).await?;
        let idle = second.metric("controller_runtime_reconcile_total").await?;
        ensure!(
            idle == 0.0 && second.metric("leader_election_master_status").await? == 0.0,
            "both work"
        );

        // Killed, it cannot release the lease: 15 s have to pass.
        let killed = Instant::now();
        first.operator.kill()?;
        create(&case.foobars, &names("after", 20)).await?;
        all_ready(&case.foobars, 60, PATIENCE).await?;
        say(&format!(
            "the second replica took over after {:.1} s",
            killed.elapsed().as_secs_f64()
        ));
        ensure!(second.metric("leader_election_master_status").await? == 1.0);

        // Terminated, it releases the lease, and the next one need not wait.
        let third = Replica::start(case)?;
        let holds = holder(case).await?;
        let status = second.operator.terminate(Duration::from_secs(30)).await?;
        ensure!(status.success(), "{status}");
        let released = Instant::now();
        third.leads().await?;
        let waited = released.elapsed();
        ensure!(
            waited < Duration::from_secs(8),
            "the lease was not released: {waited:?}"
        );
        ensure!(holder(case).await? != holds);
        let status = third.operator.terminate(Duration::from_secs(30)).await?;
        ensure!(
            status.success() && holder(case).await?.is_empty(),
            "the lease is still held"
        );
        Ok(())
    })
}

#[test]
fn a_leader_that_cannot_renew_stops_writing_and_ends() -> Result<()> {
    case(async |case| {
        let mut replica = Replica::start(case)?;
        replica.leads().await?;
        case.stage.plane.pause_etcd()?;
        // The renew deadline is 10 s; no write is possible meanwhile anyway.
        let ended = replica.operator.wait(Duration::from_secs(40)).await;
        case.stage.plane.resume_etcd()?;
        ensure!(!ended?.success(), "it ended with 0 although it had lost its lease");
        // The API server takes a moment to connect to etcd again.
        eventually("FooBars to be served again", PATIENCE, async || {
            Ok(Some(case.foobars.list(&ListParams::default()).await?))
        })
        .await?;
        Ok(())
    })
}
