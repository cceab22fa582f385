//! One operator under load: how long it takes until FooBars are Ready, and at which cost.

use std::{
    collections::HashMap,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use control_plane::{
    ControlPlane, Operator,
    foobar::{self, FooBar, names},
    make_namespace,
};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::{core::v1::ConfigMap, events::v1::Event};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, PostParams, WatchEvent, WatchParams},
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::{sleep, timeout},
};

use crate::stats::{quantile, summary};

/// Longer than the slowest run has ever taken on two busy cores.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Concurrent creations: more than any operator can process.
const CREATORS: usize = 32;

/// The amount of work.
#[derive(Clone, Copy)]
pub struct Amount {
    pub objects: usize,
    pub single: usize,
    pub workers: usize,
}

/// The result of one round of one operator; times in seconds except for `single`, memory in MiB.
pub struct Sample {
    pub wall: f64,
    /// Until the last event is written, which may be later.
    pub events_written: f64,
    pub p50: f64,
    pub p99: f64,
    /// Milliseconds: min, median, max.
    pub single: [f64; 3],
    pub cpu: f64,
    pub idle: f64,
    pub peak: f64,
    pub requests: f64,
}

/// Runs one operator through one round, in a namespace of its own, and cleans up.
pub async fn measure(plane: &ControlPlane, binary: &Path, namespace: &str, amount: Amount) -> Result<Sample> {
    let client = plane.client().await?;
    make_namespace(&client, namespace).await?;
    let foobars: Api<FooBar> = Api::namespaced(client.clone(), namespace);
    let workers = amount.workers.to_string();
    let arguments = ["--max-concurrent-reconciles", workers.as_str()];
    let mut operator = Operator::start(binary, &arguments, &plane.kubeconfig(), plane.folder())?;
    operator.ready(PATIENCE).await?;
    // By then the memory for the start is released.
    sleep(Duration::from_secs(3)).await;
    let before = operator.usage()?;

    let mut ready = watch(foobars.clone()).await?;
    let single = one_at_a_time(&foobars, amount.single, &mut ready).await?;
    // After a warm-up, as for an operator in service.
    let (cpu, requests) = (operator.usage()?.cpu, requests(&client).await?);
    let began = Instant::now();
    let (wall, latencies) = all_at_once(&foobars, &names("load", amount.objects), &mut ready).await?;
    // Operators may write events later: events are part of the work.
    let written = all_events_written(&client, namespace, amount.single + amount.objects).await? - began;
    // The last metrics.
    sleep(Duration::from_secs(2)).await;
    let after = operator.usage()?;
    let asked = self::requests(&client).await? - requests;
    operator.kill()?;
    clear(&client, namespace).await?;
    let objects = amount.objects.max(1) as f64;
    Ok(Sample {
        wall,
        events_written: written.as_secs_f64(),
        p50: quantile(&latencies, 0.5),
        p99: quantile(&latencies, 0.99),
        single: summary(&single),
        cpu: after.cpu - cpu,
        idle: before.resident,
        peak: after.peak,
        // One of the requests is the creation, which the benchmark sends.
        requests: asked / objects - 1.0,
    })
}

/// Creates one FooBar after the other, each when the previous one is Ready; milliseconds from before its creation.
async fn one_at_a_time(foobars: &Api<FooBar>, count: usize, ready: &mut Ready) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for name in names("single", count) {
        let began = Instant::now();
        foobars.create(&PostParams::default(), &FooBar::named(&name)).await?;
        loop {
            let (which, when) = next(ready).await?;
            if which == name {
                times.push((when - began).as_secs_f64() * 1e3);
                break;
            }
        }
    }
    Ok(times)
}

/// Creates all FooBars as fast as possible; seconds from the first creation to the last Ready, and from each creation to its
/// own Ready.
pub async fn all_at_once(foobars: &Api<FooBar>, wanted: &[String], ready: &mut Ready) -> Result<(f64, Vec<f64>)> {
    let (began, count) = (Instant::now(), wanted.len());
    let creations: Vec<_> = wanted
        .iter()
        .map(|name| async move {
            let at = Instant::now();
            foobars.create(&PostParams::default(), &FooBar::named(name)).await?;
            Ok::<_, anyhow::Error>((name.clone(), at))
        })
        .collect();
    let creations = stream::iter(creations)
        .buffer_unordered(CREATORS)
        .try_collect::<HashMap<_, _>>();
    let arrivals = async {
        let mut arrivals = HashMap::new();
        while arrivals.len() < count {
            let (name, when) = next(ready).await?;
            arrivals.insert(name, when);
        }
        Ok::<_, anyhow::Error>(arrivals)
    };
    let (created, arrived) = tokio::try_join!(creations, arrivals)?;
    let latencies = wanted
        .iter()
        .map(|name| (arrived[name] - created[name]).as_secs_f64())
        .collect();
    let last = arrived.values().max().context("nothing was created")?;
    Ok(((*last - began).as_secs_f64(), latencies))
}

pub type Ready = UnboundedReceiver<(String, Instant)>;

async fn next(ready: &mut Ready) -> Result<(String, Instant)> {
    timeout(PATIENCE, ready.recv())
        .await
        .context("no FooBar has become Ready for minutes")?
        .context("the watch has ended")
}

/// Sends each FooBar's name once, when it is first seen Ready.
pub async fn watch(foobars: Api<FooBar>) -> Result<Ready> {
    let version = foobars
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version
        .unwrap_or_default();
    let (sender, receiver) = unbounded_channel();
    tokio::spawn(async move {
        if let Err(error) = send_ready(foobars, version, sender).await {
            eprintln!("the watch: {error:#}");
        }
    });
    Ok(receiver)
}

async fn send_ready(foobars: Api<FooBar>, version: String, ready: UnboundedSender<(String, Instant)>) -> Result<()> {
    let mut sent = std::collections::HashSet::new();
    let mut version = version;
    while !ready.is_closed() {
        let mut events = foobars.watch(&WatchParams::default(), &version).await?.boxed();
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(foobar) | WatchEvent::Modified(foobar) => {
                    version = foobar.resource_version().unwrap_or_default();
                    if foobar.is_ready() && sent.insert(foobar.name_any()) {
                        // The receiver is dropped: the round is over.
                        let Ok(()) = ready.send((foobar.name_any(), Instant::now())) else {
                            return Ok(());
                        };
                    }
                }
                WatchEvent::Bookmark(bookmark) => version = bookmark.metadata.resource_version,
                WatchEvent::Error(status) => anyhow::bail!("{}", status.message),
                WatchEvent::Deleted(_) => return Ok(()),
            }
        }
    }
    Ok(())
}

/// Returns when there are this many events, or when there were no new ones for a minute.
async fn all_events_written(client: &Client, namespace: &str, wanted: usize) -> Result<Instant> {
    let events: Api<Event> = Api::namespaced(client.clone(), namespace);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let page = events.list_metadata(&ListParams::default().limit(1)).await?;
        let beyond = page.metadata.remaining_item_count.unwrap_or_default();
        let now = Instant::now();
        if page.items.len() + usize::try_from(beyond)? >= wanted || now >= deadline {
            return Ok(now);
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// How many requests for FooBars, ConfigMaps and Events the API server has answered, without watches, and without
/// lists, which the benchmark sends.
async fn requests(client: &Client) -> Result<f64> {
    let page = client
        .request_text(http::Request::get("/metrics").body(Vec::new())?)
        .await?;
    let ours = |line: &&str| {
        let about = ["\"foobars\"", "\"configmaps\"", "\"events\""]
            .iter()
            .any(|resource| line.contains(&format!("resource={resource}")));
        line.starts_with("apiserver_request_total{")
            && about
            && !["WATCH", "LIST"]
                .iter()
                .any(|verb| line.contains(&format!("verb=\"{verb}\"")))
    };
    Ok(page
        .lines()
        .filter(ours)
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum())
}

/// Deletes everything, so that the next operator starts with an empty cluster.
async fn clear(client: &Client, namespace: &str) -> Result<()> {
    foobar::remove_by_force(client, Some(namespace)).await?;
    let (all, now) = (ListParams::default(), DeleteParams::default());
    Api::<ConfigMap>::namespaced(client.clone(), namespace)
        .delete_collection(&now, &all)
        .await?;
    Api::<Event>::namespaced(client.clone(), namespace)
        .delete_collection(&now, &all)
        .await?;
    Ok(())
}
