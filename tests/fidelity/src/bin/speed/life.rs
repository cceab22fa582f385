//! Each request in an object's life, one at a time, with given numbers of other objects: the CPU time of the server's
//! processes, including their controllers, and the client's waiting time.

use anyhow::{Context, Result};
use bytes::Bytes;
use kube::{Client, Config};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::{meter::Meter, report, things, wire::Sent};

/// The path of the owned objects.
const CHILDREN: &str = "/api/v1/namespaces/default/configmaps";
/// The number of lives in a round, and of rounds for each size.
const LIVES: usize = 40;
const ROUNDS: usize = 5;

/// The steps, in order. The garbage collector deletes the child that was created again, with its owner.
const STEPS: [&str; 10] = [
    "create",
    "finalizer",
    "owned child",
    "status",
    "spec",
    "apply",
    "child's deletion",
    "child again",
    "deletion",
    "finalizer off",
];

/// A server, and its measurements.
pub struct Life {
    meter: Meter,
    /// For each step of the last size: microseconds of CPU time, milliseconds of waiting.
    cpu: BTreeMap<&'static str, Vec<f64>>,
    wall: BTreeMap<&'static str, Vec<f64>>,
    others: usize,
}

impl Life {
    pub async fn on(config: &Config, pids: &[u32]) -> Result<Self> {
        things::prepared(&Client::try_from(config.clone())?).await?;
        Ok(Self {
            meter: Meter::on(config, pids).await?,
            cpu: BTreeMap::new(),
            wall: BTreeMap::new(),
            others: 0,
        })
    }

    /// Measures with these numbers of objects, of which one half owns the other, in ascending order.
    pub async fn measure(mut self, name: &str, sizes: &[usize]) -> Result<()> {
        let mut first: Option<BTreeMap<&str, f64>> = None;
        for size in sizes {
            self.fill(*size).await?;
            for round in 0..ROUNDS {
                self.round(&format!("life-{size}-{round}")).await?;
            }
            let name = format!("{name} among {size}");
            let medians: BTreeMap<&str, f64> = self.cpu.iter().map(|(step, times)| (*step, median(times))).collect();
            for step in STEPS {
                let take = |of: &mut BTreeMap<&'static str, Vec<f64>>| of.remove(step).unwrap_or_default();
                report(&name, &format!("{step}, CPU of the server, µs"), take(&mut self.cpu));
                report(
                    &name,
                    &format!("{step}, until it is answered, ms"),
                    take(&mut self.wall),
                );
            }
            let first = first.get_or_insert_with(|| medians.clone());
            for step in STEPS {
                println!(
                    "{name}\t{step}, CPU ÷ that among {}\t{:.2}",
                    sizes[0],
                    medians[step] / first[step]
                );
            }
        }
        Ok(())
    }

    /// Adds objects up to the given number.
    async fn fill(&mut self, size: usize) -> Result<()> {
        let names: Vec<String> = (self.others..size / 2).map(|at| format!("other-{at:06}")).collect();
        self.others = self.others.max(size / 2);
        let owners = names.iter().map(|name| create(name)).collect();
        let owners = self.meter.fill(owners).await?;
        let owned = names.iter().zip(&owners).map(|(name, owner)| child(name, owner));
        self.meter.fill(owned.collect::<Result<_>>()?).await?;
        // The effects of this, above all garbage collection, are not measured.
        self.meter.settle().await;
        Ok(())
    }

    async fn round(&mut self, prefix: &str) -> Result<()> {
        self.meter.look_idle().await?;
        let names: Vec<String> = (0..LIVES).map(|at| format!("{prefix}-{at}")).collect();
        let mut owners: Vec<Bytes> = Vec::new();
        for step in STEPS {
            let requests = names.iter().enumerate();
            let requests = requests.map(|(at, name)| request(step, name, owners.get(at)));
            let taken = self.meter.each(requests.collect::<Result<_>>()?).await?;
            self.wall.entry(step).or_default().extend(taken.wall);
            self.cpu.entry(step).or_default().push(taken.cpu);
            if step == "create" {
                owners = taken.answers;
            }
        }
        Ok(())
    }
}

fn request(step: &str, name: &str, owner: Option<&Bytes>) -> Result<Sent> {
    let (thing, of) = (format!("{}/{name}", things::PATH), format!("{CHILDREN}/{name}"));
    let finalizers = |list: Value| json!({"metadata": {"finalizers": list}});
    let owner = || owner.context("an owner is made first");
    Ok(match step {
        "create" => create(name),
        "finalizer" => Sent::merge(thing, &finalizers(json!(["speed.example.com/cleanup"]))),
        "owned child" | "child again" => child(name, owner()?)?,
        "status" => Sent::merge(format!("{thing}/status"), &json!({"status": {"phase": "Ready"}})),
        "spec" => Sent::merge(thing, &json!({"spec": {"target": "another"}})),
        "apply" => Sent::apply(&of, &child_body(name, owner()?, "another")?),
        "child's deletion" => Sent::new("DELETE", of),
        "deletion" => Sent::new("DELETE", thing),
        _ => Sent::merge(thing, &finalizers(Value::Null)),
    })
}

fn create(name: &str) -> Sent {
    Sent::post(things::PATH, &things::body(name))
}

fn child(name: &str, owner: &Bytes) -> Result<Sent> {
    Ok(Sent::post(CHILDREN, &child_body(name, owner, "world")?))
}

fn child_body(name: &str, owner: &Bytes, target: &str) -> Result<Value> {
    let owner: Value = serde_json::from_slice(owner)?;
    let reference = json!({"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": name,
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true});
    Ok(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "ownerReferences": [reference]}, "data": {"target": target}}))
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
