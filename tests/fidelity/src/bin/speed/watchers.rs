//! One write with growing numbers of idle watchers of its resource.

use anyhow::{Context, Result};
use kube::Config;
use serde_json::{Value, json};

use crate::{
    meter::Meter,
    report,
    wire::{Sent, Wire},
};

const PODS: &str = "/api/v1/namespaces/default/pods";
/// The name and the query parameters of each type of watcher.
const SELECTORS: [(&str, &str); 3] = [
    ("labels do not match", "&labelSelector=watched%3Dnever"),
    ("a field does not match", "&fieldSelector=spec.nodeName%3Dnowhere"),
    ("everything matches", ""),
];
/// The number of writes in a round, and of rounds.
const WRITES: usize = 40;
const ROUNDS: usize = 5;

/// Measures a write with these numbers of watchers, of each type.
pub async fn measure(config: &Config, name: &str, counts: &[usize], pids: &[u32]) -> Result<()> {
    let mut meter = Meter::on(config, pids).await?;
    let container = json!({"name": "pause", "image": "registry.k8s.io/pause:3.10"});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "watched", "labels": {"watched": "yes"}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}});
    meter.one(Sent::post(PODS, &pod)).await?;
    for count in counts {
        for (sort, selector) in SELECTORS {
            let list: Value = serde_json::from_slice(&meter.one(Sent::new("GET", PODS)).await?)?;
            let version = list["metadata"]["resourceVersion"].as_str();
            let version = version.context("a list has a version")?;
            let path = format!("{PODS}?watch=1&timeoutSeconds=600&resourceVersion={version}{selector}");
            let watching = Wire::open(config, *count).await?.watch(&path).await?;
            meter.settle().await;
            meter.look_idle().await?;
            let mut rounds = Vec::new();
            for round in 0..ROUNDS {
                let body =
                    |write: usize| json!({"metadata": {"annotations": {"write": format!("{count} {round} {write}")}}});
                let writes = (0..WRITES).map(|write| Sent::merge(format!("{PODS}/watched"), &body(write)));
                rounds.push(meter.each(writes.collect()).await?.cpu);
            }
            drop(watching);
            meter.settle().await;
            let name = format!("{name} beside {count} watchers");
            report(&name, &format!("a write, {sort}, CPU of the server, µs"), rounds);
        }
    }
    meter.one(Sent::new("DELETE", format!("{PODS}/watched"))).await?;
    Ok(())
}
