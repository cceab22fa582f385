//! One operator through one round: FooBars created, updated, repaired and deleted, one at a time and all at once, and
//! what it costs.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use control_plane::{
    ControlPlane, Operator, Usage,
    foobar::{self, FooBar, child_of, names},
    make_namespace,
};
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::{core::v1::ConfigMap, events::v1::Event};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use tokio::time::sleep;

use crate::{
    stats::{quantile, summary},
    watching::{Watched, watch_children, watch_foobars},
};

/// Longer than the slowest run has ever taken on two busy cores.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Concurrent requests: more than any operator can process.
pub const CLIENTS: usize = 32;

/// The steps of FooBars, one after the other, with the generation that they reach.
pub const STEPS: [(i64, &str); 3] = [(1, "created"), (2, "updated for the first time"), (3, "updated again")];

/// The step of FooBars one after the other, right after many at once: an operator may still write the events of those.
pub const AFTER: (i64, &str) = (4, "updated right after the burst");

/// The generation that a deleted object has reached.
pub const GONE: i64 = i64::MAX;

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub objects: usize,
    pub single: usize,
    pub repaired: usize,
    pub workers: usize,
}

/// An API server, as an operator and its users see it.
pub struct Place {
    pub client: Client,
    pub kubeconfig: PathBuf,
    pub folder: PathBuf,
}

impl Place {
    /// That of its administrator.
    pub async fn of(plane: &ControlPlane) -> Result<Self> {
        Ok(Self {
            client: plane.client().await?,
            kubeconfig: plane.kubeconfig(),
            folder: plane.folder().to_owned(),
        })
    }
}

/// Figures by name and unit; the same for each operator.
pub type Figures = Vec<(String, f64)>;

/// The names of figures that do not depend on the operator alone.
pub fn alone(what: &str) -> String {
    format!("one {what} alone, ms")
}

/// See [`alone`].
pub fn ready(count: usize, what: &str) -> String {
    let what = what.split(' ').next().unwrap_or(what);
    format!("{count} {what}, all Ready, s")
}

/// See [`alone`].
pub fn repaired(count: usize) -> String {
    format!("{count} children deleted and repaired, s")
}

/// See [`alone`].
pub fn removed(count: usize) -> String {
    format!("{count} deleted, s")
}

/// A round under way.
struct Round {
    operator: Operator,
    client: Client,
    foobars: Api<FooBar>,
    children: Api<ConfigMap>,
    watched: Watched,
    figures: Figures,
    /// The most anonymous memory so far.
    anonymous: f64,
}

/// Runs one operator through one round, in a namespace of its own, and cleans up.
pub async fn measure(place: &Place, binary: &Path, namespace: &str, amount: Amount) -> Result<Figures> {
    let client = place.client.clone();
    make_namespace(&client, namespace).await?;
    let workers = format!("--max-concurrent-reconciles={}", amount.workers);
    let mut operator = Operator::start(binary, &[&workers], &place.kubeconfig, &place.folder)?;
    operator.ready(PATIENCE).await?;
    // By then the memory for the start is released.
    sleep(Duration::from_secs(3)).await;
    let idle = operator.usage()?;
    let foobars: Api<FooBar> = Api::namespaced(client.clone(), namespace);
    let mut round = Round {
        watched: watch_foobars(foobars.clone()).await?,
        children: Api::namespaced(client.clone(), namespace),
        operator,
        client,
        foobars,
        figures: Vec::new(),
        anonymous: 0.0,
    };
    round.one_at_a_time(&STEPS, amount.single).await?;
    round.all_at_once(amount.objects).await?;
    round.one_at_a_time(&[AFTER], amount.single).await?;
    round.repaired(amount.repaired.min(amount.objects)).await?;
    round.deleted(amount.objects).await?;
    round.settled(namespace).await?;
    let end = round.operator.usage()?;
    let work = [
        ("CPU over the whole, s", end.cpu - idle.cpu),
        ("anonymous memory, idle, MiB", idle.anonymous),
        ("anonymous memory, loaded, MiB", round.anonymous),
        ("all resident memory, idle, MiB", idle.resident),
        ("all resident memory, loaded (peak), MiB", end.peak),
    ];
    let mut figures = round.figures;
    figures.extend(work.map(|(what, value)| (what.to_owned(), value)));
    round.operator.kill()?;
    clear(&place.client, namespace).await?;
    Ok(figures)
}

impl Round {
    fn figure(&mut self, what: String, value: f64) {
        self.figures.push((what, value));
    }

    fn usage(&mut self) -> Result<Usage> {
        let usage = self.operator.usage()?;
        self.anonymous = self.anonymous.max(usage.anonymous);
        Ok(usage)
    }

    /// Each FooBar is created, or updated, when the one before is Ready; the medians of the times in milliseconds.
    async fn one_at_a_time(&mut self, steps: &[(i64, &str)], count: usize) -> Result<()> {
        let names = names("single", count);
        for &(generation, what) in steps {
            let mut times = Vec::new();
            for name in &names {
                let began = Instant::now();
                write(&self.foobars, name, generation).await?;
                let ended = self.watched.reached(name, generation).await?;
                times.push((ended - began).as_secs_f64() * 1e3);
            }
            let [_, median, _] = summary(&times);
            self.figure(alone(what), median);
        }
        Ok(())
    }

    /// All FooBars are created, and then updated, as fast as possible; seconds from the first request to the last Ready.
    async fn all_at_once(&mut self, count: usize) -> Result<()> {
        let names = names("load", count);
        for (generation, what) in [(1, "created"), (2, "updated")] {
            let cpu = self.usage()?.cpu;
            let foobars = self.foobars.clone();
            let write = async |name: &str| write(&foobars, name, generation).await;
            let (wall, times) = at_once(&mut self.watched, &names, generation, write).await?;
            let used = self.usage()?.cpu - cpu;
            self.figure(ready(count, what), wall);
            self.figure(
                format!("{count} {what}, p99 of request → Ready, s"),
                quantile(&times, 0.99),
            );
            self.figure(
                format!("{count} {what}, objects for each second and core"),
                count as f64 / used.max(0.01),
            );
        }
        Ok(())
    }

    /// Children are deleted; seconds until all are there again.
    async fn repaired(&mut self, count: usize) -> Result<()> {
        let children: Vec<_> = names("load", count).iter().map(|name| child_of(name)).collect();
        let mut watched = watch_children(self.children.clone()).await?;
        let api = self.children.clone();
        let delete = async |name: &str| Ok(api.delete(name, &DeleteParams::default()).await.map(drop)?);
        let (wall, _) = at_once(&mut watched, &children, 1, delete).await?;
        self.figure(repaired(count), wall);
        self.usage().map(drop)
    }

    /// All FooBars are deleted; seconds until the last one, whose finalizer the operator removes, is gone.
    async fn deleted(&mut self, count: usize) -> Result<()> {
        let cpu = self.usage()?.cpu;
        let api = self.foobars.clone();
        let delete = async |name: &str| Ok(api.delete(name, &DeleteParams::background()).await.map(drop)?);
        let (wall, _) = at_once(&mut self.watched, &names("load", count), GONE, delete).await?;
        let used = self.usage()?.cpu - cpu;
        self.figure(removed(count), wall);
        self.figure(
            format!("{count} deleted, objects for each second and core"),
            count as f64 / used.max(0.01),
        );
        Ok(())
    }

    /// Operators may write events later: events are part of the work. Waits until there are no new ones for three
    /// seconds, and the operator is idle.
    async fn settled(&mut self, namespace: &str) -> Result<()> {
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let (mut before, mut calm) = ((None, 0.0), 0);
        for _ in 0..120 {
            sleep(Duration::from_secs(1)).await;
            let page = events.list_metadata(&ListParams::default().limit(1)).await?;
            let now = (page.metadata.remaining_item_count, self.usage()?.cpu);
            calm = if now.0 == before.0 && now.1 - before.1 < 0.05 {
                calm + 1
            } else {
                0
            };
            if calm == 3 {
                break;
            }
            before = now;
        }
        Ok(())
    }
}

/// Creates a FooBar, or gives it another spec.
pub async fn write(foobars: &Api<FooBar>, name: &str, generation: i64) -> Result<()> {
    if generation == 1 {
        foobars.create(&PostParams::default(), &FooBar::named(name)).await?;
    } else {
        let patch = Patch::Merge(json!({"spec": {"target": format!("{name}-{generation}")}}));
        foobars.patch(name, &PatchParams::default(), &patch).await?;
    }
    Ok(())
}

/// Sends a request for each name, many at a time, and waits until each object has reached this generation. Seconds from
/// the first request to the last arrival, and from each request to its own.
async fn at_once(
    watched: &mut Watched,
    names: &[String],
    generation: i64,
    send: impl AsyncFn(&str) -> Result<()>,
) -> Result<(f64, Vec<f64>)> {
    let began = Instant::now();
    let send = &send;
    let requests: Vec<_> = names
        .iter()
        .map(|name| async move {
            let at = Instant::now();
            send(name).await?;
            Ok::<_, anyhow::Error>((name.as_str(), at))
        })
        .collect();
    let requests = stream::iter(requests)
        .buffer_unordered(CLIENTS)
        .try_collect::<HashMap<_, _>>();
    let arrivals = async {
        let mut arrivals = HashMap::new();
        for name in names {
            arrivals.insert(name.as_str(), watched.reached(name, generation).await?);
        }
        Ok(arrivals)
    };
    let (sent, arrived) = tokio::try_join!(requests, arrivals)?;
    let last = arrived.values().max().context("nothing was requested")?;
    let times = names
        .iter()
        .map(|name| (arrived[name.as_str()] - sent[name.as_str()]).as_secs_f64());
    Ok(((*last - began).as_secs_f64(), times.collect()))
}

/// Deletes everything, so that the next operator starts with an empty cluster.
pub async fn clear(client: &Client, namespace: &str) -> Result<()> {
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
