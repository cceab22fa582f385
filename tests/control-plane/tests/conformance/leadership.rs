//! The process that leads when a leader is killed, stopped or disconnected, has a wrong clock or no CPU time; checked by
//! the requests in the audit log.

use std::{path::PathBuf, thread::available_parallelism, time::Duration};

use anyhow::{Context, Result, ensure};
use control_plane::{
    Fault, Mark, Proxy, Request, eventually,
    foobar::{FooBar, FooBarSpec, all_ready, create, names},
};
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};
use kube::{
    Api,
    api::{ListParams, ObjectMeta, PostParams},
};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    replicas::{LEASE, Replica},
    stage::{CANDIDATES, Case, PATIENCE, case},
};

/// The requests of one process since a mark.
struct Trail(Vec<Request>);

impl Trail {
    /// Of one of the [`CANDIDATES`].
    fn of(case: &Case<'_>, who: usize, since: Mark) -> Result<Self> {
        let mut requests = case.stage.plane.audit().since(since)?;
        requests.retain(|request| request.user == CANDIDATES[who]);
        Ok(Self(requests))
    }

    /// The writes that were carried out.
    fn written(&self) -> impl Iterator<Item = &Request> {
        self.0.iter().filter(|request| request.is_write() && request.code < 300)
    }

    fn renewals(&self) -> impl Iterator<Item = &Request> {
        self.written().filter(|request| request.resource == "leases")
    }

    /// When it acquired the lease: a standby only reads it.
    fn took(&self) -> Result<f64> {
        let first = self.renewals().next().context("it has never led")?;
        Ok(first.received)
    }
}

impl Case<'_> {
    fn candidate(&self, who: usize) -> Result<Replica> {
        let kubeconfig = self.stage.plane.kubeconfig_of(CANDIDATES[who])?;
        Replica::candidate(self, &self.stage.project.operator(), &kubeconfig)
    }

    /// The lease is the only one in the case's namespace.
    async fn lease(&self) -> Result<LeaseSpec> {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.namespace);
        let found = leases.list(&ListParams::default()).await?.items;
        ensure!(found.len() == 1, "{} leases", found.len());
        found[0].spec.clone().context("no spec")
    }

    /// The second one led only after the first one was silent for the lease's duration; since then the first one has
    /// written nothing, and the second one wrote nothing before.
    fn check_handover(&self, since: Mark) -> Result<()> {
        let (first, second) = (Trail::of(self, 0, since)?, Trail::of(self, 1, since)?);
        let took = second.took()?;
        let late: Vec<_> = first.written().filter(|write| write.received >= took).collect();
        ensure!(late.is_empty(), "written by a former leader: {late:#?}");
        let early: Vec<_> = second.written().filter(|write| write.received < took).collect();
        ensure!(early.is_empty(), "written before it led: {early:#?}");
        let last = first.renewals().last().context("the first has never led")?.received;
        // The log's clock differs from the one that decides about the lease.
        let silent = took - last;
        ensure!(silent > LEASE.as_secs_f64() - 0.1, "taken over after {silent} s");
        Ok(())
    }

    /// No child was created twice, by any process.
    fn check_nothing_doubled(&self, since: Mark) -> Result<()> {
        let mut made = Vec::new();
        for who in 0..CANDIDATES.len() {
            let trail = Trail::of(self, who, since)?;
            made.extend(
                trail
                    .written()
                    .filter(|write| write.resource == "configmaps" && write.code == 201)
                    .cloned(),
            );
        }
        made.sort_by(|a, b| a.name.cmp(&b.name));
        let twice = made.windows(2).find(|pair| pair[0].name == pair[1].name);
        ensure!(twice.is_none(), "made twice: {twice:#?}");
        Ok(())
    }
}

#[test]
fn a_killed_leader_is_replaced_once_its_lease_expires() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let first = case.candidate(0)?;
        first.leads().await?;
        let mut second = case.candidate(1)?;
        second.operator.ready(PATIENCE).await?;
        let killed = async {
            eventually("some to be Ready", PATIENCE, async || {
                let found = case.foobars.list(&ListParams::default()).await?.items;
                Ok((found.iter().filter(|foobar| foobar.is_ready()).count() > 10).then_some(()))
            })
            .await?;
            first.operator.kill()
        };
        let names = names("killed", 200);
        let (created, killed) = tokio::join!(create(&case.foobars, &names), killed);
        created.and(killed)?;
        let foobars = all_ready(&case.foobars, 200, PATIENCE).await?;
        case.check_children(&foobars).await?;
        case.check_nothing_doubled(mark)?;
        case.check_handover(mark)
    })
}

#[test]
fn a_leader_that_was_stopped_for_longer_than_its_lease_writes_nothing_afterwards() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let mut first = case.candidate(0)?;
        first.leads().await?;
        create(&case.foobars, &names("before", 10)).await?;
        all_ready(&case.foobars, 10, PATIENCE).await?;
        let mut second = case.candidate(1)?;
        second.operator.ready(PATIENCE).await?;

        first.operator.pause()?;
        // This is in its buffers when it continues, so it has reasons to write.
        create(&case.foobars, &names("meanwhile", 50)).await?;
        second.leads().await?;
        all_ready(&case.foobars, 60, PATIENCE).await?;
        first.operator.resume()?;
        create(&case.foobars, &names("after", 10)).await?;
        let ended = first.operator.wait(PATIENCE).await?;
        ensure!(ended.code() == Some(1), "it ended with {ended}");
        let log = first.operator.log_end();
        ensure!(log.contains("the leader lease is lost"), "not in its log:\n{log}");
        let foobars = all_ready(&case.foobars, 70, PATIENCE).await?;
        case.check_children(&foobars).await?;
        case.check_nothing_doubled(mark)?;
        case.check_handover(mark)
    })
}

#[test]
fn a_disconnected_leader_ends_before_another_one_leads() -> Result<()> {
    case(async |case| {
        let kubeconfig = case.stage.plane.kubeconfig_of(CANDIDATES[0])?;
        for fault in [Fault::Silent, Fault::Refused] {
            let mark = case.mark()?;
            let proxy = Proxy::start(&kubeconfig).await?;
            let by_proxy = proxy.kubeconfig(&kubeconfig)?;
            let mut first = Replica::candidate(case, &case.stage.project.operator(), &by_proxy)?;
            first.leads().await?;
            let mut second = case.candidate(1)?;
            second.operator.ready(PATIENCE).await?;
            let names = names(&format!("{fault:?}").to_lowercase(), 30);
            create(&case.foobars, &names).await?;
            proxy.set(fault);
            let ended = first.operator.wait(PATIENCE).await?;
            ensure!(ended.code() == Some(1), "{fault:?}: it ended with {ended}");
            // Nothing that was held back must arrive now.
            proxy.set(Fault::None);
            second.leads().await?;
            let foobars = all_ready(
                &case.foobars,
                case.foobars.list(&ListParams::default()).await?.items.len(),
                PATIENCE,
            );
            case.check_children(&foobars.await?).await?;
            case.check_nothing_doubled(mark)?;
            case.check_handover(mark)?;
            let status = second.operator.terminate(Duration::from_secs(30)).await?;
            ensure!(status.success(), "{status}");
        }
        Ok(())
    })
}

#[test]
fn a_holder_with_a_wrong_clock_is_replaced_only_after_it_is_silent() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let leases: Api<Lease> = Api::namespaced(case.client.clone(), &case.namespace);
        // Years behind, then years ahead, and never the same value twice.
        let clock = |n: usize| {
            let year = if n.is_multiple_of(2) { 2001 } else { 2101 };
            format!("{year}-01-01T00:00:{n:02}Z").parse().map(MicroTime)
        };
        let mut lease = Lease {
            metadata: ObjectMeta {
                name: Some(case.stage.project.name().to_owned()),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some("somebody else".to_owned()),
                lease_duration_seconds: Some(LEASE.as_secs() as i32),
                ..LeaseSpec::default()
            }),
        };
        lease = leases.create(&PostParams::default(), &lease).await?;
        let replica = case.candidate(1)?;
        // Longer than the lease, with renewals whose only change is the time.
        for n in 0..18 {
            sleep(LEASE / 12).await;
            lease.spec.get_or_insert_default().renew_time = Some(clock(n)?);
            let name = case.stage.project.name();
            lease = leases
                .replace(name, &PostParams::default(), &lease)
                .await
                .context("the lease was taken although it was renewed")?;
        }
        replica.leads().await?;
        let mut others = case.stage.plane.audit().since(mark)?;
        others.retain(|request| request.user == "admin" && request.resource == "leases" && request.is_write());
        let last = others.last().context("never renewed")?.received;
        let silent = Trail::of(case, 1, mark)?.took()? - last;
        ensure!(silent > LEASE.as_secs_f64() - 0.1, "taken over after {silent} s");
        ensure!(case.lease().await?.lease_transitions == Some(1));
        Ok(())
    })
}

#[test]
fn reconcilers_that_use_all_threads_do_not_affect_lease_and_probes() -> Result<()> {
    case(async |case| {
        let mark = case.mark()?;
        let kubeconfig = case.stage.plane.kubeconfig_of(CANDIDATES[0])?;
        let burner = PathBuf::from(env!("CARGO_BIN_EXE_burner"));
        let mut replica = Replica::candidate(case, &burner, &kubeconfig)?;
        replica.leads().await?;
        let holder = case.lease().await?.holder_identity;
        let began = Instant::now();
        // Each of the runtime's threads is busy three times for four seconds, twice the lease.
        let count = 3 * available_parallelism()?.get();
        for name in names("burns", count) {
            let spec = FooBarSpec {
                target: "4000".to_owned(),
                r#type: None,
            };
            case.foobars
                .create(&PostParams::default(), &FooBar::new(&name, spec))
                .await?;
        }
        let mut unanswered = 0;
        eventually("all to be burnt", 2 * PATIENCE, async || {
            for probe in ["/healthz", "/readyz"] {
                let answered = timeout(PATIENCE, replica.operator.probe(probe)).await;
                unanswered += usize::from(answered != Ok(true));
            }
            let found = case.foobars.list(&ListParams::default()).await?.items;
            Ok(found.iter().all(FooBar::is_ready).then_some(()))
        })
        .await?;
        replica.operator.check()?;
        ensure!(unanswered == 0, "{unanswered} times no answer from a probe");
        ensure!(began.elapsed() > 2 * LEASE - LEASE / 10, "it has not burnt for long");
        let lease = case.lease().await?;
        ensure!(
            lease.holder_identity == holder && lease.lease_transitions == Some(0),
            "the lease was lost: {lease:?}"
        );
        let renewals = Trail::of(case, 0, mark)?
            .renewals()
            .map(|request| request.received)
            .collect::<Vec<_>>();
        let longest = renewals.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        ensure!(longest < LEASE.as_secs_f64(), "{longest} s between two renewals");
        Ok(())
    })
}
