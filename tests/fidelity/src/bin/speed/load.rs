//! Many concurrent writes, and one write with many watchers.

use anyhow::{Context, Result};
use futures::StreamExt;
use kube::{
    Api, Client, Config,
    api::{DynamicObject, WatchParams},
};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

use crate::{
    cpu, report, things,
    wire::{Sent, Wire},
};

/// Concurrent requests, as from an operator with many workers.
const AT_ONCE: usize = 16;
/// The number of objects in a round.
const OBJECTS: usize = 2000;
const ROUNDS: usize = 5;
/// The number of watchers while an object is created.
const WATCHERS: usize = 100;
const SEEN: usize = 20;

/// A server under load.
pub struct Load {
    wire: Wire,
    api: Api<DynamicObject>,
}

/// The measurements of one type of write.
#[derive(Default)]
struct Rounds {
    per_second: Vec<f64>,
    /// Microseconds of CPU time per request, of the server's processes and of this one.
    served: Vec<f64>,
    asked: Vec<f64>,
}

impl Load {
    pub async fn on(config: &Config) -> Result<Self> {
        let api = things::prepared(&Client::try_from(config.clone())?).await?;
        let wire = Wire::open(config, AT_ONCE).await?;
        Ok(Self { wire, api })
    }

    pub async fn fill(mut self, count: usize) -> Result<()> {
        let names = (0..count).map(|at| format!("fill-{at:06}"));
        self.wire.send(names.map(|name| creation(&name)).collect()).await
    }

    pub async fn measure(mut self, name: &str, pids: &[u32]) -> Result<()> {
        let (mut creates, mut patches) = (Rounds::default(), Rounds::default());
        for round in 0..ROUNDS {
            let names: Vec<String> = (0..OBJECTS).map(|at| format!("r{round}-{at}")).collect();
            let requests = names.iter().map(|name| creation(name)).collect();
            creates.add(&mut self.wire, requests, pids).await?;
            let requests = names.iter().map(|name| patch(name)).collect();
            patches.add(&mut self.wire, requests, pids).await?;
        }
        creates.report(name, "creates");
        patches.report(name, "status patches");
        let what = format!("an object until the last of {WATCHERS} watchers has it, ms");
        report(name, &what, self.fan_out().await?);
        Ok(())
    }

    async fn fan_out(&mut self) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        for round in 0..SEEN {
            let version = self.api.list(&Default::default()).await?.metadata.resource_version;
            let version = version.context("a list has a version")?;
            let params = WatchParams::default();
            let opened = (0..WATCHERS).map(|_| self.api.watch(&params, &version));
            let watches = futures::future::try_join_all(opened).await?;
            let waiting: Vec<_> = watches
                .into_iter()
                .map(|watch| tokio::spawn(async move { watch.boxed().next().await.is_some() }))
                .collect();
            sleep(Duration::from_millis(100)).await;
            let began = Instant::now();
            self.wire.send(vec![creation(&format!("watched-{round}"))]).await?;
            for task in waiting {
                timeout(Duration::from_secs(10), task)
                    .await
                    .context("a watcher saw nothing")??;
            }
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        Ok(times)
    }
}

impl Rounds {
    async fn add(&mut self, wire: &mut Wire, requests: Vec<Sent>, pids: &[u32]) -> Result<()> {
        let count = requests.len() as f64;
        let (served, asked, began) = (cpu::seconds(pids), cpu::own(), Instant::now());
        wire.send(requests).await?;
        self.per_second.push(count / began.elapsed().as_secs_f64());
        self.served.push((cpu::seconds(pids) - served) * 1e6 / count);
        self.asked.push((cpu::own() - asked) * 1e6 / count);
        Ok(())
    }

    fn report(self, name: &str, what: &str) {
        report(name, &format!("{what} a second"), self.per_second);
        report(name, &format!("{what}, CPU of the server each, µs"), self.served);
        report(name, &format!("{what}, CPU of the client each, µs"), self.asked);
    }
}

fn creation(name: &str) -> Sent {
    Sent::post(things::PATH, &things::body(name))
}

fn patch(name: &str) -> Sent {
    let status = json!({"status": {"observedGeneration": 1, "phase": "Ready"}});
    Sent::merge(format!("{}/{name}/status", things::PATH), &status)
}
