//! The speed at which an operator reads very many objects into its caches, and their memory there. The operator is a
//! standby, so that it does nothing else.

use std::time::{Duration, Instant};

use anyhow::Result;
use control_plane::{
    Operator, Usage,
    foobar::{FooBar, child_of},
};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::{
    api::{
        coordination::v1::{Lease, LeaseSpec},
        core::v1::ConfigMap,
    },
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Resource, ResourceExt,
    api::{ObjectMeta, PostParams},
};

use crate::{
    Contender, install,
    load::{Figures, Place},
    server::Server,
};

const NAMESPACE: &str = "default";

/// Longer than it has ever taken to read a million objects on two busy cores.
const PATIENCE: Duration = Duration::from_secs(600);

/// Concurrent creations.
const CREATORS: usize = 64;

/// The names of the leases of the operators.
const LEASES: [&str; 2] = ["bench-operator", "bench-controller-runtime"];

/// Reads this many objects, one half FooBars, the other half their ConfigMaps, into the caches of each contender in
/// turn; the figures of each contender in each round.
pub(super) async fn measure(contenders: &[Contender], objects: usize, rounds: usize) -> Result<Vec<Vec<Figures>>> {
    let server = Server::start().await?;
    let place = server.place().await?;
    install(&contenders[0].binary, &place).await?;
    for name in LEASES {
        occupy(&place, name).await?;
    }
    let mut idle = Vec::new();
    for contender in contenders {
        idle.push(start(contender, &place).await?.1);
    }
    eprintln!("creating {objects} objects");
    fill(&place, objects / 2).await?;
    let mut all: Vec<Vec<Figures>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let at = (round + turn) % contenders.len();
            eprintln!(
                "{objects} objects, round {} of {rounds}: {}",
                round + 1,
                contenders[at].name
            );
            let (seconds, used) = start(&contenders[at], &place).await?;
            let each = |now: f64, before: f64| (now - before) * 1024.0 / objects as f64;
            let figures = [
                ("start to filled caches, s", seconds),
                ("CPU, s", used.cpu),
                (
                    "anonymous memory for each object, KiB",
                    each(used.anonymous, idle[at].anonymous),
                ),
                ("anonymous memory, MiB", used.anonymous),
                ("all resident memory (peak), MiB", used.peak),
            ];
            all[at].push(
                figures
                    .map(|(what, value)| (format!("{objects} objects: {what}"), value))
                    .into(),
            );
        }
    }
    Ok(all)
}

/// Starts a standby; the seconds until its caches are filled, and what it uses once they are.
async fn start(contender: &Contender, place: &Place) -> Result<(f64, Usage)> {
    let namespace = format!("--leader-election-namespace={NAMESPACE}");
    let arguments = ["--leader-elect", namespace.as_str()];
    let began = Instant::now();
    let mut operator = Operator::start(&contender.binary, &arguments, &place.kubeconfig, &place.folder)?;
    operator.ready(PATIENCE).await?;
    let seconds = began.elapsed().as_secs_f64();
    // By then freed memory is returned to the system.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let used = operator.usage()?;
    operator.kill()?;
    Ok((seconds, used))
}

/// Creates a lease that somebody else holds for a day.
pub(super) async fn occupy(place: &Place, name: &str) -> Result<()> {
    let spec = LeaseSpec {
        holder_identity: Some("bench".to_owned()),
        lease_duration_seconds: Some(24 * 3600),
        renew_time: Some(MicroTime(Timestamp::now())),
        ..LeaseSpec::default()
    };
    let lease = Lease {
        metadata: named(name),
        spec: Some(spec),
    };
    let leases: Api<Lease> = Api::namespaced(place.client.clone(), NAMESPACE);
    leases.create(&PostParams::default(), &lease).await?;
    Ok(())
}

async fn fill(place: &Place, pairs: usize) -> Result<()> {
    let foobars: Api<FooBar> = Api::namespaced(place.client.clone(), NAMESPACE);
    let children: Api<ConfigMap> = Api::namespaced(place.client.clone(), NAMESPACE);
    let (foobars, children) = (&foobars, &children);
    let creations = (0..pairs).map(|n| async move {
        let foobar = foobars
            .create(&PostParams::default(), &FooBar::named(&format!("many-{n:06}")))
            .await?;
        // As the operator creates it.
        let params = PostParams {
            field_manager: Some("bench-operator/foobar@0123456789abcdef".to_owned()),
            ..PostParams::default()
        };
        children.create(&params, &child(&foobar)).await.map(drop)
    });
    stream::iter(creations)
        .buffer_unordered(CREATORS)
        .try_collect::<()>()
        .await?;
    Ok(())
}

fn child(foobar: &FooBar) -> ConfigMap {
    let mut metadata = named(&child_of(&foobar.name_any()));
    metadata.labels = Some([("kubewright.dev/operator".to_owned(), "bench-operator".to_owned())].into());
    metadata.owner_references = foobar.controller_owner_ref(&()).map(|owner| vec![owner]);
    ConfigMap {
        metadata,
        data: Some([("target".to_owned(), foobar.spec.target.clone())].into()),
        ..ConfigMap::default()
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    }
}
